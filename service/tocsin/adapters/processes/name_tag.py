"""A few bytes of memory that two processes share: in them a fetcher names the page that it is working on.

They outlive the fetcher: however it dies, its parent can read them.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from struct import Struct

_NAME = Struct("=q")
_SIZE = 4096


class NameTag:
    """The shared memory, from either side; `descriptor` is what the other side opens it by."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _SIZE)

    def write(self, page_id: int) -> None:
        """Name a page; 0 for none."""
        _NAME.pack_into(self._memory, 0, page_id)

    def read(self) -> int | None:
        """Read which page is named."""
        (page_id,) = _NAME.unpack_from(self._memory, 0)
        return page_id or None

    def close(self) -> None:
        """Let go of it."""
        self._memory.close()
        os.close(self.descriptor)


def new_name_tag() -> NameTag:
    """Make one; raises OSError where the machine has no memory or descriptor left."""
    descriptor = _memory_file()
    os.ftruncate(descriptor, _SIZE)
    return NameTag(descriptor)


def _memory_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tocsin-fetcher")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
