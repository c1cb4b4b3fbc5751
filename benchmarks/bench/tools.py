"""What the benchmarks find on the machine, and what they would like to find."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import msgspec

from benchmarks.bench import certificate, nginx, wrk

if TYPE_CHECKING:
    from collections.abc import Iterator


class Tool(msgspec.Struct, frozen=True):
    """A program of others.

    path      None where it is not there
    asked     the argument with which it tells its version
    without   what is done without it
    """

    name: str
    path: str | None
    asked: str
    without: str
    how_to_get: str

    @property
    def version(self) -> str | None:
        """The first line that it says of itself; None where it is not there."""
        if self.path is None:
            return None
        run = subprocess.run([self.path, self.asked], capture_output=True, text=True, check=False)  # noqa: S603 - ours
        return next(iter((run.stdout + run.stderr).splitlines()), "")


def tools() -> list[Tool]:
    """All programs of others that are called from PATH."""
    return [
        Tool("nginx", nginx.find(), "-v", "the site is an origin of our own, in Python", nginx.HOW_TO_GET),
        Tool("wrk", shutil.which("wrk"), "-v", "what the server can do is not told", wrk.HOW_TO_GET),
        Tool(
            "openssl",
            certificate.find(),
            "version",
            "nothing is measured over https, nor with nginx",
            certificate.HOW_TO_GET,
        ),
    ]


def missing() -> Iterator[str]:
    """Name those that are not there, what is done instead, and how to get them."""
    for tool in tools():
        if tool.path is None:
            yield f"{tool.name} is not there: {tool.without}; {tool.how_to_get}"
