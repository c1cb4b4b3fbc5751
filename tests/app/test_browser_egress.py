"""The egress process of a browser: a budget for each page, and what becomes of it all when a process ends."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.adapters.test_egress import OK, get
from tests.nameserver import NameServer
from tests.origin import RawOrigin, hang
from tocsin.adapters.processes.starting import environment
from tocsin.app.browser_egress import (
    AnnounceHost,
    EgressProcess,
    PageBudget,
    start_egress,
    to_happenings,
)
from tocsin.errors import ProcessError

LOCAL = ("127.0.0.1/32",)


class Slots:
    """Listeners as a cell hands them out, and the process that serves them."""

    def __init__(self, stack: ExitStack, count: int) -> None:
        self.listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        self.egress: EgressProcess

    async def connect(self, slot: int = 0) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect as the browser of a slot does."""
        return await asyncio.open_connection(*self.listeners[slot].getsockname())

    async def status(self, url: str, slot: int = 0) -> int:
        """Ask for a URL as the browser of a slot does; returns the status, 0 without an answer."""
        reader, writer = await self.connect(slot)
        writer.write(get(url))
        said = await reader.read()
        writer.close()
        return int(said.split(b" ")[1]) if said else 0


@asynccontextmanager
async def slots(*allow: str, count: int = 1, servers: tuple[str, ...] = ("127.0.0.1:1",)) -> AsyncIterator[Slots]:
    with ExitStack() as stack:
        given = Slots(stack, count)
        given.egress = await start_egress(given.listeners, allow, servers)
        yield given
        await given.egress.end()


def budget(origin: RawOrigin, **limits: Any) -> PageBudget:
    given: dict[str, Any] = {"host": "127.0.0.1", "port": origin.port}
    return PageBudget(**given | limits)


async def test_a_page_reaches_its_own_host_and_hosts_that_were_announced_and_no_other() -> None:
    async with RawOrigin(OK) as origin, NameServer() as names:
        names.names |= {name: ["127.0.0.1"] for name in ("fonts.example", "errand.example")}
        async with slots(*LOCAL, servers=(names.address,)) as given, given.egress.page(0, budget(origin)) as page:
            own = await given.status(origin.url())
            before = await given.status(f"http://fonts.example:{origin.port}/")
            await page.announce("Fonts.example")
            after = await given.status(f"http://fonts.example:{origin.port}/")
            errand = await given.status(f"http://errand.example:{origin.port}/")

    assert (own, before, after, errand) == (200, 403, 200, 403)
    assert len(origin.heads) == 2
    assert ("errand.example", "A") not in {(name, "A") for name, _ in names.asked}
    assert page.traffic.refused == 2
    assert [(each.values["host"], each.values["reason"]) for each in to_happenings("http://a/", page.traffic)] == [
        (host, "no request to this host was announced") for host in ("fonts.example", "errand.example")
    ]


@pytest.mark.parametrize(
    ("url", "limits", "reason"),
    [
        ("http://127.0.0.2:{port}/", {"host": "127.0.0.2"}, "127.0.0.2 is a loopback address"),
        ("http://127.0.0.1:1/", {}, "port 1 is not allowed"),
        ("http://127.0.0.1:{port}/", {"connections": 0}, "too many connections"),
        ("http://127.0.0.1:{port}/", {"wire_bytes": 10}, "more bytes than one job may send and receive"),
    ],
)
async def test_each_limit_of_a_page_is_a_refusal_with_its_reason(url: str, limits: dict[str, Any], reason: str) -> None:
    async with (
        RawOrigin(OK) as origin,
        slots(*LOCAL) as given,
        given.egress.page(0, budget(origin, **limits)) as page,
    ):
        assert await given.status(url.format(port=origin.port)) == 403

    ((refusal, times),) = page.traffic.refusals
    assert refusal.reason.startswith(reason)
    assert times == 1


async def test_only_the_host_that_a_person_typed_may_have_a_private_address() -> None:
    async with RawOrigin(OK) as origin, slots() as given:
        async with given.egress.page(0, budget(origin, is_typed=True)) as page:
            await page.announce("127.0.0.2")
            typed = await given.status(origin.url())
            beside = await given.status(f"http://127.0.0.2:{origin.port}/")
        async with given.egress.page(0, budget(origin)):
            next_page = await given.status(origin.url())

    assert (typed, beside, next_page) == (200, 403, 403)


async def test_a_slot_knows_nothing_of_what_another_may_do() -> None:
    async with RawOrigin(OK) as origin, slots(*LOCAL, count=2) as given:
        other = budget(origin, host="other.example")
        async with given.egress.page(0, budget(origin)) as first, given.egress.page(1, other) as second:
            statuses = [await given.status(origin.url(), slot) for slot in (0, 1)]

    assert statuses == [200, 403]
    assert (first.traffic.refused, second.traffic.refused) == (0, 1)
    assert first.traffic.connections == 1
    assert first.traffic.wire_bytes >= len(OK)


async def test_the_end_of_a_page_ends_its_connections() -> None:
    async with RawOrigin(hang) as origin, slots(*LOCAL) as given:
        async with given.egress.page(0, budget(origin)):
            reader, writer = await given.connect()
            writer.write(get(origin.url()))
            await origin.asked.wait()
        # It ends; whether by the end of the stream or by a reset is no matter.
        (said,) = await asyncio.gather(reader.read(), return_exceptions=True)
        writer.close()

    assert not said or isinstance(said, ConnectionError)


async def test_what_waits_at_a_slot_between_two_pages_is_not_let_out_with_the_next() -> None:
    async with RawOrigin(OK) as origin, slots(*LOCAL) as given:
        reader, writer = await given.connect()
        writer.write(get(origin.url()))
        await writer.drain()
        async with given.egress.page(0, budget(origin)) as page:
            (said,) = await asyncio.gather(reader.read(), return_exceptions=True)
        writer.close()

    assert not said or isinstance(said, ConnectionError)
    assert (origin.heads, page.traffic.connections) == ([], 0)


async def test_a_page_that_is_cancelled_does_not_disturb_the_next() -> None:
    async with RawOrigin(OK) as origin, slots(*LOCAL) as given:
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(given.egress.ask(AnnounceHost(0, "a.example")))
            await asyncio.sleep(0)
            asking.cancel()
        async with given.egress.page(0, budget(origin)) as page:
            assert await given.status(origin.url()) == 200

    assert page.traffic.connections == 1


async def test_the_end_of_the_process_is_an_error_and_another_takes_over_its_slots() -> None:
    async with RawOrigin(OK) as origin, slots(*LOCAL) as given:
        async with given.egress.page(0, budget(origin)) as page:
            given.egress.kill()
            assert await given.egress.wait() == -signal.SIGKILL
            with pytest.raises(ProcessError, match="has ended"):
                await page.announce("a.example")
        await given.egress.end()
        given.egress = await start_egress(given.listeners, LOCAL)
        async with given.egress.page(0, budget(origin)):
            assert await given.status(origin.url()) == 200


def test_the_process_ends_with_its_parent() -> None:
    code = (
        "import asyncio, socket\n"
        "from tocsin.app.browser_egress import start_egress\n"
        "async def main():\n"
        "    egress = await start_egress([socket.create_server(('127.0.0.1', 0))], ())\n"
        "    print(egress.pid, flush=True)\n"
        "    await egress.wait()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], env=environment(), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)

    # A descriptor of a process becomes readable when it ends; the test's deadline bounds the wait.
    select.select([watched], [], [])
    os.close(watched)
