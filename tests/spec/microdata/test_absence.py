"""What is said where a page gives nothing in a format."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tocsin.spec.microdata.formats.catalogue import FORMATS, PageSource, convert

PAGE = "https://town.example/"
NOW = datetime(2026, 5, 5, tzinfo=UTC)


def absence(body: str, form: str, profile: str | None = None) -> str | None:
    """What is said of a page."""
    page = PageSource(f"<!doctype html>{body}".encode(), "text/html; charset=utf-8", PAGE)
    return convert(form, page, profile=profile, now=NOW).absence


def item(kind: str) -> str:
    return f"<p itemscope itemtype='{kind}'><b itemprop=name>A</b></p>"


def test_events_of_another_vocabulary_are_named() -> None:
    page = 2 * item("https://schema.org/Event") + item("https://schema.org/WebPage") + "<p itemscope>"

    assert absence(page, "ical") == (
        "no events: ical is made of items of type http://microformats.org/profile/hcalendar#vevent; "
        "this page has 2 https://schema.org/Event, 1 https://schema.org/WebPage, 1 without a type"
    )


def test_parts_of_items_are_not_counted_as_items() -> None:
    page = "<p itemscope itemtype=https://schema.org/Event><b itemprop=a itemscope></b>"
    place = "<b itemprop=b itemscope itemtype=https://schema.org/Place></b>"

    said = absence(page + place, "ical") or ""

    assert said.endswith("this page has 1 https://schema.org/Event, 1 https://schema.org/Place")


def test_of_many_types_the_most_frequent_are_named() -> None:
    page = "".join(item(f"https://example.org/{number}") for number in range(9)) + item("https://example.org/7")

    said = absence(page, "vcard") or ""

    assert said.endswith(
        "this page has 2 https://example.org/7, 1 https://example.org/0, 1 https://example.org/1, 6 of other types"
    )


def test_a_type_may_be_as_long_as_it_likes() -> None:
    assert len(absence(item("https://example.org/" + 10**6 * "a"), "ical") or "") < 250


def test_items_that_belong_to_no_other_are_what_microdata_is_made_of() -> None:
    page = "<p itemscope itemprop=a itemtype=https://schema.org/Person>"

    assert absence(page, "microdata") == (
        "no items: microdata is made of elements with itemscope but no itemprop; this page has 1 https://schema.org/Person"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_where_something_is_written_nothing_is_said_to_be_absent(form: str) -> None:
    made = "<title>T</title><article><h2>A</h2></article>" + item("http://microformats.org/profile/hcard")
    event = "<time itemprop=dtstart>2026-05-05</time>"
    made += f"<p itemscope itemtype='http://microformats.org/profile/hcalendar#vevent'>{event}</p>"

    assert absence(made, form) is None


def test_an_event_that_was_left_out_is_not_said_to_be_absent() -> None:
    assert absence(item("http://microformats.org/profile/hcalendar#vevent"), "ical") is None
