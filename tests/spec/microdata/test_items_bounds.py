"""Pages that are written to be dear: there is an end to what is read of them, and it is said (CI-08)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.effort import calls_of
from tests.spec.microdata.items_of import read, values
from tocsin.spec.html import marked
from tocsin.spec.microdata.reading import items

if TYPE_CHECKING:
    from tocsin.spec.microdata.values import Microdata


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
