"""Many pages at once, checks that somebody asks for, and the jobs that do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query, Response
from pydantic import ConfigDict, Field

from tocsin.model import CheckOutcome, PageQuery, View
from tocsin.server.access import Reading, Writing
from tocsin.server.actions import Act, Meant, check_pages, read_deed, start_deed
from tocsin.server.api.given import NumberInPath, Once, UlidInPath, make_router, number, numbers, problems
from tocsin.server.api.schemas.common import Id, Job, Model, job_of, time_or_none
from tocsin.server.api.schemas.pages import Bulk, Check, CheckReport, CheckReports, Chosen
from tocsin.server.api.shapes import report_of
from tocsin.server.decisions import cancel_job, demand_page, missing
from tocsin.server.jobs import MOST_LISTED, Work
from tocsin.server.parts import Given

if TYPE_CHECKING:
    from tocsin.server.actions import DeedKind
    from tocsin.server.parts import Parts

router = make_router("bulk")
checks = make_router("pages")
job_routes = make_router("jobs")

MOST_COUNTED: Final = 1000
"""Of more reports than these it is not counted what they say each time that somebody looks how checks go on."""

_KINDS: dict[str, DeedKind] = {
    "pause": "pause",
    "resume": "resume",
    "delete": "remove",
    "move": "edit",
    "set": "edit",
    "check": "check",
}


@router.post(
    "/pages/bulk", status_code=202, summary="Do something to many pages", operation_id="do_to_pages", dependencies=Once
)
async def bulk(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: Bulk) -> Job:
    """Pause, resume, delete, move, set or check these pages, or all of a list, as it is now.

    The job's result is {"pages": how many}, and for `check` {"check": the id of GET /api/v1/checks/{id}}.
    """
    deed = read_deed(
        _KINDS[wanted.action],
        settings=wanted.settings.given() if wanted.settings is not None else {},
        unset=wanted.unset or (),
        group=wanted.group,
    )
    job = await start_deed(parts, Act(jobs, caller), meant_by(wanted.pages), deed)
    response.headers["Location"] = f"/api/v1/jobs/{job.row.id}"
    return job_of(job.row)


def meant_by(chosen: Chosen) -> Meant:
    """Say which pages somebody means."""
    if chosen.ids is not None:
        return Meant(ids=numbers(chosen.ids))
    return Meant(query=PageQuery(view=chosen.view or View.ALL, group=chosen.group, host=chosen.host, words=chosen.q))


# Checks -----------------------------------------------------------------------------------------------------------


class Wanted(Model):
    """Which pages are to be checked now."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["42", "43"]}]})

    ids: Annotated[list[Id], Field(min_length=1, max_length=10_000)]


class After(Model):
    """From where on."""

    after: Annotated[int, Field(ge=0, le=2**53, description="the position of the report before")] = 0


@checks.post(
    "/pages/{page_id}/check",
    status_code=202,
    summary="Check a page now",
    operation_id="check_page",
    responses=problems(404),
    dependencies=Once,
)
async def check_page(caller: Writing, parts: Given, jobs: Work, response: Response, page_id: NumberInPath) -> Check:
    """Check a page now, at its host's turn; what it comes to is told as that of any other check.

    A page that was received within its `min_gap` is not asked for again: `skipped` counts it, `skipped_until` says when
    it may be, and its report has the outcome `skipped`, and why in `problem`.
    """
    page = await demand_page(parts, number(page_id))
    return await _asked(parts, await check_pages(parts, Act(jobs, caller), [page.id]), response)


@checks.post("/checks", status_code=202, summary="Check pages now", operation_id="check_pages", dependencies=Once)
async def check_many(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: Wanted) -> Check:
    """Check these pages now; all of a list, or all there are, is for POST /api/v1/pages/bulk."""
    ids = numbers(wanted.ids)
    return await _asked(parts, await check_pages(parts, Act(jobs, caller), ids), response)


@checks.get("/checks/{check_id}", summary="Show how checks go on", operation_id="show_check")
async def show_check(_: Reading, parts: Given, check_id: NumberInPath) -> Check:
    """Show how far checks are that somebody asked for.

    They are forgotten some time after they are over: what is not known is over, of no page.
    """
    return await _progress(parts, number(check_id))


@checks.get("/checks/{check_id}/reports", summary="List what checks found", operation_id="list_reports")
async def reports(_: Reading, parts: Given, check_id: NumberInPath, asked: Annotated[After, Query()]) -> CheckReports:
    """List what these checks found, in order of completion; ask again with the last `position` as `after`."""
    found = await parts.store.request_reports(number(check_id), after=asked.after)
    return CheckReports(items=[CheckReport(position=place, report=report_of(report)) for place, report in found])


async def _asked(parts: Parts, check_id: int, response: Response) -> Check:
    response.headers["Location"] = f"/api/v1/checks/{check_id}"
    return await _progress(parts, check_id)


async def _progress(parts: Parts, check_id: int) -> Check:
    done, total = await parts.store.request_progress(check_id)
    skipped, until = 0 if total <= MOST_COUNTED else None, 0
    if done and skipped is not None:
        for _, report in await parts.store.request_reports(check_id, after=0):
            if report.outcome == CheckOutcome.SKIPPED:
                skipped, until = skipped + 1, max(until, report.next_try or 0)
    # A request for nothing is over; one that is not there, or was forgotten, looks the same.
    return Check(
        id=str(check_id),
        done=done,
        total=total,
        is_over=done >= total,
        skipped=skipped,
        skipped_until=time_or_none(until or None),
    )


# Jobs -------------------------------------------------------------------------------------------------------------


class Latest(Model):
    """How many of the latest."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20


class JobList(Model):
    """The latest jobs, newest first."""

    items: list[Job]


@job_routes.get("/jobs", summary="List jobs", operation_id="list_jobs")
async def list_jobs(_: Reading, jobs: Work, asked: Annotated[Latest, Query()]) -> JobList:
    """List the latest jobs."""
    return JobList(items=[job_of(row) for row in await jobs.latest(asked.limit)])


@job_routes.get("/jobs/{job_id}", summary="Show a job", operation_id="show_job", responses=problems(404))
async def show_job(_: Reading, jobs: Work, job_id: UlidInPath) -> Job:
    """Show how far a job is, and what came of it."""
    row = await jobs.find(job_id)
    if row is None:
        raise missing("job", job_id, "GET /api/v1/jobs")
    return job_of(row)


@job_routes.post(
    "/jobs/{job_id}/cancel",
    summary="Cancel a job",
    operation_id="cancel_job",
    responses=problems(404),
    dependencies=Once,
)
async def cancel(caller: Writing, parts: Given, jobs: Work, job_id: UlidInPath) -> Job:
    """End a job where it is; the steps that are done stay done. One that has ended stays as it is."""
    return job_of(await cancel_job(parts, Act(jobs, caller), job_id))
