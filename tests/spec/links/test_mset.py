from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.links.copies import (
    MOST_CANDIDATES,
    MsetCopy,
    MsetProblem,
    MsetValue,
    parse_mset,
)

BASE = "https://news.example/2020/page.html"
COPY = "https://copies.example/a"


def parse(value: str) -> MsetValue:
    return parse_mset(value, BASE)


def told(value: str) -> list[tuple[MsetProblem, str]]:
    """The errors, each with the text that it is about."""
    return [(error.code, value[error.offset :][: error.length]) for error in parse(value).errors]


@pytest.mark.parametrize("date", ["2019-12-31", "2019-12-31T23:59Z", "2019-12-31T23:59:58.5+01:00", "12019-12-31"])
def test_MS04_a_date_alone_says_when_the_author_referred(date: str) -> None:
    assert parse(f"\n {date}\t") == MsetValue((date,), (), ())


@pytest.mark.parametrize(
    ("candidate", "copy"),
    [
        (COPY, MsetCopy(COPY)),
        (f" {COPY}\n2019-01-02 ", MsetCopy(COPY, "2019-01-02")),
        (f"{COPY} memento", MsetCopy(COPY, None, "memento", 25)),
        (f"{COPY} 2019-01-02T10:00Z  Memento", MsetCopy(COPY, "2019-01-02T10:00Z", "memento", 44)),
        (f"{COPY} https://types.example/Own", MsetCopy(COPY, None, "https://types.example/Own", 25)),
        ("../old/page.html", MsetCopy("https://news.example/old/page.html")),
        (f"{COPY} 2019", MsetCopy(COPY, None, "2019", 25)),
    ],
)
def test_MS05_a_copy_is_a_url_perhaps_a_date_perhaps_a_link_type(candidate: str, copy: MsetCopy) -> None:
    assert parse(candidate) == MsetValue((), (copy,), ())


@pytest.mark.parametrize("word", ["2019", "2019-02-30", "2019-02-03T10:00", "2019-02-03T10:00+0100"])
def test_C44_what_is_no_whole_date_is_a_url(word: str) -> None:
    assert parse(word).temporal == ()
    assert [copy.url for copy in parse(word).copies] == [f"https://news.example/2020/{word}"]


def test_C45_each_comma_separates() -> None:
    found = parse(f"2019-12-31,{COPY}?a,b 2019-01-02")

    assert found.temporal == ("2019-12-31",)
    assert [copy.url for copy in found.copies] == [f"{COPY}?a", "https://news.example/2020/b"]


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        ("", [(MsetProblem.EMPTY, "")]),
        (" \n", [(MsetProblem.EMPTY, " \n")]),
        (f"{COPY},", [(MsetProblem.EMPTY_CANDIDATE, "")]),
        (f",, {COPY}", [(MsetProblem.EMPTY_CANDIDATE, "")] * 2),
        (f" 2019-12-31  {COPY} ", [(MsetProblem.DATE_AND_MORE, f"2019-12-31  {COPY}")]),
        ("2019-12-31 2019-12-31", [(MsetProblem.DATE_AND_MORE, "2019-12-31 2019-12-31")]),
        ("a 2019-12-31 b c", [(MsetProblem.COPY_AND_MORE, "a 2019-12-31 b c")]),
        ("a memento 2019-12-31", [(MsetProblem.COPY_AND_MORE, "a memento 2019-12-31")]),
        ("a 2019-12-31 2019-12-31", [(MsetProblem.COPY_AND_MORE, "a 2019-12-31 2019-12-31")]),
        ("b, http://[ 2019-12-31", [(MsetProblem.UNRESOLVABLE, "http://[")]),
    ],
)
def test_MS02_to_MS07_what_is_wrong_is_told_with_its_place(value: str, errors: list[tuple[MsetProblem, str]]) -> None:
    assert told(value) == errors
    assert not parse(value).valid


def test_MS02_a_good_candidate_beside_bad_ones_is_kept() -> None:
    found = parse(f"2019-12-31 x,,{COPY} a b,2020-01-01,{COPY}")

    assert (found.temporal, found.copies) == (("2020-01-01",), (MsetCopy(COPY),))


def test_MS07_a_copy_whose_url_is_not_valid_is_kept_and_told() -> None:
    assert parse(f"{COPY}|b").copies == (MsetCopy(f"{COPY}|b"),)
    assert told(f"{COPY}|b 2019-12-31") == [(MsetProblem.INVALID_URL, f"{COPY}|b")]


def test_URL08_the_query_of_a_copy_is_written_in_the_documents_encoding() -> None:
    found = parse_mset("?\u00e9", BASE, "windows-1252")

    assert [copy.url for copy in found.copies] == [f"{BASE}?%E9"]
    assert [error.code for error in found.errors] == [MsetProblem.INVALID_URL]


def test_without_a_base_a_relative_copy_leads_nowhere() -> None:
    found = parse_mset(f"a, {COPY}", None)

    assert found.copies == (MsetCopy(COPY),)
    assert [error.code for error in found.errors] == [MsetProblem.UNRESOLVABLE]


def test_a_page_cannot_hold_a_reader_up_with_candidates() -> None:
    found = parse("a," * (MOST_CANDIDATES + 5))

    assert len(found.copies) == MOST_CANDIDATES
    assert [(error.code, error.offset) for error in found.errors] == [(MsetProblem.TOO_MANY, 2 * MOST_CANDIDATES)]


def test_each_error_says_the_mend() -> None:
    messages = {error.message for code in MsetProblem for error in parse(BROKEN[code]).errors if error.code is code}

    assert len(messages) == len(MsetProblem)
    assert all(";" in message for message in messages)


BROKEN = {
    MsetProblem.EMPTY: "",
    MsetProblem.EMPTY_CANDIDATE: ",a",
    MsetProblem.DATE_AND_MORE: "2019-12-31 a",
    MsetProblem.COPY_AND_MORE: "a b c",
    MsetProblem.UNRESOLVABLE: "http://[",
    MsetProblem.INVALID_URL: "^",
    MsetProblem.TOO_MANY: "a," * (MOST_CANDIDATES + 1),
}


pieces = st.sampled_from([",", " ", "\t", "2019-12-31", COPY, "memento", "http://[", "\ud800", "\u00e9?\u00e9", "%"])


@given(st.lists(pieces | st.text()).map("".join), st.none() | st.just(BASE) | st.text())
def test_no_value_raises_and_each_error_lies_within_it(value: str, base: str | None) -> None:
    found = parse_mset(value, base, "shift_jis")

    places = [error.offset for error in found.errors]
    assert places == sorted(places)
    assert all(0 <= error.offset <= error.offset + error.length <= len(value) for error in found.errors)
    for copy in found.copies:
        if copy.rel is not None and copy.rel_at is not None:
            assert value[copy.rel_at :][: len(copy.rel)].lower() == copy.rel.lower()
