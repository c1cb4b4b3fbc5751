"""Which failures are tried again, how often, after which pause (T57 to T61)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import START, EagerClock, FixedChance, SeededChance
from tocsin.engine.visiting.retry import TryPolicy, is_retried, parse_retry_after, pause_s, tries
from tocsin.errors import FetchError, FetchFailed, FetchRefused, Postponed
from tocsin.model import FailureKind

URL = "https://a.example/"


def failed(kind: FailureKind, *, status: int | None = None, retry_after: timedelta | None = None) -> FetchFailed:
    return FetchFailed(URL, kind, "…", status=status, retry_after=retry_after)


@pytest.mark.parametrize("kind", ["dns", "connect", "tls", "timeout", "protocol", "decode", "empty"])
def test_T58_what_kept_the_answer_from_us_is_tried_again(kind: FailureKind) -> None:
    assert is_retried(failed(FailureKind(kind)))


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_T58_statuses_that_pass_are_tried_again(status: int) -> None:
    assert is_retried(failed(FailureKind.STATUS, status=status))


@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 401, 403, 404, 410, 451, 600])
def test_T58_a_complete_answer_that_is_not_the_page_is_final(status: int) -> None:
    assert not is_retried(FetchRefused(URL, FailureKind.STATUS, "…", status=status))


@pytest.mark.parametrize("kind", [FailureKind.REDIRECT, FailureKind.BLOCKED_ADDRESS, FailureKind.TOO_LARGE])
def test_T58_what_is_refused_is_tried_again_only_where_the_user_says_so(kind: FailureKind) -> None:
    refused = FetchRefused(URL, kind, "…")

    assert not is_retried(refused)
    assert is_retried(refused, retry_refused=True)


def test_what_was_too_large_beside_others_is_tried_again() -> None:
    assert is_retried(failed(FailureKind.TOO_LARGE))


def test_an_error_that_is_none_of_the_network_s_is_not_tried_again() -> None:
    assert not is_retried(ValueError("a bug"), retry_refused=True)


class Page:
    """Makes sets of requests that all fail so; `made` counts them."""

    def __init__(self, error: FetchError) -> None:
        self.error = error
        self.made = 0

    async def receive(self, clock: EagerClock, policy: TryPolicy, *, spent: int = 0) -> None:
        async for attempt in tries(policy, clock, FixedChance(), spent=spent):
            with attempt:
                self.made += 1
                raise self.error


async def run(error: FetchError, clock: EagerClock, policy: TryPolicy, *, spent: int = 0) -> int:
    """Make tries that all fail so; returns how many sets were made before the failure came out."""
    page = Page(error)
    with pytest.raises(type(error)):
        await page.receive(clock, policy, spent=spent)
    return page.made


async def test_T58_a_set_is_made_again_up_to_two_times() -> None:
    clock = EagerClock()

    made = await run(failed(FailureKind.CONNECT), clock, TryPolicy())

    assert made == 3
    assert clock.slept == [1.0, 4.0]


async def test_T58_the_user_s_number_counts() -> None:
    assert await run(failed(FailureKind.CONNECT), EagerClock(), TryPolicy(further=0)) == 1


async def test_T58_tries_spent_before_a_pause_count() -> None:
    assert await run(failed(FailureKind.CONNECT), EagerClock(), TryPolicy(further=2), spent=2) == 1


async def test_T58_a_final_answer_ends_the_tries() -> None:
    refused = FetchRefused(URL, FailureKind.STATUS, "answered 404", status=404)

    assert await run(refused, EagerClock(), TryPolicy()) == 1


async def test_T58_tries_end_when_the_page_is_received() -> None:
    made = 0
    async for attempt in tries(TryPolicy(), EagerClock(), FixedChance()):
        with attempt:
            made += 1
            if made < 2:
                raise failed(FailureKind.TIMEOUT)

    assert made == 2


async def test_T58_a_pause_is_never_shorter_than_the_retry_after() -> None:
    clock = EagerClock()

    await run(failed(FailureKind.STATUS, status=503, retry_after=timedelta(seconds=20)), clock, TryPolicy())

    assert clock.slept == [20.0, 20.0]


async def test_a_pause_that_is_too_long_to_wait_for_is_handed_over_with_its_time() -> None:
    clock = EagerClock()
    busy = failed(FailureKind.STATUS, status=429, retry_after=timedelta(hours=1))

    with pytest.raises(Postponed) as caught:
        await Page(busy).receive(clock, TryPolicy(hold_s=30))

    assert caught.value.not_before == START + 3600 * 1_000_000
    assert caught.value.attempts == 1
    assert caught.value.__cause__ is busy
    assert clock.slept == []


async def test_after_the_last_try_no_pause_is_handed_over() -> None:
    busy = failed(FailureKind.STATUS, status=429, retry_after=timedelta(hours=1))

    assert await run(busy, EagerClock(), TryPolicy(further=2), spent=2) == 1


@given(st.integers(1, 10_000), st.integers())
def test_pauses_are_bounded_whatever_the_number_and_the_chance(number: int, seed: int) -> None:
    assert 0.5 <= pause_s(number, SeededChance(seed)) <= 450


@given(st.integers(1, 50), st.integers(0, 10**9), st.floats(0, 10**6))
def test_a_retry_after_counts_in_full_up_to_its_clamp(number: int, asked_s: int, clamp_s: float) -> None:
    """CVE-2025-68148: what a server asks for is clamped."""
    pause = pause_s(number, FixedChance(), timedelta(seconds=asked_s), clamp_s)

    assert pause >= min(asked_s, clamp_s)
    assert pause <= max(min(asked_s, clamp_s), 300)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("  5 ", 5),
        ("0", 0),
        ("00007", 7),
        ("1000000000000", 3650 * 86400),
        ("9" * 100_000, 3650 * 86400),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("٣", None),
        ("99:99:99", None),
        ("Wed, 99 Foo 20:99", None),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 3650 * 86400),
    ],
)
def test_a_retry_after_is_read_or_left(value: str | None, seconds: int | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)

    assert parse_retry_after(value, START) == expected


@pytest.mark.parametrize(("ahead_s", "expected_s"), [(90, 90), (-90, 0), (0, 0)])
def test_a_retry_after_may_be_a_date(ahead_s: int, expected_s: int) -> None:
    at = datetime.fromtimestamp(START / 1_000_000, UTC) + timedelta(seconds=ahead_s)

    assert parse_retry_after(format_datetime(at, usegmt=True), START) == timedelta(seconds=expected_s)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("Wed, 18 Nov 2026 11:07:40 GMT", 60),
        ("Wednesday, 18-Nov-26 11:07:40 GMT", 60),
        ("Wed Nov 18 11:07:40 2026", 60),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
        ("Friday, 18-Nov-77 11:06:40 GMT", 0),
        ("Wednesday, 18-Nov-76 11:06:40 GMT", 3650 * 86400),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ("Wed, 18 Nov 2026 12:07:40 +0100", 60),
        ("18 Nov 2026 11:07:40", 60),
        ("Wed, 18 Nov 2026 11:07:40 GMT" + " " * 100 + "x", None),
        ("Thursday, 29-Feb-27 00:00:00 GMT", None),
        ("2026-11-18T11:07:40Z", None),
    ],
)
def test_a_retry_after_is_read_in_every_form_of_a_date(value: str, seconds: int | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)

    assert parse_retry_after(value, START) == expected


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{1,6} \d\d:\d\d:\d\d( GMT| [+-]\d{4})?"))
def test_no_retry_after_is_too_strange(value: str) -> None:
    span = parse_retry_after(value, START)

    assert span is None or timedelta(0) <= span <= timedelta(days=3650)
