"""The service with fetcher processes of its own, from outside."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.journey.running import CONFIGURATION, RARELY, Home, Service, until
from tests.origin import Origin, Page

Start = Callable[[], Awaitable[Service]]


SECOND = "127.0.0.5"
TWO = f"{CONFIGURATION}[fetch]\nfetchers = 2\n"


def dated(*major: str) -> Page:
    return Page(f'<meta name=topper-major content="{" ".join(major)}"><h1>A')


@pytest.fixture
async def both(site: Origin) -> Origin:
    await site.start(SECOND)
    return site


def children(service: Service) -> list[int]:
    """The processes that the service has started, as Linux tells of them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            parent = path.read_text("ascii", "replace").rpartition(")")[2].split()[1]
            found += [int(path.parent.name)] * (int(parent) == service.pid)
    return found


def is_alive(pid: int) -> bool:
    """Whether it does anything yet: who has ended may stay listed until somebody, or nobody, asks how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


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


if Path("/proc/self/stat").exists():  # elsewhere nobody tells of children

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    async def test_no_fetcher_outlives_its_service(
        home: Home, both: Origin, start: Start, number: signal.Signals
    ) -> None:
        home.configure(TWO)
        both.pages["/a"] = dated("2026-01-01")
        urls = both.url("/a"), both.url("/a", host=SECOND)
        await home.watch(*urls)
        service = await start()
        for url in urls:
            await home.outcome(url, "first", "unchanged")
        fetchers = children(service)

        await service.end(number)

        async def are_gone() -> bool:
            return not any(map(is_alive, fetchers))

        assert len(fetchers) == 2
        await until(are_gone, what="the end of all fetchers")


BODY = "<title>A</title>" + "x" * 3000


async def test_a_service_says_at_its_end_what_was_not_sent_again(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]]
) -> None:
    site.pages["/a"] = Page(BODY, etag='"1"')
    # Now and then a check makes no conditions: this is the second one, which does.
    home.configure(RARELY)
    await home.watch(site.url("/a"))
    service = await start()
    await home.outcome(site.url("/a"), "first")
    checked = await home.call("check", site.url("/a"))
    await service.stop()

    (record,) = checked.records()
    (figures,) = [line for line in home.said() if line["event"] == "engine.stopped"]
    assert record["not_modified"] is True
    assert figures["checks"] >= 2
    assert figures["saved_bytes"] == figures["not_modified"] * len(BODY) > 0
