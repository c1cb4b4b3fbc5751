"""The demo: its rows, its narration, and its failures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import structs

from tests.contract.desk import MINUTE, A, Desk
from tests.journey.running import PATIENCE_S
from tocsin.adapters.stores import open_store
from tocsin.demo.rows import DemoLine, alert_line, check_line, question_lines, verdict_lines
from tocsin.demo.show import CONFIGURATION, LOG, SETTINGS, STORE, DemoService, Narrator, ServiceEnded, StoryStuck, play
from tocsin.errors import UsageError
from tocsin.events import CHANGED, OUTAGE_BEGAN, RECOVERED, UNREACHABLE
from tocsin.model import (
    AlertDelivery,
    AlertDraft,
    AlertRow,
    Attempt,
    DeliveryResult,
    DueTime,
    HistoryEntry,
    LastCheck,
    LatestState,
    PageRow,
    QuestionRow,
    QuestionTimes,
    SamplePage,
    VerdictEntry,
    VerdictRow,
)


class Listener:
    """An audience that remembers."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.address = ""
        self.heads: list[str] = []
        self.lines: list[DemoLine] = []

    def begin(self, *, folder: Path, pages: int, address: str) -> None:
        assert pages
        self.address = address
        self.folder = folder

    def head(self, title: str) -> None:
        self.heads.append(title)

    def tell(self, line: DemoLine, step: str) -> None:
        assert step == self.heads[-1]
        self.lines.append(line)


async def test_a_step_that_never_comes_is_named_and_everything_is_cleared_away() -> None:
    audience = Listener()

    with pytest.raises(StoryStuck, match=r"after 0 s.*this never came: alert 'major' of /news"):
        await play(audience, keep=None, endless=False, every_ms=1000, limit_s=0)

    assert audience.folder is not None
    assert not audience.folder.exists()


async def test_its_web_pages_are_where_it_is_said(tmp_path: Path) -> None:
    (tmp_path / CONFIGURATION).write_text(SETTINGS)

    async with DemoService(tmp_path) as service, httpx.AsyncClient(timeout=PATIENCE_S) as browser:
        answer = await browser.get(await service.address())

    # 503: it is there, and is still starting.
    assert answer.status_code in {200, 503}
    assert "x-request-id" in answer.headers or "retry-after" in answer.headers


async def test_a_service_that_ends_before_it_listens_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / CONFIGURATION).write_text("[nothing]\n")

    async with DemoService(tmp_path) as service:
        with pytest.raises(ServiceEnded, match="status 2"):
            await service.address()


async def test_a_service_that_ends_by_itself_is_told_with_its_last_words(tmp_path: Path) -> None:
    (tmp_path / CONFIGURATION).write_text(SETTINGS.replace("gather", "gathr"))

    async with DemoService(tmp_path) as service:
        await service.ended()

        with pytest.raises(ServiceEnded, match=r"(?s)status 2.*gather"):
            service.check()


async def test_the_folder_that_is_kept_must_be_empty(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()

    with pytest.raises(UsageError, match="not empty"):
        await play(Listener(), keep=tmp_path, endless=False, every_ms=1000)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


async def test_the_folder_that_is_kept_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match="--keep"):
        await play(Listener(), keep=tmp_path / "file", endless=False, every_ms=1000)


