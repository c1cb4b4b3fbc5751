"""Which items of two readings are the same item."""

from __future__ import annotations

import pytest

from tests.spec.microdata.making import item, page
from tocsin.spec.microdata.changes.comparing import ItemChange, ItemChanges, compare_items
from tocsin.spec.microdata.changes.matching import Sameness, label_of
from tocsin.spec.microdata.reading.packing import CUT
from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata

MUSIC = "https://schema.example/MusicEvent"


def event(name: str | None, day: str, id_: str | None = None, type_: str = VEVENT, **more: str | Item) -> Item:
    named = {"summary": name} if name is not None else {}
    return item(type_, id_, **named, dtstart=day, location=item(None, fn="Hall"), **more)


def events(*each: tuple[str | None, str], **more: str) -> Microdata:
    return page(*[event(*one, **more) for one in each])


def told(changes: ItemChanges) -> list[str]:
    """The changes in short, with the day of items that came or went."""
    return [_tell(one) for one in changes.changes]


def _tell(one: ItemChange) -> str:
    if one.property is None:
        (day,) = [each.text for each in one.item.named("dtstart")]
        return f"{one.change}: {label_of(one.item)} {day}"
    previous, latest = (" ".join(map(str, values)) for values in (one.previous, one.latest))
    return f"{one.property} of {label_of(one.item)}: {previous} -> {latest}"


FOUR = ("Jazz", "1"), ("Mass", "8"), ("Opera", "15"), ("Blues", "22")


@pytest.mark.parametrize(
    ("before", "latest", "expected"),
    [
        (events(*FOUR), events(*FOUR[1:], ("Rock", "29")), ["added: Rock 29", "removed: Jazz 1"]),
        (events(*FOUR), events(*FOUR[1:], ("Jazz Night", "1")), ["summary of Jazz Night: Jazz -> Jazz Night"]),
        (
            events(*FOUR),
            events(FOUR[0], ("Quiz", "9"), *FOUR[2:]),
            ["dtstart of Quiz: 8 -> 9", "summary of Quiz: Mass -> Quiz"],
        ),
        (
            events(*FOUR),
            events(("Blues", "22"), ("Great Mass", "8"), ("Jazz Night", "1"), ("Opera", "15")),
            ["summary of Great Mass: Mass -> Great Mass", "summary of Jazz Night: Jazz -> Jazz Night"],
        ),
        (
            events(("Jazz", "1"), ("Jazz", "8"), ("Jazz", "15")),
            events(("Jazz", "8"), ("Jazz", "15"), ("Jazz", "22")),
            ["added: Jazz 22", "removed: Jazz 1"],
        ),
        (
            events(("Jazz", "1"), ("Jazz", "8"), ("Jazz", "15")),
            events(("Jazz", "1"), ("Jazz", "9"), ("Jazz", "15")),
            ["dtstart of Jazz: 8 -> 9"],
        ),
        (
            events(("Jazz", "1"), ("Jazz", "8"), ("Jazz", "15"), price="5"),
            events(("Jazz", "8"), ("Jazz", "15"), price="6"),
            ["price of Jazz: 5 -> 6", "price of Jazz: 5 -> 6", "removed: Jazz 1"],
        ),
        (
            page(event(None, "1", url="/1"), event(None, "2", url="/2")),
            page(event(None, "9", url="/0"), event(None, "1", url="/1"), event(None, "3", url="/2")),
            ["added: None 9", "dtstart of None: 2 -> 3"],
        ),
        (
            events(("Jazz", "1"), ("Jazz", "2")),
            events(("Jazz", "3"), ("Jazz", "4")),
            ["dtstart of Jazz: 1 -> 3", "dtstart of Jazz: 2 -> 4"],
        ),
        (
            events(("Jazz", "1"), ("Mass", "2"), ("Jazz", "3")),
            events(("Jazz", "4"), ("Mass", "2"), ("Quiz", "5"), ("Jazz", "6")),
            ["dtstart of Jazz: 1 -> 4", "added: Quiz 5", "dtstart of Jazz: 3 -> 6"],
        ),
    ],
    ids=[
        "rolling",
        "renamed-and-moved",
        "replaced-in-place",
        "two-renamed-and-moved",
        "rolling-of-one-name",
        "one-name-one-date",
        "one-name-all-changed",
        "nameless",
        "one-name-in-order",
        "one-name-between-others",
    ],
)
def test_MD_19_edits_of_lists_are_told_as_people_would(
    before: Microdata, latest: Microdata, expected: list[str]
) -> None:
    assert told(compare_items(before, latest)) == expected


