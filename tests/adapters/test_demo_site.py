"""The demo site on its port of loopback: its pages, and that nothing else of loopback is reached through it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import ManualClock
from tests.origin import Origin, Page
from tests.wire import request
from tocsin.adapters.demo_site import AUTHORS, SEEN_FOR, DemoSite, NoAnswer, ReservedPort, page_at
from tocsin.adapters.http.addresses import AddressRefused, NameNotResolved
from tocsin.adapters.http.fetcher import HttpFetcher
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.engine.judging.assess import assess
from tocsin.errors import FetchFailed, FetchRefused
from tocsin.model import DEMO_HOST, FailureKind
from tocsin.settings import FetchSettings, NetworkSettings
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.topper.compare import Comparison, Outcome, compare
from tocsin.spec.topper.state import PageState

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


FIRST = datetime(2026, 11, 21, 12, 3, 30, tzinfo=UTC)
TIMES = st.integers(-3600, 86_400 * 400).map(lambda seconds: FIRST + timedelta(seconds=seconds))


def state(path: str, now: datetime, first: datetime | None = FIRST) -> PageState:
    page = page_at(path, now, first)
    assert page is not None
    return assess("http://demo.example/", page.encode(), "text/html", None, None).state


def compared(path: str, before: datetime, after: datetime) -> Comparison:
    return compare(state(path, before), state(path, after), elapsed=after - before)


def event_day(now: datetime, first: datetime | None = FIRST) -> str | None:
    page = page_at("/news", now, first) or ""
    event, card = read_items(page.encode(), "text/html", address="http://demo.example/news").items
    assert [each.text for each in card.named("tel")] == ["+44 1632 960 123"]
    return event.named("dtstart")[0].text


@pytest.mark.parametrize(("path", "outcome"), [("/news", Outcome.MAJOR), ("/notes", Outcome.MINOR)])
def test_the_first_change_comes_when_it_is_said_to(path: str, outcome: Outcome) -> None:
    at = FIRST + AUTHORS[path].first

    assert compared(path, FIRST - timedelta(seconds=5), at - timedelta(seconds=1)).outcome is Outcome.UNCHANGED
    assert compared(path, at - timedelta(seconds=1), at).outcome is outcome


@given(TIMES)
def test_T46_the_page_of_minor_changes_never_makes_a_major_one(now: datetime) -> None:
    step = AUTHORS["/notes"].every

    assert compared("/notes", now, now + step).outcome in {Outcome.MINOR, Outcome.UNCHANGED}


@given(TIMES)
def test_T44_each_change_of_the_news_is_major(now: datetime) -> None:
    found = compared("/news", now, now + AUTHORS["/news"].every)

    assert found.outcome in {Outcome.MAJOR, Outcome.UNCHANGED}


@given(TIMES)
def test_MD19_each_change_of_the_news_puts_the_event_on_another_day(now: datetime) -> None:
    step = AUTHORS["/news"].every
    is_changed = state("/news", now) != state("/news", now + step)

    assert (event_day(now) != event_day(now + step)) is is_changed


def test_the_first_change_of_the_news_puts_the_event_on_another_day() -> None:
    days = {event_day(first, first) for first in (FIRST + AUTHORS["/news"].every * number for number in range(60))}

    assert "2027-05-05" not in days
    assert event_day(FIRST - timedelta(seconds=1)) == "2027-05-05"


@given(TIMES, TIMES)
def test_the_quiet_page_never_changes(now: datetime, then: datetime) -> None:
    assert page_at("/quiet", now, FIRST) == page_at("/quiet", then, None)


@given(TIMES)
def test_the_page_that_declares_nothing_changes_its_text_alone(now: datetime) -> None:
    first, step = FIRST + AUTHORS["/plain"].first, AUTHORS["/plain"].every
    later = max(now, first) + 2 * step

    assert page_at("/plain", first - timedelta(seconds=1), FIRST) != page_at("/plain", first, FIRST)
    assert page_at("/plain", later, FIRST) != page_at("/plain", later + step, FIRST)
    assert compared("/plain", later, later + step).outcome is Outcome.UNCHANGED


def test_the_silent_page_comes_back() -> None:
    silent = FIRST + AUTHORS["/shop"].first

    assert page_at("/shop", silent - timedelta(seconds=1), FIRST)
    with pytest.raises(NoAnswer):
        page_at("/shop", silent, FIRST)
    assert page_at("/shop", silent + timedelta(minutes=2), FIRST)


@given(st.sampled_from(sorted(AUTHORS)), TIMES)
def test_whoever_asks_long_after_is_told_the_same_after_a_restart(path: str, now: datetime) -> None:
    later = max(now, FIRST) + timedelta(hours=2)

    def said(first: datetime | None) -> str | None:
        try:
            return page_at(path, later, first)
        except NoAnswer:
            return None

    assert said(FIRST) == said(None)


def test_there_is_no_other_page() -> None:
    assert page_at("/../etc/passwd", FIRST, FIRST) is None
