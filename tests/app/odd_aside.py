"""A process aside that does what it is told: `pid` is answered, `take` takes memory, other work just comes back."""

from __future__ import annotations

import os
import signal
import sys

from tocsin.app.aside import main


def perform(work: bytes) -> bytes:
    if work == b"die":
        os.kill(os.getpid(), signal.SIGKILL)
    if work == b"leave":
        sys.exit(3)
    if work == b"take":
        return b"%d" % len(bytes(2**30))
    while work == b"hang":
        pass
    if work == b"print":
        print("a word", flush=True)  # noqa: T201 - as a library might
    return b"%d" % os.getpid() if work == b"pid" else work


if __name__ == "__main__":
    main(perform)
