"""Per-host queues of pages to be visited; pages reuse the open connection."""

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
