"""Pages on their way to be visited, by host: one after the other over the connection that stands."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.request_slots import RequestSlots
    from tocsin.model import PageTask

    Visit: TypeAlias = Callable[[PageTask, Callable[[], None]], Coroutine[Any, Any, None]]
    Create: TypeAlias = Callable[[Coroutine[Any, Any, None]], object]


class HostQueues:
    """Visits pages: of each host one at first, and as many together as its gate lets in while requests have room.

    A task for each page would only stand in line at the gate, with a timer of its own; and with all of a host's pages
    asking at once, each host would get as many connections as its gate allows, for requests that others go before.

    visit      takes a page through; calls what it is given before it waits for anything but the page's own host,
               so that the host's other pages need not
    in_flight  who says whether requests have room
    """

    def __init__(self, visit: Visit, gates: Gates, in_flight: RequestSlots) -> None:
        self._visit, self._gates, self._in_flight = visit, gates, in_flight
        self._queues: dict[str, _Queue] = {}
        self._visiting = 0
        self._under_way: dict[int, asyncio.Task[None]] = {}

    def begin(self, pages: Iterable[PageTask], create: Create) -> None:
        """Visit these pages, after those of their hosts that have begun before.

        create  makes a task that somebody waits for
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
        """Visit none of the pages that wait here; visits under way go on."""
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
        """Visit a host's pages until there are none, or until others do."""
        turn, under_way, own_task = _Turn(self, host, queue), self._under_way, asyncio.current_task()
        assert own_task is not None  # noqa: S101 - a coroutine that runs is a task's
        pages = queue.pages
        # By now each host that was begun together with this one has its first visit, which goes before.
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
            # One place is for this one's own next page.
            has_room = self._in_flight.free > 1
        if not turn.is_aside:
            self.leave(host, queue)

    def leave(self, host: str, queue: _Queue) -> None:
        """One visits this host no longer; pages that are left are not left alone."""
        queue.visiting -= 1
        self._visiting -= 1
        if queue.visiting:
            return
        if queue.pages:
            self._call(host, queue)
        else:
            self._queues.pop(host, None)


class _Queue:
    """One host's.

    visiting  so many visit it
    """

    __slots__ = ("create", "pages", "visiting")

    def __init__(self, create: Create) -> None:
        self.create = create
        self.pages: deque[PageTask] = deque()
        self.visiting = 0


class _Turn:
    """One who visits a host."""

    __slots__ = ("_host", "_queue", "_queues", "is_aside")

    def __init__(self, queues: HostQueues, host: str, queue: _Queue) -> None:
        self._queues, self._host, self._queue = queues, host, queue
        self.is_aside = False

    def stand_aside(self) -> None:
        """Let another go on with the host's other pages: this visit waits for something else."""
        if not self.is_aside:
            self.is_aside = True
            self._queues.leave(self._host, self._queue)
