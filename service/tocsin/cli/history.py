"""`tocsin history`: what was stored of a page, what each comparison found, and how its items changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.attention import print_copies
from tocsin.cli.formatting import show_bytes, show_time
from tocsin.cli.selection import pages_named
from tocsin.cli.session import with_store
from tocsin.model.records.history import history_state_of
from tocsin.model.records.pages import copies_of, why_disallowed
from tocsin.spec.microdata.changes.words import count_changes, tell_changes
from tocsin.spec.signals.weigh import DECLARED
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.model import HistoryEntry, ItemChangeEntry, KnownCopy, PageRow, VerdictEntry
    from tocsin.ports import Store

# Upper limit of lines for one change of items; `--json` has all.
_MOST_LINES = 12


@click.command("history", epilog="Example: tocsin history https://example.org/news")
@click.argument("url", metavar="URL")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Maximum number of states."
)
@click.option("--copies", is_flag=True, help="List known copies of the page instead.")
@output.json_option
@click.pass_context
def command(ctx: click.Context, url: str, limit: int, *, copies: bool) -> None:
    """Show the states of a page, newest first, and the changes that each comparison found.

    Each state also lists the changes of the page's items (events, contacts and the like) while it was the latest; the
    oldest state kept lists earlier ones too. At most 1,000 changes of items are shown.

    States that have left the table are history: they are neither compared nor exported.
    """
    if copies:
        _tell_copies(with_store(ctx, lambda store: _read_copies(store, url)))
        return
    page, entries = with_store(ctx, lambda store: _read(store, url, limit))
    if output.is_json():
        output.print_json(*map(history_state_of, entries))
        return
    why = why_disallowed(page)
    if why is not None:
        output.say(f"Disallowed: {why}")
    if not entries:
        mend = "check it with: tocsin check URL" if why is None else "it is fetched as soon as its robots.txt allows it"
        output.say(f"No state of this page is stored yet; {mend}")
        return
    output.table(
        ("stored", "last", "times", "kept", "changes", "fields"), [_row(entry) for entry in entries], head="stored"
    )
    if said := [
        term for term, is_said in (("noindex", page.flags.noindex), ("nofollow", page.flags.nofollow)) if is_said
    ]:
        output.say(f"The page asks robots: {', '.join(said)}")
    if page.saved_bytes:
        output.say(f"Bytes saved by 304 answers: {show_bytes(page.saved_bytes)}")


async def _read_copies(store: Store, url: str) -> list[KnownCopy]:
    (page,) = await pages_named(store, [url])
    return await store.copies_of(page.url)


def _tell_copies(copies: list[KnownCopy]) -> None:
    if output.is_json():
        output.print_json(*copies_of(copies))
        return
    print_copies(copies)


async def _read(store: Store, url: str, limit: int) -> tuple[PageRow, list[HistoryEntry]]:
    (page,) = await pages_named(store, [url])
    return page, await store.history(page.url, limit=limit)


def _row(entry: HistoryEntry) -> tuple[object, ...]:
    fields = "\n".join(
        f"{name}: {output.clean(value)}" for name, value in zip(FIELDS, entry.fields, strict=True) if value is not None
    )
    told = [(verdict.at, list(_found(verdict))) for verdict in entry.verdicts]
    told += [(change.at, list(_changed(change))) for change in entry.items]
    found = "\n".join(line for _, lines in sorted(told, key=lambda each: each[0]) for line in lines)
    kept = "in table" if entry.in_table else "history"
    return (show_time(entry.first_at), show_time(entry.last_at), entry.storings, kept, found or None, fields or None)


def _found(verdict: VerdictEntry) -> Iterator[str]:
    """Say what a comparison found and when, on what basis, and how it came about where more than the fields say so."""
    data, basis = verdict.data, verdict.basis
    heard = data.get("trace", [])[1:]
    told = [part for part in (verdict.reason, basis if heard or basis != DECLARED else None) if part]
    yield f"{show_time(verdict.at)} {verdict.outcome} ({verdict.rule}{': ' if told else ''}{', '.join(told)})"
    values = {each.get("signal"): (each.get("previous"), each.get("latest")) for each in data.get("signals", [])}
    for step in heard:
        why = str(step.get("why"))
        previous, latest = values.get(why.partition(" ")[0], (None, None))
        differ = f": {previous} → {latest}" if previous and latest else ""
        yield f"  {step.get('rule')} {step.get('says')}: {output.clean(why + differ)}"


def _changed(change: ItemChangeEntry) -> Iterator[str]:
    """Say how items changed, and when."""
    yield f"{show_time(change.at)} items: {count_changes(change.changes)}"
    lines = [output.clean(line) for line in tell_changes(change.changes)]
    # The note that changes were cut comes last, and is never left out.
    note = [lines.pop()] if change.changes["cut"] else []
    shown = lines if len(lines) <= _MOST_LINES else lines[: _MOST_LINES - 1]
    yield from (f"  {line}" for line in shown)
    if more := len(lines) - len(shown):
        yield f"  … and {more} more; --json has them"
    yield from (f"  {line}" for line in note)
