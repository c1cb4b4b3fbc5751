"""`tocsin watch import` and `export`: the list of pages as a file, or from a site's sitemaps."""

from __future__ import annotations

import asyncio
import io
import shlex
import tempfile
from collections import Counter, deque
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
import msgspec
from msgspec import Struct

from tocsin.cli import output
from tocsin.cli.files import opened_source, opened_target
from tocsin.cli.formatting import count
from tocsin.cli.output import progress, steps
from tocsin.cli.selection import BATCH, batches, demand_group
from tocsin.cli.session import configuration, is_store_there, now, with_store
from tocsin.configuration import show_span
from tocsin.errors import StoreOutdated, TocsinError, UsageError
from tocsin.lists import FORMATS
from tocsin.lists.formats.text import ListWriter, OutlineWriter, PlainWriter, SeparatedWriter
from tocsin.lists.importing import Reader, Tally
from tocsin.lists.pages import check_group
from tocsin.model import NewPage, PageFilter
from tocsin.model.records.service import ImportedFile
from tocsin.spec.html.urls import resolve, watch_url
from tocsin.spec.robots import robots_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tocsin.app.downloads import ListDownloads
    from tocsin.model import NewPage
    from tocsin.ports import Store
    from tocsin.settings import Settings


@click.command("import", epilog="Example: tocsin watch import pages.csv")
@click.argument("source", metavar="FILE|URL")
@click.option("--format", "kind", type=click.Choice(FORMATS), help="Format of the file; detected by default.")
@click.option("--group", metavar="NAME", help="Group for pages for which the list names none.")
@click.option("--strict", is_flag=True, help="Import nothing if any line is invalid.")
@click.option("--dry-run", is_flag=True, help="Report invalid lines, and import nothing.")
@click.option("--channels", metavar="FILE", help="Write notification URLs as channels and routes into this new file.")
@click.option("--sitemaps", is_flag=True, help="List the sitemaps that the site's robots.txt names.")
@click.option("--yes", "-y", is_flag=True, help="With --sitemaps: fetch them all.")
@click.option("--any-host", is_flag=True, help="Also import a sitemap's pages on other hosts.")
@output.json_option
@click.pass_context
def import_(
    ctx: click.Context,
    source: str,
    kind: str | None,
    group: str | None,
    channels: str | None,
    *,
    strict: bool,
    dry_run: bool,
    sitemaps: bool,
    yes: bool,
    any_host: bool,
) -> int:
    """Import pages from a list: one URL per line, CSV with a column `url`, OPML, or a sitemap; also compressed.

    Exports of changedetection.io (and its backups) and of Distill are accepted; settings without a counterpart are
    listed. With --channels, where changedetection.io sent its alerts is written as channels and routes, for you to
    append to the configuration.

    Valid lines are imported; invalid ones are reported with their line number, and the exit status is 1. Pages that are
    already watched keep their settings. - is standard input.

    A sitemap's URL is fetched; of an index, also the sitemaps that it names. With --sitemaps, the sitemaps in the
    robots.txt of a site are listed; they are fetched only with --yes.
    """
    group = check_group(group) if group else "main"
    # Before the list is imported: a name that cannot be written must not leave half of the work.
    if channels is not None and Path(channels).exists():
        raise UsageError(f"--channels {channels}: the file exists; choose another name")
    if is_url(source):
        is_offer = sitemaps or is_robots_txt(source)
        # Fetching any file that a URL names is not our work, and would need limits of its own.
        if kind not in (None, "sitemap"):
            raise UsageError(
                f"--format {kind}: only sitemaps are read from a URL; download the list, and name the file"
            )
        errand = SitemapImport(source, group, is_offer, yes and not dry_run, any_host, dry_run)
        return _import_url(ctx, errand, strict=strict)
    if sitemaps or any_host:
        raise UsageError(f"{source}: --sitemaps and --any-host are for URLs; write one such as https://example.org/")
    # With --strict it is read twice, and standard input is kept in a file for that.
    with opened_source(source, again=strict) as stream:
        tally = Tally()
        groups = _groups(ctx)
        reader = Reader(source, kind, group, tally=tally, groups=groups, offers=channels is None, say=output.note)
        if strict or dry_run:
            tally.added = sum(1 for _ in reader.pages(stream))
            if dry_run or tally.refused:
                _write_channels(reader, channels)
                return _tell_file(source, tally, reader, taken=False)
            stream.seek(0)
            tally = Tally()
            reader = Reader(source, kind, group, tally=tally, groups=groups, say=lambda _: None)
        with_store(ctx, lambda store: _import(store, reader.pages(stream), tally), create=True)
    _write_channels(reader, channels)
    return _tell_file(source, tally, reader, taken=True)


def _write_channels(reader: Reader, target: str | None) -> None:
    """Write the channels of a list into a new file that its owner alone can read."""
    if target is None:
        return
    if reader.channels is None:
        output.note(f"--channels {target}: the list has no notification URLs; no file was written")
        return
    with opened_target(target) as stream:
        stream.write(reader.channels.toml.encode())
    output.note(f"{target}: {reader.channels.told}; append it to tocsin.toml, then: tocsin doctor")


def _groups(ctx: click.Context) -> list[str]:
    """Name the groups that there are; none where there is no store yet, or one that is brought up to date first."""
    if not is_store_there(configuration(ctx).settings):
        return []
    try:
        _, groups = with_store(ctx, lambda store: store.overrides())
    except StoreOutdated:
        return []
    return [name for name, _ in groups.values()]


