"""Jobs: work that goes on after its request was answered."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query, Response
from pydantic import Field

from tocsin.model.records.fields import Part
from tocsin.model.records.service import JobStatus, job_of
from tocsin.server.access.rights import Reading, Writing
from tocsin.server.actions import Act
from tocsin.server.api.operations import Input, UlidInPath, make_router
from tocsin.server.decisions import cancel_job, missing
from tocsin.server.jobs import MOST_LISTED, PATIENCE_S, Job, Work
from tocsin.server.parts import Given

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
