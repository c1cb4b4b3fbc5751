"""`tocsin check`: check pages once, now, and report each result as it is written."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from tocsin.cli import output
from tocsin.cli.arguments import parse_steps
from tocsin.cli.files import unreadable
from tocsin.cli.formatting import count, show_bytes, show_time
from tocsin.cli.output import progress
from tocsin.cli.selection import BATCH
from tocsin.cli.session import configuration, now, with_store
from tocsin.configuration import parse_page_settings
from tocsin.errors import BadUrl, UsageError
from tocsin.lists import ListEntry, ListNotice, RefusedLine, open_list
from tocsin.lists.pages import new_page
from tocsin.model import CheckOutcome, PageFilter
from tocsin.model.records.pages import check_of
from tocsin.spec.html.urls import watch_url
from tocsin.spec.signals import SOURCES
from tocsin.spec.signals.weigh import CONTENT, CONTRADICTED, INFERRED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tocsin.app.once import CheckSummary
    from tocsin.model import CheckReport, JsonObject
    from tocsin.ports import Store
    from tocsin.settings import Settings
    from tocsin.spec.html.urls import WatchedUrl


_MANY: Final = 50
_SERVER: Final = "server"
_OF_SIGNALS: Final = "S"
_NO_NEWS: Final = frozenset(
    {CheckOutcome.FIRST, CheckOutcome.UNCHANGED, CheckOutcome.TOO_SOON, CheckOutcome.SKIPPED, CheckOutcome.NOT_SUBJECT}
)
_STYLES: Final = {
    CheckOutcome.MAJOR: "bold red",
    CheckOutcome.MINOR: "yellow",
    CheckOutcome.UNREACHABLE: "bold magenta",
    CheckOutcome.SUSPECT: "magenta",
}
_MEANING: Final = {
    CheckOutcome.NOT_SUBJECT: "no alerts: its mode is auto, and it has no topper element",
    CheckOutcome.SUSPECT: "the page was not compared; if this is the page now: tocsin watch set URL --suspects accept",
}
_SKIPPED: Final = {"": "left out", "off": "it is off", "paused": "it is paused, or was removed from the list"}


def check_pages(
    settings: Settings,
    page_ids: list[int] | None,
    *,
    on_report: Callable[[CheckReport], None],
    request_id: int | None = None,
    total: int | None = None,
    names_silent: bool = False,
) -> int:
    """Check these pages now (all that are watched: None), with a progress bar; returns the exit status.

    request_id  a request in the store that wants them already
    total       how many these are, where they are not named
    names_silent  the caller tells a person which pages declare no change dates, so that their number is not told
    What was done is committed when the user interrupts it.
    """
    from tocsin.app.executing import execute  # noqa: PLC0415 - commands that check nothing need no engine
    from tocsin.app.once import check  # noqa: PLC0415 - commands that check nothing need no engine

    with progress("Checking", total=total if page_ids is None else len(page_ids)) as advance:

        def told(report: CheckReport) -> None:
            advance(1)
            on_report(report)

        summary = execute(check(settings, page_ids=page_ids, request_id=request_id, on_report=told))
    return conclude(summary, names_silent=names_silent)


class ReportPrinter:
    """Prints each page as it is checked; of many pages, on a terminal, only news, and the rest as sums."""

    def __init__(self, pages: int) -> None:
        # A program wants every line; a person looks for what is new among hundreds.
        self._is_brief = pages > _MANY and not output.is_json()
        self._quiet: Counter[str] = Counter()

    def tell(self, report: CheckReport) -> None:
        """Print one page, or count it."""
        if self._is_brief and report.outcome in _NO_NEWS:
            self._quiet[report.outcome] += 1
        else:
            output.emit(check_of(report), partial(print_report, report))

    def close(self) -> None:
        """Print the sums."""
        for outcome, pages in sorted(self._quiet.items()):
            output.say(f"{outcome:<12} {count(pages, 'page')}")


def conclude(summary: CheckSummary, *, names_silent: bool = False) -> int:
    """Say on stderr what the user should know of the whole, and return the exit status."""
    # To a program each report says so itself.
    if summary.not_modified and not output.is_json():
        output.note(f"{summary.not_modified:,} not modified, {show_bytes(summary.saved_bytes)} saved")
    if summary.silent and (output.is_json() or not names_silent):
        declare = "declares" if summary.silent == 1 else "declare"
        output.note(
            f"{count(summary.silent, 'page')} {declare} no change dates; changes of content are reported as inferred"
        )
    if summary.outage:
        output.note(
            "No host could be reached: the connection of this machine is probably down, and no question is asked."
        )
    if summary.shortage is not None:
        output.note(f"{count(summary.put_off, 'page')} put off: {summary.shortage}")
    if summary.held:
        output.note(f"{count(summary.held, 'page')} not checked, because of invalid settings; see: tocsin doctor")
    unreachable = summary.outcomes.get(CheckOutcome.UNREACHABLE, 0)
    if unreachable:
        output.note(f"{count(unreachable, 'page')} unreachable; see: tocsin attention list")
    # A change is no failure: scripts look at the reports for it, and at the status for what they must do.
    return output.NEEDS_USER if unreachable or summary.held or summary.put_off else output.DONE


def print_report(report: CheckReport) -> None:
    """Print a check as one line, with details below."""
    because = "; ".join(words for words in (_ruled(report), basis_in_words(report)) if words)
    because = f" ({because})" if because else ""
    outcome = CheckOutcome(report.outcome)
    output.say(f"{outcome:<12} {report.url}{because}", style=_STYLES.get(outcome))
    details = []
    if report.changed:
        details.append(f"changed: {', '.join(report.changed)}")
    if report.changed and report.signals:
        details.append(f"signals: {', '.join(report.signals)}")
    if report.error:
        details.append(f"{report.error[0]}: {report.error[1]}")
    if report.next_try and outcome is not CheckOutcome.SKIPPED:
        details.append(f"next try: {show_time(report.next_try)}")
    # Only where it leads elsewhere; each answer has a final URL.
    if report.final_url not in (None, report.url):
        details.append(f"redirected to: {report.final_url}")
    if outcome is CheckOutcome.SKIPPED:
        until = f"; the next request is possible at {show_time(report.next_try)}" if report.next_try else ""
        details.append(f"not fetched: {_SKIPPED.get(report.problem or '', report.problem)}{until}")
    elif report.problem:
        details.append(f"problem: {report.problem}")
    if outcome in _MEANING:
        details.append(_MEANING[outcome])
    for detail in details:
        output.say(f"{'':<12} {detail}")


def basis_in_words(report: CheckReport) -> str:
    """Say how we know of a change; "" where the specification's own elements plainly declare it, or there is none."""
    if report.outcome not in (CheckOutcome.MAJOR, CheckOutcome.MINOR):
        return ""
    declared = [name for name in report.signals if SOURCES.get(name, _SERVER) != _SERVER]
    names = ", ".join(report.signals)
    if report.basis == CONTRADICTED:
        witness = report.witness
        since = f", since {show_time(witness.since)}" if witness is not None and witness.since is not None else ""
        if CONTENT in report.signals and not (report.changed or declared):
            if witness is None or witness.value is None:
                return f"contradicted: {names} changed, but nothing that the page declares"
            return f"contradicted: {names} changed, but {witness.signal} says {witness.value} as before{since}"
        return f"contradicted: {', '.join((*report.changed, *declared))} changed, but the content is as before{since}"
    if not _is_by_signals(report):
        return ""
    return f"inferred: {names}" if report.basis == INFERRED else f"declared by {', '.join(declared)}"


