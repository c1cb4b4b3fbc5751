"""`tocsin watch import` and `export`: the list of pages as a file."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
import msgspec

from tocsin.cli import output
from tocsin.cli.files import opened_source, opened_target
from tocsin.cli.formatting import count
from tocsin.cli.output import progress, steps
from tocsin.cli.selection import BATCH, batches, demand_group
from tocsin.cli.session import configuration, is_store_there, now, with_store
from tocsin.cli.watch.sitemaps import SitemapImport, fetch_lists, is_robots_txt, is_url
from tocsin.errors import StoreOutdated, UsageError
from tocsin.lists import FORMATS
from tocsin.lists.formats.text import ListWriter, OutlineWriter, PlainWriter, SeparatedWriter
from tocsin.lists.importing import Reader, Tally
from tocsin.lists.pages import check_group
from tocsin.model import NewPage, PageFilter
from tocsin.model.records.service import ImportedFile
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tocsin.cli.watch.sitemaps import OfferedSitemap
    from tocsin.ports import Store


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
    if channels is not None and Path(channels).exists():
        raise UsageError(f"--channels {channels}: the file exists; choose another name")
    if is_url(source):
        is_offer = sitemaps or is_robots_txt(source)
        if kind not in (None, "sitemap"):
            raise UsageError(
                f"--format {kind}: only sitemaps are read from a URL; download the list, and name the file"
            )
        errand = SitemapImport(source, group, is_offer, yes and not dry_run, any_host, dry_run)
        return _import_url(ctx, errand, strict=strict)
    if sitemaps or any_host:
        raise UsageError(f"{source}: --sitemaps and --any-host are for URLs; write one such as https://example.org/")
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
