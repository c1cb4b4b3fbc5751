"""Jobs: work that goes on after its request was answered."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, Response
from pydantic import ConfigDict, Field
from starlette.responses import StreamingResponse

from tocsin.lists import FORMATS
from tocsin.model import CheckOutcome
from tocsin.model.records.fields import Part, time_or_none
from tocsin.model.records.pages import CheckRequest, FinishedCheck, check_of
from tocsin.model.records.service import JobStatus, job_of
from tocsin.server.actions import Act, check_pages
from tocsin.server.api.operations import GroupName, IdInBody, Input, NumberInPath, UlidInPath, make_router, numbers
from tocsin.server.bodies import Table, spool
from tocsin.server.decisions import cancel_job, demand_page, missing
from tocsin.server.imports import ListToTake, start_import, start_table
from tocsin.server.jobs import MOST_LISTED, PATIENCE_S, Job, Work
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.spec.topper.table import RECORD_0

router = make_router("jobs")

# What a route may answer, too, that waits for its job with `finished`.
LATER: Final[dict[int | str, dict[str, Any]]] = {
    202: {"record": JobStatus, "description": "It takes longer; Location says where its progress is."}
}


async def finished(job: Job, response: Response) -> JobStatus:
    """Answer with a job: one that ends soon as it ended (200), else with where its progress is (202)."""
    await job.wait(PATIENCE_S)
    return job_of(job.row) if job.row.state != "running" else started(job, response)


def started(job: Job, response: Response) -> JobStatus:
    """Answer with where the progress of a job is."""
    response.status_code = 202
    response.headers["Location"] = f"/api/v1/jobs/{job.row.id}"
    return job_of(job.row)


class LatestJobs(Input):
    """How many jobs to list."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20


@router.get("/jobs", summary="List jobs", operation_id="list_jobs")
async def list_jobs(_: Reading, jobs: Work, asked: Annotated[LatestJobs, Query()]) -> Part[JobStatus]:
    """List the latest jobs, newest first."""
    return Part(items=[job_of(row) for row in await jobs.latest(asked.limit)], next=None)


@router.get("/jobs/{job_id}", summary="Show a job", operation_id="show_job")
async def show_job(_: Reading, jobs: Work, job_id: UlidInPath) -> JobStatus:
    """Show the progress of a job, and its result."""
    row = await jobs.find(job_id)
    if row is None:
        raise missing("job", job_id, "GET /api/v1/jobs")
    return job_of(row)


@router.post("/jobs/{job_id}/cancel", summary="Cancel a job", operation_id="cancel_job")
async def cancel(caller: Writing, parts: Given, jobs: Work, job_id: UlidInPath) -> JobStatus:
    """Stop a job; the steps that are done stay done. A job that has ended stays as it is."""
    return job_of(await cancel_job(parts, Act(jobs, caller), job_id))


# Checks that are asked for: started, followed, reported.


check_routes = make_router("pages")

# With more reports than this, skipped pages are not counted: each request for the progress would read them all.
MOST_COUNTED: Final = 1000


