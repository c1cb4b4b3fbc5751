"""Formatting of values as text and HTML: times, sizes, numbers, URLs, and texts cut to a size. Pure.

Numbers, spans and times are written as the reader's language does (`Words`), in English where none is given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from typing import Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from markupsafe import Markup, escape

from tocsin.model import EPOCH, Instant
from tocsin.spec.infrastructure.unsafe import UNSAFE_IN_TEXT, safe_text
from tocsin.wording.words import LANGUAGES, Words, words_of

ENGLISH: Final = words_of(LANGUAGES[0])
_STEPS: Final = ((86_400, "format.days_short"), (3600, "format.hours"), (60, "format.minutes"), (1, "format.seconds"))
_DAYS_OF_A_WEEK: Final = 7
_COLOURS: Final = 5  # Labels of groups have g1 to g5; g6 is grey and means "main".
# Beyond a year, a date says more than a number of days.
_YEAR_US: Final = 365 * 86_400 * 1_000_000
# Browsers show about this much of a title.
_MOST_OF_A_TITLE: Final = 160
_KIB: Final = 1024
_FEWEST: Final = 8  # Letters; a text that would be shorter is left out.


def clean(text: str) -> str:
    """Replace characters that would hide or reorder the text around them."""
    return safe_text(text)


def short(text: str, most: int = 80) -> str:
    """Cut a text to this many letters, with an ellipsis."""
    line = " ".join(text.split()) if len(text) <= 10 * most else " ".join(text[: 10 * most].split())
    return clean(line if len(line) <= most else f"{line[: most - 1]}…")


def failure(kind: str, message: str, words: Words = ENGLISH) -> str:
    """Say why a page is unreachable: the cause, and the message."""
    cause = words.say(f"cause.{kind}") if f"cause.{kind}" in words else kind
    return ": ".join(part for part in (cause, words.retell(message)) if part) or words.say("cause.unknown")


class Room:
    """A budget of HTML bytes for the texts of a list, so that foreign texts cannot make it large."""

    def __init__(self, size: int) -> None:
        self.left = size

    def fit(self, text: str, most: int) -> str:
        """Cut a text to this many letters and to the budget; "" if hardly any is left."""
        shown = short(text, most)
        if (cost := weight(shown)) > self.left:
            kept = 0
            for place, letter in enumerate(shown):
                kept += weight(letter)
                if kept > self.left - 3:
                    shown = f"{shown[:place]}…" if place >= _FEWEST else ""
                    break
            cost = weight(shown)
        self.left -= cost
        return shown

    def piece(self, text: str, most: int, markup: int) -> str:
        """Fit a part of a line, which keeps the spaces at its ends; its markup takes this many bytes."""
        self.left = max(self.left - markup, 0)
        shown = self.fit(text, most) if self.left else ""
        if not text.strip():
            return " "
        return f"{' ' * text[:1].isspace()}{shown}{' ' * text[-1:].isspace()}" if shown else ""


def weight(text: str) -> int:
    """The number of bytes of a text after escaping."""
    return len(escape(text).encode("utf-8", "surrogatepass"))


def short_url(url: str, most: int = 72) -> str:
    """Write a URL without its scheme, cut in the middle so that host and end are legible."""
    scheme, there, rest = clean(url).partition("://")
    shown = rest if there and scheme in ("http", "https") else scheme + there + rest
    shown = shown.removesuffix("/") if shown.count("/") == 1 else shown
    if len(shown) <= most:
        return shown
    kept = most // 3
    return f"{shown[: most - kept - 1]}…{shown[-kept:]}"


def url(text: str, most: int = 72) -> Markup:
    """Write a short URL; a cut one has more of it in its title."""
    shown = short_url(text, most)
    if "…" not in shown:
        return escape(shown)
    return Markup('<span title="{}">{}</span>').format(short(text, _MOST_OF_A_TITLE), shown)


def is_web(text: object) -> bool:
    """Say whether this is an HTTP URL, which is safe as a link."""
    return isinstance(text, str) and text.lower().startswith(("http://", "https://"))


def linked(text: str, shown: str | None = None, most: int = 72, room: int = 2048) -> Markup:
    """Write a URL as a link without referrer.

    Other schemes stay text, and so do URLs longer than the room.
    """
    words = short_url(text, most) if shown is None else clean(shown)
    if not is_web(text) or weight(text) > room:
        return escape(words)
    return Markup('<a class="out" href="{}" rel="noreferrer noopener nofollow">{}</a>').format(clean(text), words)


def span(value: timedelta | float, parts: int = 2, words: Words = ENGLISH) -> str:
    """Write a duration in its two largest units: "2 h 5 min"."""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if abs(seconds) < 1:
        return words.say("format.milliseconds", value=round(seconds * 1000))
    left, said = int(abs(seconds)), []
    for size, key in _STEPS:
        many, left = divmod(left, size)
        if many:
            said.append(words.say(key, value=words.number(many)))
        elif said:
            break
        if len(said) == parts:
            break
    return " ".join(said)


def relative(at: Instant, now: Instant, words: Words = ENGLISH) -> str:
    """Write an instant relative to now: "3 min ago", "in 2 h"."""
    seconds = (now - at) // 1_000_000
    if -1 <= seconds < 1:
        return words.say("format.now")
    said = span(abs(seconds), parts=1, words=words)
    return words.say("format.ago" if seconds > 0 else "format.ahead", span=said)


def short_day(local: datetime, today: datetime, words: Words) -> str:
    """Write the day of an instant as briefly as it is clear: "Sat" within a week, "18 Nov", "18 Nov 2025"."""
    away = abs((local.date() - today.date()).days)
    if away < _DAYS_OF_A_WEEK:
        return words.weekday(local.weekday())
    return words.short_date(local.year, local.month, local.day, with_year=local.year != today.year)


def when(at: Instant | None, now: Instant, zone: tzinfo = UTC, words: Words = ENGLISH, never: str = "") -> Markup:
    """Write an instant for a list: "08:22" today, else its day; the title has it whole."""
    local, today = (None if each is None else to_datetime(each) for each in (at, now))
    if at is None or local is None or today is None:
        return escape(never if at is None else absolute(at))
    local, today = local.astimezone(zone), today.astimezone(zone)
    said = f"{local:%H:%M}" if local.date() == today.date() else short_day(local, today, words)
    return _timed(at, zone, said)


def clock(at: Instant, zone: tzinfo = UTC) -> Markup:
    """Write the time of an instant whose day is known: "08:22"; the title has it whole."""
    said = time_of_day(at, zone)
    return _timed(at, zone, said) if said else escape("")


def time_of_day(at: Instant, zone: tzinfo = UTC) -> str:
    """Write the time of an instant: "08:22"; "" beyond the calendar."""
    there = to_datetime(at)
    return "" if there is None else f"{there.astimezone(zone):%H:%M}"


def file_name(path: str) -> str:
    """Give the last part of a path: "tocsin.toml"."""
    return path.rpartition("/")[2]


def group_colour(name: str) -> str:
    """Return the class of a group's colour, which follows from its name."""
    if name == "main":
        return "g6"
    return f"g{int.from_bytes(blake2b(name.encode('utf-8', 'replace'), digest_size=2).digest(), 'big') % _COLOURS + 1}"


