"""What an element says as a property: by what it is, and as HTML reads it today."""

from __future__ import annotations

import pytest

from tests.spec.microdata.items_of import ADDRESS, read, values
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.values import ValueKind

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
