"""What a browser's processes take together, read from /proc, and their end."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Final

from msgspec import Struct

_TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")
# Of /proc/PID/stat, counted from after the name, which may hold blanks: proc(5).
_PARENT, _USER_TICKS, _SYSTEM_TICKS = 1, 11, 12


class ProcessUse(Struct, frozen=True):
    """What the processes of a tree take.

    memory_bytes   of their own: without files, which processes share
    cpu_s          since each started, by process
    written_bytes  by a browser to its pipe: what it told of its pages
    """

    memory_bytes: int
    cpu_s: dict[int, float]
    written_bytes: int


class ProcessTrees:
    """The processes of this machine, by parent."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def look(self) -> None:
        """Find processes that were started since the last look, and forget those that ended."""
        alive = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208 - five times as fast
        for pid in self._parents.keys() - alive:
            del self._parents[pid]
        for pid in alive - self._parents.keys():
            if (fields := _stat(pid)) is not None:
                self._parents[pid] = int(fields[_PARENT])

    def tree(self, root: int) -> list[int]:
        """Give a process and all below it, parents first, as of the last look."""
        children: dict[int, list[int]] = {}
        for pid, parent in self._parents.items():
            children.setdefault(parent, []).append(pid)
        found = [root]
        for pid in found:
            found.extend(children.get(pid, ()))
        return found

    def use(self, root: int) -> ProcessUse:
        """Say what the tree below a process takes now."""
        memory_bytes, cpu_s = 0, {}
        processes = self.tree(root)
        for pid in processes:
            if (fields := _stat(pid)) is not None:
                cpu_s[pid] = (int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])) / _TICKS_A_SECOND
                memory_bytes += _own_bytes(pid)
        # The first is the browser, or the script that starts it.
        return ProcessUse(memory_bytes, cpu_s, sum(map(_written_bytes, processes[:2])))

    def kill(self, root: int) -> None:
        """End a process and all below it at once."""
        self.look()
        for pid in self.tree(root):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def find_process(argument: str) -> int | None:
    """Give the process that was started with this argument, or the first of several; None: there is none."""
    wanted, found = argument.encode(), dict[int, int]()
    for name in os.listdir("/proc"):  # noqa: PTH208 - five times as fast
        if name.isdigit() and wanted in _read(f"/proc/{name}/cmdline").split(b"\0"):
            fields = _stat(int(name))
            found[int(name)] = int(fields[_PARENT]) if fields is not None else 0
    # Debian's program is a script that starts the browser and waits for it.
    return next((pid for pid, parent in found.items() if parent not in found), None)


def _stat(pid: int) -> list[bytes] | None:
    said = _read(f"/proc/{pid}/stat")
    return said[said.rindex(b")") + 2 :].split() if said else None


def _own_bytes(pid: int) -> int:
    # PSS would be exact, and walks the tables of pages: too slow to be asked five times a second.
    own = 0
    for line in _read(f"/proc/{pid}/status").splitlines():
        if line.startswith((b"RssAnon:", b"RssShmem:")):
            own += int(line.split()[1]) * 1024
    return own


def _written_bytes(pid: int) -> int:
    # Sockets, by which the processes of a browser speak with each other, do not count here.
    lines = _read(f"/proc/{pid}/io").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(b"wchar:")), 0)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - the fastest way
            return file.read()
    except OSError:
        return b""
