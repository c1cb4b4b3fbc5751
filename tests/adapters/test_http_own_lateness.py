"""What our own loop has no time for is never a server's fault, and no answer takes the loop's time from the others."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

import pytest

from tests.origin import RawOrigin
from tests.wire import client_tls, fetcher, request, server_tls
from tocsin.adapters.http.deadlines import DeadlineMissed, DeadlineSweep, Phase
from tocsin.adapters.http.llhttp import connection
from tocsin.adapters.http.llhttp.answer import AnswerReader
from tocsin.settings import Deadlines

if TYPE_CHECKING:
    from collections.abc import Callable

PIECE = b"1\r\nx\r\n"
MANY = 60_000
IN_BITS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + PIECE * MANY + b"0\r\n\r\n"


class SlowLoop:
    """A loop whose time passes when a test says so, and which may be late with what was to be called."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self._next: tuple[float, Callable[[], None]] | None = None

    def time(self) -> float:
        """The time."""
        return self.now_s

    def call_at(self, when: float, call: Callable[[], None]) -> object:
        """Remember a call."""
        self._next = (when, call)
        return object()

    def pass_by(self, seconds: float) -> None:
        """Let time pass, with every call made when it is due."""
        until = self.now_s + seconds
        while self._next is not None and self._next[0] <= until:
            (due, call), self._next = self._next, None
            self.now_s = max(self.now_s, due)
            call()
        self.now_s = until

    def be_busy(self, seconds: float) -> None:
        """Let time pass in which nothing is called; what was due is called late."""
        self.now_s += seconds
        self.pass_by(0.0)


class Waiting:
    """A request that is watched."""

    def __init__(self, sweep: DeadlineSweep, within_s: float) -> None:
        self._until = sweep.listening_s() + within_s
        self.is_late = False
        sweep.add(self)

    def check(self, now: float) -> None:
        """See whether it is late."""
        self.is_late = now >= self._until

    def interrupt(self, why: Exception) -> None:
        """Never called: the budget does."""
        raise why


@pytest.fixture
def slow_loop(monkeypatch: pytest.MonkeyPatch) -> SlowLoop:
    """What a sweep takes for the running loop."""
    slow = SlowLoop()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: cast("asyncio.AbstractEventLoop", slow))
    return slow


def test_a_deadline_is_met_by_the_time_in_which_the_loop_could_listen(slow_loop: SlowLoop) -> None:
    sweep = DeadlineSweep(Deadlines())
    waiting = Waiting(sweep, 10.0)

    slow_loop.pass_by(4.0)
    slow_loop.be_busy(60.0)
    slow_loop.pass_by(5.5)
    was_late = waiting.is_late
    slow_loop.pass_by(1.0)

    assert (was_late, waiting.is_late) == (False, True)


def test_a_deadline_that_begins_while_the_loop_is_busy_is_not_shorter(slow_loop: SlowLoop) -> None:
    sweep = DeadlineSweep(Deadlines())
    Waiting(sweep, 100.0)
    slow_loop.now_s += 30.0
    waiting = Waiting(sweep, 10.0)

    slow_loop.be_busy(15.0)
    slow_loop.pass_by(9.5)

    assert not waiting.is_late


async def test_an_answer_that_waits_in_its_socket_is_read_before_its_deadline_ends_it() -> None:
    async with fetcher() as client:

        async def answer_late(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            # It is in the socket by now, and nothing has read it.
            sweep = client._sweep
            assert sweep is not None
            for watch in tuple(sweep._watches):
                watch.check(float("inf"))

        async with RawOrigin(answer_late) as origin:
            answer = await client.get(request(origin.url()))

    assert answer.body == b"hello"


async def test_a_server_that_said_nothing_is_late_at_its_deadline() -> None:
    async with fetcher() as client:

        async def say_nothing(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            sweep = client._sweep
            assert sweep is not None
            for watch in tuple(sweep._watches):
                watch.check(float("inf"))

        async with RawOrigin(say_nothing) as origin:
            with pytest.raises(Exception, match="within 60 s") as caught:
                await client.get(request(origin.url()))

    missed = caught.value.__cause__
    assert isinstance(missed, DeadlineMissed)
    assert missed.phase is Phase.FIRST_BYTE


@pytest.mark.parametrize("tls", [False, True])
async def test_a_long_answer_is_read_in_several_turns_of_the_loop(tls: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001 - a column
    turn, fed = 0, list[tuple[int, int]]()
    feed = AnswerReader.feed

    def count_turns() -> None:
        nonlocal turn
        turn += 1
        loop.call_soon(count_turns)

    def note(reader: AnswerReader, data: bytes) -> None:
        fed.append((turn, len(data)))
        feed(reader, data)

    loop = asyncio.get_running_loop()
    monkeypatch.setattr(AnswerReader, "feed", note)
    monkeypatch.setattr(connection, "TURN_S", 0.0)
    async with (
        RawOrigin(IN_BITS, tls=server_tls() if tls else None) as origin,
        fetcher(tls=client_tls() if tls else None) as client,
    ):
        loop.call_soon(count_turns)
        answer = await client.get(request(origin.url()))

    assert answer.body == b"x" * MANY
    assert max(size for _, size in fed) <= 32 * 1024
    long = [number for number, size in fed if size == 32 * 1024]
    assert len(long) == len(set(long))


async def test_a_body_in_chunks_of_one_byte_gives_the_loop_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TURN_S", 0.0)
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with RawOrigin(IN_BITS) as origin, fetcher() as client, asyncio.TaskGroup() as group:
        beside = group.create_task(take_turns())
        answer = await client.get(request(origin.url()))
        beside.cancel()

    assert answer.body == b"x" * MANY
    assert turns > len(IN_BITS) // (32 * 1024)
