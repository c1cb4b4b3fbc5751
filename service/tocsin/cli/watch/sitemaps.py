"""`tocsin watch import URL`: sitemaps, the indexes and robots.txt that name them, fetched a few at once."""

from __future__ import annotations

import asyncio
import io
import shlex
from collections import Counter, deque
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.cli import output
from tocsin.cli.formatting import count
from tocsin.cli.output import progress
from tocsin.configuration import show_span
from tocsin.errors import TocsinError, UsageError
from tocsin.lists.importing import Reader, Tally
from tocsin.spec.html.urls import resolve, watch_url
from tocsin.spec.robots.rules import robots_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tocsin.app.downloads import ListDownloads
    from tocsin.model import NewPage
    from tocsin.settings import Settings


_SITEMAP = "sitemap"
# How many sitemaps are fetched at once, of different hosts: each host is asked no faster than ever.
_AT_ONCE = 4
# An index that begins with this many indexes is left there: the rest of it would be more of them.
_MOST_NESTED = 20
# How long all that an index or a robots.txt names may take together.
LONGEST = timedelta(hours=1)


class WantedSitemap(Struct, frozen=True):
    """A sitemap that is to be fetched.

    hosts     whose pages it may name beside those of its own host: that of a robots.txt which names it
    is_typed  the user named it; else an index or a robots.txt did
    index     the index that named it: it is none itself; "" where none did
    """

    url: str
    hosts: frozenset[str] = frozenset()
    is_typed: bool = False
    index: str = ""


class OfferedSitemap(Struct, frozen=True):
    """A sitemap that a robots.txt names."""

    url: str
    named_by: str
    is_far: bool

    @property
    def command(self) -> str:
        """What takes its pages."""
        return f"tocsin watch import {shlex.quote(self.url)}{' --any-host' if self.is_far else ''}"


class SitemapImport(Struct, frozen=True):
    """The call as the user made it.

    source      the URL of a sitemap, of an index, or of a site whose robots.txt is asked
    is_offer    its robots.txt is asked which sitemaps there are
    takes_all   those are then fetched; else they are only listed
    any_host    pages of other hosts than the sitemap's own are taken, too
    only_looks  what an index names is not fetched
    """

    source: str
    group: str
    is_offer: bool
    takes_all: bool
    any_host: bool
    only_looks: bool


def is_url(source: str) -> bool:
    """Say whether the source of a list is a URL."""
    return source.lower().startswith(("http://", "https://"))


def is_robots_txt(source: str) -> bool:
    """Say whether a URL is that of a robots.txt."""
    return watch_url(source).url == robots_url(source)


async def fetch_lists(
    settings: Settings,
    errand: SitemapImport,
    tally: Tally,
    keep: Callable[[Iterable[NewPage]], None],
    *,
    longest: timedelta = LONGEST,
) -> list[OfferedSitemap]:
    """Fetch the user's sitemap and those it names, and pass on their pages; returns offers with --sitemaps alone.

    Raises BadUrl, FetchError or Disallowed for the URL that the user gave, UsageError if it is not a list.
    """
    from tocsin.app.downloads import open_downloads  # noqa: PLC0415 - files need no network stack

    async with open_downloads(settings, errand.source) as downloads:
        if not errand.is_offer:
            typed = WantedSitemap(watch_url(errand.source).url, is_typed=True)
            await _SitemapWalk(downloads, errand, tally, keep).take([typed], longest)
            return []
        offers = _offers(errand.source, await downloads.sitemaps(), tally)
        if not errand.takes_all:
            return offers
        host = watch_url(errand.source).host
        wanted = [WantedSitemap(offer.url, frozenset({host})) for offer in offers]
        output.note(f"{offers[0].named_by}: names {count(len(offers), _SITEMAP)}" if offers else "no sitemap is listed")
        await _SitemapWalk(downloads, errand, tally, keep).take(wanted, longest)
        return []


def _offers(source: str, named: Iterable[str], tally: Tally) -> list[OfferedSitemap]:
    by, host = robots_url(source) or source, watch_url(source).host
    offers: dict[str, OfferedSitemap] = {}
    for text in named:
        try:
            found = watch_url(resolve(by, text) or text)
        except UsageError as exc:
            tally.refused += 1
            output.note(f"{by}: {exc}")
            continue
        offers[found.url] = OfferedSitemap(found.url, by, is_far=found.host != host)
    tally.sitemaps += len(offers)
    return list(offers.values())


