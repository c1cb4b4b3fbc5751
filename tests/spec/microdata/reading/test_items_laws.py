"""The text's own algorithm finds the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.literal import Literal
from tocsin.spec.html.tree import Element, read_tree
from tocsin.spec.infrastructure.urls import resolve
from tocsin.spec.microdata.formats.items_json import to_json
from tocsin.spec.microdata.reading.items import read_items

if TYPE_CHECKING:
    from tocsin.spec.microdata.values import Item


_HTML = "text/html; charset=utf-8"

_XHTML = "application/xhtml+xml"

_START = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>'


@st.composite
def pages(draw: st.DrawFn) -> str:
    """Draw up to 12 elements, some within others: items, properties, targets of itemrefs; each named apart."""
    parts: list[str] = []
    depth = 0
    for number in range(draw(st.integers(1, 12))):
        closed = draw(st.integers(0, depth))
        parts.append("</div>" * closed)
        depth += 1 - closed
        attributes = []
        if draw(st.booleans()):
            attributes.append('itemscope=""')
            if draw(st.booleans()):
                tokens = draw(st.lists(st.sampled_from("abcd"), max_size=4))
                attributes.append(f'itemref="{" ".join(tokens)}"')
        if draw(st.booleans()):
            attributes.append(f'itemprop="p{number}"')
        if draw(st.booleans()):
            attributes.append(f'id="{draw(st.sampled_from("abcd"))}"')
        parts.append(f"<div {' '.join(attributes)}>")
    return f"{_START}{''.join(parts)}{'</div>' * depth}</body></html>"


@pytest.mark.parametrize("content_type", [_HTML, _XHTML])
@given(page=pages())
def test_MD12_MD13_any_page_has_the_properties_and_errors_that_the_text_finds(page: str, content_type: str) -> None:
    literal = Literal(read_tree(page.encode(), content_type))
    expected = [literal.properties(element) for element in literal.items()]

    found = read_items(page.encode(), content_type, address=None).all

    assert [(names_of(item), item.errors) for item in found] == [
        ([element.get("itemprop") for element in properties], errors) for properties, errors in expected
    ]


@given(page=pages())
def test_MD14_the_top_level_items_are_those_without_an_itemprop(page: str) -> None:
    literal = Literal(read_tree(page.encode(), _HTML))
    expected = [element.get("itemprop") is None for element in literal.items()]

    found = read_items(page.encode(), _HTML, address=None)

    assert [item in found.items for item in found.all] == expected


@given(body=st.binary(max_size=300), content_type=st.sampled_from([None, _HTML, _XHTML, "text/html; charset=utf-16"]))
def test_any_bytes_are_read(body: bytes, content_type: str | None) -> None:
    to_json(read_items(body, content_type, address="https://harbour.example/"))


@given(
    parts=st.lists(
        st.sampled_from(
            [
                "<p itemscope itemref='a b'>",
                "<b itemprop=x id=a>",
                "<svg itemscope>",
                "<math itemprop=y>",
                "<template>",
                "</template>",
                "<table itemscope id=b>",
                "<td itemprop='x y'>",
                "<select itemprop=z>",
                "<a href=' ' itemprop=u>",
                "<time datetime itemprop=t>",
                "<base href='//['>",
                "</p>",
                "</b>",
                "text",
                "\x00",
                "<frameset>",
                "<title>t",
            ]
        ),
        max_size=20,
    ),
    living=st.booleans(),
)
def test_any_markup_is_read_and_each_property_is_the_same_in_all_its_items(parts: list[str], living: bool) -> None:  # noqa: FBT001 - drawn
    body = "".join(parts).encode()
    found = read_items(body, _HTML, address="https://harbour.example/", living=living)

    to_json(found, living=living)
    marked = [element for element in read_tree(body, _HTML).elements() if _is_item(element)]
    assert len(marked) == len(found.all)


@given(
    base=st.sampled_from(
        [
            "https://a.example",
            "http://u:p@a.example:8080/b/c?q/r#f/g",
            "HTTP://A.example/b/../c d/\u00e9",
            "file:///b/c",
        ]
    ),
    reference=st.text("/ab.~-_:?#%\\\u00e9 ", max_size=8),
)
def test_URL12_a_reference_leads_where_the_url_standard_says(base: str, reference: str) -> None:
    page = f"<!DOCTYPE html><p itemscope><a itemprop=x href='{reference}'>".encode()

    (item,) = read_items(page, _HTML, address=base).items

    assert item.properties[0].text == (resolve(reference, base) or "")


def _is_item(element: Element) -> bool:
    return element.is_html() and "itemscope" in element.attributes


def names_of(item: Item) -> list[str]:
    return [" ".join(each.names) for each in item.properties]
