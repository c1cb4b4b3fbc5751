"""Which failures are tried again, how often, and after which pause (T57 to T61). Pure but for the pauses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from msgspec import Struct
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from tocsin.errors import FetchError, FetchFailed, Postponed
from tocsin.model import FailureKind, Instant
from tocsin.ports import Chance, Clock
from tocsin.spec.infrastructure.datetimes import read_http_date

# 1, 4, 16, 64 and 256 s, then 300 s: short faults are retried soon, long ones seldom.
FIRST_PAUSE_S = 1.0
GROWTH = 4.0
LONGEST_PAUSE_S = 300.0
# Beyond this, dates and numbers could overflow; settings limit the pause to far less.
LONGEST_RETRY_AFTER = timedelta(days=3650)
# No date of HTTP is longer; longer texts are not worth a parser.
_LONGEST_DATE = 64

_TRIED_AGAIN = frozenset(
    {
        FailureKind.DNS,
        FailureKind.CONNECT,
        FailureKind.TLS,
        FailureKind.TIMEOUT,
        FailureKind.PROTOCOL,
        FailureKind.DECODE,
        FailureKind.EMPTY,
        FailureKind.STEP,
    }
)
_OF_THIS_MOMENT = frozenset({FailureKind.TOO_LARGE, FailureKind.TOO_COMPLEX, FailureKind.CRASHED})
# Request Timeout, Too Early, Too Many Requests: the same request may succeed later.
_STATUSES_TRIED_AGAIN = frozenset({408, 425, 429})
_SERVER_ERRORS = range(500, 600)


class TryPolicy(Struct, frozen=True, gc=False):
    """How often one set of requests is repeated.

    further            sets after the first (T58)
    retry_refused      complete answers that are not the page are tried again, too
    hold_s             longest pause that is waited for; a longer one becomes a row
    retry_after_max_s  longest Retry-After that counts
    """

    further: int = 2
    retry_refused: bool = False
    hold_s: float = 30.0
    retry_after_max_s: float = 86_400.0


def is_retried(error: BaseException, retry_refused: bool = False) -> bool:  # noqa: FBT001, FBT002 - a setting, passed on
    """Tell whether the set of requests is repeated after this failure (T58).

    retry_refused  complete answers that are not the page, and refused ones, are tried again, too
    """
    if not isinstance(error, FetchError):
        return False
    if retry_refused or error.kind in _TRIED_AGAIN:
        return True
    if error.kind in _OF_THIS_MOMENT:
        # Failed: too large beside other bodies, or too much for a browser, at this moment. Refused: by itself.
        return isinstance(error, FetchFailed)
    if error.kind != FailureKind.STATUS or error.status is None:
        return False
    return error.status in _STATUSES_TRIED_AGAIN or error.status in _SERVER_ERRORS


def pause_s(
    attempt_number: int, chance: Chance, retry_after: timedelta | None = None, retry_after_max_s: float = 86_400.0
) -> float:
    """Return the seconds between the try of this number (from 1) and the next: 1, 4, 16 …, at most 5 minutes.

    Jittered by up to one half either way; never shorter than the server's Retry-After, of which at most
    `retry_after_max_s` counts.
    """
    # The exponent is bounded before the power, so that no number of tries overflows.
    grown = min(FIRST_PAUSE_S * GROWTH ** min(attempt_number - 1, 10), LONGEST_PAUSE_S)
    jittered = grown * (0.5 + chance.fraction())
    asked = min(retry_after.total_seconds(), retry_after_max_s) if retry_after else 0.0
    return max(jittered, asked)


def parse_retry_after(value: str | None, now: Instant) -> timedelta | None:
    """Read a Retry-After: seconds or a date; None if it is neither, zero for the past, at most ten years.

    now  for dates
    Source  RFC 9110, 10.2.3.
    """
    text = (value or "").strip(" \t")
    if text.isascii() and text.isdigit():
        digits = text.lstrip("0")
        longest_s = int(LONGEST_RETRY_AFTER.total_seconds())
        # Longer numbers are not converted: int() refuses more than 4,300 digits.
        return timedelta(seconds=min(int(digits or "0"), longest_s)) if len(digits) <= 12 else LONGEST_RETRY_AFTER  # noqa: PLR2004 - a trillion seconds
    at = _read_date(text, datetime.fromtimestamp(now / 1_000_000, UTC))
    if at is None:
        return None
    span = at - datetime.fromtimestamp(now / 1_000_000, UTC)
    return min(max(span, timedelta(0)), LONGEST_RETRY_AFTER)


def _read_date(text: str, now: datetime) -> datetime | None:
    """Read a date of HTTP, or one that is nearly one; None for any other text."""
    if len(text) > _LONGEST_DATE or not text.isascii() or ":" not in text:
        return None
    at = read_http_date(text)
    try:
        if at is None:
            at = parsedate_to_datetime(text)
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at
        if "-" in text:
            # Source: RFC 9110, 5.6.7: a year of two digits lies at most fifty years ahead.
            century = (now.year + 50 - at.year % 100) // 100
            at = at.replace(year=at.year % 100 + 100 * century)
    except (ValueError, OverflowError):
        return None
    return at


def tries(policy: TryPolicy, clock: Clock, chance: Chance, *, spent: int = 0) -> AsyncRetrying:
    """Iterate over attempts, with their pauses in between (T58).

    Use    `async for attempt in tries(...): with attempt: ...`
    spent  sets that this occasion has made before, where it resumes after a pause that became a row
    Raises the last failure, or the first that is not tried again; Postponed, from the failure, if the next pause is
    longer than `policy.hold_s`.
    """

    def wait(state: RetryCallState) -> float:
        error = _error_of(state)
        after = error.retry_after if isinstance(error, FetchError) else None
        return pause_s(spent + state.attempt_number, chance, after, policy.retry_after_max_s)

    def is_last(state: RetryCallState) -> bool:
        return spent + state.attempt_number > policy.further

    def hand_over(state: RetryCallState) -> None:
        pause = state.next_action.sleep if state.next_action else 0.0
        if pause > policy.hold_s:
            not_before = clock.now() + round(pause * 1_000_000)
            raise Postponed(not_before, spent + state.attempt_number) from _error_of(state)

    return AsyncRetrying(
        sleep=clock.sleep,
        wait=wait,
        stop=is_last,
        retry=retry_if_exception(lambda error: is_retried(error, policy.retry_refused)),
        before_sleep=hand_over,
        reraise=True,
    )


def _error_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
