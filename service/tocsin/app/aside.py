"""A process that converts pages for whoever takes their data away, so that the engine need not wait meanwhile.

python -m tocsin.app.aside PARENT     the id of the process that started it

Frames come on standard input and go to standard output: of each the length, then a piece of work, or what came of it.
"""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from tocsin.adapters.processes.aside import LENGTH
from tocsin.adapters.processes.belonging import belong_to
from tocsin.server.converting import perform

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO


MOST_BYTES: Final = 2**30
"""Of memory: nearly twice of what 10 MB of links take, and pages of more are received only where somebody set that."""


def work(asked: BinaryIO, told: BinaryIO, do: Callable[[bytes], bytes]) -> None:
    """Do what is asked, until nothing more is."""
    while head := asked.read(LENGTH.size):
        done = do(asked.read(LENGTH.unpack(head)[0]))
        told.write(LENGTH.pack(len(done)))
        told.write(done)
        told.flush()


def bound_memory(most_bytes: int) -> None:
    """Have whatever would take more memory fail with MemoryError; a system that bounds none leaves that to us."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if resource.RLIM_INFINITY != soft <= most_bytes:
        # What others set is as good.
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, hard))


def main(do: Callable[[bytes], bytes] = perform, *, most_bytes: int = MOST_BYTES) -> None:
    """Run with the arguments given.

    do          does a piece of work
    most_bytes  of memory that it may take, with all that is loaded
    """
    belong_to(int(sys.argv[1]))
    bound_memory(most_bytes)
    told = sys.stdout.buffer
    # Whatever is printed by what we call is no frame, and must not be taken for one.
    sys.stdout = sys.stderr
    work(sys.stdin.buffer, told, do)


if __name__ == "__main__":
    main()
