"""One fetcher process as the main process sees it, over a process that does nothing by itself."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from tests.builders import URL, task
from tests.fakes import START, ManualClock, RecordingTelemetry, settle
from tocsin.engine.fetchers.link import FetcherLink
from tocsin.engine.fetchers.suspects import CrashSuspects
from tocsin.ports.messages import (
    Ask,
    Begin,
    CheckHandoff,
    Drop,
    Dropped,
    Heartbeat,
    Ready,
    RequestProgress,
    Start,
    Withdraw,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from tocsin.ports.messages import FromFetcher, ToFetcher

PAGE = 7
START_MESSAGE = cast("Start", "the start")


class Scripted:
    """A process, and what starts it; says what it is told to, and keeps what it is sent."""

    pid = 1

    def __init__(self) -> None:
        self.sent: list[ToFetcher] = []
        self.says: asyncio.Queue[Sequence[FromFetcher]] = asyncio.Queue()

    async def start(self) -> Scripted:
        return self

    async def send(self, messages: Sequence[ToFetcher]) -> None:
        self.sent += messages

    async def receive(self) -> Sequence[FromFetcher]:
        return await self.says.get()

    def named(self) -> int | None:
        return None

    def resident_bytes(self) -> int | None:
        return None

    def kill(self) -> None:
        self.says.put_nowait([])

    async def end(self, grace_s: float) -> int:  # noqa: ARG002 - it ends at once
        return 0


@asynccontextmanager
async def linked(
    process: Scripted,
    *,
    most: int = 10,
    lag_s: float = 0.0,
    dropped: Callable[[int], None] = lambda _pages: None,
) -> AsyncIterator[FetcherLink]:
    clock = ManualClock()
    link = FetcherLink(
        0,
        process,
        CrashSuspects(clock),
        start=lambda _replaced_s: START_MESSAGE,
        ended=lambda _ends: None,
        heard=lambda _link, _message: None,
        dropped=dropped,
        set_aside=lambda _work: None,
        most=most,
        most_bytes=1,
        clock=clock,
        telemetry=RecordingTelemetry(),
        lag_s=lambda: lag_s,
    )
    async with asyncio.TaskGroup() as group:
        running = group.create_task(link.run())
        await settle()
        yield link
        running.cancel()


def handoff() -> CheckHandoff:
    return CheckHandoff(RequestProgress(URL, START, (URL,)), task(page_id=PAGE), None, START, 0, fresh=False)


async def test_what_waits_is_sent_when_the_process_is_ready() -> None:
    process = Scripted()
    async with linked(process) as link:
        link.begin([task(page_id=PAGE)])
        await settle()
        before = list(process.sent)
        process.says.put_nowait([Ready()])
        await settle()

    assert before == [START_MESSAGE]
    assert process.sent[1:] == [Begin([task(page_id=PAGE)])]


async def test_T62_a_page_that_is_withdrawn_before_the_process_is_there_is_so_when_it_is() -> None:
    process = Scripted()
    async with linked(process) as link, asyncio.TaskGroup() as group:
        asking = group.create_task(link.ask(handoff()))
        await settle()
        link.withdraw({PAGE})
        await settle()
        process.sent.clear()
        process.says.put_nowait([Ready()])
        await settle()
        asking.cancel()

    assert process.sent == [Ask(1, handoff()), Withdraw([PAGE])]


async def test_T62_a_withdrawal_ends_with_what_it_was_about() -> None:
    process = Scripted()
    async with linked(process) as link, asyncio.TaskGroup() as group:
        asking = group.create_task(link.ask(handoff()))
        await settle()
        link.withdraw({PAGE})
        asking.cancel()
        await settle()
        process.sent.clear()
        link.begin([task(page_id=PAGE)])
        process.says.put_nowait([Ready()])
        await settle()

    assert process.sent == [Begin([task(page_id=PAGE)])]


async def test_the_room_is_what_is_not_in_hand() -> None:
    process = Scripted()
    async with linked(process) as link:
        link.begin([task(page_id=1), task(page_id=2)])
        process.says.put_nowait([Ready()])
        await settle()
        link.begin([task(page_id=3)])

        assert link.room() == 7


async def test_a_page_is_late_while_it_is_not_sent_and_while_its_fetcher_says_that_it_waits() -> None:
    process = Scripted()
    async with linked(process) as link:
        link.begin([task(page_id=1, due_at=START - 5), task(page_id=2, due_at=START)])
        unsent = link.waiting_since()
        process.says.put_nowait([Ready()])
        await settle()
        sent = link.waiting_since()
        process.says.put_nowait([Heartbeat(START)])
        await settle()
        waiting = link.waiting_since()
        process.says.put_nowait([Heartbeat()])
        await settle()
        begun = link.waiting_since()

    assert (unsent, sent, waiting, begun) == (START - 5, None, START, None)


async def test_questions_are_sent_before_the_pages_that_wait_with_them() -> None:
    process = Scripted()
    async with linked(process) as link, asyncio.TaskGroup() as group:
        link.begin([task(page_id=1)])
        asking = group.create_task(link.ask(handoff()))
        await settle()
        process.says.put_nowait([Ready()])
        await settle()
        asking.cancel()

    assert process.sent[1:] == [Ask(1, handoff()), Begin([task(page_id=1)])]


async def test_a_fetcher_that_is_late_is_given_fewer_pages_until_it_is_not() -> None:
    process = Scripted()
    async with linked(process, most=100) as link:
        link.begin([task(page_id=number) for number in range(1, 81)])
        process.says.put_nowait([Ready(), Heartbeat(lag_s=3.0, requests=50)])
        await settle()
        late, life = link.room(), link.life
        process.says.put_nowait([Heartbeat(lag_s=0.0)])
        await settle()

    assert late == 40 - 80
    assert (life.in_flight, life.lag_s) == (50, 3.0)
    assert link.room() == 50 - 80


async def test_a_fetcher_is_given_fewer_pages_while_the_main_process_is_late_with_their_results() -> None:
    process = Scripted()
    async with linked(process, most=100, lag_s=3.0) as link:
        link.begin([task(page_id=number) for number in range(1, 81)])
        process.says.put_nowait([Ready(), Heartbeat(lag_s=0.0)])
        await settle()

        assert link.room() == 40 - 80


async def test_at_a_stop_pages_that_were_not_sent_are_dropped_at_once_and_others_as_the_process_says() -> None:
    process, dropped = Scripted(), list[int]()
    async with linked(process, dropped=dropped.append) as link:
        process.says.put_nowait([Ready()])
        link.begin([task(page_id=1), task(page_id=2)])
        await settle()
        link.begin([task(page_id=3)])
        unsent = link.drop()
        await settle()
        process.says.put_nowait([Dropped([2])])
        await settle()
        room = link.room()

    assert (unsent, dropped) == (1, [1])
    assert process.sent[-1] == Drop()
    assert room == 9
