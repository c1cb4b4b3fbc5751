"""Twenty nodes and a hundred million pages: the engine's leases and scheduling on a virtual clock.

Real are `Lease`, `Scheduler`, its agenda and `ResultWriter`; modelled are the database (by its measured costs), the
fetching (by its time) and the processor of a node. Nodes are killed, leave and join, and the database is away for a
while.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final, NamedTuple, cast

from benchmarks.bench.measure import Aim, Figure, Sizes
from benchmarks.cluster.modelled import DAY_US, Costs, ModelledDatabase, ModelledStore
from benchmarks.cluster.virtual import VirtualClock, VirtualLoop
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.policies import Policies
from tocsin.engine.scheduling.scheduler import Scheduler
from tocsin.engine.scheduling.writer import ResultWriter
from tocsin.events import Happening
from tocsin.model import CheckReport, CheckResult, DueTime, Instant, PageTask
from tocsin.ports import Store
from tocsin.settings import FetchSettings, HostSettings, PageSettings, StoreSettings

LEASE_S: Final = 10.0
PARTS: Final = 64
_FETCH_S = (0.1, 2.0)
# A check takes this of its node, all in (docs/speed.md).
_CHECK_US = 250.0
_PLACES = 997


class Plan(NamedTuple):
    """What is simulated, with the seconds at which something happens."""

    nodes: int
    pages: int
    pages_a_host: int = 100
    killed_s: float = 120.0
    joins_s: float = 240.0
    leaves_s: float = 330.0
    away_s: float = 420.0
    away_for_s: float = 28.0
    ends_s: float = 600.0


class Outcome(NamedTuple):
    """What came of it.

    checks     that began, of
    due        those that became due
    shares     fewest and most parts of a node, at the end of each stretch
    takeover_s from the death of a node until the last of its parts was taken
    joined_s   from the beginning of new nodes until they had even shares
    left_s     from the order to leave until the last of its parts was taken
    moved      parts that moved while the database was away, and within two leases after
    late       share of checks that began later than a lease after they were due, the database's absence apart
    """

    checks: int
    due: int
    shares: dict[str, tuple[int, int]]
    takeover_s: float
    joined_s: float
    left_s: float
    moved: int
    late: float
    latest_s: float
    mean_s: float
    twice: int
    wasted: float
    database_share: float
    took_s: float


class _Silent:
    def emit(self, happening: Happening) -> None:
        """Nobody listens."""


class _Lateness:
    """How late checks began; the time in which the database was away does not count."""

    def __init__(self, plan: Plan, clock: VirtualClock) -> None:
        self._began, self._clock = clock.now(), clock
        self._away = (plan.away_s, plan.away_s + plan.away_for_s)
        self.begun = self.later_than_lease = 0
        self.latest_s = self.sum_s = 0.0

    def note(self, due: Instant) -> None:
        """Note a check that begins now."""
        due_s, now_s = (due - self._began) / 1e6, self._clock.monotonic()
        since, until = self._away
        late_s = now_s - due_s - max(0.0, min(now_s, until) - max(due_s, since))
        self.begun += 1
        self.sum_s += late_s
        self.latest_s = max(self.latest_s, late_s)
        self.later_than_lease += late_s > LEASE_S


class _Checkers:
    """Implements the engine's Checkers: a page takes its time, and has not changed."""

    def __init__(self, clock: VirtualClock, lateness: _Lateness, most: int) -> None:
        self._clock, self._lateness, self._most = clock, lateness, most
        self._in_hand = 0
        self._busy_until_s = 0.0
        self._withdrawn: set[int] = set()
        self._group: asyncio.TaskGroup | None = None
        self._put: Callable[[Sequence[CheckResult]], Awaitable[None]] | None = None

    @asynccontextmanager
    async def checking(self, put: Callable[[Sequence[CheckResult]], Awaitable[None]]) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as self._group:
            self._put = put
            yield

    def checker_of(self, host: str) -> int:  # noqa: ARG002 - there is one
        return 0

    def room(self, checker: int) -> int:  # noqa: ARG002 - as above
        return self._most - self._in_hand

    def room_of_all(self) -> int:
        return max(self.room(0), 0)

    def waiting_since(self) -> Instant | None:
        return None

    def begin(self, tasks: Sequence[PageTask]) -> None:
        assert self._group is not None
        for task in tasks:
            self._in_hand += 1
            self._group.create_task(self._check(task), name="check")

    def put_off(self, tasks: Iterable[PageTask]) -> None:
        """There is no outage."""

    def withdraw(self, page_ids: set[int]) -> None:
        """They are asked for already."""

    def drop(self) -> None:
        """The same."""

    def refresh(self) -> None:
        """There are no settings."""

    def pass_on_holds(self) -> None:
        """There are no holds."""

    async def _check(self, task: PageTask) -> None:
        now_s = self._clock.monotonic()
        # The node's processor does one thing at a time.
        self._busy_until_s = max(now_s, self._busy_until_s) + _CHECK_US / 1e6
        await self._clock.sleep(self._busy_until_s - now_s)
        if task.order.due_at is not None:
            self._lateness.note(task.order.due_at)
        now = self._clock.now()
        shortest, longest = _FETCH_S
        await self._clock.sleep(shortest + (longest - shortest) * (task.page_id % _PLACES) / _PLACES)
        due = DueTime(now + DAY_US, "every 24h (jittered)")
        report = CheckReport(task.url, "unchanged")
        result = CheckResult(task.page_id, task.host_id, report, now, now, due, order=task.order)
        self._in_hand -= 1
        assert self._put is not None
        await self._put([result])


