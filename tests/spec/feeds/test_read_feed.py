"""Feeds of all formats, read whatever they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.feeds import MOST_ENTRIES, MOST_LETTERS_OF_URLS, FeedEntry, ParsedFeed, read_feed

URL = "https://www.example.org/news/feed"


def read(body: str | bytes, content_type: str | None = None) -> ParsedFeed:
    feed = read_feed(body.encode() if isinstance(body, str) else body, content_type, URL)
    assert feed is not None
    return feed


def entry_of(body: str | bytes, content_type: str | None = None) -> FeedEntry:
    (entry,) = read(body, content_type).entries
    return entry


def rss(item: str, *, attributes: str = "") -> str:
    return f'<?xml version="1.0"?><rss version="2.0"{attributes}><channel><title>N</title>{item}</channel></rss>'


def atom(entry: str, *, attributes: str = "") -> str:
    return f'<feed xmlns="http://www.w3.org/2005/Atom"{attributes}><updated>2020</updated>{entry}</feed>'


DC = ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:a="http://www.w3.org/2005/Atom"'


def test_rss_gives_its_items() -> None:
    feed = read(
        rss(
            "<lastBuildDate>Sat, 21 Nov 2026 12:00:00 GMT</lastBuildDate><item><title>A &amp;amp; B</title>"
            "<link>https://example.net/a?x=1&amp;y=2</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate>"
            "<description>&lt;p&gt;It &lt;b&gt;is&lt;/b&gt;.</description></item><item><link>/b</link></item>"
        )
    )

    assert (feed.kind, feed.problem) == ("rss", None)
    assert feed.entries == (
        FeedEntry("https://example.net/a?x=1&y=2", "Sat, 21 Nov 2026 10:00:00 GMT", "A & B", "It is ."),
        FeedEntry("https://www.example.org/b", None, "", ""),
    )


def test_atom_gives_its_entries() -> None:
    feed = read(
        atom(
            '<entry><title type="html">A &lt;i&gt;b&lt;/i&gt;</title><link rel="edit" href="/edit"/><link href="../a"/>'
            "<id>urn:x</id><updated>2026-11-21T10:00:00Z</updated><published>2020-01-01</published>"
            '<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>one</p><p>two</p></div></content>'
            "<source><updated>2019</updated><title>other</title><link href='/other'/></source></entry>"
        )
    )

    assert feed == ParsedFeed(
        "atom", (FeedEntry("https://www.example.org/a", "2026-11-21T10:00:00Z", "A b", "one two"),)
    )


def test_rss_1_gives_its_items_beside_its_channel() -> None:
    entry = entry_of(
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
        f'{DC}><channel rdf:about="/"><title>N</title></channel><item rdf:about="https://example.net/a">'
        "<title>A</title><dc:date>2026-11-21</dc:date></item></rdf:RDF>"
    )

    assert entry == FeedEntry("https://example.net/a", "2026-11-21", "A", "")


def test_json_feed_gives_its_items() -> None:
    feed = read(
        json.dumps(
            {
                "version": "https://jsonfeed.org/version/1.1",
                "items": [
                    {"id": "1", "url": "a", "title": "A", "date_modified": "2026-11-21", "date_published": "2020"},
                    {"id": "https://example.net/b", "content_html": "<p>It is.</p>", "date_published": "2026-11-22"},
                    {"id": 7, "url": ["x"], "external_url": "https://example.net/elsewhere", "title": None},
                    "no object",
                ],
            }
        )
    )

    assert feed == ParsedFeed(
        "json",
        (
            FeedEntry("https://www.example.org/news/a", "2026-11-21", "A", ""),
            FeedEntry("https://example.net/b", "2026-11-22", "", "It is."),
            FeedEntry(None, None, "", ""),
        ),
    )


@pytest.mark.parametrize(
    ("dates", "date"),
    [
        ("<pubDate>P</pubDate><dc:date>D</dc:date><a:updated>U</a:updated>", "U"),
        ("<pubDate>P</pubDate><dc:date>D</dc:date>", "D"),
        ("<pubDate> P\n</pubDate>", "P"),
        ("<pubDate/><a:published>Q</a:published>", "Q"),
        ("<lastBuildDate>L</lastBuildDate>", None),
        ("<media:x xmlns:media='urn:m'><pubDate>P</pubDate></media:x>", None),
        ("<x:pubDate xmlns:x='urn:x'>P</x:pubDate>", None),
    ],
)
def test_the_date_is_the_one_that_tells_of_changes_first(dates: str, date: str | None) -> None:
    assert entry_of(rss(f"<item>{dates}</item>", attributes=DC)).date == date


ORIGIN = "<feedburner:origLink>https://example.net/o</feedburner:origLink>"
SELF = "<a:link rel='self' href='https://example.net/s'/>"


@pytest.mark.parametrize(
    ("links", "url"),
    [
        ("<guid>https://example.net/g</guid>", "https://example.net/g"),
        ('<guid isPermaLink="false">https://example.net/g</guid>', None),
        ("<guid>4711</guid>", None),
        ("<guid>https://example.net/g</guid><link>https://example.net/l</link>", "https://example.net/l"),
        ("<link/><guid>https://example.net/g</guid>", "https://example.net/g"),
        (f"<link>https://example.net/l</link>{ORIGIN}", "https://example.net/o"),
        (f"{SELF}<a:link href='https://example.net/l'/>", "https://example.net/l"),
        ("<link><![CDATA[ https://example.net/?a=1&b=2 ]]></link>", "https://example.net/?a=1&b=2"),
        ("<link>mailto:a@example.net</link>", None),
        ("<link>https://[</link>", None),
        ("<media:link xmlns:media='urn:m'>https://example.net/m</media:link>", None),
    ],
)
def test_the_link_is_the_pages_own(links: str, url: str | None) -> None:
    assert entry_of(rss(f"<item>{links}</item>", attributes=DC)).url == url


@pytest.mark.parametrize(
    ("feed_base", "entry_base", "url"),
    [
        ("", "", "https://www.example.org/news/a"),
        ("https://example.net/x/", "", "https://example.net/x/a"),
        ("/y/", "z/", "https://www.example.org/y/z/a"),
        ("https://[", "", "https://www.example.org/news/a"),
    ],
)
def test_relative_links_heed_the_base_that_is_declared(feed_base: str, entry_base: str, url: str) -> None:
    entry = atom(f'<entry xml:base="{entry_base}"><link href="a"/></entry>', attributes=f' xml:base="{feed_base}"')

    assert entry_of(entry).url == url


def test_a_base_holds_for_its_own_element_only() -> None:
    feed = read(atom('<entry xml:base="/x/"><link href="a"/></entry><entry><link href="a"/></entry>'))

    assert [entry.url for entry in feed.entries] == ["https://www.example.org/x/a", "https://www.example.org/news/a"]


def test_the_longest_text_of_an_entry_is_its_text() -> None:
    content = "<content:encoded><![CDATA[<p>All of it</p><script>x()</script>]]></content:encoded>"

    assert entry_of(rss(f"<item><description>All</description>{content}</item>")).text == "All of it"


def test_prefixes_are_what_they_are_declared_to_be() -> None:
    body = "<x:feed xmlns:x='http://www.w3.org/2005/Atom'><x:entry><x:title>A</x:title></x:entry></x:feed>"

    assert entry_of(body).title == "A"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (rss("<item><title>ü</title></item>").encode("utf-16"), None),
        (rss("<item><title>ü</title></item>").encode("latin-1"), "text/xml; charset=iso-8859-1"),
        (b"\xef\xbb\xbf \n" + rss("<item><title>ü</title></item>").encode(), "text/html"),
        (b"<?xml version='1.0' encoding='iso-8859-1'?><rss><item><title>\xfc</title></item></rss>", None),
    ],
)
def test_any_encoding_is_read(body: bytes, content_type: str | None) -> None:
    assert entry_of(body, content_type).title == "ü"


def test_what_came_before_an_error_stands() -> None:
    feed = read(rss("<item><title>A</title></item><item><title>B</tite></item>"))

    assert [entry.title for entry in feed.entries] == ["A"]
    assert feed.problem is not None
    assert feed.problem.startswith("not well-formed from line 1 on")


def test_references_of_html_and_ampersands_that_are_none_stop_nothing() -> None:
    item = "<item><title>A&nbsp;&LT; B & C</title><link>https://example.net/?a=1&b=2</link></item><item/>"
    feed = read(rss(item + "<!-- & --><item><title><![CDATA[R&D &nbsp;]]></title></item>"))

    assert feed.problem is None
    assert feed.entries[0] == FeedEntry("https://example.net/?a=1&b=2", None, "A < B & C", "")
    assert feed.entries[2].title == "R&D"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"<!doctype html><html><body><p>x",
        b"<html xmlns='http://www.w3.org/1999/xhtml'/>",
        b"<urlset><url><loc>https://example.net/</loc></url></urlset>",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<feed xmlns='urn:other'/>",
        b"<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><person/></r:RDF>",
        b"rss",
        b"%PDF-1.7",
        b'{"items":[]}',
        b'{"version":"1.1","items":[]}',
        b"{",
        b"[1]",
    ],
)
def test_what_is_no_feed_is_none(body: bytes) -> None:
    assert read_feed(body, "application/rss+xml", URL) is None


def test_items_that_are_no_list_are_none() -> None:
    feed = read('{"version":"https://jsonfeed.org/version/1","items":{}}')

    assert feed == ParsedFeed("json", (), "its items are no list")


def test_a_feed_without_entries_is_one() -> None:
    assert read(rss("")) == ParsedFeed("rss", ())


def test_a_document_type_by_name_is_no_harm() -> None:
    doctype = '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "https://example.net/rss-0.91.dtd">'

    assert entry_of(f"{doctype}<rss><channel><item><title>A</title></item></channel></rss>").title == "A"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "subset",
    [
        f'<!ENTITY l0 "ha">{LAUGHS}',
        '<!ENTITY l9 SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "https://example.net/x.dtd"> %p;',
        '<!ATTLIST item x CDATA "y">',
    ],
)
def test_what_declares_entities_or_attributes_is_not_read(subset: str) -> None:
    body = f"<!DOCTYPE rss [{subset}]><rss><channel><item><title>&l9;</title></item></channel></rss>"

    assert read_feed(body.encode(), None, URL) is None


_MIB = 10 * 2**20
_FLOODS = {
    "deep": b"<rss>" + b"<a>" * (_MIB // 3),
    "deep in an entry": b"<rss><item>" + b"<title>" * (_MIB // 7),
    "attributes": b"<rss " + b" ".join(b'a%d=""' % n for n in range(100_000)) + b"/>",
    "namespaces": b"<rss "
    + b" ".join(b'xmlns:a%d="x"' % n for n in range(50_000))
    + b">"
    + b"<b xmlns:c='d'/>" * 50_000,
    "bases": b"<rss>" + (b'<item xml:base="' + b"a/" * 4000 + b'"><link>x</link></item>') * 1000,
    "sections": b"<rss><item><title>&x;" + b"<![CDATA[ & " * 800_000,
    "comments": b"<rss>&x;" + b"<!--" * 2_000_000,
    "ampersands": b"<rss><item><title>" + b"& " * 2_000_000,
    "open scripts": b"<rss>" + (b"<item><description>" + b"&lt;script>" * 900 + b"</description></item>") * 900,
    "entries": b"<rss>" + b"<item/>" * 1_400_000,
    "json in json": b'{"version":"https://jsonfeed.org/version/1","items":' + b"[" * 5_000_000,
    "items": b'{"version":"https://jsonfeed.org/version/1","items":[' + b"{}," * 500_000 + b"{}]}",
    "one text": b"<rss><item><title>" + b"x " * (_MIB // 2) + b"</title></item></rss>",
}


@pytest.mark.parametrize("name", _FLOODS)
def test_a_flood_of_anything_is_read_in_bounds(name: str) -> None:
    feed = read_feed(_FLOODS[name], None, URL)

    assert feed is None or len(feed.entries) <= MOST_ENTRIES
    assert feed is None or all(len(entry.title) + len(entry.text) <= 40_000 for entry in feed.entries)


_TAGS = (
    "<rss>",
    "<item>",
    "</item>",
    "<link>",
    "</link>",
    "<feed>",
    "<entry",
    " xml:base='",
    "'>",
    "<title>",
    "</title>",
)
_PARTS = (
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "&",
    "&nbsp;",
    "&#0;",
    "<!DOCTYPE rss>",
    "<?xml version='1.0'?>",
    "\x00",
    "ü",
)


@given(
    st.one_of(
        st.binary(max_size=300), st.lists(st.sampled_from(_TAGS + _PARTS), max_size=30).map("".join).map(str.encode)
    )
)
def test_nothing_raises_on_any_bytes(body: bytes) -> None:
    feed = read_feed(body, None, URL)

    assert feed is None or feed.kind in {"rss", "atom", "json"}


@given(st.text(max_size=200), st.text(max_size=50))
def test_nothing_raises_on_any_json(text: str, url: str) -> None:
    body = json.dumps({"version": "https://jsonfeed.org/version/1", "items": [{"url": url, "content_html": text}]})

    feed = read_feed(body.encode(), None, url)

    assert feed is not None


def test_addresses_that_grow_by_their_base_are_bounded_in_all() -> None:
    base = "https://example.org/" + "p/" * 980
    body = rss("<item><link>?1</link></item>" * 10_000, attributes=f" xml:base='{base}'")

    feed = read(body)

    assert feed.problem == "its addresses are too long"
    assert sum(len(entry.url or "") for entry in feed.entries) <= MOST_LETTERS_OF_URLS + 2_000


def test_no_base_is_longer_than_pages_are_asked_for() -> None:
    base = "https://example.org/" + "p/" * 1_000

    assert entry_of(rss("<item><link>?1</link></item>", attributes=f" xml:base='{base}'")).url == f"{URL}?1"


def test_items_of_json_at_a_long_address_are_bounded_in_all() -> None:
    items = [{"url": f"?{number}"} for number in range(10_000)]
    body = json.dumps({"version": "https://jsonfeed.org/version/1", "items": items})

    feed = read_feed(body.encode(), None, "https://example.org/" + "p" * 2_000)

    assert feed is not None
    assert feed.problem == "its addresses are too long"
