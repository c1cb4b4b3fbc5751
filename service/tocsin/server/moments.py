"""Future times as users write them. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from tocsin.configuration import parse_span
from tocsin.model import EPOCH, Instant

_MICROSECOND: Final = timedelta(microseconds=1)
_FURTHEST: Final = timedelta(days=3650)


def read_moment(text: str, now: Instant, zone: tzinfo | None = None) -> Instant:
    """Parse a future time: "2026-01-31T18:00", or "6h" from now.

    zone  of times without an offset; None: the offset is required
    Raises ValueError, whose text names the mend.
    """
    at = _after(text, now)
    if at is None:
        at = _on(text, zone)
    if at is None:
        example = "2026-01-31 18:00" if zone is not None else "2026-01-31T17:00:00Z"
        raise ValueError(f'this is no time: write one such as "{example}", or "6h" for six hours from now')
    if at < now:
        raise ValueError("this time has passed; name one to come")
    if at > now + _FURTHEST // _MICROSECOND:
        raise ValueError(f"this is too far; name a time within {_FURTHEST.days:,} days")
    return at


def _after(text: str, now: Instant) -> Instant | None:
    try:
        return now + parse_span(text) // _MICROSECOND
    except ValueError:
        return None


def _on(text: str, zone: tzinfo | None) -> Instant | None:
    try:
        read = datetime.fromisoformat(text)
        if read.tzinfo is None and zone is None:
            return None
        there = read if read.tzinfo is not None else read.replace(tzinfo=zone)
        return (there.astimezone(UTC) - EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return None
