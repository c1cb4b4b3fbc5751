"""Feeds stay feeds, and what pages say stays text, whatever that is."""

from __future__ import annotations

from uuid import UUID

import feedparser  # type: ignore[import-untyped]  # has no types
import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]  # has no stubs
from ulid import ULID

from tests.alert_examples import examples
from tests.fakes import START
from tests.server.streams.atom_rules import ATOM, broken_rules
from tocsin.events import CHANGED, SUSPECT, UNREACHABLE
from tocsin.model import AlertRow, JsonObject
from tocsin.server.streams.atom import AtomFeed, FeedLink, entry_of, urn_of, write_feed

OURS = "https://tocsin.example.org"
HOSTILE = (
    "<script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "</content></entry></feed>",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    "a\0b\x1b[31m\ufffe\x7f",
    "\r\n\u2028\u2029",
)
TEXTS = st.text(st.sampled_from("<>&\"']]\0\x0b\ufffe\u2028ab ") | st.characters(codec="utf-8"), max_size=20)


def row_of(event: JsonObject, position: int = 1, page_id: int | None = 812) -> AlertRow:
    return AlertRow(event["id"], position, event["type"], page_id, event["subject"], START, event)


def feed_of(*rows: AlertRow, public_url: str = "") -> bytes:
    entries = [entry_of(row, public_url) for row in rows]
    link = FeedLink("next", "/feed.atom?cursor=abc")
    return write_feed(
        AtomFeed("urn:uuid:7570ed79-a0b6-5666-862e-8f5f36da26b2", "tocsin", START, "tocsin", (link,), "Tocsin", entries)
    )


def changed(**data: object) -> JsonObject:
    page = {"id": "812", "url": "https://example.org/", "group": "main", "text": None}
    rest = {"page": page, "outcome": "major", "rule": "T44", "basis": "declared", **data}
    return {"id": "01M7YK5H237GT4RGC9XCQHXN3Y", "type": CHANGED, "subject": "https://example.org/", "data": rest}


def content(document: bytes) -> str:
    return etree.fromstring(document).findtext(f"{ATOM}entry/{ATOM}content") or ""


def in_browser(document: bytes) -> etree._Element:
    """The content as a browser reads it."""
    tree: etree._Element = html5lib.parse(content(document), treebuilder="lxml", namespaceHTMLElements=False)
    return tree


@pytest.mark.parametrize("public_url", ["", OURS])
def test_a_feed_of_every_kind_of_alert_is_valid(public_url: str) -> None:
    rows = [row_of(event, place) for place, event in enumerate(examples())]
    document = feed_of(*rows, public_url=public_url)

    read = feedparser.parse(document)

    assert broken_rules(document) == []
    assert (read.bozo, read.version, len(read.entries)) == (False, "atom10", len(rows))


@settings(max_examples=60)
@given(TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2))
def test_whatever_a_page_says_the_feed_is_valid_and_says_just_that(
    title: str, before: str, text: str, lines: list[str]
) -> None:
    event = changed(
        rendering={"title": title},
        changes=[{"field": "topper-major", "previous": before, "latest": text}],
        difference={"added": lines, "removed": [], "cut": False},
    )

    document = feed_of(row_of(event))

    assert broken_rules(document) == []
    tags = {element.tag for element in in_browser(document).iter()}
    known = {"html", "head", "body", "p", "strong", "a", "table", "tbody", "tr", "th", "td", "ul", "li", "ins"}
    assert tags <= known


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_shown_and_never_run(hostile: str) -> None:
    """Counterparts: CVE-2025-52558 and CVE-2026-27645 (changedetection.io), scripts in the RSS feed of a page."""
    event = changed(
        page={"id": "812", "url": "https://example.org/", "group": hostile, "text": hostile},
        changes=[{"field": hostile, "previous": hostile, "latest": hostile}],
        difference={"added": [hostile], "removed": [hostile], "cut": True},
        trace=[{"rule": "T44", "says": "major", "why": hostile}],
        rendering={"error": {"kind": "status", "message": hostile}},
    )

    document = feed_of(row_of(event))

    shown = in_browser(document)
    assert broken_rules(document) == []
    assert not {"script", "img", "iframe"} & {element.tag for element in shown.iter()}
    assert {name for element in shown.iter() for name in element.attrib} == {"href"}
    assert b"]]>" not in document


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "JAVASCRIPT:alert(1)", "file:///etc/passwd"]
)
def test_only_addresses_of_the_web_are_linked(url: str) -> None:
    """Counterpart: GHSA-44pq-9929-f8mq (CommaFeed), `javascript:` URLs served on."""
    event = changed(page={"id": "812", "url": url, "group": "main", "text": "A"})

    document = feed_of(row_of(event))

    assert b"href" not in content(document).encode()
    assert etree.fromstring(document).find(f"{ATOM}entry/{ATOM}link") is None


