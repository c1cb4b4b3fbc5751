"""A process that converts pages for whoever takes their data away, so that the engine need not wait meanwhile.

python -m tocsin.app.aside PARENT     the id of the process that started it

Frames come on standard input and go to standard output: of each the length, then a piece of work, or what came of it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tocsin.adapters.processes.aside import LENGTH
from tocsin.adapters.processes.belonging import belong_to
from tocsin.server.extracts import perform

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO


def work(asked: BinaryIO, told: BinaryIO, do: Callable[[bytes], bytes]) -> None:
    """Do what is asked, until nothing more is."""
    while head := asked.read(LENGTH.size):
        done = do(asked.read(LENGTH.unpack(head)[0]))
        told.write(LENGTH.pack(len(done)))
        told.write(done)
        told.flush()


def main(do: Callable[[bytes], bytes] = perform) -> None:
    """Run with the arguments given.

    do  does a piece of work
    """
    belong_to(int(sys.argv[1]))
    told = sys.stdout.buffer
    # Whatever is printed by what we call is no frame, and must not be taken for one.
    sys.stdout = sys.stderr
    work(sys.stdin.buffer, told, do)


if __name__ == "__main__":
    main()
