"""A warden: the parent of a program. It ends all processes below it once the program ends, or its own parent does.

python warden.py PARENT PROGRAM [ARGUMENT ...]     PARENT: the id of the process that starts it

The program gets the warden's id as a last argument. SIGTERM ends the program and all below it at once. The warden ends
with the status of the program, or with 128 and the number of the signal that ended it.
"""

# It imports the standard library alone, and little of it: every start of a program waits for it.
from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

# Added to a signal's number, as in a shell.
SIGNALLED = 128
_SET_SIGNAL_AT_PARENTS_DEATH, _SET_CHILD_SUBREAPER = 1, 36


def become_warden(parent: int) -> None:
    """Adopt processes below this one whose parents end, and be told when `parent` ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_CHILD_SUBREAPER, 1)
    libc.prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGTERM)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # They are waited for, so none interrupts.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    if os.getppid() != parent:
        sys.exit(0)


def guard(program: list[str]) -> int:
    """Run a program until it ends, or this process is told to end; returns the status to end with."""
    running = os.posix_spawn(program[0], [*program, str(os.getpid())], os.environ, setsigmask=[])
    while signal.sigwait({signal.SIGCHLD, signal.SIGTERM}) == signal.SIGCHLD:
        if (status := _ended().get(running)) is not None:
            return status if status >= 0 else SIGNALLED - status
    return 0


def end_all() -> None:
    """End all processes below this one, and wait until they have ended.

    A child's number stays its own until it is waited for, so no other process is hit. The children of one that ended
    are ours before we are told of its end, so none is missed.
    """
    while children := _children():
        for pid in children:
            os.kill(pid, signal.SIGKILL)
        os.wait()


def _ended() -> dict[int, int]:
    """Give the children that have ended since the last time, each with its status, negative for a signal."""
    found: dict[int, int] = {}
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
            found[ended[0]] = os.waitstatus_to_exitcode(ended[1])
    return found


def _children() -> list[int]:
    ours = str(os.getpid())
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == ours]  # noqa: PTH208 - pathlib takes 3 ms to import


def _parent(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - as above
            # The name comes before, and may hold blanks and brackets: proc(5).
            return file.read().rpartition(")")[2].split()[1]
    except OSError:
        # It has ended.
        return ""


def main() -> None:
    """Run the program that the arguments name."""
    become_warden(int(sys.argv[1]))
    status = 0
    try:
        status = guard(sys.argv[2:])
    finally:
        end_all()
    sys.exit(status)


if __name__ == "__main__":
    main()
