"""Whole values of every end of a check and of a rendering, and every event: `golden.json` holds them.

`python -m tests.engine.judging.golden` writes the file anew; read its difference before you commit it.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from tests.alert_examples import examples
from tests.awareness import NEW, NEWER, OLD, POLICY, fields, job_of, page_html, rendered_of, task_of, verdict_of
from tests.builders import DAY, HOUR, SECOND, html, received, stored, task
from tests.fakes import START, SeededChance
from tocsin.engine.judging.conclude import Conclusion, Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.rendering.awareness import Awareness
from tocsin.errors import Disallowed, FetchFailed, FetchRefused, Shortage
from tocsin.model import Attempt, CheckResult, FailureKind, Instruction, JsonObject, PageItems, PageTask, Validators
from tocsin.settings import PageSettings

FILE = Path(__file__).with_name("golden.json")
MINUTE = 60 * SECOND
ATTEMPT = Attempt(START - MINUTE, "status", 503, "answered 503", 17)
FAILED = FetchFailed("http://site.example/page", FailureKind.CONNECT, "connection refused")
REDIRECTED = FetchRefused("http://site.example/page", FailureKind.REDIRECT, "redirected to nowhere", status=301)
GONE = FetchRefused("http://site.example/page", FailureKind.STATUS, "answered 410", status=410)
LISTED = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%s</loc></url></urlset>'


def known(**changes: Any) -> PageTask:
    """A page with every fact about it that a check leaves alone."""
    facts: dict[str, Any] = {
        "page_id": 7,
        "host_id": 3,
        "group_id": 2,
        "state": stored(START - 2 * DAY, topper_major="2026-01-01"),
        "validators": Validators('"v1"', None, "http://site.example/page"),
        "set_at": START - DAY,
        "checked_at": START - DAY,
        "conditional_run": 4,
        "attempts": (ATTEMPT,),
        "request_id": 12,
        "group": "news",
        "text": "my page",
        "noindex": True,
        "nofollow": True,
        "body_bytes": 4096,
    }
    return task(**(facts | changes))


def conclusion(page: PageTask, **settings: Any) -> Conclusion:
    """A check that began at START; every page is checked every hour."""
    policy = msgspec.structs.replace(PageSettings(every=timedelta(hours=1)), **settings)
    writer = EventWriter("tocsin", SeededChance(), public_url="https://tocsin.example.org/")
    return Conclusions(writer, time_zone="UTC").of(page, policy, START)


def checked(page: PageTask, body: bytes, **settings: Any) -> CheckResult:
    """The result of a check that received this body over HTTP, after one failed set."""
    answer = received(
        body, headers={"etag": '"v2"', "cache-control": "max-age=7200"}, moved_to="http://site.example/new"
    )
    return conclusion(page, **settings).received(answer, START + SECOND, conditional=True, tried=1)


def ends() -> JsonObject:
    """Every end of a check, by name."""
    again = Instruction("again", times=3)
    major, minor = html(topper_major="2026-02-02"), html(topper_major="2026-01-01", topper_minor="2026-02-02")
    asked = {"question_id": 5, "owed": True}
    found = {
        "off": conclusion(known()).off(),
        "withdrawn": conclusion(known()).withdrawn(),
        "withdrawn again": conclusion(known(instruction=again)).withdrawn(),
        "skipped": conclusion(known(set_at=START - SECOND), min_gap=timedelta(seconds=10)).skipped(),
        "held": conclusion(known()).held("settings of the page: no such key"),
        "held seldom": conclusion(known(), every=timedelta(days=7)).held("why"),
        "disallowed": conclusion(known()).disallowed(Disallowed("http://site.example/x", "Disallow: /", None)),
        "disallowed soon": conclusion(known()).disallowed(
            Disallowed("http://site.example/page", None, START + MINUTE), gate_at=START + 2 * MINUTE
        ),
        "disallowed still": conclusion(known(disallowed=True)).disallowed(
            Disallowed("http://site.example/page", "Disallow: /", START + DAY)
        ),
        "deferred": conclusion(known()).deferred([ATTEMPT], START + HOUR, gate_at=START + HOUR),
        "deferred at once": conclusion(known()).deferred([], START + HOUR),
        "deferred in an outage": conclusion(known()).deferred([], START + MINUTE, error=FAILED),
        "short": conclusion(known()).short([ATTEMPT], Shortage("files", "too many open"), START + 5 * SECOND),
        "unreachable": conclusion(known()).unreachable([ATTEMPT, ATTEMPT], GONE, gate_at=START + HOUR),
        "unreachable by its redirect": conclusion(known()).unreachable([ATTEMPT], REDIRECTED),
        "unreachable untried": conclusion(known()).unreachable([], FAILED),
        "unreachable by rule": conclusion(known(instruction=Instruction("until-major"))).unreachable([ATTEMPT], GONE),
        "first": checked(task(page_id=7), html(topper_major="2026-01-01")),
        "unchanged": checked(known(), html(topper_major="2026-01-01")),
        "unchanged, reported": checked(known(), html(topper_major="2026-01-01"), report=("unchanged",)),
        "major": checked(known(), major),
        "major, asked": checked(known(**asked), major),
        "major, by rule": checked(known(**asked, instruction=Instruction("until-major")), major),
        "minor, told of major only": checked(known(), minor, tell="major"),
        "minor, by rule": checked(known(**asked, instruction=Instruction("until-major")), minor),
        "too soon": checked(known(state=stored(START - HOUR, refresh="7200")), page_html(fields(refresh="9000"))),
        "too soon, reported": checked(
            known(state=stored(START - HOUR, refresh="7200")), page_html(fields(refresh="9000")), report=("too-soon",)
        ),
        "suspect": checked(known(), b"%PDF-1.7"),
        "suspect, before its refresh": checked(known(state=stored(START - HOUR, refresh="36000")), b"%PDF-1.7"),
        "suspect again": checked(known(suspected=True), b"%PDF-1.7"),
        "not subject": checked(task(page_id=7), html(created="2026"), mode="auto"),
        "adaptive": checked(known(), major, adaptive=True),
        "clock set back": checked(known(state=stored(START + HOUR, topper_major="2026-01-01")), major),
        "a list": checked(task(page_id=7), LISTED % b"http://site.example/a"),
    }
    unmodified = received(status=304)
    found["unmodified"] = conclusion(known(body_digest="3:x")).received(unmodified, START, conditional=True, tried=0)
    otherwise = msgspec.structs.replace(received(major), asked_as=".1234abcd")
    found["asked otherwise"] = conclusion(known()).received(otherwise, START, conditional=False, tried=0)
    return {name: msgspec.to_builtins(result) for name, result in found.items()}


def renderings() -> JsonObject:
    """Every end of a rendering, by name."""
    page = task_of(812, url="https://example.org/a", stored_at=START - DAY, question_id=77)
    verdicts = verdict_of(page, OLD, NEW, START - HOUR, 1), verdict_of(page, OLD, NEW, START - MINUTE, 2)
    job, owed = job_of(page, *verdicts), job_of(page, owed=True)
    copied = msgspec.structs.replace(owed, copy_url="https://archive.example/a")
    awareness = Awareness(EventWriter("tocsin", SeededChance()))
    items = PageItems(START, b"digest", b"packed", 2)
    same, newer = rendered_of(page, at=START), rendered_of(page, NEWER, at=START)
    with_items = msgspec.structs.replace(
        newer, items=items, wire_bytes=77, validators=('"v"', "Sun, 22 Nov 2026 10:00:00 GMT")
    )
    found = {
        "given": awareness.given(job, same, POLICY, START + SECOND),
        "given, newer": awareness.given(job, with_items, POLICY, START + SECOND, changes={"changed": 1}),
        "given, too near": awareness.given(
            job, newer, msgspec.structs.replace(POLICY, min_gap=timedelta(days=9)), START + SECOND
        ),
        "given, asked otherwise": awareness.given(
            job, newer, msgspec.structs.replace(POLICY, headers={"Accept-Language": "de"}), START + SECOND
        ),
        "given, owed": awareness.given(owed, newer, POLICY, START + SECOND),
        "given, owed with a verdict": awareness.given(msgspec.structs.replace(job, owed=True), newer, POLICY, START),
        "copy": awareness.given(copied, same, POLICY, START + SECOND),
        "failed": awareness.failed(job, [ATTEMPT], GONE),
        "copy failed": awareness.failed(copied, [ATTEMPT], FAILED),
        "disallowed": awareness.disallowed(job, START, "forbidden by robots.txt"),
        "copy disallowed": awareness.disallowed(copied, START, "forbidden by robots.txt"),
        "declined": awareness.declined(job, START),
    }
    return {name: msgspec.to_builtins(result) for name, result in found.items()}


def events() -> JsonObject:
    """Every event of the documentation, by type."""
    return {event["type"]: event for event in examples()}


MADE = {"check": ends, "event": events, "rendering": renderings}


def golden() -> str:
    """All of these values as JSON, a line for each."""
    found = {f"{kind}: {name}": end for kind, make in MADE.items() for name, end in make().items()}
    lines = ",\n".join(
        f"{msgspec.json.encode(name).decode()}: {msgspec.json.encode(end).decode()}" for name, end in found.items()
    )
    return f"{{\n{lines}\n}}\n"


if __name__ == "__main__":
    FILE.write_text(golden(), "utf-8")
