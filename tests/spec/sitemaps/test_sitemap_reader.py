"""Sitemaps, indexes, feeds and texts, read as a stream (sitemaps.org protocol 0.9)."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.sitemaps import MOST_LOCATIONS, Location, SitemapKind, SitemapReader

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
PAGES = (
    HEAD + "<url><loc> https://a.example/1?x=1&amp;y=2 </loc><lastmod>2026-11-21</lastmod></url>\n"
    "<url><image:image xmlns:image='urn:i'><image:loc>https://a.example/i.png</image:loc></image:image>\n"
    "<loc><![CDATA[https://a.example/2]]></loc></url>\n"
    "</urlset>\n"
).encode()
FOUND = [Location(3, "https://a.example/1?x=1&y=2", "2026-11-21"), Location(5, "https://a.example/2")]


def read(body: bytes, *, pieces: int = 1_000_000) -> tuple[SitemapReader, list[Location]]:
    reader = SitemapReader()
    found = [
        location for at in range(0, len(body), pieces) for location in reader.feed(body[at : at + pieces])
    ] + reader.close()
    return reader, found


def urls(body: bytes) -> list[str]:
    return [location.url for location in read(body)[1]]


@pytest.mark.parametrize("pieces", [1, 2, 7, 1000])
@pytest.mark.parametrize("packed", [False, True])
def test_a_sitemap_gives_its_pages_however_it_comes(pieces: int, packed: bool) -> None:  # noqa: FBT001 - a table
    reader, found = read(gzip.compress(PAGES) if packed else PAGES, pieces=pieces)

    assert (reader.kind, reader.problem, found) == (SitemapKind.PAGES, None, FOUND)


def test_an_index_gives_its_sitemaps() -> None:
    body = b"<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap><url><loc>no</loc></url></sitemapindex>"
    reader, found = read(body)

    assert (reader.kind, found) == (SitemapKind.INDEX, [Location(1, "https://a.example/1.xml")])


def test_a_text_gives_a_url_a_line() -> None:
    reader, found = read(b"\xef\xbb\xbfhttps://a.example/1\r\n\r\n# more\r https://a.example/2 \nhttps://a.example/3")

    assert reader.kind == SitemapKind.TEXT
    assert [(found.line, found.url[-1]) for found in found] == [(1, "1"), (4, "2"), (5, "3")]


@pytest.mark.parametrize(
    "body",
    [
        "<rss><channel><link>https://a.example/</link><item><link>https://a.example/1</link></item></channel></rss>",
        (
            "<feed xmlns='http://www.w3.org/2005/Atom'><link href='/'/><entry><link rel='edit' href='/e'/>"
            "<link href='https://a.example/1'/><link rel='alternate' href='/other'/></entry></feed>"
        ),
        "<r:RDF xmlns:r='urn:r'><channel><link>/</link></channel><item><link>https://a.example/1</link></item></r:RDF>",
        (
            "<rss xmlns:a='urn:a'><channel><item><a:link rel='self' href='/s'/><link>https://a.example/1</link></item>"
            "</channel></rss>"
        ),
    ],
)
def test_a_feed_gives_the_pages_of_its_entries(body: str) -> None:
    reader, found = read(body.encode())

    assert (reader.kind, [location.url for location in found]) == (SitemapKind.FEED, ["https://a.example/1"])


@pytest.mark.parametrize("before", [b"\n\n ", b"\xef\xbb\xbf\r\n\r\n", b"\n\n"])
def test_white_space_before_the_declaration_is_forgiven(before: bytes) -> None:
    found = read(before + PAGES)[1]

    assert [location.line for location in found] == [5, 7]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf16_is_read(encoding: str) -> None:
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    text = "<urlset><url><loc>https://a.example/ä</loc></url></urlset>"

    assert urls(mark + text.encode(encoding)) == ["https://a.example/ä"]
    assert urls(mark + "https://a.example/ä\n".encode(encoding)) == ["https://a.example/ä"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<!DOCTYPE html><html>", "its root is <html>"),
        (b"\n<!doctype HTML>\n<title>x", "its root is <html>"),
        (b"<html xmlns='http://www.w3.org/1999/xhtml'/>", "its root is <html>"),
        (b"<opml/>", "its root is <opml>"),
        (b"<!DOCTYPE urlset SYSTEM 'file:///etc/passwd'><urlset/>", "declares a document type"),
        (b"<!DOCTYPE u [<!ENTITY c 'x'>]><urlset><url><loc>&c;</loc></url></urlset>", "declares a document type"),
        (b"<urlset>" + b"<url>" * 100, "nested deeper than 64"),
        (b"<\x00\xff", "not XML"),
        (b"<!-- " + b"x" * 3_000_000, "without end"),
        (b"<?xml version='1.0' encoding='x-unknown'?><urlset/>", "encoding"),
        (b"<?xml version='1.0' encoding='gb2312'?><urlset/>", "encoding"),
        (b"\x1f\x8bjunk and more", "compression is broken"),
    ],
)
def test_what_is_no_sitemap_is_refused_whole(body: bytes, reason: str) -> None:
    reader, found = read(body)

    assert found == []
    assert reader.problem is not None
    assert (reason in reader.problem.reason, reader.problem.is_fatal) == (True, True)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (PAGES[: PAGES.index(b"<url><image")], "not XML from here on (no element found)"),
        (PAGES.replace(b"<image:image", b"&nope;<image:image"), "not XML from here on (undefined entity)"),
        (gzip.compress(PAGES, mtime=0)[:-12], "compression breaks off"),
        (HEAD.encode() + b"<url><loc>https://a.example/1</loc></url>" * 2 + b"<a>" * 99, "nested deeper"),
    ],
)
def test_what_came_before_a_break_stands(body: bytes, reason: str) -> None:
    reader, found = read(body)

    assert [location.line for location in found][:1] == [3]
    assert reader.problem is not None
    assert (reason in reader.problem.reason, reader.problem.is_fatal) == (True, "nested" in reason)


def test_more_than_50_000_addresses_are_not_taken() -> None:
    entry = b"<url><loc>https://a.example/</loc></url>\n"
    whole, found = read(b"<urlset>\n" + entry * MOST_LOCATIONS + b"</urlset>")
    more, cut = read(b"<urlset>\n" + entry * (MOST_LOCATIONS + 1) + b"</urlset>")

    assert (whole.problem, len(found)) == (None, MOST_LOCATIONS)
    assert more.problem is not None
    assert (more.problem.line, more.problem.is_fatal, len(cut)) == (MOST_LOCATIONS + 2, False, MOST_LOCATIONS)
    assert "more than 50,000 addresses" in more.problem.reason


def bomb(mib: int) -> Iterable[bytes]:
    """A sitemap with so many MiB of white space, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    yield packer.compress(b"<urlset><url><loc>https://a.example/1</loc></url>")
    for _ in range(mib):
        yield packer.compress(b" " * 2**20)
    yield packer.compress(b"<url><loc>https://a.example/2</loc></url></urlset>") + packer.flush()


