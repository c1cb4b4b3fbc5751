"""Rows in words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from tocsin.demo.rows import alert_line, check_line, question_lines, verdict_lines
from tocsin.events import CHANGED, OUTAGE_BEGAN, RECOVERED, UNREACHABLE
from tocsin.model import AlertRow, Attempt, HistoryEntry, PageRow, QuestionRow, VerdictEntry

AT = 1_800_000_000_000_000
URL = "http://127.0.0.2:80/news"
NOTHING = (None,) * 12


def page(**report: Any) -> PageRow:
    told = {"rule": None, "declares": [], "not_modified": False, "attempts": 1, "error": None, "problem": None} | report
    return PageRow(
        id=7,
        url=URL,
        given=URL,
        host="127.0.0.2",
        group="main",
        paused=False,
        text=None,
        settings={},
        next_at=AT + 5_000_000,
        next_why=None,
        last_checked_at=AT,
        last_received_at=AT,
        last_changed_at=None,
        last_report=told if report else None,
        fields=None,
        stored_at=AT,
        question_id=None,
    )


def entry(*verdicts: tuple[str, str, dict[str, Any]], in_table: bool = True) -> HistoryEntry:
    found = tuple(
        VerdictEntry(number, 7, AT + number, outcome, None, rule, "declared", data)
        for number, (outcome, rule, data) in enumerate(verdicts)
    )
    return HistoryEntry(1, AT, AT, 1, in_table, NOTHING, found)


def data(field: str, previous: str | None, latest: str | None, *, count: int = 0) -> dict[str, Any]:
    changes = [{"field": field, "previous": previous, "latest": latest}]
    return {"minor_count": count, "thresholds": {"minor": 3}, "changes": changes}


def alert(kind: str, values: dict[str, Any], *deliveries: tuple[str, str, int, str | None]) -> AlertRow:
    return AlertRow("01K", 4, kind, 7, URL, AT, {"data": values}, deliveries)


def question(**changes: Any) -> QuestionRow:
    attempts = tuple(Attempt(AT + number, "status", 503, "answered 503", 3) for number in range(3))
    asked = QuestionRow(
        id=5,
        host_id=1,
        host="127.0.0.2",
        cause="status 503",
        opened_at=AT,
        announce_at=AT,
        announced_at=None,
        answered_at=None,
        closed_at=None,
        instruction=None,
        pages=1,
        sample=(URL,),
        first_page_id=7,
        attempts=attempts,
        page_url=URL,
    )
    return structs.replace(asked, **changes)


def test_T40_a_first_storing_names_what_the_page_declares() -> None:
    line = check_line(page(outcome="first", rule="T40", declares=["created", "topper"]))

    assert line is not None
    assert (line.at, line.url, line.path, line.outcome, line.rule) == (AT, URL, "/news", "first", "T40")
    assert line.sentence == "stored; declares created, topper"


@pytest.mark.parametrize(
    ("report", "rule", "sentence"),
    [
        ({"outcome": "first", "rule": "T40"}, "T40", "stored; declares no change dates"),
        (
            {"outcome": "unchanged", "rule": "T42", "not_modified": True},
            "T42",
            "unchanged: its server answered 304",
        ),
        ({"outcome": "unchanged", "rule": "T42"}, "T42", "unchanged, read again"),
        ({"outcome": "too-soon", "rule": "T43"}, "T43", "too soon for its refresh; due again at 08:00:05Z"),
        (
            {"outcome": "unreachable", "attempts": 3, "error": ["status", "answered 503"]},
            "T58",
            "unreachable after 3 tries: answered 503",
        ),
        ({"outcome": "suspect", "problem": "a PDF"}, "", "suspect: a PDF"),
    ],
)
def test_each_outcome_of_a_check_has_its_rule_and_sentence(report: dict[str, Any], rule: str, sentence: str) -> None:
    line = check_line(page(**report))

    assert line is not None
    assert (line.rule, line.sentence) == (rule, sentence)


def test_a_check_without_a_report_or_with_a_verdict_is_no_line() -> None:
    assert check_line(page()) is None
    assert check_line(page(outcome="major", rule="T44")) is None


def test_verdicts_are_told_oldest_first_each_with_its_rule() -> None:
    newer = data("topper-major", "2026-01-01", "2026-01-01 2026-02-02")
    older = data("article:modified_time", "2026-01-01", "2026-02-02")

    lines = list(verdict_lines(URL, [entry(("minor", "T47", older), ("major", "T44", newer))]))

    assert [(line.rule, line.sentence) for line in lines] == [
        ("T47", "minor: article:modified_time now 2026-02-02"),
        ("T44", "major: topper-major gains 2026-02-02"),
    ]


def test_T46_minor_changes_are_counted() -> None:
    second = ("minor", "T47", data("topper-minor", "2026-01", "2026-01 2026-02", count=2))
    third = ("major", "T46", data("topper-minor", "2026-02", "2026-02 2026-03", count=3))

    lines = list(verdict_lines(URL, [entry(second, third)]))

    assert [line.sentence.partition(":")[0] for line in lines] == ["minor (2 of 3)", "major (3 of 3)"]


def test_T48_changes_in_other_fields_are_not_counted() -> None:
    (line,) = verdict_lines(URL, [entry(("minor", "T47", data("created", None, "2026", count=2)))])

    assert line.sentence == "minor: created now 2026"


def test_a_field_and_a_date_that_are_gone_are_named() -> None:
    field = ("minor", "T47", data("created", "2026", None))
    date = ("major", "T44", data("topper-major", "2025 2026", "2026"))

    lines = list(verdict_lines(URL, [entry(field, date)]))

    assert [line.sentence for line in lines] == ["minor: created is gone", "major: topper-major loses 2025"]


def test_T45_a_change_by_duration_says_so() -> None:
    (line,) = verdict_lines(URL, [entry(("major", "T45", data("", None, None) | {"changes": []}))])

    assert line.sentence == "major: no difference for longer than the durational threshold"


def test_a_long_value_is_shortened() -> None:
    (line,) = verdict_lines(URL, [entry(("minor", "T47", data("created", None, "x" * 500)))])

    assert line.sentence.endswith("x…")
    assert len(line.sentence) < 80


def test_T60_a_question_tells_its_tries_and_how_to_answer_it() -> None:
    lines = list(question_lines(question(announced_at=AT + 9), answer="tocsin attention answer"))

    assert [(line.row, line.outcome) for line in lines] == [
        *[("try", "failed")] * 3,
        ("question", "opened"),
        ("question", "asked"),
    ]
    assert lines[2].sentence == "try 3 of 3 failed: answered 503"
    assert lines[4].sentence.endswith("tocsin attention answer 5 again")


def test_a_closed_question_says_so() -> None:
    *_, line = question_lines(question(closed_at=AT + 9), answer="")

    assert (line.outcome, line.at) == ("closed", AT + 9)


def test_an_alert_of_a_change_tells_its_rendering_and_when_it_was_received() -> None:
    rendering = {"error": None, "bytes": 285, "received": "2027-01-15T08:00:01.500Z"}
    told = {"outcome": "major", "rule": "T44", "rendering": rendering, "items": None}

    line = alert_line(alert(CHANGED, told, ("hook", "waiting", 0, None)))

    assert (line.outcome, line.rule, line.at) == ("major", "T44", AT + 1_500_000)
    assert line.sentence == "alert 4 to hook: major, page read whole, 285 B"


def test_MD19_an_alert_tells_what_became_of_the_event_that_the_page_announces() -> None:
    rendering = {"error": None, "bytes": 285, "received": "2027-01-15T08:00:01.500Z"}
    event = {"type": "http://microformats.org/profile/hcalendar#vevent", "id": None, "position": 1, "label": "Concert"}
    moved = {"change": "changed", "item": event, "within": [], "property": "dtstart"}
    moved |= {"previous": ["2027-05-05"], "latest": ["2027-05-06"]}
    items = {"since": None, "added": 0, "removed": 0, "changed": 1, "cut": False, "changes": [moved]}

    line = alert_line(alert(CHANGED, {"outcome": "major", "rule": "T44", "rendering": rendering, "items": items}))

    assert line.sentence.endswith('page read whole, 285 B (dtstart of "Concert": 2027-05-05 → 2027-05-06)')


def test_an_alert_whose_page_could_not_be_read_whole_says_so() -> None:
    rendering = {"error": {"message": "connection refused"}, "bytes": None, "received": None}

    line = alert_line(alert(CHANGED, {"outcome": "minor", "rule": "T47", "rendering": rendering, "items": None}))

    assert "connection refused" in line.sentence
    assert "tried again" in line.sentence
    assert line.at == AT


def test_alerts_of_questions_and_outages_are_told() -> None:
    asked = alert_line(alert(UNREACHABLE, {"question": {"id": "5", "pages": 2}}))
    back = alert_line(alert(RECOVERED, {"question": {"id": "5"}}))
    outage = alert_line(alert(OUTAGE_BEGAN, {}))

    assert [line.outcome for line in (asked, back, outage)] == ["unreachable", "recovered", "began"]
    assert "question 5" in back.sentence


def test_a_line_as_json_carries_its_step() -> None:
    (line,) = verdict_lines(URL, [entry(("minor", "T47", data("created", None, "2026")))])

    assert line.to_json("A step") == {
        "at": "2027-01-15T08:00:00.000Z",
        "step": "A step",
        "row": "verdict",
        "id": f"{URL}#{AT}",
        "url": URL,
        "outcome": "minor",
        "rule": "T47",
        "sentence": "minor: created now 2026",
    }
