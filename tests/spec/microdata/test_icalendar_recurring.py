"""Events that recur are exported so that they fall on the days on which they are, wherever they are."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from dateutil.rrule import rrulestr  # type: ignore[import-untyped]  # it has no types, and no stubs are pinned here
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import calendar, components_of, parts_of, read, to_icalendar
from tocsin.spec.microdata.values import VEVENT

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULES = (
    *("FREQ=DAILY", "FREQ=DAILY;BYDAY=TU,SA", "FREQ=DAILY;BYMONTH=2,3", "FREQ=DAILY;BYHOUR=9,21", "FREQ=WEEKLY"),
    *("FREQ=WEEKLY;BYDAY=TU", "FREQ=WEEKLY;INTERVAL=2;WKST=SU;BYDAY=SU,MO", "FREQ=WEEKLY;BYHOUR=0;BYMINUTE=15"),
    *("FREQ=MONTHLY", "FREQ=MONTHLY;BYMONTHDAY=1", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1"),
    *("FREQ=YEARLY", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=31", "FREQ=YEARLY;BYYEARDAY=1,-1", "FREQ=YEARLY;BYWEEKNO=20"),
    *("FREQ=HOURLY;INTERVAL=5", "FREQ=HOURLY;BYDAY=MO", "FREQ=HOURLY;BYHOUR=3,4", "FREQ=MONTHLY;BYSECOND=0,30"),
)


def recurring(start: str, *rules: str, more: str = "") -> str:
    """The markup of an event with a start and these rules."""
    parts = "".join(f"<p itemprop=rrule>{rule}</p>" for rule in rules)
    return f"<div itemscope itemtype={VEVENT}><time itemprop=dtstart datetime={start}>x</time>{parts}{more}</div>"


def starts_of(written: str) -> Iterator[datetime]:
    """When the first event of a calendar begins, again and again, as today's programs reckon it."""
    found = next(part for part in parts_of(written) if part.name == "VEVENT")
    return iter(rrulestr(found["RRULE"].to_ical().decode(), dtstart=found.start))


@pytest.mark.parametrize(
    ("start", "rule", "days"),
    [
        ("2026-01-06T19:30:00-05:00", "FREQ=WEEKLY;BYDAY=TU;COUNT=3", "01-06 01-13 01-20"),
        ("2026-02-01T00:30:00+01:00", "FREQ=MONTHLY;BYMONTHDAY=1;COUNT=3", "02-01 03-01 04-01"),
        ("2026-01-31T00:30:00+14:00", "FREQ=MONTHLY;COUNT=3", "01-31 03-31 05-31"),
        ("2026-01-31T23:30:00-12:00", "FREQ=MONTHLY;BYDAY=-1SA;COUNT=3", "01-31 02-28 03-28"),
        ("2026-01-06T02:00:00+05:30", "FREQ=WEEKLY;BYDAY=TU;COUNT=2", "01-06 01-13"),
        ("2026-01-06T22:00:00-0330", "FREQ=WEEKLY;BYDAY=TU;UNTIL=20260120", "01-06 01-13 01-20"),
    ],
)
def test_a_rule_of_days_is_meant_by_the_clock_of_its_event(start: str, rule: str, days: str) -> None:
    written = calendar(read(recurring(start, rule)))

    assert " ".join(f"{each:%m-%d}" for each in starts_of(written)) == days
    assert {f"{each:%H:%M}" for each in starts_of(written)} == {start[11:16]}
    assert [part.errors for part in parts_of(written) if part.errors] == []
    assert components_of(written)[0].validate(raiseException=True)


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2037, 1, 1)).map(lambda each: each.replace(second=0, microsecond=0)),  # noqa: DTZ001 - by the clock of the event
    st.integers(-12 * 4, 14 * 4).map(lambda quarters: quarters * 15),
    st.sampled_from(_RULES),
)
def test_whatever_a_rule_says_it_is_on_the_days_of_the_clock_of_its_event(
    there: datetime, offset_minutes: int, rule: str
) -> None:
    zone = timezone(timedelta(minutes=offset_minutes))
    written = to_icalendar(read(recurring(there.replace(tzinfo=zone).isoformat(), rule)))

    meant = islice(rrulestr(rule, dtstart=there), 4)
    told = islice(starts_of(written or ""), 4)

    assert [each.astimezone(zone).replace(tzinfo=None) for each in told] == [*meant]


@pytest.mark.parametrize(
    ("start", "rule"),
    [
        ("2026-01-06T19:30:00Z", "FREQ=WEEKLY;BYDAY=TU;BYHOUR=9"),
        ("2026-01-06T19:30:00+01:00", "FREQ=WEEKLY;BYDAY=TU"),
        ("2026-01-06T19:30:00-05:00", "FREQ=WEEKLY;COUNT=3"),
        ("2026-01-06T19:30:00-05:00", "FREQ=FORTNIGHTLY;BYDAY=TU"),
        ("2026-01-06T19:30:00", "FREQ=WEEKLY;BYDAY=TU;BYHOUR=9"),
        ("2026-01-06", "FREQ=WEEKLY;BYDAY=TU"),
    ],
)
def test_what_is_the_same_in_utc_needs_no_zone(start: str, rule: str) -> None:
    assert "TZ" not in calendar(read(recurring(start, rule)))


