"""One table of what matchers take: routes, silences, `/events`, feeds and lists of alerts all use these matchers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.configuration.routes import read_match
from tocsin.engine.alerting.matching import AlertFacts, Matcher
from tocsin.events import CHANGED, HOST_CHANGED, OUTAGE_BEGAN, UNREACHABLE
from tocsin.settings import MatchSettings

PAGE = {"id": "1", "url": "https://www.example.org/news/a?b=1", "group": "press", "text": "The Council"}
CHANGE = {
    "page": PAGE,
    "outcome": "minor",
    "basis": "declared",
    "rule": "T44",
    "changes": [{"field": "topper"}, {"field": "dcterms.modified"}],
    "rendering": {"title": "Straßen und Plätze"},
    "difference": {"added": ["The office is closed on Fridays.", "東京の天気"], "removed": ["It rains."], "cut": False},
}
QUESTION = {"question": {"host": "Www.Example.org"}, "page": PAGE}
STORM = {"storm": {"host": "shop.example"}, "outcome": "major", "basis": "inferred", "excerpt": {"added": ["Sale"]}}

ROWS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"kind": "changed"}, True),
    ({"kind": ["recovered", "changed"]}, True),
    ({"kind": "recovered"}, False),
    ({"outcome": "minor"}, True),
    ({"outcome": "major"}, False),
    ({"basis": ["declared", "inferred"]}, True),
    ({"basis": "contradicted"}, False),
    ({"group": "press"}, True),
    ({"group": "Press"}, False),
    ({"host": "www.example.org"}, True),
    ({"host": "WWW.example.org."}, True),
    ({"host": "*.example.org"}, True),
    ({"host": "*.org"}, True),
    ({"host": "*"}, True),
    ({"host": "example.org"}, False),
    ({"host": "*.ple.org"}, False),
    ({"host": "*.www.example.org"}, False),
    ({"url": "https://www.example.org/news/a?b=1"}, True),
    ({"url": "https://www.example.org/news/*"}, True),
    ({"url": "*/news/*b=*"}, True),
    ({"url": "*"}, True),
    ({"url": "https://www.example.org/news/"}, False),
    ({"url": "*/news"}, False),
    ({"url": "https://www.example.org/news/a?b=1*a?b=1"}, False),
    ({"rule": "T44"}, True),
    ({"rule": "S2"}, False),
    ({"field": "dcterms.modified"}, True),
    ({"field": "topper-major"}, False),
    ({"words": "fridays"}, True),
    ({"words": "friday"}, False),
    ({"words": "Closed on Fridays"}, True),
    ({"words": "office closed"}, False),
    ({"words": "STRASSEN"}, True),
    ({"words": "council"}, True),
    ({"words": "rains"}, False),
    ({"words": "天気"}, True),
    ({"words": ["nothing", "office"]}, True),
    ({"kind": "changed", "outcome": "major"}, False),
    ({"kind": "changed", "outcome": ["major", "minor"], "words": "office"}, True),
]


@pytest.mark.parametrize(("match", "takes"), ROWS, ids=str)
def test_each_key_must_hold_with_one_of_its_values(match: dict[str, Any], takes: bool) -> None:  # noqa: FBT001 - a case
    facts, matcher = AlertFacts(CHANGED, {"data": CHANGE}), Matcher(read_match(match))

    assert matcher.takes(facts) is takes
    assert (matcher.why_not(facts) is None) is takes


@pytest.mark.parametrize(
    ("event_type", "data", "match", "takes"),
    [
        (UNREACHABLE, QUESTION, {"host": "www.example.org", "kind": "unreachable"}, True),
        (UNREACHABLE, {**QUESTION, "page": None}, {"host": "www.example.org"}, True),
        (UNREACHABLE, {**QUESTION, "page": None}, {"url": "*"}, False),
        (HOST_CHANGED, STORM, {"kind": "storm", "host": "shop.example", "outcome": "major"}, True),
        (HOST_CHANGED, STORM, {"words": "sale"}, True),
        (HOST_CHANGED, STORM, {"group": "press"}, False),
        (OUTAGE_BEGAN, {"began": "2026-01-01T00:00:00Z"}, {"kind": "outage"}, True),
        (OUTAGE_BEGAN, {"began": "2026-01-01T00:00:00Z"}, {"host": "*"}, False),
        # The longest lists of an event above 256 KiB are replaced by their digests.
        (CHANGED, {**CHANGE, "difference": {"added": {"digest": "sha256:0", "length": 9}}}, {"words": "office"}, False),
    ],
)
def test_alerts_without_a_page_are_matched_by_what_they_have(
    event_type: str,
    data: dict[str, Any],
    match: dict[str, Any],
    takes: bool,  # noqa: FBT001 - a case
) -> None:
    assert Matcher(read_match(match)).takes(AlertFacts(event_type, {"data": data})) is takes


@pytest.mark.parametrize(
    ("match", "why"),
    [
        ({"outcome": "major"}, "its outcome is minor, not major"),
        ({"group": ["a", "b", "c", "d", "e"]}, "its group is press, not a, b, c or 2 others"),
        ({"field": "topper-major"}, "it changed dcterms.modified, topper, not topper-major"),
        ({"words": "rain"}, "none of the words rain is in its title, its added lines or your text"),
    ],
)
def test_what_keeps_an_alert_out_is_said_with_its_own_value(match: dict[str, Any], why: str) -> None:
    assert Matcher(read_match(match)).why_not(AlertFacts(CHANGED, {"data": CHANGE})) == why


def test_a_key_that_an_alert_does_not_have_is_named() -> None:
    facts = AlertFacts(OUTAGE_BEGAN, {"data": {}})

    assert Matcher(read_match({"host": "*"})).why_not(facts) == "it is about no host"
    assert Matcher(read_match({"rule": "T44"})).why_not(facts) == "it has no rule"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from([*CHANGE, *PAGE, "added"]), below),
    max_leaves=12,
)
EVERYTHING = {
    "kind": "changed", "outcome": "minor", "basis": "declared", "group": "g", "host": "*.org", "url": "*a*",
    "rule": "T44", "field": "topper", "words": ["a", "a b"],
}  # fmt: skip


@given(ANYTHING, st.text(max_size=30))
def test_any_event_has_an_answer_and_a_reason(data: Any, event_type: str) -> None:
    facts = AlertFacts(event_type, {"data": data})
    for key, value in EVERYTHING.items():
        matcher = Matcher(read_match({key: value}))
        assert matcher.takes(facts) is (matcher.why_not(facts) is None)


TEXTS = st.text(alphabet="ab \u00c4\u00e4\ufb01.\u5929I\u0130", max_size=12)


@given(TEXTS, st.lists(TEXTS.filter(lambda text: bool(text.strip(" ."))), min_size=1, max_size=3))
def test_words_are_found_alike_by_few_matchers_and_by_many(text: str, phrases: list[str]) -> None:
    # Few are looked up in the whole text first; with many it is split at once.
    matcher, event = Matcher(MatchSettings(words=tuple(phrases))), {"data": {"page": {"text": text}}}
    alone, after_many = AlertFacts(CHANGED, event), AlertFacts(CHANGED, event)
    after_many.may_have([("a",)] * 99)

    assert matcher.takes(alone) is matcher.takes(after_many)


def test_a_pattern_of_many_stars_ends() -> None:
    # A pattern that is tried at every place would take hours.
    facts = AlertFacts(CHANGED, {"data": {"page": {"url": "https://a.example/" + "a" * 100_000}}})

    assert not Matcher(read_match({"url": "*a" * 900 + "*b"})).takes(facts)
