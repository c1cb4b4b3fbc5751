"""`tocsin watch remove` and `clear`: fewer pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm, removal
from tocsin.cli.formatting import count
from tocsin.cli.progress import steps
from tocsin.cli.session import with_store
from tocsin.cli.watch.choosing import select
from tocsin.errors import UsageError
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from tocsin.cli.watch.choosing import Selection
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
    selection = with_store(ctx, lambda store: select(store, urls, conditions))
    _remove(ctx, selection, dry_run=dry_run, yes=yes)


@click.command("clear", epilog="Example: tocsin watch clear --dry-run")
@careful
@output.json_option
@click.pass_context
def clear(ctx: click.Context, *, dry_run: bool, yes: bool) -> None:
    """Empty the list: every page goes, with all that is stored of it."""
    selection = with_store(ctx, lambda store: select(store, (), PageFilter()))
    _remove(ctx, selection, dry_run=dry_run, yes=yes)


def _remove(ctx: click.Context, selection: Selection, *, dry_run: bool, yes: bool) -> None:
    act = removal(selection.pages)
    removed = 0
    if selection.pages and not dry_run:
        confirm(act, yes=yes)
        removed = with_store(ctx, lambda store: _remove_all(store, selection))
    record = {"pages": selection.pages, "removed": removed, "dry_run": dry_run}
    told = f"Would {act}." if dry_run else f"Removed {count(removed, 'page')}."
    output.emit(record, lambda: output.say(told))


async def _remove_all(store: Store, selection: Selection) -> int:
    removed = 0
    with steps("Removing", "removed", total=selection.pages) as on_step:
        async for some in selection.batches(store):
            removed += await store.remove_pages(some, on_step=on_step)
    return removed
