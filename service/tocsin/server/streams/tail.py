"""The newest alerts, read once for all readers; readers further behind read from the store."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from tocsin.model import AlertRow, JsonObject
from tocsin.ports import AlertStore

RETRY_MS: Final = 3000
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
# JSON escapes the line ends of the format; these are line ends for other programs.
_ENDS: Final = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
HEARTBEAT: Final = b":\n\n"  # A comment, which keeps proxies from closing an idle stream; readers ignore it.


def opening(position: int | None) -> bytes:
    """Begin a stream: the delay before a reconnect, and the position of a stream with numbered events.

    A number without data is no event, but the reader sends it when it reconnects: nothing is lost if the stream ends
    before its first event.
    """
    return b"retry: %d\n\n" % RETRY_MS + (numbered(position) if position is not None else b"")


def numbered(position: int) -> bytes:
    """Send the position, after events that were filtered out."""
    return b"id: %d\n\n" % position


def block(kind: str, data: JsonObject, position: int | None = None) -> bytes:
    """Write one event.

    kind      its type; an unknown one becomes "message"
    position  its number, which readers send when they reconnect; None for events that cannot be repeated
    """
    body = msgspec.json.encode(data)
    for end, escaped in _ENDS:
        body = body.replace(end, escaped)
    name = kind if _NAME.fullmatch(kind) else "message"
    head = b"id: %d\n" % position if position is not None else b""
    return b"%sevent: %s\ndata: %s\n\n" % (head, name.encode(), body)


MOST_BYTES: Final = 4 * 2**20  # Bytes of the newest alerts in memory, shared by all readers.
_TOGETHER: Final = 16
_ALONE: Final = 4  # Alerts that a reader who is behind reads at once; an event has up to 256 KiB.


class StreamedAlert(Struct, frozen=True):
    """An alert as an event, with the values that readers filter by."""

    position: int
    type: str
    group: str | None
    page_id: int | None
    outcome: str | None
    block: bytes


class Tail:
    """Reads alerts by position, in order."""

    def __init__(self, store: AlertStore) -> None:
        self._store = store
        self._lock = asyncio.Lock()
        self._kept: list[StreamedAlert] = []
        self._from = self._to = -1
        self._is_whole = False
        self._bytes = 0

    async def newest(self) -> int:
        """Return the position of the newest alert; 0 without any."""
        rows = await self._store.alerts(limit=1)
        return rows[0].position if rows else 0

    async def after(self, position: int) -> Sequence[StreamedAlert]:
        """Return some alerts after this position; empty if there are none yet."""
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
                # Only a batch that is not full reaches the newest alert.
                self._is_whole = len(rows) < _TOGETHER
            return self._after(position)

    def is_read_to(self, position: int) -> bool:
        """Say whether the last read found nothing after this position."""
        return self._is_whole and position == self._to

    def _after(self, position: int) -> Sequence[StreamedAlert]:
        first = bisect_right(self._kept, position, key=_position)
        return self._kept[first : first + _TOGETHER]

    def _keep(self, new: list[StreamedAlert]) -> None:
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


def told_of(row: AlertRow) -> StreamedAlert:
    """Make the event of an alert."""
    data: JsonObject = row.event.get("data") or {}
    page: Any = data.get("page")
    group = page.get("group") if isinstance(page, dict) else None
    return StreamedAlert(
        row.position,
        row.type,
        group,
        row.page_id,
        data.get("outcome"),
        block(row.type, row.event, row.position),
    )


def _position(told: StreamedAlert) -> int:
    return told.position
