"""Kill the browser, its worker, its egress process and the service amid pages that scripts make."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import time
from asyncio.subprocess import Process
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.browsing.judge import judge
from benchmarks.browsing.site import AlertReceiver, ShellSite
from benchmarks.browsing.victims import KINDS, SERVICE, Household, kill_one
from benchmarks.soak.evidence import gather, unsettled
from benchmarks.soak.receiver import SECRET
from benchmarks.soak.report import Outcome
from benchmarks.soak.service import Tocsin, kill
from benchmarks.soak.versions import Muddled

SLOTS: Final = 4
# Of each kind one at least; with many pages a kill for this many of them.
_PAGES_A_KILL: Final = 5
# Each change is read twice, by its check and by its rendering, so this many visits lie between two kills.
_VISITS_A_KILL: Final = 2 * _PAGES_A_KILL - 1
# A visit takes a second on a machine that is busy with other things.
_SETTLE_S: Final = 120.0
_PATIENCE_S_A_PAGE: Final = 4.0
_STOP_S: Final = 60.0
_LOOK_S: Final = 0.2
_SETTINGS: Final = """\
[instance]
name = "soak"
[store]
url = "sqlite:{folder}/store.db"
batch_wait = "20ms"
[cluster]
lease = "5s"
[pages]
fetch = "browser"
every = "1s"
min_gap = "0s"
at_launch = "1s"
[fetch]
fetchers = 1
[hosts]
concurrency = 4
delay = "0s"
[http]
listen = "127.0.0.1:0"
[network]
allow = ["127.0.0.0/8"]
[questions]
gather = "1s"
[render]
limit = {slots}
resume_at = {slots}
[browser]
slots = {slots}
deadlines = {{ ready = "60s", total = "90s" }}
[log]
format = "json"
[channels.taken]
type = "webhook"
url = {receiver}
secret = "{secret}"
"""


class _BrowserSoak:
    """One soak."""

    def __init__(self, tocsin: Tocsin, site: ShellSite, chance: Random) -> None:
        self._tocsin, self._site, self._chance = tocsin, site, chance
        kills = max(len(KINDS), len(site.versions) // _PAGES_A_KILL)
        self._to_kill = [KINDS[number % len(KINDS)] for number in range(kills)]
        self._kill_at = 0
        self._household: Household | None = None
        self._process: Process | None = None
        self.killed: Counter[str] = Counter()
        self.findings: list[str] = []

    async def prepare(self, receiver: str) -> None:
        """Configure the service and give it its pages."""
        settings = _SETTINGS.format(
            folder=self._tocsin.folder, slots=SLOTS, receiver=json.dumps(receiver), secret=SECRET
        )
        (self._tocsin.folder / "tocsin.toml").write_text(settings, encoding="utf-8")
        listed = self._tocsin.folder / "pages.txt"
        listed.write_text("\n".join(self._site.versions) + "\n", encoding="utf-8")
        status, said = await self._tocsin.command("watch", "import", str(listed))
        if status:
            self.findings.append(f"watch import ended with {status}: {said}")

    async def run(self) -> None:
        """Read all pages, change them, and kill while the changes are read; in the end let the service finish."""
        await self._start()
        await self._settle("before the changes")
        self._site.change_everything()
        self._kill_at = self._site.read + _VISITS_A_KILL
        self._site.on_read = self._kill_next
        await self._settle("after the changes")
        await self._stop()

    def _kill_next(self) -> None:
        """Kill what is next in turn, now that a page is in hand."""
        if not self._to_kill or self._site.read < self._kill_at or self._process is None or self._process.returncode:
            return
        kind = self._to_kill[0]
        if kind == SERVICE:
            self._household = Household(self._process.pid)
        if kill_one(kind, self._process.pid, self._chance):
            self.killed[self._to_kill.pop(0)] += 1
            # After the last one, all pages are read once more: what was found already is not found again.
            self._kill_at = self._site.read + (_VISITS_A_KILL if self._to_kill else len(self._site.versions))
            print(".", end="", flush=True)

    async def _start(self) -> None:
        self._process = await self._tocsin.start()

    async def _settle(self, when: str) -> None:
        """Wait until each page is where the site is and all is told, starting what was killed; bounded."""
        until = time.monotonic() + _SETTLE_S + _PATIENCE_S_A_PAGE * len(self._site.versions)
        while (left := self._left()) and not self.findings:
            if time.monotonic() > until:
                self.findings += [f"{when}, {what}" for what in left]
                self.findings.append(f"the log ends with: {self._tocsin.last_words()}")
            assert self._process is not None
            if await _has_ended(self._process, _LOOK_S):
                await self._bury(self._process)
                if not self.findings:
                    await self._start()

    def _left(self) -> list[str]:
        if self._site.read < self._kill_at or (self._to_kill and self._kill_at):
            return [f"{len(self._to_kill)} kills and {self._kill_at - self._site.read} visits are to come"]
        try:
            return unsettled(self._tocsin.store, dict(self._site.versions), refused="")
        except (Muddled, sqlite3.Error) as exc:
            return [f"the store: {exc}"]

    async def _bury(self, process: Process) -> None:
        """See that the service died by our hand, and took its processes along."""
        household, self._household = self._household, None
        if process.returncode != -signal.SIGKILL or household is None:
            self.findings.append(f"it ended by itself with {process.returncode}: {self._tocsin.last_words()}")
        elif left := await asyncio.to_thread(household.left_behind):
            self.findings.append(f"processes outlive the service: {'; '.join(left)}")

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        household = Household(process.pid)
        kill(process, signal.SIGTERM)
        if not await _has_ended(process, _STOP_S):
            self.findings.append(f"SIGTERM did not end it within {_STOP_S:g} s")
            kill(process)
        if (status := await process.wait()) not in {0, -signal.SIGKILL}:
            self.findings.append(f"SIGTERM ended it with {status}: {self._tocsin.last_words()}")
        if left := await asyncio.to_thread(household.left_behind):
            self.findings.append(f"processes outlive a service that was stopped: {'; '.join(left)}")
        status, said = await self._tocsin.command("store", "check")
        if status:
            self.findings.append(f"store check in the end: {said.strip()}")


async def soak(folder: Path, *, pages: int, seed: int) -> Outcome:
    """Run it in a folder, and judge."""
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(ShellSite(pages))
        receiver = await stack.enter_async_context(AlertReceiver())
        tocsin = Tocsin(folder)
        run = _BrowserSoak(tocsin, site, Random(seed))  # noqa: S311 - a plan that can be repeated
        await run.prepare(receiver.url)
        await run.run()
        print(flush=True)
        if run.findings:
            return Outcome(run.killed, {}, run.findings)
        try:
            evidence = gather(tocsin.store)
        except (Muddled, sqlite3.Error) as exc:
            return Outcome(run.killed, {}, [f"the store cannot be read: {exc}"])
        totals = {
            "pages": pages,
            "visits whose script ran": site.read,
            "verdicts": sum(map(len, evidence.verdicts.values())),
            "alerts": len(evidence.alerts),
            "alerts that came again": len(receiver.taken) - len({id_ for id_, _ in receiver.taken}),
        }
        return Outcome(run.killed, totals, judge(evidence, receiver.taken, site.versions))


async def _has_ended(process: Process, seconds: float) -> bool:
    """Wait for a process to end; says whether it did."""
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True