def zone_named(name: str) -> tzinfo:
    """Return a time zone; UTC for one that the machine does not know."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def to_datetime(at: Instant) -> datetime | None:
    """Convert an instant; None beyond the range of `datetime`."""
    try:
        return EPOCH + timedelta(microseconds=at)
    except OverflowError:
        return None


def absolute(at: Instant, zone: tzinfo = UTC) -> str:
    """Write an instant to the second, with its zone: "2026-11-21 08:22:05 UTC"."""
    there = to_datetime(at)
    if there is None:
        return "beyond the calendar"
    try:
        local = there.astimezone(zone)
    except (OverflowError, ValueError):
        local = there
    return f"{local:%Y-%m-%d %H:%M:%S} {local.tzname() or ''}".rstrip()


def local_time(at: Instant, zone: tzinfo, words: Words = ENGLISH) -> str:
    """Write an instant to the minute, with its day: "Mon 23 Nov, 08:00"."""
    there = to_datetime(at)
    if there is None:
        return absolute(at, zone)
    local = there.astimezone(zone)
    date = words.short_date(local.year, local.month, local.day, with_year=False)
    return words.say("format.at_time", day=f"{words.weekday(local.weekday())} {date}", time=f"{local:%H:%M}")


def brief(at: Instant, zone: tzinfo, words: Words = ENGLISH) -> Markup:
    """Write an instant to the minute, with the absolute time in its title."""
    return Markup('<time title="{}">{}</time>').format(absolute(at, zone), local_time(at, zone, words))


def coded(text: str) -> Markup:
    """Write a text of ours in which backticks mark code."""
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(each) if number % 2 else escape(each) for number, each in enumerate(parts)
    )


def ago(at: Instant | None, now: Instant, zone: tzinfo = UTC, never: str = "", words: Words = ENGLISH) -> Markup:
    """Write an instant relative to now, with the absolute time in its title; `never` where there is none."""
    if at is not None and abs(now - at) > _YEAR_US:
        return _timed(at, zone, _full_day(at, zone, words))
    return escape(never or words.say("format.never")) if at is None else _timed(at, zone, relative(at, now, words))


def _full_day(at: Instant, zone: tzinfo, words: Words) -> str:
    there = to_datetime(at)
    if there is None:
        return absolute(at)
    local = there.astimezone(zone)
    return words.short_date(local.year, local.month, local.day, with_year=True)


def due(
    at: Instant | None,
    now: Instant,
    zone: tzinfo = UTC,
    never: str = "",
    past: str = "",
    words: Words = ENGLISH,
) -> Markup:
    """Write a due time relative to now, or that it is due now."""
    if at is not None and at <= now:
        return _timed(at, zone, past or words.say("format.due"))
    return ago(at, now, zone, never or words.say("format.not_planned"), words)


def lasting(at: Instant, now: Instant, zone: tzinfo = UTC, words: Words = ENGLISH) -> Markup:
    """Write a beginning as a duration: "for 3 min", or "since" a day more than a year ago."""
    if now - at > _YEAR_US:
        return _timed(at, zone, words.say("format.since", day=_full_day(at, zone, words)))
    lasted = span(max((now - at) // 1_000_000, 1), parts=1, words=words)
    return _timed(at, zone, words.say("format.lasting", span=lasted))


def _timed(at: Instant, zone: tzinfo, said: str) -> Markup:
    there = to_datetime(at)
    if there is None:
        return escape(absolute(at))
    stamp = f"{there:%Y-%m-%dT%H:%M:%SZ}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(stamp, absolute(at, zone), said)


def moment(at: Instant | None, zone: tzinfo = UTC, words: Words = ENGLISH) -> Markup:
    """Write an absolute time."""
    there = None if at is None else to_datetime(at)
    if at is None or there is None:
        return escape(words.say("format.never") if at is None else absolute(at))
    return Markup('<time datetime="{}">{}</time>').format(f"{there:%Y-%m-%dT%H:%M:%SZ}", absolute(at, zone))


def size(number: float, words: Words = ENGLISH) -> str:
    """Write a number of bytes: "51.7 KiB"."""
    left = float(number)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if left < _KIB or unit == "GiB":
            return words.say("format.bytes", n=int(left)) if unit == "bytes" else f"{words.decimal(left)} {unit}"
        left /= _KIB
    raise AssertionError("the last unit holds any number")  # pragma: no cover - the loop ends with it


def setting(value: object) -> str:
    """Write a value as in a configuration file: `mode = "on"`, `["a", "b"]`, `true`; a text alone stays as it is."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_literal(own)}" for name, own in value.items())
    return value if isinstance(value, str) else _literal(value)


