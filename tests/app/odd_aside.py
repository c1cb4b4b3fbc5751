"""A process aside that is told what to do: `pid` is answered, `die`, `hang` and `print` are done, others come back."""

from __future__ import annotations

import os
import signal

from tocsin.app.aside import main


def perform(work: bytes) -> bytes:
    if work == b"die":
        os.kill(os.getpid(), signal.SIGKILL)
    while work == b"hang":
        pass
    if work == b"print":
        print("a word", flush=True)  # noqa: T201 - as a library might
    return b"%d" % os.getpid() if work == b"pid" else work


if __name__ == "__main__":
    main(perform)
