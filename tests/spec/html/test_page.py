from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.document import Meta
from tocsin.spec.html.page import Kind, find_kind, find_page_encoding, read_page, read_whole_page
from tocsin.spec.html.sniffing import sniff

HTML = b"<title>t</title><meta name=a content=b>"
XHTML = b'<html xmlns="http://www.w3.org/1999/xhtml"><title>t</title><meta name="a" content="b"/></html>'


@pytest.mark.parametrize(
    "content_type",
    [None, "", "text/html", " Text/HTML ;charset=utf-8", "nonsense", "text/html, text/html", "*/*", "unknown/unknown"],
)
def test_a_page_without_another_type_is_html(content_type: str | None) -> None:
    reading = read_page(HTML, content_type)

    assert (reading.kind, reading.metas, reading.problems) == (Kind.HTML, (Meta(name="a", content="b"),), ())
    assert read_whole_page(HTML, content_type).title == "t"


def test_T17_xhtml_is_read_as_such() -> None:
    reading = read_page(XHTML, "application/xhtml+xml")

    assert (reading.kind, reading.encoding, reading.metas) == (Kind.XHTML, "utf-8", (Meta(name="a", content="b"),))
    assert read_whole_page(XHTML, "application/xhtml+xml").title == "t"


@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"<meta name=a content=b>",
        b"text " + HTML,
        b"\xef\xbb\xbf" + HTML,
        b"<?xml version='1.0'?>" + XHTML,
        b"\xff\xfe<\0p\0>\0",
        b"B<p>",
        b"<meta name=a>\0",
    ],
)
def test_SNF_12_what_nobody_calls_anything_may_be_a_page(body: bytes) -> None:
    assert find_kind(body, None) == (Kind.HTML, ())


@pytest.mark.parametrize(
    ("body", "content_type", "problem"),
    [
        (b"", "text/html", "the page is empty"),
        (b"%PDF-1.7", "text/html", "not HTML: a PDF document"),
        (b"PK\3\4", "text/html; charset=utf-8", "not HTML: a ZIP archive"),
        (b"\x89PNG\r\n\x1a\n", None, "not HTML: a PNG image"),
        (b"OggS\0", None, "not HTML: application/ogg"),
        (b"\1\2", "gibberish", "not HTML: binary"),
        (b"<?xml version='1.0'?><rss>", None, "not HTML: an RSS feed"),
        (b"<feed>", "text/html", "not HTML: an Atom feed, though its server calls it text/html"),
        (b"\0", "text/plain", "not HTML: binary, though its server calls it text/plain"),
        (b"GIF89a", "image/png", "not HTML: a GIF image, though its server calls it image/png"),
        (HTML, "application/json", "not HTML: its server calls it application/json"),
        (HTML, "application/octet-stream", "not HTML: its server calls it application/octet-stream"),
        (HTML, "text/plain; charset=utf-8", "not HTML: its server calls it text/plain"),
        (XHTML, "text/xml", "not HTML: its server calls it text/xml"),
        (HTML, "x/" + "y" * 99, "not HTML: its server calls it x/" + "y" * 78),
    ],
)
def test_SNF_07_what_is_not_html_is_not_read_and_says_so(body: bytes, content_type: str | None, problem: str) -> None:
    reading = read_page(body, content_type)

    assert (reading.kind, reading.encoding, reading.metas, reading.problems) == (Kind.OTHER, None, (), (problem,))
    assert read_whole_page(body, content_type).problems == (problem,)


@pytest.mark.parametrize("start", [b"BM", b"ID3", b"\xff\xfb\x90\0", b"\1\2\3"])
def test_what_is_called_html_may_begin_with_any_letters(start: bytes) -> None:
    assert find_kind(start + b" x" * 900, "text/html") == (Kind.HTML, ())


def test_a_server_that_forbids_to_guess_must_say_what_it_sends() -> None:
    reading = read_page(HTML, None, nosniff=True)

    assert reading.problems == (
        "not HTML: its server names no type and forbids to guess one (nosniff); send Content-Type: text/html",
    )
    assert read_whole_page(HTML, "nonsense", nosniff=True).problems == reading.problems
    assert read_page(HTML, "text/html", nosniff=True).kind is Kind.HTML
    assert read_page(b"<rss>", "text/html", nosniff=True).kind is Kind.HTML


def test_each_kind_has_its_default_encoding() -> None:
    assert find_page_encoding(HTML, None) == "windows-1252"
    assert find_page_encoding(XHTML, "application/xhtml+xml") == "utf-8"


def test_what_was_wrong_with_the_bytes_is_told() -> None:
    reading = read_page(b"\xff" + HTML, "text/html; charset=utf-8")

    assert reading.problems == ("not valid UTF-8 from byte 0 on; read with replacement characters",)


@given(
    st.one_of(st.binary(max_size=60), st.sampled_from([HTML, XHTML, b"<rss>", b"<!--", b"<rdf:RDF a='>"])),
    st.one_of(st.none(), st.text(max_size=30), st.sampled_from(["text/html", "text/plain", "application/xhtml+xml"])),
    st.booleans(),
)
def test_no_body_and_no_header_raises(body: bytes, content_type: str | None, nosniff: bool) -> None:  # noqa: FBT001 - drawn
    reading = read_page(body, content_type, nosniff=nosniff)

    assert (reading.encoding is None) == (reading.kind is Kind.OTHER)


@given(st.sampled_from([b"<p>", b" ", b"x", b"\0"]), st.sampled_from([None, "text/html", "text/plain"]))
def test_SNF_17_the_kind_is_found_from_the_first_1445_bytes(piece: bytes, content_type: str | None) -> None:
    body = piece * 3000

    assert find_kind(body, content_type) == find_kind(body[:1445], content_type)


beginnings = st.sampled_from(
    [
        *(
            b"\xef\xbb\xbf",
            b" ",
            b"\n",
            b"\f",
            b"\0",
            b"<",
            b"<!doctype html>",
            b"<!DOCTYPE x 'y'>",
            b"<!-- x -->",
            b"<!-->",
        ),
        *(b"<!>", b"<!-x>", b"<?xml version='1.0'?>", b"<html>", b"<rss>", b"<feed>", b"<rdf:RDF xmlns='", b"<font>"),
        *(
            b"http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='http://purl.org/rss/1.0/'>",
            b"<RSS>",
            b"x",
            b"%PDF-",
        ),
        *(b"\x89PNG\r\n\x1a\n", b"PK\3\4", b"\x1f\x8b\x08", b"<!--" + b"x" * 1440, b"-->", b"<!x" + b"x" * 1440, b">"),
    ]
)


@given(st.lists(beginnings, min_size=1, max_size=6))
def test_what_is_called_html_is_html_but_for_feeds_and_what_no_page_begins_with(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    never = {"application/pdf", "image/png", "application/zip", "application/x-gzip"}

    is_html = sniff(("text/html",), body) == "text/html" and sniff((), body) not in never
    is_bare = re.match(rb"[\t\n\f\r ]*[^\t\n\f\r <]", body) and not re.search(rb"<\0?[A-Za-z!?/]", body)
    is_html = is_html and not (is_bare and sniff((), body) == "text/plain")

    assert (find_kind(body, "text/html")[0] is Kind.HTML) == is_html
