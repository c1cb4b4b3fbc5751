"""The real service as a process, and what the machine says of it: processor time, memory, descriptors."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from benchmarks.bench.measure import environment

_TICKS = os.sysconf("SC_CLK_TCK")
_LOOK_S = 0.01
_PATIENCE_S = 900.0
_OURS = {"instance.no_contact", "http.open"}
_SETTINGS = """\
[store]
url = "{store}"
[http]
listen = "127.0.0.1:0"
[network]
allow = ["127.0.0.0/8"]
[pages]
every = "{every}"
min_gap = "0s"
at_launch = "{at_launch}"
[fetch]
in_flight = {in_flight}
fetchers = {fetchers}
unconditional_every = 1000000
deadlines = {{ first_byte = "10m", total = "20m" }}
[hosts]
delay = "0s"
[log]
format = "json"
{more}
"""


class Usage(NamedTuple):
    """What a service has taken so far.

    cpu_s     of all its processes, also of those that have ended
    main_mb   anonymous memory of the process that was started, and
    child_mb  of its children together
    files     open descriptors of them all
    """

    cpu_s: float
    main_mb: float
    child_mb: float
    files: int


class Service:
    """`tocsin run` on the store of a folder, for as long as the context lasts.

    store     its URL; empty: the file `store.db` of the folder
    begun_at  when it was started, and
    ready_at  when its log said so: seconds since the epoch
    """

    def __init__(
        self,
        folder: Path,
        *,
        in_flight: int = 200,
        fetchers: int | str = "auto",
        at_launch: str = "30d",
        every: str = "1s",
        more: str = "",
        store: str = "",
    ) -> None:
        self._folder, self._log = folder, folder / "log.jsonl"
        text = _SETTINGS.format(
            store=store or f"sqlite:{folder}/store.db",
            in_flight=in_flight,
            fetchers=json.dumps(fetchers),
            at_launch=at_launch,
            every=every,
            more=more,
        )
        (folder / "tocsin.toml").write_text(text, encoding="utf-8")
        self._process: asyncio.subprocess.Process | None = None
        self.begun_at = self.ready_at = 0.0

    async def __aenter__(self) -> Self:
        self.begun_at = time.time()
        command = ("-m", "tocsin.cli", "--config", str(self._folder / "tocsin.toml"), "run")
        with self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *command, stdout=log, stderr=log, env=environment()
            )
        await self._started()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            await self._process.wait()

    async def _started(self) -> None:
        until = time.monotonic() + _PATIENCE_S
        while (started_at := self._started_at()) is None:
            self.demand_running()
            if time.monotonic() > until:
                raise RuntimeError(f"the service did not start within {_PATIENCE_S:.0f} s: {self.said()[-500:]}")
            await asyncio.sleep(_LOOK_S)
        self.ready_at = started_at

    def _started_at(self) -> float | None:
        """When it says that it started: by when somebody reads that, it may have asked for a page."""
        for line in self.said().splitlines(keepends=True):
            # What is being written at this moment has no end yet.
            if '"engine.started"' in line and line.endswith("\n"):
                return datetime.fromisoformat(json.loads(line)["at"]).timestamp()
        return None

    def said(self) -> str:
        """All that it has logged."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def is_listening(self) -> bool:
        """Whether its log says where it listens."""
        lines = self.said().splitlines(keepends=True) if self._log.exists() else []
        # What is being written at this moment has no end yet.
        return any('"http.listening"' in line and line.endswith("\n") for line in lines)

    def url(self) -> str:
        """Where its web pages are, without a slash at its end."""
        lines = [json.loads(line) for line in self.said().splitlines() if '"http.listening"' in line]
        return str(lines[-1]["url"]).rstrip("/")

    def troubles(self) -> list[str]:
        """What it logged as a warning or an error, but for what our settings ask for."""
        lines = [json.loads(line) for line in self.said().splitlines() if line.startswith("{")]
        bad = [line for line in lines if line.get("level") in ("warning", "error")]
        return [json.dumps(line) for line in bad if line.get("event") not in _OURS]

    def demand_running(self) -> None:
        """Raise unless it runs."""
        if self._process is None or self._process.returncode is not None:
            raise RuntimeError(f"the service has ended: {self.said()[-2000:]}")

    def usage(self) -> Usage:
        """Look at what it has taken."""
        if self._process is None:
            raise RuntimeError("the service was not started")
        main = self._process.pid
        cpu_s, child_mb, files = _cpu_s(main), 0.0, _files(main)
        for child in _below(main):
            cpu_s += _cpu_s(child)
            child_mb += _anonymous_mb(child)
            files += _files(child)
        return Usage(cpu_s, _anonymous_mb(main), child_mb, files)


def _below(pid: int) -> list[int]:
    """All processes below this one."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        # A thread may have ended meanwhile.
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in (task / "children").read_text(encoding="ascii").split():
                found += [int(child), *_below(int(child))]
    return found


def _anonymous_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("RssAnon")), 0.0)


def _cpu_s(pid: int) -> float:
    # The kernel's own clock of a process (clock_getcpuclockid), to the nanosecond; and of its children that have ended.
    values = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return time.clock_gettime((~pid << 3) | 2) + sum(int(value) for value in values[13:15]) / _TICKS


def _files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
