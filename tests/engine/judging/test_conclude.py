from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.builders import DAY, HOUR, SECOND, html, received, stored, task
from tests.fakes import START, SeededChance
from tocsin.engine.judging.conclude import Conclusion, Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.errors import Disallowed, FetchFailed, FetchRefused, Shortage
from tocsin.model import Attempt, CheckOutcome, CheckResult, Instruction, PageTask, Validators
from tocsin.settings import PageSettings

TRIED = Attempt(START, "connect", None, "refused", 3)
UNTIL_MAJOR = Instruction("until-major")


def conclude(page: PageTask, **policy: Any) -> Conclusion:
    settings = msgspec.structs.replace(PageSettings(), **policy)
    return Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC").of(page, settings, START)


def check(
    page: PageTask, body: bytes, *, now: int = START, headers: dict[str, str] | None = None, **policy: Any
) -> CheckResult:
    return conclude(page, **policy).received(received(body, headers=headers), now, conditional=False, tried=0)


def test_T40_the_first_storing_is_stored_and_nothing_is_done() -> None:
    result = check(task(), html(topper_major="2026"))

    assert result.report.outcome == "first"
    assert result.state is not None
    assert not result.state.equal
    assert result.verdict is None
    assert result.alerts == ()


def test_T42_an_unchanged_page_is_stored_again_as_the_same_state() -> None:
    result = check(task(state=stored(created="2026")), html(created="2026"))

    assert result.report.outcome == "unchanged"
    assert result.state is not None
    assert result.state.equal
    assert result.verdict is None


def test_T42_no_change_is_reported_where_the_user_asked_for_it() -> None:
    result = check(task(state=stored(created="2026")), html(created="2026"), report=("unchanged",))

    assert [alert.type for alert in result.alerts] == ["tocsin.page.unchanged.v1"]


def test_T43_a_record_that_came_too_soon_is_not_kept_and_the_page_is_due_when_its_refresh_is_over() -> None:
    before = stored(START - 10 * SECOND, created="1")
    body = b'<meta http-equiv=refresh content=600><meta name=created content="2">'

    result = check(task(state=before), body)

    assert result.report.outcome == "too-soon"
    assert result.state is None
    assert result.due.at == before.last_at + 600 * SECOND


def test_T44_a_major_change_has_a_verdict_that_names_its_rule_and_is_due_for_awareness() -> None:
    result = check(task(state=stored(topper_major="2026-01")), html(topper_major="2026-01 2026-02"))

    assert result.verdict is not None
    assert (result.verdict.outcome, result.verdict.rule, result.verdict.awareness) == ("major", "T44", True)
    assert result.verdict.data["changes"] == [
        {"field": "topper-major", "previous": "2026-01", "latest": "2026-01 2026-02"}
    ]


def test_T54_under_major_only_a_minor_change_has_a_verdict_and_no_awareness() -> None:
    result = check(task(state=stored(created="1")), html(created="2"), tell="major")

    assert result.verdict is not None
    assert not result.verdict.awareness


def test_T45_a_304_is_a_storing_of_the_state_before_at_a_new_time() -> None:
    before = stored(START - 81 * DAY, created="1")

    result = conclude(task(state=before)).received(received(status=304), START, conditional=True, tried=0)

    assert result.verdict is not None
    assert (result.verdict.reason, result.verdict.rule) == ("duration", "T45")
    assert result.state is not None
    assert result.state.stored_at == START


def test_a_304_keeps_the_validators_and_lengthens_the_conditional_run() -> None:
    known = Validators('"a"', None, "http://site.example/page")
    page = task(state=stored(created="1"), validators=known, conditional_run=3)

    result = conclude(page).received(received(status=304), START, conditional=True, tried=0)

    assert result.state is not None
    assert result.state.validators == known
    assert result.conditional_run == 4


def test_an_unconditional_answer_brings_its_own_validators_and_begins_the_run_anew() -> None:
    page = task(state=stored(created="1"), conditional_run=30)

    result = check(page, html(created="1"), headers={"etag": 'W/"x"', "last-modified": "Sat, 21 Nov 2026 08:00:00 GMT"})

    assert result.state is not None
    assert result.state.validators == Validators('W/"x"', "Sat, 21 Nov 2026 08:00:00 GMT", "http://site.example/page")
    assert result.conditional_run == 0


@pytest.mark.parametrize("etag", ['"\x01"', '"\x1b[31m"', '"\x7f"', f'"{"x" * 4096}"', ""])
def test_a_validator_that_could_not_be_given_back_byte_for_byte_is_not_kept(etag: str) -> None:
    result = check(task(), html(created="1"), headers={"etag": etag})

    assert result.state is not None
    assert result.state.validators is None


def test_T51_a_page_in_auto_that_declares_no_topper_is_not_subject_and_stores_nothing() -> None:
    result = check(task(), html(created="2026"), mode="auto")

    assert result.report.outcome == "not-subject"
    assert result.state is None


