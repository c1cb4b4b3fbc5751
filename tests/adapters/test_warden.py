"""A warden ends everything below it, however its program or its parent ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browsing import end_of
from tocsin.adapters.processes import warden

# A program with a child, whose child is in a session of its own, and with an orphan; none ends by itself. They say
# their numbers: warden, program, child, grandchild, orphan.
PROGRAM = """
import os, signal, sys
def rest(*said):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(1, " ".join(map(str, said)).encode() + b"\\n")
    while True: signal.pause()
if os.fork() == 0:
    if (orphan := os.fork()) == 0: rest(os.getpid())
    os._exit(0)
os.wait()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: rest(os.getpid())
    rest(os.getpid())
rest(os.getpid(), sys.argv[-1])
"""
PARENT = """
import os, subprocess, sys
subprocess.run([sys.executable, sys.argv[1], str(os.getpid()), *sys.argv[2:]])
"""


@pytest.mark.parametrize("what", ["the program is killed", "the parent is killed", "the warden is told"])
def test_nothing_is_left_below_a_warden(what: str) -> None:
    program = [sys.executable, "-I", "-S", "-c", PROGRAM]
    command = [sys.executable, "-I", "-S", "-c", PARENT, warden.__file__, *program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        said = [parent.stdout.readline().split() for _ in range(4)]
        alone = [int(pid) for line in said if len(line) == 1 for pid in line]
        ((running, guarding),) = [map(int, line) for line in said if len(line) == 2]
        match what:
            case "the program is killed":
                os.kill(running, signal.SIGKILL)
            case "the parent is killed":
                parent.kill()
            case _:
                os.kill(guarding, signal.SIGTERM)
        for pid in (running, guarding, *alone):
            end_of(pid)
    assert len(alone) == 3


def test_a_program_that_ends_takes_its_warden_along() -> None:
    command = [sys.executable, "-I", "-S", warden.__file__, str(os.getpid()), "/bin/true"]

    assert subprocess.run(command, check=False, timeout=60).returncode == 0


def test_a_warden_whose_parent_ended_before_it_began_starts_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    command = [sys.executable, "-I", "-S", warden.__file__, "1", "/usr/bin/touch", str(made)]

    subprocess.run(command, check=False, timeout=60)

    assert not made.exists()


@pytest.mark.parametrize(("code", "status"), [("0", 0), ("3", 3), ("-9", 137), ("-6", 134)])
def test_a_warden_ends_as_its_program_did(code: str, status: int) -> None:
    program = f"import os, sys; os.kill(os.getpid(), -({code})) if {code} < 0 else sys.exit({code})"
    guarding = [sys.executable, "-I", "-S", warden.__file__, str(os.getpid())]

    ended = subprocess.run([*guarding, sys.executable, "-c", program], check=False)

    assert ended.returncode == status
