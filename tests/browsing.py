"""What tests of the browser share."""

from __future__ import annotations

import os
import select
import shutil
from pathlib import Path
from typing import Any, Final

import msgspec

from tocsin.adapters.browser.process_trees import ProcessTrees
from tocsin.adapters.processes.cell import PROXY_PORT
from tocsin.ports.browser import BrowserVisit
from tocsin.ports.browser_link import StartBrowser

CHROMIUM: Final = shutil.which("chromium-headless-shell")
START: Final = StartBrowser(slots=2, path=CHROMIUM or "", first_port=PROXY_PORT)


def start_of(**options: Any) -> StartBrowser:
    """Settings of a worker."""
    return msgspec.structs.replace(START, **options)


def visit_of(url: str, **options: Any) -> BrowserVisit:
    """A visit of a page on loopback; machines of tests are slow, so it has time."""
    known: dict[str, Any] = {"user_agent": "Tocsin/1 (+me)", "private": True, "ready_s": 60.0, "total_s": 90.0}
    return BrowserVisit(url, **known | options)


async def let(_url: str) -> None:
    """Admit each document."""


def descendants(name: str = "") -> list[int]:
    """Ids of processes below this one whose command line holds a text; browsers have --tocsin-slot.

    A warden's command line ends with that of its program: it is found by its own name, and with all others.
    """
    trees = ProcessTrees()
    trees.look()
    found = {pid: _command_line(pid) for pid in trees.tree(os.getpid())[1:]}
    if name not in {"", "warden"}:
        found = {pid: line for pid, line in found.items() if b"/warden.py\0" not in line}
    return [pid for pid, line in found.items() if name.encode() in line]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def end_of(pid: int) -> None:
    """Wait until a process has ended."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    # A descriptor of a process becomes readable when it ends; the test's deadline bounds the wait.
    select.select([watched], [], [])
    os.close(watched)
