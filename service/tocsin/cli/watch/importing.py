"""`tocsin watch import`: pages from a plain list, CSV, OPML or a sitemap, as a stream."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click
from msgspec import Struct

from tocsin.cli import output
from tocsin.cli.asking import count
from tocsin.cli.lists import FORMATS, Entry, Named, Refused, open_list
from tocsin.cli.session import now, with_store
from tocsin.cli.sources import opened_source
from tocsin.cli.watch.adding import new_page
from tocsin.cli.watch.choosing import BATCH
from tocsin.cli.watch.options import check_group, check_words
from tocsin.configuration import parse_page_settings
from tocsin.errors import UsageError
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.model import JsonObject, NewPage
    from tocsin.ports import Store


class Tally(Struct):
    """What became of a list's lines; `known` counts pages that are watched already, or stand in the list twice."""

    added: int = 0
    known: int = 0
    refused: int = 0
    sitemaps: int = 0


@click.command("import", epilog="Example: tocsin watch import pages.csv")
@click.argument("file", metavar="FILE")
@click.option("--format", "kind", type=click.Choice(FORMATS), help="What the file is; recognised without.")
@click.option("--group", metavar="NAME", help="Into this group, where the list names none.")
@click.option("--strict", is_flag=True, help="Take nothing if any line cannot be taken.")
@click.option("--dry-run", is_flag=True, help="Only say what could not be taken.")
@output.json_option
@click.pass_context
def import_(ctx: click.Context, file: str, kind: str | None, group: str | None, *, strict: bool, dry_run: bool) -> int:
    """Watch the pages of a list: a URL a line, CSV with a column `url`, OPML, or a sitemap, also compressed.

    Good lines are taken; bad ones are named with their number, and the exit status is 1. Pages that are watched
    already stay as they are. - stands for standard input.
    """
    group = check_group(group) if group else "main"
    with opened_source(file, again=strict) as stream:
        reader = _Reader(file, kind, group)
        if strict or dry_run:
            tally = _look(reader, stream)
            if dry_run or tally.refused:
                return _tell(file, tally, taken=False)
            stream.seek(0)
            reader = _Reader(file, kind, group, quiet=True)
        tally = with_store(ctx, lambda store: _import(store, reader, stream), create=True)
    return _tell(file, tally, taken=True)


class _Reader:
    """Turns what a list says into pages, and names on stderr what cannot be taken."""

    def __init__(self, name: str, kind: str | None, group: str, *, quiet: bool = False) -> None:
        self._name, self._kind, self._group, self._quiet = name, kind, group, quiet
        self._judged: dict[tuple[tuple[str, str], ...], JsonObject] = {}
        self.tally = Tally()

    def pages(self, stream: IO[bytes]) -> Iterator[NewPage]:
        """Yield the pages that can be taken, in order."""
        _, items = open_list(stream, name=self._name, kind=self._kind)
        for item in items:
            match item:
                case Entry():
                    page = self._page(item)
                    if page is not None:
                        yield page
                case Refused():
                    self._refuse(item.line, item.reason)
                case Named():
                    self._name_aside(item)

    def _page(self, entry: Entry) -> NewPage | None:
        try:
            group = check_group(entry.group) if entry.group else self._group
            text, settings = check_words(entry.text), self._settings(entry)
            return new_page(watch_url(entry.url), group=group, text=text, settings=settings)
        except UsageError as exc:
            self._refuse(entry.line, str(exc))
            return None

    def _settings(self, entry: Entry) -> JsonObject:
        """Judge settings once for all the lines that have the same."""
        key = tuple(entry.settings.items())
        if key not in self._judged:
            if len(self._judged) >= BATCH:
                self._judged.clear()
            self._judged[key] = parse_page_settings(entry.settings, source="settings")
        return self._judged[key]

    def _refuse(self, line: int, reason: str) -> None:
        self.tally.refused += 1
        if not self._quiet:
            output.note(f"{self._name}:{line}: {reason}")

    def _name_aside(self, item: Named) -> None:
        if item.kind == "sitemap":
            self.tally.sitemaps += 1
        if not self._quiet:
            output.note(f"{self._name}:{item.line}: {item.told}")


def _look(reader: _Reader, stream: IO[bytes]) -> Tally:
    for _ in reader.pages(stream):
        reader.tally.added += 1
    return reader.tally


async def _import(store: Store, reader: _Reader, stream: IO[bytes]) -> Tally:
    tally = reader.tally
    batch: list[NewPage] = []

    async def write(advance: Callable[[int], None]) -> None:
        ids = await store.add_pages(batch, now())
        added = sum(page_id is not None for page_id in ids)
        tally.added += added
        tally.known += len(ids) - added
        advance(len(batch))
        batch.clear()

    with output.progress("Importing") as advance:
        for page in reader.pages(stream):
            batch.append(page)
            if len(batch) == BATCH:
                await write(advance)
        if batch:
            await write(advance)
    return tally


def _tell(file: str, tally: Tally, *, taken: bool) -> int:
    record: dict[str, Any] = {
        "file": file,
        "taken": taken,
        "added": tally.added if taken else 0,
        "known": tally.known,
        "refused": tally.refused,
        "sitemaps": tally.sitemaps,
    }
    if not (tally.added or tally.known or tally.refused or tally.sitemaps):
        output.note(f"{file}: there is no page in it; a list has a URL a line, or a column named url")
        output.emit(record, lambda: None)
        return output.NEEDS_USER
    if tally.sitemaps:
        output.note(f"{file}: names {count(tally.sitemaps, 'sitemap')}: fetch each and import it")
    if taken:
        lines = count(tally.refused, "line")
        told = f"{count(tally.added, 'page')} added, {tally.known:,} watched already, {lines} refused."
    else:
        told = f"Nothing was taken: {count(tally.added, 'page')} could be, {count(tally.refused, 'line')} could not."
    output.emit(record, lambda: output.say(told))
    return output.NEEDS_USER if tally.refused or tally.sitemaps else output.DONE
