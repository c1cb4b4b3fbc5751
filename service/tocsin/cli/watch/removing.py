"""`tocsin watch remove` and `clear`: fewer pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.asking import careful, confirm, count, removal
from tocsin.cli.session import with_store
from tocsin.cli.watch.choosing import BATCH, batches, pages_named
from tocsin.errors import UsageError
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.ports import Store


@click.command("remove", epilog="Example: tocsin watch remove https://example.org/news --yes")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--group", metavar="NAME", help="All pages of this group.")
@click.option("--host", metavar="HOST", help="All pages of this host.")
@click.option("--matching", metavar="PART", help="All pages whose URL contains this.")
@careful
@output.json_option
@click.pass_context
def remove(
    ctx: click.Context,
    urls: tuple[str, ...],
    group: str | None,
    host: str | None,
    matching: str | None,
    *,
    dry_run: bool,
    yes: bool,
) -> None:
    """Take pages off the list, with all that is stored of them."""
    conditions = PageFilter(group=group, host=host, matching=matching)
    if bool(urls) == (conditions != PageFilter()):
        raise UsageError("name the pages to remove, or give --group, --host or --matching; not both")
    ids = with_store(ctx, lambda store: _choose(store, urls, conditions))
    _remove(ctx, ids, dry_run=dry_run, yes=yes)


@click.command("clear", epilog="Example: tocsin watch clear --dry-run")
@careful
@output.json_option
@click.pass_context
def clear(ctx: click.Context, *, dry_run: bool, yes: bool) -> None:
    """Empty the list: every page goes, with all that is stored of it."""
    ids = with_store(ctx, lambda store: _choose(store, (), PageFilter()))
    _remove(ctx, ids, dry_run=dry_run, yes=yes)


async def _choose(store: Store, urls: Sequence[str], conditions: PageFilter) -> list[int]:
    if urls:
        return [page.id for page in await pages_named(store, urls)]
    return [page.id async for pages in batches(store, conditions) for page in pages]


def _remove(ctx: click.Context, ids: list[int], *, dry_run: bool, yes: bool) -> None:
    act = removal(len(ids))
    if ids and not dry_run:
        confirm(act, yes=yes)
    removed = 0 if dry_run or not ids else with_store(ctx, lambda store: _remove_all(store, ids))
    record = {"pages": len(ids), "removed": removed, "dry_run": dry_run}
    told = f"Would {act}." if dry_run else f"Removed {count(removed, 'page')}."
    output.emit(record, lambda: output.say(told))


async def _remove_all(store: Store, ids: Sequence[int]) -> int:
    removed = 0
    with output.progress("Removing", total=len(ids)) as advance:
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            removed += await store.remove_pages(some)
            advance(len(some))
    return removed