def _literal(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + setting(value) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_literal, value))}]"
    if value is None:
        return "none"
    # A JSON string without escaped letters is a TOML string.
    return json.dumps(value, ensure_ascii=False, default=str)


def local_path(text: str | None, otherwise: str = "/") -> str:
    """Return a path of our own to redirect to; anything that could lead to another site is replaced.

    This prevents open redirects after a login or a form.
    """
    if not text or not text.startswith("/") or text.startswith("//") or "\\" in text or UNSAFE_IN_TEXT.search(text):
        return otherwise
    return otherwise if any(letter in text for letter in "\t\r\n") else text


Item = TypeVar("Item")


def fitting(texts: Iterable[str], size: int, *, times: int = 1) -> list[str]:
    """Return the first whole texts that fit into this many bytes of HTML, each written `times` times."""
    return fitting_by(texts, size, lambda text: times * weight(text))


def fitting_by(items: Iterable[Item], size: int, cost: Callable[[Item], int]) -> list[Item]:
    """Return the first items that fit into this many bytes."""
    taken: list[Item] = []
    for item in items:
        size -= cost(item)
        if size < 0:
            break
        taken.append(item)
    return taken


def cut(text: str, size: int) -> str:
    """Cut a text to this many bytes of HTML; line ends are kept."""
    if weight(text) <= size:
        return text
    left, right = 0, len(text)
    while left < right:
        middle = (left + right + 1) // 2
        left, right = (middle, right) if weight(text[:middle]) <= size else (left, middle - 1)
    return text[:left]
