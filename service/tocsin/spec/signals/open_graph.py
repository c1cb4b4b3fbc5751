"""A signal for social networks: `og:updated_time`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.signal import Signal

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Seen

_ALL: Final = 'meta[property="og:updated_time" i],meta[name="og:updated_time" i]'


def _updated(seen: Seen) -> str | None:
    nodes = () if seen.whole is None else seen.whole.select(_ALL)
    return next((value for node in nodes if (value := to_value(node.attr("content"))) is not None), None)


UPDATED: Final = Signal("open-graph.updated", "author", "og:updated_time, as social networks read it", _updated)