def _ruled(report: CheckReport) -> str:
    if report.reason:
        return f"{report.rule}: {report.reason}"
    return report.rule or "" if _is_by_signals(report) else ""


def _is_by_signals(report: CheckReport) -> bool:
    """Say whether signals decided, and not the specification."""
    return bool(report.signals) and (report.rule or "").startswith(_OF_SIGNALS)


def print_declared(report: CheckReport) -> None:
    """Print which change fields a page declares, or that it declares none."""
    if report.declares:
        output.say(f"{'':<12} declares: {', '.join(report.declares)}")
    elif report.outcome in (CheckOutcome.FIRST, CheckOutcome.UNCHANGED, CheckOutcome.NOT_SUBJECT):
        output.say(f"{'':<12} declares no change dates; changes of its content are reported as inferred")


@click.command("check", epilog="Example: tocsin check https://example.org/news --json")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--from", "file", metavar="FILE", help="Also check the pages of this list (- for standard input).")
@click.option(
    "--fetch",
    metavar="http|browser|auto",
    help="How pages that are not watched yet are read, now and later; a browser runs their scripts.",
)
@click.option(
    "--step", "steps", multiple=True, metavar="STEP", help="The same with a step in the browser: click .more."
)
@output.json_option
@click.pass_context
def command(
    ctx: click.Context, urls: tuple[str, ...], file: str | None, fetch: str | None, steps: tuple[str, ...]
) -> int:
    """Check pages once, now; without URLs, all watched pages. Changes are stored, compared and delivered.

    A page that is not watched yet is added. The exit status is 1 if a page is unreachable.
    """
    settings = configuration(ctx).settings
    of_added = parse_page_settings({"fetch": fetch}) if fetch is not None else {}
    if steps:
        if fetch != "browser":
            raise UsageError("--step: steps are taken in the browser; add --fetch browser")
        of_added |= parse_steps(steps)
    refused: list[str] = []
    if urls or file is not None:
        watched = [watch_url(url) for url in urls]
        if file is not None:
            listed = list(_read(file, refused))
            if not (listed or refused):
                output.note(f"{file}: contains no page; a list has one URL per line, or a column named url")
                refused.append(file)
            watched += listed
        ids, request = with_store(ctx, lambda store: _ask(store, watched, of_added), create=True)
        teller = ReportPrinter(len(ids))
        status = check_pages(settings, ids, request_id=request, on_report=teller.tell) if ids else output.DONE
    else:
        total, paused = with_store(ctx, _count, create=True)
        if paused:
            go_on = "resume with: tocsin watch set --all --resume"
            output.note(f"PAUSED, and not checked: {count(paused, 'page')}; {go_on}")
        if not total:
            if not paused:
                output.note("No page is watched; add one with: tocsin watch add URL")
            return output.DONE
        teller = ReportPrinter(total)
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
                    case ListEntry():
                        try:
                            yield watch_url(item.url)
                        except BadUrl as exc:
                            reason = str(exc)
                    case RefusedLine():
                        reason = item.reason
                    case ListNotice(kind="sitemap"):
                        reason = item.told
                    case ListNotice():
                        output.note(f"{file}:{item.line}: {item.told}")
                if reason:
                    refused.append(f"{file}:{item.line}: {reason}")
                    output.note(refused[-1])
    except (OSError, ValueError) as exc:
        raise UsageError(unreadable(file, exc)) from exc


