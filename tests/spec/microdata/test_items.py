"""Items, their properties and their values, as text 003 defines them."""

from __future__ import annotations

import pytest

from tests.spec.microdata.items_of import ADDRESS, read, read_xhtml, values
from tocsin.spec.microdata.reading.items import may_hold_items, read_items
from tocsin.spec.microdata.values import ValueKind


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

    assert [each.kind for each in outer.properties] == [ValueKind.ITEM]
    assert outer.properties[0].item is not None
    assert values(outer.properties[0].item) == [("x", "1")]


def test_an_item_that_many_share_is_the_same_in_all_of_them() -> None:
    first, second = read("<p itemscope itemref=a></p><p itemscope itemref=a></p><p id=a itemscope itemprop=x>").items

    assert first.properties == second.properties


def test_JS04_items_that_hold_each_other_are_read_as_such() -> None:
    (top,) = read(
        "<p itemscope itemref=a></p><p id=a itemscope itemprop=x itemref=b></p>"
        "<p id=b itemscope itemprop=y itemref=a></p>"
    ).items
    (to_a,) = top.properties
    assert to_a.item is not None
    (to_b,) = to_a.item.properties
    assert to_b.item is not None

    assert to_b.item.properties == (to_a,)


def test_MD13_an_item_that_holds_itself_is_an_error_and_no_property() -> None:
    (item,) = read("<div id=a itemscope itemprop=x itemref='a b'></div><p id=b itemprop=y>1</p>").all

    assert values(item) == [("y", "1")]
    assert item.errors == 1


def test_the_content_of_a_template_is_not_the_pages() -> None:
    found = read(
        "<template><p itemscope></p><p id=a itemprop=x>1</p></template>"
        "<p itemscope itemref=a></p><p id=a itemprop=x>2</p>"
    )

    assert [values(item) for item in found.all] == [[("x", "2")]]


def test_MD10_the_content_of_a_template_is_in_no_text() -> None:
    page = "<p itemscope=''><b itemprop='x'>a<template>b<i>c</i><template>d</template></template>e</b></p>"

    assert values(read(page).items[0]) == values(read_xhtml(page).items[0]) == [("x", "ae")]


def test_a_template_may_be_a_property_itself() -> None:
    (item,) = read("<p itemscope><template itemprop=x>a<b itemprop=y></b></template></p>").items

    assert values(item) == [("x", "")]


def test_only_elements_of_html_carry_microdata() -> None:
    (item,) = read(
        "<div itemscope><svg itemscope itemprop=x><foreignObject><p itemprop=y>1</p></foreignObject></svg></div>"
    ).all

    assert values(item) == [("y", "1")]


def test_an_itemref_leads_to_what_elements_of_any_kind_hold() -> None:
    (item,) = read("<p itemscope itemref=a></p><svg id=a><foreignObject><p itemprop=y>1</p></foreignObject></svg>").all

    assert values(item) == [("y", "1")]


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<p itemscope><b itemprop=x></b></p>", None),
        ("<div lang=de><p itemscope><b itemprop=x></b></p></div>", "de"),
        ("<div lang=de><p itemscope lang=fr><b itemprop=x lang=en></b></p></div>", "en"),
        ("<div lang=de><p itemscope><i lang=''><b itemprop=x></b></i></p></div>", None),
        ("<div lang=de><p itemscope itemref=a></p></div><b id=a lang=en><b itemprop=x></b></b>", "en"),
        ("<p itemscope><svg xml:lang=fr lang=de><desc><b itemprop=x></b></desc></svg></p>", "fr"),
    ],
)
def test_a_property_has_the_nearest_language(html: str, language: str | None) -> None:
    assert [each.language for each in read(html).all[0].properties] == [language]


@pytest.mark.parametrize(
    ("html", "languages"),
    [
        ("<p itemscope><b itemprop=x></b></p>", ["da"]),
        ("<html lang=''><p itemscope><b itemprop=x></b></p>", [None]),
        (
            "<p itemscope><b itemprop=x></b><i itemprop=y lang=de></i><u lang=''><i itemprop=y></i></u></p>",
            ["da", "de", None],
        ),
    ],
)
def test_LM26_a_property_below_no_lang_has_the_language_of_the_pages_pragma(
    html: str, languages: list[str | None]
) -> None:
    pragma = '<meta http-equiv="Content-Language" content="da"></meta>'
    in_xhtml = f'{pragma}<p itemscope=""><b itemprop="x"></b></p>'

    assert [each.language for each in read(pragma + html).all[0].properties] == languages
    assert [each.language for each in read_xhtml(in_xhtml).all[0].properties] == ["da"]


def test_the_title_is_that_of_the_page_as_written() -> None:
    found = read_items(b"<svg><title>s</title></svg><title> T\n t</title>", "text/html", address=None)

    assert found.title == " T\n t"


def test_what_is_no_page_has_no_items() -> None:
    found = read_items(b"%PDF-1.7 itemscope", "application/pdf", address=ADDRESS)

    assert (found.all, found.title) == ((), None)
    assert found.problems


def test_CI09_xhtml_is_read_as_xml() -> None:
    (item,) = read_xhtml(
        '<div itemscope="" itemref="a" lang="de"><b itemprop="x"/>text</div>'
        '<s:g xmlns:s="http://www.w3.org/2000/svg" itemscope="" id="a"><b itemprop="y">1</b></s:g>'
    ).all

    assert values(item) == [("x", ""), ("y", "1")]
    assert [each.language for each in item.properties] == ["de", None]


def test_URL06_in_xhtml_the_nearest_xml_base_counts() -> None:
    (item,) = read_xhtml('<div itemscope="" xml:base="/q/"><a itemprop="x" href="a" xml:base="r/"/></div>').items

    assert values(item) == [("x", "https://harbour.example/q/r/a")]


def test_xhtml_is_read_up_to_where_it_is_not_well_formed() -> None:
    found = read_xhtml('<p itemscope=""><b itemprop="x">1</b></p><p itemscope=></p><p itemscope=""></p>')

    assert [values(item) for item in found.all] == [[("x", "1")]]
    assert "not well-formed" in found.problems[0]