class _SitemapWalk:
    """A walk through sitemaps: the one that the user named, and those that an index or a robots.txt names."""

    def __init__(
        self, downloads: ListDownloads, errand: SitemapImport, tally: Tally, keep: Callable[[Iterable[NewPage]], None]
    ) -> None:
        self._downloads, self._errand, self._tally, self._keep = downloads, errand, tally, keep
        self._queue: deque[WantedSitemap] = deque()
        self._seen: set[str] = set()
        self._nested: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    async def take(self, wanted: Iterable[WantedSitemap], longest: timedelta) -> None:
        """Read them all, a few at once; what is not read within `longest` is named and left.

        Raises UsageError or FetchError where what the user typed cannot be read; others do not cost the rest.
        """
        for here in wanted:
            if here.is_typed:
                self._seen.add(here.url)
                self._add(await self._read(here))
            else:
                self._add([here])
        try:
            async with asyncio.timeout(longest.total_seconds()):
                while self._queue:
                    await self._round()
        except TimeoutError:
            left = len(self._queue)
            self._tally.refused += left
            output.note(
                f"Stopped after {show_span(longest)}: {count(left, _SITEMAP)} not read; run the same command again, "
                "or import the important ones by their own URLs"
            )
        for index, skipped in self._skipped.items():
            self._tally.refused += skipped
            output.note(
                f"{index}: {count(skipped, _SITEMAP)} not fetched, because the first {_MOST_NESTED} of this index are "
                "indexes themselves; import each of those by its own URL"
            )

    async def _round(self) -> None:
        """Read what is known by now; what it names is for the next round."""
        named: list[WantedSitemap] = []
        with progress("Fetching", total=len(self._queue)) as advance:
            async with asyncio.TaskGroup() as group:
                for number in range(min(_AT_ONCE, len(self._queue))):
                    group.create_task(self._work(named, advance), name=f"sitemaps-{number}")
        self._add(named)

    async def _work(self, named: list[WantedSitemap], advance: Callable[[int], None]) -> None:
        while self._queue:
            here = self._queue.popleft()
            try:
                if self._nested[here.index] >= _MOST_NESTED:
                    self._skipped[here.index] += 1
                else:
                    named += await self._read(here)
            except TocsinError as exc:
                self._tally.refused += 1
                output.note(str(exc))
            except asyncio.CancelledError:
                # It is one of those that are left.
                self._queue.appendleft(here)
                raise
            finally:
                advance(1)

    def _add(self, wanted: Iterable[WantedSitemap]) -> None:
        for here in wanted:
            if here.url not in self._seen:
                self._seen.add(here.url)
                self._queue.append(here)

    async def _read(self, here: WantedSitemap) -> list[WantedSitemap]:
        """Read one sitemap; returns those that it names, if it is an index."""
        errand = self._errand
        page = await self._downloads.get(here.url)
        hosts = here.hosts | {watch_url(here.url).host, watch_url(page.url).host}
        taken = None if errand.any_host else hosts
        reader = Reader(here.url, _SITEMAP, errand.group, tally=self._tally, hosts=taken, say=output.note)
        try:
            self._keep(reader.pages(io.BytesIO(page.body)))
        except UsageError as exc:
            if not here.is_typed:
                raise
            offer = f"tocsin watch import {shlex.quote(here.url)} --sitemaps"
            raise UsageError(f"{exc}; list the sitemaps in the site's robots.txt with: {offer}") from exc
        if not reader.named:
            return []
        if here.index:
            self._nested[here.index] += 1
            mend = f"import it by itself: tocsin watch import {here.url}"
            reader.refuse(reader.named[0].line, f"an index within an index; {mend}")
            return []
        children = _children(reader, here, hosts, errand)
        self._tally.sitemaps += len(children)
        becomes = "not fetched (--dry-run)" if errand.only_looks else f"fetched now, {_AT_ONCE} at once"
        output.note(f"{here.url}: an index of {count(len(children), _SITEMAP)}, {becomes}")
        if not errand.only_looks:
            return children
        for child in children:
            output.note(f"  {child.url}")
        return []


def _children(reader: Reader, here: WantedSitemap, hosts: frozenset[str], errand: SitemapImport) -> list[WantedSitemap]:
    """The sitemaps that an index names, on its own hosts."""
    children: dict[str, WantedSitemap] = {}
    for item in reader.named:
        try:
            found = watch_url(item.name)
        except UsageError as exc:
            reader.refuse(item.line, str(exc))
            continue
        if found.host in hosts or errand.any_host:
            children[found.url] = WantedSitemap(found.url, here.hosts, index=here.url)
        else:
            reader.refuse(item.line, f"{found.url}: on another host than its index; give --any-host to import it")
    return list(children.values())
