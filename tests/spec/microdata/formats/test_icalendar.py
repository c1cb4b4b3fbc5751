"""Events as iCalendar, in both profiles."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import islice

import pytest
from dateutil.rrule import rrulestr  # type: ignore[import-untyped]  # it has no types, and no stubs are pinned here
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import NOW, PRODUCT, calendar, components_of, event, parts_of, read, to_icalendar
from tocsin.spec.microdata.formats.content_lines import When, export_datetime, fit_rule, read_rule
from tocsin.spec.microdata.formats.icalendar import write_calendar
from tocsin.spec.microdata.formats.vcard import write_cards
from tocsin.spec.microdata.values import HCARD, VEVENT


def lines(html: str) -> list[str]:
    return event(html, "text")


def test_IC07_every_event_of_the_page_is_in_one_calendar() -> None:
    page = read(
        f"<title>Events</title><p itemscope itemtype={VEVENT}></p><p itemscope></p><p itemscope itemtype={VEVENT}></p>"
    )
    one = "BEGIN:VEVENT\r\nDTSTAMP;VALUE=DATE-TIME:20261121T082004Z\r\nEND:VEVENT\r\n"

    assert calendar(page, "text") == (
        f"BEGIN:VCALENDAR\r\nPRODID:{PRODUCT}\r\nVERSION:2.0\r\n{one}{one}END:VCALENDAR\r\n"
    )


def test_IC07_without_an_event_there_is_no_calendar() -> None:
    page = read("<p itemscope itemtype=https://a.example/event>")

    assert to_icalendar(page, profile="text") is None


def test_IC07_an_event_is_had_by_its_number() -> None:
    page = read("".join(f"<p itemscope itemtype={VEVENT} itemid=urn:x:{number}></p>" for number in (1, 2)))

    second = to_icalendar(page, profile="text", which=2) or ""

    assert "UID:urn:x:2" in second
    assert "UID:urn:x:1" not in second
    assert to_icalendar(page, which=3) is None


def test_IC08_a_global_identifier_is_resolved_and_follows_the_stamp() -> None:
    page = read(f"<p itemscope itemtype={VEVENT} itemid=ev/9,1><b itemprop=summary>S</b>")

    assert "082004Z\r\nUID:https://site.example/dir/ev/9\\,1\r\nSUMMARY:S\r\n" in calendar(page, "text")


def test_IC09_items_are_passed_over() -> None:
    assert lines("<p itemprop=location itemscope><b itemprop=x>y</b></p><p itemprop=summary>S</p>") == ["SUMMARY:S"]


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<time itemprop=dtstart datetime=2009-05-05>x</time>", ["DTSTART;VALUE=DATE:20090505"]),
        ("<time itemprop=dtstart datetime=2009-05-05T19:00Z>x</time>", ["DTSTART;VALUE=DATE-TIME:20090505T1900Z"]),
        ("<time itemprop=dtend>2009-05-05T19:00:00-04:00</time>", ["DTEND;VALUE=DATE-TIME:20090505T1900000400"]),
        ("<time itemprop=dtstart datetime=2009-05-05T19:00>x</time>", []),
        ("<time itemprop='dtstart x'>2009-05-05</time>", ["DTSTART;VALUE=DATE:20090505", "X;VALUE=DATE:20090505"]),
        ("<p itemprop=dtstart>2009-05-05</p>", ["DTSTART:2009-05-05"]),
    ],
)
def test_IC10_time_elements_lose_their_hyphens_and_colons(html: str, written: list[str]) -> None:
    assert lines(html) == written


def test_IC11_all_else_is_text_by_whatever_name() -> None:
    html = "<p itemprop='geo a:b'>50.1;-1.2</p><a itemprop=url href='/a,b'>x</a>"

    assert lines(html) == ["GEO:50.1\\;-1.2", "A:B:50.1\\;-1.2", "URL:https://site.example/a\\,b"]


def test_IC12_lines_are_escaped_and_folded_as_those_of_cards() -> None:
    assert lines(f"<p itemprop=summary>a,\\\n{'x' * 80}</p>") == ["SUMMARY:a\\,\\\\\\n" + "x" * 60, " " + "x" * 20]


def test_IC06_a_line_end_in_a_summary_is_kept_in_a_calendar() -> None:
    assert event("<p itemprop=summary>a\nb</p>") == lines("<p itemprop=summary>a\nb</p>") == ["SUMMARY:a\\nb"]


TALK = "<p itemprop=summary>Talk</p><time itemprop=dtstart datetime=2009-05-05T19:00Z>x</time>"


def identifiers(*events: str, address: str | None = "https://site.example/") -> list[str]:
    """The UID of each event with these properties on one page."""
    page = read("".join(f"<div itemscope itemtype={VEVENT}>{html}</div>" for html in events), address)
    return [str(one["UID"]) for one in parts_of(calendar(page))[1:]]


def test_a_calendar_is_called_by_the_title_of_its_page() -> None:
    page = f"<title> Harbour,\n concerts;\x01 2026 </title><div itemscope itemtype={VEVENT}>{TALK}</div>"

    written = calendar(read(page))

    assert "\r\nNAME:Harbour\\, concerts\\; 2026\r\nX-WR-CALNAME:Harbour\\, concerts\\; 2026\r\nBEGIN:VEVENT" in written
    found, *events = parts_of(written)
    assert found.calendar_name == found["X-WR-CALNAME"] == "Harbour\\, concerts\\; 2026"  # it leaves them escaped
    assert not any(part.errors for part in (found, *events))
    (read_by_another,) = components_of(written)
    names = [read_by_another.contents[name][0].value for name in ("name", "x-wr-calname")]
    assert names == ["Harbour, concerts; 2026"] * 2


@pytest.mark.parametrize("title", ["", "<title> \n </title>"])
def test_a_calendar_of_a_page_without_a_title_has_no_name(title: str) -> None:
    assert "NAME" not in calendar(read(f"{title}<div itemscope itemtype={VEVENT}>{TALK}</div>"))


def test_no_title_takes_the_room_of_the_events() -> None:
    page = f"<title>{'x' * 5_000}</title><div itemscope itemtype={VEVENT}>{TALK}</div>"

    assert parts_of(calendar(read(page)))[0]["NAME"] == "x" * 1_000


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2009-05-05T19:00:00Z", "20090505T190000Z"),
        ("2009-05-05T19:00+01:00", "20090505T180000Z"),
        ("2009-12-31T23:30:59.999-04:00", "20100101T033059Z"),
        ("2009-05-05", "20090505"),
        ("0001-01-01T00:00+00:01", None),
        ("9999-12-31T23:59-00:01", None),
        ("12009-05-05", None),
        ("2009-02-30", None),
        ("2009-05-05T19:00", None),
        ("9pm", None),
        ("", None),
    ],
)
def test_IC10_moments_are_told_in_utc_with_seconds(text: str, written: str | None) -> None:
    assert export_datetime(text) == written


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<time itemprop=dtstart>2009-05-05T19:00+01:00</time>", ["DTSTART;VALUE=DATE-TIME:20090505T180000Z"]),
        ("<p itemprop=dtstart> 2009-05-05 </p>", ["DTSTART;VALUE=DATE:20090505"]),
        ("<time itemprop=dtstart datetime=2009-05-05T19:00>7pm</time>", ["DTSTART;VALUE=DATE-TIME:20090505T190000"]),
        ("<p itemprop=dtstart>2009-05-05 19:00:30.5</p><p itemprop=exdate>2009-05-12T19:00:30</p>",
         ["DTSTART;VALUE=DATE-TIME:20090505T190030", "EXDATE;VALUE=DATE-TIME:20090512T190030"]),
        ("<p itemprop=created>2009-05-05T19:00</p>", []),
        ("<p itemprop=DTSTART>2009-05-05</p>", ["DTSTART;VALUE=DATE:20090505"]),
        ("<p itemprop=created>2009-05-05</p><p itemprop=last-modified>2009-05-05T19:00Z</p>",
         ["LAST-MODIFIED;VALUE=DATE-TIME:20090505T190000Z"]),
        ("<p itemprop=rdate>2009-05-05T19:00:00Z/PT1H</p>", ["RDATE;VALUE=PERIOD:20090505T190000Z/PT1H"]),
        ("<p itemprop=rdate>2009-05-05T19:00Z/2009-05-05T20:00Z</p>",
         ["RDATE;VALUE=PERIOD:20090505T190000Z/20090505T200000Z"]),
        ("<p itemprop=rdate>2009-05-05T19:00Z/2009-05-05T18:00Z</p><p itemprop=rdate>2009-05-05/P1D</p>", []),
        ("<p itemprop=exdate>2009-05-05</p><p itemprop=exdate>2009-05-06</p>",
         ["EXDATE;VALUE=DATE-TIME:20090505T080000Z", "EXDATE;VALUE=DATE-TIME:20090506T080000Z"]),
    ],
)  # fmt: skip
def test_IC10_dates_of_any_element_are_written_and_nothing_else_as_one(html: str, written: list[str]) -> None:
    assert event(html) == written


@pytest.mark.parametrize(
    ("start", "end", "is_kept"),
    [
        ("2009-05-05", "2009-05-06", True),
        ("2009-05-05", "2009-05-05", False),
        ("2009-05-05", "2009-05-06T10:00Z", False),
        ("2009-05-05T19:00Z", "2009-05-05T21:30+02:00", True),
        ("2009-05-05T19:00Z", "2009-05-05T20:30+02:00", False),
        ("2009-05-05T19:00", "2009-05-05T21:30", True),
        ("2009-05-05T19:00", "2009-05-05T21:30Z", False),
        ("2009-05-05T19:00Z", "2009-05-05T21:30", False),
    ],
)
def test_an_end_that_is_none_of_its_start_is_left_out(start: str, end: str, is_kept: bool) -> None:  # noqa: FBT001 - a table's column
    written = event(f"<p itemprop=dtend>{end}</p><p itemprop=dtstart>{start}</p>")

    assert any(line.startswith("DTEND") for line in written) is is_kept


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<p itemprop=duration>PT1H</p>", ["DURATION:PT1H"]),
        ("<p itemprop=duration>1 hour</p><p itemprop=duration>PT0S</p><p itemprop=duration>P99999999999W</p>", []),
        ("<p itemprop=dtstart>2009-05-05</p><p itemprop=duration>PT1H</p>", ["DTSTART;VALUE=DATE:20090505"]),
        ("<p itemprop=duration>P1D</p><p itemprop=dtend>2009-05-05T19:00Z</p>", ["DURATION:P1D"]),
        (
            "<p itemprop=dtend>2009-05-05T19:00Z</p><p itemprop=duration>P1D</p>",
            ["DTEND;VALUE=DATE-TIME:20090505T190000Z"],
        ),
    ],
)
def test_IC03_a_duration_is_written_where_calendars_can_count_it(html: str, written: list[str]) -> None:
    assert event(html) == written


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<p itemprop=geo>50.1;-1.2</p>", ["GEO:50.1;-1.2"]),
        ("<p itemprop=geo>somewhere</p><p itemprop=geo>91;0</p>", []),
        ("<p itemprop=rrule>freq=weekly;count=2</p>", ["RRULE:FREQ=WEEKLY;COUNT=2"]),
        ("<p itemprop=exrule>FREQ=MONTHLY;BYDAY=MO,-1SU</p>", ["EXRULE:FREQ=MONTHLY;BYDAY=MO,-1SU"]),
        ("<p itemprop=rrule>weekly</p>", []),
        ("<a itemprop='url attach' href='/a,b;c'>x</a>",
         ["URL:https://site.example/a,b;c", "ATTACH:https://site.example/a,b;c"]),
        ("<p itemprop=url>https://site.example/\N{SNOWMAN} \\</p>", ["URL:https://site.example/%E2%98%83%20%5C"]),
        ("<a itemprop=url>x</a><p itemprop=attach>a.pdf</p>", []),
        ("<a itemprop=url href=javascript:x>x</a><a itemprop='attach organizer' href=data:,x>x</a>", []),
        ("<a itemprop='url attach' href=file:///srv/a.html>x</a>", []),
        ("<p itemprop=categories>a,b</p>", ["CATEGORIES:a\\,b"]),
        ("<p itemprop=status>confirmed</p><p itemprop=class>Private</p><p itemprop=transp>opaque</p>",
         ["STATUS:CONFIRMED", "CLASS:PRIVATE", "TRANSP:OPAQUE"]),
        ("<p itemprop=status>maybe</p><p itemprop=class>secret</p>", []),
        ("<p itemprop=sequence>007</p><p itemprop=priority>-1</p>", ["SEQUENCE:7"]),
        ("<p itemprop=summary> \n a\n b\x0bc\N{LINE SEPARATOR}\x07 </p>", ["SUMMARY:a\\n b\\nc"]),
        ("<p itemprop=summary> </p>", []),
        ("<p itemprop=summary>a</p><p itemprop=SUMMARY>b</p>", ["SUMMARY:a"]),
    ],
)  # fmt: skip
def test_IC11_values_that_are_no_texts_are_not_escaped(html: str, written: list[str]) -> None:
    assert event(html) == written


@pytest.mark.parametrize(
    "name",
    ["begin", "END", "version", "prodid", "method", "dtstamp", "profile", "tzid", "due", "n", "a:b", "a.b", "a_b"],
)
def test_names_that_would_break_a_calendar_are_left_out(name: str) -> None:
    assert event(f"<p itemprop='{name} x-own'>VEVENT</p>") == ["X-OWN:VEVENT"]


def test_IC13_an_event_without_identifier_has_the_same_one_on_every_run() -> None:
    (first,), (again,) = identifiers(TALK), identifiers(TALK)

    assert first == again == "91b00d8c-8a7a-580d-800b-0b7816580751"


def test_IC13_an_event_keeps_its_identifier_when_it_is_put_off() -> None:
    assert identifiers(TALK) == identifiers(TALK.replace("05-05", "06-06"))


def test_IC13_an_event_keeps_its_identifier_when_another_is_announced_before_it() -> None:
    assert identifiers(TALK.replace("Talk", "New"), TALK)[1:] == identifiers(TALK)


def test_IC13_events_that_are_alike_are_told_apart_by_their_order() -> None:
    first, second = identifiers(TALK, TALK)

    assert first != second
    assert identifiers(TALK) == [first]


def test_IC13_of_a_weekly_list_each_event_stays_the_same_when_the_first_goes_and_one_comes() -> None:
    weeks = [TALK.replace("05-05", f"05-{day}") for day in ("01", "08", "15", "22")]

    before, after = identifiers(*weeks[:3]), identifiers(*weeks[1:])

    assert before[1:] == after[:2]
    assert len({*before, *after}) == 4
    assert identifiers(*reversed(weeks[:3])) == before[::-1]


def test_IC13_events_of_one_name_and_start_are_told_apart_by_number_beside_others_too() -> None:
    later = TALK.replace("05-05", "05-12")

    first, again, other = identifiers(TALK, TALK, later)

    assert len({first, again, other}) == 3
    assert identifiers(TALK, later) == [first, other]


def test_IC13_an_event_without_a_date_takes_no_identifier() -> None:
    undated = "<p itemprop=summary>Talk</p>"

    assert identifiers(undated, TALK) == identifiers(TALK)


def test_IC13_what_has_a_url_of_its_own_may_be_renamed() -> None:
    url = "<a itemprop=url href=/talk>x</a>"

    assert identifiers(TALK + url) != identifiers(TALK)
    assert identifiers(TALK.replace("Talk", "Lecture") + url) == identifiers(TALK + url)


def test_IC13_the_same_event_of_another_page_is_another_one() -> None:
    assert identifiers(TALK, address="https://other.example/") != identifiers(TALK)
    assert identifiers(TALK, address=None) == identifiers(TALK, address=None)


def test_IC13_an_identifier_of_the_page_is_taken_once() -> None:
    uid = "<p itemprop=uid>talk-1</p>"
    first, second = identifiers(TALK + uid, TALK + uid)

    assert (first, second != first) == ("talk-1", True)


def test_IC13_an_identifier_that_is_very_long_is_made_short() -> None:
    (first,), (again,) = identifiers(TALK + f"<p itemprop=uid>{'x' * 2000}</p>"), identifiers(TALK)
    page = read(f"<div itemscope itemid='urn:{'x' * 2000}' itemtype={VEVENT}>{TALK}</div>")

    assert (len(first), len(str(parts_of(calendar(page))[1]["UID"]))) == (1000, len(again))


@pytest.mark.parametrize(
    "start", ["", "<p itemprop=dtstart>9pm</p>", "<time itemprop=dtstart datetime=2009-05-05T24:00Z>x</time>"]
)
def test_an_event_without_a_date_stands_in_no_calendar_and_the_others_do(start: str) -> None:
    undated = f"<div itemscope itemtype={VEVENT}><p itemprop=summary>Some day</p>{start}</div>"
    page = read(f"{undated}<div itemscope itemtype={VEVENT}>{TALK}</div>{undated}")

    written, problems = write_calendar(page, now=NOW, product=PRODUCT)

    assert [str(one["SUMMARY"]) for one in parts_of(written or "")[1:]] == ["Talk"]
    assert [told.partition(":")[0] for told in problems] == ["2 events without a date are left out"]


@pytest.mark.parametrize("which", [None, 1])
def test_where_no_event_has_a_date_there_is_no_calendar(which: int | None) -> None:
    page = read(f"<div itemscope itemtype={VEVENT}><p itemprop=summary>Some day</p></div>")

    assert write_calendar(page, now=NOW, product=PRODUCT, which=which) == (
        None,
        ('1 event without a date is left out: event 1 "Some day"',),
    )
    assert "SUMMARY:Some day" in calendar(page, "text")


@pytest.mark.parametrize(
    ("part", "frequencies"),
    [
        ("BYMONTHDAY=1", "HOURLY DAILY MONTHLY YEARLY"),
        ("BYYEARDAY=1", "HOURLY YEARLY"),
        ("BYWEEKNO=1", "YEARLY"),
        ("BYDAY=-1MO", "MONTHLY YEARLY"),
        ("BYDAY=MO", "HOURLY DAILY WEEKLY MONTHLY YEARLY"),
    ],
)
def test_each_part_of_a_rule_goes_with_some_frequencies(part: str, frequencies: str) -> None:
    every = ("HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")

    kept = [one for one in every if fit_rule(f"FREQ={one};{part}", When("20090505T190000Z")) is not None]

    assert " ".join(kept) == frequencies


@pytest.mark.parametrize(
    ("start", "rule", "written"),
    [
        ("2009-05-05", "FREQ=DAILY;UNTIL=20090601T120000Z", "FREQ=DAILY;UNTIL=20090601"),
        ("2009-05-05T19:00Z", "FREQ=DAILY;UNTIL=20090601", "FREQ=DAILY;UNTIL=20090601T235959Z"),
        ("2009-05-05T19:00Z", "FREQ=DAILY;UNTIL=20090601T120000", "FREQ=DAILY;UNTIL=20090601T120000Z"),
        ("2009-05-05T19:00", "FREQ=DAILY;UNTIL=20090601T120000Z", "FREQ=DAILY;UNTIL=20090601T120000"),
        ("2009-05-05", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0", "FREQ=DAILY"),
        ("2009-05-05", "FREQ=HOURLY;COUNT=2", None),
        ("2009-05-05T19:00Z", "FREQ=HOURLY;BYHOUR=9,10", "FREQ=HOURLY;BYHOUR=9,10"),
        ("2009-05-05T19:00Z", "FREQ=SECONDLY", None),
        ("2009-05-05T19:00Z", "FREQ=MINUTELY;COUNT=5", None),
        ("2009-05-05T19:00Z", "FREQ=WEEKLY;BYDAY=1MO", None),
        ("2009-05-05T19:00Z", "FREQ=YEARLY;BYDAY=1MO", "FREQ=YEARLY;BYDAY=1MO"),
        ("2009-05-05T19:00Z", "FREQ=YEARLY;BYDAY=1MO;BYWEEKNO=2", None),
        ("2009-05-05T19:00Z", "FREQ=WEEKLY;BYMONTHDAY=1", None),
        ("2009-05-05T19:00Z", "FREQ=MONTHLY;BYYEARDAY=1", None),
        ("2009-05-05T19:00Z", "FREQ=MONTHLY;BYSETPOS=1", None),
        ("2009-05-05T19:00Z", "FREQ=MONTHLY;BYSETPOS=-1;BYDAY=FR", "FREQ=MONTHLY;BYSETPOS=-1;BYDAY=FR"),
    ],
)
def test_a_rule_is_written_as_it_may_stand_beside_its_start(start: str, rule: str, written: str | None) -> None:
    lines = event(f"<p itemprop=dtstart>{start}</p><p itemprop=rrule>{rule}</p>")

    assert lines[1:] == ([] if written is None else [f"RRULE:{written}"])


def test_IC13_an_event_alone_has_the_identifier_that_it_has_among_all() -> None:
    page = read(f"<div itemscope itemtype={VEVENT}>{TALK}</div>" * 3)

    alone = parts_of(to_icalendar(page, which=3) or "")[1:]
    among = parts_of(calendar(page))[1:]

    assert [one["UID"] for one in alone] == [among[2]["UID"]]


def test_icalendar_and_vobject_read_what_the_page_says() -> None:
    html = (
        f"<div itemscope itemtype={VEVENT}>{TALK}<time itemprop=dtend datetime=2009-05-05T21:00+01:00>x</time>"
        "<p itemprop=location>Hall 1; left, at the end</p><p itemprop=geo>50.5;-1.5</p>"
        "<p itemprop=rrule>FREQ=WEEKLY;COUNT=2</p></div>"
        f"<div itemscope itemtype={VEVENT}><p itemprop=dtstart>2009-05-05</p><p itemprop=duration>P2D</p></div>"
    )
    written = calendar(read(html))
    _, first, second = parts_of(written)
    (read_again,) = components_of(written)

    assert (first.start, first.end) == (datetime(2009, 5, 5, 19, tzinfo=UTC), datetime(2009, 5, 5, 20, tzinfo=UTC))
    assert str(first["LOCATION"]) == read_again.vevent_list[0].location.value == "Hall 1; left, at the end"
    assert (first["GEO"].latitude, first["RRULE"]["COUNT"]) == (50.5, [2])
    assert (second.start, second.duration) == (date(2009, 5, 5), timedelta(days=2))
    assert read_again.validate(raiseException=True)


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=YEARLY;UNTIL=20091231T235959Z;INTERVAL=2;BYMONTH=1,12;BYMONTHDAY=-1,31;WKST=SU",
        "FREQ=MONTHLY;BYSETPOS=-1;BYDAY=MO,TU;BYHOUR=8;BYMINUTE=30;BYSECOND=0;BYWEEKNO=53;BYYEARDAY=366",
    ],
)
def test_a_recurrence_rule_is_known_by_its_parts(rule: str) -> None:
    assert read_rule(rule.lower()) == rule


@pytest.mark.parametrize(
    "text",
    [
        *("", "COUNT=2", "FREQ=FORTNIGHTLY", "FREQ=DAILY;", "FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY;COUNT=0"),
        *("FREQ=DAILY;COUNT=2;UNTIL=20091231", "FREQ=DAILY;UNTIL=20091301", "FREQ=DAILY;BYDAY=XX", "FREQ=DAILY\nX:y"),
        *("FREQ=DAILY;X-OWN=1", "FREQ=DAILY;BYMONTH=13", "FREQ=DAILY;BYHOUR=24", f"FREQ=DAILY;BYHOUR={'1,' * 999}1"),
    ],
)  # fmt: skip
def test_what_is_no_recurrence_rule_is_none(text: str) -> None:
    assert read_rule(text) is None


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


def problems(*events: str) -> tuple[str, ...]:
    """What is said to be left out of the calendar of events with these properties."""
    page = read("".join(f"<div itemscope itemtype={VEVENT}>{html}</div>" for html in events))
    return write_calendar(page, now=NOW, product=PRODUCT).problems


DATED = "<p itemprop=dtstart>2009-05-05</p>"


@pytest.mark.parametrize(
    ("html", "told"),
    [
        ("", "event 2"),
        ("<p itemprop=summary> Jazz\n night </p>", 'event 2 "Jazz night"'),
        (
            "<p itemprop=summary>Jazz</p><p itemprop=dtstart>2026-02-30</p>",
            'event 2 "Jazz" (dtstart "2026-02-30" is no date)',
        ),
        ("<p itemprop=DTSTART>1. Juni</p>", 'event 2 (dtstart "1. Juni" is no date)'),
        (f"<p itemprop=summary>{'x' * 61}</p>", f'event 2 "{"x" * 60}…"'),
        ("<p itemprop=summary>a\x1b[31m&#x202E;b</p>", 'event 2 "a\ufffd[31m\ufffdb"'),
    ],
)
def test_an_event_without_a_date_is_named(html: str, told: str) -> None:
    assert problems(DATED, html) == (f"1 event without a date is left out: {told}",)


def test_of_many_events_without_a_date_the_first_are_named() -> None:
    assert problems(*["<p itemprop=summary>Jazz</p>"] * 1005) == (
        '1,005 events without a date are left out: event 1 "Jazz", event 2 "Jazz", event 3 "Jazz", and 1,002 more',
    )


@pytest.mark.parametrize(
    ("html", "named"),
    [
        ("<p itemprop=organizer>Ann</p><p itemprop=organizer itemscope></p>", "organizer (2)"),
        ("<p itemprop=Location itemscope></p><p itemprop=geo>north</p>", "geo, location"),
        ("<p itemprop=dtend>2009-05-04</p><p itemprop=status>maybe</p>", "dtend, status"),
        (
            "".join(f"<p itemprop=x{at} itemscope></p>" for at in range(10)),
            "x0, x1, x2, x3, x4, x5, x6, x7, and 2 more",
        ),
    ],
)
def test_values_that_no_calendar_takes_are_named_by_their_properties(html: str, named: str) -> None:
    assert problems(DATED + html) == (f"values that calendars do not take are left out: {named}",)


@pytest.mark.parametrize(
    "html",
    [
        *("<p itemprop=organizer> </p>", "<a itemprop=organizer href=mailto:a@b.example>x</a>", "<p itemprop=x>y</p>"),
        *("<p itemprop=summary>a</p><p itemprop=summary>b</p>", "<p itemprop='a.b begin'>x</p>"),
    ],
)
def test_where_every_value_is_taken_nothing_is_said(html: str) -> None:
    assert problems(DATED + html) == ()


def test_to_the_letter_nothing_is_left_out() -> None:
    page = read(f"<div itemscope itemtype={VEVENT}><p itemprop=geo>north</p><p itemprop=location itemscope></p></div>")

    assert write_calendar(page, profile="text", now=NOW, product=PRODUCT).problems == ()


def test_values_that_no_address_book_takes_are_named_by_their_properties() -> None:
    page = read(
        f"<div itemscope itemtype={HCARD}><p itemprop=fn>Ann</p><p itemprop=bday>May</p><a itemprop=url>x</a>"
        "<p itemprop=photo>me.png</p><a itemprop=x-a href=javascript:x>x</a></div>"
    )

    assert write_cards(page).problems == ("values that address books do not take are left out: bday, photo, x-a",)
    assert write_cards(page, profile="text").problems == ()
