"""The processes below a service that reads pages in a browser: found, killed, and gone when it is."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from tocsin.adapters.browser.process_trees import ProcessTrees

SERVICE: Final = "service"
# What the command line of each holds; one of the browsers is killed, and the others go on.
_MARKS: Final = {"browser": b"--tocsin-slot", "worker": b"tocsin.app.browser_worker", "egress": b"browser_egress"}
KINDS: Final = (*_MARKS, SERVICE)
_GONE_WITHIN_S: Final = 60.0


def kill_one(kind: str, service: int, chance: Random) -> bool:
    """Kill a process of this kind; False: there is none at the moment."""
    found = [service] if kind == SERVICE else [pid for pid in _below(service) if _MARKS[kind] in _command(pid)]
    if not found:
        return False
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


class Household:
    """All processes of a service at this moment, of which none may outlive it."""

    def __init__(self, service: int) -> None:
        self._names: dict[int, str] = {}
        for pid in _below(service):
            # A descriptor is of this process for ever; its number may be given to another one.
            with suppress(ProcessLookupError):
                self._names[os.pidfd_open(pid)] = (
                    _command(pid).replace(b"\0", b" ").decode(errors="replace").strip()[:200]
                )

    def left_behind(self, within_s: float = _GONE_WITHIN_S) -> list[str]:
        """Wait until all have ended; returns the command lines of those that go on."""
        until = time.monotonic() + within_s
        left = []
        for descriptor, name in self._names.items():
            # It becomes readable when the process ends.
            readable, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
            if not readable:
                left.append(name)
            os.close(descriptor)
        self._names.clear()
        return left


def _below(service: int) -> list[int]:
    trees = ProcessTrees()
    trees.look()
    return trees.tree(service)[1:]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
