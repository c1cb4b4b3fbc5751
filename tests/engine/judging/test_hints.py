"""How long a server says that an answer stays true (RFC 9111)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.engine.judging.pace import LONGEST_S, fresh_for

DATE = ("date", "Sun, 06 Nov 2022 08:00:00 GMT")
WORDS = st.sampled_from(
    ["max-age=", "s-maxage=", "no-cache", "immutable", '"', "\\", ",", " ", "=", "0", "95", "9" * 30, "x"]
)
VALUES = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=12).map("".join))
NAMES = st.sampled_from(["cache-control", "expires", "age", "date", "etag"])


def cached(*values: str) -> list[tuple[str, str]]:
    return [("cache-control", value) for value in values]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("max-age=600", 600),
        ("Max-Age=600, public", 600),
        ("public,max-age=600,immutable", 600),
        (' max-age = "600" ', 600),
        ("s-maxage=60", 60),
        ("max-age=600, s-maxage=60", 60),
        ("max-age=60, s-maxage=600", 60),
        ("max-age=600, max-age=30", 30),
        ('private="a, max-age=5", max-age=600', 600),
        ('private="a\\", max-age=5", max-age=600', 600),
        ("max-age=600, must-revalidate", 600),
    ],
)
def test_a_lifetime_is_read(value: str, seconds: int) -> None:
    assert fresh_for(cached(value)) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "", "public", "no-cache", "no-store", "max-age=0", "max-age=600, no-cache", 'no-cache="a", max-age=600',
        "immutable", "max-age", "max-age=", "max-age=-5", "max-age=1.5", "max-age=soon", "max-age=600, max-age=x",
        "max-age=\u0665", "maxage=600", "max-age=600" + "," * 5000, "=", ",,,", '"', '"max-age=600',
    ],
)  # fmt: skip
def test_what_promises_no_time_says_nothing(value: str) -> None:
    assert fresh_for(cached(value)) is None


def test_no_header_says_nothing() -> None:
    assert fresh_for([("content-type", "text/html"), ("age", "5")]) is None


def test_several_headers_are_read_as_one() -> None:
    assert fresh_for(cached("public", "max-age=600", "s-maxage=300")) == 300


def test_the_time_spent_in_caches_is_over() -> None:
    assert fresh_for([*cached("max-age=600"), ("age", "500")]) == 100


def test_of_several_ages_the_longest_counts() -> None:
    assert fresh_for([*cached("max-age=600"), ("age", "100"), ("age", "500"), ("age", "x")]) == 100


@pytest.mark.parametrize("age", ["600", "99999999999999999999"])
def test_an_answer_that_is_over_says_nothing(age: str) -> None:
    assert fresh_for([*cached("max-age=600"), ("age", age)]) is None


def test_a_time_beyond_all_bounds_is_clamped() -> None:
    assert fresh_for(cached("max-age=99999999999999999999999")) == LONGEST_S


def test_a_date_of_expiry_counts_from_the_answer_s_own_date() -> None:
    assert fresh_for([DATE, ("expires", "Sun, 06 Nov 2022 09:00:00 GMT")]) == 3600


@pytest.mark.parametrize("expires", ["0", "-1", "Sun, 06 Nov 2022 07:00:00 GMT", "tomorrow"])
def test_an_expiry_that_is_over_or_no_date_says_nothing(expires: str) -> None:
    assert fresh_for([DATE, ("expires", expires)]) is None


def test_of_several_expiries_the_nearest_counts() -> None:
    expiries = [("expires", f"Sun, 06 Nov 2022 {hour}:00:00 GMT") for hour in ("10", "09")]

    assert fresh_for([DATE, *expiries]) == 3600


def test_an_expiry_without_a_date_of_the_answer_says_nothing() -> None:
    assert fresh_for([("expires", "Sun, 06 Nov 2022 09:00:00 GMT")]) is None


def test_a_lifetime_takes_the_place_of_an_expiry() -> None:
    assert fresh_for([DATE, ("expires", "Sun, 06 Nov 2022 09:00:00 GMT"), *cached("max-age=60")]) == 60


@given(st.lists(st.tuples(NAMES, VALUES)))
def test_no_headers_raise_and_every_time_is_within_bounds(headers: list[tuple[str, str]]) -> None:
    seconds = fresh_for(headers)

    assert seconds is None or 0 < seconds <= LONGEST_S
