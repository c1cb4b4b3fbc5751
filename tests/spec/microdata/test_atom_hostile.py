"""Whatever a page's bytes are, its feed is a feed."""

from __future__ import annotations

from datetime import UTC, datetime

import feedparser  # type: ignore[import-untyped]  # has no types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]  # has no stubs

from tests.server.streams.atom_rules import ATOM, broken_rules
from tocsin.errors import TooComplex
from tocsin.spec.html.writing import read_markup
from tocsin.spec.microdata.formats import atom as module
from tocsin.spec.microdata.formats.atom import Atom, find_articles, to_atom

ADDRESS = "https://garden.example/log"
NOW = datetime(2026, 6, 20, tzinfo=UTC)
HTML = "text/html; charset=utf-8"
XHTML = "application/xhtml+xml"
TOP = '<html xmlns="http://www.w3.org/1999/xhtml"><body>'
PIECES = (
    *("<article>", "<article id=a>", "</article>", "<h1>", "</h1>", "<hgroup>", "<header>", "<nav>", "<blockquote>"),
    *(
        "<time pubdate>2026-06-03",
        "</time>",
        "<ins datetime=2026-06-03T10:00Z>",
        "<a rel=bookmark href='/a b\"'>",
        "</a>",
    ),
    *(
        "\0",
        "\x0b",
        "\ufffe",
        "\ud7ff",
        "&#1;",
        "&#xd800;",
        "&nbsp;",
        "]]>",
        "</feed>",
        "<![CDATA[",
        "&amp;lt;",
        "<!--",
    ),
    *("<base href=//[>", "<base href=/b/>", "<meta name=author content='\x0c'>", "<link rel=icon href='\ufffe'>", "\r"),
    *("<template>", "</template>", "<svg>", "<script>", "</script>", "<plaintext>", "text", "<p title='\x1f&quot;'>"),
)


def convert(body: bytes, content_type: str = HTML) -> Atom:
    try:
        return to_atom(body, content_type, address=ADDRESS, now=NOW, self_url="/x")
    except TooComplex:
        return Atom(None)


def feed_of(found: Atom) -> etree._Element:
    assert found.text is not None
    return etree.fromstring(found.text.encode())


@settings(max_examples=80)
@given(
    st.binary(max_size=300),
    st.sampled_from((HTML, XHTML, "text/html; charset=utf-16", "text/html; charset=iso-2022-jp")),
)
def test_any_bytes_become_a_feed_or_nothing(body: bytes, content_type: str) -> None:
    found = convert(b"<article>" + body, content_type)

    if found.text is not None:
        assert feed_of(found).tag == f"{ATOM}feed"


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_readers_see_as_many_entries_as_there_are_articles(html: str) -> None:
    body = f"<!DOCTYPE html>{html}".encode(errors="replace")

    found = convert(body)

    root = read_markup(body, HTML).root
    assert root is not None
    articles = list(find_articles(root))
    if found.text is None:
        assert not articles
        return
    seen = feedparser.parse(found.text.encode())
    assert (seen.bozo, len(seen.entries)) == (False, len(articles))
    assert [rule for rule in broken_rules(found.text.encode()) if "has an author" not in rule] == []


@settings(max_examples=60)
@given(st.lists(st.sampled_from(("<a>", "</a>", "<p>", "</p>", "&c;", "&#13;", "<b xmlns='d' e:f=''/>")), max_size=12))
def test_xhtml_becomes_a_feed_however_it_ends(pieces: list[str]) -> None:
    found = convert(f"{TOP}<article xmlns:e='g'>{''.join(pieces)}".encode(), XHTML)

    assert len(feed_of(found).findall(f"{ATOM}entry")) == 1


def test_what_xml_cannot_hold_is_replaced_and_said() -> None:
    found = convert(b"<title>a</title><meta name=author content=b><article>\x0b&#xfffe;\xef\xbf\xbf&#13;</article>")

    assert feed_of(found).findtext(f"{ATOM}entry/{ATOM}content") == "\ufffd\ufffd\ufffd\r"
    assert found.problems[1:] == ("characters that XML does not allow became U+FFFD",)


def test_what_there_is_no_room_for_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LETTERS", 3000)
    page = f"<article>{'a' * 3000}</article>{'<article>b</article>' * 20}"

    found = convert(page.encode())

    entries = feed_of(found).findall(f"{ATOM}entry/{ATOM}content")
    assert {each.text for each in entries} == {"b"}
    assert len(found.text or "") < 3000
    assert (
        found.problems[-1] == f"{21 - len(entries)} articles are left out: a feed of this page has at most 3000 letters"
    )


def test_a_title_that_there_is_no_room_for_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LETTERS", 3000)

    found = convert(f"<h1>{'a' * 3001}</h1><article>b</article>".encode())

    assert (feed_of(found).findtext(f"{ATOM}title"), len(feed_of(found).findall(f"{ATOM}entry"))) == ("", 1)


@pytest.mark.parametrize(
    "page",
    [
        "<article><h1>a</h1>" * 3000,
        "<h1><article>" * 2000,
        f"<base href=/{'a' * 8000}/>{'<article><a rel=bookmark href=b></a></article>' * 2000}",
        f"<article id='{' ' * 1_000_000}'>a",
        f"<article>{'<time pubdate>' * 3000}2026-06-03T10:00:{'1' * 100_000}</article>",
        f"<article><hgroup>{'<h2>a</h2>' * 10_000}</hgroup></article>",
    ],
)
def test_a_page_that_is_made_to_be_slow_or_large_is_neither(page: str) -> None:
    found = convert(page.encode())

    assert len(found.text or "") < 64 * len(page) + 1024 * 1024


def test_entities_of_a_page_of_its_own_making_are_not_expanded() -> None:
    doctype = '<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>'

    found = convert(f"{doctype}{TOP}<article>c&a;&b;</article></body></html>".encode(), XHTML)

    content = feed_of(found).find(f"{ATOM}entry/{ATOM}content")
    assert "".join(content.itertext()) == "c"
