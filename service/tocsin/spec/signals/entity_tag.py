"""The server's name for the version of a page that it sent: its entity tag."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.instants import to_text
from tocsin.spec.signals.signal import Signal

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Seen

_TAG: Final = re.compile(r'\s*+(?:W/)?"?(?P<tag>.*?)(?:[-;:](?:gzip|br|deflate|zstd))?"?\s*', re.DOTALL | re.IGNORECASE)


def _etag(seen: Seen) -> str | None:
    """Return the tag without what does not name the version: its strength, and the coding that it was sent in."""
    written = seen.header("etag")
    match = None if written is None else _TAG.fullmatch(written[:1000])
    return None if match is None else to_text(match["tag"])


HEADER: Final = Signal(
    "header.etag", "server", "HTTP header ETag: the server's name for this version", _etag, is_date=False
)
