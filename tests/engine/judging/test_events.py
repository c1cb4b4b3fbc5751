"""Events: every key is there, and a large one is cut until it fits."""

from __future__ import annotations

import hashlib
import json
import re
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.awareness import DAY, NEW, OLD, job_of, task_of, verdict_of
from tests.fakes import START, SeededChance
from tocsin.engine.judging.events import MAX_EVENT_BYTES, EventWriter, fit_event
from tocsin.model import AlertDraft, Attempt, KnownCopy, QuestionRow, QuestionTimes, RenderingRow, SamplePage
from tocsin.spec.topper.state import FIELDS

RENDERING = RenderingRow(
    kind="http",
    started_at=START,
    received=START + 40_000,
    status=200,
    final_url="https://example.org/812",
    content_type="text/html",
    title="A",
    bytes=51750,
    digest="sha256:9f",
    same_state=True,
    error=None,
)


def question(**changes: Any) -> QuestionRow:
    asked = QuestionRow(
        id=77,
        host_id=3,
        host="example.org",
        cause="connect",
        times=QuestionTimes(START, START),
        instruction=None,
        pages=312,
        sample=("https://example.org/a",),
        page=SamplePage(812, "https://example.org/812"),
        attempts=(Attempt(START, "connect", None, "connection refused", 12),),
        last_received=START - DAY,
        next_occasion=START + DAY,
    )
    return msgspec.structs.replace(asked, **changes)


@pytest.fixture
def alerts() -> EventWriter:
    return EventWriter("tocsin", SeededChance())


def every_alert(alerts: EventWriter) -> list[AlertDraft]:
    task = task_of(question_id=77)
    verdict = verdict_of(task, OLD, NEW, START)
    return [
        alerts.changed_event(task, verdict, RENDERING),
        alerts.unchanged_event(task, verdict.data, START),
        alerts.too_soon_event(task, verdict.data, START),
        alerts.unreachable_event(question(), START),
        alerts.recovered_event(task, 77, START, RENDERING),
        alerts.disallowed_event(
            task, START, robots_url="https://example.org/robots.txt", rule="Disallow: /", next_try=START
        ),
        alerts.suspect_event(task, START, evidence="not HTML but PDF", content_type="application/pdf"),
        alerts.outage_began_event(START, START, node="node-1"),
        alerts.outage_ended_event(START, START + DAY, node="node-1"),
        alerts.test_event("ops", START),
    ]


def test_every_alert_is_a_cloudevent_of_the_instance(alerts: EventWriter) -> None:
    for draft in every_alert(alerts):
        event = draft.event
        assert list(event) == ["specversion", "id", "source", "type", "subject", "time", "datacontenttype", "data"]
        assert (event["specversion"], event["source"], event["datacontenttype"]) == (
            "1.0",
            "tocsin",
            "application/json",
        )
        assert (event["id"], event["type"]) == (draft.id, draft.type)
        assert event["subject"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["time"])
        assert json.loads(msgspec.json.encode(event)) == event


def test_every_alert_has_an_id_of_its_own(alerts: EventWriter) -> None:
    ids = [draft.id for draft in every_alert(alerts)]

    assert len(set(ids)) == len(ids)


def test_alerts_of_pages_belong_to_their_order_and_others_to_none(alerts: EventWriter) -> None:
    pages = {draft.type: draft.page_id for draft in every_alert(alerts)}

    assert {kind for kind, page_id in pages.items() if page_id is None} == {
        "tocsin.outage.began.v1",
        "tocsin.outage.ended.v1",
        "tocsin.channel.test.v1",
    }


def test_a_change_has_every_key_that_receivers_are_promised(alerts: EventWriter) -> None:
    task = task_of()

    data = alerts.changed_event(task, verdict_of(task, OLD, NEW, START), RENDERING).event["data"]

    assert list(data) == [
        "summary", "short", "page", "outcome", "reason", "rule", "basis", "elapsed_s", "minor_count", "thresholds",
        "changes", "previous", "latest", "new_dates", "signals", "trace", "witness", "difference", "rendering",
        "rendered", "items", "storm", "links",
    ]  # fmt: skip
    assert data["page"] == {"id": "812", "url": "https://example.org/812", "group": "main", "text": None, "title": "A"}
    assert (data["outcome"], data["reason"], data["rule"], data["basis"]) == (
        "major",
        "topper-major",
        "T44",
        "declared",
    )
    assert (data["elapsed_s"], data["thresholds"]) == (86400, {"durational_s": 6912000, "minor": 3})
    assert data["changes"] == [{"field": "topper-major", "previous": "2026-01-02", "latest": "2026-01-02 2026-03-04"}]
    assert data["new_dates"] == {"major": ["2026-03-04"], "minor": []}
    assert list(data["latest"]["fields"]) == list(FIELDS)
    assert data["latest"]["stored"] == "2026-11-18T11:06:40.000Z"
    assert data["previous"]["stored"] == "2026-11-17T11:06:40.000Z"
    assert list(data["rendering"]) == [
        "kind", "received", "status", "final_url", "content_type", "title", "bytes", "digest", "same_state",
        "screenshot", "error",
    ]  # fmt: skip
    assert (data["rendered"], data["items"], data["links"]) == (None, None, {"page": None})


