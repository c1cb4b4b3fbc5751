"""What the demo site's pages say at any time. Pure: the same time gives the same page, also after a restart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from html import escape
from typing import Final

from msgspec import Struct

LONG_AGO: Final = "2020-01-01"
# Fewer than the number of minor changes that count as a major one (T46).
MOST_DATES: Final = 2


class Silence(Exception):
    """The page gives no answer for the time being."""


class Author(Struct, frozen=True):
    """Who writes a page: what it is about, and when it changes.

    words   what its watcher's list says of it
    kind    "major" and "minor" write a date, "text" writes another sentence and declares nothing, "silent" lets the
            page fail for a while, None lets it be
    first   time from the moment when each page was read once to the first change
    every   and then at each multiple of this on the clock
    holds   what it announces as microdata, with a day that each change puts off
    """

    title: str
    words: str
    text: str
    kind: str | None = None
    first: timedelta = timedelta()
    every: timedelta = timedelta(days=1)
    holds: str | None = None


_CONCERT: Final = """<div itemscope itemtype="http://microformats.org/profile/hcalendar#vevent">
<h2 itemprop="summary">Harbour concert</h2>
<p>On <time itemprop="dtstart" datetime="{day}">{day}</time>, at <span itemprop="location">the old pier</span>.
<a itemprop="url" href="/news#concert">More of it</a></p>
</div>
<p itemscope itemtype="http://microformats.org/profile/hcard">Tickets: <span itemprop="fn">
<span itemprop="org" itemscope><span itemprop="organization-name">Harbour Office</span></span></span>,
<span itemprop="tel">+44 1632 960 123</span></p>
"""
_FIRST_DAY: Final = date(2027, 5, 5)
_DAYS: Final = 28

AUTHORS: Final[dict[str, Author]] = {
    "/news": Author(
        "News",
        "News: a major change every two minutes",
        "Each new entry is a major change, and its author says so.",
        "major",
        timedelta(),
        timedelta(minutes=2),
        _CONCERT,
    ),
    "/notes": Author(
        "Release notes",
        "Notes: a minor change every three minutes",
        "Small things are mended here; each is declared as a minor change.",
        "minor",
        timedelta(seconds=10),
        timedelta(minutes=3),
    ),
    "/plain": Author(
        "Declares nothing",
        "Declares nothing: its text changes every four minutes",
        "Its author changes a sentence now and then, and does not say so.",
        "text",
        timedelta(seconds=20),
        timedelta(minutes=4),
    ),
    "/quiet": Author("Never changes", "Quiet: never changes", "All of this page stays as it is."),
    "/shop": Author(
        "Goes silent",
        "Shop: fails for two minutes of every half hour",
        "The server of this page fails for two minutes of every half hour.",
        "silent",
        timedelta(seconds=40),
        timedelta(minutes=30),
    ),
}
_SILENT_FOR: Final = timedelta(minutes=2)
_SENTENCES: Final = (
    "The harbour opens at six in the morning, and closes at nine in the evening.",
    "From this week the harbour opens at five in the morning, and tickets are sold on board.",
    "The harbour is closed on Sundays until the new bridge has been built.",
)


def page_at(path: str, now: datetime, first: datetime | None) -> str | None:
    """Write a page as it reads at this time; None if there is none of this path.

    first  when the first changes begin; None: they lie behind
    Raises Silence.
    """
    author = AUTHORS.get(path)
    if author is None:
        return None
    changes = list(_changes(author, now, first))
    if author.kind == "silent" and changes and now < changes[0] + _SILENT_FOR:
        raise Silence(path)
    meta, text = "", author.text
    if author.kind in {"major", "minor"}:
        dates = " ".join([LONG_AGO, *(f"{at:%Y-%m-%dT%H:%M:%SZ}" for at in reversed(changes))][-MOST_DATES:])
        meta = f'<meta name="topper-{author.kind}" content="{dates}">\n'
    elif author.kind == "text" and changes:
        number = _number(author, changes)
        text = f"{text}</p>\n<p>{_SENTENCES[number % len(_SENTENCES)]}"
    elif author.kind is None:
        meta = f'<meta name="topper-major" content="{LONG_AGO}">\n'
    held = "" if author.holds is None else author.holds.format(day=_day(author, changes))
    title = escape(author.title)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n{meta}'
        f"<h1>{title}</h1>\n<p>{text}</p>\n{held}</html>\n"
    )


def _day(author: Author, changes: Sequence[datetime]) -> date:
    """Give the day that a page announces: another one after each change."""
    return _FIRST_DAY + timedelta(days=1 + _number(author, changes) % _DAYS if changes else 0)


def _number(author: Author, changes: Sequence[datetime]) -> int:
    """Number the latest change, from a fixed day: after a restart it has the same."""
    return int(changes[0].timestamp()) // int(author.every.total_seconds())


def _changes(author: Author, now: datetime, first: datetime | None) -> Iterator[datetime]:
    """Give the latest changes, newest first, as many as are ever shown."""
    if author.kind is None:
        return
    began = None if first is None else first + author.first
    step = author.every
    on_clock = datetime.fromtimestamp(now.timestamp() // step.total_seconds() * step.total_seconds(), UTC)
    left = MOST_DATES
    # The first one has its time to be seen: what the clock says right after it is left out.
    while left and (began is None or on_clock >= began + step / 4):
        yield on_clock
        on_clock -= step
        left -= 1
    if left and began is not None and began <= now:
        yield began
