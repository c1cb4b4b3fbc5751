"""What parts the types of an item: the white space of HTML, and no other (TOK-01, MD-18)."""

from __future__ import annotations

import pytest

from tocsin.spec.microdata.formats.items_json import to_object
from tocsin.spec.microdata.formats.vcard import find_cards
from tocsin.spec.microdata.reading.items import read_items

HCARD = "http://microformats.org/profile/hcard"
OTHERS = ("\u00a0", "\u2003", "\u0085", "\x0b")


def page(between: str) -> bytes:
    return f"<!DOCTYPE html><p itemscope itemtype='{HCARD}{between}urn:x'>".encode()


@pytest.mark.parametrize("between", [" ", "\t", "\n", "\f", "&#13;"])
def test_TOK01_white_space_of_html_parts_types(between: str) -> None:
    data = read_items(page(between), "text/html; charset=utf-8", address=None)

    assert data.items[0].types == (HCARD, "urn:x")
    assert find_cards(data) == data.items


@pytest.mark.parametrize("between", OTHERS)
def test_TOK01_other_white_space_is_a_part_of_a_type(between: str) -> None:
    data = read_items(page(between), "text/html; charset=utf-8", address=None, living=True)

    assert find_cards(data) == ()
    assert to_object(data, living=True)["items"][0]["type"] == [f"{HCARD}{between}urn:x"]
