"""Long bodies in constant memory: spooled uploads, counted downloads, and the export of the table of states."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing, suppress
from datetime import timedelta
from pathlib import Path
from typing import IO, Annotated, Final

from fastapi import Depends, Request

from tocsin.errors import StoreError
from tocsin.model import EPOCH
from tocsin.ports import Store
from tocsin.server.parts import Given, Parts
from tocsin.server.problems import Problem
from tocsin.spec.topper.state import PageState
from tocsin.spec.topper.table import RECORD_0, TableRecord, write_record

# Most lists are shorter, and never touch the disk.
IN_MEMORY: Final = 2**20


async def spool(request: Request) -> IO[bytes]:
    """Spool the body of a request, see `keep`. Raises Problem."""
    return await keep(request.app.state.parts, request.stream())


async def keep(parts: Parts, pieces: AsyncIterable[bytes]) -> IO[bytes]:
    """Spool pieces to an unnamed temporary file, deleted when it is closed.

    The file is beside a store of SQLite, where writing is always allowed. Raises Problem where the disk is full.
    """
    scheme, _, path = parts.service.settings().store.url.partition(":")
    folder = str(Path(path).parent) if scheme == "sqlite" else None
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, dir=folder)  # noqa: SIM115 - the reader closes it
    size = 0
    try:
        async for piece in pieces:
            size += len(piece)
            if size > IN_MEMORY:
                await asyncio.to_thread(file.write, piece)
            else:
                file.write(piece)
        file.seek(0)
    except OSError as exc:
        with suppress(OSError):  # closing flushes the rest, which fails too
            file.close()
        raise Problem(
            503,
            "no-room",
            "There is no room for the body",
            f"beside the store: {exc.strerror or exc}",
            mend="free room on the volume, or send it in smaller parts",
            headers={"Retry-After": "60"},
        ) from exc
    except BaseException:
        file.close()
        raise
    return file


MOST_DOWNLOADS: Final = (
    8  # Fewer than the limit of requests, so that slow clients of downloads cannot block other requests.
)


class OpenDownloads:
    """The open downloads of an application."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._open = 0

    def demand_place(self) -> None:
        """Raise Problem where all slots are taken."""
        if self._open >= MOST_DOWNLOADS:
            raise Problem(
                503,
                "too-many-downloads",
                "Too many downloads",
                f"{MOST_DOWNLOADS} downloads are in progress",
                mend="ask again when one has ended",
                headers={"Retry-After": "10"},
            )

    async def counted(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """Yield these pieces, counted as one open download."""
        self._open += 1
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece
        finally:
            self._open -= 1


async def downloads(request: Request, parts: Given) -> OpenDownloads:
    """Return the downloads of this application."""
    found = getattr(request.app.state, "downloads", None)
    if not isinstance(found, OpenDownloads) or found.parts is not parts:
        found = request.app.state.downloads = OpenDownloads(parts)
    return found


Shared = Annotated[OpenDownloads, Depends(downloads)]


# A piece is written in one step of the loop.
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
        line = write_record(TableRecord(number, row.url, PageState(row.fields), stored, row.text))
        lines.append(line)
        length += len(line)
        if length >= piece_characters:
            yield "".join(lines).encode()
            lines, length = [], 0
    yield "".join(lines).encode()
