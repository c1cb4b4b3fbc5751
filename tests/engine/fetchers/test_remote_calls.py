"""Questions and their answers, and errors that cross a process boundary as values."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import msgspec
import pytest

from tests.builders import URL
from tocsin.engine.fetchers.remote_calls import RemoteCalls, error_of, failed_of
from tocsin.errors import Disallowed, FetchFailed, FetchRefused, Postponed, StoreError, TocsinError, Withdrawn
from tocsin.ports.messages import Ask, Failed, KeptRobots, LoadRobots, Reply


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
