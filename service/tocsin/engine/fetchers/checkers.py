"""Checkers of pages: this process itself, or fetcher processes (see `pool`)."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tocsin.engine.hosts.process_limits import MEASURED_S, PAGES_A_REQUEST, PageAllowance
from tocsin.engine.visiting.visit import put_off

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager

    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.process_limits import LoopTime, RequestSlots
    from tocsin.engine.judging.conclude import Conclusions
    from tocsin.engine.policies import Policies
    from tocsin.engine.visiting.visit import Visitor
    from tocsin.model import CheckResult, Instant, PageTask
    from tocsin.ports import Clock


# Per-host queues of pages to be visited; pages reuse the open connection.


if TYPE_CHECKING:
    Visit: TypeAlias = Callable[[PageTask, Callable[[], None]], Coroutine[Any, Any, None]]
    Create: TypeAlias = Callable[[Coroutine[Any, Any, None]], object]


class HostQueues:
    """Visits pages of each host one by one, and in parallel as far as its gate and the request slots allow.

    visit      checks a page; it calls its argument before it waits for anything but the page's own host, so that the
               host's other pages go on
    in_flight  slots of requests
    """

    # A task per page would only wait at the gate, with a timer of its own. And all pages of a host at once would open
    # as many connections as the gate allows, for requests that have to wait for a slot.

    def __init__(self, visit: Visit, gates: Gates, in_flight: RequestSlots) -> None:
        self._visit, self._gates, self._in_flight = visit, gates, in_flight
        self._queues: dict[str, _Queue] = {}
        self._visiting = 0
        self._under_way: dict[int, asyncio.Task[None]] = {}

    def begin(self, pages: Iterable[PageTask], create: Create) -> None:
        """Visit these pages, after the queued ones of their hosts.

        create  makes a task of a group
        """
        for task in pages:
            host = task.host
            queue = self._queues.get(host)
            if queue is None:
                queue = self._queues[host] = _Queue(create)
            queue.pages.append(task)
            if not queue.visiting:
                self._call(host, queue)

    def drop(self) -> None:
        """Drop all queued pages; visits under way go on."""
        for queue in self._queues.values():
            queue.pages.clear()

    def cancel(self, page_ids: Iterable[int]) -> None:
        """Cancel the visits of these pages, and with each the one who visits its host; others have none yet."""
        for page_id in page_ids:
            if (visiting := self._under_way.get(page_id)) is not None:
                visiting.cancel()

    def _call(self, host: str, queue: _Queue) -> None:
        queue.visiting += 1
        self._visiting += 1
        queue.create(self._work(host, queue))

    async def _work(self, host: str, queue: _Queue) -> None:
        """Visit a host's pages until none is left, or until this visit stands aside."""
        turn, under_way, own_task = _Turn(self, host, queue), self._under_way, asyncio.current_task()
        assert own_task is not None  # noqa: S101 - a coroutine that runs is a task's
        pages = queue.pages
        # By now every host that was begun together with this one has its first visit, which has priority.
        has_room = self._visiting < self._in_flight.most
        while pages and not turn.is_aside:
            task = pages.popleft()
            if pages and has_room and queue.visiting < self._gates.politeness(host).concurrency:
                self._call(host, queue)
            under_way[task.page_id] = own_task
            try:
                await self._visit(task, turn.stand_aside)
            finally:
                del under_way[task.page_id]
            # One slot is for this worker's own next page.
            has_room = self._in_flight.free > 1
        if not turn.is_aside:
            self.leave(host, queue)

    def leave(self, host: str, queue: _Queue) -> None:
        """End one worker of a host; the last one is replaced while pages are queued."""
        queue.visiting -= 1
        self._visiting -= 1
        if queue.visiting:
            return
        if queue.pages:
            self._call(host, queue)
        else:
            self._queues.pop(host, None)


class _Queue:
    """The queue of one host; `visiting` counts its workers."""

    __slots__ = ("create", "pages", "visiting")

    def __init__(self, create: Create) -> None:
        self.create = create
        self.pages: deque[PageTask] = deque()
        self.visiting = 0


class _Turn:
    """One worker of a host."""

    __slots__ = ("_host", "_queue", "_queues", "is_aside")

    def __init__(self, queues: HostQueues, host: str, queue: _Queue) -> None:
        self._queues, self._host, self._queue = queues, host, queue
        self.is_aside = False

    def stand_aside(self) -> None:
        """Let another worker take the host's next pages: this visit waits for something else."""
        if not self.is_aside:
            self.is_aside = True
            self._queues.leave(self._host, self._queue)


if TYPE_CHECKING:
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

    def pass_on_holds(self) -> None:
        """Obey what the gates of this process were told of hosts by the store."""


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

    def pass_on_holds(self) -> None:
        """Do nothing: the gates are the visitor's own."""

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
