from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.topper.table import BadReference, escape, unescape


@pytest.mark.parametrize(
    ("datum", "cell"),
    [
        ("\"'", "&quot;&#39;"),
        ("\u201c\u201d\u2018\u2019\u201e\u201a", "&ldquo;&rdquo;&lsquo;&rsquo;&bdquo;&sbquo;"),
        ("\u00ab\u00bb\u2039\u203a", "&laquo;&raquo;&lsaquo;&rsaquo;"),
        ("\t\n\r", "&#9;&#10;&#13;"),
        ("\u201b\u201f\u2013<>\u00a0\x0b\x85\u2028", "\u201b\u201f\u2013<>\u00a0\x0b\x85\u2028"),
        ("R&D, a & b, && &", "R&D, a & b, && &"),
        ("&# &#x &#g &; &a b; &1;", "&# &#x &#g &; &a b; &1;"),
        ("&#1 &#xf &#XA", "&amp;#1 &amp;#xf &amp;#XA"),
        ("&c; &zz9; &A1b2;", "&amp;c; &amp;zz9; &amp;A1b2;"),
        ("&copy=3 &ltx &AMP &curren", "&amp;copy=3 &amp;ltx &amp;AMP &amp;curren"),
        ("&Copy &hellip &apos", "&Copy &hellip &apos"),
    ],
)
def test_T35_only_what_a_reader_would_take_for_something_else_is_written_as_a_reference(datum: str, cell: str) -> None:
    assert escape(datum) == cell
    assert unescape(cell) == datum


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_T35_any_reader_of_html_reads_a_cell_as_we_do(datum: str) -> None:
    assert html.unescape(escape(datum)) == unescape(escape(datum)) == datum


@given(st.text("&#x;acoptlD9 mn"))
def test_T35_ampersands_survive_every_reader(datum: str) -> None:
    assert html.unescape(escape(datum)) == unescape(escape(datum)) == datum


@pytest.mark.parametrize(
    ("cell", "datum"),
    [
        ("&hellip;&euro;&#8364;&#x20aC;&#X20AC;", "\u2026\u20ac\u20ac\u20ac\u20ac"),
        ("&#128;&#x9f;&#129;", "\u20ac\u0178\x81"),
        ("&#0000000000065;&#1114111;&#x10fffF;", "A\U0010ffff\U0010ffff"),
        ("&#1;&#55295;&#57344;", "\x01\ud7ff\ue000"),
        ("&unknown; &copy &#65 &#x41 &Copy;", "&unknown; &copy &#65 &#x41 &Copy;"),
    ],
)
def test_T35_references_are_read_with_their_semicolon_only(cell: str, datum: str) -> None:
    assert unescape(cell) == datum


@pytest.mark.parametrize(
    "reference",
    ["&#0;", "&#x0;", "&#xD800;", "&#57343;", "&#1114112;", "&#x110000;", f"&#{'9' * 5000};", "&#99999999;"],
)
def test_T35_a_number_that_is_no_character_is_refused(reference: str) -> None:
    with pytest.raises(BadReference, match=r"^bad reference &#\w{1,18};?: it names no character$") as caught:
        unescape(f"ab{reference}")

    assert caught.value.place == 2