def test_a_url_that_is_no_iri_is_written_as_one() -> None:
    page = {"id": "812", "url": "https://example.org/a|b{d}^`\\ä", "group": "main", "text": None}

    document = feed_of(row_of(changed(page=page)))

    assert document.count("https://example.org/a%7Cb%7Bd%7D%5E%60%5Cä".encode()) == 2


def test_entries_link_to_our_page_and_to_the_watched_one_or_to_that_alone() -> None:
    ours, alone = entry_of(row_of(changed()), OURS), entry_of(row_of(changed()), "")

    assert [(link.rel, link.href) for link in ours.links] == [
        ("alternate", "https://tocsin.example.org/pages/812"),
        ("related", "https://example.org/"),
    ]
    assert [(link.rel, link.href) for link in alone.links] == [("alternate", "https://example.org/")]


def test_T60_a_question_links_to_where_it_is_answered() -> None:
    event = next(event for event in examples() if event["type"] == UNREACHABLE)

    entry = entry_of(row_of(event), OURS)

    assert entry.links[0].href == "https://tocsin.example.org/questions/77"


def test_an_entrys_id_is_the_alerts_for_ever() -> None:
    ulid = ULID.from_str("01M7YK5H237GT4RGC9XCQHXN3Y")

    assert urn_of(str(ulid)) == UUID(int=int(ulid)).urn == entry_of(row_of(changed()), OURS).id


@pytest.mark.parametrize("odd", ["", "x", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01M7YK5H237GT4RGC9XCQHXN3u", "ä" * 26])
def test_an_id_of_another_kind_has_a_urn_of_its_own(odd: str) -> None:
    assert UUID(urn_of(odd)).version == 5
    assert urn_of(odd) == urn_of(odd) != urn_of(odd + "x")


def test_an_entry_says_what_happened_by_which_rule_and_on_what_basis() -> None:
    event = changed(
        rendering={"title": "News"},
        changes=[{"field": "topper-major", "previous": None, "latest": "2026-01-02"}],
        difference={"added": ["We moved."], "removed": [], "cut": False},
        trace=[{"rule": "T44", "says": "major", "why": "topper-major changed"}],
    )

    entry = entry_of(row_of(event), OURS)

    assert entry.title == "Major change: News"
    assert entry.summary.startswith("topper-major changed (T44).")
    assert "<td>topper-major</td><td>none</td><td>2026-01-02</td>" in entry.content
    assert "<ins>We moved.</ins>" in entry.content


def test_MD19_an_entry_says_what_became_of_the_items_that_the_page_holds() -> None:
    event = next(each for each in examples() if each["type"] == CHANGED)

    content = entry_of(row_of(event), OURS).content

    assert "<li>dtstart of &quot;Bluesday Tuesday&quot;: 2009-05-05 → 2009-05-06</li>" in content


def test_hostile_items_are_text_in_an_entry() -> None:
    event = changed()
    item = {"type": HOSTILE[0], "id": None, "position": 1, "label": HOSTILE[1]}
    row = {"change": "changed", "item": item, "within": [], "property": HOSTILE[0], "previous": [HOSTILE[2]]}
    changes = [{**row, "latest": [HOSTILE[4]]}] * 60
    event["data"]["items"] = {"added": 0, "removed": 0, "changed": 60, "cut": True, "changes": changes}

    content = entry_of(row_of(event), OURS).content

    assert "<script" not in content
    assert content.count("&lt;script&gt;") >= 50
    assert "More of its items changed." in content
    assert broken_rules(feed_of(row_of(event))) == []


def test_long_texts_are_cut_so_that_thirty_entries_stay_a_feed() -> None:
    event = changed(
        rendering={"title": "x" * 100_000},
        changes=[{"field": "topper", "previous": "y" * 100_000, "latest": "z" * 100_000}],
        difference={"added": ["w" * 100_000] * 200, "removed": [], "cut": False},
    )

    assert len(feed_of(row_of(event))) < 150_000
    assert "There is more" in entry_of(row_of(event), "").content


def test_what_stands_in_a_pages_place_is_told_of() -> None:
    event = next(event for event in examples() if event["type"] == SUSPECT)

    assert "not HTML but PDF" in entry_of(row_of(event), "").summary


BROKEN = {
    b"<id>urn:uuid:7570ed79-a0b6-5666-862e-8f5f36da26b2</id>": (b"", "4.1.1"),
    b"<author><name>tocsin</name></author>": (b"", "4.1.1"),
    b"<updated>2026": (b"<updated>26", "3.3"),
    b'rel="next"': (b'rel=""', "4.2.7"),
    b"<title>Major": (b"<title><b/>Major", "3.1.1"),
    b"<category term=": (b"<category label=", "4.2.2.1"),
    b"<generator>": (b"<rights>a</rights><rights>b</rights><generator>", "4.1.1"),
}


@pytest.mark.parametrize("part", BROKEN)
def test_the_rules_notice_what_is_broken(part: bytes) -> None:
    document, (put, section) = feed_of(row_of(changed())), BROKEN[part]
    assert part in document

    assert any(found.startswith(section) for found in broken_rules(document.replace(part, put, 1)))
