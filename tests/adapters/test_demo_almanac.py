"""What the demo site's pages say, judged by the very code that watches them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.demo.almanac import AUTHORS, Silence, page_at
from tocsin.engine.judging.assess import assess
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.topper.compare import Comparison, Outcome, compare

if TYPE_CHECKING:
    from tocsin.spec.topper.state import PageState

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
    with pytest.raises(Silence):
        page_at("/shop", silent, FIRST)
    assert page_at("/shop", silent + timedelta(minutes=2), FIRST)


@given(st.sampled_from(sorted(AUTHORS)), TIMES)
def test_whoever_asks_long_after_is_told_the_same_after_a_restart(path: str, now: datetime) -> None:
    later = max(now, FIRST) + timedelta(hours=2)

    def said(first: datetime | None) -> str | None:
        try:
            return page_at(path, later, first)
        except Silence:
            return None

    assert said(FIRST) == said(None)


def test_there_is_no_other_page() -> None:
    assert page_at("/../etc/passwd", FIRST, FIRST) is None
