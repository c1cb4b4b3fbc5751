from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.spec.html.test_document import PLANT, metas, words
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.positions import read_layout


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
