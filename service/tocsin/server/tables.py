"""The specification's table of states, written as a stream of constant memory."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tocsin.events import EPOCH
from tocsin.spec.topper.state import PageState
from tocsin.spec.topper.table import RECORD_0, Record, write_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.ports import Store

_PIECE_CHARACTERS: Final = 65_536


async def write_table(store: Store, *, piece_characters: int = _PIECE_CHARACTERS) -> AsyncIterator[bytes]:
    """Yield the table in pieces of about so many characters: all records of one instant, in order of storing."""
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
