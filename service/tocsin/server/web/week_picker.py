"""Days and times as a form has them: of digests, which settings write as cron, and of quiet hours. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct

from tocsin.configuration.convert import parse_span
from tocsin.configuration.week import DAYS, days_of, split_entry
from tocsin.server.web.formatting import ENGLISH
from tocsin.wording.words import Words

_CRON_FIELDS: Final = 5
_MOST_TIMES: Final = 24
_TIME: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_NUMBERS: Final = re.compile(r"\d{1,2}(?:-\d{1,2})?(?:,\d{1,2}(?:-\d{1,2})?)*")
# Cron counts from Sunday, which is 0 and 7.
_CRON_DAYS: Final = ("sun", *DAYS)
_WEEKDAYS: Final = DAYS[:5]


class DigestChoice(Struct, frozen=True):
    """When a digest is sent.

    when   once: there is none; wait: a time after its first alert; times: on these days; cron: what else cron can say
    wait   a duration
    days   such as "mon"; none: every day
    times  such as "08:00"
    """

    when: Literal["once", "wait", "times", "cron"]
    wait: str = ""
    days: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    cron: str = ""


class QuietRow(Struct, frozen=True):
    """Quiet times: on these days (none: every day) from a time until another (none: all day)."""

    days: tuple[str, ...] = ()
    begin: str = ""
    end: str = ""


def read_digest(text: str) -> DigestChoice:
    """Read the setting `digest`."""
    if not text:
        return DigestChoice("once")
    try:
        parse_span(text)
    except ValueError:
        return _read_cron(text) or DigestChoice("cron", cron=text)
    return DigestChoice("wait", wait=text)


def _read_cron(text: str) -> DigestChoice | None:
    fields = text.lower().split()
    if len(fields) != _CRON_FIELDS or fields[2:4] != ["*", "*"]:
        return None
    minutes, hours = _numbers(fields[0], 59), _numbers(fields[1], 23)
    days = "mon-sun" if fields[4] == "*" else re.sub(r"\b[0-7]\b", lambda found: _CRON_DAYS[int(found[0])], fields[4])
    try:
        found = sorted(set(days_of(days, text)))
    except ValueError:
        return None
    if not 0 < len(minutes) * len(hours) <= _MOST_TIMES:
        return None
    named = tuple(DAYS[day] for day in found) if len(found) < len(DAYS) else ()
    times = tuple(f"{hour:02}:{minute:02}" for hour in hours for minute in minutes)
    return DigestChoice("times", days=named, times=times)


def _numbers(text: str, most: int) -> list[int]:
    """Read a field of cron that lists numbers; empty for any other."""
    if not _NUMBERS.fullmatch(text):
        return []
    spans = [part.partition("-") for part in text.split(",")]
    found = {number for first, _, last in spans for number in range(int(first), int(last or first) + 1)}
    return sorted(found) if found and max(found) <= most else []


def write_digest(choice: DigestChoice, words: Words = ENGLISH) -> str:
    """Write the setting `digest`. Raises ValueError with the mend."""
    match choice.when:
        case "once":
            return ""
        case "wait" | "cron":
            text = choice.wait if choice.when == "wait" else choice.cron
            if not text:
                raise ValueError(words.say("routes.wrong_digest"))
            return text
    if not choice.times:
        raise ValueError(words.say("routes.wrong_no_time"))
    times = [_TIME.fullmatch(each) for each in choice.times]
    wrong = [each for each, found in zip(choice.times, times, strict=True) if found is None]
    if wrong:
        raise ValueError(words.say("routes.wrong_time", found=words.quote(wrong[0][:20])))
    pairs = {(int(each[1]), int(each[2])) for each in times if each is not None}
    hours, minutes = sorted({hour for hour, _ in pairs}), sorted({minute for _, minute in pairs})
    if len(pairs) < len(hours) * len(minutes):
        raise ValueError(words.say("routes.wrong_minutes"))
    return f"{_listed(minutes)} {_listed(hours)} * * {_days(choice.days) or '*'}"


def _listed(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


def _days(days: Sequence[str]) -> str:
    """Write days, as cron and quiet hours have them; empty for every day."""
    chosen = tuple(day for day in DAYS if day in days)
    if chosen == _WEEKDAYS:
        return "mon-fri"
    return ",".join(chosen) if len(chosen) < len(DAYS) else ""


def read_quiet(entries: Iterable[str]) -> tuple[QuietRow, ...]:
    """Read the setting `quiet`; days with the same times share a row. Raises ValueError for an entry that is none."""
    rows: dict[tuple[str, bool], set[int]] = {}
    for entry in entries:
        days, times = split_entry(entry)
        rows.setdefault((times, bool(days)), set()).update(days_of(days, entry) if days else ())
    found = []
    for (times, _), numbers in rows.items():
        begin, _, end = times.partition("-")
        found.append(QuietRow(tuple(DAYS[day] for day in sorted(numbers)), begin, end))
    return tuple(found)


def write_quiet(rows: Iterable[QuietRow], words: Words = ENGLISH) -> list[str]:
    """Write the setting `quiet`; an empty row is left out. Raises ValueError with the mend."""
    entries = []
    for row in rows:
        if bool(row.begin) != bool(row.end):
            raise ValueError(words.say("routes.wrong_ends"))
        times = f"{_padded(row.begin)}-{_padded(row.end)}" if row.begin else ""
        entry = " ".join(filter(None, (_days(row.days), times)))
        if entry or row.days:
            # All seven days without times are all week, which the settings refuse.
            entries.append(entry or "mon-sun")
    return entries


def _padded(time: str) -> str:
    return time.rjust(5, "0")


# As sentences --------------------------------------------------------------------------------------------------------


def tell_digest(digest: str, group_by: Sequence[str] = (), zone: str = "", words: Words = ENGLISH) -> str:
    """Tell when a digest is sent: "one digest each weekday at 08:00 Europe/Berlin"."""
    choice = read_digest(digest)
    if choice.when == "once":
        return words.say("told.at_once")
    by = _and([words.say(f"routes.by_{each}") for each in group_by], words)
    one = words.say("told.digests", by=by) if by else words.say("told.digest")
    where = f" {zone}" if zone else ""
    if choice.when == "wait":
        return words.say("told.after", one=one, span=choice.wait)
    if choice.when == "cron":
        return words.say("told.cron", one=one, cron=choice.cron, zone=where)
    if tuple(choice.days) == _WEEKDAYS:
        days = words.say("told.workday")
    else:
        days = _and([words.weekday(DAYS.index(day), is_long=True) for day in choice.days], words)
    times = _and(choice.times, words)
    return words.say("told.times", one=one, days=days or words.say("told.day"), times=times, zone=where)


def tell_quiet(entries: Sequence[str], words: Words = ENGLISH) -> str:
    """Tell quiet hours: "between 22:00 and 07:00, or on Saturdays and Sundays"."""
    told = []
    try:
        rows = read_quiet(entries)
    except ValueError:
        # A newer version may write more than this one reads.
        return ", ".join(entries)
    names = words.say("page.weekdays").split()
    for row in rows:
        days = words.say("told.workdays") if tuple(row.days) == _WEEKDAYS else ""
        days = days or _and([names[DAYS.index(day)] for day in row.days], words)
        when = [words.say("told.on", days=days)] if days else []
        when += [words.say("told.between", begin=row.begin, end=row.end)] if row.begin else []
        told.append(" ".join(when) or words.say("told.every_day"))
    return f"{words.say('told.or_else')} ".join(told)


def _and(texts: Sequence[str], words: Words) -> str:
    if len(texts) < 2:  # noqa: PLR2004 - what "and" joins
        return "".join(texts)
    return words.say("format.and", first=", ".join(texts[:-1]), second=texts[-1])