def test_T51_a_page_in_auto_that_loses_its_topper_is_told_once() -> None:
    result = check(task(state=stored(topper="true")), html(created="2026"), mode="auto")

    assert result.verdict is not None


def test_a_clock_that_was_set_back_stores_no_earlier_than_before() -> None:
    before = stored(START + HOUR, created="1")

    result = check(task(state=before), html(created="1"))

    assert result.state is not None
    assert result.state.stored_at == before.last_at


def test_html_that_becomes_something_else_is_told_and_not_compared() -> None:
    page = task(state=stored(created="1"))

    result = check(page, b"%PDF-1.7", headers={"content-type": "application/pdf"})

    assert result.report.outcome == "suspect"
    assert (result.state, result.verdict, result.flags.not_html) == (None, None, False)
    assert [alert.type for alert in result.alerts] == ["tocsin.page.suspect.v1"]


def test_what_was_no_html_at_the_first_check_is_compared_and_not_held() -> None:
    page = task(state=stored(), not_html=True, set_at=START - DAY)

    result = check(page, b"%PDF-1.7", headers={"content-type": "application/pdf"})

    assert (result.report.outcome, result.flags.not_html) == ("unchanged", True)


def test_an_imported_state_without_fields_is_compared_with_what_is_no_html() -> None:
    result = check(task(state=stored()), b"%PDF-1.7", headers={"content-type": "application/pdf"})

    assert (result.report.outcome, result.flags.not_html) == ("unchanged", True)


def test_an_imported_state_with_fields_was_read_from_html() -> None:
    page = task(state=stored(created="1"), not_html=True)

    result = check(page, b"%PDF-1.7", headers={"content-type": "application/pdf"})

    assert result.report.outcome == "suspect"


def test_T60_a_page_that_could_not_be_received_fails_with_its_cause_and_tries() -> None:
    error = FetchFailed("http://site.example/page", "status", "answered 503", status=503)

    result = conclude(task()).unreachable([TRIED, TRIED, TRIED], error)

    assert result.report.outcome == "unreachable"
    assert result.failure is not None
    assert (result.failure.cause, len(result.failure.attempts)) == ("status 503", 3)
    assert result.state is None


def test_T61_an_unreachable_page_waits_for_its_next_occasion() -> None:
    result = conclude(task(), every=timedelta(hours=6)).unreachable([TRIED], FetchFailed("u", "dns", "no"))

    assert result.due.at is not None
    assert START + 3 * HOUR <= result.due.at <= START + 9 * HOUR


def test_a_page_that_came_but_could_not_be_read_counts_as_one_try() -> None:
    result = conclude(task()).unreachable([], FetchRefused("u", "too-complex", "too deep"))

    assert result.failure is not None
    assert [attempt.kind for attempt in result.failure.attempts] == ["too-complex"]


def test_a_page_received_again_recovers_from_its_question() -> None:
    result = check(task(state=stored(created="1"), question_id=7), html(created="1"))

    assert result.received
    assert result.recovery is not None
    assert result.recovery.event["data"]["question"]["id"] == "7"


def test_a_page_whose_rendering_is_owed_is_queued_again_and_recovers_only_then() -> None:
    result = check(task(state=stored(created="1"), question_id=7, owed=True), html(created="1"))

    assert result.render_owed
    assert result.recovery is None


def test_T60_until_major_keeps_silent_about_minor_changes_and_stays() -> None:
    result = check(task(state=stored(created="1"), instruction=UNTIL_MAJOR), html(created="2"))

    assert result.verdict is not None
    assert not result.verdict.awareness
    assert not result.rule_spent


def test_T60_until_major_ends_with_a_major_change() -> None:
    result = check(task(state=stored(created="1"), instruction=UNTIL_MAJOR), html(created="1", topper_major="2026"))

    assert result.verdict is not None
    assert result.verdict.awareness
    assert result.rule_spent


def test_T60_under_until_major_a_failure_is_silent() -> None:
    result = conclude(task(instruction=UNTIL_MAJOR)).unreachable([TRIED], FetchFailed("u", "dns", "no"))

    assert result.failure is not None
    assert result.failure.silent
    assert not result.rule_spent


@pytest.mark.parametrize("fails", [True, False])
def test_T60_again_is_used_up_whether_the_page_is_received_or_not(fails: bool) -> None:  # noqa: FBT001 - the case
    page = task(state=stored(created="1"), instruction=Instruction("again", times=2))

    result = (
        conclude(page).unreachable([TRIED], FetchFailed("u", "dns", "no")) if fails else check(page, html(created="1"))
    )

    assert result.rule_spent


def test_tries_that_were_put_off_are_kept_for_later() -> None:
    result = conclude(task()).deferred([TRIED], START + HOUR)

    assert result.report.outcome is CheckOutcome.DEFERRED
    assert (result.held_attempts, result.due.at, result.failure) == ((TRIED,), START + HOUR, None)
    assert (result.due.why or "").startswith("held:")


