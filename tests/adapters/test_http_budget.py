"""All bodies in flight have one bound together; where they are too many, the longest one is given up."""

from __future__ import annotations

import asyncio
import gc
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.origin import Origin, Page, RawOrigin, Talk, endless
from tests.wire import fetcher, request, zipped
from tocsin.adapters.http import budget
from tocsin.adapters.http.budget import room_for_bodies
from tocsin.errors import FetchError, FetchFailed
from tocsin.model import FailureKind
from tocsin.settings import FetchSettings

MIB = 2**20
START = b"HTTP/1.1 200 OK\r\n\r\n"


def stalls_after(body_bytes: int) -> Talk:
    """Send so much, and then nothing more, without an end."""
    return stalls_with(START + bytes(body_bytes))


def stalls_with(start: bytes) -> Talk:
    """Send this, and then nothing more."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        await reader.read()

    return talk


async def test_where_bodies_take_too_much_together_the_longest_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "USUAL_BODY_BYTES", 1)
    limits = FetchSettings(max_body=64 * 1024)
    is_given_up = asyncio.Event()

    async def short(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(START + bytes(200_000))
        await is_given_up.wait()

    async with (
        RawOrigin(stalls_after(900_000)) as first,
        RawOrigin(short) as second,
        fetcher(limits=limits) as client,
        asyncio.TaskGroup() as group,
    ):
        longest = group.create_task(kind_of(client.get(request(first.url()))))
        await first.asked.wait()
        other = group.create_task(kind_of(client.get(request(second.url()))))
        longest.add_done_callback(lambda _: is_given_up.set())

    assert longest.result() == (FetchFailed, FailureKind.TOO_LARGE)
    assert other.result() == (object, "received")


async def kind_of(asking: object) -> tuple[type, str]:
    try:
        await asking  # type: ignore[misc] # whatever is awaited
    except FetchError as exc:
        return type(exc), exc.kind
    return object, "received"


async def test_fifty_endless_answers_take_no_more_memory_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LONGEST_BODIES", 4)
    limits = FetchSettings(max_body=2 * MIB, in_flight=50)
    bound = room_for_bodies(limits)
    async with RawOrigin(endless(START, bytes(65536))) as hostile, Origin() as origin, fetcher(limits=limits) as client:
        origin.pages["/"] = Page("well")
        tracemalloc.start()
        try:
            async with asyncio.TaskGroup() as group:
                asking = [
                    group.create_task(kind_of(client.get(request(hostile.url(), max_body=2 * MIB)))) for _ in range(50)
                ]
                answers = [group.create_task(client.get(request(origin.url("/")))) for _ in range(5)]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert {kind for _, kind in (task.result() for task in asking)} == {FailureKind.TOO_LARGE}
    assert [task.result().body for task in answers] == [b"well"] * 5
    assert peak < bound + 16 * MIB + 50 * MIB  # of each connection, what was read and not yet taken


async def test_a_body_that_was_received_leaves_its_room() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = Page(bytes(MIB))
        for _ in range(3):
            await client.get(request(origin.url("/")))

        assert client.held_bytes == 0


async def test_a_body_given_up_by_its_own_last_piece_interrupts_nothing_that_comes_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(budget, "LONGEST_BODIES", 1)
    monkeypatch.setattr(budget, "USUAL_BODY_BYTES", 1)
    async with Origin() as origin, fetcher(limits=FetchSettings(max_body=64 * 1024)) as client:
        origin.pages["/"] = Page(bytes(70_000))

        assert await kind_of(client.get(request(origin.url("/")))) == (FetchFailed, FailureKind.TOO_LARGE)
        await asyncio.sleep(0)
        assert client.held_bytes == 0


@pytest.mark.parametrize("coding", [b"", b"Content-Encoding: gzip\r\n"])
async def test_a_body_that_failed_is_let_go_of_without_the_collector(coding: bytes) -> None:
    body = bytes(MIB) if not coding else zipped(random.Random(1).randbytes(MIB))[:-100]  # noqa: S311 - to be long
    start = b"HTTP/1.1 200 OK\r\n" + coding + b"Content-Length: 2000000\r\n\r\n" + body
    for total_s in (0.2, 2.0, 20.0):
        async with RawOrigin(stalls_with(start)) as origin, fetcher() as client:
            gc.collect()
            gc.disable()
            tracemalloc.start()
            try:
                failures = [await kind_of(client.get(request(origin.url(), total_s=total_s))) for _ in range(5)]
                kept, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
                gc.enable()

        assert failures == [(FetchFailed, FailureKind.TIMEOUT)] * 5
        assert kept < MIB / 4
        if peak > MIB:
            # A machine that took longer than that to bring a body has more time.
            break

    assert peak > MIB


@pytest.mark.parametrize(
    ("settings", "room"),
    [
        (FetchSettings(), 160 * MIB),
        (FetchSettings(max_body=MIB), 125 * MIB),
        (FetchSettings(max_body=MIB, in_flight=1), 16 * MIB),
    ],
)
def test_there_is_room_for_some_of_the_longest_or_for_usual_ones(settings: FetchSettings, room: int) -> None:
    assert room_for_bodies(settings) == room


@given(fetchers=st.integers(1, 16), in_flight=st.integers(1, 2000), max_body=st.integers(1, 64 * MIB))
def test_bodies_have_one_bound_for_all_fetchers_together(fetchers: int, in_flight: int, max_body: int) -> None:
    settings = FetchSettings(in_flight=in_flight, max_body=max_body)

    each = room_for_bodies(settings, fetchers=fetchers)

    assert max_body <= each
    assert each * fetchers <= room_for_bodies(settings)


def test_a_body_of_the_greatest_length_has_room_however_many_fetchers_there_are() -> None:
    assert room_for_bodies(FetchSettings(max_body=MIB, in_flight=1), fetchers=100) == MIB
