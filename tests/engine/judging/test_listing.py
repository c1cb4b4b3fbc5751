"""What watched feeds and sitemaps say of other pages."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.engine.judging.reading import Lists, _watched, read_lists
from tocsin.errors import BadUrl
from tocsin.spec.html.urls import watch_url

URL = "https://www.example.org/sitemap.xml"


def read(body: str | bytes, *, url: str = URL, final_url: str | None = None) -> Lists:
    source = body.encode() if isinstance(body, str) else body
    lists = read_lists(source, None, url, final_url or url)
    assert lists is not None
    return lists


def sitemap(*entries: tuple[str, str]) -> str:
    written = "".join(f"<url><loc>{loc}</loc><lastmod>{date}</lastmod></url>" for loc, date in entries)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{written}</urlset>'


def test_a_sitemap_says_when_its_pages_changed() -> None:
    lists = read(sitemap(("https://www.example.org/a", "2026-11-21"), ("https://www.example.org/b", "2026-11-22")))

    assert lists.listing.name == "sitemap"
    assert lists.listing.entries == (
        ("https://www.example.org/a", "2026-11-21"),
        ("https://www.example.org/b", "2026-11-22"),
    )


def test_urls_stand_as_they_are_watched_and_dates_as_signals_are_written() -> None:
    lists = read(sitemap(("HTTPS://WWW.example.org:443/ä b?x=1&amp;y#top", "2026-11-21T10:00:00+02:00")))

    assert lists.listing.entries == (("https://www.example.org/%C3%A4%20b?x=1&y", "2026-11-21T08:00:00Z"),)


def test_a_sitemap_speaks_of_its_own_host_only() -> None:
    urls = ["https://www.example.org/a", "https://example.net/a", "https://www.example.org/b"]
    body = sitemap(*((url, "2026-11-21") for url in urls))

    assert [url for url, _ in read(body).listing.entries] == [urls[0], urls[2]]


def test_a_sitemap_that_is_kept_elsewhere_speaks_of_the_host_it_was_asked_of() -> None:
    body = sitemap(("https://www.example.org/a", "2026-11-21"))

    lists = read(body, final_url="https://files.example.net/1.xml")

    assert [url for url, _ in lists.listing.entries] == ["https://www.example.org/a"]


def test_a_packed_sitemap_is_read() -> None:
    body = sitemap(("https://www.example.org/a", "2026-11-21"))

    assert read(gzip.compress(body.encode(), mtime=0)) == read(body)


def test_an_index_says_when_its_sitemaps_changed() -> None:
    lists = read(
        "<sitemapindex><sitemap><loc>https://www.example.org/1.xml</loc><lastmod>2026-11-21</lastmod></sitemap>"
        "</sitemapindex>"
    )

    assert lists.listing.entries == (("https://www.example.org/1.xml", "2026-11-21"),)


def test_a_feed_speaks_of_any_page() -> None:
    lists = read(
        "<rss><channel><item><link>https://example.net/a</link><pubDate>Sat, 21 Nov 2026 10:00:00 +0100</pubDate>"
        "</item><item><link>/b</link><pubDate>Sat, 21 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>",
        url="https://www.example.org/feed",
    )

    assert lists.listing.name == "feed"
    assert lists.listing.entries == (
        ("https://example.net/a", "2026-11-21T09:00:00Z"),
        ("https://www.example.org/b", "2026-11-21T10:00:00Z"),
    )


def test_what_a_feed_writes_relatively_stands_where_it_was_found() -> None:
    lists = read(
        "<rss><channel><item><link>b</link><pubDate>2026-11-21</pubDate></item></channel></rss>",
        url="https://www.example.org/feed",
        final_url="https://feeds.example.net/x/rss",
    )

    assert lists.listing.entries == (("https://feeds.example.net/x/b", "2026-11-21"),)


def test_what_has_no_date_or_no_page_is_not_listed_but_read() -> None:
    lists = read(
        "<rss><channel><item><title>A</title><link>https://example.net/a</link></item>"
        "<item><title>B</title><pubDate>2026-11-21</pubDate></item>"
        "<item><title>C</title><link>mailto:c@example.org</link><pubDate>2026-11-21</pubDate></item></channel></rss>"
    )

    assert lists.listing.entries == ()
    assert lists.texts == ("A", "B", "C")


def test_where_a_page_is_listed_twice_the_first_counts() -> None:
    body = sitemap(("https://www.example.org/a#1", "2026-11-21"), ("https://www.example.org/a#2", "2026-11-22"))

    assert read(body).listing.entries == (("https://www.example.org/a", "2026-11-21"),)


def test_a_feed_is_read_as_its_titles_and_texts() -> None:
    lists = read(
        "<rss><channel><title>News</title><lastBuildDate>now</lastBuildDate><item><title>A &amp; B</title>"
        "<description>&lt;p&gt;It is.&lt;/p&gt;</description><pubDate>now</pubDate></item>"
        "<item><link>https://example.net/c</link></item><item/></channel></rss>"
    )

    assert lists.texts == ("A & B It is.", "https://example.net/c")


def test_a_sitemap_is_read_as_its_addresses_and_dates() -> None:
    lists = read("<urlset><url><loc>https://example.net/a</loc></url></urlset>")
    dated = read(sitemap(("https://example.net/a", "2026-11-21")))

    assert (lists.texts, dated.texts) == (("https://example.net/a",), ("https://example.net/a 2026-11-21",))


@pytest.mark.parametrize("body", ["<rss><channel><item>", "<urlset><url><loc>https://example.net/a</loc>"])
def test_a_list_that_breaks_off_says_so(body: str) -> None:
    assert read(body).problem


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"%PDF-1.7",
        b"https://www.example.org/a\nhttps://www.example.org/b\n",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b'{"items":[]}',
        b"\x1f\x8bxx",
        gzip.compress(b"https://www.example.org/a", mtime=0),
    ],
)
def test_what_is_no_list_is_none(body: bytes) -> None:
    assert read_lists(body, "text/xml", URL, URL) is None


@given(st.binary(max_size=300).map(lambda rest: b"<rss><channel><item><link>" + rest) | st.binary(max_size=300))
def test_nothing_raises_on_any_bytes(body: bytes) -> None:
    lists = read_lists(body, None, URL, URL)

    assert lists is None or lists.listing.name in {"feed", "sitemap"}


_STARTS = ("http://", "https://", "HTTPS://", "a", "xn--", "--", "-", ".", "..", "/", "/.", "//", "?", "?x=1&y", "#")
_REST = (
    "%2e",
    ":80",
    "example.org",
    "0x7f",
    "1.2.3.4",
    "org/",
    "org/a_b~c",
    "@",
    "\\",
    " ",
    "ä",
    "A",
    "\t",
    "a-b.org/x",
)
_PIECES = st.sampled_from((*_STARTS, *_REST))


@given(st.lists(_PIECES, max_size=8).map("".join))
def test_a_url_stands_as_watch_url_stores_it(written: str) -> None:
    try:
        expected = watch_url(written).url
    except BadUrl:
        expected = None

    assert _watched(written) == expected


def test_addresses_of_a_packed_sitemap_are_bounded_in_all() -> None:
    entries = [(f"https://www.example.org/{number}/{'p' * 1_900}", "9" * 500) for number in range(12_000)]

    lists = read(gzip.compress(sitemap(*entries).encode()))

    assert 8_000 < len(lists.listing.entries) == len(lists.texts) < 9_000
    assert max(map(len, lists.texts)) < 2_100
