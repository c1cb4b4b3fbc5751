"""Lists behind a URL: the sitemap that the user named, those that it names, those that a robots.txt offers (T62)."""

from __future__ import annotations

import io
import shlex
from collections import deque
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.cli import output
from tocsin.cli.asking import count
from tocsin.errors import TocsinError, UsageError
from tocsin.lists.taking import Reader, Tally
from tocsin.spec.html.urls import resolve, watch_url
from tocsin.spec.robots.rules import robots_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tocsin.app.downloads import Downloads
    from tocsin.model import NewPage
    from tocsin.settings import Settings

_SITEMAP = "sitemap"


class Wanted(Struct, frozen=True):
    """A sitemap that is to be fetched.

    hosts     whose pages it may name beside those of its own host: that of a robots.txt which names it
    is_typed  the user named it; else an index or a robots.txt did
    in_index  an index named it: it is none itself
    """

    url: str
    hosts: frozenset[str] = frozenset()
    is_typed: bool = False
    in_index: bool = False


class Offer(Struct, frozen=True):
    """A sitemap that a robots.txt names."""

    url: str
    named_by: str
    is_far: bool

    @property
    def command(self) -> str:
        """What takes its pages."""
        return f"tocsin watch import {shlex.quote(self.url)}{' --any-host' if self.is_far else ''}"


class Errand(Struct, frozen=True):
    """What the user asked for.

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
    settings: Settings, errand: Errand, tally: Tally, keep: Callable[[Iterable[NewPage]], None]
) -> list[Offer]:
    """Fetch what the user named, and hand on its pages; returns the offers, where the user asked for those alone.

    Raises BadUrl, FetchError or Disallowed where what the user named cannot be had, UsageError where it is no list.
    """
    from tocsin.app.downloads import open_downloads  # noqa: PLC0415 - files need no network stack

    async with open_downloads(settings, errand.source) as downloads:
        if not errand.is_offer:
            await _take(downloads, [Wanted(watch_url(errand.source).url, is_typed=True)], errand, tally, keep)
            return []
        offers = _offers(errand.source, await downloads.sitemaps(), tally)
        if not errand.takes_all:
            return offers
        host = watch_url(errand.source).host
        wanted = [Wanted(offer.url, frozenset({host})) for offer in offers]
        output.note(f"{offers[0].named_by}: names {count(len(offers), _SITEMAP)}" if offers else "no sitemap is named")
        await _take(downloads, wanted, errand, tally, keep)
        return []


def _offers(source: str, named: Iterable[str], tally: Tally) -> list[Offer]:
    by, host = robots_url(source) or source, watch_url(source).host
    offers: dict[str, Offer] = {}
    for text in named:
        try:
            found = watch_url(resolve(by, text) or text)
        except UsageError as exc:
            tally.refused += 1
            output.note(f"{by}: {exc}")
            continue
        offers[found.url] = Offer(found.url, by, is_far=found.host != host)
    tally.sitemaps += len(offers)
    return list(offers.values())


async def _take(
    downloads: Downloads,
    wanted: Iterable[Wanted],
    errand: Errand,
    tally: Tally,
    keep: Callable[[Iterable[NewPage]], None],
) -> None:
    queue = deque(wanted)
    seen = {here.url for here in queue}
    with output.progress("Fetching") as advance:
        while queue:
            here = queue.popleft()
            try:
                named = await _read(downloads, here, errand, tally, keep)
            except TocsinError as exc:
                if here.is_typed:
                    raise
                tally.refused += 1
                output.note(str(exc))
                continue
            finally:
                advance(1)
            queue.extend(child for child in named if child.url not in seen)
            seen.update(child.url for child in named)


async def _read(
    downloads: Downloads,
    here: Wanted,
    errand: Errand,
    tally: Tally,
    keep: Callable[[Iterable[NewPage]], None],
) -> list[Wanted]:
    """Read one sitemap; returns those that it names, if it is an index."""
    page = await downloads.get(here.url)
    hosts = here.hosts | {watch_url(here.url).host, watch_url(page.url).host}
    reader = Reader(
        here.url, _SITEMAP, errand.group, tally=tally, hosts=None if errand.any_host else hosts, say=output.note
    )
    try:
        keep(reader.pages(io.BytesIO(page.body)))
    except UsageError as exc:
        if not here.is_typed:
            raise
        offer = f"tocsin watch import {shlex.quote(here.url)} --sitemaps"
        raise UsageError(f"{exc}; what the site's robots.txt offers, shows: {offer}") from exc
    if not reader.named:
        return []
    if here.in_index:
        reader.refuse(
            reader.named[0].line, f"an index in an index; import it by itself: tocsin watch import {here.url}"
        )
        return []
    children = _children(reader, here, hosts, errand)
    tally.sitemaps += len(children)
    becomes = "not fetched, as you only look" if errand.only_looks else "fetched now, one after the other"
    output.note(f"{here.url}: an index of {count(len(children), _SITEMAP)}, {becomes}")
    if not errand.only_looks:
        return children
    for child in children:
        output.note(f"  {child.url}")
    return []


def _children(reader: Reader, here: Wanted, hosts: frozenset[str], errand: Errand) -> list[Wanted]:
    """The sitemaps of an index, which the user asked for by naming it."""
    children: dict[str, Wanted] = {}
    for item in reader.named:
        try:
            found = watch_url(item.name)
        except UsageError as exc:
            reader.refuse(item.line, str(exc))
            continue
        if found.host in hosts or errand.any_host:
            children[found.url] = Wanted(found.url, here.hosts, in_index=True)
        else:
            reader.refuse(item.line, f"{found.url}: on another host than its index; to take it, too, give --any-host")
    return list(children.values())
