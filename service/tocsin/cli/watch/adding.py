"""`tocsin watch add`: more pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.check.checking import check_pages, print_declared, print_report, to_record
from tocsin.cli.session import configuration, now, with_store
from tocsin.cli.watch.options import page_options
from tocsin.lists.pages import check_group, check_words, new_page
from tocsin.model import CheckOutcome, CheckReport
from tocsin.spec.html.urls import watch_url
from tocsin.spec.topper.state import PageState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import JsonObject, NewPage
    from tocsin.ports import Store

_NOT_FIRST: Final = frozenset({CheckOutcome.SKIPPED, CheckOutcome.UNCHANGED, CheckOutcome.TOO_SOON})
"""A page that was only just added ends so where a running service had found and checked it before we asked for it."""


@click.command("add", epilog="Example: tocsin watch add https://example.org/news --every 6h")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--group", default="main", show_default=True, metavar="NAME", help="Into this group.")
@click.option("--text", metavar="WORDS", help="Your own words on the page, at most 253 characters.")
@page_options
@click.option("--no-check", is_flag=True, help="Do not check the page at once.")
@output.json_option
@click.pass_context
def add(
    ctx: click.Context, urls: tuple[str, ...], group: str, text: str | None, settings: JsonObject, *, no_check: bool
) -> int:
    """Watch these pages, check them at once, and show what they declare.

    A page that is watched already stays as it is; it is checked where it could not be received so far.
    """
    group, text = check_group(group), check_words(text)
    watched = list({found.url: found for found in map(watch_url, urls)}.values())
    pages = [new_page(found, group=group, text=text, settings=settings) for found in watched]
    ids, missing, request = with_store(ctx, lambda store: _add(store, pages, is_checked=not no_check), create=True)
    added = [page_id for page_id in ids if page_id is not None]
    for found, page_id in zip(watched, ids, strict=True):
        if page_id is None:
            tried = "; it was not received yet, and is tried again" if found.url in missing and not no_check else ""
            output.note(f"{found.url}: watched already; nothing was changed (see: tocsin watch set){tried}")
    reports: dict[str, CheckReport] = {}
    status = output.DONE
    # What was added is in the request that it was added with; the others need one of their own.
    for some, request_id in ((added, request), (list(missing.values()), None)):
        if some and not no_check:
            checked = check_pages(
                configuration(ctx).settings,
                some,
                request_id=request_id,
                on_report=lambda report: reports.update({report.url: report}),
            )
            status = max(status, checked)
    early = [url for url, report in reports.items() if report.outcome in _NOT_FIRST]
    if early:
        with_store(ctx, lambda store: _look_up(store, early, reports))
    for found, page_id in zip(watched, ids, strict=True):
        _tell(found.url, page_id, reports.get(found.url))
    return status


async def _add(
    store: Store, pages: Sequence[NewPage], *, is_checked: bool
) -> tuple[list[int | None], dict[str, int], int | None]:
    """Add pages, to be checked by a request of ours.

    Returns their ids; the ids of pages that are watched already and were never received, by URL; and the request.
    """
    request = await store.open_request(now()) if is_checked else None
    ids = await store.add_pages(pages, now(), request=request)
    known = [await store.page(page.url) for page, page_id in zip(pages, ids, strict=True) if page_id is None]
    return ids, {row.url: row.id for row in known if row is not None and row.fields is None}, request


async def _look_up(store: Store, urls: Sequence[str], reports: dict[str, CheckReport]) -> None:
    """Tell pages that a running service has checked between our adding and our asking, as it found them."""
    for url in urls:
        page = await store.page(url)
        if page is not None and page.fields is not None:
            output.note(f"{url}: checked by the running service")
            reports[url] = as_first(reports[url], PageState(page.fields).declares)


def as_first(report: CheckReport, declares: tuple[str, ...]) -> CheckReport:
    """Tell a check of a page that had just been checked first as that first check; what it was answered is not known.

    declares  as the first check found it
    """
    # Our own check met a page that is as it was a moment before, or was put aside for that: no news, and no problem.
    return CheckReport(report.url, CheckOutcome.FIRST, rule="T40", basis="declared", declares=declares)


def _tell(url: str, page_id: int | None, report: CheckReport | None) -> None:
    record: dict[str, Any] = {"url": url, "added": page_id is not None, "check": to_record(report) if report else None}

    def human() -> None:
        if page_id is not None:
            output.say(f"{'added':<12} {url}", style="green")
        if report is not None:
            print_report(report)
            print_declared(report)

    output.emit(record, human)
