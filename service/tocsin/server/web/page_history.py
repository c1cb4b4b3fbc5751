"""The history of a page as a picture and as facts: a year of squares, and the habits of its changes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final

from msgspec import Struct

from tocsin.model import EPOCH, MOST_DAYS, ChangeMark, DayMark, DayMarks, Instant
from tocsin.server.web.formatting import to_datetime

# Units of the drawing: the page scales it.
_CELL: Final = 13
_LEFT: Final = 30
_TOP: Final = 14
_MIDDLE: Final = 5.5
_WEEK: Final = 7
# Fewer changes show no habit.
_FEWEST: Final = 4
_US: Final = 1_000_000
_DAY_S: Final = 86_400


class Year(Struct, frozen=True):
    """A year by day: a column a week, a row a weekday.

    weeks    columns that are full; of the last one `days` have begun
    months   (x, number of the month) of the labels
    minor, major, problem  a path each
    counts   days by mark
    """

    weeks: int
    days: int
    months: tuple[tuple[int, int], ...]
    minor: str
    major: str
    problem: str
    minors: int
    majors: int
    problems: int

    @property
    def width(self) -> int:
        """The width of the drawing."""
        return _LEFT + _CELL * (self.weeks + 1)


def draw_year(marks: DayMarks, today: date) -> Year:
    """Draw the year up to a day, in UTC as the marks are; it begins with a Monday."""
    day = (today - EPOCH.date()).days
    weekday = today.weekday()
    count = MOST_DAYS - _WEEK + weekday + 1
    paths: dict[DayMark, list[str]] = {mark: [] for mark in DayMark}
    for place, mark in enumerate(marks.until(day, count)):
        if mark is not DayMark.NOTHING:
            left, top = _LEFT + _CELL * (place // _WEEK), _TOP + _CELL * (place % _WEEK)
            paths[mark].append(_shape(mark, left, top))
    return Year(
        weeks=(count - 1) // _WEEK,
        days=weekday + 1,
        months=tuple(_months(today - timedelta(days=count - 1), today)),
        minor="".join(paths[DayMark.MINOR]),
        major="".join(paths[DayMark.MAJOR]),
        problem="".join(paths[DayMark.PROBLEM]),
        minors=len(paths[DayMark.MINOR]),
        majors=len(paths[DayMark.MAJOR]),
        problems=len(paths[DayMark.PROBLEM]),
    )


def _shape(mark: DayMark, left: int, top: int) -> str:
    if mark is DayMark.PROBLEM:
        return f"M{left + 2} {top + _MIDDLE}h7"
    size = _MIDDLE if mark is DayMark.MAJOR else _MIDDLE - 1
    begin = top + _MIDDLE - size
    return f"M{left + _MIDDLE} {begin:g}l{size} {size}-{size} {size}-{size}-{size}z"


def _months(first: date, last: date) -> list[tuple[int, int]]:
    """Name each month above the week in which it begins; one that begins at the edge has no room."""
    found = []
    month = first.replace(day=1)
    while (month := (month + timedelta(days=31)).replace(day=1)) <= last - timedelta(days=2 * _WEEK):
        found.append((_LEFT + _CELL * ((month - first).days // _WEEK), month.month))
    return found


class ChangeHabits(Struct, frozen=True):
    """The habits of a page's changes within a year.

    weekday     0 to 6, on which most changes were found; None where there is no such day
    hour        in which most changes of that day were found
    quiet_days  the longest time without a change, and `quiet_until` when it ended
    is_cut      there were more changes than were looked at
    """

    majors: int = 0
    minors: int = 0
    bases: tuple[tuple[str, int], ...] = ()
    weekday: int | None = None
    hour: int | None = None
    quiet_days: int = 0
    quiet_until: Instant | None = None
    is_cut: bool = False


def find_habits(marks: Sequence[ChangeMark], zone: tzinfo, *, is_cut: bool = False) -> ChangeHabits:
    """Find the habits in changes, the latest first."""
    if not marks:
        return ChangeHabits()
    outcomes = Counter(mark.outcome for mark in marks)
    bases = Counter(mark.basis for mark in marks)
    gaps = [(later.at - earlier.at, later.at) for later, earlier in pairwise(marks)]
    longest, until = max(gaps, default=(0, None))
    weekday, hour = _usual(marks, zone)
    return ChangeHabits(
        outcomes["major"],
        outcomes["minor"],
        tuple((basis, bases[basis]) for basis in ("declared", "inferred", "contradicted") if bases[basis]),
        weekday,
        hour,
        longest // (_DAY_S * _US),
        until,
        is_cut,
    )


def _usual(marks: Sequence[ChangeMark], zone: tzinfo) -> tuple[int | None, int | None]:
    """Find the weekday and the hour of more than half of the changes."""
    times = [at.astimezone(zone) for mark in marks if (at := to_datetime(mark.at)) is not None]
    days = Counter(at.weekday() for at in times)
    weekday, number = days.most_common(1)[0] if days else (0, 0)
    if number < _FEWEST or 2 * number <= len(times):
        return None, None
    hour, of_hour = Counter(at.hour for at in times if at.weekday() == weekday).most_common(1)[0]
    return weekday, hour if 2 * of_hour > number else None


def day_in(at: Instant) -> date:
    """Return the day of an instant in UTC."""
    return (to_datetime(at) or datetime.min.replace(tzinfo=UTC)).date()
