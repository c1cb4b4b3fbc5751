from __future__ import annotations

import gzip
import io
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import UsageError
from tocsin.lists import ListEntry, ListNotice, RefusedLine, open_list
from tocsin.lists.entries import ListItem
from tocsin.lists.formats.text import guard, unguard

SITEMAP = b"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> https://example.org/a </loc><lastmod>2026-01-01</lastmod>
<image:image><image:loc>https://example.org/a.png</image:loc></image:image></url>
<url><loc>https://example.org/b?x=1&amp;y=2</loc></url>
</urlset>
"""
INDEX = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>https://example.org/one.xml</loc></sitemap></sitemapindex>"""
OUTLINE = b"""<opml version="2.0"><head><title>x</title></head><body>
<outline text="news"><outline type="rss" text="A feed" xmlUrl="https://example.org/feed" htmlUrl="https://example.org/"/></outline>
<outline type="link" text="My words" url="https://example.org/b"/>
<outline text="an empty folder"/>
</body></opml>"""


def read(body: bytes, kind: str | None = None) -> tuple[str, list[ListItem]]:
    found, items = open_list(io.BytesIO(body), name="pages", kind=kind)
    return found, list(items)


def urls(body: bytes, kind: str | None = None) -> list[str]:
    return [item.url for item in read(body, kind)[1] if isinstance(item, ListEntry)]


def test_a_plain_list_has_a_url_a_line() -> None:
    assert read(b"https://example.org/a\nhttps://example.org/b\n") == (
        "list",
        [ListEntry(1, "https://example.org/a"), ListEntry(2, "https://example.org/b")],
    )


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_of_any_kind_do_no_harm(end: bytes) -> None:
    assert read(b"https://example.org/a" + end + b"https://example.org/b")[1][1] == ListEntry(
        2, "https://example.org/b"
    )


@pytest.mark.parametrize("bom", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_does_no_harm(bom: bytes) -> None:
    encoding = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}[bom]

    assert urls(bom + "https://example.org/ä\n".encode(encoding)) == ["https://example.org/ä"]


def test_a_heading_comments_and_empty_lines_are_left_out() -> None:
    assert read(b"URL\n\n# ours\n  https://example.org/a  \n")[1] == [ListEntry(4, "https://example.org/a")]


def test_a_line_that_is_not_utf8_is_refused_alone() -> None:
    items = read(b"https://example.org/\xff\nhttps://example.org/b\n")[1]

    assert items == [RefusedLine(1, "not UTF-8; save the list as UTF-8"), ListEntry(2, "https://example.org/b")]


def test_an_endless_line_is_refused_alone() -> None:
    items = read(b"x" * 200_000 + b"\nhttps://example.org/b\n")[1]

    assert [type(item) for item in items] == [RefusedLine, ListEntry]
    assert items[1].line == 2


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_are_recognised_by_the_one_named_url(separator: str) -> None:
    body = f"text{separator}URL\nmine{separator}https://example.org/a\n".encode()

    assert read(body) == ("csv", [ListEntry(2, "https://example.org/a", text="mine")])


def test_columns_set_what_holds_for_the_page() -> None:
    body = b'url,group,text,every,report\nhttps://example.org/a,news,"a, b\nc",6h,\n'

    (entry,) = read(body)[1]

    assert entry == ListEntry(2, "https://example.org/a", "news", "a, b\nc", {"every": "6h"})


def test_a_column_that_nobody_knows_is_named_once() -> None:
    items = read(b"url,rank\nhttps://example.org/a,1\nhttps://example.org/b,2\n")[1]

    assert [item for item in items if isinstance(item, ListNotice)] == [ListNotice(1, "column", "rank")]


def test_csv_without_a_column_named_url_is_refused() -> None:
    with pytest.raises(UsageError, match='pages:1: no column is named "url"'):
        read(b"address,group\nx,y\n", "csv")


def test_a_quotation_mark_that_is_not_closed_swallows_no_memory() -> None:
    items = read(b'url,text\nhttps://example.org/a,"' + b"x\n" * 200_000)[1]

    assert any(isinstance(item, RefusedLine) and "not CSV" in item.reason for item in items)


def refused_and_urls(body: bytes) -> tuple[list[int], list[str]]:
    items = read(body)[1]
    return [item.line for item in items if isinstance(item, RefusedLine)], [
        item.url for item in items if isinstance(item, ListEntry)
    ]


