from __future__ import annotations

import hashlib
import json
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.engine.judging.events import MAX_EVENT_BYTES, fit_event

URL = "https://example.org/" + "a" * 2000


def event_of(**data: Any) -> dict[str, Any]:
    return {"specversion": "1.0", "id": "01KAK", "subject": URL, "data": {"page": {"id": "812", "url": URL}, **data}}


def size(event: dict[str, Any]) -> int:
    return len(msgspec.json.encode(event))


def test_an_event_that_fits_is_left_as_it_is() -> None:
    event = event_of(title="x" * 1000)

    assert fit_event(event) is event


def test_the_longest_value_gives_way_to_its_digest_and_length() -> None:
    long = "é" * 200_000

    fitted = fit_event(event_of(title=long, small="x" * 1000))

    assert fitted["data"]["title"] == {
        "digest": f"sha256:{hashlib.sha256(long.encode()).hexdigest()}",
        "length": 400_000,
    }
    assert fitted["data"]["small"] == "x" * 1000


def test_a_list_gives_way_as_a_whole() -> None:
    dates = [f"2026-{number:05}" for number in range(40_000)]

    fitted = fit_event(event_of(new_dates={"major": dates, "minor": ["2026"]}))

    encoded = json.dumps(dates, separators=(",", ":")).encode()
    assert fitted["data"]["new_dates"]["major"]["length"] == len(encoded)
    assert fitted["data"]["new_dates"]["minor"] == ["2026"]


def test_no_more_values_give_way_than_have_to() -> None:
    fitted = fit_event(event_of(a="x" * 130_000, b="x" * 131_000, c="x" * 100))

    assert [isinstance(fitted["data"][key], str) for key in "abc"] == [True, False, True]


def test_the_event_given_is_never_changed() -> None:
    event = event_of(changes=[{"field": "topper", "previous": "x" * 200_000, "latest": "y" * 200_000}])
    before = deepcopy(event)

    fit_event(event)

    assert event == before


@pytest.mark.parametrize("key", ["id", "url", "final_url", "stored", "received"])
def test_what_a_receiver_finds_things_by_stays(key: str) -> None:
    fitted = fit_event(event_of(inner={key: "x" * 3000, "title": "x" * 300_000}))

    assert fitted["data"]["inner"][key] == "x" * 3000


values = st.recursive(
    st.none() | st.integers(0, 9) | st.integers(0, 9).map(lambda tens: "é" * tens * 9_000),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["title", "url", "x", "y"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(data=values.filter(lambda value: "url" not in json.dumps(value)))
def test_every_event_fits_and_always_in_the_same_way(data: Any) -> None:
    event = event_of(data=data)

    fitted = fit_event(event)

    assert size(fitted) <= MAX_EVENT_BYTES
    assert fitted == fit_event(deepcopy(event))
    assert fitted["data"]["page"] == event["data"]["page"]


def test_what_signals_and_their_differences_say_gives_way_as_well() -> None:
    said = {
        "signal": "json-ld.version",
        "previous": "1" * 200_000,
        "latest": "2" * 200_000,
        "says": "minor",
        "rule": "S1",
    }
    step = {"rule": "S1", "says": "minor", "why": "x" * 200_000}
    difference = {"added": ["new"] * 50_000, "removed": [], "cut": True}

    fitted = fit_event(event_of(signals=[said], trace=[step], difference=difference))

    assert size(fitted) <= MAX_EVENT_BYTES
    shown = fitted["data"]["signals"][0]
    assert (shown["signal"], shown["says"], shown["rule"]) == ("json-ld.version", "minor", "S1")
    assert fitted["data"]["difference"]["cut"] is True
