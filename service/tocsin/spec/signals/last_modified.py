"""When the page was changed last, as its meta elements say and as its server says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.signal import Signal, lower

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Seen

_NAME: Final = "last-modified"


def _in_meta(seen: Seen) -> str | None:
    if _NAME not in seen.named:
        return None
    values = (to_value(meta.content) for meta in seen.metas if _NAME in (lower(meta.name), lower(meta.http_equiv)))
    return next(filter(None, values), None)


def _in_header(seen: Seen) -> str | None:
    return to_value(seen.header("last-modified"))


META: Final = Signal("meta.last-modified", "author", "meta element last-modified, by name or http-equiv", _in_meta)
HEADER: Final = Signal("header.last-modified", "server", "HTTP header Last-Modified", _in_header)