@pytest.mark.parametrize(
    "row",
    [
        b'"https://example.org/a',
        b'https://example.org/a,"w',
        b'"https://example.org/a,w\r',
        b'"https://example.org/a"x,w',
    ],
)
def test_a_quotation_mark_that_is_not_closed_costs_its_line_alone(row: bytes) -> None:
    body = b"url,text\n" + row + b"\nhttps://example.org/b,w\nhttps://example.org/c,w\n"

    assert refused_and_urls(body) == ([2], ["https://example.org/b", "https://example.org/c"])


def test_a_url_never_goes_on_in_the_next_line() -> None:
    body = b'url,text\n"https://example.org/a\nhttps://example.org/b",w\nhttps://example.org/c,w\n'

    refused, taken = refused_and_urls(body)

    assert refused == [2]
    assert "https://example.org/c" in taken
    assert not any("\n" in url for url in taken)


def test_lines_are_numbered_truly_after_an_error_and_after_words_of_many_lines() -> None:
    body = b'url,text\n"https://example.org/a\nhttps://example.org/b,"w\nw"\nhttps://example.org/c,w\n'

    assert [item.line for item in read(body)[1]] == [2, 3, 5]


def test_cells_beyond_the_heading_are_refused_and_not_dropped() -> None:
    items = read(b"url,text\nhttps://example.org/a,one, two\nhttps://example.org/b,one,,\n")[1]

    assert items[0] == RefusedLine(2, "3 cells under 2 columns; write a text that has a comma in it in quotation marks")
    assert items[1] == ListEntry(3, "https://example.org/b", text="one")


def test_a_column_that_nobody_knows_is_named_with_the_nearest_known_one() -> None:
    (named, _) = read(b"url,evry\nhttps://example.org/a,6h\n")[1]

    assert isinstance(named, ListNotice)
    assert named.told == "no setting is called 'evry'; this column is left out; did you mean 'every'?"


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_what_was_guarded_against_formulas_is_read_as_it_was(text: str) -> None:
    assert unguard(guard(text)) == text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "\uff20A"])
def test_a_formula_is_guarded(text: str) -> None:
    assert guard(text) == f"'{text}"


def test_a_sitemap_names_pages_and_not_their_images() -> None:
    assert urls(SITEMAP) == ["https://example.org/a", "https://example.org/b?x=1&y=2"]


def test_a_sitemap_may_be_compressed() -> None:
    assert urls(gzip.compress(SITEMAP)) == ["https://example.org/a", "https://example.org/b?x=1&y=2"]


def test_T62_the_sitemaps_of_an_index_are_named_and_not_fetched() -> None:
    assert read(INDEX)[1] == [ListNotice(2, "sitemap", "https://example.org/one.xml")]


def test_an_outline_gives_groups_pages_of_feeds_and_words() -> None:
    items = read(OUTLINE)[1]

    assert items == [
        ListEntry(2, "https://example.org/", "news"),
        ListEntry(3, "https://example.org/b", None, "My words"),
    ]


def test_xml_of_another_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="its root is <html>; OPML or a sitemap was expected"):
        read(b"<!DOCTYPE html><html><body>x</body></html>")


def test_xml_of_another_kind_than_was_said_is_refused() -> None:
    with pytest.raises(UsageError, match="OPML was expected"):
        read(SITEMAP, "opml")


def test_xml_that_breaks_off_gives_what_came_before() -> None:
    items = read(SITEMAP[: SITEMAP.index(b"<url><loc>https://example.org/b")])[1]

    assert [type(item) for item in items] == [ListEntry, RefusedLine]


@pytest.mark.parametrize(
    "declared",
    [
        b'<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">',
        b'<!ENTITY c SYSTEM "file:///etc/passwd">',
    ],
)
def test_entities_are_never_expanded(declared: bytes) -> None:
    body = b"<!DOCTYPE urlset [" + declared + b"]><urlset><url><loc>https://example.org/&c;</loc></url></urlset>"

    with pytest.raises(UsageError, match="declares a document type"):
        read(body)


def test_a_list_nested_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="nested deeper than 64"):
        read(b"<opml>" + b"<outline>" * 100)


@pytest.mark.parametrize("body", [gzip.compress(SITEMAP)[:-20], b"\x1f\x8b\x08\x00junk"])
def test_broken_compression_is_told(body: bytes) -> None:
    with pytest.raises(UsageError, match="get the file again"):
        read(body)


def test_a_list_that_is_compressed_more_than_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="more than twice"):
        read(gzip.compress(gzip.compress(gzip.compress(SITEMAP))))


@given(st.binary(max_size=200), st.sampled_from([None, "list", "csv", "opml", "sitemap"]))
def test_no_bytes_at_all_raise_anything_else(body: bytes, kind: Any) -> None:
    with suppress(UsageError):
        read(body, kind)
