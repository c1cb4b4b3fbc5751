"""Jobs, and answers that are given once; their part of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tocsin.adapters.stores.sql.codec import read_object, to_json_or_null
from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import JobRow, StoredAnswer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import Instant

SQL = queries("jobs")
DAY_US: Final = 24 * 3_600_000_000
"""So long an answer is given again."""


class JobRole(Role):
    """Implements what ports.AccessStore says of jobs and answers."""

    async def begin_once(self, key: bytes, fingerprint: bytes, now: Instant) -> StoredAnswer | None:
        """Begin what is to be done once; returns what is known where it was begun before (within a day)."""

        def write(db: Session) -> StoredAnswer | None:
            row = db.execute(SQL["answer"], {"key": key, "after": now - DAY_US}).fetchone()
            if row is not None:
                return StoredAnswer(*row)
            db.execute(SQL["give_up"], {"key": key})
            db.execute(SQL["begin"], {"key": key, "fingerprint": fingerprint, "now": now})
            return None

        return await self._write(write, durable=True)

    async def finish_once(self, key: bytes, answer: StoredAnswer | None) -> None:
        """Keep the answer for whoever asks again; None: it came to nothing, and may be begun anew."""
        if answer is None:
            await self._write(lambda db: db.execute(SQL["give_up"], {"key": key}))
            return
        values = {
            "key": key,
            "status": answer.status,
            "content_type": answer.content_type,
            "body": answer.body,
            "location": answer.location,
        }
        await self._write(lambda db: db.execute(SQL["finish"], values), durable=True)

    async def save_job(self, job: JobRow) -> None:
        """Write a job as it stands."""
        values = {
            "id": job.id,
            "kind": job.kind,
            "who": job.who,
            "started_at": job.started_at,
            "state": job.state,
            "done": job.done,
            "total": job.total,
            "ended_at": job.ended_at,
            "result": to_json_or_null(job.result),
            "error": job.error,
        }
        await self._write(lambda db: db.execute(SQL["save"], values))

    async def job(self, job_id: str) -> JobRow | None:
        """One job."""
        row = await self._view(lambda db: db.execute(SQL["one"], {"id": job_id}).fetchone())
        return _to_job(row) if row is not None else None

    async def jobs(self, *, limit: int = 20) -> list[JobRow]:
        """The latest jobs, newest first."""
        rows = await self._view(lambda db: db.execute(SQL["latest"], {"limit": limit}).fetchall())
        return [_to_job(row) for row in rows]

    async def interrupt_jobs(self, now: Instant) -> int:
        """Mark jobs that an earlier life of the service left behind, and forget what it was asked for once, and begun.

        Returns how many jobs.
        """

        def write(db: Session) -> int:
            db.execute(SQL["forget_begun"])
            return db.execute(SQL["interrupt"], {"now": now}).rowcount

        return await self._write(write)


def _to_job(row: Sequence[Any]) -> JobRow:
    job_id, kind, who, started_at, state, done, total, ended_at, result, error = row
    found = read_object(result) if result is not None else None
    return JobRow(job_id, kind, who, started_at, state, done, total, ended_at, found, error)
