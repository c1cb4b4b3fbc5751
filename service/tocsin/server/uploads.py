"""Bodies of any length, spooled to a file in constant memory."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncIterable

    from fastapi import Request

    from tocsin.server.parts import Parts

IN_MEMORY: Final = 2**20


async def spool(request: Request) -> IO[bytes]:
    """Spool the body of a request, see `keep`. Raises Problem."""
    return await keep(request.app.state.parts, request.stream())


async def keep(parts: Parts, pieces: AsyncIterable[bytes]) -> IO[bytes]:
    """Spool pieces to an unnamed temporary file, deleted when it is closed.

    The file is beside the store, where writing is always allowed. Raises Problem where the disk is full.
    """
    folder = Path(parts.service.settings().store.url.partition(":")[2]).parent
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, dir=str(folder))  # noqa: SIM115 - the reader closes it
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
