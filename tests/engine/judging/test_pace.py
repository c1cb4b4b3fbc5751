"""How often a page changes, as checks, dates and headers say."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import pairwise
from math import log
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import DAY, HOUR, READ, SECOND, digest_of, fields, html, received, stored, task, with_changes
from tests.fakes import START, SeededChance
from tocsin.engine.judging.conclude import Conclusion, Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.judging.pace import (
    HALF_LIFE_CHECKS,
    LONGEST_S,
    LOOK_BACK,
    find_declared,
    fresh_for,
    interval_s,
    note,
    rate_of,
)
from tocsin.errors import Disallowed, FetchFailed
from tocsin.model import Attempt, CheckResult, PageKnowledge, PageTask, ReceivedPage, SignalContext
from tocsin.model.knowledge import ChangePace
from tocsin.settings import PageSettings
from tocsin.spec.topper.state import EMPTY, PageState

DAY_S = 86_400.0
EVERY_S = DAY_S

check = st.tuples(st.floats(60, 60 * DAY_S), st.booleans(), st.one_of(st.none(), st.floats(0, 2)))
"""How long after the one before, whether it found a change, and how old that is in intervals by the page's own date."""


def noted(checks: Iterable[tuple[float, bool, float | None]], pace: ChangePace | None = None) -> ChangePace | None:
    now = START
    for span_s, changed, age in checks:
        since, now = now, now + round(span_s * SECOND)
        declared_at = None if age is None else now - round(age * span_s * SECOND)
        pace = note(pace, since=since, now=now, changed=changed, declared_at=declared_at, every_s=EVERY_S)
    return pace


def daily(changes: str) -> ChangePace | None:
    return noted((DAY_S, mark == "x", None) for mark in changes)


def changes_a_day(pace: ChangePace | None) -> float:
    return rate_of(pace, EVERY_S) * DAY_S


def test_a_page_nobody_knows_is_taken_to_change_once_in_its_interval() -> None:
    assert changes_a_day(None) == pytest.approx(1)


def test_regular_checks_give_the_estimator_with_reduced_bias() -> None:
    # So long ago that no expectation counts beside it: n checks in one-second intervals, X of which found a change.
    n, found = 1e9, 4e8
    pace = ChangePace(checks=n, found=found, found_s=found, quiet_s=n - found)

    assert rate_of(pace, EVERY_S) == pytest.approx(-log((n - found + 0.5) / (n + 0.5)), rel=1e-4)


