"""Finds due pages by host and starts their checks; no host starves another."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from itertools import groupby

from tocsin.engine.fetchers.checkers import Checkers
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.hosts.outage import SILENCE_S, OutageWatch
from tocsin.engine.hosts.process_limits import PAGES_A_REQUEST
from tocsin.engine.policies import Policies
from tocsin.engine.scheduling.agenda import Agenda
from tocsin.engine.scheduling.writer import ResultWriter
from tocsin.engine.visiting.visit import is_too_near
from tocsin.errors import SettingsError, StoreError
from tocsin.events import Happening
from tocsin.model import CheckResult, Claim, Instant, PageTask
from tocsin.ports import Clock, Telemetry, WorkStore
from tocsin.settings import FetchSettings

# Which watched pages are checked to find out whether our own connection fails (T61, T62).


# Hosts that must all fail: three that answered lately do not disappear at the same time.
WITNESSES = 3
# Time for the witnesses to answer: resolving a name and connecting take no longer.
VERDICT_S = 30.0
_MOST_REMEMBERED = 8
_PAGES_A_HOST = 4
# Later than any due time: takes every host of an agenda.
_EVER: Instant = 2**62


class OutageProbes:
    """Settles doubts of the outage watch by checking the hosts that answered last, and probes during an outage.

    wait_s   hosts that asked for a longer pause are not probed
    is_once  serves one request, which waits for the verdict when nothing else is left to try
    Commits tell which hosts answered last; before the first one, the store does.
    """

    def __init__(
        self,
        store: WorkStore,
        lease: Lease,
        policies: Policies,
        gates: Gates,
        outage: OutageWatch,
        clock: Clock,
        *,
        wait_s: float,
        is_once: bool,
    ) -> None:
        self._store, self._lease, self._policies, self._gates = store, lease, policies, gates
        self._outage, self._clock, self._wait_s, self._is_once = outage, clock, wait_s, is_once
        self._answered: dict[int, None] = {}
        self._is_recalled = False
        self._asked: set[str] | None = None
        self._until_s = 0.0
        # Each process begins with another host: a fixed one might be gone for good.
        self._turn = clock.now() // 1_000_000

    def on_committed(self, results: Sequence[CheckResult]) -> None:
        """Remember the hosts that answered, the latest last."""
        new: list[int] = []
        for result in reversed(results):
            if result.report.status is not None and result.host_id not in new:
                new.append(result.host_id)
                if len(new) == _MOST_REMEMBERED:
                    break
        for host_id in reversed(new):
            self._answered.pop(host_id, None)
            self._answered[host_id] = None
        while len(self._answered) > _MOST_REMEMBERED:
            del self._answered[next(iter(self._answered))]

    async def verdict(self, visited: Collection[int], *, is_all_held: bool) -> list[PageTask]:
        """Settle the doubt as soon as possible; returns the pages to check for that, one per host.

        visited      pages in hand, which are not checked twice
        is_all_held  no request under way can still bring an answer
        """
        outage = self._outage
        if not outage.in_doubt:
            self._asked = None
            return []
        if self._asked is not None:
            self._asked = {host for host in self._asked if not outage.is_failing(host)}
            if not self._asked or self._clock.monotonic() >= self._until_s:
                self._asked = None
                outage.settle(is_outage=True)
            return []
        is_at_end = self._is_once and is_all_held
        if outage.silent_s() < SILENCE_S:
            if not is_at_end:
                return []
            if outage.has_answered or await self._was_answered_lately():
                outage.settle(is_outage=False)
                return []
        tasks = await self._witnesses(visited)
        if outage.in_doubt:
            # These hosts decide. Without any, no host is known to have answered.
            self._asked = {task.host for task in tasks}
            self._until_s = self._clock.monotonic() + VERDICT_S
        return [task for task in tasks if task.page_id not in visited and not outage.is_failing(task.host)]

    async def probes(self, hosts: Callable[[], Sequence[int]]) -> list[PageTask]:
        """Return the pages of the next probe: of a host that answered last, and of another one.

        hosts  returns all hosts with pages, in a stable order
        """
        number = self._outage.next_probe()
        witnesses, all_hosts = await self._host_ids(), hosts()
        chosen: list[int] = []
        if witnesses:
            chosen.append(witnesses[number % min(len(witnesses), WITNESSES)])
        if all_hosts:
            # The hosts that answered last may all be gone by now.
            chosen.append(all_hosts[self._turn % len(all_hosts)])
            self._turn += 1
        tasks = [await self._page_of(host_id) for host_id in dict.fromkeys(chosen)]
        return [task for task in tasks if task is not None]

    async def _witnesses(self, visited: Collection[int]) -> list[PageTask]:
        """Return a page of each of up to three hosts that answered last and may be requested."""
        tasks: list[PageTask] = []
        for host_id in await self._host_ids():
            task = await self._page_of(host_id, visited)
            if task is None or self._outage.is_dead(task.host):
                continue
            tasks.append(task)
            if len(tasks) == WITNESSES:
                break
        return tasks

    async def _page_of(self, host_id: int, visited: Collection[int] = ()) -> PageTask | None:
        """Return the page of a host that is due for longest and may be requested now."""
        claim = self._lease.probing_claim
        tasks = await self._store.due_pages(claim, [host_id], _EVER, per_host=_PAGES_A_HOST)
        for task in tasks:
            if task.page_id in visited or self._may_be_asked(task):
                return task
        return None

    def _may_be_asked(self, task: PageTask) -> bool:
        try:
            policy = self._policies.of(task)
        except SettingsError:
            return False
        is_left_alone = self._gates.held_s(task.host) > self._wait_s
        return policy.mode != "off" and not is_left_alone and not is_too_near(task, policy, self._clock.now())

    async def _host_ids(self) -> list[int]:
        """Return the hosts that answered last, the latest first."""
        if not self._answered and not self._is_recalled:
            last = await self._store.hosts_received_last(_MOST_REMEMBERED)
            self._is_recalled = True
            for host_id, _ in reversed(last):
                self._answered.setdefault(host_id)
        return list(reversed(self._answered))

    async def _was_answered_lately(self) -> bool:
        """Tell whether an earlier process received a page within `SILENCE_S`."""
        last = await self._store.hosts_received_last(1)
        return bool(last) and 0 <= self._clock.now() - last[0][1] < SILENCE_S * 1_000_000


# Starting checks by due time.


# Interval of looking for edits by other processes, which cannot wake this one.
POLL_S = 0.25
# Shortest pause while a host is due, and while the checkers have no room for it: each look asks the store for edits.
_SOON_S = 0.001
_ROOM_S = 0.02
HOSTS_AT_A_TIME = 500
HOSTS_A_LOOK = 5000
# Pages begun together per host while many hosts are due.
PAGES_A_HOST = 2
# The same without a delay between requests, when reusing a connection is worth more than many hosts.
_WITHOUT_DELAY = 8
_MOST_PAGES_A_HOST = 64
# Pause after a failure of the store, and before hosts are looked at again whose pages are being rendered.
_AGAIN_S = 0.5


class Scheduler:
    """Starts checks of hosts by due time, in batches; a host's next batch waits until the one before is written.

    request_id   check only the pages of this request; `run` ends when they are done
    is_rendered  tells whether the render queue has a page in hand, or had since this monotonic time; its check waits,
                 so that both know the latest state
    is_short     tells whether this machine is short of files or memory; no check begins then
    recall_holds  lets the gates know what hosts asked other nodes for
    on_asked     receives each page whose check the user wants, before it begins
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
        is_short: Callable[[], bool] = lambda: False,
        recall_holds: Callable[[], Awaitable[None]],
        on_asked: Callable[[int], None] = lambda _page_id: None,
    ) -> None:
        self._recall_holds = recall_holds
        self._store, self._lease, self._checkers, self._policies = store, lease, checkers, policies
        self._gates, self._outage, self._clock, self._telemetry = gates, outage, clock, telemetry
        self._hold_s = settings.hold.total_seconds()
        self._most_pages = PAGES_A_REQUEST * settings.in_flight
        self._request_id, self._is_rendered, self._is_short = request_id, is_rendered, is_short
        self._on_asked = on_asked
        self._probing = OutageProbes(
            store, lease, policies, gates, outage, clock, wait_s=self._hold_s, is_once=request_id is not None
        )
        self._agenda = Agenda()
        # Due hosts whose checker has no room; kept apart, so that they stay first in line.
        self._without_room: dict[int, Agenda] = {}
        # Due hosts whose pages are all being rendered: (monotonic time of the next look, due time).
        self._in_rendering: dict[int, tuple[float, Instant]] = {}
        self._requested_since: Instant | None = None
        self._outstanding: Counter[int] = Counter()
        self._edited: dict[int, int | None] = {}
        self._reload_from: set[int | None] = {None}
        # Pages in hand, each with its part.
        self._visited: dict[int, int] = {}
        self._taken: set[int] = set()
        self._revision: int | None = None
        self._spread: dict[int, Instant] = {}
        self._is_behind = True
        self._changed, self._reconfigured = asyncio.Event(), asyncio.Event()
        self._reconfigured.set()
        lease.serve(self)

    def parts_in_hand(self) -> set[int]:
        """Return the parts of the pages in hand."""
        return set(self._visited.values())

    def on_taken(self, parts: Collection[int]) -> None:
        """Read the agenda of these parts; their hosts may be on it already, or not any more."""
        self._taken.update(parts)
        self._changed.set()

    def on_lost(self, parts: Collection[int]) -> None:
        """Withdraw pages of these parts that were not asked for yet. Their hosts leave the agenda when they are due."""
        self._taken.difference_update(parts)
        self._checkers.withdraw({page_id for page_id, part in self._visited.items() if part in parts})

    async def run(self, writer: ResultWriter, stopping: asyncio.Event) -> None:
        """Start checks until told to stop, then wait for those under way."""
        async with self._checkers.checking(writer.put_all), asyncio.TaskGroup() as group:
            waking = group.create_task(self._wake_off(), name="wake-off")
            await self._check(stopping)
            self._outage.stop_holding()
            waking.cancel()
            # Thousands can be in hand; those without a request so far are checked after the next start.
            self._checkers.drop()

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
            if self._request_id is not None and not (self._outstanding or self._has_hosts or self._outage.in_doubt):
                return
            await self._wait(stopping)

    def late_s(self) -> float:
        """Return for how long the most overdue page without a request has been due, in seconds; 0 if none is late."""
        # It may be on the agenda, wait for room at its checker, or wait for its turn in the checker's hands.
        due = [*self._first_dues(), *(at for _, at in self._in_rendering.values())]
        # A host that a request wants is due at 0: it is late since the request.
        due = [self._requested_since if at == 0 else at for at in due]
        oldest = min((at for at in (*due, self._checkers.waiting_since()) if at is not None), default=None)
        return max(self._clock.now() - oldest, 0) / 1_000_000 if oldest is not None else 0.0

    def on_committed(self, results: Sequence[CheckResult], due: dict[int, Instant | None]) -> None:
        """Put hosts whose batches are written back on the agenda, with their next due times."""
        self._probing.on_committed(results)
        for result in results:
            host_id = result.host_id
            self._outstanding[host_id] -= 1
            self._visited.pop(result.page_id, None)
            if self._outstanding[host_id] > 0:
                continue
            del self._outstanding[host_id]
            self._put(host_id, due.get(host_id))
            if host_id in self._edited:
                # The host was edited while its batch was under way, so this due time may be outdated.
                self._reload_from.add(self._edited.pop(host_id))
        self._changed.set()

    def is_visited(self, page_id: int) -> bool:
        """Tell whether a check has this page in hand."""
        return page_id in self._visited

    def reconfigure(self) -> None:
        """Note that the configuration was reloaded: pages that were off may be on."""
        self._reconfigured.set()

    def on_spread(self, due: dict[int, Instant] | None) -> None:
        """Take over the due times that a launch has spread; None reloads the whole agenda."""
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
        # A one-shot check concerns requested pages only: their hosts are due at 0.
        if self._request_id is not None and due != 0:
            due = None
        if due == 0 and 0 not in self._first_dues():
            self._requested_since = self._clock.now()
        for agenda in self._without_room.values():
            agenda.take_out(host_id)
        self._in_rendering.pop(host_id, None)
        self._agenda.put(host_id, due)

    def _take_out(self, host_id: int) -> Instant:
        """Take a host out of all lines; returns its due time, now if unknown."""
        found = [agenda.take_out(host_id) for agenda in (self._agenda, *self._without_room.values())]
        _, in_rendering = self._in_rendering.pop(host_id, (0.0, None))
        return min((due for due in (*found, in_rendering) if due is not None), default=self._clock.now())

    def _first_dues(self) -> list[Instant | None]:
        """Return the due time of the first host of each agenda."""
        return [agenda.next_due() for agenda in (self._agenda, *self._without_room.values())]

    @property
    def _has_hosts(self) -> bool:
        return bool(self._agenda or self._in_rendering or any(self._without_room.values()))

    async def _wake_off(self) -> None:
        """After the start and each reload of the configuration, make pages due that are no longer off."""
        while True:
            await self._reconfigured.wait()
            # Cleared first, so that a reload during the await is not lost.
            self._reconfigured.clear()
            try:
                await self._store.wake_off(self._clock.now(), mode=self._policies.mode)
            except StoreError as exc:
                self._reconfigured.set()
                await self._fail(exc)
            else:
                self._changed.set()

    async def _fail(self, exc: StoreError) -> None:
        """Pause after a failure: a service outlives a store that is locked or full for some time."""
        self._telemetry.emit(Happening("scheduler.failed", "error", {"error": str(exc)}))
        await self._clock.sleep(_AGAIN_S)

    async def _load(self, claim: Claim, since_revision: int | None) -> None:
        read = 0
        async for host_id, due in await self._store.host_agenda(claim, since_revision=since_revision):
            if host_id in self._outstanding:
                self._edited.setdefault(host_id, since_revision)
            else:
                self._put(host_id, due)
            read += 1
            if since_revision is None and read % HOSTS_A_LOOK == 0:
                # Loading a million hosts takes seconds; due ones need not wait for the last of them.
                await self._start_due()

    async def _read_what_others_wrote(self) -> None:
        revision = await self._store.foreign_revision()
        if revision is not None:
            # The store reports a revision once; it is kept here until it is handled, even if the store fails meanwhile.
            self._reload_from.add(self._revision)
            self._revision, self._is_behind = revision, True
        if self._is_behind:
            await self._policies.load(self._store)
            self._checkers.refresh()
            if self._visited:
                self._checkers.withdraw(self._visited.keys() - await self._store.still_watched(list(self._visited)))
            self._is_behind = False
        while self._reload_from:
            # First, since a launch and a mended clock can both move a host, and only the store knows which was last.
            # A host whose time here is too early would be taken, and found without a page that is due.
            self._take_up_spread()
            since, claim = self._reload_from.pop(), self._lease.claim
            if since is None:
                self._taken.difference_update(claim.parts)
            try:
                if since is None:
                    await self._learn_holds()
                await self._load(claim, since)
            except StoreError:
                self._reload_from.add(since)
                raise
        if self._taken:
            taken, self._taken = self._taken, set()
            try:
                await self._learn_holds()
                await self._load(self._lease.claim.only(taken), None)
            except StoreError:
                self._taken |= taken
                raise

    async def _learn_holds(self) -> None:
        """Leave hosts alone that asked the process for it which had them before."""
        await self._recall_holds()
        self._checkers.pass_on_holds()

    async def _start_due(self) -> None:
        self._take_up_spread()
        self._take_up_rendered()
        if self._outage.is_outage():
            self._forget_room()
        await self._probe()
        if self._outage.is_outage() and self._request_id is None:
            await self._put_off_requested()
            return
        if self._is_short() or not self._lease.may_begin:
            return
        most_a_host = self._gates.most_at_once(self._hold_s / 2, _MOST_PAGES_A_HOST)
        fewest = min(PAGES_A_HOST if self._gates.politeness("").delay_s else _WITHOUT_DELAY, most_a_host)
        looked_at = 0
        while (room := self._room()) > 0 and looked_at < HOSTS_A_LOOK:
            dues = self._take(min(HOSTS_AT_A_TIME, -(-room // fewest)), fewest)
            if not dues:
                return
            looked_at += len(dues)
            read_s = self._clock.monotonic()
            try:
                tasks = await self._store.due_pages(
                    self._lease.claim,
                    list(dues),
                    self._clock.now(),
                    per_host=min(most_a_host, max(room // len(dues), fewest)),
                    request_id=self._request_id,
                )
            except StoreError:
                for host_id, due in dues.items():
                    self._agenda.put(host_id, due)
                raise
            self._set_off(tasks, dues, read_s)

    def _room(self) -> int:
        """Return how many pages the checkers can take."""
        return min(self._most_pages - len(self._visited), self._checkers.room_of_all())

    def _take(self, most: int, fewest: int) -> dict[int, Instant]:
        """Take out due hosts with their due times, first those that waited for room.

        fewest  pages that each host is expected to have
        """
        now = self._clock.now()
        dues: dict[int, Instant] = {}
        for checker, agenda in self._without_room.items():
            if (room := self._checkers.room(checker)) > 0:
                dues |= agenda.take(now, min(most - len(dues), -(-room // fewest)))
        # Hosts that waited for room came from the front of the agenda, so they are due for longer.
        if len(dues) < most:
            dues |= self._agenda.take(now, most - len(dues))
        return dues

    def _forget_room(self) -> None:
        """Put the hosts that wait for room back on the agenda."""
        for agenda in self._without_room.values():
            for host_id, due in agenda.take(_EVER, len(agenda)).items():
                self._agenda.put(host_id, due)

    def _take_up_spread(self) -> None:
        """Put spread hosts on the agenda, except those whose batch under way will give their due time."""
        spread, self._spread = self._spread, {}
        for host_id, due in spread.items():
            if host_id not in self._outstanding and not self._waits_for_room(host_id):
                self._agenda.advance(host_id, due)

    def _take_up_rendered(self) -> None:
        """Put hosts back on the agenda whose pages may have been rendered by now."""
        now_s = self._clock.monotonic()
        for host_id, (until_s, due) in list(self._in_rendering.items()):
            if until_s <= now_s:
                del self._in_rendering[host_id]
                self._agenda.put(host_id, due)

    def _waits_for_room(self, host_id: int) -> bool:
        """Tell whether a host is due and waits for room."""
        return any(host_id in agenda for agenda in self._without_room.values())

    async def _probe(self) -> None:
        """Check the pages that show whether our own connection fails or works again (T61, T62)."""
        read_s = self._clock.monotonic()
        is_full = len(self._visited) >= self._most_pages
        is_all_held = self._outage.held >= len(self._visited) and (is_full or not self._agenda)
        tasks = await self._probing.verdict(self._visited, is_all_held=is_all_held)
        is_due = self._outage.is_outage() and self._outage.probe_in_s() <= 0
        if is_due and self._request_id is None and not self._outstanding:
            tasks = await self._probing.probes(self._agenda.hosts)
        dues = {}
        for task in tasks:
            dues[task.host_id] = self._take_out(task.host_id)
            self._telemetry.emit(Happening("outage.probe", "debug", {"page_id": task.page_id, "url": task.url}))
        self._set_off(tasks, dues, read_s, probing=True)

    async def _put_off_requested(self) -> None:
        """Answer requests made during an outage: their checks are postponed."""
        dues = self._agenda.take(0, HOSTS_AT_A_TIME)
        if dues:
            read_s = self._clock.monotonic()
            tasks = await self._store.due_pages(self._lease.claim, list(dues), 0, per_host=_MOST_PAGES_A_HOST)
            self._set_off(tasks, dues, read_s)

    def _set_off(
        self, tasks: Iterable[PageTask], dues: Mapping[int, Instant], read_s: float, *, probing: bool = False
    ) -> None:
        """Begin pages; a host that cannot begin now keeps its due time, and so its place."""
        for host_id, batch in groupby(tasks, key=lambda task: task.host_id):
            due = list(batch)
            host = due[0].host
            checker = self._checkers.checker_of(host)
            if (room := self._checkers.room(checker)) <= 0:
                self._without_room.setdefault(checker, Agenda()).put(host_id, dues[host_id])
                continue
            held_s = self._gates.held_s(host)
            if held_s > self._hold_s:
                # Requests are answered that their checks are postponed; pages that are only due wait.
                due = [task for task in due if task.order.request_id is not None]
            if not due:
                # The host asked for this pause.
                self._agenda.put(host_id, self._clock.now() + round(held_s * 1_000_000))
                continue
            most = min(self._pages_of(host), room)
            pages = [task for task in due if not self._is_rendered(task.page_id, read_s)][:most]
            if not pages:
                self._in_rendering[host_id] = (self._clock.monotonic() + _AGAIN_S, dues[host_id])
                continue
            self._outstanding[host_id] += len(pages)
            self._visited.update((task.page_id, task.order.part) for task in pages)
            if self._outage.is_outage() and not probing:
                # Due pages wait for our connection; requests are answered that their checks are postponed.
                self._checkers.put_off([task for task in pages if task.order.request_id is not None])
                pages = [task for task in pages if task.order.request_id is None]
            if pages:
                for task in pages:
                    if task.order.is_asked:
                        self._on_asked(task.page_id)
                self._checkers.begin(pages)

    def _next_due(self) -> Instant | None:
        """Return the due time of the first host with room at its checker."""
        with_room = [agenda for checker, agenda in self._without_room.items() if self._checkers.room(checker) > 0]
        dues = (agenda.next_due() for agenda in (self._agenda, *with_room))
        return min((due for due in dues if due is not None), default=None)

    def _pages_of(self, host: str) -> int:
        """Return how many pages of this host get their turn within half of `hold`, so that none waits for longer."""
        return self._gates.at_once(host, self._hold_s / 2, _MOST_PAGES_A_HOST)

    def pause_s(self) -> float:
        """Return after how long to look again, unless something changes before that."""
        due = self._next_due()
        is_held_up = self._outage.is_outage() or self._is_short() or not self._lease.may_begin
        if due is None or is_held_up or len(self._visited) >= self._most_pages:
            return POLL_S
        soonest_s = _SOON_S if self._room() > 0 else _ROOM_S
        return min(max((due - self._clock.now()) / 1_000_000, soonest_s), POLL_S)

    async def _wait(self, stopping: asyncio.Event) -> None:
        """Sleep until a batch is written, a host is due, or it is time to look for edits by other processes."""
        if stopping.is_set():
            return
        try:
            async with asyncio.timeout(self.pause_s()):
                await self._changed.wait()
        except TimeoutError:
            return