def test_an_item_that_stands_before_the_same_one_has_its_place_though_it_stands_behind_another() -> None:
    before = events(("Jazz", "1"), ("Mass", "8"))
    latest = events(("Rock", "5"), ("Mass", "8"), ("Opera", "9"))

    assert told(compare_items(before, latest)) == [
        "dtstart of Rock: 1 -> 5",
        "summary of Rock: Jazz -> Rock",
        "added: Opera 9",
    ]


def test_of_several_items_that_one_is_like_it_is_the_one_that_is_most_like_it() -> None:
    def of(name: str, **values: str) -> Item:
        return item(summary=name, **values)

    before = page(of("a", url="1", price="x", room="r"), of("b", url="2", price="y", room="s"))
    latest = page(of("c", url="2", price="y", room="t"), of("d", url="1", price="x", room="s"))

    found = compare_items(before, latest)

    assert [(one.property, one.previous) for one in found.changes] == [
        ("room", ("s",)),
        ("summary", ("b",)),
        ("room", ("r",)),
        ("summary", ("a",)),
    ]


def test_what_has_less_than_half_in_common_is_another_item() -> None:
    before = page(item(summary="a", url="1", room="r"), item(summary="m"))
    latest = page(item(summary="m"), item(summary="b", url="1", room="s"))

    assert [one.change for one in compare_items(before, latest).changes] == ["added", "removed"]


# Who it is ------------------------------------------------------------------------------------------------------
def test_MD_05_items_that_get_their_global_ids_are_the_same_ones() -> None:
    named = page(*[event(*one, f"urn:{place}") for place, one in enumerate(FOUR)])

    assert told(compare_items(events(*FOUR[:1]), page(event(*FOUR[0], "urn:0")))) == ["itemid of Jazz:  -> urn:0"]
    assert told(compare_items(named, page(*named.items[1:], event(*FOUR[0])))) == ["itemid of Jazz: urn:0 -> "]


def test_an_item_that_gets_its_global_id_with_a_new_date_is_known_by_its_label() -> None:
    latest = page(event("Mass", "9", "urn:1"), event("Jazz", "1"))

    assert told(compare_items(events(*FOUR[:2]), latest)) == ["itemid of Mass:  -> urn:1", "dtstart of Mass: 8 -> 9"]


def test_MD_05_who_has_another_global_id_is_another_one_though_all_else_is_equal() -> None:
    changes = compare_items(page(event("Jazz", "1", "urn:1")), page(event("Jazz", "1", "urn:2")))

    assert (changes.added, changes.removed, changes.changed) == (1, 1, 0)


def test_several_items_of_one_global_id_are_told_apart_by_their_labels() -> None:
    before = page(event("Jazz", "1", "urn:1"), event("Mass", "8", "urn:1"))
    latest = page(event("Mass", "9", "urn:1"), event("Jazz", "2", "urn:1"))

    assert told(compare_items(before, latest)) == ["dtstart of Mass: 8 -> 9", "dtstart of Jazz: 1 -> 2"]


def test_the_global_ids_of_a_page_move_with_it() -> None:
    def at(address: str, *ids: str) -> Microdata:
        found = page(*[event("Jazz", id_[-1], f"{address}{id_}") for id_ in ids])
        return Microdata(address, found.title, found.items, found.all)

    old, new = "http://site.example/events", "https://site.example/what-is-on"

    assert told(compare_items(at(old, "#1", "#2"), at(new, "#2", "#3"))) == [
        f"itemid of Jazz: {old}#2 -> {new}#2",
        "added: Jazz 3",
        "removed: Jazz 1",
    ]


def test_an_id_that_only_begins_with_the_letters_of_the_page_does_not_move_with_it() -> None:
    def at(address: str, id_: str, name: str) -> Microdata:
        found = page(event(name, "1", id_))
        return Microdata(address, found.title, found.items, found.all)

    before = at("https://site.example/a", "https://site.example/ab", "Jazz")
    latest = at("https://site.example/", "https://site.example/b", "Opera")

    assert told(compare_items(before, latest)) == ["added: Opera 1", "removed: Jazz 1"]


