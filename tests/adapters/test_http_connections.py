"""Connections: kept, lost, cancelled, bounded in memory and time, and only to addresses that may be dialled."""

from __future__ import annotations

import asyncio
import gc
import random
import socket
import tracemalloc
from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import settle
from tests.nameserver import NameServer
from tests.origin import Origin, Page, RawOrigin, Talk, cut, endless, hang
from tests.wire import client_tls, fetcher, request, server_tls, zipped
from tocsin.adapters.http import bodies
from tocsin.adapters.http.bodies import room_for_bodies
from tocsin.adapters.http.deadlines import DeadlineMissed, DeadlineSweep, Phase
from tocsin.adapters.http.llhttp import connection, pool
from tocsin.adapters.http.llhttp.messages import AnswerReader
from tocsin.adapters.http.llhttp.pool import PLAIN_IDLE_BYTES
from tocsin.errors import FetchError, FetchFailed, FetchRefused
from tocsin.model import FailureKind
from tocsin.settings import Deadlines, FetchSettings, NetworkSettings

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
NOWHERE = NetworkSettings()


async def test_T59_a_kept_connection_that_the_server_gave_up_is_replaced_within_the_set() -> None:
    async with RawOrigin(HELLO, cut, HELLO, keep=True) as origin, fetcher() as client:
        await client.get(request(origin.url()))

        answer = await client.get(request(origin.url()))

    assert answer.body == b"hello"
    assert (origin.connections, len(origin.heads)) == (2, 3)


async def test_T59_a_new_connection_that_the_server_gives_up_is_a_failure_at_once() -> None:
    async with RawOrigin(cut, HELLO, keep=True) as origin, fetcher() as client:
        with pytest.raises(FetchFailed, match="closed the connection") as caught:
            await client.get(request(origin.url()))

    assert caught.value.kind == FailureKind.PROTOCOL
    assert len(origin.heads) == 1


async def test_T59_an_answer_that_breaks_off_on_a_kept_connection_is_a_failure() -> None:
    async with RawOrigin(HELLO, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") as origin, fetcher() as client:
        await client.get(request(origin.url()))

        with pytest.raises(FetchFailed, match="received 3 of 9"):
            await client.get(request(origin.url()))


async def test_a_host_that_does_not_take_connections_misses_its_deadline() -> None:
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for filler in (first, second):
            filler.setblocking(False)  # noqa: FBT003 - the name of the method says it
            filler.connect_ex(full.getsockname())

        async with fetcher(connect_s=0.1) as client:
            with pytest.raises(FetchFailed, match=r"fetch\.deadlines\.connect") as caught:
                await client.get(request(f"http://127.0.0.1:{full.getsockname()[1]}/"))

    assert caught.value.kind == FailureKind.CONNECT


async def test_a_request_that_is_cancelled_ends_its_connection() -> None:
    async with RawOrigin(hang) as origin, fetcher() as client:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(client.get(request(origin.url())))
            await origin.asked.wait()
            task.cancel()
        await settle()

        assert client.shared().connections == 0


async def test_a_deadline_from_outside_is_not_taken_for_one_of_ours() -> None:
    async with RawOrigin(hang) as origin, fetcher() as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.get(request(origin.url()))


async def test_a_deadline_of_ours_leaves_the_task_uncancelled() -> None:
    async with RawOrigin(hang) as origin, fetcher(first_byte_s=0.05) as client:
        with pytest.raises(FetchFailed):
            await client.get(request(origin.url()))

        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]", "169.254.169.254", "10.0.0.1"]
)
async def test_an_address_in_the_url_is_judged_before_it_is_dialled(host: str) -> None:
    async with fetcher(network=NOWHERE) as client:
        with pytest.raises(FetchRefused, match=r"\[network\]: allow = ") as caught:
            await client.get(request(f"http://{host}:9/"))

    assert caught.value.kind == FailureKind.BLOCKED_ADDRESS
    assert host.strip("[]") in str(caught.value)