def _import_url(ctx: click.Context, errand: SitemapImport, *, strict: bool) -> int:
    """Fetch first, then write, so that a failure creates no store, and slow sites keep none locked."""
    from tocsin.app.executing import execute  # noqa: PLC0415 - files need no network stack

    tally, name = Tally(), watch_url(errand.source).given
    with tempfile.TemporaryFile() as kept:
        # Fetched first and stored afterwards: the store is not held while a slow site answers.
        def keep(pages: Iterable[NewPage]) -> None:
            for page in pages:
                tally.added += 1
                kept.write(msgspec.json.encode(page) + b"\n")

        offers = execute(fetch_lists(configuration(ctx).settings, errand, tally, keep))
        if errand.is_offer and not errand.takes_all:
            return _tell_offers(name, offers)
        if errand.only_looks or not tally.added or (strict and tally.refused):
            return _tell(name, tally, taken=False)
        kept.seek(0)
        tally.added = 0
        with_store(ctx, lambda store: _import(store, _kept_pages(kept), tally), create=True)
    return _tell(name, tally, taken=True)


def _kept_pages(kept: IO[bytes]) -> Iterator[NewPage]:
    decoder = msgspec.json.Decoder(NewPage)
    return (decoder.decode(line) for line in kept)


async def _import(store: Store, pages: Iterable[NewPage], tally: Tally) -> None:
    batch: list[NewPage] = []

    async def write(advance: Callable[[int], None]) -> None:
        ids = await store.add_pages(batch, now(), on_step=advance)
        added = sum(page_id is not None for page_id in ids)
        tally.added += added
        tally.known += len(ids) - added
        batch.clear()

    # In batches: one transaction a page would take hours for a million, one for all would hold the store.
    with steps("Importing", "of the list are watched") as advance:
        for page in pages:
            batch.append(page)
            if len(batch) == BATCH:
                await write(advance)
        if batch:
            await write(advance)


def _tell_offers(name: str, offers: Sequence[OfferedSitemap]) -> int:
    if not offers:
        output.note(f"{name}: its robots.txt names no sitemap; if you know one, import its URL")
        return output.NEEDS_USER
    for offer in offers:
        record = {"sitemap": offer.url, "named_by": offer.named_by, "command": offer.command}
        output.emit(record, partial(output.say, offer.command, whole=True))
    output.note(
        f"{count(len(offers), 'sitemap')}, not fetched. All of them: tocsin watch import {name} --sitemaps --yes"
    )
    return output.DONE


def _tell_file(name: str, tally: Tally, reader: Reader, *, taken: bool) -> int:
    """Report an imported file; the sitemaps that it names are left to the user."""
    tally.sitemaps = len(reader.named)
    for item in reader.named:
        output.note(f"{name}:{item.line}: {item.told}")
    status = _tell(name, tally, taken=taken)
    if tally.sitemaps:
        output.note(f"{name}: names {count(tally.sitemaps, 'sitemap')}; import each of them by its URL")
        return output.NEEDS_USER
    return status


def _tell(name: str, tally: Tally, *, taken: bool) -> int:
    counts = {"added": tally.added, "known": tally.known, "refused": tally.refused, "sitemaps": tally.sitemaps}
    record = ImportedFile(taken=taken, **counts, file=name)
    if not (tally.added or tally.known or tally.refused or tally.sitemaps):
        output.note(f"{name}: contains no page; a list has one URL per line, or a column named url")
        output.emit(record, lambda: None)
        return output.NEEDS_USER
    if taken:
        lines = count(tally.refused, "line")
        told = f"{count(tally.added, 'page')} added, {tally.known:,} already watched, {lines} invalid."
    else:
        told = f"Nothing was imported: {count(tally.added, 'page')} valid, {count(tally.refused, 'line')} invalid."
    output.emit(record, lambda: output.say(told))
    return output.NEEDS_USER if tally.refused else output.DONE


@click.command("export", epilog="Example: tocsin watch export --format csv --output pages.csv")
@click.option("--format", "kind", type=click.Choice(("list", "csv", "opml")), default="list", show_default=True)
@click.option("--group", metavar="NAME", help="Only this group.")
@click.option("--output", "-o", "target", metavar="FILE", help="Write to this file instead of standard output.")
@click.option("--with-secrets", is_flag=True, help="Include credentials, headers, cookies and proxies (CSV only).")
@click.pass_context
def export(ctx: click.Context, kind: str, group: str | None, target: str | None, *, with_secrets: bool) -> None:
    """Export the list of pages: URLs, CSV with all settings, or OPML with groups."""
    if with_secrets and kind != "csv":
        raise UsageError("--with-secrets: only CSV can contain them; give --format csv")
    writer: ListWriter = OutlineWriter() if kind == "opml" else PlainWriter()
    if kind == "csv":
        writer = SeparatedWriter(with_secrets=with_secrets)
    with opened_target(target) as stream:
        pages = with_store(ctx, lambda store: _write_list(store, writer, stream, group=group, by_group=kind == "opml"))
    output.note(f"{count(pages, 'page')} written.")


async def _write_list(store: Store, writer: ListWriter, stream: IO[bytes], *, group: str | None, by_group: bool) -> int:
    group = await demand_group(store, group)
    total = await store.count_pages(PageFilter(group=group))
    groups = [name for name, _, _ in await store.groups() if group in (None, name)] if by_group else [group]
    stream.write(writer.begin().encode())
    written = 0
    with progress("Exporting", total=total, into=stream) as advance:
        for name in groups:
            stream.write(writer.open_group(name or "").encode())
            written += await _export_group(store, writer, stream, name, advance)
            stream.write(writer.close_group().encode())
    stream.write(writer.end().encode())
    return written


async def _export_group(
    store: Store, writer: ListWriter, stream: IO[bytes], group: str | None, advance: Callable[[int], None]
) -> int:
    written = 0
    async for pages in batches(store, PageFilter(group=group)):
        stream.write(writer.pages(pages).encode())
        written += len(pages)
        advance(len(pages))
    return written


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