def test_MD_05_who_has_the_same_global_id_is_the_same_one_though_its_type_is_another() -> None:
    changes = compare_items(page(event("Jazz", "1", "urn:1")), page(event("Jam", "1", "urn:1", MUSIC)))

    assert told(changes) == [f"itemtype of Jam: {VEVENT} -> {MUSIC}", "summary of Jam: Jazz -> Jam"]


def test_an_item_of_another_type_is_the_same_if_it_says_the_same() -> None:
    latest = page(*[event(*one, None, MUSIC) for one in FOUR])

    changes = compare_items(events(*FOUR), latest)

    assert (changes.added, changes.removed, changes.changed) == (0, 0, 4)
    assert {one.property for one in changes.changes} == {"itemtype"}


def test_of_another_type_and_with_another_property_it_is_another_item() -> None:
    changes = compare_items(page(item(HCARD, fn="Hall", tel="1")), page(item(VEVENT, fn="Hall", tel="2")))

    assert (changes.added, changes.removed, changes.changed) == (1, 1, 0)


def test_items_without_a_label_that_say_nothing_of_their_own_are_told_apart_by_their_type() -> None:
    changes = compare_items(page(item(HCARD)), page(item(VEVENT)))

    assert (changes.added, changes.removed, changes.changed) == (1, 1, 0)


@pytest.mark.parametrize(
    ("was", "now", "expected"),
    [
        (item(HCARD, fn="Hall"), item(MUSIC, fn="Hall"), ("itemtype", (HCARD,), (MUSIC,))),
        (item(HCARD, fn="Hall"), item(HCARD, "urn:1", fn="Hall"), ("itemid", (), ("urn:1",))),
        (item(None, fn="Hall"), item(HCARD, fn="Hall"), ("itemtype", (), (HCARD,))),
    ],
    ids=["type", "id", "first-type"],
)
def test_an_item_within_another_is_the_same_one_too(
    was: Item, now: Item, expected: tuple[str, tuple[str, ...], tuple[str, ...]]
) -> None:
    (change,) = compare_items(page(item(summary="a", at=was)), page(item(summary="a", at=now))).changes

    assert (change.within, change.path[0].item) == (("at",), now)
    assert (change.property, change.previous, change.latest) == expected


def test_an_item_within_another_that_is_another_one_is_told_whole() -> None:
    def of(inner: Item) -> Microdata:
        return page(item(summary="a", at=inner))

    one, other = item(HCARD, "urn:1", fn="Hall"), item(HCARD, "urn:2", fn="Hall")

    for was, now in [(one, other), (item(HCARD, fn="Hall"), item(MUSIC, fn="Park"))]:
        (change,) = compare_items(of(was), of(now)).changes
        assert (change.property, change.previous, change.latest) == ("at", (was,), (now,))


# What people do not see -----------------------------------------------------------------------------------------
def test_white_space_is_no_difference() -> None:
    def of(text: str) -> Microdata:
        return page(item(summary=text, location=item(None, fn=text), tag=["x", text]))

    assert not compare_items(of("Mass in B minor"), of("\n  Mass in\tB\u00a0minor "))
    assert compare_items(of("Mass in B minor"), of("Massin B minor"))


def test_white_space_is_left_as_it_is_in_what_is_told() -> None:
    (change,) = compare_items(page(item(tag=["a ", "b"])), page(item(tag=["a", "\nc"]))).changes

    assert (change.previous, change.latest, change.alike) == (("a ", "b"), ("a", "\nc"), (1, 0))


def test_of_a_page_that_is_cut_what_is_behind_all_that_is_known_has_no_place() -> None:
    def of(*names: str) -> Microdata:
        return page(*[item(summary=name, dtstart=name) for name in names], cut=(CUT,))

    assert [one.change for one in compare_items(of("a", "b"), of("a", "c")).changes] == []


class Counted(str):
    """A text that counts how often its words are looked for."""

    __slots__ = ("times",)
    times: int

    def split(self, *_: object, **__: object) -> list[str]:
        self.times += 1
        return str(self).split()


def test_a_text_that_many_items_share_is_looked_at_once() -> None:
    was, now = Counted("so many  words"), Counted("so many other words")
    was.times = now.times = 0
    sameness = Sameness()

    assert not any(sameness.is_same(was, now) for _ in range(100))

    assert (was.times, now.times) == (1, 1)


def test_white_space_between_words_is_no_difference() -> None:
    assert Sameness().is_same("so  many\nwords ", "so many words")
    assert not Sameness().is_same("so manywords", "so many words")
