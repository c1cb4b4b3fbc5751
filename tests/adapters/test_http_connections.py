"""Connections: kept, lost, cancelled, and only to addresses that may be dialled."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.fakes import settle
from tests.nameserver import NameServer
from tests.origin import Origin, Page, RawOrigin, cut, endless, hang
from tests.wire import fetcher, request
from tocsin.adapters.http.llhttp import pool
from tocsin.adapters.http.llhttp.dialling import PLAIN_IDLE_BYTES
from tocsin.errors import FetchFailed, FetchRefused
from tocsin.model import FailureKind
from tocsin.settings import NetworkSettings

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
