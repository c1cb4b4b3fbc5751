"""The changes of items in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.microdata.changes.words import count_changes, short_type, tell_changes

VEVENT = "http://microformats.org/profile/hcalendar#vevent"

HCARD = "http://microformats.org/profile/hcard"


def change(word: str = "changed", *, label: Any = "Jazz", kind: Any = VEVENT, **more: Any) -> dict[str, Any]:
    """One change as the event shows it."""
    item = {"type": kind, "id": None, "position": 2, "label": label}
    nothing: dict[str, Any] = {"within": [], "property": None, "previous": None, "latest": None}
    return {"change": word, "item": item, **nothing, **more}


def told(*changes: Mapping[str, Any], cut: bool = False) -> list[str]:
    """The lines that these changes are told in."""
    return list(tell_changes({"added": 1, "removed": 0, "changed": 1200, "cut": cut, "changes": changes}))


def test_a_property_that_changed_is_told_with_both_of_its_values() -> None:
    moved = change(property="dtstart", previous=["2009-05-05"], latest=["2009-05-06"])

    assert told(moved) == ['dtstart of "Jazz": 2009-05-05 → 2009-05-06']


def test_a_property_that_came_or_went_is_told_as_that() -> None:
    came = change(property="location", previous=[], latest=["Hall", "Stage"])
    went = change(property="url", previous=["http://one.example/"], latest=[])

    assert told(came, went) == ['location of "Jazz" added: Hall, Stage', 'url of "Jazz" removed: http://one.example/']


def test_items_that_came_and_went_are_told_with_their_short_type() -> None:
    came = change("added", latest={"type": VEVENT, "properties": {"summary": ["Jazz"]}})
    went = change("removed", label=None, kind=HCARD, previous={"type": HCARD, "properties": {}})

    assert told(came, went) == ['added: vevent "Jazz"', "removed: hcard 2"]


@pytest.mark.parametrize("name", ["dtstart", "startDate"])
def test_events_that_came_and_went_are_told_with_their_day(name: str) -> None:
    """Those of one name are not told apart by it."""
    jazz = {"type": VEVENT, "properties": {name: ["2009-05-05"]}}

    assert told(change("added", latest=jazz), change("removed", label=None, previous=jazz)) == [
        'added: vevent "Jazz" (2009-05-05)',
        "removed: vevent 2 (2009-05-05)",
    ]


def test_of_a_list_of_items_those_that_differ_are_said() -> None:
    def of(label: str, day: str) -> dict[str, Any]:
        return {"type": VEVENT, "properties": {"summary": [label], "dtstart": [day]}}

    before, latest = [of("Mass", "1"), of("Jazz", "2")], [of("Mass", "1"), of("Jazz", "3"), of("Opera", "4")]

    assert told(change(label="Season", property="event", previous=before, latest=latest)) == [
        'event of "Season": vevent "Jazz" (2) → vevent "Jazz" (3), vevent "Opera" (4) (beside 1 more)'
    ]


def test_a_property_of_an_item_within_others_is_told_from_the_inside_outwards() -> None:
    moved = change(within=["location", "geo"], property="latitude", previous=["1"], latest=["2"])

    assert told(moved) == ['latitude of geo of location of "Jazz": 1 → 2']


SHOW = {"type": None, "id": None, "position": 2, "label": "Show 2"}

HALL = {"type": None, "id": None, "position": None, "label": None}


def test_a_property_of_an_item_within_others_names_that_item_and_says_where_it_is() -> None:
    """Of a list of events it is to be known which one was put off."""
    moved = change(label="Season", within=["event"], path=[SHOW], property="startDate", previous=["1"], latest=["2"])
    within: dict[str, Any] = {"within": ["event", "location", "geo"], "path": [SHOW, HALL, HALL]}
    further = change(label="Season", **within, property="latitude", previous=["1"], latest=["2"])

    assert told(moved, further) == [
        'startDate of "Show 2" (event 2 of "Season"): 1 → 2',
        'latitude of geo of location of "Show 2" (event 2 of "Season"): 1 → 2',
    ]


def test_of_items_without_a_label_their_number_is_told_and_of_labels_the_innermost_in_front() -> None:
    third = {**HALL, "position": 3}
    seat = change(within=["row", "seat"], path=[third, third], property="price", previous=["1"], latest=["2"])
    both = change(within=["event", "place"], path=[SHOW, {**HALL, "label": "Hall"}], property="url", latest=["2"])

    assert told(seat, both) == [
        'price of seat 3 of row 3 of "Jazz": 1 → 2',
        'url of "Hall" (place of event 2 of "Jazz") added: 2',
    ]


@pytest.mark.parametrize("path", [{"digest": "x", "length": 9000}, [None], ["x", "y", "z"], None, []])
def test_a_path_that_did_not_fit_is_told_by_its_names(path: Any) -> None:
    moved = change(within=["location", "geo"], path=path, property="latitude", previous=["1"], latest=["2"])

    assert told(moved) == ['latitude of geo of location of "Jazz": 1 → 2']


def test_items_that_are_values_are_told_by_type_and_name() -> None:
    before = {"type": HCARD, "properties": {"fn": ["Ann"], "tel": ["1"]}}
    after: dict[str, Any] = {"type": None, "properties": {"fn": [{"type": None, "properties": {}}]}}

    assert told(change(property="agent", previous=[before], latest=[after])) == ['agent of "Jazz": hcard "Ann" → item']


def test_an_item_without_a_label_is_told_by_its_type_and_number() -> None:
    assert told(change(label=None, property="url", previous=["a"], latest=["b"])) == ["url of vevent 2: a → b"]


def test_quotation_marks_within_a_label_do_not_end_it() -> None:
    inner = {"type": None, "properties": {"name": ['a "b"']}}
    step = {"type": None, "id": None, "position": 2, "label": 'c "d"'}
    moved = change(label='Faust, "new"', within=["part"], path=[step], property="by", previous=[inner], latest=['"e"'])

    assert told(change("added", label='Faust, "new"'), moved) == [
        "added: vevent \"Faust, 'new'\"",
        'by of "c \'d\'" (part 2 of "Faust, \'new\'"): item "a \'b\'" → "e"',
    ]


def test_an_empty_value_can_be_seen() -> None:
    assert told(change(property="url", previous=[""], latest=["b"])) == ['url of "Jazz": "" → b']


def test_what_is_long_or_many_is_cut_and_says_so() -> None:
    long = change(property="description", previous=["x" * 1000], latest=[str(each) for each in range(20)])

    (line,) = told(long)

    assert line.startswith(f'description of "Jazz": {"x" * 199}… → 0, 1, 2, ')
    assert line.endswith(", 7, … and 12 more")


def test_of_a_property_of_many_values_those_that_differ_are_said() -> None:
    many = [str(each) for each in range(20)]

    came = change(property="tag", previous=many, latest=[*many[:10], "new", *many[10:]])
    went = change(property="tag", previous=many, latest=many[1:])
    other = change(property="tag", previous=many, latest=[*many[:19], "new"])

    assert told(came, went, other) == [
        'tag of "Jazz" added: new (beside 20 more)',
        'tag of "Jazz" removed: 0 (beside 19 more)',
        'tag of "Jazz": 19 → new (beside 19 more)',
    ]


def test_a_few_values_are_said_whole() -> None:
    assert told(change(property="tag", previous=["a", "b"], latest=["a", "c"])) == ['tag of "Jazz": a, b → a, c']


def test_what_is_said_of_one_change_stays_on_one_line() -> None:
    assert told(change(property="a\nb", previous=["c\r\n\td"], latest=["e"])) == ['a b of "Jazz": c d → e']


def test_a_cut_list_says_how_many_items_differ_at_least() -> None:
    assert told(cut=True) == ["not all is shown: at least 1 added, 1,200 changed"]


def test_where_only_what_is_not_kept_may_differ_that_is_said() -> None:
    nothing: dict[str, Any] = {"added": 0, "removed": 0, "changed": 0, "cut": True, "changes": []}

    (said,) = tell_changes(nothing)
    assert said == (
        "the page has more items than are kept, and those may differ; "
        "kept are the first 1,000 items and 256 KiB of a page, and 16,384 letters of a value"
    )
    assert count_changes(nothing) == "none of those that are kept"


def test_numbers_of_items_are_told_in_words() -> None:
    assert count_changes({"added": 0, "removed": 2, "changed": 0}) == "2 removed"
    assert count_changes({"added": 0, "removed": 0, "changed": 0}) == "none"


@pytest.mark.parametrize(
    ("kind", "short"),
    [
        (VEVENT, "vevent"),
        (HCARD, "hcard"),
        ("http://n.whatwg.org/work", "work"),
        ("https://one.example/Event/ https://one.example/Place", "Event"),
        ("Event", "Event"),
        ("#", "#"),
        (" ", "item"),
        (None, "item"),
    ],
)
def test_a_type_is_told_by_its_last_part(kind: str | None, short: str) -> None:
    assert short_type(kind) == short


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.text(), st.fixed_dictionaries({"type": st.none() | st.text(), "properties": st.just({})})
)


@given(st.text(), st.text(), st.none() | st.text(), st.lists(VALUES), st.lists(VALUES))
def test_whatever_pages_say_is_told_in_lines_that_can_be_read(
    name: str, kind: str, label: str | None, previous: list[Any], latest: list[Any]
) -> None:
    lines = told(change(label=label, kind=kind, within=[name], property=name, previous=previous, latest=latest))

    assert len(lines) == 1
    assert len(lines[0].splitlines()) <= 1
    assert len(lines[0]) < 10_000


OBEYED = "\x1b\x07\u202e\x00\x9b\ud800\u2066\ufeff"


def test_nothing_that_a_page_says_is_obeyed_by_a_terminal_or_turns_the_text_around() -> None:
    nested = {"type": f"v{OBEYED}", "properties": {"name": [f"n{OBEYED}"], "dtstart": [f"d{OBEYED}"]}}
    moved = change(
        property=f"p{OBEYED}",
        label=f"l{OBEYED}",
        within=[f"w{OBEYED}"],
        previous=[f"b{OBEYED}"],
        latest=[f"a{OBEYED}", nested],
    )
    came = change("added", label=None, kind=f"k{OBEYED}", latest=nested)

    lines = told(moved, came)

    assert [letter for line in lines for letter in line if letter in OBEYED] == []
    made = "\N{REPLACEMENT CHARACTER}" * len(OBEYED)
    assert lines[0] == f'p{made} of w{made} of "l{made}": b{made} → a{made}, v{made} "n{made}" (d{made})'
    assert lines[1] == f"added: k{made} 2 (d{made})"


def test_what_was_too_long_for_its_event_is_told_by_its_length() -> None:
    gone = {"digest": "sha256:1", "length": 4200}
    moved = change(property="description", label=gone, kind=gone, previous=gone, latest=["New", gone], within=gone)
    came = change("added", latest={"type": gone, "properties": {"summary": gone}})
    nested = change(property="x", previous=[], latest=[{"type": gone, "id": None, "properties": {"summary": gone}}])
    length = "(4,200 bytes, too long to be kept here)"

    lines = told(moved, came, nested)

    assert lines[0] == f'description of {length} of "{length}": {length} → New, {length}'
    assert lines[1] == 'added: vevent "Jazz"'
    assert lines[2].startswith('x of "Jazz" added: ')
