"""`tocsin watch` and `tocsin watch list`: the pages that are watched, and how their last checks ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
from msgspec import structs

from tocsin.cli import output
from tocsin.cli.formatting import count, show_time
from tocsin.cli.selection import BATCH, demand_group, why_disallowed
from tocsin.cli.session import configuration, with_store
from tocsin.cli.watch.editing import add, clear, remove, set_
from tocsin.cli.watch.exchange import export, import_
from tocsin.model import CheckOutcome, PageFilter
from tocsin.model.records.pages import Modes, is_subject, page_of
from tocsin.spec.topper.state import FIELDS, TOPPER_FIELDS

if TYPE_CHECKING:
    from tocsin.model import PageRow
    from tocsin.ports import Store


_ON_TERMINAL: Final = 500
_MOST_REASONS: Final = 5


@click.command("list", epilog="Example: tocsin watch list --topper")
@click.option("--topper", is_flag=True, help="Only pages with topper elements; shows their content.")
@click.option("--subject", is_flag=True, help="Only pages whose changes are alerted now.")
@click.option("--group", metavar="NAME", help="Only pages of this group.")
@click.option("--host", metavar="HOST", help="Only pages of this host.")
@click.option("--matching", metavar="PART", help="Only pages whose URL contains this.")
@click.option(
    "--outcome",
    type=click.Choice([str(outcome) for outcome in CheckOutcome]),
    help="Only pages whose last check had this outcome.",
)
@click.option("--paused/--not-paused", default=None, help="Only pages that are (not) paused.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of pages; 500 on a terminal.")
@output.json_option
@click.pass_context
def list_(
    ctx: click.Context,
    group: str | None,
    host: str | None,
    matching: str | None,
    outcome: str | None,
    limit: int | None,
    *,
    topper: bool,
    subject: bool,
    paused: bool | None,
) -> None:
    """List the watched pages, the first added first, with the outcome of the last check and the time of the next.

    The API and the web page list the last added first.
    """
    which = PageFilter(group=group, host=host, matching=matching, outcome=outcome, topper=topper, paused=paused)
    if limit is None and not output.is_json():
        limit = _ON_TERMINAL
    base = configuration(ctx).settings.pages.mode
    with_store(ctx, lambda store: _print_list(store, which, base=base, limit=limit, subject=subject))


async def _print_list(store: Store, which: PageFilter, *, base: str, limit: int | None, subject: bool) -> None:
    """Print page by page to a program, one table to a person; memory stays flat in the first case."""
    kept: list[PageRow] = []
    after, printed = 0, 0
    which = structs.replace(which, group=await demand_group(store, which.group))
    modes = Modes(base, *await store.overrides())
    while (limit is None or printed < limit) and (pages := await store.pages(which, after_id=after, limit=BATCH)):
        after = pages[-1].id
        meant = [page for page in pages if not subject or is_subject(page, modes.of(page)[0])]
        meant = meant[: None if limit is None else limit - printed]
        printed += len(meant)
        if output.is_json():
            output.print_json(*(page_of(page, modes) for page in meant))
        else:
            kept += meant
    if output.is_json():
        return
    _print(kept, modes, topper=which.topper)
    total = await store.count_pages(which)
    if total > printed and not subject:
        output.note(f"{count(total - printed, 'page')} more; give --limit, or pipe the list")


def _print(pages: list[PageRow], modes: Modes, *, topper: bool) -> None:
    if not pages:
        output.say("No watched page matches; add one with: tocsin watch add URL")
        return
    if topper:
        rows = [
            (
                page.url,
                *(page.state.fields[FIELDS.index(field)] if page.state.fields else None for field in TOPPER_FIELDS),
            )
            for page in pages
        ]
        output.table(("page", *TOPPER_FIELDS), rows, head="page")
        return
    grouped = len({page.group for page in pages}) > 1
    stands = [_row(page, modes.of(page)[0], grouped=grouped) for page in pages]
    columns = ("page", "group", "mode", "last check", "outcome", "next check", "reason")
    output.table(columns if grouped else (columns[0], *columns[2:]), stands, head="page")
    _tell_disallowed(pages)
    _tell_suspects(pages)
    if shells := sum(page.flags.is_shell for page in pages):
        output.say(
            f"Built by scripts: {count(shells, 'page')}; scripts are not run, so changes of this text are not seen"
        )
    paused = sum(page.paused for page in pages)
    if paused:
        output.say(f"PAUSED: {count(paused, 'page')}; resume with: tocsin watch set --resume", style="bold red")


def _tell_disallowed(pages: list[PageRow]) -> None:
    disallowed = [why for page in pages if (why := why_disallowed(page)) is not None]
    for why in disallowed[:_MOST_REASONS]:
        output.say(f"Disallowed: {why}")
    more = len(disallowed) - _MOST_REASONS
    if more > 0:
        output.say(f"{count(more, 'page')} more disallowed; reasons: tocsin history URL")


def _tell_suspects(pages: list[PageRow]) -> None:
    suspects = [page for page in pages if (page.last.report or {}).get("outcome") == CheckOutcome.SUSPECT]
    for page in suspects[:_MOST_REASONS]:
        output.say(f"Held back: {page.url}: {(page.last.report or {}).get('problem')}")
    if suspects:
        output.say("If this is the page now: tocsin watch set URL --suspects accept")
    more = len(suspects) - _MOST_REASONS
    if more > 0:
        output.say(f"{count(more, 'page')} more held back; list them: tocsin watch list --outcome suspect --json")


def _row(page: PageRow, mode: str, *, grouped: bool) -> tuple[object, ...]:
    outcome = (page.last.report or {}).get("outcome")
    if page.flags.is_shell:
        outcome = f"{outcome}, built by scripts"
    group = (page.group,) if grouped else ()
    stands = (show_time(page.last.checked_at), outcome, show_time(page.due.at), page.due.why)
    return (page.url, *group, "PAUSED" if page.paused else mode, *stands)


@click.group("watch", epilog="Example: tocsin watch add https://example.org/news --every 6h")
def command() -> None:
    """Manage the list of watched pages."""


for subcommand in (add, remove, list_, set_, import_, export, clear):
    command.add_command(subcommand)

__all__ = ["command"]
