"""The lines of an event stream: whatever an event holds, it stays one event, with one line of data.

Source  HTML, "server-sent events": the stream format, and how it is interpreted
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from tocsin.model import JsonObject

RETRY_MS: Final = 3000
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
# What the format takes for the end of a line is escaped in JSON anyway; these are what other readers of lines do.
_ENDS: Final = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
HEARTBEAT: Final = b":\n\n"
"""A comment: proxies see that the stream lives, readers see nothing."""


def opening(position: int | None) -> bytes:
    """Begin a stream: how soon to come back after its end, and, where it has numbered events, from where.

    A number without data is no event, but is what a reader names when it comes back: nothing is lost where the stream
    ends before its first event.
    """
    return b"retry: %d\n\n" % RETRY_MS + (numbered(position) if position is not None else b"")


def numbered(position: int) -> bytes:
    """Say how far the stream has come, where events were left out."""
    return b"id: %d\n\n" % position


def block(kind: str, data: JsonObject, position: int | None = None) -> bytes:
    """Write one event.

    kind      its type; one that is none of ours becomes "message"
    position  its number, which readers name when they come back; None for one that is not to be had again
    """
    body = msgspec.json.encode(data)
    for end, escaped in _ENDS:
        body = body.replace(end, escaped)
    name = kind if _NAME.fullmatch(kind) else "message"
    head = b"id: %d\n" % position if position is not None else b""
    return b"%sevent: %s\ndata: %s\n\n" % (head, name.encode(), body)
