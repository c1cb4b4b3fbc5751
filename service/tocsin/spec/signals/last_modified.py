"""When the page was changed last, as its meta elements say and as its server says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.signal import Signal

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Seen

_ALL: Final = 'meta[name="last-modified" i],meta[http-equiv="last-modified" i]'


def _in_meta(seen: Seen) -> str | None:
    nodes = () if seen.whole is None else seen.whole.select(_ALL)
    return next((value for node in nodes if (value := to_value(node.attr("content"))) is not None), None)


def _in_header(seen: Seen) -> str | None:
    return to_value(seen.header("last-modified"))


META: Final = Signal("meta.last-modified", "author", "meta element last-modified, by name or http-equiv", _in_meta)
HEADER: Final = Signal("header.last-modified", "server", "HTTP header Last-Modified", _in_header)
