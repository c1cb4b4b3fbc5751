from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.search import attributes_start, find_tag_end, next_attribute

pieces = st.sampled_from(
    [
        b"a",
        b"/b",
        b" ",
        b"/",
        b"=",
        b"'",
        b'"',
        b">",
        b"\n",
        b"<",
        b"\0",
        b"\xe9",
        b"y=z",
        b" a='b'",
        b' c="<d>"',
        b"a = b",
    ]
)


@given(st.lists(pieces, max_size=14))
def test_a_tag_ends_where_its_attributes_do(parts: list[bytes]) -> None:
    tag = b"<" + b"".join(parts)
    place = attributes_start(tag, 0)
    while (attribute := next_attribute(tag, place)) is not None:
        place = attribute.end
    rest = tag[place:].lstrip(b"\t\n\f\r /")

    assert find_tag_end(tag, 0) == (len(tag) - len(rest) + 1 if rest.startswith(b">") else len(tag))
