"""The progress of a job, for the person who started a long operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from tocsin.model import JobRow
from tocsin.server.actions import Act
from tocsin.server.decisions import cancel_job, missing
from tocsin.server.jobs import PATIENCE_S, Job, Work
from tocsin.server.parts import Given, Reading, Writing
from tocsin.server.web.formatting import count, local_path
from tocsin.server.web.rendering import Undo, go_on, page

router = APIRouter(include_in_schema=False)

_DONE: Final[Mapping[str, str]] = {
    "pages.pause": "Paused {}.",
    "pages.resume": "Resumed {}.",
    "pages.check": "Requested a check of {}; the results appear as they come.",
    "pages.remove": "Deleted {}.",
    "pages.edit": "Changed {}.",
}


async def await_job(request: Request, job: Job, back: str, *, undo: Undo | None = None) -> Response:
    """Redirect back after a short job, else to its progress. Raises the error that it failed with."""
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        return RedirectResponse(f"/jobs/{row.id}", status_code=303)
    if row.kind in _DONE:
        return go_on(request, back, said(row), undo=undo)
    return RedirectResponse(f"/jobs/{row.id}", status_code=303)


def said(row: JobRow) -> str:
    """Describe the result of a job that has ended."""
    result = row.result or {}
    pages = count(int(result.get("pages", row.done)), "page")
    if row.kind == "pages.edit" and (group := result.get("group")):
        return f"Moved {pages} to group {group}."
    return _DONE.get(row.kind, "{} done.").format(pages)


@router.get("/jobs/{job_id}")
async def show(request: Request, _caller: Reading, jobs: Work, job_id: str) -> Response:
    """Show the progress or the result of a job."""
    row = await jobs.find(job_id)
    if row is None:
        raise missing("job", job_id, "/activity/jobs; they are kept for some time after their end")
    return await page(request, "job.html", job=row)


@router.post("/jobs/{job_id}/cancel")
async def cancel(
    request: Request, caller: Writing, parts: Given, jobs: Work, job_id: str, back: Annotated[str, Form()] = ""
) -> Response:
    """Cancel a job."""
    row = await cancel_job(parts, Act(jobs, caller), job_id)
    kind = "warn" if row.state == "cancelled" else "good"
    text = "Cancelled; completed work is kept." if kind == "warn" else "The job had ended already."
    return go_on(request, local_path(back, f"/jobs/{row.id}"), text, kind=kind)
