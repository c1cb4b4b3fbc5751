"""Instants as people read and write them: local on a terminal, RFC 3339 in UTC for programs."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from tocsin.configuration import parse_span
from tocsin.errors import UsageError
from tocsin.model import EPOCH, to_rfc3339

if TYPE_CHECKING:
    from tocsin.model import Instant

_MICROSECOND: Final = timedelta(microseconds=1)
_FURTHEST: Final = timedelta(days=3650)
"""Beyond it lies no time that anybody means."""


def show_time(at: Instant | None) -> str | None:
    """Write an instant for a person: local time, to the second; UTC where the calendar has no local time for it."""
    if at is None:
        return None
    try:
        there = EPOCH + timedelta(microseconds=at)
    except OverflowError:
        return f"beyond the year {MAXYEAR if at > 0 else MINYEAR}"
    try:
        there = there.astimezone()
    except (OverflowError, ValueError, OSError):
        return f"{there:%Y-%m-%d %H:%M:%S} UTC"
    return there.strftime("%Y-%m-%d %H:%M:%S")


def json_time(at: Instant | None) -> str | None:
    """Write an instant for a program."""
    return None if at is None else to_rfc3339(at)


def parse_time(text: str, *, now: Instant, option: str) -> Instant:
    """Read a time to come: an ISO date and time (local, where no offset stands), or a duration from now.

    Raises UsageError, also for a time that has passed, or that is too far.
    """
    at = _from_span(text, now) or _from_date(text)
    if at is None:
        mend = 'write a time such as "2026-01-31 18:00", "2026-01-31T17:00:00Z", or "6h" from now'
        raise UsageError(f"{option}: {text!r} is no time; {mend}")
    if at < now:
        raise UsageError(f"{option}: {text!r} has passed; name a time to come")
    if at > now + _FURTHEST // _MICROSECOND:
        raise UsageError(f"{option}: {text!r} is too far; name a time within {_FURTHEST.days} days")
    return at


def parse_past(text: str, *, option: str) -> timedelta:
    """Read how long ago something was, as a duration.

    Raises UsageError, also for one that reaches too far back.
    """
    try:
        span = parse_span(text)
    except ValueError as exc:
        raise UsageError(f'{option}: {text!r} is no duration; write one such as "90d"') from exc
    if span > _FURTHEST:
        raise UsageError(f"{option}: {text!r} is too long; give at most {_FURTHEST.days}d")
    return span


def parse_moment(text: str, *, now: Instant, option: str) -> Instant:
    """Read a moment that has passed: an ISO date, perhaps with a time (local, where no offset stands), or how long ago.

    Raises UsageError for what is none.
    """
    at = _from_date(text)
    if at is None:
        try:
            return now - parse_past(text, option=option) // _MICROSECOND
        except UsageError as exc:
            mend = 'write one such as "2026-01-31", "2026-01-31T17:00:00Z", or "7d" for a week ago'
            raise UsageError(f"{option}: {text!r} is no time; {mend}") from exc
    return at


def _from_span(text: str, now: Instant) -> Instant | None:
    try:
        return now + parse_span(text) // _MICROSECOND
    except ValueError:
        return None


def _from_date(text: str) -> Instant | None:
    try:
        # Without an offset this takes the machine's time zone, as a person at a terminal means it.
        return (datetime.fromisoformat(text).astimezone(UTC) - EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None
