"""The alerts published last, read once for everybody who follows them; who is behind reads from the store."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from tocsin.server.streams.blocks import block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import AlertRow, JsonObject
    from tocsin.ports import AlertStore

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
