"""The demo site on its port of loopback, and that nothing else of loopback can be reached by way of it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.fakes import ManualClock
from tests.origin import Origin, Page
from tests.wire import request
from tocsin.adapters.demo.almanac import AUTHORS
from tocsin.adapters.demo.site import SEEN_FOR, DemoSite, ReservedPort
from tocsin.adapters.http.fetcher import HttpFetcher
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.http.resolver import AddressRefused, NameNotResolved
from tocsin.errors import FetchFailed, FetchRefused
from tocsin.model import DEMO_HOST, FailureKind
from tocsin.settings import FetchSettings, NetworkSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SITE = f"http://{DEMO_HOST}"


@asynccontextmanager
async def opened(*, anew: bool = True) -> AsyncIterator[tuple[DemoSite, int, ManualClock]]:
    place, clock = ReservedPort(), ManualClock()
    taken = place.take()
    assert taken is not None
    async with DemoSite(taken, clock) as site:
        site.open(anew=anew)
        yield site, place.port, clock


def at(port: int) -> HttpFetcher:
    """A fetcher that may dial public addresses only, and is told of the demo site."""
    return HttpFetcher(FetchSettings(), NetworkSettings(), user_agent="Tocsin/test", demo_port=port)


async def test_its_pages_are_reached_by_its_name() -> None:
    async with opened() as (_, port, _clock), at(port) as client:
        answers = [await client.get(request(SITE + path)) for path in AUTHORS]

    assert {answer.status for answer in answers} == {200}


async def test_a_page_that_did_not_change_is_not_sent_again() -> None:
    async with opened() as (_, port, _clock), at(port) as client:
        first = await client.get(request(f"{SITE}/quiet"))
        again = await client.get(request(f"{SITE}/quiet", headers=(("If-None-Match", first.header("etag") or ""),)))

    assert again.status == 304


async def test_the_first_change_waits_until_each_page_was_looked_at() -> None:
    async with opened() as (_, port, clock), at(port) as client:
        await clock.advance(3600)
        before = await client.get(request(f"{SITE}/news"))
        for path in AUTHORS:
            await client.get(request(SITE + path))
        await clock.advance(SEEN_FOR.total_seconds() + 1)
        after = await client.get(request(f"{SITE}/news"))

    assert (b'content="2020-01-01"' in before.body, b'content="2020-01-01"' in after.body) == (True, False)


async def test_a_site_that_is_off_has_no_pages() -> None:
    async with opened() as (site, port, _), at(port) as client:
        site.close()
        answer = await client.get(request(f"{SITE}/news"))

    assert answer.status == 404


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/news",
        "http://localhost:{port}/news",
        "http://[::ffff:127.0.0.1]:{port}/news",
        "http://demo.tocsin.invalid:{port}/news",
        "http://demo.tocsin.invalid:8330/news",
        "https://demo.tocsin.invalid/news",
        "http://www.demo.tocsin.invalid/news",
        "http://demo.tocsin.invalid@127.0.0.1:{port}/news",
        "http://127.0.0.1:{other}/",
        "http://demo.tocsin.invalid:{other}/",
    ],
)
async def test_no_other_way_leads_to_loopback(url: str) -> None:
    async with Origin() as other, opened() as (_, port, _clock), at(port) as client:
        other.pages["/"] = Page(b"private")
        with pytest.raises((FetchRefused, FetchFailed)) as caught:
            await client.get(request(url.format(port=port, other=other.port)))

    assert caught.value.kind in {FailureKind.BLOCKED_ADDRESS, FailureKind.DNS}


async def test_a_receiver_of_alerts_is_not_found_by_the_name() -> None:
    async with GuardedSessions(NetworkSettings(), user_agent="Tocsin/test") as sessions, sessions.open() as session:
        with pytest.raises((NameNotResolved, AddressRefused, OSError)):
            await session.post(f"{SITE}/news")


async def test_a_fetcher_that_was_told_of_none_knows_no_such_name() -> None:
    async with opened(), at(0) as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(f"{SITE}/news"))

    assert caught.value.kind is FailureKind.DNS


async def test_nothing_listens_at_its_place_until_it_is_opened() -> None:
    place = ReservedPort()
    try:
        async with at(place.port) as client:
            with pytest.raises(FetchFailed) as caught:
                await client.get(request(f"{SITE}/news"))
    finally:
        place.close()

    assert caught.value.kind is FailureKind.CONNECT
