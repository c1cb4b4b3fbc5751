"""Finds due pages by host and sets visits off; a host's pages never starve another's."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from tocsin.engine.agenda import Agenda
from tocsin.engine.probing import Probing
from tocsin.errors import StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tocsin.engine.checkers import Checkers
    from tocsin.engine.gates import Gates
    from tocsin.engine.lease import Lease
    from tocsin.engine.outage import OutageWatch
    from tocsin.engine.policies import Policies
    from tocsin.engine.writer import Writer
    from tocsin.model import CheckResult, Instant, PageTask
    from tocsin.ports import Clock, Telemetry, WorkStore
    from tocsin.settings import FetchSettings

POLL_S = 0.25
HOSTS_AT_A_TIME = 500
HOSTS_A_LOOK = 5000
PAGES_A_HOST = 2
"""Where many hosts are due, so many pages of each are begun together."""
_WITHOUT_DELAY = 8
"""The same where nobody waits between requests: then a connection that stands is worth more than many hosts."""
_MOST_PAGES_A_HOST = 64
_AGAIN_US = 500_000


class Scheduler:
    """Keeps visits going: hosts by due time, of each host a batch, and a host again only when its batch is written.

    request_id   only the pages that this request wants; `run` then ends by itself when they are done
    is_rendered  says whether the render queue has a page in hand, or had since this monotonic time: it waits, so that
                 both know its latest state
    """

    def __init__(
        self,
        store: WorkStore,
        lease: Lease,
        checkers: Checkers,
        policies: Policies,
        gates: Gates,
        outage: OutageWatch,
        settings: FetchSettings,
        clock: Clock,
        telemetry: Telemetry,
        *,
        request_id: int | None = None,
        is_rendered: Callable[[int, float], bool] = lambda _id, _since_s: False,
    ) -> None:
        self._store, self._lease, self._checkers, self._policies = store, lease, checkers, policies
        self._gates, self._outage, self._clock, self._telemetry = gates, outage, clock, telemetry
        self._hold_s = settings.hold.total_seconds()
        self._most_pages = 4 * settings.in_flight
        self._request_id, self._is_rendered = request_id, is_rendered
        self._probing = Probing(
            store, lease, policies, gates, outage, clock, wait_s=self._hold_s, is_once=request_id is not None
        )
        self._agenda = Agenda()
        self._outstanding: Counter[int] = Counter()
        self._edited: dict[int, int | None] = {}
        self._reload_from: set[int | None] = {None}
        self._visited: set[int] = set()
        self._revision: int | None = None
        self._spread: dict[int, Instant] = {}
        self._is_behind = True
        self._changed, self._reconfigured = asyncio.Event(), asyncio.Event()
        self._reconfigured.set()

    async def run(self, writer: Writer, stopping: asyncio.Event) -> None:
        """Set visits off until told to stop, then wait for those under way."""
        async with self._checkers.checking(writer.put_all), asyncio.TaskGroup() as group:
            waking = group.create_task(self._wake_off(), name="wake-off")
            await self._check(stopping)
            self._outage.stop_holding()
            waking.cancel()

    async def _check(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            self._changed.clear()
            try:
                await self._read_what_others_wrote()
                await self._start_due()
            except StoreError as exc:
                if self._request_id is not None:
                    raise
                await self._fail(exc)
            if self._request_id is not None and not (self._outstanding or self._agenda or self._outage.in_doubt):
                return
            await self._wait(stopping)

    def late_s(self) -> float:
        """Tell how long the host is due already that is due the longest; 0 where none is late."""
        due = self._agenda.next_due()
        return max(self._clock.now() - due, 0) / 1_000_000 if due is not None else 0.0

    def on_committed(self, results: Sequence[CheckResult], due: dict[int, Instant | None]) -> None:
        """Take back hosts whose batches are written, with the time when they are due again."""
        self._probing.on_committed(results)
        for result in results:
            host_id = result.host_id
            self._outstanding[host_id] -= 1
            self._visited.discard(result.page_id)
            if self._outstanding[host_id] > 0:
                continue
            del self._outstanding[host_id]
            self._put(host_id, due.get(host_id))
            if host_id in self._edited:
                # Somebody edited it while its batch was under way: the time may be older than the edit.
                self._reload_from.add(self._edited.pop(host_id))
        self._changed.set()

    def is_visited(self, page_id: int) -> bool:
        """Say whether a check has this page in hand."""
        return page_id in self._visited

    def reconfigure(self) -> None:
        """Say that the configuration was read again: pages that were off may be on by now."""
        self._reconfigured.set()

    def on_spread(self, due: dict[int, Instant] | None) -> None:
        """Take up when hosts are due by what a launch has spread; None: read the whole agenda again."""
        if due is None:
            self._reload_from.add(None)
        else:
            for host_id, at in due.items():
                self._spread[host_id] = min(at, self._spread.get(host_id, at))
        self._changed.set()

    def wake(self) -> None:
        """Look again at once."""
        self._changed.set()

    def _put(self, host_id: int, due: Instant | None) -> None:
        # A one-shot check is only about requested pages: a host that has one is due at 0.
        if self._request_id is not None and due != 0:
            due = None
        self._agenda.put(host_id, due)

    async def _wake_off(self) -> None:
        """At the start and after each reading of the configuration, make due what is off no longer, until cancelled.

        What that makes due is noticed as any other edit is, while it goes on.
        """
        while True:
            await self._reconfigured.wait()
            # Cleared first: who says so while the store works must not be forgotten.
            self._reconfigured.clear()
            try:
                await self._store.wake_off(self._clock.now(), mode=self._policies.mode)
            except StoreError as exc:
                self._reconfigured.set()
                await self._fail(exc)
            else:
                self._changed.set()

    async def _fail(self, exc: StoreError) -> None:
        """Go on after a while: a service outlives a store that is locked or full for some time."""
        self._telemetry.emit(Happening("scheduler.failed", "error", {"error": str(exc)}))
        await self._clock.sleep(_AGAIN_US / 1_000_000)

    async def _load(self, since_revision: int | None) -> None:
        read = 0
        async for host_id, due in await self._store.host_agenda(self._lease.claim, since_revision=since_revision):
            if host_id in self._outstanding:
                self._edited.setdefault(host_id, since_revision)
            else:
                self._put(host_id, due)
            read += 1
            if since_revision is None and read % HOSTS_A_LOOK == 0:
                # At the start: a million hosts take seconds, and what is due need not wait for the last of them.
                await self._start_due()

    async def _read_what_others_wrote(self) -> None:
        revision = await self._store.foreign_revision()
        if revision is not None:
            # The store says so once. Until it is taken up, it is kept here, however often the store fails meanwhile.
            self._reload_from.add(self._revision)
            self._revision, self._is_behind = revision, True
        if self._is_behind:
            await self._policies.load(self._store)
            self._checkers.refresh()
            if self._visited:
                self._checkers.withdraw(self._visited - await self._store.still_watched(list(self._visited)))
            self._is_behind = False
        while self._reload_from:
            since = self._reload_from.pop()
            try:
                await self._load(since)
            except StoreError:
                self._reload_from.add(since)
                raise

    async def _start_due(self) -> None:
        self._take_up_spread()
        await self._probe()
        if self._outage.is_outage() and self._request_id is None:
            await self._put_off_requested()
            return
        most_a_host = self._gates.most_at_once(self._hold_s / 2, _MOST_PAGES_A_HOST)
        fewest = min(PAGES_A_HOST if self._gates.politeness("").delay_s else _WITHOUT_DELAY, most_a_host)
        while (room := self._most_pages - len(self._visited)) > 0:
            host_ids = self._agenda.take(self._clock.now(), min(HOSTS_AT_A_TIME, -(-room // fewest)))
            if not host_ids:
                return
            read_s = self._clock.monotonic()
            try:
                tasks = await self._store.due_pages(
                    self._lease.claim,
                    host_ids,
                    self._clock.now(),
                    per_host=min(most_a_host, max(room // len(host_ids), fewest)),
                    request_id=self._request_id,
                )
            except StoreError:
                for host_id in host_ids:
                    self._agenda.put(host_id, self._clock.now() + _AGAIN_US)
                raise
            self._set_off(tasks, read_s)

    def _take_up_spread(self) -> None:
        """Put what was spread on the agenda; of hosts whose batch is under way, its writing says when they are due."""
        spread, self._spread = self._spread, {}
        for host_id, due in spread.items():
            if host_id not in self._outstanding:
                self._agenda.advance(host_id, due)

    async def _probe(self) -> None:
        """Ask for the pages that say whether our own connection fails, or is back (T61, T62)."""
        read_s = self._clock.monotonic()
        is_full = len(self._visited) >= self._most_pages
        is_all_held = self._outage.held >= len(self._visited) and (is_full or not self._agenda)
        tasks = await self._probing.verdict(self._visited, is_all_held=is_all_held)
        is_due = self._outage.is_outage() and self._outage.probe_in_s() <= 0
        if is_due and self._request_id is None and not self._outstanding:
            tasks = await self._probing.probes(self._agenda.hosts)
        for task in tasks:
            self._agenda.put(task.host_id, None)
            self._telemetry.emit(Happening("outage.probe", "debug", {"page_id": task.page_id, "url": task.url}))
        self._set_off(tasks, read_s, probing=True)

    async def _put_off_requested(self) -> None:
        """Answer whoever asked for a check in the outage: it is put off, and they need not wait for its end."""
        host_ids = self._agenda.take(0, HOSTS_AT_A_TIME)
        if host_ids:
            read_s = self._clock.monotonic()
            tasks = await self._store.due_pages(self._lease.claim, host_ids, 0, per_host=_MOST_PAGES_A_HOST)
            self._set_off(tasks, read_s)

    def _set_off(self, tasks: Iterable[PageTask], read_s: float, *, probing: bool = False) -> None:
        for host_id, batch in groupby(tasks, key=lambda task: task.host_id):
            due = list(batch)
            host = due[0].host
            if (room := self._checkers.room(host)) <= 0:
                self._agenda.put(host_id, self._clock.now() + _AGAIN_US)
                continue
            held_s = self._gates.held_s(host)
            if held_s > self._hold_s:
                # Whoever asked for a check is told that it is put off; what is only due waits.
                due = [task for task in due if task.request_id is not None]
            if not due:
                self._agenda.put(host_id, self._clock.now() + round(held_s * 1_000_000))
                continue
            most = min(self._pages_of(host), room)
            pages = [task for task in due if not self._is_rendered(task.page_id, read_s)][:most]
            if not pages:
                self._agenda.put(host_id, self._clock.now() + _AGAIN_US)
                continue
            self._outstanding[host_id] += len(pages)
            self._visited.update(task.page_id for task in pages)
            if self._outage.is_outage() and not probing:
                # What is due waits for our connection to come back; whoever asked for a check is told so.
                self._checkers.put_off([task for task in pages if task.request_id is not None])
                pages = [task for task in pages if task.request_id is None]
            if pages:
                self._checkers.begin(pages)

    def _pages_of(self, host: str) -> int:
        """As many as this host can be asked for within half of `hold`, so that nobody stands in its line for longer."""
        return self._gates.at_once(host, self._hold_s / 2, _MOST_PAGES_A_HOST)

    async def _wait(self, stopping: asyncio.Event) -> None:
        """Sleep until something is written, something is due, or it is time to look for what others wrote."""
        due = self._agenda.next_due()
        wait_s = POLL_S
        if due is not None and not self._outage.is_outage() and len(self._visited) < self._most_pages:
            wait_s = min(max((due - self._clock.now()) / 1_000_000, 0.001), POLL_S)
        if stopping.is_set():
            return
        try:
            async with asyncio.timeout(wait_s):
                await self._changed.wait()
        except TimeoutError:
            return