def test_the_time_of_a_change_is_when_it_was_decided(alerts: EventWriter) -> None:
    (verdict,) = job_of().verdicts

    draft = alerts.changed_event(task_of(), verdict, RENDERING)

    assert (draft.at, draft.event["time"]) == (START, "2026-11-18T11:06:40.000Z")


def test_telling_of_a_verdict_leaves_the_stored_verdict_as_it_is(alerts: EventWriter) -> None:
    (verdict,) = job_of().verdicts

    alerts.changed_event(task_of(), verdict, RENDERING)

    assert verdict.data["rendering"] is None


def test_T60_a_question_says_what_can_be_answered_and_how(alerts: EventWriter) -> None:
    data = alerts.unreachable_event(question(), START).event["data"]

    assert data["question"] == {
        "id": "77",
        "scope": "host",
        "host": "example.org",
        "pages": 312,
        "sample": ["https://example.org/a"],
        "answer": {"command": "tocsin attention answer 77 again", "url": None},
    }
    assert data["instructions"] == ["again", "never", "until-major"]
    assert data["error"] == {"kind": "connect", "status": None, "message": "connection refused"}
    assert data["attempts"][0]["elapsed_ms"] == 12
    assert (data["last_received"], data["next_occasion"]) == ("2026-11-17T11:06:40.000Z", "2026-11-19T11:06:40.000Z")
    assert (data["during"], data["copies"], data["pending_change"]) == ("check", [], None)


def test_T60_a_question_about_one_page_is_of_that_page(alerts: EventWriter) -> None:
    data = alerts.unreachable_event(question(pages=1), START).event["data"]

    assert data["question"]["scope"] == "page"


def test_a_question_whose_first_page_is_gone_still_has_every_key(alerts: EventWriter) -> None:
    gone = question(page=SamplePage(), sample=(), attempts=(), cause="status 404")

    event = alerts.unreachable_event(gone, START).event

    assert (event["subject"], event["data"]["page"]) == ("example.org", None)
    assert event["data"]["error"] == {"kind": "status", "status": None, "message": "status 404"}


def test_a_recovery_says_which_question_it_leaves(alerts: EventWriter) -> None:
    left = alerts.recovered_event(task_of(), 77, START).event["data"]
    answered = alerts.recovered_event(task_of(), None, START).event["data"]

    assert (left["question"]["id"], answered["question"]) == ("77", None)


def copies(count: int, *, length: int = 0) -> tuple[KnownCopy, ...]:
    page = "https://example.org/812"
    return tuple(
        KnownCopy(page, f"https://archive.example/{number}{'x' * length}", "2026-01-02", "memento", "mset", f"{page}0")
        for number in range(count)
    )


def test_MS12_the_question_offers_the_copies_that_are_known(alerts: EventWriter) -> None:
    event = alerts.unreachable_event(question(copies=copies(2)), START).event

    assert event["data"]["copies"] == [
        {
            "url": f"https://archive.example/{number}",
            "datetime": "2026-01-02",
            "rel": "memento",
            "from": "https://example.org/8120",
        }
        for number in range(2)
    ]


def test_copies_leave_room_for_the_rest_of_the_event(alerts: EventWriter) -> None:
    event = alerts.unreachable_event(question(copies=copies(100, length=8000)), START).event

    assert len(msgspec.json.encode(event)) <= 256 * 1024
    shown = [copy["url"] for copy in event["data"]["copies"]]
    assert 0 < len(shown) < 100
    assert shown == [copy.url for copy in copies(len(shown), length=8000)]
    assert event["data"]["page"]["url"] == "https://example.org/812"


def test_a_page_without_a_state_can_be_suspect(alerts: EventWriter) -> None:
    data = alerts.suspect_event(task_of(state=None), START, evidence="a PDF", content_type=None).event["data"]

    assert data["latest"] is None


def test_events_of_a_page_link_to_it_where_people_reach_us() -> None:
    linked = every_alert(EventWriter("tocsin", SeededChance(), public_url="https://tocsin.example.org/watch/"))

    links = {draft.type: draft.event["data"]["links"]["page"] for draft in linked if "links" in draft.event["data"]}

    assert set(links.values()) == {"https://tocsin.example.org/watch/pages/812"}
    assert len(links) == 6


def test_T60_a_question_links_to_where_it_is_answered() -> None:
    alerts = EventWriter("tocsin", SeededChance(), public_url="https://tocsin.example.org")

    data = alerts.unreachable_event(question(), START).event["data"]

    assert data["question"]["answer"]["url"] == "https://tocsin.example.org/questions/77"


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
