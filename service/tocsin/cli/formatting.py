"""How times, sizes and numbers are written: for a person, and for a program."""

from __future__ import annotations

from datetime import MAXYEAR, MINYEAR, timedelta
from typing import TYPE_CHECKING, Final

from tocsin.model import EPOCH, to_rfc3339

if TYPE_CHECKING:
    from tocsin.model import Instant

_STEP: Final = 1024
_ENOUGH: Final = 10


def count(number: int, noun: str) -> str:
    """Write a number with its noun: "1 page", "3 pages"."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def show_bytes(count: int) -> str:
    """Write a number of bytes in the largest unit that it has one of, with a decimal where it has few of it."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < _STEP:
            break
        size, unit = size / _STEP, larger
    return f"{size:.1f} {unit}" if unit != "B" and size < _ENOUGH else f"{size:,.0f} {unit}"


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