class PagesToCheck(Input):
    """Which pages to check now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["42", "43"]}]})

    ids: Annotated[list[IdInBody], Field(min_length=1, max_length=10_000)]


class ReportsAfter(Input):
    """Which reports to list."""

    after: Annotated[int, Field(ge=0, le=2**53, description="position of the last report that is known")] = 0


@check_routes.post("/pages/{page_id}/check", status_code=202, summary="Check a page now", operation_id="check_page")
async def check_page(
    caller: Writing, parts: Given, jobs: Work, response: Response, page_id: NumberInPath
) -> CheckRequest:
    """Check a page now, at its host's turn; what it finds is reported like that of any other check.

    A page that was received within its `min_gap` is not asked for again: `skipped` counts it, `skipped_until` says
    when it can be, and its report has the outcome `skipped`, with the reason in `problem`.
    """
    page = await demand_page(parts, int(page_id))
    return await _asked(parts, await check_pages(parts, Act(jobs, caller), [page.id]), response)


@check_routes.post("/checks", status_code=202, summary="Check pages now", operation_id="check_pages")
async def check_many(
    caller: Writing, parts: Given, jobs: Work, response: Response, wanted: PagesToCheck
) -> CheckRequest:
    """Check these pages now; to check all pages of a list, use POST /api/v1/pages/bulk."""
    return await _asked(parts, await check_pages(parts, Act(jobs, caller), numbers(wanted.ids)), response)


@check_routes.get("/checks/{check_id}", summary="Show the progress of checks", operation_id="show_check")
async def show_check(_: Reading, parts: Given, check_id: NumberInPath) -> CheckRequest:
    """Show the progress of checks that were asked for.

    Requests are deleted a week after they are over: an unknown one is shown as over, with no pages.
    """
    return await _progress(parts, int(check_id))


@check_routes.get("/checks/{check_id}/reports", summary="List what checks found", operation_id="list_reports")
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


# Lists of pages and the table of states, streamed in and out.


import_routes = make_router("imports")
table_routes = make_router("table")

_TEXT: Final = {"schema": {"type": "string"}}
_LIST: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "A list in any format: one URL a line, CSV with a column `url`, OPML, a sitemap; also gzipped.",
        "content": {
            "text/plain": {**_TEXT, "example": "https://example.org/a\nhttps://example.org/b\n"},
            "text/csv": {**_TEXT, "example": "url,group,every\nhttps://example.org/a,news,6h\n"},
            "text/x-opml": _TEXT,
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_TABLE: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "A whole table, as GET returns it.",
        "content": {"text/plain": {**_TEXT, "example": RECORD_0}},
    }
}


class ListOptions(Input):
    """How a list is read."""

    format: Annotated[
        Literal[FORMATS] | None,  # type: ignore[valid-type]  # the formats are named in one place
        Field(description="recognised if left out"),
    ] = None
    group: Annotated[GroupName, Field(description="of pages whose line names none")] = "main"
    strict: Annotated[bool, Field(description="import nothing if any line is invalid")] = False
    dry_run: Annotated[bool, Field(description="only report what would be imported")] = False


class TableOptions(Input):
    """How a table is read."""

    replace: Annotated[bool, Field(description="replace the states of pages that have some")] = False


@import_routes.post(
    "/imports", status_code=202, summary="Import a list of pages", operation_id="import_pages", openapi_extra=_LIST
)
async def import_pages(
    caller: Writing,
    parts: Given,
    jobs: Work,
    request: Request,
    response: Response,
    asked: Annotated[ListOptions, Query()],
) -> JobStatus:
    """Watch the pages of a list of any length, which is streamed in.

    Valid lines are imported; the job's result counts `added`, `known` and `refused` ones, and `lines` names the first
    100 invalid lines, each with its number. Pages that are watched already stay as they are.
    """
    listed = ListToTake(
        await spool(request), kind=asked.format, group=asked.group, strict=asked.strict, dry_run=asked.dry_run
    )
    job = await start_import(parts, Act(jobs, caller), listed)
    return started(job, response)


@table_routes.get(
    "/table",
    summary="Export the table",
    operation_id="export_table",
    response_class=Response,
    responses={200: {"description": "The table.", "content": {"text/plain": _TEXT}}},
)
async def export_table(_: Reading, table: Table) -> StreamingResponse:
    """Stream the specification's table of states, a consistent snapshot in order of storing; one reader at a time."""
    table.demand_free()
    headers = {"Content-Disposition": 'attachment; filename="states.txt"'}
    return StreamingResponse(table.pieces(), media_type="text/plain; charset=utf-8", headers=headers)


@table_routes.put(
    "/table", summary="Import a table", operation_id="import_table", openapi_extra=_TABLE, responses=LATER
)
async def import_table(
    caller: Writing,
    parts: Given,
    jobs: Work,
    request: Request,
    response: Response,
    asked: Annotated[TableOptions, Query()],
) -> JobStatus:
    """Import a table, all of it or nothing: a malformed one is refused with the line and column of the error.

    Pages that it names are added to the list. If one has states already, the answer is 409, unless `replace` is set.
    """
    job = await start_table(parts, Act(jobs, caller), await spool(request), replace=asked.replace)
    return await finished(job, response)
