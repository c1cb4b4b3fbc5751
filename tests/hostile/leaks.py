"""What a check may not leave behind: tasks, sockets and other open files, memory."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_PATIENCE_S = 5.0


@asynccontextmanager
async def leaving_nothing_behind() -> AsyncIterator[None]:
    """Require that whatever was started or opened inside is over, or soon will be, when it ends."""
    tasks, files = asyncio.all_tasks(), open_files()
    yield
    async with asyncio.timeout(_PATIENCE_S):
        # Transports close a few turns of the loop after they were told to; nothing tells when.
        while (left := open_files() - files) or asyncio.all_tasks() - tasks:
            gc.collect()
            await asyncio.sleep(0.01)
    assert not left


def open_files() -> Counter[str]:
    """What this process holds open, as the kernel names it; sockets by their number."""
    held: Counter[str] = Counter()
    for number in Path("/proc/self/fd").iterdir():
        try:
            held[str(number.readlink())] += 1
        except FileNotFoundError:
            continue  # what listed them
    return held