def test_declared_dates_give_changes_for_the_time_known_as_quiet() -> None:
    pace = ChangePace(checks=1e6, dated=3e5, quiet_s=6e5 * DAY_S)

    assert changes_a_day(pace) == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize("a_day", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("is_dated", [True, False])
def test_the_rate_of_a_poisson_process_is_found_to_within_a_factor_of_two(a_day: float, *, is_dated: bool) -> None:
    random = Random(7)  # noqa: S311 - the same pages every time
    interval = DAY if a_day > 0.2 else 5 * DAY
    changes, at = [], float(START)
    while (at := at + random.expovariate(a_day / DAY)) < START + 400 * interval:
        changes.append(int(at))

    pace: ChangePace | None = None
    for now in range(START + interval, START + 400 * interval, interval):
        recent = [change for change in changes if now - interval < change <= now]
        declared_at = recent[-1] if is_dated and recent else None
        pace = note(pace, since=now - interval, now=now, changed=bool(recent), declared_at=declared_at, every_s=EVERY_S)

    assert a_day / 2 < changes_a_day(pace) < a_day * 2


@given(st.lists(check, max_size=60), check)
def test_a_change_never_makes_the_interval_longer_than_no_change_would(
    history: list[tuple[float, bool, float | None]], last: tuple[float, bool, float | None]
) -> None:
    before = noted(history)
    span_s, _, age = last

    changed, quiet = (noted([(span_s, is_changed, age)], before) for is_changed in (True, False))

    assert rate_of(changed, EVERY_S) >= rate_of(quiet, EVERY_S) * 0.999


@given(st.lists(check, max_size=80))
def test_a_rate_is_always_one_that_an_interval_can_follow_from(history: list[tuple[float, bool, float | None]]) -> None:
    rate = rate_of(noted(history), EVERY_S)

    assert 0 < rate < float("inf")
    assert 0 < interval_s(rate, EVERY_S) < float("inf")


@given(st.floats(0, 1e6), st.floats(1e-6, 1e12), st.floats(0, 1e6), st.floats(0, 1e12), st.floats(1, 1e9))
def test_whatever_is_kept_of_a_page_has_a_rate(
    found: float, found_s: float, dated: float, quiet_s: float, every_s: float
) -> None:
    pace = ChangePace(found + dated, found, found_s if found else 0.0, dated, quiet_s)

    assert 0 < rate_of(pace, every_s) < float("inf")


def test_the_estimate_solves_the_likelihood_s_equation() -> None:
    pace = ChangePace(checks=30, found=6, found_s=9 * DAY_S, dated=4, quiet_s=40 * DAY_S)

    rate = rate_of(pace, EVERY_S)

    mean_s = 9 * DAY_S / 6
    quiet_s = 40 * DAY_S + mean_s / 2 + EVERY_S / 2
    expected = 9 * DAY_S / (2.718281828459045 ** (rate * mean_s) - 1) + 4.5 / rate
    assert expected == pytest.approx(quiet_s, rel=1e-3)


def test_a_page_that_falls_asleep_is_noticed() -> None:
    awake = daily("x" * 100)

    asleep = noted([(DAY_S, False, None)] * 3 * HALF_LIFE_CHECKS, awake)

    assert changes_a_day(asleep) < changes_a_day(awake) / 20


def test_a_page_that_wakes_up_is_noticed() -> None:
    asleep = noted([(10 * DAY_S, False, None)] * 40)

    awake = noted([(10 * DAY_S, True, None)] * 3, asleep)

    assert changes_a_day(awake) > 5 * changes_a_day(asleep)


def test_evidence_counts_half_after_its_half_life() -> None:
    before = daily("x." * 30)
    assert before is not None

    after = noted([(DAY_S, False, None)] * HALF_LIFE_CHECKS, before)

    assert after is not None
    assert after.found == pytest.approx(before.found / 2)


def test_evidence_that_faded_for_ever_does_no_harm() -> None:
    pace = noted([(DAY_S, True, None), *[(DAY_S, False, None)] * 25_000])

    assert changes_a_day(pace) == pytest.approx(changes_a_day(daily("." * 400)), rel=0.01)


@pytest.mark.parametrize("age", [-0.5, 1.5], ids=["to come", "before the last check"])
def test_a_date_that_cannot_be_that_of_the_change_says_nothing(age: float) -> None:
    with_date, without = noted([(DAY_S, True, age)]), noted([(DAY_S, True, None)])

    assert with_date == without


def test_a_date_that_moves_although_nothing_changed_says_nothing() -> None:
    assert noted([(DAY_S, False, 0.1)]) == noted([(DAY_S, False, None)])


def test_a_page_that_declares_the_moment_of_each_answer_does_not_run_away() -> None:
    pace, interval = None, EVERY_S
    for _ in range(200):
        pace = noted([(interval, True, 0.0)], pace)
        interval = interval_s(rate_of(pace, EVERY_S), EVERY_S)

    assert interval > EVERY_S / 12


def test_a_page_that_changes_at_every_check_does_not_run_away() -> None:
    pace, interval = None, EVERY_S
    for _ in range(200):
        pace = noted([(interval, True, None)], pace)
        interval = interval_s(rate_of(pace, EVERY_S), EVERY_S)

    assert EVERY_S / 6 < interval < EVERY_S / 2


def test_at_the_first_check_an_old_date_says_that_the_page_is_quiet() -> None:
    pace = note(None, since=None, now=START, changed=False, declared_at=START - 900 * DAY, every_s=EVERY_S)

    assert pace is not None
    assert pace.quiet_s == pytest.approx(LOOK_BACK * EVERY_S)
    assert pace.dated == 0
    assert changes_a_day(pace) < 1


def test_at_the_first_check_a_date_of_today_says_that_the_page_changes() -> None:
    pace = note(None, since=None, now=START, changed=False, declared_at=START - 6 * HOUR, every_s=EVERY_S)

    assert pace is not None
    assert pace.dated == 1
    assert changes_a_day(pace) > 1


@pytest.mark.parametrize("declared_at", [None, START + DAY])
def test_at_the_first_check_no_date_says_nothing(declared_at: int | None) -> None:
    assert note(None, since=None, now=START, changed=False, declared_at=declared_at, every_s=EVERY_S) is None


def test_a_clock_that_was_set_back_adds_nothing() -> None:
    before = daily("x.")

    assert note(before, since=START, now=START - DAY, changed=True, declared_at=None, every_s=EVERY_S) == before


def test_four_times_as_many_changes_are_worth_twice_as_many_checks() -> None:
    intervals = [interval_s(changes / DAY_S, EVERY_S) for changes in (0.25, 1, 4, 16)]

    assert intervals[1] == pytest.approx(EVERY_S)
    assert all(one == pytest.approx(2 * other) for one, other in pairwise(intervals))


BEFORE = ChangePace(checks=10.0, found=2.0, found_s=2 * 86_400.0, quiet_s=8 * 86_400.0)
ATTEMPT = Attempt(START, "connect", None, "refused", 3)


def conclude(page: PageTask, **policy: Any) -> Conclusion:
    settings = msgspec.structs.replace(PageSettings(), **({"adaptive": True} | policy))
    return Conclusions(EventWriter("tocsin", SeededChance()), time_zone="UTC").of(page, settings, START)


def paced_check(page: PageTask, came: ReceivedPage | bytes, **policy: Any) -> CheckResult:
    answer = received(came) if isinstance(came, bytes) else came
    return conclude(page, **policy).received(answer, START, conditional=False, tried=0)


def known_page(pace: ChangePace | None = BEFORE, **changes: Any) -> PageTask:
    assert READ.known is not None
    beside = SignalContext(known=msgspec.structs.replace(READ.known, pace=pace))
    return with_changes(task(state=stored(created="2026")), beside=beside, **changes)


def pace_after(result: CheckResult) -> ChangePace:
    assert result.learnt.known is not None
    assert result.learnt.known.pace is not None
    return result.learnt.known.pace


def test_a_check_that_found_nothing_adds_quiet_time() -> None:
    after = pace_after(paced_check(known_page(), html(created="2026"), signals="none"))

    assert after.found == pytest.approx(BEFORE.found, rel=0.04)
    assert after.quiet_s == pytest.approx(BEFORE.quiet_s + 86_400, rel=0.04)
    assert after.checks > BEFORE.checks


def test_a_change_of_the_twelve_fields_is_one_change() -> None:
    after = pace_after(paced_check(known_page(), html(created="2027"), signals="none"))

    assert after.found == pytest.approx(BEFORE.found + 1, rel=0.04)


def test_a_change_of_a_signal_is_one_change() -> None:
    body = (
        html(created="2026") + b'<script type="application/ld+json">{"@type":"Article","dateModified":"2025"}</script>'
    )
    page = known_page()
    first = paced_check(page, body)
    assert first.learnt.known is not None
    later = body.replace(b"2025", b"2026-01-01")

    after = paced_check(msgspec.structs.replace(page, beside=SignalContext(known=first.learnt.known)), later)

    assert after.report.outcome == "minor"
    assert pace_after(after).found == pytest.approx(pace_after(first).found + 1, rel=0.1)


def test_T45_a_state_that_is_told_again_after_a_long_time_is_no_change() -> None:
    page = msgspec.structs.replace(known_page(), state=stored(at=START - 90 * DAY, created="2026"))

    result = paced_check(page, html(created="2026"), signals="none")

    assert result.report.outcome == "major"
    assert pace_after(result).found < BEFORE.found


@pytest.mark.parametrize("is_304", [True, False])
def test_a_304_and_an_equal_body_are_no_change(*, is_304: bool) -> None:
    body = html(created="2026")
    page = known_page(body_digest=digest_of(body))

    after = pace_after(paced_check(page, received(status=304) if is_304 else body))

    assert after.quiet_s > BEFORE.quiet_s


def test_a_date_that_the_page_declares_is_when_it_changed() -> None:
    page = known_page()

    after = pace_after(
        paced_check(page, html(**{"created": "2026", "dcterms.modified": iso(START - 6 * HOUR)}), signals="none")
    )

    assert after.dated == 1
    assert after.quiet_s == pytest.approx(BEFORE.quiet_s * 0.965 + 6 * 3600, rel=0.01)


def test_the_first_check_of_a_page_takes_its_date() -> None:
    result = paced_check(task(), html(**{"dcterms.modified": iso(START - 2 * HOUR)}), signals="none")

    assert pace_after(result).dated == 1
    assert result.learnt.known == PageKnowledge("", {}, pace=pace_after(result))


def test_the_first_check_of_a_page_without_a_date_leaves_nothing() -> None:
    result = paced_check(task(), html(created="2026"), signals="none")

    assert result.learnt.known is None
    assert result.due.why == "adaptive: nothing known yet; every 24h"


@pytest.mark.parametrize("policy", [{"adaptive": False}, {"cron": "0 6 * * *"}])
def test_pages_that_are_not_adaptive_keep_what_is_known_and_write_nothing(policy: dict[str, Any]) -> None:
    assert paced_check(known_page(), html(created="2026"), signals="none", **policy).learnt.known is None


def test_T43_what_came_too_soon_says_nothing() -> None:
    page = msgspec.structs.replace(known_page(), state=stored(at=START - HOUR, created="2026"))

    result = paced_check(page, b"<!doctype html><meta http-equiv=refresh content=9999><meta name=created content=2027>")

    assert result.report.outcome == "too-soon"
    assert result.learnt.known is None


def test_a_suspect_says_nothing() -> None:
    came = received(b"%PDF-1.7", headers={"content-type": "application/pdf", "cache-control": "max-age=80000"})

    result = paced_check(known_page(), came, every_min=PageSettings().every / 48)

    assert result.report.outcome == "suspect"
    assert result.learnt.known is None
    assert "as its server says" not in (result.due.why or "")


def test_the_next_check_follows_from_this_one_too() -> None:
    seldom = paced_check(known_page(), html(created="2026"), signals="none")
    often = paced_check(known_page(), html(created="2027"), signals="none")

    assert (seldom.due.why, often.due.why) == (
        "adaptive: changed in 2 of 11 checks, about every 4d; every 2d",
        "adaptive: changed in 3 of 11 checks, about every 3d; every 40h",
    )
    assert seldom.due.at is not None
    assert often.due.at is not None
    assert often.due.at < seldom.due.at


def test_a_page_that_was_not_received_keeps_its_pace() -> None:
    result = conclude(known_page()).unreachable([ATTEMPT], FetchFailed("http://x/", "connect", "refused"))

    assert (result.due.why or "").startswith("adaptive: changed in 2 of 10 checks")


def test_LM_43_a_page_that_robots_txt_forbids_keeps_its_pace() -> None:
    result = conclude(known_page()).disallowed(Disallowed("http://x/", "Disallow: /", None))

    assert (result.due.why or "").startswith("adaptive: changed in 2 of 10 checks")


def test_what_the_server_says_of_its_answer_holds_for_a_304_too() -> None:
    busy = ChangePace(checks=20.0, dated=100.0, quiet_s=86_400.0)
    body = html(created="2026")
    page = known_page(busy, body_digest=digest_of(body))

    result = paced_check(page, received(status=304, headers={"cache-control": "max-age=43200"}))

    assert (result.due.why or "").endswith("every 12h, as its server says")


def test_the_latest_date_that_is_not_to_come_is_the_page_s() -> None:
    state = PageState(
        fields(**{"dcterms.modified": "2026-05-01", "topper": "true 2026-05-03 2026-05-04", "topper-minor": "2031"})
    )
    values = {"json-ld.modified": "2026-05-02T10:00:00Z", "header.last-modified": "2026-05-09T10:00:00Z"}

    assert find_declared(state, values, at("2026-06-01")) == at("2026-05-04")


def test_a_page_s_own_date_goes_before_its_list_s_and_that_before_its_server_s() -> None:
    values = {
        "json-ld.modified": "2026-05-02T10:00:00Z",
        "sitemap": "2026-05-03",
        "header.last-modified": "2026-05-09T10:00:00Z",
    }
    found = []
    for gone in values:
        found.append(find_declared(EMPTY, values, at("2026-06-01")))
        values = {name: value for name, value in values.items() if name != gone}

    assert found == [at("2026-05-02T10:00"), at("2026-05-03"), at("2026-05-09T10:00")]


@pytest.mark.parametrize(
    "text", ["2026-05-07T02:00:00+02:00", "2026-05-07T00:00:00Z", "2026-05-07T00:00", "2026-05-07"]
)
def test_a_date_is_read_in_its_zone_or_in_utc(text: str) -> None:
    assert find_declared(EMPTY, {"json-ld.modified": text}, START) == at("2026-05-07")


@pytest.mark.parametrize("text", ["", "3.2", "yesterday", "2026-13-01", "0000-00-00", "2026-05-01T99:00:00Z", "-"])
def test_what_is_no_date_says_nothing(text: str) -> None:
    state = PageState(fields(**{"dcterms.modified": text or "x", "topper": "true"}))

    assert find_declared(state, {"json-ld.modified": text, "json-ld.version": "20260501"}, START) is None


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


def iso(moment: int) -> str:
    return datetime.fromtimestamp(moment / 1e6, UTC).isoformat().replace("+00:00", "Z")


DATE = ("date", "Sun, 06 Nov 2022 08:00:00 GMT")
WORDS = st.sampled_from(
    ["max-age=", "s-maxage=", "no-cache", "immutable", '"', "\\", ",", " ", "=", "0", "95", "9" * 30, "x"]
)
VALUES = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=12).map("".join))
NAMES = st.sampled_from(["cache-control", "expires", "age", "date", "etag"])