@pytest.mark.parametrize("name", ["localhost", "localhost."])
async def test_localhost_is_judged_by_its_address(name: str) -> None:
    async with Origin() as origin, fetcher(network=NOWHERE) as client:
        with pytest.raises(FetchRefused, match="loopback") as caught:
            await client.get(request(origin.url("/", host=name)))

    assert caught.value.kind == FailureKind.BLOCKED_ADDRESS
    assert origin.log == []


async def test_a_user_who_typed_the_url_may_dial_private_addresses() -> None:
    async with Origin() as origin, fetcher(network=NOWHERE) as client:
        origin.pages["/"] = Page("mine")

        answer = await client.get(request(origin.url("/"), private=True))

    assert answer.body == b"mine"


async def test_a_connection_to_a_private_address_is_not_reused_for_others() -> None:
    async with Origin() as origin, fetcher(network=NOWHERE) as client:
        await client.get(request(origin.url("/"), private=True))

        with pytest.raises(FetchRefused):
            await client.get(request(origin.url("/")))


async def test_the_address_of_a_proxy_is_judged() -> None:
    """GHSA-8p8w-9h98-44j5: a proxy is no way around the gate."""
    async with RawOrigin(HELLO) as proxy, fetcher(network=NOWHERE) as client:
        with pytest.raises(FetchRefused) as caught:
            await client.get(request("http://a.example/", proxy=proxy.url("")))

    assert caught.value.kind == FailureKind.BLOCKED_ADDRESS
    assert proxy.heads == []


async def test_a_proxy_is_not_asked_for_a_refused_address() -> None:
    async with RawOrigin(HELLO) as proxy, fetcher() as client:
        with pytest.raises(FetchRefused, match=r"169\.254\.169\.254 is a link-local address"):
            await client.get(request("http://169.254.169.254/", proxy=proxy.url("")))

    assert proxy.heads == []


async def test_a_name_is_resolved_and_its_address_dialled() -> None:
    async with NameServer() as names, Origin() as origin, fetcher(name_servers=[names.address]) as client:
        names.names["a.example"] = ["127.0.0.1"]
        origin.pages["/"] = Page("found")

        answer = await client.get(request(origin.url("/", host="a.example")))

    assert answer.body == b"found"
    assert origin.log[0].host == f"a.example:{origin.port}"


async def test_of_a_public_and_a_private_address_only_the_public_one_is_dialled() -> None:
    """CVE-2026-27696 (GHSA-3c45-4pj5-ch7m)."""
    allowed = NetworkSettings(allow=("127.0.0.2/32",))
    async with (
        NameServer() as names,
        Origin() as origin,
        fetcher(network=allowed, name_servers=[names.address]) as client,
    ):
        await origin.start("127.0.0.2")
        names.names["a.example"] = ["127.0.0.1", "127.0.0.2"]
        for _ in range(4):
            async with client.fresh() as session:
                await session.get(request(origin.url("/", host="a.example")))

    assert len(origin.log) == 4


async def test_a_name_with_refused_addresses_only_is_refused_and_says_which() -> None:
    async with NameServer() as names, fetcher(network=NOWHERE, name_servers=[names.address]) as client:
        names.names["a.example"] = ["10.0.0.7", "fd00::7"]

        with pytest.raises(FetchRefused, match=r"a\.example is .*, which is a private address") as caught:
            await client.get(request("http://a.example/"))

    assert caught.value.kind == FailureKind.BLOCKED_ADDRESS


async def test_a_name_server_that_failed_is_asked_again_by_the_next_try() -> None:
    async with NameServer() as names, Origin() as origin, fetcher(name_servers=[names.address]) as client:
        names.names["a.example"] = ["127.0.0.1"]
        names.broken.add("a.example")
        url = origin.url("/", host="a.example")
        with pytest.raises(FetchFailed):
            await client.get(request(url))

        names.broken.clear()

        assert (await client.get(request(url))).status == 404