def test_an_event_that_needs_a_zone_has_all_its_times_in_it() -> None:
    start = "<time itemprop=dtstart datetime=2026-01-06T19:30:00-05:00>x</time>"
    html = (
        "<p itemprop=rrule>FREQ=WEEKLY;BYDAY=TU;UNTIL=20260301T000000Z</p>"
        "<time itemprop=dtend datetime=2026-01-07T03:30:00+01:00>x</time>"
        "<time itemprop=exdate datetime=2026-01-14T00:30:00Z>x</time>"
        "<p itemprop=rdate>2026-01-16T00:00:00Z</p><p itemprop=rdate>2026-01-17T00:00Z/PT1H</p>"
        "<p itemprop=exdate>2026-02-10</p><p itemprop=created>2026-01-01T00:00:00Z</p>"
    )
    written = calendar(read(f"<div itemscope itemtype={VEVENT}>{start}{html}</div>"))

    head, _, found = written.partition("BEGIN:VEVENT\r\n")
    assert head.endswith(
        "BEGIN:VTIMEZONE\r\nTZID:UTC-0500\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\n"
        "TZOFFSETFROM:-0500\r\nTZOFFSETTO:-0500\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
    )
    assert found.split("\r\n")[2:-3] == [
        "DTSTART;VALUE=DATE-TIME;TZID=UTC-0500:20260106T193000",
        "RRULE:FREQ=WEEKLY;BYDAY=TU;UNTIL=20260301T000000Z",
        "DTEND;VALUE=DATE-TIME;TZID=UTC-0500:20260106T213000",
        "EXDATE;VALUE=DATE-TIME;TZID=UTC-0500:20260113T193000",
        "RDATE;VALUE=DATE-TIME;TZID=UTC-0500:20260115T190000",
        "RDATE;VALUE=PERIOD:20260117T000000Z/PT1H",
        "EXDATE;VALUE=DATE-TIME;TZID=UTC-0500:20260210T193000",
        "CREATED;VALUE=DATE-TIME:20260101T000000Z",
    ]


def test_each_zone_stands_once_above_all_events() -> None:
    east, west = "2026-01-06T00:30+05:45", "2026-01-06T19:30-09:30"
    weekly = "FREQ=WEEKLY;BYDAY=TU"
    page = read("".join(recurring(start, weekly) for start in (east, west, east)) + recurring(east))

    parts = parts_of(calendar(page))

    assert [part.name for part in parts if part.name != "STANDARD"] == [
        *("VCALENDAR", "VTIMEZONE", "VTIMEZONE", "VEVENT", "VEVENT", "VEVENT", "VEVENT"),
    ]
    assert [part["TZID"] for part in parts if part.name == "VTIMEZONE"] == ["UTC+0545", "UTC-0930"]
    assert "TZID" not in (to_icalendar(page, which=4) or "")


@pytest.mark.parametrize("start", ["9999-12-31T23:00-00:30", "0001-01-01T00:30-14:00", "0001-01-01T14:30+14:00"])
def test_at_the_ends_of_time_events_stand_in_utc_or_in_no_calendar(start: str) -> None:
    written = to_icalendar(read(recurring(start, "FREQ=MONTHLY;BYMONTHDAY=1;COUNT=2")))

    assert written is None or [part.errors for part in parts_of(written) if part.errors] == []


@pytest.mark.parametrize(
    ("until", "written"),
    [
        ("20260120", "20260121T035959Z"),
        ("20260120T193000", "20260120T233000Z"),
        ("20260120T193000Z", "20260120T193000Z"),
        ("99991231", "99991231T235959Z"),
    ],
)
def test_the_last_day_of_a_rule_ends_by_the_clock_of_its_event(until: str, written: str) -> None:
    page = read(recurring("2026-01-06T19:30-04:00", f"FREQ=WEEKLY;UNTIL={until}"))

    assert f"UNTIL={written}\r\n" in calendar(page)


@pytest.mark.parametrize(
    ("start", "date", "exception", "addition"),
    [
        ("2026-01-06T19:30-05:00", "2026-01-13", "20260114T003000Z", "20260114T003000Z"),
        ("2026-01-06T19:30-05:00", "2026-01-13T19:30", "20260114T003000Z", "20260114T003000Z"),
        ("2026-01-06T19:30-05:00", "2026-01-14T01:30+01:00", "20260114T003000Z", "20260114T003000Z"),
        ("2026-01-06T19:30", "2026-01-13", "20260113T193000", "20260113T193000"),
        ("2026-01-06T19:30", "2026-01-13T19:30Z", "20260113T193000Z", "20260113T193000Z"),
        ("2026-01-06", "2026-01-13", "20260113", "20260113"),
        ("2026-01-06", "2026-01-13T19:30-05:00", "20260113", "20260114T003000Z"),
        ("2026-01-06", "2026-01-13T19:30", "20260113", "20260113T193000"),
    ],
)
def test_a_date_that_a_rule_does_not_have_is_of_the_kind_of_the_start(
    start: str, date: str, exception: str, addition: str
) -> None:
    page = read(recurring(start, "FREQ=WEEKLY", more=f"<p itemprop='exdate rdate'>{date}</p>"))

    dates = [line for line in calendar(page).splitlines() if line.startswith(("EX", "RD"))]

    assert [line.partition(":")[2] for line in dates] == [exception, addition]


def test_what_is_left_out_by_its_day_is_left_out() -> None:
    more = "<p itemprop=exdate>2026-01-13</p>"
    written = calendar(read(recurring("2026-01-06T19:30-05:00", "FREQ=WEEKLY;BYDAY=TU;COUNT=3", more=more)))

    (found,) = (part for part in parts_of(written) if part.name == "VEVENT")

    assert found["EXDATE"].dts[0].dt in list(starts_of(written))
