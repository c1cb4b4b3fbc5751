"""The formats, and what is said if a page has nothing in one."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import UsageError
from tocsin.spec.extract import extract
from tocsin.spec.microdata.formats import FORMAT_NAMES
from tocsin.spec.microdata.formats.catalogue import FORMATS, PageSource, available_formats, convert
from tocsin.spec.microdata.reading.items import read_items

NOW = datetime(2026, 11, 20, 8, 30, tzinfo=UTC)

PAGE = "https://town.example/news"

EVENT = b'<p itemscope itemtype="http://microformats.org/profile/hcalendar#vevent"><b itemprop=summary>Jazz</b></p>'

CARD = b'<p itemscope itemtype="http://microformats.org/profile/hcard"><b itemprop=fn>Ann</b></p>'

OF_ITEMS = [name for name, way in FORMATS.items() if way.profiles[0] not in way.whole]

PROFILES = [(name, profile) for name, way in FORMATS.items() for profile in way.profiles]


@pytest.mark.parametrize("form", OF_ITEMS)
def test_items_that_were_kept_give_what_their_page_gives(form: str) -> None:
    body = b"<title>T</title>" + EVENT + CARD
    kept = read_items(body, "text/html", address=PAGE)

    assert convert(form, kept, now=NOW) == convert(form, PageSource(body, "text/html", PAGE), now=NOW)


@pytest.mark.parametrize("form", [name for name in FORMATS if name not in OF_ITEMS])
def test_a_format_that_needs_the_page_takes_no_items_for_it(form: str) -> None:
    kept = read_items(EVENT, "text/html", address=PAGE)

    with pytest.raises(UsageError, match=f"{form} needs the page itself"):
        convert(form, kept, now=NOW)


def test_MD18_todays_shape_is_not_made_of_items_that_were_read_to_the_letter() -> None:
    kept = read_items(EVENT, "text/html", address=PAGE)

    with pytest.raises(UsageError, match="microdata needs the page itself"):
        convert("microdata", kept, profile="living")


@pytest.mark.parametrize("form", FORMATS)
def test_a_format_names_the_profiles_that_it_has(form: str) -> None:
    with pytest.raises(UsageError, match=f"{form} has no profile 'none'; choose one of: export, text"):
        convert(form, PageSource(b"", address=PAGE), profile="none", now=NOW)


def test_the_names_are_those_of_the_formats() -> None:
    assert tuple(FORMATS) == FORMAT_NAMES


def test_an_unknown_format_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="no format 'pdf'; there are: microdata, vcard, ical"):
        convert("pdf", PageSource(b""))


@pytest.mark.parametrize("item", [0, -1])
def test_items_are_counted_from_one(item: int) -> None:
    with pytest.raises(UsageError, match="counted from 1"):
        convert("vcard", PageSource(CARD, "text/html", PAGE), item=item)


@pytest.mark.parametrize("form", [name for name, way in FORMATS.items() if way.needs_now])
def test_what_tells_the_time_is_told_it(form: str) -> None:
    with pytest.raises(UsageError, match=f"{form} needs the time"):
        convert(form, PageSource(EVENT, "text/html", PAGE))


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        (b"<p>", ()),
        (b"<p itemscope>", ("microdata",)),
        (EVENT, ("microdata", "ical")),
        (CARD, ("microdata", "vcard")),
        (
            b"<div itemscope>" + CARD.replace(b"itemscope", b"itemscope itemprop=x") + EVENT,
            ("microdata", "vcard", "ical"),
        ),
    ],
)
def test_a_page_has_the_ways_out_that_its_items_allow(body: bytes, ways: tuple[str, ...]) -> None:
    assert available_formats(read_items(body, "text/html", address=PAGE)) == ways


def test_one_item_can_be_had_of_several() -> None:
    found = convert("microdata", PageSource(EVENT + CARD, "text/html", PAGE), item=2)

    assert found.found == 2
    assert '"fn"' in (found.text or "")
    assert '"summary"' not in (found.text or "")


def test_an_item_that_is_not_there_is_no_document_and_said() -> None:
    found = convert("vcard", PageSource(CARD, "text/html", PAGE), item=2)

    assert (found.text, found.problems, found.found) == (None, ("no contact 2: the page has 1 contact",), 1)


@pytest.mark.parametrize(("body", "item"), [(EVENT, 1), (CARD, 2)])
def test_an_event_that_is_there_or_of_which_there_are_none_is_not_said_to_be_missing(body: bytes, item: int) -> None:
    found = convert("ical", PageSource(body, "text/html", PAGE), item=item, now=NOW)

    assert found.text is None
    assert not any(problem.startswith("no event ") for problem in found.problems)


def test_JS04_a_document_that_is_cut_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.spec.microdata.formats.items_json.MOST_LETTERS", 1000)
    body = b"".join(
        b"<p id=a%d itemprop=x itemscope itemref='a%d b%d'><p id=b%d itemprop=y itemscope itemref='a%d b%d'>"
        % (n, n + 1, n + 1, n, n + 1, n + 1)
        for n in range(20)
    )

    found = convert("microdata", PageSource(b"<p itemscope itemref='a0 b0'>" + body, "text/html", PAGE))

    assert found.problems == ("a document of items has at most 16,777,216 letters; the rest is left out",)
    assert '"cut": true' in (found.text or "")


def test_CI08_items_too_deep_within_others_are_said_to_be_that_however_small_the_page_is() -> None:
    body = b"<p itemscope>" + b"<b itemprop=x itemscope>" * 300

    found = convert("microdata", PageSource(body, "text/html", PAGE))

    assert found.problems == ('items are nested more than 128 deep: "ERROR" is written for deeper ones',)
    assert '"cut": true' in (found.text or "")


@given(st.sampled_from(PROFILES), st.binary(max_size=200).map(lambda tail: EVENT + CARD + b"<article>" + tail))
def test_no_bytes_make_a_writer_raise(chosen: tuple[str, str], body: bytes) -> None:
    form, profile = chosen

    found = extract(body, "text/html", form=form, profile=profile, url=PAGE, now=NOW)

    assert found.media_type == FORMATS[form].media_type
    assert found.document is not None or found.no_text or found.problems or not found.is_page


@pytest.mark.parametrize("loaded", ["rdflib", "tocsin.spec.microdata.formats.catalogue"])
def test_extracting_links_loads_no_writer(loaded: str) -> None:
    use = "import sys; from tocsin.spec.extract import extract; extract(b'', form='links')"
    code = f"{use}; sys.exit({loaded!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_writing_a_calendar_loads_no_other_writer() -> None:
    code = """if True:
        import sys, datetime
        from tocsin.spec.extract import extract
        extract(b"", form="ical", url="http://e.example/", now=datetime.datetime.now(datetime.UTC))
        sys.exit(any(name in sys.modules for name in ("rdflib", "tocsin.spec.microdata.formats.atom")))"""

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


ABSENCE_PAGE = "https://town.example/"

ABSENCE_NOW = datetime(2026, 5, 5, tzinfo=UTC)


def absence(body: str, form: str, profile: str | None = None) -> str | None:
    """What is said of a page."""
    page = PageSource(f"<!doctype html>{body}".encode(), "text/html; charset=utf-8", ABSENCE_PAGE)
    return convert(form, page, profile=profile, now=ABSENCE_NOW).absence


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
