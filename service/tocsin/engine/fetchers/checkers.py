"""Checkers of pages: this process itself, or fetcher processes (see `pool`)."""

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
    """Check pages; each page that is begun has exactly one result."""

    def checking(self, put: Put) -> AbstractAsyncContextManager[None]:
        """Check the pages begun inside; at the end, wait for those under way.

        put  takes results, and waits while the store is behind
        """

    def checker_of(self, host: str) -> int:
        """Return the number of the checker of this host, counted from 0."""

    def room(self, checker: int) -> int:
        """Return how many pages this checker can take now; can be less than 0."""

    def room_of_all(self) -> int:
        """Return how many pages all checkers together can take now, at least 0."""

    def waiting_since(self) -> Instant | None:
        """Return the earliest due time of pages in hand without a request so far; None if there are none."""

    def begin(self, tasks: Sequence[PageTask]) -> None:
        """Check these pages, at least one, of one host."""

    def put_off(self, tasks: Iterable[PageTask]) -> None:
        """Postpone these pages without a request: our own connection fails, and the user waits for an answer."""

    def withdraw(self, page_ids: set[int]) -> None:
        """Make no further request for these pages: they are no longer watched (T62)."""

    def drop(self) -> None:
        """Give up the pages in hand without a request so far, without results: the engine stops."""

    def refresh(self) -> None:
        """Apply changed settings."""


class LocalCheckers:
    """Implements `Checkers` in this process.

    loop_time  measures its lag, which limits the pages in hand
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
        """Check the pages begun inside; at the end, wait for those under way."""
        async with asyncio.TaskGroup() as visits:
            self._visits, self._put = visits, put
            adapting = visits.create_task(self._adapt(), name="allowance")
            yield
            adapting.cancel()

    def checker_of(self, host: str) -> int:  # noqa: ARG002 - all hosts are ours
        """Return 0: there is one checker."""
        return 0

    def room(self, checker: int) -> int:  # noqa: ARG002 - there is one
        """Return how many pages it can take now."""
        return self._allowance.pages - self._in_hand

    def room_of_all(self) -> int:
        """Return how many pages it can take now, at least 0."""
        return max(self.room(0), 0)

    def waiting_since(self) -> Instant | None:
        """Return the earliest due time of pages in hand without a request so far."""
        return self._visitor.waiting_since()

    def begin(self, tasks: Sequence[PageTask]) -> None:
        """Check these pages."""
        self._in_hand += len(tasks)
        for task in tasks:
            self._visitor.expect(task)
        self._queues.begin(tasks, self._group.create_task)

    def put_off(self, tasks: Iterable[PageTask]) -> None:
        """Postpone these pages without a request."""
        group: asyncio.TaskGroup = self._group
        for task in tasks:
            now = self._clock.now()
            conclude = self._conclusions.of(task, self._policies.readable(task), now)
            group.create_task(self._hand_in(put_off(conclude, task.url, now)))

    def withdraw(self, page_ids: set[int]) -> None:
        """Make no further request for these pages."""
        self._visitor.withdraw(page_ids)

    def drop(self) -> None:
        """Give up the pages in hand without a request so far."""
        self._queues.drop()
        self._queues.cancel(self._visitor.drop())

    def refresh(self) -> None:
        """Do nothing: the visitor reads the settings for each page."""

    async def _visit(self, task: PageTask, stand_aside: Callable[[], None]) -> None:
        await self._hand_in(await self._visitor.visit(task, stand_aside))
        self._in_hand -= 1

    async def _adapt(self) -> None:
        """Adapt the pages in hand to the lag of the loop."""
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
