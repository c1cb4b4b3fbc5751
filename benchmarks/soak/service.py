"""The service under test, as processes: the real command line, with or without its doom."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from contextlib import suppress
from pathlib import Path

from benchmarks.soak.alike import STORM_PAGES
from benchmarks.soak.plans import Plan
from benchmarks.soak.receiver import DOWN, FLAKY, GATHERED, SECRET, STUBBORN, Receivers
from benchmarks.soak.servers import Servers

_SETTINGS = """\
[instance]
name = "soak"
[store]
url = "sqlite:{folder}/store.db"
batch_wait = "20ms"
[cluster]
lease = "5s"
[pages]
every = "1s"
min_gap = "0s"
at_launch = "1s"
tries = 1
[fetch]
fetchers = {fetchers}
unconditional_every = 1000000
deadlines = {{ first_byte = "{first_byte}", total = "{total}" }}
[hosts]
concurrency = 4
delay = "0s"
[http]
listen = "127.0.0.1:0"
[network]
allow = ["127.0.0.0/8"]
[questions]
gather = "1s"
[signals]
storm_pages = {storm_pages}
gather = "1s"
[snapshots]
per_page = 10000
[render]
limit = 2
resume_at = 2
[delivery]
give_up = "30d"
[log]
format = "json"
[channels.{flaky}]
type = "webhook"
url = "{flaky_url}"
secret = "{secret}"
timeout = "{taken}"
[channels.{down}]
type = "webhook"
url = "{down_url}"
secret = "{secret}"
timeout = "{taken}"
[channels.{stubborn}]
type = "webhook"
url = "{stubborn_url}"
secret = "{secret}"
timeout = "{taken}"
[channels.lines]
type = "file"
path = "{folder}/alerts.jsonl"
[channels.{gathered}]
type = "webhook"
url = "{gathered_url}"
secret = "{secret}"
timeout = "{taken}"
{servers}\
[[routes]]
name = "together"
channels = ["{gathered}"]
digest = "2s"
continue = true
[[routes]]
name = "alone"
channels = ["{flaky}", "{down}", "{stubborn}", "lines"]
"""


class Tocsin:
    """One installation in a folder."""

    def __init__(self, folder: Path, servers: Servers | None = None) -> None:
        self.folder, self._servers = folder, servers
        self.store = folder / "store.db"
        self.lines = folder / "alerts.jsonl"
        self._log = folder / "log.jsonl"

    def configure(self, receivers: Receivers, *, fetchers: int, patient: bool = False) -> None:
        """Write the configuration; where it is `patient`, nothing fails that only takes its time."""
        first_byte, total, taken = ("60s", "60s", "60s") if patient else ("2s", "5s", "1s")
        text = _SETTINGS.format(
            folder=self.folder,
            storm_pages=STORM_PAGES,
            fetchers=fetchers,
            first_byte=first_byte,
            total=total,
            taken=taken,
            flaky=FLAKY,
            flaky_url=receivers.url(FLAKY),
            down=DOWN,
            down_url=receivers.url(DOWN),
            stubborn=STUBBORN,
            stubborn_url=receivers.url(STUBBORN),
            gathered=GATHERED,
            gathered_url=receivers.url(GATHERED),
            secret=SECRET,
            servers=self._servers.sections("60s" if patient else "3s") if self._servers else "",
        )
        (self.folder / "tocsin.toml").write_text(text, encoding="utf-8")

    async def command(self, *arguments: str) -> tuple[int, str]:
        """Run a command to its end; returns its exit status and what it said."""
        process = await asyncio.create_subprocess_exec(
            *self._program("tocsin.cli", arguments),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._environment(),
        )
        said, _ = await process.communicate()
        return process.returncode or 0, said.decode(errors="replace")

    async def start(self, plan: Plan | None = None) -> Process:
        """Start `tocsin run`; its log goes to the folder."""
        module = "tocsin.cli" if plan is None or not plan.is_from_within else "benchmarks.soak.doomed"
        with self._log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *self._program(module, ("run",)), stdout=log, stderr=log, env=self._environment(plan)
            )

    def last_words(self, most: int = 2000) -> str:
        """The end of the log."""
        return self._log.read_bytes()[-most:].decode(errors="replace") if self._log.exists() else ""

    def _program(self, module: str, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", module, "--config", str(self.folder / "tocsin.toml"), *arguments]

    def _environment(self, plan: Plan | None = None) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
        if plan is not None:
            environment["SOAK_PLAN"] = json.dumps(plan._asdict())
        return environment


def kill(process: Process, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a process that may be gone already."""
    if process.returncode is None:
        # Not `send_signal`: that looks first whether it has ended, and then nobody else learns with which status.
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)
