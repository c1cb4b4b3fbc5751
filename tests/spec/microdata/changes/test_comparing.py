"""How the items of a page differ from those before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import calls_of
from tests.spec.microdata.making import holding, item, page, pages, text
from tocsin.spec.microdata.changes.comparing import ItemChange, ItemChanges, compare_items
from tocsin.spec.microdata.changes.matching import label_of
from tocsin.spec.microdata.reading.packing import CUT, MOST_ITEMS, SHORTENED, pack, unpack
from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata, Property, Value, ValueKind


def copy_of(data: Microdata) -> Microdata:
    return unpack(pack(data).packed)


def told(changes: ItemChanges) -> list[tuple[object, ...]]:
    """The changes, without the items that they are of."""
    return [(one.change, one.position, one.within, one.property, one.previous, one.latest) for one in changes.changes]


def numbers(changes: ItemChanges) -> tuple[int, int, int]:
    return changes.added, changes.removed, changes.changed


def events(*days: str) -> Microdata:
    return page(*[item(summary=f"On {day}", dtstart=day) for day in days])


def test_MD_19_a_property_that_changed_is_told_from_and_to() -> None:
    before = page(item(summary="Bluesday Tuesday", dtstart="2009-05-05"))
    latest = page(item(summary="Bluesday Tuesday", dtstart="2009-05-06"))

    changes = compare_items(before, latest)

    assert told(changes) == [("changed", 1, (), "dtstart", ("2009-05-05",), ("2009-05-06",))]
    assert numbers(changes) == (0, 0, 1)
    assert changes.changes[0].item is latest.items[0]


def test_a_property_that_came_and_one_that_went_have_no_values_on_the_other_side() -> None:
    changes = compare_items(page(item(name="a", url="u")), page(item(name="a", dtend="d")))

    assert told(changes) == [("changed", 1, (), "dtend", (), ("d",)), ("changed", 1, (), "url", ("u",), ())]


def test_an_item_put_in_above_the_others_is_one_that_was_added() -> None:
    changes = compare_items(events("1", "2", "3"), events("0", "1", "2", "3"))

    assert (numbers(changes), told(changes)) == ((1, 0, 0), [("added", 1, (), None, (), ())])


def test_an_item_taken_out_above_the_others_is_one_that_was_removed() -> None:
    before = events("1", "2", "3")

    changes = compare_items(before, events("2", "3"))

    assert (numbers(changes), told(changes)) == ((0, 1, 0), [("removed", 1, (), None, (), ())])
    assert changes.changes[0].item is before.items[0]


def test_all_items_of_a_page_that_has_none_any_more_are_removed() -> None:
    assert numbers(compare_items(events("1", "2"), page())) == (0, 2, 0)
    assert numbers(compare_items(page(), events("1", "2"))) == (2, 0, 0)


def test_items_are_matched_by_global_id_wherever_they_stand() -> None:
    one, other = item(VEVENT, "urn:1", name="a"), item(VEVENT, "urn:2", name="b")
    latest = page(item(VEVENT, "urn:2", name="c"), item(VEVENT, "urn:1", name="d"))

    changes = compare_items(page(one, other), latest)

    assert told(changes) == [
        ("changed", 1, (), "name", ("b",), ("c",)),
        ("changed", 2, (), "name", ("a",), ("d",)),
    ]


def test_an_item_of_another_global_id_or_type_is_another_item() -> None:
    before = page(item(VEVENT, "urn:1", name="a"), item(HCARD, fn="b"))

    assert numbers(compare_items(before, page(item(VEVENT, "urn:2", name="a"), item(VEVENT, name="b")))) == (2, 2, 0)


def test_of_several_items_that_changed_those_of_one_label_are_the_same() -> None:
    before = page(item(summary="Past", dtstart="1"), item(summary="Party", dtstart="2"))

    changes = compare_items(before, page(item(summary="Party", dtstart="3")))

    assert told(changes) == [
        ("changed", 1, (), "dtstart", ("2",), ("3",)),
        ("removed", 1, (), None, (), ()),
    ]


def test_items_without_a_label_are_matched_in_order() -> None:
    changes = compare_items(page(item(url="a"), item(url="b")), page(item(url="c"), item(url="d")))

    assert [(one.previous, one.latest) for one in changes.changes] == [(("a",), ("c",)), (("b",), ("d",))]


def test_the_position_is_that_among_the_items_of_the_type() -> None:
    before = page(item(HCARD, fn="x"), item(name="a", url="1"), item(name="b", url="1"))
    latest = page(item(name="a", url="1"), item(HCARD, fn="x"), item(name="b", url="2"))

    assert [one.position for one in compare_items(before, latest).changes] == [2]


def test_MD_16_values_of_a_name_in_another_order_are_a_difference() -> None:
    changes = compare_items(page(item(part=["a", "b", "c"])), page(item(part=["a", "c", "b"])))

    assert told(changes) == [("changed", 1, (), "part", ("a", "b", "c"), ("a", "c", "b"))]
    assert changes.changes[0].alike == (1, 0)


def test_MD_19_all_values_of_a_property_are_told_as_they_were_and_as_they_are() -> None:
    changes = compare_items(page(item(tag=["a", "b", "d"])), page(item(tag=["a", "b", "c", "d"])))

    assert told(changes) == [("changed", 1, (), "tag", ("a", "b", "d"), ("a", "b", "c", "d"))]
    assert changes.changes[0].alike == (2, 1)


def test_items_whose_property_differs_in_more_than_them_are_told_whole_and_only_there() -> None:
    ann, anna, bob = item(None, fn="Ann"), item(None, fn="Anna"), item(None, fn="Bob")

    changes = compare_items(page(item(by=[ann, bob, "x"])), page(item(by=[anna, bob, "y"])))

    assert told(changes) == [("changed", 1, (), "by", (ann, bob, "x"), (anna, bob, "y"))]


def test_what_differs_within_one_of_several_items_is_told_alone() -> None:
    def of(name: str) -> Microdata:
        return page(item(by=["Zoe", item(None, fn="Ann"), item(None, fn=name), "Max"]))

    assert told(compare_items(of("Bob"), of("Rob"))) == [("changed", 1, ("by",), "fn", ("Bob",), ("Rob",))]


def test_an_element_with_two_names_gives_both_their_value() -> None:
    def of(value: str) -> Microdata:
        return page(Item(None, None, (Property(("a", "b"), ValueKind.TEXT, value),)))

    assert [one.property for one in compare_items(of("1"), of("2")).changes] == ["a", "b"]


def test_what_a_value_was_read_of_is_no_difference() -> None:
    def of(kind: ValueKind, language: str | None) -> Microdata:
        return page(Item(None, None, (Property(("a",), kind, "x", language),)))

    assert not compare_items(of(ValueKind.TEXT, "en"), of(ValueKind.TIME, None))


def test_a_property_of_an_item_within_another_is_told_with_the_way_to_it() -> None:
    def of(street: str) -> Microdata:
        return page(item(summary="Party", location=item(None, adr=item(None, street=street), fn="Hall")))

    assert told(compare_items(of("1"), of("2"))) == [("changed", 1, ("location", "adr"), "street", ("1",), ("2",))]


def test_an_item_that_becomes_a_text_is_told_as_the_item_that_it_was() -> None:
    inner = item(None, fn="Hall")

    changes = compare_items(page(item(location=inner)), page(item(location="Hall")))

    assert told(changes) == [("changed", 1, (), "location", (inner,), ("Hall",))]


def test_an_item_that_came_to_others_is_told_among_them() -> None:
    old = [item(None, fn=name) for name in "abc"]
    latest = page(item(attendee=[item(None, fn="new"), *[item(None, fn=name) for name in "abc"]]))

    (change,) = compare_items(page(item(attendee=old)), latest).changes

    assert change.previous == (*old,)
    assert [label_of(one) for one in change.latest if isinstance(one, Item)] == ["new", "a", "b", "c"]


def test_what_differs_within_an_item_among_others_says_which_it_is() -> None:
    def of(*days: str) -> Microdata:
        shows = [item(name=f"Show {number}", time=[item(None, day=day)]) for number, day in enumerate(days, 1)]
        return page(item(name="Season", event=shows))

    (change,) = compare_items(of("1", "2", "3"), of("1", "5", "3")).changes

    assert (change.within, change.property) == (("event", "time"), "day")
    assert [(label_of(step.item), step.position) for step in change.path] == [("Show 2", 2), (None, None)]


def test_what_two_items_share_is_told_of_both() -> None:
    def of(street: str) -> Microdata:
        hall = item(None, street=street)
        return page(item(summary="a", location=hall), item(summary="b", location=[hall]))

    changes = compare_items(of("1"), of("2"))

    assert [(one.position, one.within) for one in changes.changes] == [(1, ("location",)), (2, ("location",))]


def test_what_one_item_holds_twice_is_told_once() -> None:
    def of(street: str) -> Microdata:
        hall = item(None, street=street)
        return page(item(start=hall, end=hall))

    assert [one.within for one in compare_items(of("1"), of("2")).changes] == [("end",)]


def circle(*values: str) -> Microdata:
    """Items each of which holds the next one, and the last one the first."""
    items = [item(None, name=value) for value in values]
    for one, following in zip(items, [*items[1:], items[0]], strict=True):
        one.properties = (*one.properties, holding("next", following))
    top = item(None, first=items[0])
    return Microdata(None, None, (top,), (top, *items))


def test_JS_04_items_in_a_circle_are_compared_once_around() -> None:
    changes = compare_items(circle("a", "b", "c"), circle("a", "b", "d"))

    assert told(changes) == [("changed", 1, ("first", "next", "next"), "name", ("c",), ("d",))]
    assert not compare_items(circle("a", "b"), circle("a", "b"))


def test_JS_04_items_that_lead_back_to_another_one_than_before_differ() -> None:
    def of(back_to: int) -> Microdata:
        one, other = items = item(None, name="a"), item(None, name="b")
        one.properties += (holding("next", other),)
        other.properties += (holding("next", items[back_to]),)
        return Microdata(None, None, (one,), items)

    assert told(compare_items(of(0), of(1))) == [("changed", 1, ("next", "next"), "name", ("a",), ("b",))]


def test_what_differs_deep_within_is_told_with_the_item_that_holds_it() -> None:
    def of(value: str) -> Microdata:
        inner = item(None, name=value)
        for _ in range(50):
            inner = item(None, part=inner)
        return page(inner)

    (change,) = compare_items(of("1"), of("2")).changes

    assert (len(change.within), change.property) == (32, "part")
    assert all(isinstance(value, Item) for value in (*change.previous, *change.latest))


def test_the_label_is_the_first_name_that_has_any_text_in_one_line() -> None:
    assert label_of(item(fn="x", name=" \n", summary=["  ", " A\n b "])) == "A b"
    assert label_of(item(fn=item(name="x"))) is None
    assert len(label_of(item(headline="x" * 999)) or "") == 200


# Pages with more items than are kept ----------------------------------------------------------------------------
def cut(*names: str) -> Microdata:
    return page(*[item(name=name) for name in names], cut=(CUT,))


def test_an_item_that_another_one_has_pushed_out_is_not_told_as_removed() -> None:
    changes = compare_items(cut("a", "b", "c"), cut("new", "a", "b"))

    assert [one.change for one in changes.changes] == ["added"]
    assert changes.is_cut


def test_an_item_that_moved_up_from_where_nothing_is_kept_is_not_told_as_added() -> None:
    changes = compare_items(cut("a", "b", "c"), cut("b", "c", "d"))

    assert [one.change for one in changes.changes] == ["removed"]


def test_a_long_page_of_which_the_kept_items_are_shifted_has_one_item_added() -> None:
    names = [str(number) for number in range(MOST_ITEMS + 5)]
    before, latest = (page(*[item(name=name) for name in each]) for each in (names, ["new", *names]))

    assert numbers(compare_items(copy_of(before), copy_of(latest))) == (1, 0, 0)


def test_what_the_last_kept_item_lacks_at_its_end_is_no_difference() -> None:
    before = page(item(name="a"), item(name="b", tag=["1", "2"], url="u"))
    latest = page(item(name="a"), item(name="b", tag=["1"]), cut=(CUT,))

    assert not compare_items(before, latest)
    assert not compare_items(latest, before)
    latest.items[1].properties = (text("name", "b"), text("tag", "3"))
    assert [one.property for one in compare_items(before, latest).changes] == ["tag"]


def test_what_the_last_kept_item_lacks_is_no_difference_where_others_came_before_it() -> None:
    before = page(item(name="a"), item(name="b", tag=["1"]), cut=(CUT,))
    latest = page(item(name="new"), item(name="a"), item(name="b", tag=["1", "2"], url="u"))

    assert [one.change for one in compare_items(before, latest).changes] == ["added"]
    assert [one.change for one in compare_items(latest, before).changes] == ["removed"]


def test_of_a_page_that_is_cut_what_is_behind_all_that_was_compared_may_be_there_still() -> None:
    before, latest = page(item(url="1"), item(url="2")), page(item(url="3"), cut=(CUT,))

    assert numbers(compare_items(before, latest)) == (0, 0, 1)
    assert numbers(compare_items(latest, before)) == (0, 0, 1)


def test_items_of_more_values_than_there_is_time_for_differ_and_it_says_so() -> None:
    def of(end: str) -> Microdata:
        shared = item(None, part=[end, *["x"] * 60_000, end])
        return page(*[item(name=name, hall=shared) for name in "abc"])

    changes = compare_items(of("1"), of("2"))

    assert (numbers(changes), len(changes.changes), changes.is_cut) == ((0, 0, 3), 2, True)


def test_a_page_of_which_something_is_wrong_may_have_all_its_items() -> None:
    def of(*names: str) -> Microdata:
        found = page(*[item(name=name) for name in names])
        return Microdata(found.address, found.title, found.items, found.all, ("its encoding is not said",))

    assert numbers(compare_items(of("a", "b"), of("a"))) == (0, 1, 0)
    assert numbers(compare_items(of("a"), of("a", "b"))) == (1, 0, 0)


def test_a_value_that_is_too_long_takes_nothing_from_what_is_told_of_the_rest() -> None:
    before = page(item(name="a"), item(name="b"), cut=(SHORTENED,))

    assert numbers(compare_items(before, page(item(name="a"), cut=(SHORTENED,)))) == (0, 1, 0)


# Speed ----------------------------------------------------------------------------------------------------------
def many(count: int, dates: str) -> Microdata:
    names = {f"name{number}": "x" for number in range(18)}
    return page(*[item(summary=str(number), dtstart=f"{dates}{number}", **names) for number in range(count)])


def fans(street: str) -> Microdata:
    """Many items that share one with many properties, of which each differs."""
    shared = item(None, **{f"a{number}": street for number in range(5_000)})
    return page(*[item(name=str(number), hall=shared) for number in range(MOST_ITEMS - 1)])


def wheels(size: int, value: str) -> Microdata:
    """Items in a circle, no two of which are told apart by their names."""
    return circle(*[value] * size)


def ladders(value: str) -> Microdata:
    """Each item holds the next one twice: as a tree, too large to walk."""
    lowest = item(None, name=value)
    for _ in range(MOST_ITEMS - 1):
        lowest = item(None, left=lowest, right=lowest)
    return page(lowest)


def hub(value: str) -> Microdata:
    """An item of many texts, which each of its many parts leads back to again and again."""
    parts = [item(None) for _ in range(100)]
    centre = item(None, name=value, part=parts, **{f"a{number}": "x" for number in range(500)})
    for part in parts:
        part.properties = (holding("up", centre),) * 20
    return page(centre)


@pytest.mark.parametrize(
    ("before", "latest"),
    [
        (many(MOST_ITEMS, "a"), many(MOST_ITEMS, "a")),
        (many(MOST_ITEMS, "a"), many(MOST_ITEMS, "b")),
        (many(MOST_ITEMS, "a"), page()),
        (fans("1"), fans("2")),
        (wheels(499, "1"), wheels(498, "2")),
        (ladders("1"), ladders("2")),
        (hub("1"), hub("2")),
        (page(item(part=["a"] * 60_000)), page(item(part=["a"] * 30_000 + ["b"] * 30_000))),
        (page(*[item(None)] * MOST_ITEMS), page(*[item(None, name="x") for _ in range(MOST_ITEMS)])),
    ],
    ids=["equal", "changed", "removed", "fans", "wheels", "ladders", "hub", "values", "nameless"],
)
def test_no_items_take_long_to_compare(before: Microdata, latest: Microdata) -> None:
    calls = calls_of(lambda: compare_items(before, latest))

    assert calls < 1_000_000  # of what has no bounds none ends


@given(pages())
def test_equal_items_do_not_differ(data: Microdata) -> None:
    assert not compare_items(data, copy_of(data))


def as_told(changes: ItemChanges) -> Counter[tuple[object, ...]]:
    """The changes in no order."""
    return Counter((one.change, one.within, one.property, one.previous, one.latest) for one in changes.changes)


def as_told_backwards(changes: ItemChanges) -> Counter[tuple[object, ...]]:
    """The changes in no order, with sides exchanged."""
    other = {"added": "removed", "removed": "added", "changed": "changed"}
    return Counter((other[one.change], one.within, one.property, one.latest, one.previous) for one in changes.changes)


@given(pages(), pages())
def test_seen_from_the_other_side_what_was_added_is_removed(one: Microdata, other: Microdata) -> None:
    there, back = compare_items(one, other), compare_items(other, one)

    assert (there.added, there.removed, there.changed) == (back.removed, back.added, back.changed)
    assert as_told(there) == as_told_backwards(back)


@given(pages(), pages(), st.randoms())
def test_MD_16_the_order_between_names_is_no_difference(before: Microdata, latest: Microdata, chance: object) -> None:
    shuffled = copy_of(latest)
    for one in shuffled.all:
        one.properties = interleaved(one.properties, chance)

    assert not compare_items(latest, shuffled)
    assert numbers(compare_items(before, latest)) == numbers(compare_items(before, shuffled))


def interleaved(properties: Sequence[Property], chance: object) -> tuple[Property, ...]:
    """The properties with those of one name in order, and names in any."""
    alone = [Property((name,), each.kind, each.value) for each in properties for name in each.names]
    names = sorted({each.names for each in alone})
    chance.shuffle(names)  # type: ignore[attr-defined] # what hypothesis gives has no public type
    return tuple(each for name in names for each in alone if each.names == name)


@given(pages(), pages())
def test_each_change_names_what_really_differs(before: Microdata, latest: Microdata) -> None:
    changes = compare_items(before, latest)

    assert bool(changes) == bool(changes.changes)
    for one in changes.changes:
        assert one.change != "changed" or _differ(one)


def _differ(change: ItemChange) -> bool:
    was, now = change.previous, change.latest
    return bool(was or now) and [*map(_plain, was)] != [*map(_plain, now)]


def _plain(value: Value) -> object:
    return value if isinstance(value, str) else id(value)


@given(pages(is_cyclic=False), pages(is_cyclic=False))
def test_items_that_do_not_differ_are_as_many_of_each(before: Microdata, latest: Microdata) -> None:
    """What was neither removed nor changed is what was neither added nor changed, but for what moved."""
    changes = compare_items(before, latest)

    same_before = len(before.items) - changes.removed - changes.changed
    same_latest = len(latest.items) - changes.added - changes.changed
    into, out_of = (len(side.all) - len(side.items) for side in (latest, before))
    assert -out_of <= same_before - same_latest <= into
    assert same_before >= -out_of
    assert same_latest >= -into


@given(pages(), pages())
def test_MD_19_previous_and_latest_are_whole_lists_of_values(before: Microdata, latest: Microdata) -> None:
    """Each is all that an item of its side has for the name, so that it can be set from what is told."""
    sides = [{(), *[each for one in side.all for each in _all_values(one)]} for side in (before, latest)]

    for change in compare_items(before, latest).changes:
        if change.property is not None:
            assert change.previous in sides[0]
            assert change.latest in sides[1]
            begin, end = change.alike
            assert begin + end <= min(len(change.previous), len(change.latest))


def _all_values(one: Item) -> list[tuple[Value | None, ...]]:
    """The values of each name of an item, its type, and its global id."""
    return [(one.type,), (one.id,), *[tuple(each.value for each in one.named(name)) for name in _names(one)]]


def _names(one: Item) -> set[str]:
    return {name for each in one.properties for name in each.names}


# Items that move into another one, or out of it, are neither added nor removed.

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
