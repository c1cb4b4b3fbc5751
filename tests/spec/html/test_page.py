from __future__ import annotations

import pytest

from tocsin.spec.html.meta import Meta
from tocsin.spec.html.page import Kind, find_page_encoding, read_page, read_whole_page

HTML = b"<title>t</title><meta name=a content=b>"
XHTML = b'<html xmlns="http://www.w3.org/1999/xhtml"><title>t</title><meta name="a" content="b"/></html>'


@pytest.mark.parametrize(
    "content_type", [None, "", "text/html", " Text/HTML ;charset=utf-8", "nonsense", "*/*", "application/octet-stream"]
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
    ("body", "content_type", "problem"),
    [
        (b"", "text/html", "the page is empty"),
        (b"%PDF-1.7", "text/html", "not HTML: a PDF document"),
        (b"\x89PNG\r\n\x1a\n", None, "not HTML: a PNG image"),
        (HTML, "application/json", "not HTML: its server calls it application/json"),
        (HTML, "text/plain; charset=utf-8", "not HTML: its server calls it text/plain"),
    ],
)
def test_what_is_not_html_is_not_read_and_says_so(body: bytes, content_type: str | None, problem: str) -> None:
    reading = read_page(body, content_type)

    assert (reading.kind, reading.encoding, reading.metas, reading.problems) == (Kind.OTHER, None, (), (problem,))
    assert read_whole_page(body, content_type).problems == (problem,)


def test_each_kind_has_its_default_encoding() -> None:
    assert find_page_encoding(HTML, None) == "windows-1252"
    assert find_page_encoding(XHTML, "application/xhtml+xml") == "utf-8"


def test_what_was_wrong_with_the_bytes_is_told() -> None:
    reading = read_page(b"\xff" + HTML, "text/html; charset=utf-8")

    assert reading.problems == ("not valid UTF-8 from byte 0 on; read with replacement characters",)