async def _no_holds() -> None:
    """No host asks for a pause."""


class SimulatedNode:
    """One node: the engine's own parts, put together as the service does."""

    def __init__(self, name: str, database: ModelledDatabase, clock: VirtualClock, lateness: _Lateness) -> None:
        self.name, self._clock = name, clock
        self.store = ModelledStore(database, clock)
        store, telemetry, fetch = cast("Store", self.store), _Silent(), FetchSettings()
        hosts = HostSettings()
        self._lease = Lease(
            store,
            name,
            timedelta(seconds=LEASE_S),
            clock,
            telemetry,
            delay_s=hosts.delay.total_seconds(),
            patience_s=fetch.deadlines.total.total_seconds(),
        )
        self._scheduler = Scheduler(
            store,
            self._lease,
            _Checkers(clock, lateness, 10 * fetch.in_flight),
            Policies(PageSettings()),
            Gates(hosts, clock),
            OutageWatch(clock),
            fetch,
            clock,
            telemetry,
            recall_holds=_no_holds,
        )
        self._writer = ResultWriter(
            store,
            self._lease,
            StoreSettings(),
            clock,
            telemetry,
            patient=True,
            on_committed=self._scheduler.on_committed,
        )
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self, group: asyncio.TaskGroup) -> None:
        """Enter, and work."""
        self._task = group.create_task(self._run(), name=self.name)

    def stop(self) -> None:
        """Leave, as on SIGTERM."""
        self._lease.stop()
        self._stopping.set()
        self._scheduler.wake()

    def kill(self) -> None:
        """End without a word."""
        self.store.is_gone = True
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            await self._lease.take()
            async with asyncio.TaskGroup() as group:
                keeping = group.create_task(self._lease.keep(), name="lease")
                group.create_task(self._writer.run(), name="writer")
                await self._scheduler.run(self._writer, self._stopping)
                await self._writer.finish()
                keeping.cancel()
            await self._lease.leave()


