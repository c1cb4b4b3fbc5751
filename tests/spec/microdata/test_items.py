"""Items, their properties and their values, as text 003 defines them."""

from __future__ import annotations

import pytest

from tocsin.spec.microdata.items import may_hold_items, read_items
from tocsin.spec.microdata.values import Item, Kind, Microdata

ADDRESS = "https://harbour.example/boats/tern.html"


def read(html: str, *, address: str | None = ADDRESS, base: str | None = None, living: bool = False) -> Microdata:
    return read_items(
        f"<!DOCTYPE html><title>t</title>{html}".encode(),
        "text/html; charset=utf-8",
        address=address,
        base=base,
        living=living,
    )


def values(item: Item) -> list[tuple[str, str | None]]:
    return [(" ".join(each.names), each.text) for each in item.properties]


def test_MD01_itemscope_makes_an_item_whatever_its_value_is() -> None:
    found = read("<p itemscope></p><p itemscope=no></p><p itemprop=x></p>")

    assert len(found.all) == len(found.items) == 2


def test_MD02_the_type_is_as_written_and_an_empty_one_is_none() -> None:
    found = read("<p itemscope itemtype='http://a.example/x  http://a.example/y'></p><p itemscope itemtype=''></p>")

    assert [item.type for item in found.items] == ["http://a.example/x  http://a.example/y", None]
    assert found.items[0].types == ("http://a.example/x", "http://a.example/y")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (" urn:isbn:0306406152 ", "urn:isbn:0306406152"),
        ("#deck", ADDRESS + "#deck"),
        ("", ADDRESS),
        ("http://[x", None),
    ],
)
def test_MD05_the_global_identifier_is_resolved(written: str, expected: str | None) -> None:
    assert read(f"<p itemscope itemid='{written}'></p>").items[0].id == expected


def test_MD05_without_an_attribute_there_is_no_global_identifier() -> None:
    assert read("<p itemscope></p>").items[0].id is None


def test_MD07_an_itemref_leads_to_the_first_element_with_the_id() -> None:
    found = read("<p itemscope itemref='b a none'></p><i id=a itemprop=x>1</i><i id=a itemprop=x>2</i><b id=b>0</b>")

    assert values(found.items[0]) == [("x", "1")]


def test_MD09_names_keep_their_order_and_stand_once() -> None:
    (item,) = read("<p itemscope><i itemprop=' b a\tb '>1</i></p>").items

    assert item.properties[0].names == ("b", "a")


def test_MD14_an_item_with_an_itemprop_is_no_top_level_item() -> None:
    found = read("<p itemscope itemprop></p>")

    assert found.items == ()
    assert len(found.all) == 1


@pytest.mark.parametrize(
    "body",
    [b"<p ITEMscope>", "<p itemscope>".encode("utf-16"), b"<p item\x1b(Bscope>"],
    ids=["case", "utf-16", "iso-2022-jp"],
)
def test_a_look_at_the_bytes_sees_an_item_in_any_encoding(body: bytes) -> None:
    assert may_hold_items(body)


def test_a_look_at_the_bytes_sees_that_there_is_none() -> None:
    assert not may_hold_items(b"<p itemprop=scope>item scope</p>")


def test_an_item_as_value_is_of_its_own_kind() -> None:
    (outer,) = read("<p itemscope><b itemscope itemprop=inner><i itemprop=x>1</i></b></p>").items

    assert [each.kind for each in outer.properties] == [Kind.ITEM]
    assert outer.properties[0].item is not None
    assert values(outer.properties[0].item) == [("x", "1")]
