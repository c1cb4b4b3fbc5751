"""Who takes pages through their checks: this process itself, or fetcher processes (see `fetchers`)."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from tocsin.engine.hosts.loop_time import MEASURED_S
from tocsin.engine.hosts.request_slots import PAGES_A_REQUEST, PageAllowance
from tocsin.engine.visiting.host_queues import HostQueues
from tocsin.engine.visiting.visit import put_off

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager

    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.loop_time import LoopTime
    from tocsin.engine.hosts.request_slots import RequestSlots
    from tocsin.engine.judging.conclude import Conclusions
    from tocsin.engine.policies import Policies
    from tocsin.engine.visiting.visit import Visitor
    from tocsin.model import CheckResult, Instant, PageTask
    from tocsin.ports import Clock

    Put = Callable[[Sequence[CheckResult]], Awaitable[None]]


class Checkers(Protocol):
    """Take pages through their checks; each page that is begun comes to one result, whatever happens."""

    def checking(self, put: Put) -> AbstractAsyncContextManager[None]:
        """Check what is begun inside; at the end, wait for what is under way.

        put  takes results, and may let us wait
        """

    def checker_of(self, host: str) -> int:
        """Give the number of the one that checks this host's pages, counted from 0."""

    def room(self, checker: int) -> int:
        """Tell how many pages this one can be given now; none where it is 0 or less."""

    def room_of_all(self) -> int:
        """Tell how many pages all of them together can be given now; less than 0 is never told."""

    def waiting_since(self) -> Instant | None:
        """Give the earliest due time of the pages in hand that no request was made for yet; None: there are none."""

    def begin(self, tasks: Sequence[PageTask]) -> None:
        """Check these pages of one host, at least one."""

    def put_off(self, tasks: Iterable[PageTask]) -> None:
        """Make no request for these pages: it is our own connection that fails, and somebody waits for an answer."""

    def withdraw(self, page_ids: set[int]) -> None:
        """Make no further request for these pages: they are no longer watched (T62)."""

    def drop(self) -> None:
        """Give up the pages in hand that no request was made for yet, without a result: the engine stops."""

    def refresh(self) -> None:
        """Take up the settings in force: they have changed."""


class LocalCheckers:
    """Implements `Checkers` in this very process.

    loop_time  says how late its loop is: then fewer pages are in hand
    """

    def __init__(
        self,
        visitor: Visitor,
        policies: Policies,
        conclusions: Conclusions,
        gates: Gates,
        in_flight: RequestSlots,
        loop_time: LoopTime,
        clock: Clock,
    ) -> None:
        self._allowance, self._loop_time = PageAllowance(PAGES_A_REQUEST * in_flight.most), loop_time
        self._in_hand = 0
        self._visitor, self._policies, self._conclusions, self._clock = visitor, policies, conclusions, clock
        self._queues = HostQueues(self._visit, gates, in_flight)
        self._visits: asyncio.TaskGroup | None = None
        self._put: Put | None = None

    @asynccontextmanager
    async def checking(self, put: Put) -> AsyncIterator[None]:
        """Check what is begun inside; at the end, wait for what is under way."""
        async with asyncio.TaskGroup() as visits:
            self._visits, self._put = visits, put
            adapting = visits.create_task(self._adapt(), name="allowance")
            yield
            adapting.cancel()

    def checker_of(self, host: str) -> int:  # noqa: ARG002 - all hosts are ours
        """There is one."""
        return 0

    def room(self, checker: int) -> int:  # noqa: ARG002 - there is one
        """Tell how many pages can be given now."""
        return self._allowance.pages - self._in_hand

    def room_of_all(self) -> int:
        """Tell how many pages can be given now."""
        return max(self.room(0), 0)

    def waiting_since(self) -> Instant | None:
        """Give the earliest due time of the pages in hand that no request was made for yet."""
        return self._visitor.waiting_since()

    def begin(self, tasks: Sequence[PageTask]) -> None:
        """Check these pages."""
        self._in_hand += len(tasks)
        for task in tasks:
            self._visitor.expect(task)
        self._queues.begin(tasks, self._group.create_task)

    def put_off(self, tasks: Iterable[PageTask]) -> None:
        """Make no request for these pages."""
        group: asyncio.TaskGroup = self._group
        for task in tasks:
            now = self._clock.now()
            conclude = self._conclusions.of(task, self._policies.readable(task), now)
            group.create_task(self._hand_in(put_off(conclude, task.url, now)))

    def withdraw(self, page_ids: set[int]) -> None:
        """Make no further request for these pages."""
        self._visitor.withdraw(page_ids)

    def drop(self) -> None:
        """Give up the pages in hand that no request was made for yet."""
        self._queues.drop()
        self._queues.cancel(self._visitor.drop())

    def refresh(self) -> None:
        """There is nothing to be told: the visitor looks each up when it needs it."""

    async def _visit(self, task: PageTask, stand_aside: Callable[[], None]) -> None:
        await self._hand_in(await self._visitor.visit(task, stand_aside))
        self._in_hand -= 1

    async def _adapt(self) -> None:
        """Have fewer pages in hand while the loop is late."""
        while True:
            await self._clock.sleep(MEASURED_S)
            self._allowance.adapt(self._loop_time.lag_s, self._in_hand)

    async def _hand_in(self, result: CheckResult) -> None:
        assert self._put is not None  # noqa: S101 - set with the group that this task is in
        await self._put((result,))

    @property
    def _group(self) -> asyncio.TaskGroup:
        assert self._visits is not None, "pages are begun inside `checking`"  # noqa: S101 - a call at a wrong time
        return self._visits
