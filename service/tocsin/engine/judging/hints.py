"""What a server's headers say of how long an answer stays true; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.links.http_dates import read_http_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LONGEST_S: Final = 10 * 365 * 86_400
"""What is longer counts as this; the caller clamps to far less."""
_MOST_CHARS: Final = 4096
_MOST_DIGITS: Final = 12
_STALE: Final = frozenset({"no-cache", "no-store"})
_LIFETIMES: Final = frozenset({"max-age", "s-maxage"})


def fresh_for(headers: Iterable[tuple[str, str]]) -> int | None:
    """Tell for how many more seconds a server wants its answer to be taken as it is; None where it says nothing.

    headers  of an answer, 304s included; names in lower case
    Of a lifetime for browsers and one for caches on the way the shorter one counts, and so it is with whatever is said
    twice: nobody is kept from a check by a doubt. `immutable` says something of the time within a lifetime only
    (RFC 8246), and none by itself.
    Source  RFC 9111, 4.2.1 to 4.2.3, 5.1 to 5.3.
    """
    control: list[str] = []
    ages: list[str] = []
    expires: list[str] = []
    dates: list[str] = []
    kept = {"cache-control": control, "age": ages, "expires": expires, "date": dates}
    for name, value in headers:
        if name in kept:
            kept[name].append(value)
    if not control and not expires:
        return None
    lifetime_s = _lifetime_of(control, expires, dates)
    left_s = lifetime_s - max((_seconds(age) or 0 for age in ages), default=0)
    return min(left_s, LONGEST_S) if left_s > 0 else None


def _lifetime_of(control: Sequence[str], expires: Sequence[str], dates: Sequence[str]) -> int:
    lifetimes = []
    for name, value in _directives(",".join(control)):
        if name in _STALE:
            return 0
        if name in _LIFETIMES:
            # A lifetime that cannot be read means none, which is what caches are told to make of it.
            lifetimes.append(_seconds(value) or 0)
    if lifetimes:
        return min(lifetimes)
    moments = [read_http_date(text) for text in expires]
    sent = [moment for text in dates if (moment := read_http_date(text)) is not None]
    if not moments or not sent:
        return 0
    return min(0 if moment is None else int((moment - max(sent)).total_seconds()) for moment in moments)


def _directives(text: str) -> Iterator[tuple[str, str]]:
    """Split Cache-Control into names in lower case and values without their quotes; no comma within quotes splits."""
    if len(text) > _MOST_CHARS:
        yield "no-cache", ""  # nobody sends so many directives to be understood
        return
    for part in _parts(text):
        name, _, value = part.partition("=")
        yield name.strip(" \t").lower(), value.strip(" \t").strip('"')


def _parts(text: str) -> Iterator[str]:
    if '"' not in text:
        yield from text.split(",")
        return
    start, at, quoted = 0, 0, False
    while at < len(text):
        if text[at] == "\\" and quoted:
            at += 1
        elif text[at] == '"':
            quoted = not quoted
        elif text[at] == "," and not quoted:
            yield text[start:at]
            start = at + 1
        at += 1
    yield text[start:]


def _seconds(text: str) -> int | None:
    digits = text.strip(" \t")
    if not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits) if len(digits) <= _MOST_DIGITS else LONGEST_S
