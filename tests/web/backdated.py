"""The program on a machine whose clock is slow by so many seconds: `python -m tests.web.backdated SECONDS run`.

Pictures for the manual want pages that have been watched for weeks.
"""

from __future__ import annotations

import sys
import time

from tests.server import patience
from tocsin.adapters.system import SystemClock
from tocsin.cli.__main__ import main
from tocsin.model import Instant
from tocsin.server.jobs import Job


def at_work(seconds: int, arguments: list[str]) -> None:
    """Run a command with the clock set back; jobs that people start are waited for."""

    def now(self: SystemClock) -> Instant:  # noqa: ARG001 - the clock that it becomes a method of
        return time.time_ns() // 1000 - seconds * 1_000_000

    Job.wait = patience.wait  # type: ignore[method-assign, assignment] # they are those of this process alone
    SystemClock.now = now  # type: ignore[method-assign] # so is the clock
    main(arguments)


if __name__ == "__main__":
    at_work(int(sys.argv[1]), sys.argv[2:])
