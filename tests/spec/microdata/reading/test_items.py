"""Items, their types, properties and values, and the limits of reading them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import calls_of
from tests.spec.microdata.items_of import ADDRESS, read, read_xhtml, values
from tests.spec.microdata.literal import Literal
from tocsin.spec.html import marked
from tocsin.spec.html.tree import Element, read_tree
from tocsin.spec.infrastructure.urls import resolve
from tocsin.spec.microdata.formats.items_json import to_json, to_object
from tocsin.spec.microdata.formats.vcard import find_cards
from tocsin.spec.microdata.reading import items
from tocsin.spec.microdata.reading.items import may_hold_items, read_items
from tocsin.spec.microdata.values import Item, Microdata, ValueKind


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


_FOLDER = "https://harbour.example/boats/"


@pytest.mark.parametrize(
    ("element", "kind", "value"),
    [
        ("<meta itemprop=x content=' a '>", ValueKind.TEXT, " a "),
        ("<meta itemprop=x>", ValueKind.TEXT, ""),
        ("<audio itemprop=x src=a>", ValueKind.URL, _FOLDER + "a"),
        ("<embed itemprop=x src=a>", ValueKind.URL, _FOLDER + "a"),
        ("<iframe itemprop=x src=a>", ValueKind.URL, _FOLDER + "a"),
        ("<img itemprop=x src=' a b '>", ValueKind.URL, _FOLDER + "a%20b"),
        ("<source itemprop=x src=a>", ValueKind.URL, _FOLDER + "a"),
        ("<video itemprop=x src=/a>", ValueKind.URL, "https://harbour.example/a"),
        ("<a itemprop=x href=../a#b>t</a>", ValueKind.URL, "https://harbour.example/a#b"),
        ("<map><area itemprop=x href=mailto:a@b.example></map>", ValueKind.URL, "mailto:a@b.example"),
        ("<link itemprop=x href=a>", ValueKind.URL, _FOLDER + "a"),
        ("<object itemprop=x data=a>t</object>", ValueKind.URL, _FOLDER + "a"),
        ("<img itemprop=x>", ValueKind.URL, ""),
        ("<img itemprop=x src>", ValueKind.URL, ADDRESS),
        ("<a itemprop=x href='http://[x'>t</a>", ValueKind.URL, ""),
        ("<time itemprop=x datetime=' 2026 '>t</time>", ValueKind.TIME, " 2026 "),
        ("<time itemprop=x datetime>t</time>", ValueKind.TIME, ""),
        ("<time itemprop=x>5 May</time>", ValueKind.TIME, "5 May"),
        ("<b itemprop=x> a <i>b</i>\n</b>", ValueKind.TEXT, " a b\n"),
        ("<b itemprop=x content=a href=b>t</b>", ValueKind.TEXT, "t"),
        ("<track itemprop=x src=a>", ValueKind.TEXT, ""),
        ("<data itemprop=x value=7>seven</data>", ValueKind.TEXT, "seven"),
        ("<meter itemprop=x value=7>seven</meter>", ValueKind.TEXT, "seven"),
    ],
)
def test_MD10_the_value_depends_on_the_element(element: str, kind: ValueKind, value: str) -> None:
    (item,) = read(f"<div itemscope>{element}</div>").items

    assert [(each.kind, each.value) for each in item.properties] == [(kind, value)]


@pytest.mark.parametrize(
    ("element", "kind", "value"),
    [
        ("<data itemprop=x value=7>seven</data>", ValueKind.NUMBER, "7"),
        ("<data itemprop=x>seven</data>", ValueKind.NUMBER, ""),
        ("<meter itemprop=x value=7>seven</meter>", ValueKind.NUMBER, "7"),
        ("<track itemprop=x src=a>", ValueKind.URL, _FOLDER + "a"),
    ],
)
def test_MD18_today_some_more_elements_have_values_of_their_own(element: str, kind: ValueKind, value: str) -> None:
    (item,) = read(f"<div itemscope>{element}</div>", living=True).items

    assert [(each.kind, each.value) for each in item.properties] == [(kind, value)]


def test_MD10_where_nothing_says_where_the_page_is_relative_urls_lead_nowhere() -> None:
    (item,) = read(
        "<p itemscope itemid=a><a itemprop=x href=a></a><a itemprop=x href=http://b.example/></a></p>", address=None
    ).items

    assert [each.value for each in item.properties] == ["", "http://b.example/"]
    assert item.id is None


def test_URL07_urls_are_resolved_against_the_base_of_the_page() -> None:
    page = "<base href='/b/'><p itemscope itemid=a><a itemprop=x href=a></a></p>"

    (item,) = read(page).items
    (elsewhere,) = read(page, base="https://quay.example/q/").items

    assert (item.id, item.properties[0].value) == ("https://harbour.example/b/a",) * 2
    assert (elsewhere.id, elsewhere.properties[0].value) == ("https://quay.example/q/a",) * 2


def test_URL07_a_base_outside_of_the_head_or_in_a_template_is_none() -> None:
    (item,) = read("<template><base href='/t/'></template><p itemscope itemid=a><base href='/b/'></p>").items

    assert item.id == _FOLDER + "a"


def test_URL08_queries_are_written_in_the_encoding_of_the_page() -> None:
    page = "<!DOCTYPE html><meta charset=windows-1252><p itemscope><a itemprop=x href='?é'></a></p>"

    (item,) = read_items(page.encode("windows-1252"), "text/html", address=ADDRESS).items

    assert values(item) == [("x", ADDRESS + "?%E9")]


def test_what_each_of_many_items_gets_by_itemref_ends_somewhere() -> None:
    found = read("<p itemscope itemref=a></p>" * 1500 + f"<div id=a>{'<i itemprop=x>y</i>' * 1000}</div>")

    assert sum(len(item.properties) for item in found.items) == items.MOST_PROPERTIES
    assert found.is_cut
    assert "properties in all" in found.problems[0]


def test_the_text_of_properties_within_each_other_ends_somewhere() -> None:
    found = read(f"<div itemscope>{'<div itemprop=x>' * 60}{'y' * 500_000}")

    assert sum(len(each.text or "") for each in found.items[0].properties) == items.MOST_TEXT
    assert found.is_cut


def test_a_url_for_which_there_is_no_room_is_left_out_whole() -> None:
    found = read(f"<base href='/{'a' * 8000}/'><p itemscope>{'<link itemprop=x href=b>' * 2200}")

    (item,) = found.items
    assert {len(each.text or "") for each in item.properties} == {8026, 0}
    assert found.is_cut


def test_the_text_of_very_deep_properties_is_not_read() -> None:
    found = read(f"<div itemscope>{'<div itemprop=x>' * 100}y")

    assert [text for _, text in values(found.items[0])] == ["y"] * items.DEEPEST_TEXT + [""] * 36
    assert "others" in found.problems[0]


def test_the_names_of_one_property_end_somewhere() -> None:
    found = read(f"<p itemscope><i itemprop='{' '.join(map(str, range(2000)))}'>y</i>")

    assert len(found.items[0].properties[0].names) == items.MOST_NAMES
    assert "names" in found.problems[0]


@pytest.mark.parametrize("content_type", ["text/html", "application/xhtml+xml"])
def test_the_elements_of_a_page_end_somewhere(content_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked, "MOST_MARKS", 3)
    page = "<html xmlns='http://www.w3.org/1999/xhtml'>" + "<p itemscope=''></p>" * 5 + "</html>"

    found = items.read_items(page.encode(), content_type, address=None)

    assert len(found.all) == 3
    assert found.is_cut


@pytest.mark.parametrize("content_type", ["text/html", "application/xhtml+xml"])
def test_only_elements_that_an_itemref_leads_to_are_counted(content_type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked, "MOST_MARKS", 2)
    others = "<b id='b'></b>" * 2 + "<b id='a'></b>"
    page = f"<html xmlns='http://www.w3.org/1999/xhtml'><p itemscope='' itemref='a'></p><b id='a'></b>{others}</html>"

    found = items.read_items(page.encode(), content_type, address=None)

    assert not found.is_cut


@pytest.mark.parametrize(
    "html",
    [
        "<p itemscope itemref='" + "a " * 50_000 + "'></p><b id=a itemprop=x>y</b>",
        "".join(f"<p itemscope itemprop=x id=a{i} itemref=a{i + 1}></p>" for i in range(5000)),
        "".join(
            f"<p itemscope itemprop=x id=a{i} itemref='a{(i + 1) % 3000} a{(i + 7) % 3000}'></p>" for i in range(3000)
        ),
        "<div itemscope itemprop=x>" * 10_000,
        "<p itemscope itemref='"
        + " ".join(f"a{i}" for i in range(5000))
        + "'></p>"
        + "".join(f"<div id=a{i} itemprop=x>" for i in range(5000)),
        "<template>" * 5000 + "<p itemscope>" * 5000,
    ],
    ids=["one token", "a chain", "rings", "depth", "targets within each other", "templates"],
)
def test_hostile_pages_take_no_more_than_their_size(html: str) -> None:
    found: list[Microdata] = []

    calls = calls_of(lambda: found.append(read(html)))

    assert calls < 500_000  # the text's own algorithm makes thousands of times as many
    assert len(found[0].all) <= 10_000


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
