from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.pages import metas, page, shuffled, state_from, state_of
from tocsin.spec.html.document import Meta
from tocsin.spec.topper.state import EMPTY, FIELDS, Dates, PageState, canonical_value, fields_of, read_dates, read_state


def named(name: str, *contents: str | None) -> PageState:
    return read_state(Meta(name=name, content=content) for content in contents)


def test_the_fields_stand_in_the_order_of_the_spec() -> None:
    assert (
        *("created", "dc.created", "dcterms.created", "article:published_time"),
        *("dc.modified", "dcterms.modified", "article:modified_time", "page-version"),
        *("refresh", "topper", "topper-major", "topper-minor"),
    ) == FIELDS


@pytest.mark.parametrize("field", [field for field in FIELDS if ":" not in field and field != "refresh"])
def test_a_field_is_read_from_the_name(field: str) -> None:
    assert named(field, "2014").to_dict() == {**dict.fromkeys(FIELDS), field: "2014"}


@pytest.mark.parametrize("field", ["article:published_time", "article:modified_time"])
def test_an_article_field_is_read_from_the_property_alone(field: str) -> None:
    assert read_state([Meta(property=field, content="x")])[field] == "x"
    assert named(field, "x") == EMPTY


def test_a_name_field_is_not_read_from_a_property() -> None:
    assert read_state([Meta(property="topper", content="true")]) == EMPTY


def test_names_match_whatever_their_case() -> None:
    assert named("Topper-MAJOR", "2014") == state_of(major="2014")


def test_names_match_in_ascii_only_and_are_not_trimmed() -> None:
    assert named(" topper", "true") == named("topper ", "true") == named("topper\u0130", "true") == EMPTY


def test_properties_are_a_list_matched_with_its_case() -> None:
    assert read_state([Meta(property="og:x\n article:modified_time", content="x")])["article:modified_time"] == "x"
    assert read_state([Meta(property="Article:Modified_time", content="x")]) == EMPTY


def test_a_property_named_twice_counts_once() -> None:
    twice = Meta(property="article:modified_time article:modified_time", content="x")

    assert fields_of(twice) == ("article:modified_time",)


def test_an_element_feeds_each_field_that_it_names() -> None:
    meta = Meta(name="created", http_equiv="REFRESH", property="article:modified_time", content="5")

    assert fields_of(meta) == ("created", "refresh", "article:modified_time")
    assert read_state([meta]) == state_of(created="5", refresh="5", article_modified_time="5")


def test_other_pragmas_are_no_refresh() -> None:
    assert read_state([Meta(http_equiv="refresher", content="5"), Meta(name="refresh", content="5")]) == EMPTY


@pytest.mark.parametrize("content", [None, "", " ", "\t\n\f\r "])
@pytest.mark.parametrize("name", ["topper", "topper-major", "created"])
def test_T12_a_null_value_is_an_absent_element(name: str, content: str | None) -> None:
    assert named(name, content) == EMPTY


def test_T12_an_attribute_without_a_value_is_absent() -> None:
    assert state_from(page("<meta name=topper content><meta name content=x><meta name=created>")) == EMPTY


def test_T14_the_values_of_several_elements_are_one_content() -> None:
    assert named("dc.modified", "b", "a", "b") == state_of(dc_modified="a b b")
    assert named("topper-minor", "2014-02 2013", "2014-02") == state_of(minor="2013 2014-02")


def test_white_space_in_a_value_is_folded() -> None:
    assert named("page-version", "  1.0 \n\t beta ") == state_of(page_version="1.0 beta")


def test_white_space_is_that_of_html_only() -> None:
    assert named("topper-minor", "2014\u00a02015") == state_of(minor="2014\u00a02015")


def test_T06_tokens_are_unique_and_in_code_point_order() -> None:
    assert named("topper-major", "b 2014 a 2013 2014 B") == state_of(major="2013 2014 B a b")


@pytest.mark.parametrize("word", ["true", "TRUE", "tRuE"])
def test_T01_true_is_kept_in_lower_case(word: str) -> None:
    assert named("topper", word) == state_of(topper="true")


def test_nothing_but_true_is_folded() -> None:
    assert named("topper", "Soon FALSE") == state_of(topper="FALSE Soon")


@pytest.mark.parametrize("content", ["false", " FALSE ", "false False"])
def test_T03_false_has_the_effect_of_absence(content: str) -> None:
    assert named("topper", content) == EMPTY


