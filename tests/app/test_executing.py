"""How the program sets itself up for its work."""

from __future__ import annotations

import subprocess
import sys

_LOW = 128
_LIMITS = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))"
_WORK = """
from tocsin.app.executing import execute

async def limits():
    return resource.getrlimit(resource.RLIMIT_NOFILE)

print(execute(limits()))
"""


def _limits_at_work(soft: int, hard: int) -> str:
    program = _LIMITS.format(soft=soft, hard=hard) + _WORK
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_as_many_files_are_opened_as_the_machine_allows() -> None:
    assert _limits_at_work(_LOW, 2 * _LOW) == str((2 * _LOW, 2 * _LOW))


def test_a_limit_that_stands_is_kept() -> None:
    assert _limits_at_work(_LOW, _LOW) == str((_LOW, _LOW))
