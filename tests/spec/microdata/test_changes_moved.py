"""Items that move into another one, or out of it: they are still on the page, and neither added nor removed."""

from __future__ import annotations

from functools import partial

import pytest

from tests.effort import calls_of
from tests.spec.microdata.making import item, page
from tests.spec.microdata.test_changes import numbers, told
from tocsin.spec.microdata.changes.comparing import compare_items
from tocsin.spec.microdata.values import VEVENT, Item, Microdata

LIST = "http://schema.org/ItemList"


def jazz(day: str = "5", id_: str | None = None) -> Item:
    return item(VEVENT, id_, summary="Jazz", dtstart=day)


def blues(day: str = "6", id_: str | None = None) -> Item:
    return item(VEVENT, id_, summary="Blues", dtstart=day)


def listed(*items: Item) -> Item:
    return item(LIST, None, itemListElement=items)


ALONE, TOGETHER = page(jazz(), blues()), page(listed(jazz(), blues()))


@pytest.mark.parametrize(
    ("before", "latest", "counts"), [(ALONE, TOGETHER, (1, 0, 0)), (TOGETHER, ALONE, (0, 1, 0))], ids=["into", "out of"]
)
def test_items_that_a_new_list_holds_are_not_removed_and_those_of_a_list_that_went_not_added(
    before: Microdata, latest: Microdata, counts: tuple[int, int, int]
) -> None:
    changes = compare_items(before, latest)

    assert numbers(changes) == counts
    assert changes.changes[0].item.type == LIST


def test_an_item_that_moves_into_a_list_that_was_there_is_told_as_one_of_the_list() -> None:
    changes = compare_items(page(jazz(), listed(blues())), page(listed(blues(), jazz())))

    assert numbers(changes) == (0, 0, 1)
    assert [(one.change, one.property) for one in changes.changes] == [("changed", "itemListElement")]


def test_MD_19_one_of_the_same_global_id_is_compared_wherever_it_moved() -> None:
    before = page(jazz("5", "urn:1"), blues("6", "urn:2"))
    latest = page(listed(blues("6", "urn:2"), jazz("7", "urn:1")))

    changes = compare_items(before, latest)

    assert numbers(changes) == (1, 0, 1)
    assert ("changed", 1, (), "dtstart", ("5",), ("7",)) in told(changes)
    back = compare_items(latest, before)
    assert numbers(back) == (0, 1, 1)
    assert ("changed", 1, (), "dtstart", ("7",), ("5",)) in told(back)


def test_an_item_whose_like_was_within_a_list_before_did_not_move_there() -> None:
    changes = compare_items(page(jazz(), listed(jazz())), page(listed(jazz())))

    assert (numbers(changes), told(changes)) == ((0, 1, 0), [("removed", 1, (), None, (), ())])


def test_of_two_that_went_one_moved_into_the_list() -> None:
    changes = compare_items(page(jazz(), jazz(), blues()), page(listed(jazz()), blues()))

    assert numbers(changes) == (1, 1, 0)


def test_an_item_without_a_global_id_that_differs_is_another_one_elsewhere() -> None:
    assert numbers(compare_items(page(jazz("5")), page(listed(jazz("7"))))) == (1, 1, 0)


def nested(count: int, day: str) -> Microdata:
    return page(listed(*[item(VEVENT, f"urn:{number}", summary="s", dtstart=day) for number in range(count)]))


def flat(count: int, day: str) -> Microdata:
    return page(*[item(VEVENT, f"urn:{number}", summary="s", dtstart=day) for number in range(count)])


def test_a_thousand_that_moved_take_no_more_than_as_many_as_there_are() -> None:
    pages = [(flat(count, "1"), nested(count, "2")) for count in (50, 500)]

    few, many = (calls_of(partial(compare_items, *two)) for two in pages)

    assert many < 15 * few
