"""Times of the week as people write them: "22:00-07:00", "sat", "mon-fri 18:00-24:00"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MINUTES_OF_DAY: Final = 24 * 60
MINUTES_OF_WEEK: Final = 7 * MINUTES_OF_DAY

_TIMES: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]|24):([0-5]\d)")


def parse_times(entries: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Read times of the week: spans of minutes since Monday 00:00, disjoint, each `(start, end)` with `end` left out.

    A span may end in the next week, so its end may be above the minutes of a week. Times without days hold on every
    day; a time that ends before it begins ends on the next day, listed or not. All week is one span of a week.
    Raises ValueError, whose text is the entry that is none.
    """
    return _merge(span for entry in entries for span in _spans(entry))


def split_entry(entry: str) -> tuple[str, str]:
    """Split an entry into its days and its times, as they are written; empty where it has none of these."""
    words = entry.lower().split()
    times = words.pop() if words and ":" in words[-1] else ""
    days = words.pop() if words else ""
    if words or not (days or times):
        raise ValueError(entry)
    return days, times


def _spans(entry: str) -> Iterator[tuple[int, int]]:
    days, times = split_entry(entry)
    match = _TIMES.fullmatch(times or "00:00-24:00")
    if match is None:
        raise ValueError(entry)
    hour, minute, last_hour, last_minute = map(int, match.groups())
    start, end = hour * 60 + minute, last_hour * 60 + last_minute
    # Equal times may mean nothing or a whole day: both are written otherwise.
    if start == end or end > MINUTES_OF_DAY:
        raise ValueError(entry)
    if end < start:
        end += MINUTES_OF_DAY
    for day in days_of(days or "mon-sun", entry):
        yield day * MINUTES_OF_DAY + start, day * MINUTES_OF_DAY + end


def days_of(text: str, entry: str) -> Iterator[int]:
    """Read days such as "mon-fri,sun" into numbers from Monday on; raises ValueError with the entry."""
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if first not in DAYS or (dash and last not in DAYS):
            raise ValueError(entry)
        here, end = DAYS.index(first), DAYS.index(last or first)
        yield here
        while here != end:
            here = (here + 1) % len(DAYS)
            yield here


def _merge(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Join spans that meet, also over the end of the week."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    # What reaches into the next week may swallow the first spans of this one.
    while len(merged) > 1 and merged[-1][1] >= merged[0][0] + MINUTES_OF_WEEK:
        first = merged.pop(0)
        merged[-1] = merged[-1][0], max(merged[-1][1], first[1] + MINUTES_OF_WEEK)
    if merged and merged[0][1] - merged[0][0] >= MINUTES_OF_WEEK:
        return ((0, MINUTES_OF_WEEK),)
    return tuple(merged)


def is_all_week(spans: Sequence[tuple[int, int]]) -> bool:
    """Tell whether spans of `parse_times` leave no minute of the week."""
    return bool(spans) and spans[0][1] - spans[0][0] >= MINUTES_OF_WEEK
