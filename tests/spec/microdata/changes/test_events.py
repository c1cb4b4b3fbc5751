"""How an event shows the changes of items."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given

from tests.spec.microdata.making import item, page, pages
from tocsin.model import JsonObject
from tocsin.spec.microdata.changes.comparing import MOST_BYTES, MOST_CHANGES, compare_items, show_changes
from tocsin.spec.microdata.reading.packing import CUT, SHORTENED
from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata

SINCE = "2026-11-20T08:22:04.900Z"


def tell(before: Microdata, latest: Microdata) -> Any:
    return show_changes(compare_items(before, latest), since=SINCE)


def test_a_change_an_addition_and_a_removal_are_told_with_every_key() -> None:
    before = page(item(summary="Bluesday\nTuesday", dtstart="2009-05-05"), item(HCARD, "urn:x", fn="Ann"))
    latest = page(item(summary="Bluesday\nTuesday", dtstart="2009-05-06"), item(summary="New", url=item(None, a="b")))

    assert tell(before, latest) == {
        "since": SINCE,
        "added": 1,
        "removed": 1,
        "changed": 1,
        "cut": False,
        "changes": [
            {
                "change": "changed",
                "item": {"type": VEVENT, "id": None, "position": 1, "label": "Bluesday Tuesday"},
                "within": [],
                "path": [],
                "property": "dtstart",
                "previous": ["2009-05-05"],
                "latest": ["2009-05-06"],
            },
            {
                "change": "added",
                "item": {"type": VEVENT, "id": None, "position": 2, "label": "New"},
                "within": [],
                "path": [],
                "property": None,
                "previous": None,
                "latest": {
                    "type": VEVENT,
                    "id": None,
                    "properties": {"summary": ["New"], "url": [{"type": None, "id": None, "properties": {"a": ["b"]}}]},
                },
            },
            {
                "change": "removed",
                "item": {"type": HCARD, "id": "urn:x", "position": 1, "label": "Ann"},
                "within": [],
                "path": [],
                "property": None,
                "previous": {"type": HCARD, "id": "urn:x", "properties": {"fn": ["Ann"]}},
                "latest": None,
            },
        ],
    }


def test_of_an_item_within_others_it_is_told_which_it_is() -> None:
    def of(day: str) -> Microdata:
        return page(item(name="Season", event=[item(name="A", day="1"), item(HCARD, "urn:b", name="B", day=day)]))

    (change,) = tell(of("2"), of("3"))["changes"]

    assert (change["within"], change["property"]) == (["event"], "day")
    assert change["path"] == [{"type": HCARD, "id": "urn:b", "position": 2, "label": "B"}]


def test_where_nothing_differs_there_is_nothing_to_tell() -> None:
    assert tell(page(item(name="a")), page(item(name="a"))) is None


@pytest.mark.parametrize("cut", [(CUT,), (SHORTENED,)])
def test_where_only_what_is_not_kept_may_differ_that_is_told(cut: tuple[str, ...]) -> None:
    data = page(item(name="a"), cut=cut)

    for before, latest in [(data, page(item(name="a"))), (page(item(name="a")), data)]:
        assert tell(before, latest) == {
            "since": SINCE,
            "added": 0,
            "removed": 0,
            "changed": 0,
            "cut": True,
            "changes": [],
        }


def test_of_more_than_a_hundred_changes_the_first_are_told_and_it_says_so() -> None:
    told = tell(page(), page(*[item(name=str(number)) for number in range(MOST_CHANGES + 1)]))

    assert (told["added"], len(told["changes"]), told["cut"]) == (MOST_CHANGES + 1, MOST_CHANGES, True)
    assert not tell(page(), page(*[item(name=str(number)) for number in range(MOST_CHANGES)]))["cut"]


def test_a_long_text_is_cut_and_it_says_so() -> None:
    told = tell(page(), page(item(description="d" * 1_001)))

    (description,) = told["changes"][0]["latest"]["properties"]["description"]
    assert (len(description), description[-2:], told["cut"]) == (1_000, "d…", True)


def test_of_long_texts_the_place_where_they_differ_is_told() -> None:
    before, latest = (page(item(body="x" * 5_000 + value + "y" * 5_000)) for value in ("old", "new"))

    (change,) = tell(before, latest)["changes"]

    assert change["previous"][0][:104] == "…" + "x" * 100 + "old"
    assert change["latest"][0][:104] == "…" + "x" * 100 + "new"


def test_MD_19_a_property_of_twenty_values_is_told_whole() -> None:
    was = [str(number) for number in range(20)]
    now = [*was[:10], "x", *was[11:]]

    told = tell(page(item(tag=was)), page(item(tag=now)))

    (change,) = told["changes"]
    assert (change["previous"], change["latest"], told["cut"]) == (was, now, False)


def test_of_more_values_those_are_left_out_that_both_begin_and_end_with_and_it_says_so() -> None:
    was = [str(number) for number in range(20)]

    told = tell(page(item(tag=was)), page(item(tag=[*was[:10], "x", *was[10:]])))

    (change,) = told["changes"]
    assert (change["previous"], change["latest"], told["cut"]) == ([], ["x"], True)


def test_many_values_of_which_none_is_alike_at_an_end_are_all_told() -> None:
    was = [str(number) for number in range(25)]

    told = tell(page(item(tag=was)), page(item(tag=was[::-1])))

    (change,) = told["changes"]
    assert (change["previous"], change["latest"], told["cut"]) == (was, was[::-1], False)


def test_values_that_have_no_room_beside_long_ones_that_did_not_change_are_told_alone() -> None:
    was, now = (page(item(tag=["x" * 900, "y" * 900, value, "z" * 900])) for value in ("old", "new"))

    told = tell(was, now)

    (change,) = told["changes"]
    assert (change["previous"], change["latest"], told["cut"]) == (["old"], ["new"], True)


def test_a_long_property_leaves_room_for_what_it_became() -> None:
    was, now = (page(item(tag=[f"{value}{number}" * 50 for number in range(100)])) for value in "ab")

    (change,) = tell(was, now)["changes"]

    assert change["previous"]
    assert change["latest"]


@pytest.mark.parametrize("letter", ["a", "\x01", '"', "字", "🌊"])
def test_whatever_pages_say_no_event_tells_more_than_32_kib(letter: str) -> None:
    long = letter * 3_000
    names = {f"{letter * 500}{number}": long for number in range(40)}
    deep = item(long, long, **names)
    for _ in range(60):
        deep = item(long, long, **{long: deep})
    latest = page(*[item(long, None, name=long, **names) for _ in range(120)], deep)

    for told in (tell(page(), latest), tell(latest, page()), tell(page(deep), page(item(long, long, **names)))):
        assert len(msgspec.json.encode(told)) <= MOST_BYTES
        assert told["changes"]
        assert told["cut"]


def test_of_an_item_with_more_properties_than_are_shown_the_first_are_and_it_says_so() -> None:
    def of(count: int) -> Any:
        return tell(page(), page(item(**{f"n{number:03}": "x" for number in range(count)})))

    assert not of(100)["cut"]
    assert of(101)["cut"]
    assert [*of(101)["changes"][0]["latest"]["properties"]] == [f"n{number:03}" for number in range(100)]


def test_of_a_property_with_more_values_than_are_shown_the_first_are_and_it_says_so() -> None:
    shown = tell(page(), page(item(tag=["x"] * 101)))

    assert shown["cut"]
    assert shown["changes"][0]["latest"]["properties"] == {"tag": ["x"] * 100}


def test_what_is_within_too_many_items_is_not_told() -> None:
    deep = item(None, name="lowest")
    for _ in range(10):
        deep = item(None, part=deep)

    told = tell(page(), page(deep))

    assert told["cut"]
    assert "lowest" not in str(told)


def test_JS_04_items_in_a_circle_are_told_as_deep_as_others() -> None:
    one = Item(None, None)
    one.properties = item(None, name="n", part=one).properties

    assert tell(page(), Microdata(None, None, (one,), (one,)))["cut"]


@given(pages(), pages())
def test_each_entry_has_every_key_and_the_numbers_are_those_of_all(before: Microdata, latest: Microdata) -> None:
    told: JsonObject | None = tell(before, latest)

    for entry in told["changes"] if told else ():
        assert list(entry) == ["change", "item", "within", "path", "property", "previous", "latest"]
        for each in (entry["item"], *entry["path"]):
            assert list(each) == ["type", "id", "position", "label"]
        assert len(entry["path"]) == len(entry["within"])
        assert entry["change"] == "changed" or entry["property"] is None
    changes = compare_items(before, latest)
    numbers = (told["added"], told["removed"], told["changed"]) if told else (0, 0, 0)
    assert numbers == (changes.added, changes.removed, changes.changed)
