# ruff: noqa: RUF001 - some signs are dashes
"""Dates that all move together: the same instants, written in another time zone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from tocsin.spec.signals.clocks import MONTHS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_Known = TypeVar("_Known")
_Span = tuple[int, int]

_FIGURE: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"[^\W\d_]+")
_TIME: Final = re.compile(r"(?<![\d:])\d\d?:[0-5]\d(?![\d:])")
_TWELVE_HOURS: Final = re.compile(r"\d ?[ap]\.?m\b", re.IGNORECASE)
_BETWEEN_FIGURES: Final = re.compile(r"[./–-]|\. |(?:年|년|/) ?")

# Letters of a line that is looked at, between a day and its year, and between a month and its day.
_LONGEST: Final = 120
_LONGEST_GAP: Final = 20
_LONGEST_MONTH: Final = 4
_YEAR: Final = 4
_DAY: Final = timedelta(days=1)
# From one end of the world to the other, in the steps in which zones differ.
_STEPS: Final = tuple(timedelta(minutes=30 * sign * number) for number in range(1, 53) for sign in (1, -1))
# Lines that are looked at, and those of them that are tried with every step.
_MOST_LINES: Final = 20
_MOST_TRIED: Final = 3
# Different dates that must move together: one that is corrected may be in two lines.
_FEWEST: Final = 2


class DatedLine(NamedTuple):
    """A short line with one date, read in one order of its figures.

    at                in any zone
    day, month, year  where these are; a month is a figure or a name
    time              where its hours and minutes are; None for a date alone
    """

    text: str
    at: datetime
    day: _Span
    month: _Span
    year: _Span
    time: _Span | None

    def move(self, step: timedelta) -> Iterator[str]:
        """Write the line with its date moved, in each way in which it may be written."""
        to = self.at + step
        if self.time is None and step % _DAY:
            return
        choices: list[tuple[_Span, list[str]]] = [
            (self.day, self._figures(self.day, to.day)),
            (self.month, self._months(to.month)),
            (self.year, [str(to.year)]),
        ]
        if self.time is not None:
            hours = self._figures((self.time[0], self.text.index(":", self.time[0])), to.hour)
            choices.append((self.time, [f"{hour}:{to.minute:02}" for hour in hours]))
        choices.sort()
        for written in product(*[choice for _, choice in choices]):
            end = 0
            pieces: list[str] = []
            for ((start, after), _), each in zip(choices, written, strict=True):
                pieces += (self.text[end:start], each)
                end = after
            yield "".join(pieces) + self.text[end:]

    def _figures(self, span: _Span, number: int) -> list[str]:
        """Write a number with a leading zero or not, as the figure in its place tells."""
        written = self.text[slice(*span)]
        if len(written) == 1:
            return [str(number)]
        return [f"{number:02}"] if written[0] == "0" or number >= 10 else [f"{number:02}", str(number)]  # noqa: PLR2004 - two digits

    def _months(self, number: int) -> list[str]:
        written = self.text[slice(*self.month)]
        if number == self.at.month:
            return [written]
        if written.isdecimal():
            return self._figures(self.month, number)
        names = [name for name, numbers in MONTHS.items() if number in numbers]
        return [name.title() for name in names] if written[0].isupper() else names


def find_moved(lines: Sequence[str], before: datetime, find: Callable[[int, str], _Known | None]) -> dict[int, _Known]:
    """Find the lines whose dates all moved by the same time since they were written before, by their number.

    before  no later date counts: what is still to come may be put off by a day
    find    returns the earlier line of a number that was written so; None if there was none
    """
    dated = [(number, line) for number, text in enumerate(lines[:_MOST_LINES]) for line in _find_dates(text, before)]
    for tried, line in dated[:_MOST_TRIED] if len(dated) >= _FEWEST else ():
        for step in _STEPS:
            # Not into another month, which may have any of a hundred names.
            if (line.at + step).month != line.at.month or not _is_found(find, tried, line, step):
                continue
            moved = {number: (known, each.at) for number, each in dated
                     for text in each.move(step) if (known := find(number, text)) is not None}  # fmt: skip
            if len({at for _, at in moved.values()}) >= _FEWEST:
                return {number: known for number, (known, _) in moved.items()}
    return {}


def _is_found(find: Callable[[int, str], object], number: int, line: DatedLine, step: timedelta) -> bool:
    return any(find(number, text) is not None for text in line.move(step))


def _find_dates(text: str, before: datetime) -> Iterator[DatedLine]:
    """Read the one date of a line with its year, in each order of figures; nothing for more dates, or a later one."""
    if len(text) > _LONGEST:
        return
    figures = list(_FIGURE.finditer(text))
    years = [index for index, figure in enumerate(figures) if len(figure[0]) == _YEAR and figure[0][:2] in {"19", "20"}]
    times = list(_TIME.finditer(text))
    if len(years) != 1 or len(times) > 1 or _TWELVE_HOURS.search(text) is not None:
        return
    time = times[0].span() if times else None
    hours, minutes = map(int, times[0][0].split(":")) if times else (0, 0)
    for day, month, number in _find_days(text, figures, years[0]):
        year = figures[years[0]]
        try:
            at = datetime(int(year[0]), number, int(day[0]), hours, minutes, tzinfo=before.tzinfo)
        except ValueError:
            continue
        if at < before:
            yield DatedLine(text, at, day.span(), month.span(), year.span(), time)


def _find_days(
    text: str, figures: Sequence[re.Match[str]], at: int
) -> Iterator[tuple[re.Match[str], re.Match[str], int]]:
    """Find the day and the month, by its figure or its name, beside a year; with the month's number."""
    year = figures[at]
    if at > 1 and _are_joined(text, figures[at - 2 : at + 1]):
        first, second = figures[at - 2 : at]
        yield first, second, int(second[0])
        yield second, first, int(first[0])
        return
    if _are_joined(text, figures[at : at + 3]):
        yield figures[at + 2], figures[at + 1], int(figures[at + 1][0])
        return
    for day in figures[max(0, at - 1) : at + 2]:
        start, end = min(day.end(), year.end()), max(day.start(), year.start())
        if day is year or end - start > _LONGEST_GAP:
            continue
        # Between both, or before the day: `17 December 2020`, `December 17, 2020`.
        for word in _WORD.finditer(text, max(0, min(day.start(), year.start()) - _LONGEST_GAP), end):
            if word.end() < start and day.start() - word.end() > _LONGEST_MONTH:
                continue
            for number in sorted(MONTHS.get(word[0].lower(), ())):
                yield day, word, number


def _are_joined(text: str, figures: Sequence[re.Match[str]]) -> bool:
    """Return whether three figures are those of one date, by the signs between them."""
    if len(figures) != 3:  # noqa: PLR2004 - day, month, year
        return False
    first, second, third = figures
    return all(
        _BETWEEN_FIGURES.fullmatch(text[one.end() : other.start()]) is not None
        or text[one.end() : other.start()].strip() in {"月", "월"}
        for one, other in ((first, second), (second, third))
    )
