"""The program as a person meets it: on a terminal, as a process of its own."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: str, cwd: Path) -> tuple[int, str]:
    """Run the program with a terminal for its output; returns its exit status and what stands there, uncoloured."""
    master, slave = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "tocsin.cli", *arguments]
    with subprocess.Popen(command, stdout=slave, stderr=slave, stdin=slave, cwd=cwd, env=environ) as process:
        os.close(slave)
        chunks = []
        try:
            while chunk := os.read(master, 4096):
                chunks.append(chunk)
        except OSError:  # how a terminal says that nobody is left to write to it
            pass
    os.close(master)
    return process.returncode, _COLOUR.sub("", b"".join(chunks).decode())
