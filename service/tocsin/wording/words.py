"""The texts of a language, and how it writes numbers, days and spans."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from tocsin.model import BoundedCount
from tocsin.spec.infrastructure.unsafe import UNSAFE_IN_LINE
from tocsin.wording.sentences import SentenceKind, sentences_of

Language: TypeAlias = Literal["en", "de"]

LANGUAGES: Final[tuple[Language, ...]] = ("en", "de")
_FOLDER: Final = Path(__file__).parent
_DAY: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d))?")
_MONTHS: Final = 12
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_DAY_S: Final = 86_400


class Words:
    """The texts of one language.

    texts  by "section.key"; a text with plural forms is a dict
    """

    def __init__(self, language: str, texts: dict[str, Any]) -> None:
        self.language = language
        self._texts = texts
        self._months: list[str] = texts["format.months"].split()
        self._months_short: list[str] = texts["format.months_short"].split()
        self._weekdays: list[str] = texts["format.weekdays"].split()
        self._weekdays_short: list[str] = texts["format.weekdays_short"].split()
        self.articles = frozenset(texts["format.articles"].split())

    def __contains__(self, key: str) -> bool:
        """Tell whether there is a text of this key."""
        return key in self._texts

    def say(self, key: str, **values: object) -> str:
        """Give the text with its places filled in; `n` also selects the plural form.

        `n` and numbers with a part are written as in the language; other whole numbers, such as years, as they are.
        """
        text, number = self._texts[key], values.get("n")
        values = {name: self.figure(value) if isinstance(value, float) else value for name, value in values.items()}
        if isinstance(text, dict):
            text = text["one" if number in (1, BoundedCount(1)) else "other"]
        if isinstance(number, int | BoundedCount):
            values["n"] = self.number(number)
        return str(text.format_map(values))

    def retell(self, text: str, kind: SentenceKind = "errors") -> str:
        """Say what the code says in English: an error, a reason or a hint; what is not known stays English."""
        return sentences_of(self.language, kind).retell(text)

    def section(self, name: str) -> dict[str, str]:
        """Return the texts of a section without plural forms, by key."""
        begin = f"{name}."
        return {key.removeprefix(begin): text for key, text in self._texts.items() if key.startswith(begin)}

    def quote(self, text: str) -> str:
        """Write a text of a page in quotation marks."""
        return self.say("format.quoted", text=text)

    def number(self, number: int | BoundedCount) -> str:
        """Write a whole number, "1,845"; of a lower bound "1,000+"."""
        if isinstance(number, BoundedCount):
            return f"{self.number(number.number)}{'' if number.is_exact else '+'}"
        return f"{number:,}".replace(",", self._texts["format.thousands"])

    def decimal(self, number: float) -> str:
        """Write a number with one decimal place: 14.2."""
        whole, _, part = f"{number:.1f}".partition(".")
        return f"{self.number(int(whole))}{self._texts['format.decimal']}{part}"

    def figure(self, number: float) -> str:
        """Write a number with at most one decimal place: 14.2, or 14."""
        return self.number(round(number)) if f"{number:.1f}".endswith(".0") else self.decimal(number)

    def weekday(self, number: int, *, is_long: bool = False) -> str:
        """Name a day of the week; 0 is Monday."""
        return (self._weekdays if is_long else self._weekdays_short)[number]

    def short_date(self, year: int, month: int, day: int, *, with_year: bool) -> str:
        """Write a date for a list: 18 Nov, or 18 Nov 2025."""
        key = "format.full_day" if with_year else "format.day"
        return self.say(key, day=day, month=self._months_short[month - 1], year=year)

    def long_date(self, year: int, month: int, day: int, *, with_year: bool) -> str:
        """Write a date as a title: 18 November, or 18 November 2025."""
        key = "format.full_day" if with_year else "format.day"
        return self.say(key, day=day, month=self._months[month - 1], year=year)

    def span(self, seconds: int) -> str:
        """Write a span in its two largest units: 2 h 5 min."""
        if seconds < _MINUTE_S:
            return self.say("format.seconds", value=seconds)
        if seconds < _HOUR_S:
            return self.say("format.minutes", value=seconds // _MINUTE_S)
        if seconds < _DAY_S:
            hours, minutes = seconds // _HOUR_S, seconds % _HOUR_S // _MINUTE_S
            shown = self.say("format.hours", value=hours)
            return f"{shown} {self.say('format.minutes', value=minutes)}" if minutes else shown
        return self.say("format.days_long", n=seconds // _DAY_S)

    def day(self, text: str, now: str = "") -> str | None:
        """Write the day, and the time if it has one, of an ISO 8601 text; None if it is none.

        now  another such text: the year is left out where both have the same
        """
        found = _read_day(text)
        return None if found is None else self._with_time(found, now)

    def moved(self, previous: str, latest: str, now: str) -> str | None:
        """Write from when to when something moved: "3 to 4 December"; None if one is no day."""
        was, becomes = _read_day(previous), _read_day(latest)
        if was is None or becomes is None:
            return None
        if was[:3] == becomes[:3] and was[3] and becomes[3]:
            return self.say("format.times", first=was[3], second=becomes[3])
        if was[:2] == becomes[:2] and was[3] == becomes[3]:
            month = self._months[was[1] - 1] + (f" {was[0]}" if str(was[0]) != now[:4] else "")
            return self.say("format.days", first=was[2], second=becomes[2], month=month)
        if was[3] == becomes[3]:
            was, becomes = (*was[:3], ""), (*becomes[:3], "")
        return self.say("format.months_days", first=self._with_time(was, now), second=self._with_time(becomes, now))

    def _with_time(self, found: tuple[int, int, int, str], now: str) -> str:
        year, month, day, time = found
        key = "format.day" if str(year) == now[:4] else "format.full_day"
        shown = self.say(key, day=day, month=self._months[month - 1], year=year)
        return self.say("format.at_time", day=shown, time=time) if time else shown


def _read_day(text: str) -> tuple[int, int, int, str] | None:
    found = _DAY.match(text)
    if found is None or not 1 <= int(found[2]) <= _MONTHS:
        return None
    return int(found[1]), int(found[2]), int(found[3]), found[4] or ""


@cache
def words_of(language: str) -> Words:
    """Read the texts of a language, once; of one that there is not, English."""
    known = language if language in LANGUAGES else LANGUAGES[0]
    file = _FOLDER / f"{known}.toml"
    sections = tomllib.loads(file.read_text("utf-8"))
    return Words(known, {f"{name}.{key}": text for name, texts in sections.items() for key, text in texts.items()})


def visible(text: str) -> str:
    """Show control characters and changes of direction as escapes, so that they cannot act on what is around them."""
    return UNSAFE_IN_LINE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def cut(text: str, most: int) -> str:
    """Cut a text to this many letters, at the end of a word if there is one in its second half."""
    line = " ".join(text[: 4 * most].split())
    if len(line) <= most and len(text) <= 4 * most:
        return line
    kept = line[: most - 1]
    at = kept.rfind(" ")
    return f"{(kept[:at] if at > most // 2 else kept).rstrip(' ,;:')}…"
