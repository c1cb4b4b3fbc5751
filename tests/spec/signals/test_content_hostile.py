"""Pages that are written to cost their reader time or memory."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import calls_of
from tocsin.errors import TooComplex
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.content import read_content, to_comparable
from tocsin.spec.signals.fingerprint import Content


def _content_of(markup: str) -> Content:
    whole = parse_whole(markup.encode(), "text/html; charset=utf-8")
    assert whole is not None
    return read_content(whole, "", "")


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param("\u0315\u0300", id="marks in a row that are to be put in order"),
        pytest.param("<h2>related</h2>", id="headings of boxes"),
        pytest.param("<h2><svg>related</svg></h2>", id="headings that hold no text"),
        pytest.param("<button>a</button><p>b</p>", id="buttons"),
    ],
)
def test_what_is_repeated_takes_work_in_proportion(unit: str) -> None:
    few = calls_of(lambda: _content_of(f"<div><p>a{unit * 2_000}<p>b" + "<p>c" * 2_000))

    many = calls_of(lambda: _content_of(f"<div><p>a{unit * 16_000}<p>b" + "<p>c" * 16_000))

    assert many < 9 * few


def test_a_page_of_little_but_tags_is_refused() -> None:
    with pytest.raises(TooComplex, match="200000 tags"):
        parse_whole(b"<p>a" * 200_001, "text/html")


def test_sidebars_within_sidebars_take_work_in_proportion() -> None:
    prose = "<p>" + "Each day many people cross the bridge; a ferry will take its place for a while. " * 5

    few = calls_of(lambda: _content_of("<div class=sidebar>" * 20 + prose + "<p></p>" * 20_000))
    many = calls_of(lambda: _content_of("<div class=sidebar>" * 200 + prose + "<p></p>" * 20_000))

    assert many < 2 * few


def test_headings_within_headings_count_once() -> None:
    text = "What stands in the innermost of many headings is a text of the page and is there once. " * 5

    content = _content_of("<main>A page.</main>" + "<h1><div>" * 200 + text)

    assert content.text.count(text.strip()) == 1


@given(st.lists(st.sampled_from("a \u0301\u0315\u1112\u1161\u11ab\u0915\u093c漢"), min_size=300, max_size=600))
def test_a_long_text_is_composed_as_a_short_one_is(letters: list[str]) -> None:
    text = "".join(letters)
    if any(len(run) > 200 for run in text.replace("\u0315", "\u0301").split()):
        return

    assert to_comparable(text) == to_comparable(unicodedata.normalize("NFC", text))
