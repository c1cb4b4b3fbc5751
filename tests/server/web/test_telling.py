"""Alerts in words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.alert_examples import examples
from tests.fakes import START
from tocsin import events
from tocsin.model import AlertRow, JsonObject
from tocsin.server.web.telling import AlertInWords, Differing, tell

EXAMPLES = {event["type"]: event for event in examples()}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
KEYS = sorted({key for event in EXAMPLES.values() for key in event["data"]})


def alert(event: JsonObject, **changes: Any) -> AlertRow:
    told = {"id": "A", "position": 3, "page_id": 812, "url": "https://example.org/a", "created_at": START}
    return AlertRow(**({**told, "type": event["type"], "event": event} | changes))


def told_of(kind: str, **changes: Any) -> AlertInWords:
    event = EXAMPLES[kind]
    return tell(alert({**event, "data": event["data"] | changes}))


def test_a_major_change_says_which_dates_are_new() -> None:
    told = told_of(events.CHANGED)

    assert (told.label, told.tone, told.rule, told.why) == ("Major change", "major", "T44", "topper-major changed")
    assert told.fields[0].words == (("2026-01-02", "same"), ("2026-03-04", "come"))


def test_a_minor_change_is_told_as_one() -> None:
    assert (told_of(events.CHANGED, outcome="minor").label, told_of(events.CHANGED, outcome="minor").tone) == (
        "Minor change",
        "minor",
    )


def test_a_change_shows_what_differs_in_the_text() -> None:
    assert told_of(events.CHANGED).added == ("The office is closed on Fridays.",)


def test_MD19_a_change_says_what_became_of_the_items_that_the_page_holds() -> None:
    told = told_of(events.CHANGED)

    assert told.held == ('dtstart of "Bluesday Tuesday": 2009-05-05 → 2009-05-06', 'added: vevent "Jam session"')
    assert told_of(events.CHANGED, items=None).held == ()


@given(st.dictionaries(st.sampled_from(["changes", "cut", "added", "changed"]), JSON), st.lists(JSON, max_size=3))
def test_whatever_an_event_has_as_items_is_told(items: JsonObject, changes: list[Any]) -> None:
    keys = ("change", "item", "within", "property", "previous", "latest")
    rows = [dict(zip(keys, [each] * len(keys), strict=True)) for each in changes]

    told_of(events.CHANGED, items=items)
    told = told_of(events.CHANGED, items={**items, "changes": [*rows, {}]})

    assert all(isinstance(line, str) for line in told.held)


def test_a_page_is_called_by_the_users_words_then_by_its_title_then_by_its_url() -> None:
    page = {"id": "812", "url": "https://example.org/a", "group": "main"}

    assert told_of(events.CHANGED, page={**page, "text": "Mine"}).name == "Mine"
    assert told_of(events.CHANGED, page={**page, "text": None}).name == "A page"
    assert told_of(events.CHANGED, page={**page, "text": None}, rendering=None).name == "https://example.org/a"


@pytest.mark.parametrize("kind", [events.OUTAGE_BEGAN, events.OUTAGE_ENDED])
def test_an_outage_is_about_no_single_page(kind: str) -> None:
    told = tell(alert(EXAMPLES[kind], page_id=None, url="outage"))

    assert (told.address, told.name) == (None, "")


def test_a_storm_is_one_entry_with_its_pages() -> None:
    told = told_of(events.HOST_CHANGED)

    assert (told.storm_id, told.storm_pages, told.host, len(told.sample)) == (7, 312, "example.org", 2)
    assert told.added == ("The office is closed on Fridays.",)


def test_an_unreachable_page_leads_to_its_question() -> None:
    told = told_of(events.UNREACHABLE)

    assert (told.question_id, told.tone) == (77, "bad")
    assert told.notes == ("no connection: connection refused", "312 pages of this host fail for the same cause")


def test_a_page_that_could_not_be_received_whole_is_told_as_such() -> None:
    rendering = {"error": {"kind": "timeout", "status": None, "message": "too slow"}}

    assert "The page could not be read in full: too slow" in told_of(events.CHANGED, rendering=rendering).notes


def test_a_value_that_did_not_fit_into_its_event_is_told_by_its_length() -> None:
    change = {"field": "topper", "previous": {"digest": "sha256:1", "length": 300_000}, "latest": "x"}

    assert told_of(events.CHANGED, changes=[change]).fields[0].previous == "(300,000 bytes, too long to be kept here)"


def test_a_difference_that_did_not_fit_says_that_there_is_more() -> None:
    difference = {"added": {"digest": "sha256:1", "length": 9}, "removed": [], "cut": False}

    assert told_of(events.CHANGED, difference=difference).is_cut


def test_what_came_and_what_went_is_told_apart() -> None:
    assert Differing("topper", "a b", "b c").words == (("a", "gone"), ("b", "same"), ("c", "come"))


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_every_event_of_ours_has_words(kind: str) -> None:
    told = told_of(kind)

    assert told.label
    assert told.tone in {"major", "minor", "bad", "good", "quiet"}


@given(st.sampled_from(sorted(EXAMPLES)), st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4))
def test_whatever_an_event_holds_can_be_told(kind: str, data: JsonObject) -> None:
    assert told_of(kind, **data).id == "A"


def test_items_of_which_only_what_is_not_kept_may_differ_are_told() -> None:
    told = told_of(events.CHANGED, items={"added": 0, "removed": 0, "changed": 0, "cut": True, "changes": []})

    (said,) = told.held
    assert said.startswith("the page has more items than are kept, and those may differ")
