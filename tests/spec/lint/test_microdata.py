"""Where findings about microdata stand, and which pages have none."""

from __future__ import annotations

import pytest

from tests.spec.lint.broken import judge, levels, places
from tocsin.spec.html import marked
from tocsin.spec.lint import microdata
from tocsin.spec.lint.check import lint
from tocsin.spec.lint.microdata import place_items
from tocsin.spec.lint.page import open_page
from tocsin.spec.microdata.values import HCARD, WORK, Item

_XHTML = "<html xmlns='http://www.w3.org/1999/xhtml' xmlns:s='http://www.w3.org/2000/svg'>"


def test_each_item_and_property_knows_its_place() -> None:
    text = "<!DOCTYPE html><p itemscope><b itemprop=a>x</b><i itemprop=b itemscope></i></p>"
    page = open_page(text.encode(), "text/html; charset=utf-8")
    assert page is not None

    placed = place_items(page)

    assert placed is not None
    shown = {
        "item" if isinstance(each, Item) else each.names[0]: text[slice(*element.span)]
        for each, element in placed.elements.items()
        if each is not placed.data.all[1]
    }
    assert shown == {"item": "<p itemscope>", "a": "<b itemprop=a>", "b": "<i itemprop=b itemscope>"}


def test_a_page_without_microdata_has_no_items_to_place() -> None:
    page = open_page(b"<!DOCTYPE html><p id=a lang=en>x", "text/html")
    assert page is not None

    assert place_items(page) is None


@pytest.mark.parametrize(
    ("page", "rule", "place"),
    [
        ("<!DOCTYPE html><p itemscope itemtype='b'>", "MD-03", 38),
        ("<!DOCTYPE html><p itemscope><b itemprop='x a:b'>", "MD-08", 43),
        ("<!DOCTYPE html><div itemscope itemref='a'><p id=a>", "MD-13", 39),
        ("<!DOCTYPE html>\r<p itemprop='x'>", "MD-15", 13),
        (f"<!DOCTYPE html><p itemscope itemtype='{WORK}'>", "WK-01", 38),
    ],
)
def test_a_finding_stands_where_the_author_looks(page: str, rule: str, place: int) -> None:
    assert places(rule, page) == [place]


@pytest.mark.parametrize(
    ("element", "rule"), [("<p itemscope itemtype=b>", "MD-03"), ("<p itemscope><b itemprop=a:b></b>", "MD-08")]
)
def test_a_fault_that_many_elements_have_is_told_of_each(element: str, rule: str) -> None:
    page = f"<!DOCTYPE html><p itemscope itemtype=urn:x:a><b itemprop=a></b>{element}{element}{element}"

    assert len(places(rule, page)) == 3


def test_a_type_of_no_item_is_judged_where_it_is_one() -> None:
    page = "<!DOCTYPE html><p itemtype=b><p itemscope itemtype=b>"

    assert (len(places("MD-02", page)), len(places("MD-03", page))) == (1, 1)


def test_in_xhtml_findings_stand_at_their_elements_too() -> None:
    body = (
        "<p itemprop='x'/><s:g itemprop='y' itemscope=''/><template><p itemprop='z'/></template>"
        "<p itemscope='' itemref='a'><b id='a'/></p>"
    )

    found = lint(f"{_XHTML}{body}</html>".encode(), "application/xhtml+xml")

    assert [(each.rule, each.column - 1 - len(_XHTML)) for each in found] == [
        ("MD-15", body.index("x'")),
        ("MD-13", body.index("a'><b")),
    ]


def test_what_xml_does_not_read_is_not_judged() -> None:
    found = lint(f"{_XHTML}<p itemscope=''/><p itemprop=></html>".encode(), "application/xhtml+xml")

    assert [each.rule for each in found] == ["CI-09"]


def test_elements_that_html_opens_again_are_told_where_they_are_written() -> None:
    assert places("MD-15", "<!DOCTYPE html><p><b itemprop=x>one<p>two") == [30]


def test_MD11_urls_and_dates_of_many_elements_are_told_once() -> None:
    metas = "<meta itemprop=image content=https://a.example/i.png><meta itemprop=day content=2026-11-21>" * 3
    found = [each.message for each in judge(f"<p itemscope>{metas}") if each.rule == "MD-11"]

    assert [message.count("(as are 2 more)") for message in found] == [1, 1]


def test_MD12_a_ring_of_items_names_two_of_them_and_stands_at_the_itemref_that_closes_it() -> None:
    page = (
        "<!DOCTYPE html><p itemscope itemref=b></p><p id=b itemscope itemprop=x itemref=in></p>"
        "<div id=in><div itemscope itemprop=y itemref=b></div></div>"
    )

    (found,) = (each for each in judge(page, "") if each.rule == "MD-12")

    assert found.message.startswith('"b" and "y" hold each other')
    assert places("MD-12", page) == [page.rindex("b>")]


def test_MD12_a_ring_that_an_item_within_another_closes_stands_at_its_itemref() -> None:
    page = (
        "<!DOCTYPE html><p itemscope itemref=c></p><b id=b itemscope itemprop=x><i id=c itemscope itemprop=y itemref=b>"
    )

    assert places("MD-12", page) == [page.rindex("b>")]


def test_MD12_items_that_all_hold_each_other_are_told_of_once_each() -> None:
    everyone = " ".join(f"i{number}" for number in range(9))
    items = "".join(
        f"<b id=i{number} itemscope itemprop=x itemref='{everyone.replace(f'i{number}', '')}'></b>"
        for number in range(9)
    )

    assert len(levels("MD-12", items)) == 8


def test_MD15_items_that_only_unused_ones_hold_are_unused() -> None:
    ring = "<p id=a itemscope itemprop=x itemref=b></p><p id=b itemscope itemprop=y itemref=a></p>"

    assert levels("MD-15", ring) == ["error", "error"]
    assert levels("MD-15", ring, "<p itemscope itemref=a></p>") == []


def test_MD15_of_a_page_that_was_read_in_part_nothing_is_called_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked, "MOST_MARKS", 2)

    assert levels("MD-15", "<p itemprop=y></p><p itemscope></p><p itemscope><b itemprop=x></b></p>") == []


def test_elements_of_svg_carry_no_microdata_to_judge() -> None:
    assert judge("<svg itemprop='' itemtype=x itemscope=no></svg>") == ()


def test_names_of_a_work_may_be_urls_of_others() -> None:
    page = f"<p itemscope itemtype={WORK}><a itemprop='work http://a.example/x' href=y>x</a></p>"

    assert levels("WK-01", page) == []


@pytest.mark.parametrize(
    ("shared", "rule", "type_"),
    [
        ("<p id=a itemprop=adr itemscope><b itemprop=region>x</b><b itemprop=locality>x</b></p>", "VC-01", HCARD),
        ("<p id=a><b itemprop=title>x</b><b itemprop=license>x</b><b itemprop=author>x</b></p>", "WK-01", WORK),
    ],
)
def test_what_thousands_of_items_share_is_not_judged_for_each(
    shared: str, rule: str, type_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"{shared}<i itemscope itemtype={type_} itemref=a></i><i itemscope itemtype={type_} itemref=a></i>"
    both = set(places(rule, page))
    monkeypatch.setattr(microdata, "_MOST_PROPERTIES", 5)

    found = set(places(rule, page))

    assert found < both
    assert min(both) in found