def speaks_ipv6() -> bool:
    """Whether this machine has the address of loopback that IPv6 gives."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


if speaks_ipv6():

    async def test_an_ipv6_address_is_dialled() -> None:
        async with NameServer() as names, fetcher(name_servers=[names.address]) as client:
            origin = Origin()
            await origin.start("::1")
            names.names["six.example"] = ["::1"]

            answer = await client.get(request(origin.url("/", host="six.example")))
            await origin.stop()

        assert answer.status == 404


async def test_a_name_that_does_not_exist_is_a_failure_of_dns_with_the_name() -> None:
    async with NameServer() as names, fetcher(name_servers=[names.address]) as client:
        with pytest.raises(FetchFailed, match=r"dns: the name nowhere\.example has no address") as caught:
            await client.get(request("http://nowhere.example/"))

    assert caught.value.kind == FailureKind.DNS


async def test_a_name_server_that_is_silent_misses_the_deadline() -> None:
    async with NameServer() as names, fetcher(name_servers=[names.address], dns_s=0.1) as client:
        names.silent.add("quiet.example")

        with pytest.raises(FetchFailed, match=r"dns:.*(fetch\.deadlines\.dns|quiet\.example)") as caught:
            await client.get(request("http://quiet.example/"))

    assert caught.value.kind == FailureKind.DNS


async def test_requests_for_one_name_ask_dns_once() -> None:
    async with NameServer() as names, Origin() as origin, fetcher(name_servers=[names.address]) as client:
        names.names["a.example"] = ["127.0.0.1"]
        url = origin.url("/", host="a.example")

        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(client.get(request(url)))
        async with client.fresh() as session:
            await session.get(request(url))

    assert sorted(names.asked) == [("a.example", 1), ("a.example", 28)]


async def test_a_failed_name_is_not_asked_again_at_once() -> None:
    async with NameServer() as names, fetcher(name_servers=[names.address]) as client:
        for _ in range(3):
            with pytest.raises(FetchFailed):
                await client.get(request("http://nowhere.example/"))

    assert len(names.asked) == 2


async def test_connections_that_were_closed_are_not_counted() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.fallback = Page("", headers={"Connection": "close"})
        async with asyncio.TaskGroup() as group:
            for _ in range(100):
                group.create_task(client.get(request(origin.url("/"))))
        await settle()

        assert client.shared().connections == 0


async def test_the_memory_of_idle_connections_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_IDLE_BYTES", 10 * PLAIN_IDLE_BYTES)
    async with Origin() as origin, fetcher() as client:
        for number in range(2, 42):
            host = f"127.0.0.{number}"
            await origin.start(host)
            await client.get(request(origin.url("/", host=host)))
        await settle()

        assert 5 <= client.shared().connections <= 12


async def test_an_endless_body_that_is_cut_is_an_answer_and_its_connection_ends() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"
    async with RawOrigin(endless(head, b"Disallow: /\r\n" * 500)) as origin, fetcher() as client:
        answer = await client.get(request(origin.url(), cut_at=1000, max_body=10, max_wire=10**6))
        await settle()

        assert (answer.status, answer.cut, len(answer.body)) == (200, True, 1000)
        assert client.shared().connections == 0


async def test_an_answer_that_is_shorter_than_the_cut_is_whole() -> None:
    async with RawOrigin(HELLO) as origin, fetcher() as client:
        answer = await client.get(request(origin.url(), cut_at=5))

    assert (answer.body, answer.cut) == (b"hello", False)


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
    assert max(size for _, size in fed) <= 128 * 1024
    long = [number for number, size in fed if size == 128 * 1024]
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
    monkeypatch.setattr(bodies, "USUAL_BODY_BYTES", 1)
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
    monkeypatch.setattr(bodies, "LONGEST_BODIES", 4)
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
    monkeypatch.setattr(bodies, "LONGEST_BODIES", 1)
    monkeypatch.setattr(bodies, "USUAL_BODY_BYTES", 1)
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