async def _count(store: Store) -> tuple[int, int]:
    """Count the pages that a check of all means, and those that it leaves out."""
    return await store.count_pages(PageFilter(paused=False)), await store.count_pages(PageFilter(paused=True))


async def _ask(store: Store, watched: Iterable[WatchedUrl], of_added: JsonObject) -> tuple[list[int], int]:
    """Ask for the pages with these URLs, in one request; those that are not watched are added, and named.

    of_added  settings of those
    """
    pages = list({found.url: found for found in watched}.values())
    request = await store.open_request(now())
    ids: list[int] = []
    added: list[str] = []
    for start in range(0, len(pages), BATCH):
        some = pages[start : start + BATCH]
        made = await store.add_pages(
            [new_page(found, settings=of_added or None) for found in some], now(), request=request
        )
        added += [found.url for found, page_id in zip(some, made, strict=True) if page_id is not None]
        ids += [page_id for page_id in made if page_id is not None]
        known = [found.url for found, page_id in zip(some, made, strict=True) if page_id is None]
        before = await _known(store, known)
        await store.request_check(before, now(), request=request)
        ids += before
    _name_added(added)
    if of_added and (kept := len(ids) - len(added)):
        output.note(f"{count(kept, 'page')} watched already, with settings unchanged; see: tocsin watch set --help")
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