async def test_what_is_kept_is_a_store_that_nobody_holds(tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    with pytest.raises(StoryStuck):
        await play(Listener(), keep=kept, endless=False, every_ms=1000, limit_s=0)

    assert {CONFIGURATION, STORE, LOG} <= {path.name for path in kept.iterdir()}
    store = await open_store(f"sqlite:{kept / STORE}", engine=True)
    try:
        assert await store.check() == []
    finally:
        await store.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    opened = await Desk.at(tmp_path)
    yield opened
    await opened.store.close()


@pytest.fixture
def narrator(desk: Desk) -> Narrator:
    return Narrator(desk.store, answer="tocsin attention answer")


async def change(desk: Desk, url: str, major: str) -> None:
    """Commit a check that found a major change, a minute later."""
    desk.now += MINUTE
    changes = [{"field": "topper-major", "previous": None, "latest": major}]
    data = {"changes": changes, "minor_count": 0, "thresholds": {"minor": 3}}
    verdict = VerdictRow(desk.now, "major", "topper-major", "T44", "declared", data, awareness=True)
    await desk.check(url, major, verdict=verdict)


async def told(narrator: Narrator) -> list[tuple[str, str, str]]:
    return [(line.row, line.path, line.outcome) for line in await narrator.new_lines()]


async def test_a_page_that_was_not_checked_is_not_told_of(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)

    assert await told(narrator) == []


async def test_each_check_is_told_once(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)
    await desk.check(A)

    assert [await told(narrator), await told(narrator)] == [[("check", "/a", "first")], []]

    desk.now += MINUTE
    await desk.check(A)

    assert await told(narrator) == [("check", "/a", "unchanged")]


async def test_T40_a_first_storing_is_told_once_when_later_checks_have_followed(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)
    await desk.check(A)
    desk.now += MINUTE
    await desk.check(A)
    desk.now += MINUTE
    first = await told(narrator)
    await desk.check(A)

    assert first == [("check", "/a", "first"), ("check", "/a", "unchanged")]
    assert await told(narrator) == [("check", "/a", "unchanged")]


async def test_T60_a_question_is_told_with_its_tries_before_the_check_that_opened_it(
    desk: Desk, narrator: Narrator
) -> None:
    await desk.watch(A)
    await desk.fail(A)

    assert await told(narrator) == [
        ("try", "/a", "failed"),
        ("check", "/a", "unreachable"),
        ("question", "/a", "opened"),
    ]
    assert await told(narrator) == []


async def test_T44_a_verdict_is_told_once_and_stays_when_later_checks_follow(desk: Desk, narrator: Narrator) -> None:
    await desk.watch(A)
    await desk.check(A)
    await told(narrator)
    await change(desk, A, "2026-01-01")
    desk.now += MINUTE
    await desk.check(A, "2026-01-01")

    first, second = await told(narrator), await told(narrator)

    assert first == [("verdict", "/a", "major"), ("check", "/a", "unchanged")]
    assert "verdict" not in {row for row, *_ in second}


async def test_T72_an_alert_is_told_once_whatever_becomes_of_its_delivery(desk: Desk, narrator: Narrator) -> None:
    await desk.store.set_channels(["journal"])
    event = {"id": "1", "subject": A, "data": {}}
    await desk.store.write_alert(AlertDraft("1", OUTAGE_BEGAN, None, desk.now, event))
    assert await told(narrator) == [("alert", "/a", "began")]

    refused = DeliveryResult("1", "journal", "waiting", desk.now, desk.now + MINUTE, "answered 503")
    await desk.store.record_deliveries([refused])

    assert await told(narrator) == []


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
        due=DueTime(AT + 5_000_000),
        last=LastCheck(AT, AT, report=told if report else None),
        state=LatestState(stored_at=AT),
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
    told = tuple(AlertDelivery(*each) for each in deliveries)
    return AlertRow("01K", 4, kind, 7, URL, AT, {"data": values}, told)


def question(**changes: Any) -> QuestionRow:
    attempts = tuple(Attempt(AT + number, "status", 503, "answered 503", 3) for number in range(3))
    asked = QuestionRow(
        id=5,
        host_id=1,
        host="127.0.0.2",
        cause="status 503",
        times=QuestionTimes(AT, AT),
        instruction=None,
        pages=1,
        sample=(URL,),
        page=SamplePage(7, URL),
        attempts=attempts,
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
    lines = list(
        question_lines(question(times=QuestionTimes(AT, AT, announced_at=AT + 9)), answer="tocsin attention answer")
    )

    assert [(line.row, line.outcome) for line in lines] == [
        *[("try", "failed")] * 3,
        ("question", "opened"),
        ("question", "asked"),
    ]
    assert lines[2].sentence == "try 3 of 3 failed: answered 503"
    assert lines[4].sentence.endswith("tocsin attention answer 5 again")


def test_a_closed_question_says_so() -> None:
    *_, line = question_lines(question(times=QuestionTimes(AT, AT, closed_at=AT + 9)), answer="")

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