class _Simulation:
    def __init__(self, plan: Plan, clock: VirtualClock) -> None:
        self._plan, self._clock = plan, clock
        hosts = plan.pages // plan.pages_a_host
        self.database = ModelledDatabase(clock, hosts=hosts, pages_a_host=plan.pages_a_host, parts=PARTS, costs=Costs())
        self.lateness = _Lateness(plan, clock)
        self.shares: dict[str, tuple[int, int]] = {}
        self._nodes = [self._node(f"n{number}") for number in range(plan.nodes)]

    def _node(self, name: str) -> SimulatedNode:
        return SimulatedNode(name, self.database, self._clock, self.lateness)

    async def run(self) -> Outcome:
        """Let everything happen."""
        plan, began = self._plan, time.monotonic()
        async with asyncio.TaskGroup() as group:
            for node in self._nodes:
                node.start(group)
            await self._until(plan.killed_s, "begun")
            self._nodes.pop().kill()
            await self._until(plan.joins_s, "one killed")
            for number in range(2):
                joining = self._node(f"j{number}")
                joining.start(group)
                self._nodes.append(joining)
            await self._until(plan.leaves_s, "two joined")
            self._nodes.pop(0).stop()
            await self._until(plan.away_s, "one left")
            self.database.away_until_s = plan.away_s + plan.away_for_s
            await self._until(plan.ends_s, "the database was away")
            for node in self._nodes:
                node.stop()
        return self._outcome(time.monotonic() - began)

    async def _until(self, at_s: float, name: str) -> None:
        await self._clock.sleep(at_s - self._clock.monotonic())
        counted = Counter(self.database.holders)
        living = [counted[node.name] for node in self._nodes]
        self.shares[name] = min(living), max(living)

    def _outcome(self, took_s: float) -> Outcome:
        plan, lateness, database = self._plan, self.lateness, self.database
        return Outcome(
            checks=lateness.begun,
            due=round(plan.pages * plan.ends_s * 1_000_000 / DAY_US),
            shares=self.shares,
            takeover_s=self._last_taking(plan.killed_s, plan.joins_s),
            joined_s=self._last_taking(plan.joins_s, plan.leaves_s),
            left_s=self._last_taking(plan.leaves_s, plan.away_s),
            moved=sum(plan.away_s <= at_s < plan.ends_s for at_s, *_ in database.taken),
            late=lateness.later_than_lease / max(lateness.begun, 1),
            latest_s=lateness.latest_s,
            mean_s=lateness.sum_s / max(lateness.begun, 1),
            twice=database.twice,
            wasted=1 - database.committed / max(lateness.begun, 1),
            database_share=database.cpu_s / plan.ends_s,
            took_s=took_s,
        )

    def _last_taking(self, since_s: float, until_s: float) -> float:
        return max((at_s - since_s for at_s, *_ in self.database.taken if since_s <= at_s < until_s), default=0.0)


def simulate(plan: Plan) -> Outcome:
    """Run the whole simulation."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(_Simulation(plan, VirtualClock(loop)).run())
    finally:
        loop.close()


async def measure(sizes: Sizes) -> list[Figure]:
    """Simulate as a row of the benchmarks."""
    plan = Plan(20, 100_000_000) if sizes.rounds > 1 else Plan(5, 1_000_000)
    found = await asyncio.to_thread(simulate, plan)
    name = f"{plan.nodes} nodes, {plan.pages:,} pages, simulated"
    fewest = [least for least, _ in found.shares.values()]
    most = [most for _, most in found.shares.values()]
    return [
        Figure(f"{name}: checks begun", found.checks, "checks", note=f"in {found.took_s:.0f} s"),
        Figure("… committed twice for one due time", found.twice, "checks", aim=Aim("<=", 0)),
        Figure("… fetched for nothing", 100 * found.wasted, "%", aim=Aim("<=", 0.1)),
        Figure("… begun later than a lease after due", 100 * found.late, "%"),
        Figure("… latest", found.latest_s, "s", aim=Aim("<=", LEASE_S + 5)),
        Figure("… late on average", found.mean_s, "s"),
        Figure("… parts of a node, fewest of all", min(fewest), "parts"),
        Figure("… parts of a node, most of all", max(most), "parts"),
        Figure("… parts of a killed node taken after", found.takeover_s, "s", aim=Aim("<=", LEASE_S + 1)),
        Figure("… two that join have their shares after", found.joined_s, "s", aim=Aim("<=", 4)),
        Figure("… parts of one that leaves taken after", found.left_s, "s", aim=Aim("<=", 4)),
        Figure("… parts moved by a database that is away", found.moved, "parts", aim=Aim("<=", 0)),
        Figure("… cores of the database", found.database_share, "cores"),
    ]
