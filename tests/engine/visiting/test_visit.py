"""One visit of a page, and the errors that it contains."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import msgspec
import pytest

from tests.builders import DAY, HOUR, SECOND, URL, digest_of, html, stored, task
from tests.engine.visiting.test_standing_in import CHALLENGE
from tests.fakes import START, EagerClock, RecordingTelemetry, ScriptedFetcher, SeededChance, answer
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import LoopTime, RequestSlots
from tocsin.engine.judging.conclude import Conclusion, Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.policies import Policies
from tocsin.engine.visiting.receive import Receiver, RequestSets
from tocsin.engine.visiting.visit import Visitor, contained
from tocsin.errors import FetchFailed, FetchRefused, StaleClaim
from tocsin.model import Attempt, CheckResult, Instruction, Validators
from tocsin.settings import FetchSettings, HostSettings, PageSettings

DOWN = FetchFailed(URL, "connect", "connection refused")
BODY = html(created="1")


class Setting:
    """A visitor over a scripted web on a clock that only moves while a task sleeps."""

    def __init__(self, *, hold: timedelta = timedelta(seconds=30), every_nth: int = 30, **pages: Any) -> None:
        self.web, self.clock, self.telemetry = ScriptedFetcher(), EagerClock(), RecordingTelemetry()
        fetch = FetchSettings(hold=hold, unconditional_every=every_nth)
        gates, chance = Gates(HostSettings(delay=timedelta(0)), self.clock), SeededChance()
        outage = OutageWatch(self.clock)
        receiver = Receiver(gates, None, outage, RequestSlots(1), FetchSettings(), self.clock)
        tries = RequestSets(receiver, self.web, gates, fetch, self.clock, chance)
        policies = Policies(msgspec.structs.replace(PageSettings(), **pages))
        conclusions = Conclusions(EventWriter("tocsin", chance), time_zone="UTC")
        self.visitor = Visitor(tries, policies, conclusions, gates, outage, fetch, self.clock, self.telemetry)

    async def visit(self, **page: Any) -> CheckResult:
        return await self.visitor.visit(task(**page))


async def test_T58_a_page_that_fails_is_tried_twice_more_after_growing_pauses() -> None:
    site = Setting()
    site.web.on(URL, DOWN)

    result = await site.visit()

    assert result.report.outcome == "unreachable"
    assert site.web.asked(URL) == 3
    first, second = site.clock.slept
    assert 0.5 <= first <= 1.5
    assert 2 <= second <= 6


@pytest.mark.parametrize(
    ("settings", "status", "asked"),
    [
        ({"tries": 5, "hold": timedelta(hours=1)}, 503, 6),
        ({}, 404, 1),
        ({"retry_refused": True}, 404, 3),
    ],
)
async def test_T58_the_users_settings_say_how_often_a_page_is_tried(
    settings: dict[str, Any], status: int, asked: int
) -> None:
    site = Setting(**settings)
    site.web.page(URL, "", status=status)

    result = await site.visit()

    assert site.web.asked(URL) == asked
    assert result.failure is not None
    assert result.failure.cause == f"status {status}"


async def test_a_retry_after_longer_than_the_hold_defers_the_remaining_tries() -> None:
    site = Setting()
    site.web.page(URL, "", status=503, headers=[("retry-after", "600")])

    result = await site.visit()

    assert result.report.outcome == "deferred"
    assert result.due.at is not None
    assert result.due.at >= START + 600 * SECOND
    assert len(result.held_attempts) == 1


async def test_deferred_tries_go_on_where_they_stopped() -> None:
    site = Setting()
    site.web.on(URL, DOWN)
    spent = (Attempt(START - HOUR, "status", 503, "answered 503", 3),) * 2

    result = await site.visit(attempts=spent)

    assert site.web.asked(URL) == 1
    assert result.failure is not None
    assert len(result.failure.attempts) == 3


@pytest.mark.parametrize(("ago_s", "asked"), [(0, 0), (10, 0), (11, 1)])
async def test_T21_no_request_is_made_within_ten_seconds_of_the_last_set(ago_s: int, asked: int) -> None:
    site = Setting()
    site.web.page(URL, BODY)

    result = await site.visit(set_at=START - ago_s * SECOND)

    assert site.web.asked(URL) == asked
    assert (result.report.outcome == "skipped") is (asked == 0)


async def test_T21_another_period_can_be_agreed_on() -> None:
    site = Setting(min_gap=timedelta(0))
    site.web.page(URL, BODY)

    result = await site.visit(set_at=START)

    assert result.report.outcome == "first"


async def test_a_page_that_is_off_is_not_asked_for() -> None:
    site = Setting(mode="off")

    result = await site.visit()

    assert site.web.requests == []
    assert (result.report.outcome, result.due.at, result.due.why) == ("skipped", None, "off")


async def test_validators_are_sent_but_for_a_request_without_conditions_now_and_then() -> None:
    known = Validators('"x"', None, URL)
    site = Setting(every_nth=5)
    site.web.page(URL, BODY)
    page = {
        "state": stored(created="1"),
        "validators": known,
        "set_at": START - DAY,
        "body_digest": digest_of(BODY),
    }

    await site.visit(**page, conditional_run=4)
    await site.visit(**page, conditional_run=5)

    with_conditions = ["If-None-Match" in dict(request.headers) for request in site.web.requests]
    assert with_conditions == [True, False]


@pytest.mark.parametrize("suspected", [True, False])
async def test_a_304_says_that_a_page_is_back_whose_fields_are_stored(*, suspected: bool) -> None:
    site = Setting()
    site.web.page(URL, BODY)
    known = {"validators": Validators('"x"', None, URL), "body_digest": digest_of(BODY)}

    result = await site.visit(state=stored(created="1"), **known, suspected=suspected)

    assert [("If-None-Match" in dict(each.headers)) for each in site.web.requests] == [True]
    assert (result.report.outcome, result.suspected, result.flags.not_html) == ("unchanged", False, False)


async def test_T60_again_makes_as_many_sets_as_the_user_says() -> None:
    site = Setting(hold=timedelta(hours=1))
    site.web.on(URL, DOWN)

    await site.visit(instruction=Instruction("again", times=5))

    assert site.web.asked(URL) == 5


async def test_T60_again_over_new_connections_opens_a_session_of_its_own() -> None:
    site = Setting()
    site.web.page(URL, BODY)

    await site.visit(instruction=Instruction("again", new_connections=True))

    assert site.web.sessions == 1


async def test_T60_until_major_makes_one_silent_set_an_occasion() -> None:
    site = Setting()
    site.web.on(URL, DOWN)

    result = await site.visit(instruction=Instruction("until-major"))

    assert site.web.asked(URL) == 1
    assert result.failure is not None
    assert result.failure.silent


async def test_a_page_that_no_parser_may_be_given_is_asked_about_as_too_complex() -> None:
    site = Setting()
    site.web.page(URL, b"<html a>" * 100_000 + b"<meta name=created content=1>")

    result = await site.visit()

    assert result.report.outcome == "unreachable"
    assert result.failure is not None
    assert result.failure.cause == "too-complex"


async def test_what_the_log_is_told_of_a_page() -> None:
    site = Setting()
    site.web.on(URL, FetchRefused(URL, "blocked-address", "private"))
    await site.visit()
    site.web.page(URL, html(topper_major="2026"))
    await site.visit(state=stored(created="1"))

    assert site.telemetry.names() == ["page.unreachable", "page.major"]


async def test_the_log_is_told_how_we_know_of_a_change() -> None:
    site = Setting()
    site.web.page(URL, html(created="2"))
    await site.visit(state=stored(created="1"))

    (happening,) = site.telemetry.happenings
    assert happening.values == {"page_id": 1, "url": URL, "reason": "other", "rule": "T47", "basis": "declared"}


async def test_the_log_is_told_once_of_what_stands_in_for_a_page() -> None:
    site = Setting()
    site.web.page(URL, CHALLENGE)
    for suspected in (False, True):
        await site.visit(state=stored(created="1"), suspected=suspected)

    assert site.telemetry.names() == ["page.suspect", "page.odd"]
    told = site.telemetry.happenings[0].values
    assert told["summary"] == "A check for robots is served in place of the page."
    assert told["evidence"].startswith("challenge: ")


async def test_a_202_is_received_only_where_it_may_stand_in_for_a_page() -> None:
    site = Setting()
    site.web.on(URL, answer(URL, CHALLENGE, status=202))

    first, known = await site.visit(), await site.visit(state=stored(created="1"))
    taking = Setting(suspects="accept")
    taking.web.on(URL, answer(URL, CHALLENGE, status=202))
    taken = await taking.visit(state=stored(created="1"))

    assert [result.report.outcome for result in (first, known, taken)] == ["unreachable", "suspect", "unreachable"]


async def test_a_retry_after_that_outlives_the_visit_is_kept_for_the_whole_host() -> None:
    site = Setting()
    site.web.page(URL, "", status=429, headers=[("retry-after", "600")])

    result = await site.visit()

    assert result.host_gate_at == START + 600 * SECOND


async def test_a_retry_after_of_the_last_try_is_kept_for_the_whole_host() -> None:
    site = Setting(tries=0)
    site.web.page(URL, "", status=503, headers=[("retry-after", "600")])

    result = await site.visit()

    assert result.failure is not None
    assert result.host_gate_at == START + 600 * SECOND


async def test_a_failure_without_retry_after_holds_no_host() -> None:
    site = Setting()
    site.web.page(URL, "", status=404)

    assert (await site.visit()).host_gate_at is None


async def test_T60_again_makes_its_sets_whatever_is_answered() -> None:
    site = Setting()
    site.web.page(URL, "", status=404)

    await site.visit(instruction=Instruction("again", times=3))

    assert site.web.asked(URL) == 3


async def test_T62_a_page_that_is_paused_when_its_visit_has_ended_is_checked_at_its_next_occasion() -> None:
    site = Setting()
    site.web.page(URL, BODY)
    first = await site.visit()

    site.visitor.withdraw({first.page_id})
    result = await site.visit()

    assert result.report.outcome == "first"


async def test_T43_a_clock_that_was_set_back_is_warned_of_once() -> None:
    site = Setting()
    site.web.page(URL, BODY)

    for _ in range(2):
        await site.visit(state=stored(START + DAY, created="1"))

    assert site.telemetry.names().count("clock.back") == 1


@pytest.mark.parametrize(("answers", "stood"), [((answer(URL, BODY),), []), ((DOWN, answer(URL, BODY)), [(1, 0)])])
async def test_only_a_page_that_failed_stands_aside_and_does_so_before_its_pause(
    answers: tuple[Any, ...], stood: list[tuple[int, int]]
) -> None:
    site = Setting()
    site.web.on(URL, *answers)
    asked: list[tuple[int, int]] = []

    await site.visitor.visit(task(), lambda: asked.append((site.web.asked(URL), len(site.clock.slept))))

    assert asked == stood


async def test_a_page_waits_from_its_due_time_until_its_first_request() -> None:
    site = Setting()
    site.web.page(URL, BODY)
    page = task(due_at=START - 9 * SECOND)
    while_asked: list[int | None] = []

    async def look(_request: Any) -> None:
        while_asked.append(site.visitor.waiting_since())

    site.web.before = look
    site.visitor.expect(page)
    before = site.visitor.waiting_since()

    await site.visitor.visit(page)

    assert before == START - 9 * SECOND
    assert while_asked == [None]


async def test_a_page_that_no_request_is_made_for_waits_no_longer_than_its_visit() -> None:
    site = Setting(mode="off")
    page = task(due_at=START)
    site.visitor.expect(page)

    await site.visitor.visit(page)

    assert site.visitor.waiting_since() is None


async def test_the_loop_has_a_turn_between_two_pages_that_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Setting()
    urls = [f"{URL}{number}" for number in range(5)]
    for url in urls:
        site.web.page(url, BODY)
    turn, read_in = 0, list[int]()
    received = Conclusion.received

    def note(*given: Any, **named: Any) -> CheckResult:
        read_in.append(turn)
        return received(*given, **named)

    async def count_turns() -> None:
        nonlocal turn
        while True:
            await asyncio.sleep(0)
            turn += 1

    monkeypatch.setattr(Conclusion, "received", note)
    # A second passes whenever the time is asked for: each page takes all of a turn.
    site.visitor._loop_time = LoopTime(partial(next, count()))
    async with asyncio.TaskGroup() as group:
        counting = group.create_task(count_turns())
        visits = [group.create_task(site.visit(page_id=number, url=url)) for number, url in enumerate(urls)]
        await asyncio.wait(visits)
        counting.cancel()

    assert len(set(read_in)) == len(urls)


BROKEN = "https://example.org/a"


def test_an_unforeseen_error_is_the_failure_of_its_page() -> None:
    telemetry = RecordingTelemetry()

    with pytest.raises(FetchRefused, match="ZeroDivisionError") as caught, contained(7, BROKEN, telemetry):
        _ = 1 // 0

    assert (caught.value.url, caught.value.kind) == (BROKEN, "crashed")
    (told,) = telemetry.happenings
    assert (told.level, told.values["page_id"]) == ("error", 7)
    assert "test_visit.py" in told.values["where"][-1]


@pytest.mark.parametrize(
    "error",
    [FetchFailed(BROKEN, "connect", "refused"), StaleClaim("lost"), asyncio.CancelledError(), KeyboardInterrupt()],
)
def test_what_is_raised_on_purpose_passes_through(error: BaseException) -> None:
    telemetry = RecordingTelemetry()

    with pytest.raises(type(error)) as caught, contained(7, BROKEN, telemetry):
        raise error

    assert caught.value is error
    assert telemetry.happenings == []
