"""Serves the demo site on one port of loopback, which is kept for it while the service runs."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from html import escape
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from msgspec import Struct

from tocsin.ports import Clock

if TYPE_CHECKING:
    from aiohttp import web  # loaded in a thread, and only for a demo


# What the demo site's pages say at any time. Pure: the same time gives the same page, also after a restart.


LONG_AGO: Final = "2020-01-01"
# Fewer than the number of minor changes that count as a major one (T46).
MOST_DATES: Final = 2


class NoAnswer(Exception):
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
    Raises NoAnswer.
    """
    author = AUTHORS.get(path)
    if author is None:
        return None
    changes = list(_changes(author, now, first))
    if author.kind == "silent" and changes and now < changes[0] + _SILENT_FOR:
        raise NoAnswer(path)
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


LOOPBACK: Final = "127.0.0.1"
# How long the site stays as it is, once each of its pages has been looked at.
SEEN_FOR: Final = timedelta(seconds=3)
_NOT_YET: Final = datetime(9000, 1, 1, tzinfo=UTC)
_GONE: Final = "The demo site is off.\n"


class ReservedPort:
    """A reserved loopback port; nothing listens on it until the site is opened there."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._socket.bind((LOOPBACK, 0))
            self.port: int = self._socket.getsockname()[1]
        except OSError:
            # A machine without loopback can do without a demo site.
            self._socket.close()
            self._socket, self.port = None, 0

    def take(self) -> socket.socket | None:
        """Hand the socket over to the caller, who closes it; None if there is none or it was taken before."""
        taken, self._socket = self._socket, None
        return taken

    def close(self) -> None:
        """Let go of the port, if it is still ours."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class DemoSite:
    """Serves the pages while it is open; a site that is off answers 404.

    Use it as an asynchronous context.
    """

    def __init__(self, place: socket.socket, clock: Clock) -> None:
        self._place, self._clock = place, clock
        self._runner: web.ServerRunner | None = None
        self._unseen: set[str] = set()
        self._first: datetime | None = None
        self.is_open = False

    async def __aenter__(self) -> Self:
        # Loaded in a thread and only for a demo: it takes 11 MB and a noticeable time.
        web = await asyncio.to_thread(import_module, "aiohttp.web")
        self._runner = web.ServerRunner(web.Server(self._answer, access_log=None))
        await self._runner.setup()
        await web.SockSite(self._runner, self._place).start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        self._place.close()

    def open(self, *, anew: bool) -> None:
        """Answer from now on.

        anew  no page was read yet: the first changes come as soon as each page has been read once
        """
        self.is_open = True
        self._unseen = set(AUTHORS) if anew else set()
        self._first = _NOT_YET if anew else None

    def close(self) -> None:
        """Answer no more."""
        self.is_open = False

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        from aiohttp import web  # noqa: PLC0415 - loaded by now

        if not self.is_open:
            return web.Response(status=404, text=_GONE)
        if request.path == "/robots.txt":
            return web.Response(text="User-agent: *\nAllow: /\n")
        now = datetime.fromtimestamp(self._clock.now() / 1_000_000, UTC)
        try:
            page = page_at(request.path, now, self._first)
        except NoAnswer:
            return web.Response(status=503, text="The shop is closed for the moment.\n")
        if page is None:
            return web.Response(status=404, text="There is no such page.\n")
        self._seen(request.path, now)
        etag = f'"{hashlib.blake2b(page.encode(), digest_size=8).hexdigest()}"'
        headers = {"ETag": etag}
        if request.headers.get("If-None-Match") == etag:
            return web.Response(status=304, headers=headers)
        return web.Response(text=page, content_type="text/html", charset="utf-8", headers=headers)

    def _seen(self, path: str, now: datetime) -> None:
        if self._unseen:
            self._unseen.discard(path)
            if not self._unseen:
                self._first = now + SEEN_FOR