@pytest.mark.parametrize(("mib", "count"), [(49, 2), (50, 1), (300, 1)])
def test_beyond_50_mb_nothing_is_read_and_memory_stays_flat(mib: int, count: int) -> None:
    body = b"".join(bomb(mib))
    reader = SitemapReader()
    tracemalloc.start()

    found = reader.feed(body) + reader.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(found) == count
    # What is compressed is held, too, and how much that is, is for the library to say.
    assert peak < 2**21 + len(body)
    assert (reader.problem is None) == (count == 2)
    assert reader.problem is None or ("longer than 50 MB" in reader.problem.reason and not reader.problem.is_fatal)


def test_members_of_gzip_in_a_row_are_one_text_and_padding_is_none() -> None:
    halves = gzip.compress(PAGES[:100]) + gzip.compress(PAGES[100:]) + b"\0" * 512

    assert read(halves)[1] == FOUND


def test_an_address_without_end_is_cut_where_none_can_be_meant() -> None:
    (url,) = urls(b"<urlset><url><loc>" + b"x" * 5_000_000 + b"</loc></url></urlset>")

    assert len(url) < 200_000


def test_a_line_without_end_is_given_up_where_it_stands() -> None:
    reader, found = read(b"https://a.example/1\n" + b"x" * 1_000_000)

    assert [location.line for location in found] == [1]
    assert reader.problem is not None
    assert (reader.problem.line, reader.problem.is_fatal) == (2, False)


def test_a_break_is_told_with_its_line_in_the_file() -> None:
    reader, _ = read(b"\n\n<urlset>\n</url>")

    assert reader.problem is not None
    assert reader.problem.line == 4


@given(st.text("ab\r\n", min_size=16), st.integers(1, 5))
def test_line_ends_are_counted_however_a_text_comes(text: str, pieces: int) -> None:
    assert read(text.encode(), pieces=pieces)[1] == read(text.encode())[1]


