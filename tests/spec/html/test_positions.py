from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.html.test_document import PLANT, metas, words
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.positions import Lines, read_layout, value_span

texts = st.text(alphabet="ab\r\n", max_size=30)


@given(texts, st.data())
def test_a_place_is_as_far_into_its_line_as_what_stands_before_it(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))

    line, column = Lines(text).position_of(place)

    before = re.split(r"\r\n|\n|\r(?!\n)", text[:place] if text[place - 1 : place + 1] != "\r\n" else text[: place - 1])
    assert line == len(before)
    assert column == len(before[-1]) + 1 + (text[place - 1 : place + 1] == "\r\n")


@given(texts, st.data())
def test_a_position_leads_back_to_its_place(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))

    assert Lines(text).place_at(*Lines(text).position_of(place)) == place


@pytest.mark.parametrize("line", [0, 1])
def test_a_line_that_is_not_known_is_the_first(line: int) -> None:
    assert Lines("a\nb").place_at(line, 1) == 0


@pytest.mark.parametrize(
    ("attribute", "value", "quote"),
    [("a=b", "b", ""), ("a = 'b c'", "b c", "'"), ('a=""', "", '"'), ("a", "", ""), ("a\n=\nb", "b", "")],
)
def test_the_value_of_an_attribute_is_found_in_its_place(attribute: str, value: str, quote: str) -> None:
    text = f"<p {attribute}>"

    start, end, found = value_span(text, (3, 3 + len(attribute)))

    assert (text[start:end], found) == (value, quote)


@given(st.binary(max_size=300), st.sampled_from(["utf-8", "windows-1252", "utf-16le", "gb18030", "iso-2022-jp"]))
def test_no_bytes_raise(body: bytes, encoding: str) -> None:
    for source in (body, b"<meta " + body, body + b"<meta name=a>"):
        read_layout(decode(source, encoding))


@given(st.lists(words, max_size=12))
def test_a_layout_shows_the_elements_where_they_stand(parts: list[str]) -> None:
    source = "\r\n".join([*parts, PLANT])

    layout = read_layout(source)

    assert [placed.meta for placed in layout.metas] == metas(source)
    for placed in layout.metas:
        start, end = placed.tag
        assert source[start:end].lower().startswith("<meta")
        assert source[start:end].endswith(">")
        for name, (first, last) in placed.attributes.items():
            assert start < first < last <= end
            assert source[first:last].lower().startswith(name)
