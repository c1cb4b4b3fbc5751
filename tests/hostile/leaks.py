"""What a check may not leave behind: tasks, sockets and other open files, memory."""

from __future__ import annotations

import asyncio
import ctypes
import gc
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

_PATIENCE_S = 30.0
_M_MMAP_THRESHOLD = -3
"""As malloc.h names it: from how many bytes a block has pages of its own, which its end gives back."""
_LARGE_BYTES = 128 * 1024
_LARGEST_BYTES = 2**28
_HAS_OWN_PAGES = 2
"""A bit of the word before a block: glibc's IS_MMAPPED."""


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


def watch_memory() -> Callable[[], int]:
    """Begin to watch this process's memory; returns what tells by how many bytes it has grown since, at its most."""
    # What was freed before would hide what is taken now.
    gc.collect()
    with suppress(AttributeError, OSError):
        libc = ctypes.CDLL(None)
        # glibc learns from large blocks that were freed to take the next ones from its heap, where one that grows is
        # copied: what tests before this one did would then count as much as the check.
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.malloc_trim(0)
        _use_up_what_is_free(libc)
    # The kernel forgets the highest mark where it lets us; elsewhere only what goes beyond that mark is seen.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    before = _memory("VmHWM:")
    return lambda: _memory("VmHWM:") - before


def _use_up_what_is_free(libc: ctypes.CDLL) -> None:
    """Take all large blocks that are free on glibc's heap, for good; nothing is written there, so it takes no memory.

    A block that grows there is copied, and is there twice meanwhile; one that has pages of its own only gets more.
    """
    libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = (
        ctypes.c_void_p,
        [ctypes.c_size_t],
        [ctypes.c_void_p],
    )
    size = _LARGEST_BYTES
    while size >= _LARGE_BYTES:
        block = libc.malloc(size)
        if block is None:  # the machine gives none that large
            size //= 2
        elif ctypes.c_size_t.from_address(block - ctypes.sizeof(ctypes.c_size_t)).value & _HAS_OWN_PAGES:
            libc.free(block)
            size //= 2


def _memory(mark: str) -> int:
    lines = Path("/proc/self/status").read_text("ascii", "replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(mark))
