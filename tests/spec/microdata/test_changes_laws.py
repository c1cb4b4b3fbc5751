"""What holds of any differences between a page's items and those before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.making import pages
from tocsin.spec.microdata.changes.comparing import ItemChange, ItemChanges, compare_items
from tocsin.spec.microdata.reading.packing import pack, unpack
from tocsin.spec.microdata.values import Item, Microdata, Property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.microdata.values import Value


def numbers(changes: ItemChanges) -> tuple[int, int, int]:
    return changes.added, changes.removed, changes.changed


def copy_of(data: Microdata) -> Microdata:
    return unpack(pack(data).packed)


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
