# ruff: noqa: RUF001 - some signs are of other scripts
"""Lines that show the date of the visit, or count days: what moves with time alone is no edit.

No line is judged by itself. A date of today may be that of an article, which stays; only where two versions of a line
differ in their dates alone, and each is the day on which that version was received, is it a clock. A count of days must
differ by as many days as lie between both.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from xxhash import xxh3_64_intdigest

from tocsin.spec.words import read_lists, to_words

# The times between which a page was received; equal for a check.
Received: TypeAlias = tuple[datetime, datetime]

_LISTS: Final = read_lists("dates")
# The numbers of the months that a name may mean, in lower case.
MONTHS: Final[dict[str, set[int]]] = {}
for _number, _names in _LISTS["months"].items():
    for _name in _names.split():
        MONTHS.setdefault(_name, set()).add(int(_number))
_WEEKDAYS: Final = to_words(_LISTS["weekdays"])
_DAYS: Final = to_words(_LISTS["days"])

_FIGURE: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"[^\W\d_]+")
_WORD_BEFORE: Final = re.compile(r"([^\W\d_]+)[^\w\n]{0,3}$")
_WORD_BEHIND: Final = re.compile(r"[^\W\d]{0,2}[^\w\n]{1,2}(?:d[eo] |d[’'] ?|of )?([^\W\d_]+)")
_CLOCK_BEFORE: Final = re.compile(r"\d{1,2}[:.h]\d\d(?:[:.]\d\d)?\D{0,6}$")
_CLOCK_BEHIND: Final = re.compile(r"\D{0,6}?\d{1,2}[:.h]\d\d(?:[:.]\d\d)?(?!\d)(?: ?[ap]\.?m\b\.?)?", re.IGNORECASE)
_WEEKDAY_SIGNS: Final = re.compile(
    r"(?:星期|周|週)[一二三四五六日天]|[月火水木金土日]曜日?|[（(][月火水木金土日월화수목금토일][)）]"
)
_COUNT: Final = re.compile(r"(?<![\d.,:/-])(\d{1,5})\s?([^\W\d_]+)")
_DAY_SIGNS: Final = frozenset({"天", "日間", "일"})
# Without one of these a line counts no days; to look for all counts takes twice as long.
_OF_DAYS: Final = re.compile(rf"\d\s?(?:{'|'.join(sorted(_DAYS | _DAY_SIGNS))})")

# Letters of a line that is looked at, and its figures.
LONGEST: Final = 400
_LONGEST_COUNT: Final = 160
_MOST_FIGURES: Final = 12
_LONGEST_GAP: Final = 8
_LONGEST_MONTH: Final = 20
_MOST_DATES: Final = 3
_YEAR: Final = 4
# A page may have been made a day before, and be read where the next day began.
_BEFORE: Final = timedelta(hours=24)
_AHEAD: Final = timedelta(hours=14)
_EPOCH: Final = date(1970, 1, 1)
_NO_COUNT: Final = 0xFFFF
_DIGEST: Final = 0xFFFF
# Days between two versions where the time of one is not known.
_MOST_APART: Final = 31


class Clock(NamedTuple):
    """What a line shows that moves with time.

    rest    digest of all else in the line, 16 bits
    number  of days that it counts; 65,535 for a date
    day     on which it was received, since 1970; 0 where that is not known
    """

    rest: int
    number: int
    day: int


class _Days(NamedTuple):
    """The days that a line may show: their figures, a pattern of them as figures of their own, and years and months.

    A line that shows one of them has its figures; to look for these takes a fifth of the time of the pattern.
    """

    figures: tuple[str, ...]
    pattern: re.Pattern[str]
    by_day: dict[int, list[tuple[int, int]]]


def find_clock(text: str, received: Received, *, is_sentence: bool) -> Clock | None:
    """Find what moves with time in a line; None for a line in which nothing does, as far as its form tells."""
    days, day = _days_of(received)
    # A list is made in half of the time of a generator.
    has_figures = True in [figures in text for figures in days.figures]
    if has_figures and days.pattern.search(text) is not None and (rest := _without_dates(text, days)) is not None:
        return Clock(_digest_of(rest), _NO_COUNT, day)
    if is_sentence or len(text) > _LONGEST_COUNT or _OF_DAYS.search(text.lower()) is None:
        return None
    counts = [found for found in _COUNT.finditer(text) if found[2].lower() in _DAYS or found[2][:2] in _DAY_SIGNS]
    if len(counts) != 1:
        return None
    rest = text[: counts[0].start()] + text[counts[0].end() :]
    return Clock(_digest_of(rest), int(counts[0][1]) & _DIGEST, day)


def is_moved(was: Clock, now: Clock) -> bool:
    """Return whether two versions of a line differ by the time between them alone."""
    if was.rest != now.rest or (was.number == _NO_COUNT) != (now.number == _NO_COUNT):
        return False
    apart = abs(now.day - was.day) if now.day and was.day else _MOST_APART
    return now.number == _NO_COUNT or abs(now.number - was.number) <= apart + 1


def _digest_of(rest: str) -> int:
    kept = _WEEKDAY_SIGNS.sub("", rest)
    kept = _WORD.sub(lambda word: "" if word[0].lower() in _WEEKDAYS else word[0], kept)
    return xxh3_64_intdigest("".join(kept.split()).encode("utf-8", "replace")) & _DIGEST


# All lines of a page are received at once.
@lru_cache(maxsize=4)
def _days_of(received: Received) -> tuple[_Days, int]:
    start, end = received
    days = _days_between((start - _BEFORE).date(), (end + _AHEAD).date())
    return days, (end.date() - _EPOCH).days if start == end else 0


@lru_cache(maxsize=64)
def _days_between(first: date, last: date) -> _Days:
    by_day: dict[int, list[tuple[int, int]]] = {}
    for number in range((last - first).days + 1):
        each = first + timedelta(days=number)
        by_day.setdefault(each.day, []).append((each.year, each.month))
    return _Days(tuple(map(str, by_day)), re.compile(rf"(?<!\d)0?(?:{'|'.join(map(str, by_day))})(?!\d)"), by_day)


def _without_dates(text: str, days: _Days) -> str | None:
    """Leave out of a line the dates that it may show of the visit, with their times; None where it shows none."""
    left = text
    for _ in range(_MOST_DATES):
        span = _find_date(left, days)
        if span is None:
            break
        start, end = span
        if (clock := _CLOCK_BEHIND.match(left, end)) is not None:
            end = clock.end()
        elif (clock := _CLOCK_BEFORE.search(left[:start])) is not None:
            start = clock.start()
        left = f"{left[:start]}\0{left[end:]}"
    return None if left == text else left


def _find_date(text: str, days: _Days) -> tuple[int, int] | None:
    """Find a date that is one of these days: three figures, two and the name of a month, or a day and its name."""
    figures = list(_FIGURE.finditer(text))[:_MOST_FIGURES]
    for index, figure in enumerate(figures):
        behind = figures[index + 1] if index + 1 < len(figures) else None
        if behind is not None and index + 2 < len(figures) and _is_date(text, figures[index : index + 3], days):
            return figure.start(), figures[index + 2].end()
        months = days.by_day.get(int(figure[0])) if len(figure[0]) < _YEAR else None
        if months is None:
            if (
                behind is not None
                and text[figure.end() : behind.start()].strip() in {"月", "월"}
                and any(month == int(figure[0]) for _, month in days.by_day.get(int(behind[0][:3]), ()))
            ):
                return figure.start(), behind.end()
            continue
        if (span := _with_month(text, figure, behind, months)) is not None:
            return span
    return None


def _is_date(text: str, figures: list[re.Match[str]], days: _Days) -> bool:
    """Return whether three figures in a row are a day, a month and a year, as the order of some country has them."""
    first, second, third = figures
    gaps = (second.start() - first.end(), third.start() - second.end())
    if min(gaps) < 1 or max(gaps) > _LONGEST_GAP or ":" in text[first.end() : third.start()]:
        return False
    a, b, c = int(first[0][:_YEAR]), int(second[0][:_YEAR]), int(third[0][:_YEAR])
    return any(
        (year if year >= 100 else 2000 + year, month) in days.by_day.get(day, ())  # noqa: PLR2004 - of two digits
        for year, month, day in ((a, b, c), (c, b, a), (c, a, b))
    )


def _with_month(
    text: str, figure: re.Match[str], behind: re.Match[str] | None, months: list[tuple[int, int]]
) -> tuple[int, int] | None:
    """Find the name of the month beside a day; one that is in no list counts where a year of four digits follows."""
    before = _WORD_BEFORE.search(text, max(0, figure.start() - _LONGEST_MONTH), figure.start())
    if behind is not None and len(behind[0]) == _YEAR:
        between = text[figure.end() : behind.start()]
        fitting = {month for year, month in months if year == int(behind[0])}
        if fitting and len(between) <= _LONGEST_MONTH:
            words = _WORD.findall(between)
            if words and _may_be(words, fitting):
                return figure.start(), behind.end()
            if not words and before is not None and _may_be([before[1]], fitting):
                return before.start(), behind.end()
        elif not fitting and len(between) <= _LONGEST_MONTH:
            return None  # of another year
    fitting = {month for _, month in months}
    if before is not None and not fitting.isdisjoint(MONTHS.get(before[1].lower(), ())):
        return before.start(), figure.end()
    after = _WORD_BEHIND.match(text, figure.end())
    if after is not None and not fitting.isdisjoint(MONTHS.get(after[1].lower(), ())):
        return figure.start(), after.end()
    return None


def _may_be(words: list[str], months: set[int]) -> bool:
    """Return whether words may name one of these months: none is known as the name of others only."""
    known = [MONTHS[word.lower()] for word in words if word.lower() in MONTHS]
    return all(not months.isdisjoint(numbers) for numbers in known)
