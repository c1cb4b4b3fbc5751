"""The link between the main process and a fetcher process, on both sides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import cast

import msgspec
import pytest

from tests.builders import URL, task
from tests.fakes import START, ManualClock, RecordingTelemetry, settle
from tocsin.engine.fetchers.link import FetcherLink
from tocsin.engine.fetchers.main_link import MainLink
from tocsin.engine.fetchers.remote_calls import RemoteCalls, error_of, failed_of
from tocsin.engine.hosts.crash_suspects import CrashSuspects
from tocsin.errors import Disallowed, FetchFailed, FetchRefused, Postponed, StoreError, TocsinError, Withdrawn
from tocsin.ports.messages import (
    Ask,
    Begin,
    CheckHandoff,
    Drop,
    Dropped,
    Failed,
    FromFetcher,
    Heartbeat,
    KeptRobots,
    LoadRobots,
    Ready,
    Reply,
    RequestProgress,
    Start,
    ToFetcher,
    TryNotes,
    Withdraw,
)
from tocsin.settings import LogSettings

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


@pytest.fixture
def desk() -> MainLink:
    return MainLink(LogSettings())


async def tries(desk: MainLink) -> list[tuple[str, str | None]]:
    return [one for message in await desk.gathered() if isinstance(message, TryNotes) for one in message.tries]


async def test_failures_before_an_answer_are_told_too_since_they_show_whose_fault_they_are(desk: MainLink) -> None:
    desk.note("gone.example", ok=False, kind="dns")
    desk.note("good.example", ok=True)
    desk.note("late.example", ok=False, kind="connect")

    assert await tries(desk) == [("gone.example", "dns"), ("good.example", None), ("late.example", "connect")]


async def test_many_answers_are_told_as_one(desk: MainLink) -> None:
    for number in range(100):
        desk.note(f"host{number}.example", ok=True)

    assert await tries(desk) == [("host0.example", None)]


async def test_a_host_that_failed_is_named_when_it_answers_again(desk: MainLink) -> None:
    desk.note("gone.example", ok=False, kind="dns")
    await tries(desk)
    desk.note("good.example", ok=True)
    desk.note("gone.example", ok=True)

    assert await tries(desk) == [("good.example", None), ("gone.example", None)]


@pytest.mark.parametrize(
    "error",
    [
        FetchFailed(URL, "status", "answered 503", status=503, retry_after=timedelta(seconds=7, microseconds=1)),
        FetchFailed(URL, "dns", "no such name"),
        FetchRefused(URL, "redirect", "redirected in a circle", status=302),
        Disallowed(URL, "Disallow: /", 17),
        Disallowed(URL, None, None),
        Postponed(12, 3),
        Withdrawn(f"{URL}: no longer watched"),
        StoreError("the disk is full"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_the_same_at_the_other_end(error: TocsinError) -> None:
    crossed = msgspec.msgpack.decode(msgspec.msgpack.encode(failed_of(error)), type=Failed)

    arrived = error_of(crossed)

    assert (type(arrived), str(arrived), vars(arrived)) == (type(error), str(error), vars(error))


async def test_each_question_gets_its_own_answer_whatever_their_order() -> None:
    sent: list[Ask] = []
    asking = RemoteCalls(sent.append)
    async with asyncio.TaskGroup() as group:
        first = group.create_task(asking.ask(LoadRobots("a")))
        second = group.create_task(asking.ask(LoadRobots("b")))
        await asyncio.sleep(0)
        asking.take(Reply(sent[1].number, KeptRobots("B")))
        asking.take(Reply(sent[0].number, KeptRobots("A")))

    assert (first.result(), second.result()) == (KeptRobots("A"), KeptRobots("B"))


async def test_what_failed_at_the_other_end_is_raised_here_unless_it_is_final() -> None:
    sent: list[Ask] = []
    asking = RemoteCalls(sent.append)
    failed = failed_of(FetchFailed(URL, "dns", "no such name"))
    async with asyncio.TaskGroup() as group:
        final = group.create_task(asking.ask(LoadRobots("a")))
        await asyncio.sleep(0)
        asking.take(Reply(sent[0].number, msgspec.structs.replace(failed, final=True)))
    assert isinstance(final.result(), Failed)

    asked = asyncio.gather(asking.ask(LoadRobots("b")), answer(asking, sent, failed))
    with pytest.raises(FetchFailed, match="no such name"):
        await asked


async def answer(asking: RemoteCalls, sent: list[Ask], failed: Failed) -> None:
    await asyncio.sleep(0)
    asking.take(Reply(sent[-1].number, failed))


async def test_an_answer_that_nobody_waits_for_any_more_is_dropped() -> None:
    asking = RemoteCalls(lambda _: None)

    asking.take(Reply(5, KeptRobots(None)))
