"""A process aside whose work is told what to do: `pid` is answered, `die` and `hang` are done, others come back."""

from __future__ import annotations

import os
import signal

from tocsin.app.aside import main


def perform(work: bytes) -> bytes:
    if work == b"die":
        os.kill(os.getpid(), signal.SIGKILL)
    while work == b"hang":
        pass
    return b"%d" % os.getpid() if work == b"pid" else work


if __name__ == "__main__":
    main(perform)
