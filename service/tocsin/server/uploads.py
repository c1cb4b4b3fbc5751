"""Bodies of any length, kept in a file while they come in: memory stays flat."""

from __future__ import annotations

import asyncio
import tempfile
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fastapi import Request

IN_MEMORY: Final = 2**20


async def spool(request: Request) -> IO[bytes]:
    """Read a request's body into a file without a name, which is gone once it is closed."""
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - whoever reads it closes it
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > IN_MEMORY:
                await asyncio.to_thread(file.write, piece)
            else:
                file.write(piece)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file
