# ruff: noqa: RUF001 - some dates are of other scripts
from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from tests.spec.signals.pages_of_content import compared_at, page, whole
from tocsin.spec.signals.clocks import find_clock, is_moved
from tocsin.spec.signals.content import content_digest, read_content
from tocsin.spec.signals.fingerprint import unpack

WAS: Final = datetime(2026, 8, 31, 20, 30, tzinfo=UTC)
NOW: Final = WAS + timedelta(days=2)
LONG: Final = "The official site of the town council and of all of its committees and commissions"


def is_noise(before: str, latest: str) -> bool:
    return not compared_at(page(inner=before), WAS, page(inner=latest), NOW).is_change


@pytest.mark.parametrize(
    ("before", "latest"),
    [
        (f"<p>{LONG} 31 августа 2026, 23:30 МСК</p>", f"<p>{LONG} 2 сентября 2026, 20:25 МСК</p>"),
        ("<p>Сейчас 31 августа</p>", "<p>Сейчас 2 сентября</p>"),
        ("<h2>Programme of Monday, August 31, 2026</h2>", "<h2>Programme of Wednesday, September 2, 2026</h2>"),
        ("<h2>Programm vom Montag, 31. August</h2>", "<h2>Programm vom Mittwoch, 2. September</h2>"),
        ("<h2>Menu: lundi 31 août</h2>", "<h2>Menu: mercredi 2 septembre</h2>"),
        ("<p>Kampala, 31 zzzzzz 2026 in words of no list</p>", "<p>Kampala, 2 yyyyyyy 2026 in words of no list</p>"),
        ("<h2>Rates of 31.08.2026</h2>", "<h2>Rates of 02.09.2026</h2>"),
        ("<h2>Rates of 8/31/2026</h2>", "<h2>Rates of 9/2/2026</h2>"),
        ("<h2>Rates of 2026-08-31 22:30</h2>", "<h2>Rates of 2026-09-02 22:31</h2>"),
        ("<h2>2026年8月31日（月） 本日の天気</h2>", "<h2>2026年9月2日（水） 本日の天気</h2>"),
        ("<h2>ngày 31 tháng 8 năm 2026 tại Hà Nội</h2>", "<h2>ngày 2 tháng 9 năm 2026 tại Hà Nội</h2>"),
        ("<dl><dt>Member for<dd>5127 days</dl>", "<dl><dt>Member for<dd>5129 days</dl>"),
        ("<h2>4048 days until the games</h2>", "<h2>4046 days until the games</h2>"),
        ("<h2>До выборов 3 дня</h2>", "<h2>До выборов 1 день</h2>"),
    ],
)
def test_a_date_of_the_visit_and_a_count_of_days_are_no_change_in_any_words(before: str, latest: str) -> None:
    assert is_noise(before, latest)


@pytest.mark.parametrize(
    ("before", "latest"),
    [
        # Another day than that of the visit; on one side, or on both.
        ("<p>Deadline: 31 August 2026</p>", "<p>Deadline: 14 September 2026</p>"),
        ("<p>Deadline: 14 August 2026</p>", "<p>Deadline: 2 September 2026</p>"),
        ("<p>Deadline: 31 August 2027</p>", "<p>Deadline: 2 September 2027</p>"),
        ("<p>Deadline: 31 March</p>", "<p>Deadline: 2 May</p>"),
        # More than the date.
        ("<p>31 August 2026: 35 cases in town</p>", "<p>2 September 2026: 42 cases in town</p>"),
        ("<p>Closed on 31 August 2026 for works</p>", "<p>Open on 2 September 2026 for works</p>"),
        # More or fewer days than lie between, or in a sentence.
        ("<h2>Return within 14 days</h2>", "<h2>Return within 30 days</h2>"),
        ("<p>You can send it back within 14 days.</p>", "<p>You can send it back within 16 days.</p>"),
    ],
)
def test_what_only_looks_like_a_clock_is_a_change(before: str, latest: str) -> None:
    assert not is_noise(before, latest)


def test_a_date_of_the_day_that_stays_is_no_change_on_the_next_day() -> None:
    article = "<p>Published on 31 August 2026 by the council</p>"

    assert is_noise(article, article)


def test_a_version_that_was_received_at_an_unknown_time_shows_any_day_of_the_span() -> None:
    month = (NOW - timedelta(days=31), NOW)

    was = find_clock("Today is 9 August 2026", month, is_sentence=False)
    now = find_clock("Today is 2 September 2026", (NOW, NOW), is_sentence=False)

    assert was is not None
    assert now is not None
    assert is_moved(was, now)
    assert find_clock("Today is 9 June 2026", month, is_sentence=False) is None


def test_what_was_left_out_as_a_clock_is_told_and_has_the_same_digest() -> None:
    was, now = page(inner="<h2>Monday, 31 August 2026</h2>"), page(inner="<h2>Wednesday, 2 September 2026</h2>")
    old, new = (read_content(whole(markup), "", "", (at, at)).fingerprint for markup, at in ((was, WAS), (now, NOW)))

    change = compared_at(was, WAS, now, NOW)

    assert change.noise == ("date of the visit: “Wednesday, 2 September 2026”",)
    assert change.places == ()
    assert content_digest(old) == content_digest(new)


@pytest.mark.parametrize("figures", ["9" * 400, "31 " * 100, "31.08." * 60, "31 August 2026 " * 20])
def test_lines_of_figures_are_read_within_bounds(figures: str) -> None:
    find_clock(figures, (WAS, WAS), is_sentence=False)


def test_few_clocks_of_a_page_are_remembered() -> None:
    rows = "".join([f"<p>Row {number}: 31 August 2026</p>" for number in range(60)])

    read = unpack(read_content(whole(page(inner=rows)), "", "", (WAS, WAS)).fingerprint)

    assert not isinstance(read, str)
    assert len(read.clocks) == 20


def test_a_short_link_that_the_navigation_has_too_may_come_and_go() -> None:
    menu = "<nav><a href=/live>Live broadcast</a><a href=/news>All of our news</a></nav>"
    link = "<ul><li><a href=/live>Live broadcast</a></ul>"

    assert is_noise(menu, menu + link)
    assert is_noise(menu + link, menu)
    assert not is_noise(menu, menu + link.replace("broadcast", "evening"))
