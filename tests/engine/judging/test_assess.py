from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import URL, digest_of, html, stored
from tocsin.engine.judging.assess import assess
from tocsin.errors import FetchRefused
from tocsin.spec.topper.state import EMPTY

DEEP = b"<div>" * 100_000


def test_a_page_of_html_is_read() -> None:
    found = assess(URL, html(topper_major="2026-01-02"), "text/html; charset=utf-8", None, None)

    assert found.is_html
    assert found.state["topper-major"] == "2026-01-02"


@pytest.mark.parametrize("content_type", ["application/pdf", "image/png", "application/json", "text/plain"])
def test_what_is_not_html_has_an_empty_state_and_a_problem_that_says_so(content_type: str) -> None:
    found = assess(URL, html(topper_major="2026"), content_type, None, None)

    assert not found.is_html
    assert found.state == EMPTY
    assert content_type in (found.problem or "")


def test_a_pdf_that_is_served_as_html_is_no_html() -> None:
    found = assess(URL, b"%PDF-1.7 ...", "text/html", None, None)

    assert "PDF" in (found.problem or "")


@pytest.mark.parametrize("content_type", [None, "", "application/unknown", ";;;"])
def test_a_page_without_a_type_is_read_as_html(content_type: str | None) -> None:
    assert assess(URL, html(created="2026"), content_type, None, None).state["created"] == "2026"


def test_the_same_bytes_stand_for_the_state_before_without_being_read() -> None:
    before = stored(created="what was stored")
    body = html(created="2026")

    found = assess(URL, body, "text/html", before, digest_of(body))

    assert found.state.values == before.fields


def test_the_same_bytes_under_another_type_are_read_anew() -> None:
    body = html(created="2026")

    found = assess(URL, body, "text/html", stored(created="other"), digest_of(body, "text/html; charset=koi8-r"))

    assert found.state["created"] == "2026"


def test_xhtml_is_read_as_xml() -> None:
    body = b'<html xmlns="http://www.w3.org/1999/xhtml"><head><meta name="created" content="2026"/></head></html>'

    assert assess(URL, body, "application/xhtml+xml", None, None).state["created"] == "2026"


def test_a_page_that_no_parser_may_be_given_is_refused_as_too_complex() -> None:
    body = b"<html a>" * 100_000 + b"<meta name=created content=2026>"

    with pytest.raises(FetchRefused) as caught:
        assess(URL, body, "text/html", None, None)

    assert caught.value.kind == "too-complex"


def test_a_page_nested_a_hundred_thousand_deep_is_read() -> None:
    assert assess(URL, DEEP + b"<meta name=created content=2026>", "text/html", None, None).state["created"] == "2026"


@given(st.binary(max_size=2000), st.sampled_from(["text/html", None, "application/xhtml+xml", "x"]))
def test_no_bytes_raise_anything_but_too_complex(body: bytes, content_type: str | None) -> None:
    assess(URL, body, content_type, None, None)
