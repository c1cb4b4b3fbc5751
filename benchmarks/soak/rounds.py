"""The rounds of the soak: start the service, let it die, start it again on the same store; in the end let it finish."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import time
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, nullcontext
from pathlib import Path
from random import Random

from benchmarks.soak import alike
from benchmarks.soak.evidence import gather, put_off, unsettled
from benchmarks.soak.fetchers import NUMBERS, Casualties
from benchmarks.soak.judge import judge, late_by
from benchmarks.soak.plans import ACCEPTED, SERVED, STOPPING, Plan, plans
from benchmarks.soak.receiver import STUBBORN, Delivered, Receivers
from benchmarks.soak.report import Outcome
from benchmarks.soak.servers import Servers
from benchmarks.soak.service import Tocsin, kill
from benchmarks.soak.site import Site
from benchmarks.soak.versions import Muddled
from benchmarks.soak.wire import Journal

# The fifth pause of an alert or a digest is ten minutes. Alerts are replayed then; a digest has to be waited for, and
# those of its route behind it.
SETTLE_S = 900.0
_LONG_S = 60.0
_STOP_S = 120.0
_START_S = 60.0
_CHECK_EVERY = 10
_DOWN = range(2, 5)
_BURST = 0.3


class Rounds:
    """One soak."""

    def __init__(self, tocsin: Tocsin, site: Site, receivers: Receivers, chance: Random) -> None:
        self._tocsin, self._site, self._receivers, self._chance = tocsin, site, receivers, chance
        self.deaths: Counter[str] = Counter()
        self.findings: list[str] = []
        self.settled_s = 0.0
        self.replayed = 0
        # From when to when it worked.
        self.lives: list[tuple[float, float]] = []

    async def prepare(self) -> None:
        """Configure the service and give it its pages."""
        self._receivers.refused = self._site.urls[0]
        self._tocsin.configure(self._receivers, fetchers=0)
        listed = self._tocsin.folder / "pages.txt"
        listed.write_text("\n".join(self._site.urls) + "\n", encoding="utf-8")
        status, said = await self._tocsin.command("watch", "import", str(listed))
        if status:
            self.findings.append(f"watch import ended with {status}: {said}")

    async def one(self, number: int, plan: Plan) -> None:
        """Start the service and see it die."""
        self._receivers.is_down = number % 10 in _DOWN
        if self._chance.random() < _BURST:
            self._site.change_everything()
        note = self._tocsin.folder / "death.json"
        note.unlink(missing_ok=True)
        self._tocsin.configure(self._receivers, fetchers=NUMBERS[number % len(NUMBERS)])
        process = await self._start(plan._replace(note=str(note)))
        casualties = Casualties(process, self._chance, self._begin_life)
        left = plan.nth

        def count_down() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                kill(process)

        self._hook(plan, count_down)
        if plan.is_at_work:
            await self._begun(process)
        begun = time.time()
        patience = plan.patience
        if plan.window == STOPPING:
            await _wait(process, patience)
            kill(process, signal.SIGTERM)
            patience = self._chance.uniform(0.0, 0.6)
        async with asyncio.TaskGroup() as group:
            killing = group.create_task(casualties.run())
            is_over = await _wait(process, patience)
            killing.cancel()
        if not is_over:
            kill(process)
        status = await process.wait()
        self.lives.append((begun, time.time()))
        self._hook(plan, None)
        self.deaths["fetcher"] += casualties.killed
        if left_behind := await casualties.left_behind():
            self.findings.append(f"round {number} ({plan.name}): fetchers outlive the service: {left_behind}")
        self._note_death(number, plan, status, note, is_over=is_over)
        if number % _CHECK_EVERY == 0:
            await self._check_store(f"after round {number}")

    async def finish(self) -> None:
        """Let the service run undisturbed until everything due is delivered, and stop it as a user would."""
        self._site.freeze()
        self._receivers.is_well, self._receivers.is_down = True, False
        began = time.monotonic()
        self._tocsin.configure(self._receivers, fetchers=max(NUMBERS), patient=True)
        process = await self._start(None)
        await self._replay_put_off()
        while (left := self._unsettled()) and time.monotonic() - began < SETTLE_S:
            if await _wait(process, 0.5):
                break
        self.settled_s = time.monotonic() - began
        self.lives.append((time.time() - self.settled_s, time.time()))
        self.findings += [f"after {self.settled_s:.0f} s undisturbed: {what}" for what in left]
        kill(process, signal.SIGTERM)
        if not await _wait(process, _STOP_S):
            kill(process)
            self.findings.append(f"SIGTERM did not end it within {_STOP_S:.0f} s")
        elif process.returncode != 0:
            self.findings.append(f"the last run ended with {process.returncode}: {self._tocsin.last_words()}")
        await self._check_store("in the end")

    async def _replay_put_off(self) -> None:
        """Send what failed so often that it waits for minutes, as a person would who has mended a receiver."""
        for alert, channel in put_off(self._tocsin.store, self._receivers.refused, _LONG_S):
            status, said = await self._tocsin.command("alerts", "replay", alert, "--channel", channel, "--yes")
            if status:
                self.findings.append(f"alerts replay ended with {status}: {said}")
            self.replayed += 1

    async def _begun(self, process: Process) -> None:
        """Wait until it requests pages: on a busy machine a start takes longer than all the rest."""
        served, began = len(self._site.served), time.monotonic()
        while len(self._site.served) == served and time.monotonic() - began < _START_S:
            if await _wait(process, 0.1):
                break

    def _begin_life(self) -> None:
        """From here on nobody knows what was served before: what was not handed over yet is asked for again."""
        self._site.life += 1

    async def _start(self, plan: Plan | None) -> Process:
        self._begin_life()
        self._receivers.life += 1
        return await self._tocsin.start(plan)

    def _unsettled(self) -> list[str]:
        try:
            store = self._tocsin.store
            left = unsettled(store, self._site.versions(), self._receivers.refused)
            return [*left, *alike.unsettled(store, self._site.alike_versions())]
        except sqlite3.OperationalError as exc:
            return [f"the store cannot be read: {exc}"]
        except Muddled as exc:
            return [str(exc)]

    def _hook(self, plan: Plan, on_event: Callable[[], None] | None) -> None:
        def ignore() -> None:
            pass

        self._receivers.on_accepted = on_event if on_event and plan.window == ACCEPTED else ignore
        self._site.on_served = on_event if on_event and plan.window == SERVED else ignore

    def _note_death(self, number: int, plan: Plan, status: int, note: Path, *, is_over: bool) -> None:
        if status == -signal.SIGKILL:
            if note.exists():
                met = json.loads(note.read_text(encoding="utf-8"))
                self.deaths[f"{met['window']} {met['point']}"] += 1
            else:
                is_missed = not is_over and plan.is_at_work
                self.deaths[f"{plan.name}: not met" if is_missed else plan.name] += 1
        elif status == 0 and plan.window == STOPPING:
            self.deaths["stopped in time"] += 1
        elif status == -signal.SIGTERM and plan.window == STOPPING:
            self.deaths["stopped before it began"] += 1
        else:
            self.findings.append(f"round {number} ({plan.name}): ended by itself with {status}")
            self.findings.append(f"its last words: {self._tocsin.last_words()}")

    async def _check_store(self, when: str) -> None:
        status, said = await self._tocsin.command("store", "check")
        if status:
            self.findings.append(f"store check {when}: {said.strip()}")


async def soak(folder: Path, *, rounds: int, seed: int, servers: Servers | None = None) -> Outcome:
    """Run all rounds in a folder, and judge.

    servers  also channels to these, which are killed as well
    """
    chance = Random(seed)  # noqa: S311 - a plan that can be repeated
    async with AsyncExitStack() as stack:
        journals = [Journal(folder / name) for name in ("served.jsonl", "received.jsonl")]
        for journal in journals:
            stack.callback(journal.close)
        site = await stack.enter_async_context(Site(Random(chance.random()), journals[0]))  # noqa: S311 - as above
        receivers = await stack.enter_async_context(Receivers(Random(chance.random()), journals[1]))  # noqa: S311 - as above
        if servers is not None:
            await stack.enter_async_context(servers.running())
        tocsin = Tocsin(folder, servers)
        run = Rounds(tocsin, site, receivers, chance)
        await run.prepare()
        async with servers.troubled() if servers else nullcontext():
            for number, plan in enumerate(plans(chance, rounds), 1):
                if run.findings:
                    break
                await run.one(number, plan)
                print(".", end="" if number % 50 else f" {number}\n", flush=True)
        print(flush=True)
        await run.finish()
        findings = list(run.findings)
        delivered = [*receivers.delivered, *(await servers.received() if servers else ())]
        try:
            evidence, together = gather(tocsin.store), alike.gather(tocsin.store)
        except (Muddled, sqlite3.Error) as exc:
            return Outcome(run.deaths, {}, [*findings, f"the store cannot be read: {exc}"])
        refused, late = receivers.refused, sorted(late_by(evidence, receivers.delivered, run.lives).values())
        losable = servers.losable if servers else {}
        told = judge(evidence, site.served, delivered, tocsin.lines, site.versions(), refused, losable, run.lives)
        findings += told
        findings += alike.judge(together, site.served, site.alike_versions())
        totals = {
            "pages": len(site.urls),
            "answers of the site": len(site.served),
            "failures of the site": site.failures,
            "states": sum(len(states) for states in evidence.states.values()),
            "verdicts": sum(len(verdicts) for verdicts in evidence.verdicts.values()),
            "alerts": len(evidence.alerts),
            "storms": len(together.storms),
            "changes told by them": sum(
                verdict.alert_id is None for verdicts in together.verdicts.values() for verdict in verdicts
            ),
            "questions": len(evidence.questions),
            "deliveries tried": len(receivers.delivered),
            "faults of the receivers": receivers.faults,
            "delivered more than once": sum(count > 1 for count in _accepted(receivers).values()),
            f"refusals of one page at {STUBBORN}": receivers.refusals,
            f"alerts of other pages taken at {STUBBORN}": len(late),
            "… ms of its work after they were written, median": round(1000 * late[len(late) // 2]) if late else 0,
            "… and 99 of 100": round(1000 * late[len(late) * 99 // 100]) if late else 0,
            "replayed by hand in the end": run.replayed,
            "seconds to settle": round(run.settled_s),
            **{f"taken by {name}": count for name, count in sorted(_taken(delivered).items())},
        }
        return Outcome(run.deaths + (servers.killed if servers else Counter()), totals, findings)


def _taken(delivered: Sequence[Delivered]) -> Counter[str]:
    """Count what each server took."""
    return Counter(entry.channel for entry in delivered if not entry.life)


def _accepted(receivers: Receivers) -> Counter[tuple[str, str]]:
    return Counter((entry.channel, entry.id) for entry in receivers.delivered if entry.accepted)


async def _wait(process: Process, seconds: float) -> bool:
    """Wait for a process to end; says whether it did."""
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True
