"""Items as JSON."""

from __future__ import annotations

import json

import pytest

from tests.spec.microdata.items_of import read
from tocsin.spec.microdata.formats import items_json as writing
from tocsin.spec.microdata.formats.items_json import to_json, to_object

_BOAT = "http://boats.example/boat"


def test_JS01_a_page_without_items_has_none() -> None:
    assert to_object(read("<p itemprop=x>y</p>")) == {"items": []}


def test_JS02_an_item_has_its_type_as_written_its_id_and_its_properties() -> None:
    found = read(f"<p itemscope itemtype='{_BOAT} http://a.example/x' itemid='urn:x-hull:7'></p><p itemscope></p>")

    assert to_object(found)["items"] == [
        {"type": f"{_BOAT} http://a.example/x", "id": "urn:x-hull:7", "properties": {}},
        {"properties": {}},
    ]


def test_MD18_today_the_type_is_an_array() -> None:
    found = read(f"<p itemscope itemtype='{_BOAT} http://a.example/x'></p><p itemscope></p>")

    assert to_object(found, living=True)["items"] == [
        {"type": [_BOAT, "http://a.example/x"], "properties": {}},
        {"properties": {}},
    ]


def test_JS03_every_name_of_an_element_gets_the_value_in_the_order_of_the_page() -> None:
    found = read("<p itemscope><i itemprop='b a'>1</i><i itemprop=b itemscope><i itemprop=c>2</i></i></p>")

    (item,) = to_object(found)["items"]
    assert list(item["properties"].items()) == [("b", ["1", {"properties": {"c": ["2"]}}]), ("a", ["1"])]


def test_JS04_an_item_within_itself_is_an_error_there() -> None:
    found = read(
        "<p itemscope itemref=a></p><p id=a itemscope itemprop=x itemref=b><i itemprop=n>A</i></p>"
        "<p id=b itemscope itemprop=y itemref=a><i itemprop=n>B</i></p>"
    )

    assert to_object(found)["items"] == [
        {"properties": {"x": [{"properties": {"n": ["A"], "y": [{"properties": {"x": ["ERROR"], "n": ["B"]}}]}}]}}
    ]


def test_an_item_that_two_share_stands_in_both() -> None:
    found = read("<p itemscope itemref=a></p><p itemscope itemref=a></p><p id=a itemscope itemprop=x></p>")

    assert to_object(found) == {"items": [{"properties": {"x": [{"properties": {}}]}}] * 2}


def test_the_text_is_the_object_and_ends_with_a_line() -> None:
    found = read("<p itemscope><i itemprop=name>Tér\u2028n \U0001f6a2 &lt;/script></i></p>")

    text = to_json(found)

    assert json.loads(text) == to_object(found)
    assert text.startswith('{\n  "items"')
    assert text.endswith("}\n")


def test_CI08_items_that_double_at_each_step_are_cut_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_LETTERS", 100_000)
    found = read(
        "".join(f"<p itemscope id=a{i} itemprop='x y' itemref=a{i + 1}></p>" for i in range(60))
        + "<p itemscope itemref=a0></p>"
    )

    text = to_json(found)

    assert len(text) < 120_000
    assert json.loads(text)["cut"] is True


def test_CI08_long_names_are_counted_as_often_as_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_LETTERS", 200_000)
    doubling = "".join(f"<p itemscope id=a{i} itemprop='x y' itemref=a{i + 1}></p>" for i in range(6))

    found = to_object(read(f"<p itemscope itemref=a0></p>{doubling}<i id=a6 itemprop={'n' * 10_000}>z</i>"))

    assert found["cut"] is True


def test_CI08_items_that_share_many_others_are_cut_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_LETTERS", 100_000)
    blocks = "".join(f"<div id=b{i}>{f'<p itemscope itemprop=x itemref=b{i + 1}></p>' * 10}</div>" for i in range(30))

    text = to_json(read(f"<p itemscope itemref=b0></p>{blocks}"))

    assert len(text) < 120_000
    assert json.loads(text)["cut"] is True


def test_CI08_items_very_deep_within_others_are_cut_so_that_readers_can_follow() -> None:
    chain = "".join(f"<p itemscope itemprop=x id=a{i} itemref=a{i + 1}></p>" for i in range(3000))

    found = to_object(read(f"<p itemscope itemref=a0></p>{chain}"))

    assert found["cut"] is True
    value, depth = found["items"][0], 1
    while isinstance(inner := value["properties"]["x"][0], dict):
        value, depth = inner, depth + 1
    assert (inner, depth) == ("ERROR", writing.DEEPEST)


def test_what_was_cut_when_it_was_read_is_cut_when_it_is_written() -> None:
    found = read(f"<p itemscope><i itemprop='{' '.join(map(str, range(2000)))}'>y</i>")

    assert to_object(found)["cut"] is True