def cached(*values: str) -> list[tuple[str, str]]:
    return [("cache-control", value) for value in values]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("max-age=600", 600),
        ("Max-Age=600, public", 600),
        ("public,max-age=600,immutable", 600),
        (' max-age = "600" ', 600),
        ("s-maxage=60", 60),
        ("max-age=600, s-maxage=60", 60),
        ("max-age=60, s-maxage=600", 60),
        ("max-age=600, max-age=30", 30),
        ('private="a, max-age=5", max-age=600', 600),
        ('private="a\\", max-age=5", max-age=600', 600),
        ("max-age=600, must-revalidate", 600),
    ],
)
def test_a_lifetime_is_read(value: str, seconds: int) -> None:
    assert fresh_for(cached(value)) == seconds


@pytest.mark.parametrize(
    "value",
    [
        "", "public", "no-cache", "no-store", "max-age=0", "max-age=600, no-cache", 'no-cache="a", max-age=600',
        "immutable", "max-age", "max-age=", "max-age=-5", "max-age=1.5", "max-age=soon", "max-age=600, max-age=x",
        "max-age=\u0665", "maxage=600", "max-age=600" + "," * 5000, "=", ",,,", '"', '"max-age=600',
    ],
)  # fmt: skip
def test_what_promises_no_time_says_nothing(value: str) -> None:
    assert fresh_for(cached(value)) is None