@pytest.mark.parametrize("body", [b"", b" ", b"\n" * 200_000, b"<", b"\xff\xfe"])
def test_what_holds_nothing_gives_nothing(body: bytes) -> None:
    assert read(body)[1] == []


@given(st.binary(max_size=300), st.integers(1, 50), st.booleans())
def test_no_bytes_are_too_strange(body: bytes, pieces: int, packed: bool) -> None:  # noqa: FBT001 - drawn
    read(gzip.compress(body)[:-3] if packed else body, pieces=pieces)
    read(PAGES[:200] + body, pieces=pieces)
    read(b"<?xml version='1.0' encoding='" + body[:20] + b"'?>" + body, pieces=pieces)


@given(st.integers(1, 400), st.integers(0, 2**32))
def test_pieces_make_no_difference(pieces: int, at: int) -> None:
    broken = bytearray(PAGES)
    broken[at % len(broken)] ^= 1 << at % 7

    whole, cut = read(bytes(broken)), read(bytes(broken), pieces=pieces)

    assert whole[1] == cut[1]
    assert whole[0].problem == cut[0].problem


@pytest.mark.parametrize("lines", [1, 2, 300])
def test_a_line_that_the_end_of_a_broken_compression_cuts_is_no_address(lines: int) -> None:
    text = "\n".join(f"https://a.example/page/{number * 7919}" for number in range(lines)).encode()
    cut = zlib.compressobj(wbits=31)
    body = cut.compress(text[:-2]) + cut.flush(zlib.Z_SYNC_FLUSH)

    reader, found = read(body)

    assert [location.url for location in found] == text.decode().split("\n")[:-1]
    assert reader.problem is not None
    assert "compression breaks off" in reader.problem.reason
    assert len(read(gzip.compress(text, mtime=0))[1]) == lines


def places_of(body: str, *, pieces: int = 1_000_000) -> list[Location]:
    reader = SitemapReader()
    source = body.encode()
    found = [place for at in range(0, len(source), pieces) for place in reader.feed(source[at : at + pieces])]
    return found + reader.close()


ONE = Location(1, "https://a.example/1", "2026-11-21")


@pytest.mark.parametrize("pieces", [1, 3, 1000])
@pytest.mark.parametrize(
    "entry",
    [
        "<loc>https://a.example/1</loc><lastmod>2026-11-21</lastmod>",
        "<lastmod> 2026-11-21 </lastmod><changefreq>daily</changefreq><loc>https://a.example/1</loc>",
        "<loc>https://a.example/1</loc><lastmod/><lastmod>2026-11-21</lastmod><lastmod>2020-01-01</lastmod>",
    ],
)
def test_a_page_has_the_date_of_its_element_wherever_that_stands(entry: str, pieces: int) -> None:
    assert places_of(f"<urlset><url>{entry}</url></urlset>", pieces=pieces) == [ONE]


def test_a_date_is_of_its_own_page_only() -> None:
    body = (
        "<urlset><lastmod>2020-01-01</lastmod><url><loc>https://a.example/0</loc></url>"
        "<url><loc>https://a.example/1</loc><lastmod>2026-11-21</lastmod></url>"
        "<url><loc>https://a.example/2</loc><news><lastmod>2020-01-02</lastmod></news></url></urlset>"
    )

    assert [place.lastmod for place in places_of(body)] == [None, "2026-11-21", None]


def test_an_index_has_dates_too() -> None:
    body = "<sitemapindex><sitemap><loc>https://a.example/1</loc><lastmod>2026-11-21</lastmod></sitemap></sitemapindex>"

    assert places_of(body) == [ONE]


def test_a_feed_has_none_here() -> None:
    body = "<rss><channel><item><link>https://a.example/1</link><lastmod>2026-11-21</lastmod></item></channel></rss>"

    assert places_of(body) == [Location(1, "https://a.example/1")]


@pytest.mark.parametrize("rest", ["", "<lastmod>2026", "<lastmod>2026-11-21</lastmod>", "</urlset>", "<&"])
def test_an_address_before_a_break_is_given(rest: str) -> None:
    found = places_of(f"<urlset><url><loc>https://a.example/1</loc>{rest}")

    assert [place.url for place in found] == ["https://a.example/1"]


def test_several_addresses_of_one_element_are_all_given() -> None:
    found = places_of("<urlset><url><loc>https://a.example/1</loc><loc>https://a.example/2</loc></url></urlset>")

    assert [place.url[-1] for place in found] == ["1", "2"]
