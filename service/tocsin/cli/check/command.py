"""`tocsin check`: check pages once, now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.check.checking import Teller, check_pages
from tocsin.cli.formatting import count
from tocsin.cli.session import configuration, now, with_store
from tocsin.cli.sources import unreadable
from tocsin.cli.watch.choosing import BATCH
from tocsin.errors import BadUrl, UsageError
from tocsin.lists import Entry, Named, Refused, open_list
from tocsin.lists.pages import new_page
from tocsin.model import PageFilter
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.ports import Store
    from tocsin.spec.html.urls import WatchedUrl


@click.command("check", epilog="Example: tocsin check https://example.org/news --json")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--from", "file", metavar="FILE", help="Also the pages of this list (- for standard input).")
@output.json_option
@click.pass_context
def command(ctx: click.Context, urls: tuple[str, ...], file: str | None) -> int:
    """Check these pages once, now, or all that are watched: store, compare, decide, deliver.

    A page that is not watched yet is added to the list. Exit status 1 if a page is unreachable.
    """
    settings = configuration(ctx).settings
    refused: list[str] = []
    if urls or file is not None:
        watched = [watch_url(url) for url in urls]
        if file is not None:
            listed = list(_read(file, refused))
            if not (listed or refused):
                output.note(f"{file}: there is no page in it; a list has a URL a line, or a column named url")
                refused.append(file)
            watched += listed
        ids, request = with_store(ctx, lambda store: _ask(store, watched), create=True)
        teller = Teller(len(ids))
        status = check_pages(settings, ids, request_id=request, on_report=teller.tell) if ids else output.DONE
    else:
        total, paused = with_store(ctx, _count, create=True)
        if paused:
            go_on = "go on with: tocsin watch set --all --resume"
            output.note(f"PAUSED, and not checked: {count(paused, 'page')}; {go_on}")
        if not total:
            if not paused:
                output.note("No page is watched; add one with: tocsin watch add URL")
            return output.DONE
        teller = Teller(total)
        status = check_pages(settings, None, total=total, on_report=teller.tell)
    teller.close()
    return max(status, output.NEEDS_USER if refused else output.DONE)


def _read(file: str, refused: list[str]) -> Iterator[WatchedUrl]:
    """Read a list; what cannot be taken is named on stderr."""
    try:
        with click.open_file(file, "rb") as stream:
            _, items = open_list(stream, name=file)
            for item in items:
                reason = ""
                match item:
                    case Entry():
                        try:
                            yield watch_url(item.url)
                        except BadUrl as exc:
                            reason = str(exc)
                    case Refused():
                        reason = item.reason
                    case Named(kind="sitemap"):
                        reason = item.told
                    case Named():
                        output.note(f"{file}:{item.line}: {item.told}")
                if reason:
                    refused.append(f"{file}:{item.line}: {reason}")
                    output.note(refused[-1])
    except (OSError, ValueError) as exc:
        raise UsageError(unreadable(file, exc)) from exc


async def _count(store: Store) -> tuple[int, int]:
    """Count the pages that a check of all means, and those that it leaves out."""
    return await store.count_pages(PageFilter(paused=False)), await store.count_pages(PageFilter(paused=True))


async def _ask(store: Store, watched: Iterable[WatchedUrl]) -> tuple[list[int], int]:
    """Ask for the pages with these URLs, in one request; those that are not watched are added, and named."""
    pages = list({found.url: found for found in watched}.values())
    request = await store.open_request(now())
    ids: list[int] = []
    added: list[str] = []
    for start in range(0, len(pages), BATCH):
        some = pages[start : start + BATCH]
        made = await store.add_pages([new_page(found) for found in some], now(), request=request)
        added += [found.url for found, page_id in zip(some, made, strict=True) if page_id is not None]
        ids += [page_id for page_id in made if page_id is not None]
        known = [found.url for found, page_id in zip(some, made, strict=True) if page_id is None]
        before = await _known(store, known)
        await store.request_check(before, now(), request=request)
        ids += before
    _name_added(added)
    return ids, request


async def _known(store: Store, urls: Sequence[str]) -> list[int]:
    if not urls:
        return []
    return [page.id for page in await store.pages(PageFilter(urls=tuple(urls)), limit=len(urls))]


def _name_added(added: Sequence[str]) -> None:
    few = 5
    for url in added[:few]:
        output.note(f"{url}: was not watched; added")
    if len(added) > few:
        output.note(f"{count(len(added) - few, 'page')} more were not watched; added")