def test_no_header_says_nothing() -> None:
    assert fresh_for([("content-type", "text/html"), ("age", "5")]) is None


def test_several_headers_are_read_as_one() -> None:
    assert fresh_for(cached("public", "max-age=600", "s-maxage=300")) == 300


def test_the_time_spent_in_caches_is_over() -> None:
    assert fresh_for([*cached("max-age=600"), ("age", "500")]) == 100


def test_of_several_ages_the_longest_counts() -> None:
    assert fresh_for([*cached("max-age=600"), ("age", "100"), ("age", "500"), ("age", "x")]) == 100


@pytest.mark.parametrize("age", ["600", "99999999999999999999"])
def test_an_answer_that_is_over_says_nothing(age: str) -> None:
    assert fresh_for([*cached("max-age=600"), ("age", age)]) is None


def test_a_time_beyond_all_bounds_is_clamped() -> None:
    assert fresh_for(cached("max-age=99999999999999999999999")) == LONGEST_S


def test_a_date_of_expiry_counts_from_the_answer_s_own_date() -> None:
    assert fresh_for([DATE, ("expires", "Sun, 06 Nov 2022 09:00:00 GMT")]) == 3600


@pytest.mark.parametrize("expires", ["0", "-1", "Sun, 06 Nov 2022 07:00:00 GMT", "tomorrow"])
def test_an_expiry_that_is_over_or_no_date_says_nothing(expires: str) -> None:
    assert fresh_for([DATE, ("expires", expires)]) is None


def test_of_several_expiries_the_nearest_counts() -> None:
    expiries = [("expires", f"Sun, 06 Nov 2022 {hour}:00:00 GMT") for hour in ("10", "09")]

    assert fresh_for([DATE, *expiries]) == 3600


def test_an_expiry_without_a_date_of_the_answer_says_nothing() -> None:
    assert fresh_for([("expires", "Sun, 06 Nov 2022 09:00:00 GMT")]) is None


def test_a_lifetime_takes_the_place_of_an_expiry() -> None:
    assert fresh_for([DATE, ("expires", "Sun, 06 Nov 2022 09:00:00 GMT"), *cached("max-age=60")]) == 60


@given(st.lists(st.tuples(NAMES, VALUES)))
def test_no_headers_raise_and_every_time_is_within_bounds(headers: list[tuple[str, str]]) -> None:
    seconds = fresh_for(headers)

    assert seconds is None or 0 < seconds <= LONGEST_S
