"""Export of the specification's table of states, streamed in constant memory."""

from __future__ import annotations

from contextlib import aclosing
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request

from tocsin.errors import StoreError
from tocsin.model import EPOCH
from tocsin.server.parts import Given, Parts
from tocsin.server.problems import Problem
from tocsin.spec.topper.state import PageState
from tocsin.spec.topper.table import RECORD_0, Record, write_record

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tocsin.ports import Store

_PIECE_CHARACTERS: Final = 65_536
LONGEST_S: Final = 1800.0  # Deadline: a snapshot read keeps the store's write-ahead log from being truncated.


class OneTable:
    """Serves the table to one reader at a time, within a deadline: the write-ahead log grows meanwhile."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._readers = 0

    def demand_free(self) -> None:
        """Raise Problem while another reader has it."""
        if self._readers:
            raise Problem(
                503,
                "table-taken",
                "The table is being read",
                "one reader at a time",
                mend="try again later",
                headers={"Retry-After": "30"},
            )

    async def pieces(self) -> AsyncGenerator[bytes]:
        """Yield the table in pieces. Raises StoreError after LONGEST_S."""
        clock = self.parts.clock
        until_s = clock.monotonic() + LONGEST_S
        self._readers += 1
        try:
            async with aclosing(write_table(self.parts.store)) as pieces:
                async for piece in pieces:
                    yield piece
                    if clock.monotonic() > until_s:
                        raise StoreError(f"the table was not read within {LONGEST_S:g} s; try again")
        finally:
            self._readers -= 1


async def one_table(request: Request, parts: Given) -> OneTable:
    """Return the table of this application."""
    found = getattr(request.app.state, "table", None)
    if not isinstance(found, OneTable) or found.parts is not parts:
        found = request.app.state.table = OneTable(parts)
    return found


Table = Annotated[OneTable, Depends(one_table)]


async def write_table(store: Store, *, piece_characters: int = _PIECE_CHARACTERS) -> AsyncGenerator[bytes]:
    """Yield all records of one instant, in order of storing, in pieces of about this many characters."""
    lines, length, number = [RECORD_0], len(RECORD_0), 0
    async for row in await store.table_rows():
        number += 1
        stored = EPOCH + timedelta(microseconds=row.stored_at)
        line = write_record(Record(number, row.url, PageState(row.fields), stored, row.text))
        lines.append(line)
        length += len(line)
        if length >= piece_characters:
            yield "".join(lines).encode()
            lines, length = [], 0
    yield "".join(lines).encode()
