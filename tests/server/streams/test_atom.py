"""Feeds of changes as Atom: valid, conditional, and hostile text stays text."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any
from uuid import UUID

import feedparser  # type: ignore[import-untyped]  # has no types
import html5lib
import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]  # has no stubs
from ulid import ULID

from tests.alert_examples import examples
from tests.contract.desk import Desk as Store
from tests.contract.desk import alert, new_page
from tests.fakes import START
from tests.house.sources import ROOT
from tests.server.rig import Rig, served
from tests.server.streams.atom_rules import ATOM, broken_rules
from tests.server.streams.conftest import Desk
from tocsin.events import CHANGED, SUSPECT, UNREACHABLE
from tocsin.model import AlertRow, JsonObject, Scope
from tocsin.server.streams import events, feed
from tocsin.server.streams.feed import ENTRIES, AtomFeed, FeedLink, entry_of, urn_of, write_feed

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
    assert entry.summary.startswith("The page says so itself: its list of major changes is another one (T44).")
    assert "<td>topper-major</td><td></td><td>2026-01-02</td>" in entry.content
    assert "<ins>We moved.</ins>" in entry.content


@pytest.mark.parametrize(
    ("witness", "words"),
    [
        (
            {"signal": "json-ld.modified", "value": "2026-01-02", "since": "2026-02-03T04:05:06.000Z"},
            "its date in JSON-LD says “2 January 2026” (T44).</p>\n<p>This has been so since 3 February 2026, 04:05.",
        ),
        (
            {"signal": "content", "value": None, "since": None},
            "The page declares a change, but its text is the same (T44).",
        ),
    ],
)
def test_an_entry_of_a_contradicted_change_names_its_witness(witness: JsonObject, words: str) -> None:
    assert words in content(feed_of(row_of(changed(basis="contradicted", witness=witness))))


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


URL = "https://example.org/"


async def publish(rig: Rig, number: int = 1, *, group: str = "main", page_id: int = 1, outcome: str = "major") -> None:
    for _ in range(number):
        draft = alert("x", page_id, CHANGED, rig.clock.now())
        id_ = rig.app.state.parts.chance.ulid(rig.clock.now())
        page = {"id": str(page_id), "url": URL, "group": group, "text": None}
        draft.event.update(id=id_, subject=URL, type=CHANGED, data={"page": page, "outcome": outcome})
        await rig.store.write_alert(type(draft)(id_, CHANGED, page_id, rig.clock.now(), draft.event))


async def test_the_latest_alerts_come_first_as_a_valid_feed(rig: Rig, local: httpx.AsyncClient) -> None:
    await publish(rig, ENTRIES + 1)

    found = await local.get("/feed.atom")

    read = feedparser.parse(found.content)
    latest = await rig.store.alerts(limit=1)
    assert found.headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert broken_rules(found.content) == []
    assert (read.bozo, len(read.entries)) == (False, ENTRIES)
    assert read.entries[0].id == urn_of(latest[0].id)


async def test_a_feed_without_alerts_is_valid(local: httpx.AsyncClient) -> None:
    assert broken_rules((await local.get("/feed.atom")).content) == []


async def test_a_feed_goes_on_to_the_very_first_alert(rig: Rig, local: httpx.AsyncClient) -> None:
    await publish(rig, 2 * ENTRIES + 3)
    ids, path = [], "/feed.atom"

    while path:
        read = feedparser.parse((await local.get(path)).content)
        ids += [entry.id for entry in read.entries]
        path = next((link.href for link in read.feed.get("links", ()) if link.rel == "next"), "")

    assert len(ids) == len(set(ids)) == 2 * ENTRIES + 3


async def test_a_group_a_page_and_an_outcome_have_feeds_of_their_own(rig: Rig, local: httpx.AsyncClient) -> None:
    await rig.store.add_pages(
        [new_page("https://example.org/1"), new_page("https://example.org/2", group="news & more/all")], 1
    )
    await publish(rig, 1, page_id=1)
    await publish(rig, 2, page_id=2, group="news & more/all", outcome="minor")

    numbers = {
        path: len(feedparser.parse((await local.get(path)).content).entries)
        for path in (
            "/feed.atom",
            "/feed.atom?outcome=major",
            "/groups/news%20%26%20more%2Fall/feed.atom",
            "/pages/2/feed.atom",
            "/pages/1/feed.atom",
            "/feed.atom?host=example.org&outcome=minor",
            "/pages/1/feed.atom?host=*.example.org",
        )
    }

    assert list(numbers.values()) == [3, 1, 2, 2, 1, 2, 0]


@pytest.mark.parametrize(
    "path", ["/groups/none/feed.atom", "/pages/99/feed.atom", "/pages/0/feed.atom", f"/pages/{2**70}/feed.atom"]
)
async def test_what_is_not_there_has_no_feed(local: httpx.AsyncClient, path: str) -> None:
    found = await local.get(path)

    assert found.status_code == 404
    assert found.json()["mend"]


async def test_a_cursor_that_was_made_up_is_refused(local: httpx.AsyncClient) -> None:
    found = await local.get("/feed.atom?cursor=made-up")

    assert found.status_code == 422
    assert "cursor" in found.json()["detail"]


@pytest.mark.parametrize("said", ["{tag}", "{strong}", '"other", {tag}', "*"])
async def test_whoever_has_the_latest_alert_is_sent_nothing(rig: Rig, local: httpx.AsyncClient, said: str) -> None:
    await publish(rig)
    tag = (await local.get("/feed.atom")).headers["etag"]
    known = {"If-None-Match": said.format(tag=tag, strong=tag.removeprefix("W/"))}

    again = await local.get("/feed.atom", headers=known)
    await publish(rig)
    changed = await local.get("/feed.atom", headers={"If-None-Match": tag})

    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert changed.status_code == 200


async def test_a_tag_counts_more_than_a_date(rig: Rig, local: httpx.AsyncClient) -> None:
    await publish(rig)
    known = {"If-None-Match": '"other"', "If-Modified-Since": formatdate(4e9, usegmt=True)}

    assert (await local.get("/feed.atom", headers=known)).status_code == 200


async def test_a_date_tells_of_every_later_alert_even_one_of_the_same_second(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    await publish(rig)
    await local.get("/feed.atom")
    await rig.clock.advance(5)
    first = (await local.get("/feed.atom")).headers["last-modified"]
    same = await local.get("/feed.atom", headers={"If-Modified-Since": first})
    # An alert that was decided long before it is published is no less new.
    await publish(rig)
    second = await local.get("/feed.atom", headers={"If-Modified-Since": first})
    await publish(rig)
    third = await local.get("/feed.atom", headers={"If-Modified-Since": first})
    await rig.clock.advance(5)
    last = (await local.get("/feed.atom")).headers["last-modified"]

    assert (same.status_code, second.status_code, third.status_code) == (304, 200, 200)
    # A date that is this very second's could be that of the next alert, too.
    assert "last-modified" not in second.headers
    assert (await local.get("/feed.atom", headers={"If-Modified-Since": last})).status_code == 304


async def test_of_several_nodes_none_gives_a_date_and_the_tag_is_the_same_at_each(tmp_path: Path) -> None:
    desk = await Store.at(tmp_path, "postgresql")
    try:
        answers = []
        for _ in range(2):
            async with served(desk.store) as rig, rig.asking() as reader:
                await rig.clock.advance(3600)
                answers.append(await reader.get("/feed.atom"))
                dated = await reader.get("/feed.atom", headers={"If-Modified-Since": formatdate(4e9, usegmt=True)})
                tagged = await reader.get("/feed.atom", headers={"If-None-Match": answers[0].headers["etag"]})
    finally:
        await desk.store.close()
        desk.behind.remove()

    assert ["last-modified" in answer.headers for answer in answers] == [False, False]
    assert (dated.status_code, tagged.status_code) == (200, 304)


@pytest.mark.parametrize("said", ["", "yesterday", "Thu, 32 Foo 2026 99:99:99 GMT", "Thu, 01 Jan 99999 00:00:00 GMT"])
async def test_a_date_that_is_none_counts_for_nothing(rig: Rig, local: httpx.AsyncClient, said: str) -> None:
    await publish(rig)
    await rig.clock.advance(5)

    assert (await local.get("/feed.atom", headers={"If-Modified-Since": said})).status_code == 200


async def test_feed_readers_log_in_with_a_token_as_password(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    basic = {"Authorization": f"Basic {b64encode(f'anybody:{token}'.encode()).decode()}"}

    async with rig.asking() as asked:
        refused, given = await asked.get("/feed.atom"), await asked.get("/feed.atom", headers=basic)

    assert (refused.status_code, given.status_code) == (401, 200)
    assert 'Basic realm="Tocsin"' in refused.headers["www-authenticate"]


async def test_links_are_made_of_the_configured_address_and_of_no_other(rig: Rig) -> None:
    """Counterpart: GHSA-hp8h-jqfm-v7x5 (CommaFeed), links made of a forged Host header."""
    await publish(rig, ENTRIES + 1)
    token = await rig.token(Scope.READ)
    async with rig.asking(token) as asked:
        forged = {"Host": "evil.example"}
        without = (await asked.get("/feed.atom", headers=forged)).text
        rig.service.configure(public_url="https://tocsin.example.org/")
        configured = (await asked.get("/feed.atom", headers=forged)).text

    assert "evil.example" not in without + configured
    assert 'rel="self"' not in without
    assert '<link rel="self" href="https://tocsin.example.org/feed.atom"/>' in configured
    assert 'rel="next" href="https://tocsin.example.org/feed.atom?cursor=' in configured
    assert 'href="https://tocsin.example.org/pages/1"' in configured


DOCUMENT = (ROOT / "docs/following.md").read_text("utf-8")


def told(heading: str) -> list[str]:
    """The first column of the table under this heading."""
    section = DOCUMENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_every_parameter_of_the_stream_is_told() -> None:
    (route,) = events.router.routes
    known = {found.alias for found in route.dependant.query_params}  # type: ignore[attr-defined]  # it is FastAPI's

    assert sorted(told("`/events`")) == sorted(known)


def test_every_feed_is_told() -> None:
    routes = feed.router.routes
    paths = [route.path for route in routes]  # type: ignore[attr-defined]  # as above
    known = {re.sub(r"{\w*?(id|name)(?::path)?}", lambda found: found[1].upper(), path) for path in paths}

    assert set(told("Feeds")) == known


def test_the_bounds_are_those_that_are_told() -> None:
    assert f"{events.MOST} streams" in DOCUMENT
    assert f"{events.MOST_OF_A_TOKEN} with one token" in DOCUMENT
    assert f"{events.MOST_OF_AN_ADDRESS} from one address" in DOCUMENT
    assert f"every {events.HEARTBEAT_S:.0f} seconds" in DOCUMENT
    assert "thirty entries" in DOCUMENT
    assert feed.ENTRIES == 30


async def test_the_program_follows_and_takes_up_where_it_was(desk: Desk) -> None:
    scope: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)\n```", DOCUMENT, re.DOTALL)[0], scope)  # noqa: S102 - what readers are to copy
    token = await desk.rig.token(Scope.READ)
    url = f"http://localhost:{desk.address[1]}/events"
    await desk.publish("a", "b", "c")

    def following(position: str) -> Iterator[tuple[str, dict[str, Any]]]:
        found: Iterator[tuple[str, dict[str, Any]]] = scope["follow"](url, token, position)
        return found

    def two(position: str) -> list[tuple[str, str]]:
        stream = following(position)
        heard = [next(stream) for _ in range(2)]
        stream.close()  # type: ignore[attr-defined]  # it is a generator
        return [(place, event["id"]) for place, event in heard]

    first = await asyncio.to_thread(two, "0")
    await desk.publish("d")
    second = await asyncio.to_thread(two, first[-1][0])

    assert first + second == [("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")]
