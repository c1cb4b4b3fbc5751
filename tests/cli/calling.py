"""Calling the program in tests: in this process with a store of its own, or as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from tocsin.cli import output
from tocsin.cli.__main__ import tocsin
from tocsin.errors import TocsinError

CONFIGURATION = """
[network]
allow = ["127.0.0.0/8"]
[hosts]
delay = "0s"
[pages]
tries = 0
min_gap = "0s"
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call left: its exit status, its lines on standard output, and standard error."""

    status: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """Standard output as JSON, a line each."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True)
class Installation:
    """A folder with a configuration and a store."""

    folder: Path

    def configure(self, text: str) -> None:
        (self.folder / "tocsin.toml").write_text(CONFIGURATION + text, encoding="utf-8")

    def write(self, name: str, text: str) -> str:
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return str(file)

    def call(self, *arguments: str, stdin: str | bytes | None = None) -> Answer:
        """Call the program in this process, as `__main__.run` does."""
        head = ["--config", str(self.folder / "tocsin.toml"), "--store", f"sqlite:{self.folder / 'tocsin.db'}"]
        result = CliRunner().invoke(tocsin, [*head, *arguments], input=stdin, standalone_mode=False)
        err, error = result.stderr, result.exception
        if error is None:
            return Answer(result.return_value or result.exit_code or 0, result.stdout, err)
        if isinstance(error, TocsinError):
            return Answer(output.fail(error), result.stdout, f"{err}tocsin: {error}\n")
        if isinstance(error, click.ClickException):
            return Answer(output.WRONG_CALL, result.stdout, f"{err}{error.format_message()}\n")
        raise error

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start the program as a process of its own."""
        environ = {key: value for key, value in os.environ.items() if not key.startswith("TOCSIN_")}
        command = [sys.executable, "-m", "tocsin.cli", *arguments]
        piped: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd=self.folder, env=environ, **(piped | options))
