"""The alerts published last, read once for everybody who follows them; who is behind reads from the store."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import AlertRow, JsonObject
    from tocsin.ports import AlertStore


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


MOST_BYTES: Final = 4 * 2**20
"""So much of the latest alerts is kept for all readers together."""
_TOGETHER: Final = 16
_ALONE: Final = 4
"""Events have up to 256 KiB; whoever is behind holds no more than so many of them."""


class Told(Struct, frozen=True):
    """An alert as readers get it, and what they choose by."""

    position: int
    type: str
    group: str | None
    page_id: int | None
    outcome: str | None
    block: bytes


class Tail:
    """Gives alerts by position, in order."""

    def __init__(self, store: AlertStore) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._kept: list[Told] = []
        self._from = self._to = -1
        self._is_whole = False
        self._bytes = 0

    async def newest(self) -> int:
        """Give the position of the alert published last; 0 where there is none."""
        rows = await self._store.alerts(limit=1)
        return rows[0].position if rows else 0

    async def after(self, position: int) -> Sequence[Told]:
        """Give some alerts published after this position; none where there are none yet."""
        if self._from <= position < self._to:
            return self._after(position)
        if position < self._from:
            return [told_of(row) for row in await self._store.after(position, limit=_ALONE)]
        async with self._lock:
            if position > self._to:
                self._kept, self._bytes, self._from, self._to = [], 0, position, position
                self._is_whole = False
            if position == self._to:
                rows = await self._store.after(position, limit=_TOGETHER)
                self._keep([told_of(row) for row in rows])
                # A full batch ends where it is full; only a short one ends where the alerts end.
                self._is_whole = len(rows) < _TOGETHER
            return self._after(position)

    def is_read_to(self, position: int) -> bool:
        """Say whether nothing was there after this position when the store was asked last."""
        return self._is_whole and position == self._to

    def _after(self, position: int) -> Sequence[Told]:
        first = bisect_right(self._kept, position, key=_position)
        return self._kept[first : first + _TOGETHER]

    def _keep(self, new: list[Told]) -> None:
        if not new:
            return
        self._kept += new
        self._to = new[-1].position
        self._bytes += sum(len(told.block) for told in new)
        gone = 0
        while self._bytes > MOST_BYTES and gone < len(self._kept) - len(new):
            self._bytes -= len(self._kept[gone].block)
            self._from = self._kept[gone].position
            gone += 1
        del self._kept[:gone]


def told_of(row: AlertRow) -> Told:
    """Make of an alert what readers get."""
    data: JsonObject = row.event.get("data") or {}
    page: Any = data.get("page")
    group = page.get("group") if isinstance(page, dict) else None
    return Told(
        row.position,
        row.type,
        group,
        row.page_id,
        data.get("outcome"),
        block(row.type, row.event, row.position),
    )


def _position(told: Told) -> int:
    return told.position
