"""Calendars as today's programs take them: where they differ from the letter of the text."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from tests.spec.microdata.cards import NOW, PRODUCT, calendar, components_of, event, parts_of, read, to_icalendar
from tocsin.spec.microdata.formats.icalendar import write_calendar
from tocsin.spec.microdata.formats.recurrence import fit_rule, read_rule
from tocsin.spec.microdata.formats.times import When, export_datetime
from tocsin.spec.microdata.values import VEVENT

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
