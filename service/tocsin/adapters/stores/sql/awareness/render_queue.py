"""The render queue's part of the port (T55, T56)."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.awareness.renders import SQL, take_jobs, write_rendering
from tocsin.adapters.stores.sql.codec import to_json
from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import WaitingPage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import Attempt, Claim, Instant, RenderCommit, RenderJob


WORK = queries("work")


class RenderRole(Role):
    """Implements ports.RenderStore."""

    async def waiting_renders(self, *, limit: int, now: Instant | None = None) -> list[WaitingPage]:
        """Pages that wait: major first, then by verdict; and always the oldest one among them."""
        place = {"limit": limit, "now": _wall(now)}

        def read(db: Session) -> list[WaitingPage]:
            rows = db.execute(SQL["waiting"], place).fetchall()
            oldest = db.execute(SQL["oldest_waiting"], place).fetchone()
            if oldest is not None and oldest not in rows:
                rows[-1:] = [oldest]
            return [WaitingPage(page_id, bool(major), since) for page_id, major, since in rows]

        return await self._read(read)

    async def count_waiting(self, *, now: Instant | None = None) -> int:
        """How many pages wait (claimed ones do not count)."""

        def read(db: Session) -> int:
            count: int = db.execute(SQL["count_waiting"], {"now": _wall(now)}).fetchone()[0]
            return count

        return await self._read(read)

    async def claim_renders(self, claim: Claim, page_ids: Sequence[int]) -> list[RenderJob]:
        """Take these pages out of the waiting; a slot is a claimed row, valid while the claim's epoch is."""
        return await self._write(partial(take_jobs, claim=claim, page_ids=page_ids))

    async def release_render(
        self, claim: Claim, page_id: int, *, not_before: Instant | None, attempts: Sequence[Attempt] = ()
    ) -> None:
        """Put a page back among the waiting, with the tries spent so far."""
        place = {
            "page": page_id,
            "claim": claim.id,
            "epoch": claim.epoch,
            "not_before": not_before,
            "attempts": to_json(attempts) if attempts else None,
        }
        await self._write(lambda db: db.execute(SQL["release"], place))

    async def hold_host(self, host_id: int, until: Instant) -> None:
        """Store that a host asked to be left alone until then; a hold never shortens another."""
        place = {"id": host_id, "gate_at": until}
        await self._write(lambda db: db.execute(WORK["gate_hosts"], place))

    async def commit_rendering(self, claim: Claim, result: RenderCommit) -> Instant | None:
        """Write rendering, alerts, state and pruning in one transaction (T72); returns when the host is due next."""
        work = partial(
            write_rendering,
            claim=claim,
            result=result,
            history=self._options.history,
            gather_us=to_us(self._options.gather),
        )
        return await self._write(work, durable=True)


def _wall(now: Instant | None) -> Instant:
    return time.time_ns() // 1000 if now is None else now