@pytest.mark.parametrize(
    ("due_at", "gate_at", "at"),
    [
        (START - SECOND, START + HOUR, START - SECOND),  # the host is left alone, so the page keeps its place
        (START - SECOND, START + HOUR - 2 * SECOND, START + HOUR),
        (START - SECOND, None, START + HOUR),
        (None, START + HOUR, START + HOUR),
        (START + 2 * HOUR, START + HOUR, START + HOUR),  # it was requested before it was due
    ],
)
def test_a_page_behind_a_gate_keeps_its_place_among_the_pages_of_its_host(
    due_at: int | None, gate_at: int | None, at: int
) -> None:
    result = conclude(task(due_at=due_at)).deferred([TRIED], START + HOUR, gate_at=gate_at)

    assert (result.due.at, result.report.next_try) == (at, START + HOUR)


def test_a_page_that_robots_txt_forbids_is_told_once() -> None:
    refusal = Disallowed("http://site.example/page", "Disallow: /", None)

    first = conclude(task()).disallowed(refusal)
    second = conclude(task(disallowed=True)).disallowed(refusal)

    assert [alert.type for alert in first.alerts] == ["tocsin.page.disallowed.v1"]
    assert second.alerts == ()
    assert first.report.rule == "Disallow: /"
    assert first.failure is None


def test_a_page_that_moved_for_good_is_reported_and_still_watched_where_it_was() -> None:
    answer = received(html(created="1"), url="http://site.example/new", moved_to="http://site.example/new")

    result = conclude(task()).received(answer, START, conditional=False, tried=0)

    assert result.report.url == "http://site.example/page"
    assert "moved permanently to http://site.example/new" in (result.report.problem or "")


def test_a_page_that_declares_nothing_says_so() -> None:
    assert check(task(), html()).report.declares == ()


def test_T21_a_check_within_the_gap_is_skipped() -> None:
    result = conclude(task(set_at=START - SECOND), min_gap=timedelta(minutes=5)).skipped()

    assert result.report.outcome == "skipped"
    assert result.report.next_try == START - SECOND + 300 * SECOND + 1
    assert result.set_at is None


def test_T43_a_clock_that_was_set_back_is_told_with_the_page() -> None:
    result = check(task(state=stored(START + HOUR, created="1")), html(created="1"))

    assert "the clock was set back by 1h" in (result.report.problem or "")


@pytest.mark.parametrize("end", ["deferred", "unreachable", "skipped", "withdrawn", "off"])
def test_a_check_that_does_not_hear_of_robots_txt_does_not_forget_that_it_was_told(end: str) -> None:
    page = conclude(task(disallowed=True))
    error = FetchFailed("u", "dns", "no")
    results = {
        "deferred": lambda: page.deferred([TRIED], START + HOUR),
        "unreachable": lambda: page.unreachable([TRIED], error),
        "skipped": page.skipped,
        "withdrawn": page.withdrawn,
        "off": page.off,
    }

    assert results[end]().disallowed


def test_a_page_that_is_received_is_no_longer_disallowed() -> None:
    assert not check(task(disallowed=True), html(created="1")).disallowed


@pytest.mark.parametrize("end", ["skipped", "withdrawn", "off", "short"])
def test_T60_again_is_not_used_up_by_a_check_without_a_request(end: str) -> None:
    page = conclude(task(instruction=Instruction("again", times=3), set_at=START - SECOND))
    shortage = ([TRIED], Shortage("files", "too many open"), START + HOUR)

    assert not getattr(page, end)(*shortage if end == "short" else ()).rule_spent


def test_MS07_the_copies_of_a_page_are_read_in_the_encoding_that_its_header_names() -> None:
    body = "<title>a</title><a href=/там mset=/копия>x</a>".encode("koi8-r")

    result = check(task(), body, headers={"content-type": "text/html; charset=koi8-r"})

    assert result.learnt.copies is not None
    assert [copy.url for copy in result.learnt.copies] == ["http://site.example/%D0%BA%D0%BE%D0%BF%D0%B8%D1%8F"]


def test_T60_again_within_the_gap_is_due_when_the_gap_is_over() -> None:
    page = task(instruction=Instruction("again", times=3), set_at=START - SECOND)

    result = conclude(page, min_gap=timedelta(minutes=5)).skipped()

    assert result.due.at == START - SECOND + 300 * SECOND + 1


def test_T60_again_at_a_later_time_stays_due_then() -> None:
    page = task(instruction=Instruction("again", at=START + 6 * HOUR), set_at=START - SECOND)

    assert conclude(page).skipped().due.at == START + 6 * HOUR


def test_T60_again_is_not_used_up_by_a_check_that_robots_txt_forbids() -> None:
    page = conclude(task(instruction=Instruction("again", times=3)))

    assert not page.disallowed(Disallowed("http://site.example/page", "Disallow: /", None)).rule_spent
