"""One true example of each alert, made by the program: `docs/alert-receivers.md` shows them.

`python -m tests.alert_examples` prints them anew.
"""

from __future__ import annotations

import json
import sys

from tests.awareness import DAY, NEW, NEWER, OLD, POLICY, SECOND, fields, job_of, rendered_of, task_of, verdict_of
from tests.fakes import SeededChance
from tests.spec.microdata.making import item, page
from tocsin.engine.alerting.digests import DigestWriter
from tocsin.engine.judging.contents import difference_data
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.rendering.awareness import Awareness
from tocsin.model import (
    Attempt,
    BundleRow,
    Digest,
    JsonObject,
    KnownCopy,
    QuestionRow,
    QuestionTimes,
    SamplePage,
    to_rfc3339,
)
from tocsin.model.alerts import StormRow
from tocsin.spec.microdata.changes.comparing import compare_items, show_changes
from tocsin.spec.signals.texts import pack_text
from tocsin.spec.signals.weigh import Heard, Weighed

DECIDED = 1_795_249_325_123_000
"""2026-11-21T08:22:05.123Z."""


WEIGHED = Weighed(
    "minor",
    "declared",
    "S1",
    (
        Heard(
            "json-ld.modified",
            "2026-11-02T09:30:00Z",
            "2026-11-21T07:55:00Z",
            "minor",
            "S1",
            "json-ld.modified changed",
        ),
        Heard(
            "content",
            None,
            "1 new of 12 parts, 7 % of the content",
            "minor",
            "S2",
            "the content changed: 1 new of 12 parts, 7 % of the content",
        ),
    ),
)
BEFORE = "Town hall\nOpen from 9 to 16.\nTelephone 555-0123\n" + "Pay your fees at the counter of your district.\n" * 4
LATEST = BEFORE.replace("16", "18") + "The office is closed on Fridays.\n"
DIFFERENCE: JsonObject | None = difference_data(pack_text(BEFORE)[1], pack_text(LATEST)[1])
ITEMS = show_changes(
    compare_items(
        page(item(summary="Bluesday Tuesday", dtstart="2009-05-05")),
        page(item(summary="Bluesday Tuesday", dtstart="2009-05-06"), item(summary="Jam session")),
    ),
    since=to_rfc3339(DECIDED - DAY),
)


def examples() -> list[JsonObject]:
    """The events, in the order of the documentation."""
    chance = SeededChance()
    alerts = EventWriter("tocsin", chance, public_url="https://tocsin.example.org/")
    awareness = Awareness(alerts)
    task = task_of(812, url="https://example.org/a", stored_at=DECIDED, question_id=77)
    attempts = [Attempt(DECIDED, "connect", None, "connection refused", 12)]
    pending = verdict_of(task, OLD, NEW, DECIDED, weighed=WEIGHED)
    pending.data["difference"] = DIFFERENCE
    later = DECIDED + 60 * SECOND
    changed = awareness.given(job_of(task, pending), rendered_of(task, NEWER, at=later), POLICY, later, changes=ITEMS)
    owed = awareness.given(job_of(task, owed=True), rendered_of(task, at=later), POLICY, later)
    same = verdict_of(task, NEW, NEW, DECIDED).data
    soon = verdict_of(task, fields(refresh="172800"), fields(refresh="172800", page_version="2"), DECIDED).data
    question, storm = _question(task.url, attempts), _storm(task.url)
    drafts = [
        *changed.alerts,
        alerts.unreachable_event(question, DECIDED),
        *owed.alerts,
        alerts.disallowed_event(
            task, DECIDED, robots_url="https://example.org/robots.txt", rule="Disallow: /a", next_try=DECIDED + DAY
        ),
        alerts.suspect_event(task, DECIDED, evidence="not HTML but PDF", content_type="application/pdf"),
        alerts.needs_browser_event(task, DECIDED),
        alerts.unchanged_event(task, same, DECIDED),
        alerts.too_soon_event(task, soon, DECIDED),
        alerts.host_changed_event(storm, DIFFERENCE, DECIDED),
        alerts.outage_began_event(DECIDED, DECIDED, node="node-1"),
        alerts.outage_ended_event(DECIDED, DECIDED + 600 * SECOND, node="node-1"),
        alerts.test_event("ops", DECIDED),
    ]
    return [*(draft.event for draft in drafts), _digest(chance, changed.alerts[0].event)]


def _digest(chance: SeededChance, event: JsonObject) -> JsonObject:
    bundle = BundleRow(12, "mail", "daily", "press", "sealed", DECIDED, DECIDED + DAY, 813, DECIDED + DAY, silenced=4)
    rest = (("press", "example.org", 700), ("press", "example.net", 112))
    digest = Digest(bundle, DECIDED, DECIDED + DAY, (event,), rest)
    return DigestWriter("tocsin", chance, public_url="https://tocsin.example.org/").event(digest)


def _question(url: str, attempts: list[Attempt]) -> QuestionRow:
    return QuestionRow(
        id=77,
        host_id=3,
        host="example.org",
        cause="connect",
        times=QuestionTimes(DECIDED, DECIDED),
        instruction=None,
        pages=312,
        sample=(url, "https://example.org/b"),
        page=SamplePage(812, url),
        attempts=tuple(attempts),
        last_received=DECIDED - DAY,
        next_occasion=DECIDED + DAY,
        copies=(
            KnownCopy(url, "https://archive.example/a", "2026-01-02", "memento", "mset", "https://example.net/list"),
        ),
    )


def _storm(url: str) -> StormRow:
    return StormRow(
        id=7,
        host="example.org",
        pages=312,
        sample=(url, "https://example.org/b"),
        outcome="minor",
        basis="inferred",
        excerpt=None,
        opened_at=DECIDED - 60 * SECOND,
        first_at=DECIDED - 90 * SECOND,
        latest_at=DECIDED - SECOND,
        announce_at=DECIDED,
    )


def show(event: JsonObject) -> str:
    """Write an event with a line for each key of its data."""
    envelope = ",".join(f"{_text(key)}:{_text(value)}" for key, value in event.items() if key != "data")
    data = ",\n ".join(f"{_text(key)}:{_text(value)}" for key, value in event["data"].items())
    return f'{{{envelope},"data":{{\n {data}}}}}'


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    for example in examples():
        sys.stdout.write(f"```json\n{show(example)}\n```\n\n")
