"""Checks that are asked for: started, followed, reported."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query, Response
from pydantic import ConfigDict, Field

from tocsin.model import CheckOutcome
from tocsin.model.records.fields import Part, time_or_none
from tocsin.model.records.pages import CheckRequest, FinishedCheck, check_of
from tocsin.server.access.rights import Reading, Writing
from tocsin.server.actions import Act, check_pages
from tocsin.server.api.operations import IdInBody, Input, NumberInPath, make_router, numbers
from tocsin.server.decisions import demand_page
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Parts

router = make_router("pages")

# With more reports than this, skipped pages are not counted: each request for the progress would read them all.
MOST_COUNTED: Final = 1000


class PagesToCheck(Input):
    """Which pages to check now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["42", "43"]}]})

    ids: Annotated[list[IdInBody], Field(min_length=1, max_length=10_000)]


class ReportsAfter(Input):
    """Which reports to list."""

    after: Annotated[int, Field(ge=0, le=2**53, description="position of the last report that is known")] = 0


@router.post("/pages/{page_id}/check", status_code=202, summary="Check a page now", operation_id="check_page")
async def check_page(
    caller: Writing, parts: Given, jobs: Work, response: Response, page_id: NumberInPath
) -> CheckRequest:
    """Check a page now, at its host's turn; what it finds is reported like that of any other check.

    A page that was received within its `min_gap` is not asked for again: `skipped` counts it, `skipped_until` says
    when it can be, and its report has the outcome `skipped`, with the reason in `problem`.
    """
    page = await demand_page(parts, int(page_id))
    return await _asked(parts, await check_pages(parts, Act(jobs, caller), [page.id]), response)


@router.post("/checks", status_code=202, summary="Check pages now", operation_id="check_pages")
async def check_many(
    caller: Writing, parts: Given, jobs: Work, response: Response, wanted: PagesToCheck
) -> CheckRequest:
    """Check these pages now; to check all pages of a list, use POST /api/v1/pages/bulk."""
    return await _asked(parts, await check_pages(parts, Act(jobs, caller), numbers(wanted.ids)), response)


@router.get("/checks/{check_id}", summary="Show the progress of checks", operation_id="show_check")
async def show_check(_: Reading, parts: Given, check_id: NumberInPath) -> CheckRequest:
    """Show the progress of checks that were asked for.

    Requests are deleted a week after they are over: an unknown one is shown as over, with no pages.
    """
    return await _progress(parts, int(check_id))


@router.get("/checks/{check_id}/reports", summary="List what checks found", operation_id="list_reports")
async def reports(
    _: Reading, parts: Given, check_id: NumberInPath, asked: Annotated[ReportsAfter, Query()]
) -> Part[FinishedCheck]:
    """List what these checks found, in order of completion; ask again with the last `position` as `after`."""
    found = await parts.store.request_reports(int(check_id), after=asked.after)
    items = [FinishedCheck(position=position, report=check_of(report)) for position, report in found]
    return Part(items=items, next=None)


async def _asked(parts: Parts, check_id: int, response: Response) -> CheckRequest:
    response.headers["Location"] = f"/api/v1/checks/{check_id}"
    return await _progress(parts, check_id)


async def _progress(parts: Parts, check_id: int) -> CheckRequest:
    done, total = await parts.store.request_progress(check_id)
    skipped, until = 0 if total <= MOST_COUNTED else None, 0
    if done and skipped is not None:
        for _, report in await parts.store.request_reports(check_id, after=0):
            if report.outcome == CheckOutcome.SKIPPED:
                skipped, until = skipped + 1, max(until, report.next_try or 0)
    # A request for no pages is over; one that is unknown, or was deleted, looks the same.
    return CheckRequest(
        id=str(check_id),
        done=done,
        total=total,
        is_over=done >= total,
        skipped=skipped,
        skipped_until=time_or_none(until or None),
    )
