"""The service with fetcher processes of its own, from outside."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.journey.running import CONFIGURATION, until
from tests.origin import Origin, Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service

    Start = Callable[[], Awaitable[Service]]

SECOND = "127.0.0.5"
TWO = f"{CONFIGURATION}[fetch]\nfetchers = 2\n"


def dated(*major: str) -> Page:
    return Page(f'<meta name=topper-major content="{" ".join(major)}"><h1>A')


@pytest.fixture
async def both(site: Origin) -> Origin:
    await site.start(SECOND)
    return site


async def children(service: Service) -> list[int]:
    with open(f"/proc/{service.pid}/task/{service.pid}/children", encoding="ascii") as file:  # noqa: ASYNC230, PTH123 - at once
        return [int(pid) for pid in file.read().split()]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_changes_of_the_hosts_of_all_fetchers_are_told(home: Home, both: Origin, start: Start) -> None:
    home.configure(TWO)
    both.pages["/a"] = dated("2026-01-01")
    urls = both.url("/a"), both.url("/a", host=SECOND)
    await home.watch(*urls)
    service = await start()
    for url in urls:
        await home.outcome(url, "first", "unchanged")

    both.pages["/a"] = dated("2026-01-01", "2026-02-02")
    alerts = [await home.alert("changed", url) for url in urls]

    assert [alert["data"]["rendering"]["error"] for alert in alerts] == [None, None]
    assert await service.stop() == 0


async def test_SIGHUP_reaches_every_fetcher(home: Home, both: Origin, start: Start) -> None:
    home.configure(TWO)
    both.pages["/a"] = dated("2026-01-01")
    urls = both.url("/a"), both.url("/a", host=SECOND)
    await home.watch(*urls)
    service = await start()
    for url in urls:
        await home.outcome(url, "unchanged")

    home.configure(TWO.replace("[hosts]", 'report = ["unchanged"]\n[hosts]'))
    service.tell(signal.SIGHUP)

    for url in urls:
        await home.alert("unchanged", url)


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="the machine does not tell of children")  # noqa: PTH110 - no path
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_no_fetcher_outlives_its_service(home: Home, both: Origin, start: Start, number: signal.Signals) -> None:
    home.configure(TWO)
    both.pages["/a"] = dated("2026-01-01")
    await home.watch(both.url("/a"), both.url("/a", host=SECOND))
    service = await start()
    await home.outcome(both.url("/a"), "first", "unchanged")
    fetchers = await children(service)

    await service.end(number)

    async def are_gone() -> bool:
        return not any(map(is_alive, fetchers))

    assert len(fetchers) == 2
    await until(are_gone, what="the end of all fetchers")
