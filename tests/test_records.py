"""Every field of a record has the value of its row that it is described as."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.model import (
    AlertDelivery,
    AlertRow,
    Attempt,
    AuditEntry,
    ChannelState,
    CheckReport,
    DayMarks,
    DueTime,
    HistoryEntry,
    Instruction,
    ItemChangeEntry,
    JobRow,
    KnownCopy,
    LastChange,
    LastCheck,
    LatestState,
    PageFlags,
    PageRow,
    QuestionRow,
    QuestionTimes,
    SamplePage,
    StandingAnswerRow,
    StormRow,
    StormVerdict,
    TokenRow,
    VerdictEntry,
    Witness,
)
from tocsin.model.records.alerting import (
    WholeQuestion,
    alert_of,
    channel_of,
    question_of,
    standing_answer_of,
    storm_of,
    storm_page_of,
    whole_question,
)
from tocsin.model.records.fields import Record, to_json
from tocsin.model.records.history import history_state_of
from tocsin.model.records.pages import Modes, check_of, page_of
from tocsin.model.records.service import audit_line_of, job_of, new_token_of, token_of
from tocsin.settings import Scope
from tocsin.spec.topper.state import FIELDS

S = 1_000_000


def at(second: int) -> str:
    """An instant as records write it."""
    return f"1970-01-01T00:00:{second:02}.000Z"


STATE = ("2026-01-01", *(None,) * 10, "2026-02-02")
FIELDS_SHOWN = dict(zip(FIELDS, STATE, strict=True))
MODES = Modes("auto", {}, {1: ("news", {"mode": "on"})})

REPORT = CheckReport(
    url="https://a.example/",
    outcome="unreachable",
    changed=("topper",),
    reason="duration",
    rule="T45",
    basis="declared",
    declares=("created",),
    status=503,
    final_url="https://a.example/b",
    attempts=3,
    bytes=40,
    elapsed_ms=50,
    not_modified=True,
    next_try=31 * S,
    error=("status", "answered 503"),
    problem="robots",
    saved_bytes=70,
    signals=("content",),
    witness=Witness("dcterms.modified", "2025-01-01", 32 * S),
)
CHECK = {
    "url": "https://a.example/",
    "outcome": "unreachable",
    "changed": ["topper"],
    "reason": "duration",
    "rule": "T45",
    "basis": "declared",
    "declares": ["created"],
    "status": 503,
    "final_url": "https://a.example/b",
    "attempts": 3,
    "bytes": 40,
    "elapsed_ms": 50,
    "not_modified": True,
    "next_try": at(31),
    "error": {"kind": "status", "message": "answered 503"},
    "problem": "robots",
    "saved_bytes": 70,
    "signals": ["content"],
    "witness": {"signal": "dcterms.modified", "value": "2025-01-01", "since": at(32)},
}

PAGE_ROW = PageRow(
    id=7,
    url="https://a.example/",
    given="a.example",
    host="a.example",
    group="news",
    paused=True,
    text="mine",
    title="Notices",
    settings={"every": "6h", "auth": "me:hidden"},
    due=DueTime(1 * S, "every 6h (jittered)"),
    last=LastCheck(2 * S, 3 * S, 4 * S, msgspec.to_builtins(REPORT)),
    state=LatestState(STATE, 5 * S),
    question_id=8,
    has_secrets=True,
    secrets=("me", "hidden"),
    flags=PageFlags(noindex=True, is_shell=True),
    saved_bytes=9,
    change=LastChange("minor", "14 instead of 30"),
    days=DayMarks(20_000, b"\x0e"),
)
PAGE = {
    "id": "7",
    "url": "https://a.example/",
    "given": "a.example",
    "host": "a.example",
    "group": "news",
    "text": "mine",
    "title": "Notices",
    "mode": "on",
    "mode_from": "group",
    "subject": True,
    "paused": True,
    "settings": {"every": "6h", "auth": "***"},
    "credentials": True,
    "fields": FIELDS_SHOWN,
    "declares": [FIELDS[0], FIELDS[-1]],
    "outcome": "unreachable",
    "basis": "declared",
    "last_check": CHECK,
    "stored_at": at(5),
    "checked_at": at(2),
    "received_at": at(3),
    "changed_at": at(4),
    "last_change": {"at": at(4), "outcome": "minor", "short": "14 instead of 30"},
    "days": {"until": "2024-10-04", "marks": [*[0] * 28, 3, 2]},
    "next_at": at(1),
    "next_why": "every 6h (jittered)",
    "question": "8",
    "noindex": True,
    "nofollow": False,
    "saved_bytes": 9,
    "built_by_scripts": True,
}

EVENT = {"data": {"outcome": "major"}}
ALERT_ROW = AlertRow(
    "01A", 3, "changed", 7, "https://a.example/", 1 * S, EVENT, (AlertDelivery("ops", "dead", 2, "410", 5 * S),), 2 * S
)
ALERT = {
    "id": "01A",
    "position": 3,
    "type": "changed",
    "page": "7",
    "url": "https://a.example/",
    "at": at(1),
    "outcome": "major",
    "seen_at": at(2),
    "deliveries": [
        {
            "channel": "ops",
            "state": "dead",
            "tries": 2,
            "error": "410",
            "digest": None,
            "due_at": None,
            "at": at(5),
            "silence": None,
        }
    ],
    "event": EVENT,
}

CHANNEL = {
    "name": "ops",
    "type": "webhook",
    "to": "https://a.example/***",
    "state": "disabled",
    "since": at(3),
    "accepted": 1,
    "accepted_at": at(6),
    "waiting": 2,
    "gathered": 7,
    "dead": 3,
    "failures": 4,
    "disabled": True,
    "next_try": at(5),
    "error": "timeout",
    "mend": "correct its settings or its receiver, then send a test: that enables it",
    "muted_until": None,
    "muted_by": None,
    "source": "configuration",
    "settings": {"type": "webhook", "url": "https://a.example/***"},
}

STORM_ROW = StormRow(
    id=1,
    host="a.example",
    pages=30,
    sample=("https://a.example/",),
    outcome="minor",
    basis="inferred",
    excerpt={"added": []},
    opened_at=2 * S,
    first_at=3 * S,
    latest_at=4 * S,
    announce_at=5 * S,
    announced_at=6 * S,
    released_at=7 * S,
)
STORM = {
    "id": "1",
    "host": "a.example",
    "pages": 30,
    "sample": ["https://a.example/"],
    "outcome": "minor",
    "basis": "inferred",
    "excerpt": {"added": []},
    "first_at": at(3),
    "latest_at": at(4),
    "told_at": at(6),
    "released_at": at(7),
}
STORM_PAGE = {
    "storm": "1",
    "page": "7",
    "url": "https://a.example/",
    "verdict": "2",
    "at": at(3),
    "outcome": "minor",
    "alert": "01A",
    "withheld": True,
}

COPY_ROW = KnownCopy("https://a.example/", "https://b.example/", "2026", "memento", "mset", "https://c.example/")
COPY = {
    "number": 1,
    "url": "https://b.example/",
    "datetime": "2026",
    "rel": "memento",
    "kind": "mset",
    "of": "https://a.example/",
    "from": "https://c.example/",
}
QUESTION_ROW = QuestionRow(
    id=1,
    host_id=2,
    host="a.example",
    cause="status 404",
    times=QuestionTimes(3 * S, 4 * S, 5 * S, 6 * S, 7 * S),
    instruction=Instruction("never"),
    pages=8,
    sample=("https://a.example/",),
    page=SamplePage(9),
    attempts=(Attempt(10 * S, "status", 404, "answered 404", 11),),
    during="rendering",
    pending_change={"outcome": "major"},
    last_received=12 * S,
    next_occasion=13 * S,
    copies=(COPY_ROW,),
)
QUESTION = {
    "id": "1",
    "host": "a.example",
    "cause": "status 404",
    "during": "rendering",
    "pages": 8,
    "sample": ["https://a.example/"],
    "opened_at": at(3),
    "asked_at": at(5),
    "answered_at": at(6),
    "closed_at": at(7),
    "instruction": "never",
    "attempts": [{"at": at(10), "kind": "status", "status": 404, "message": "answered 404", "elapsed_ms": 11}],
    "last_received_at": at(12),
    "next_occasion": at(13),
    "pending_change": {"outcome": "major"},
    "copies": [COPY],
}

FOUND = {"changes": [{"field": "topper"}], "signals": [{"signal": "content"}], "trace": [{"rule": "T45"}]}
WITNESS = {"signal": "content", "value": None, "since": None}
FOUND_BY = FOUND | {"witness": WITNESS}
ITEMS = {"since": at(9), "added": 1, "removed": 2, "changed": 3, "cut": False, "changes": []}
HISTORY_ENTRY = HistoryEntry(
    id=1,
    first_at=2 * S,
    last_at=3 * S,
    storings=4,
    in_table=True,
    fields=STATE,
    verdicts=(VerdictEntry(5, 7, 6 * S, "major", "duration", "T45", "declared", FOUND_BY, 1, "01A", 8),),
    items=(ItemChangeEntry(10 * S, ITEMS, 11),),
)
HISTORY = {
    "id": "1",
    "stored_at": at(2),
    "last_stored_at": at(3),
    "storings": 4,
    "in_table": True,
    "fields": FIELDS_SHOWN,
    "verdicts": [
        {
            "id": "5",
            "page": "7",
            "at": at(6),
            "outcome": "major",
            "reason": "duration",
            "rule": "T45",
            "basis": "declared",
            "witness": WITNESS,
            **FOUND,
            "data": FOUND_BY,
            "state": "1",
            "alert": "01A",
            "storm": "8",
        }
    ],
    "items": [{"rendering": "11", "at": at(10), **ITEMS, "told": []}],
}

TOKEN_ROW = TokenRow(1, "grafana", Scope.READ, 2 * S, 3 * S, 4 * S, is_declared=True)
TOKEN = {
    "id": "1",
    "name": "grafana",
    "scope": "read",
    "state": "in force",
    "declared": True,
    "created_at": at(2),
    "expires_at": at(3),
    "last_used_at": at(4),
    "revoked_at": None,
}

JOB_ROW = JobRow("01J", "pages.import", "ci", 1 * S, "done", 2, 3, 4 * S, {"pages": 2}, "an error", "node-1")
JOB = {
    "id": "01J",
    "kind": "pages.import",
    "who": "ci",
    "state": "done",
    "done": 2,
    "total": 3,
    "started_at": at(1),
    "ended_at": at(4),
    "result": {"pages": 2},
    "error": "an error",
    "node": "node-1",
}


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        (check_of(REPORT), CHECK),
        (page_of(PAGE_ROW, MODES), PAGE),
        (alert_of(ALERT_ROW), ALERT),
        (
            channel_of(
                ChannelState(
                    "ops",
                    4,
                    5 * S,
                    disabled=True,
                    error="timeout",
                    waiting=2,
                    dead=3,
                    accepted=1,
                    gathered=7,
                    since=3 * S,
                    accepted_at=6 * S,
                ),
                WebhookSettings(type="webhook", url="https://a.example/hidden"),
            ),
            CHANNEL,
        ),
        (storm_of(STORM_ROW), STORM),
        (storm_page_of(1, StormVerdict(2, 7, "https://a.example/", 3 * S, "minor", "01A", withheld=True)), STORM_PAGE),
        (question_of(QUESTION_ROW), QUESTION),
        (
            whole_question(QUESTION_ROW, ["https://a.example/"], ()),
            QUESTION | {"copies": [], "urls": QUESTION["sample"]},
        ),
        (
            standing_answer_of(
                StandingAnswerRow(1, "host", None, "a.example", "timeout", Instruction("until-major"), 2 * S)
            ),
            {
                "id": "1",
                "instruction": "until-major",
                "scope": "host",
                "url": None,
                "host": "a.example",
                "cause": "timeout",
                "since": at(2),
            },
        ),
        (history_state_of(HISTORY_ENTRY), HISTORY),
        (token_of(TOKEN_ROW, 1 * S), TOKEN),
        (token_of(TOKEN_ROW, 5 * S), TOKEN | {"state": "expired"}),
        (
            token_of(msgspec.structs.replace(TOKEN_ROW, revoked_at=1 * S), 1 * S),
            TOKEN | {"state": "revoked", "revoked_at": at(1)},
        ),
        (new_token_of(TOKEN_ROW, 1 * S, "secret"), TOKEN | {"token": "secret"}),
        (job_of(JOB_ROW), JOB),
        (
            audit_line_of(AuditEntry(1 * S, "ci", "pages.remove", {"pages": 2}, "01R", 3)),
            {
                "id": "3",
                "at": at(1),
                "who": "ci",
                "what": "pages.remove",
                "verb": "remove",
                "object": "pages",
                "object_id": None,
                "detail": {"pages": 2},
                "request_id": "01R",
            },
        ),
    ],
    ids=lambda each: type(each).__name__,
)
def test_each_field_has_its_value_and_its_place(record: Record, shown: dict[str, Any]) -> None:
    written = json.loads(to_json(record))

    assert written == shown
    assert list(written) == list(shown) or isinstance(record, WholeQuestion)


def test_letters_that_a_terminal_would_obey_are_escaped() -> None:
    record = {"a": "\u00e9\x9b\u2028", "b": "\udc80"}

    assert to_json(record) == b'{"a":"\xc3\xa9\\u009b\\u2028","b":"\\udc80"}'