def test_T03_beside_others_false_is_dropped_with_its_element_only() -> None:
    assert named("topper", "false", "true") == state_of(topper="true")
    assert named("topper", "false 2014") == state_of(topper="2014 false")


def test_T03_false_means_nothing_to_the_other_fields() -> None:
    assert named("topper-minor", "false") == state_of(minor="false")
    assert named("created", "false") == state_of(created="false")


@pytest.mark.parametrize(
    ("content", "seconds"),
    [
        *(("0", "0"), ("5", "5"), ("007", "7"), ("000", "0"), (" \t\n\f\r5", "5"), ("5.9", "5"), (".5", "0")),
        *((".", "0"), ("5.6.7;x", "5"), ("5;", "5"), ("5,url=x", "5"), ("5 x", "5"), ("5\n", "5"), ("5; url=/", "5")),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_the_refresh_is_its_number_of_seconds(content: str, seconds: str) -> None:
    assert read_state([Meta(http_equiv="refresh", content=content)])["refresh"] == seconds


@pytest.mark.parametrize(
    "content", ["", "abc", "5x", "-5", "+5", ";5", "5:x", "\u0665", "5" * 5000 + "x", "5.x", "\v5"]
)
def test_what_html_ignores_is_no_refresh(content: str) -> None:
    assert read_state([Meta(http_equiv="refresh", content=content)]) == EMPTY


def test_T14_of_several_refreshes_the_first_valid_one_in_tree_order_counts() -> None:
    refreshes = [Meta(http_equiv="refresh", content=content) for content in ("x", "9", "5")]

    assert read_state(refreshes)["refresh"] == "9"


@pytest.mark.parametrize(("digits", "seconds"), [("0", 0), ("600", 600), ("9" * 12, 10**12 - 1), ("1" * 13, 10**12)])
def test_the_refresh_in_seconds_never_overflows(digits: str, seconds: int) -> None:
    assert state_of(refresh=digits).refresh_s == seconds


def test_a_page_without_refresh_has_no_seconds() -> None:
    assert EMPTY.refresh_s is None


def test_T51_a_page_with_a_topper_field_asks_for_awareness() -> None:
    assert state_of(topper="true").is_subject
    assert state_of(major="2014").is_subject
    assert state_of(minor="soon").is_subject
    assert not state_of(created="2014", refresh="5").is_subject


def test_a_state_says_what_the_page_declares() -> None:
    assert state_of(minor="2014", created="x").declares == ("created", "topper-minor")
    assert EMPTY.declares == ()


def test_T04_tokens_in_topper_are_minor_dates() -> None:
    state = state_of(topper="2014-02 soon true", major="2013 x", minor="2014-01 2014-02")

    assert read_dates(state) == Dates(major=("2013",), minor=("2014-01", "2014-02"))
    assert read_dates(EMPTY) == Dates((), ())
    assert read_dates(state_of(minor="2014\u00a02015")) == Dates((), ())


def test_a_state_has_twelve_values() -> None:
    with pytest.raises(ValueError, match=r"^a state has 12 values, not 1$"):
        PageState((None,))


def test_a_state_of_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^no field of a state: titel, version$"):
        PageState.from_dict({"version": "1", "titel": None, "topper": None})


@given(st.lists(metas(), max_size=8))
def test_a_state_survives_its_fields(elements: list[Meta]) -> None:
    state = read_state(elements)

    assert PageState.from_dict(state.to_dict()) == state
    assert tuple(state.to_dict()) == FIELDS


@given(st.lists(metas(), max_size=8), st.lists(st.integers(), min_size=8, max_size=8))
def test_T13_the_order_of_elements_carries_no_meaning(elements: list[Meta], order: list[int]) -> None:
    alike = [meta for meta in elements if meta.http_equiv is None]

    assert read_state(shuffled(alike, order)) == read_state(alike)


@given(st.lists(metas(), max_size=8))
def test_a_canonical_value_is_its_own_canonical_value(elements: list[Meta]) -> None:
    for field, value in read_state(elements).to_dict().items():
        if value is not None:
            assert canonical_value(field, [value]) == value


@given(st.lists(metas(), max_size=6))
def test_T06_the_same_elements_again_are_the_same_topper_fields(elements: list[Meta]) -> None:
    once, twice = read_state(elements), read_state(elements + elements)

    assert once.values[8:] == twice.values[8:]
