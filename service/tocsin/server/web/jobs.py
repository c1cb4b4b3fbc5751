"""The progress of a job, for the person who started a long operation."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from tocsin.model import JobRow
from tocsin.server.actions import Act
from tocsin.server.decisions import cancel_job, missing
from tocsin.server.jobs import PATIENCE_S, Job, Work
from tocsin.server.parts import Given, Reading, Writing
from tocsin.server.web.formatting import local_path
from tocsin.server.web.rendering import Undo, go_on, page

router = APIRouter(include_in_schema=False)

# Jobs whose end a notice tells; its key is that of the job.
_TOLD: Final = frozenset({"pages.pause", "pages.resume", "pages.check", "pages.remove", "pages.edit", "pages.seen"})


async def await_job(request: Request, job: Job, back: str, *, undo: Undo | None = None) -> Response:
    """Redirect back after a short job, else to its progress. Raises the error that it failed with."""
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        return RedirectResponse(f"/jobs/{row.id}", status_code=303)
    if row.kind not in _TOLD:
        return RedirectResponse(f"/jobs/{row.id}", status_code=303)
    key, values = told_of(row)
    return go_on(request, back, key, undo=undo, **values)


def told_of(row: JobRow) -> tuple[str, dict[str, Any]]:
    """Return the key of the notice that tells the end of a job, with its values."""
    result = row.result or {}
    number, group = int(result.get("pages", row.done)), result.get("group")
    if row.kind == "pages.edit" and group:
        return "pages_moved", {"n": number, "group": group}
    return row.kind.replace(".", "_"), {"n": number}


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
    is_cancelled = row.state == "cancelled"
    path = local_path(back, f"/jobs/{row.id}")
    return go_on(request, path, "cancelled" if is_cancelled else "had_ended", kind="warn" if is_cancelled else "good")
