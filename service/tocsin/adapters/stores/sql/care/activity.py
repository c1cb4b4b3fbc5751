"""What happened, in spans of time; its part of the port."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.codec import read_object, to_json
from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import ActivityRow

if TYPE_CHECKING:
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import Instant

SQL = queries("activity")


class ActivityRole(Role):
    """Implements what ports.BrowseStore says of activity."""

    async def activity(self, since: Instant) -> list[ActivityRow]:
        """What was noted since then, oldest first, five minutes each."""
        rows = await self._view(lambda db: db.execute(SQL["since"], {"since": since}).fetchall())
        return [ActivityRow(at, read_object(outcomes), *rest) for at, outcomes, *rest in rows]

    async def note_activity(self, row: ActivityRow) -> None:
        """Add to what was noted of these five minutes."""

        def write(db: Session) -> None:
            before = db.execute(SQL["at"], {"at": row.at}).fetchone()
            outcomes = Counter(row.outcomes) + Counter(read_object(before[0]) if before is not None else {})
            values = {
                "at": row.at,
                "outcomes": to_json(dict(outcomes)),
                "alerts": row.alerts,
                "rendered": row.rendered,
                "wire_bytes": row.wire_bytes,
                "saved_bytes": row.saved_bytes,
            }
            db.execute(SQL["note"], values)

        await self._write(write)

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        """Forget what is older."""
        await self._write(lambda db: db.execute(SQL["prune"], {"before": now - to_us(keep)}))
