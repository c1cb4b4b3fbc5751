"""Whoever starts a job on a page waits two seconds for its end, and is told then that it goes on: tests wait for it."""

from __future__ import annotations

from tocsin.model import JobRow
from tocsin.server.jobs import Job

_PATIENCE_S = 100.0
_really_wait = Job.wait


async def wait(job: Job, timeout_s: float | None = None) -> JobRow:
    """Wait for a job's end for as long as a slow machine, or one that stands still meanwhile, may take."""
    return await _really_wait(job, None if timeout_s is None else _PATIENCE_S)
