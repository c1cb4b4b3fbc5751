"""A signal for social networks: `og:updated_time`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.signal import Signal, lower

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Seen

_NAME: Final = "og:updated_time"


def _updated(seen: Seen) -> str | None:
    if _NAME not in seen.named:
        return None
    values = (to_value(meta.content) for meta in seen.metas if _NAME in (lower(meta.property), lower(meta.name)))
    return next(filter(None, values), None)


UPDATED: Final = Signal("open-graph.updated", "author", "og:updated_time, as social networks read it", _updated)
