"""The program as a person meets it: on a terminal."""

from __future__ import annotations

import os
import pty
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, chdir
from pathlib import Path

import pytest

from tocsin.cli.__main__ import run

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: str, cwd: Path, typed: bytes = b"", columns: int = 100) -> tuple[int, str]:
    """Run the program, in this process, with a terminal for its streams.

    Returns its exit status and what stands on the terminal, uncoloured.
    """
    status, seen = raw_on_terminal(*arguments, cwd=cwd, typed=typed, columns=columns)
    return status, _COLOUR.sub("", seen)


def raw_on_terminal(*arguments: str, cwd: Path, typed: bytes = b"", columns: int = 100) -> tuple[int, str]:
    """Do the same, with every byte that the terminal was sent."""
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    with ThreadPoolExecutor(1) as pool, ExitStack() as stack:
        reading = pool.submit(_read_all, ours)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, value in (("TERM", "xterm"), ("COLUMNS", str(columns))):
            patch.setenv(name, value)
        # As its process would be started, with none of our caller's settings.
        stack.enter_context(chdir(cwd))
        patch.setattr(sys, "stdin", stack.enter_context(open(os.dup(theirs), encoding="utf-8")))  # noqa: PTH123 - a descriptor
        patch.setattr(sys, "stdout", stack.enter_context(open(os.dup(theirs), "w", encoding="utf-8")))  # noqa: PTH123 - the same
        patch.setattr(sys, "stderr", stack.enter_context(open(theirs, "w", encoding="utf-8")))  # noqa: PTH123 - the same
        status = run(arguments)
        stack.close()
        seen = reading.result()
    os.close(ours)
    return status, seen.decode()


def _read_all(terminal: int) -> bytes:
    seen = b""
    try:
        while piece := os.read(terminal, 65_536):
            seen += piece
    except OSError:  # how Linux tells that the other side is closed
        pass
    return seen
