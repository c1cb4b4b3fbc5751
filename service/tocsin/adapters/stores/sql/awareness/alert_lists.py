"""Lists of alerts for people, and what they have seen of them; their part of the port."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.awareness.alerts import to_alert
from tocsin.adapters.stores.sql.awareness.outbox import SQL as ALERTS
from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.pages.lists import COUNTED
from tocsin.adapters.stores.sql.role import LAST, STEP_ROWS, Role, bounded, ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.errors import UsageError
from tocsin.model import BoundedCount, Slice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import AlertQuery, AlertRow, Instant

SQL = queries("alert_lists")


class AlertListRole(Role):
    """Implements what ports.BrowseStore says of alerts."""

    async def browse_alerts(self, query: AlertQuery, *, cursor: str | None = None, limit: int = 50) -> Slice[AlertRow]:
        """Alerts, the latest first."""
        walk, values = _walk_of(query)
        cursors = Cursors(1, "alerts", walk, *values.values())
        (before,) = cursors.read(cursor) or (LAST,)

        def read(db: Session) -> Slice[AlertRow]:
            found = db.execute(SQL[walk], {**values, "before": before, "limit": limit + 1}).fetchall()
            positions = [row[0] for row in found[:limit]]
            rows = {row[1]: row for row in db.execute(ALERTS["at_positions"], {"positions": ids(positions)})}
            shown = tuple(to_alert(rows[position]) for position in positions)
            return Slice(shown, cursors.write((positions[-1],)) if len(found) > limit else None)

        return await self._view(read)

    async def tally_alerts(self, query: AlertQuery) -> BoundedCount:
        """How many alerts there are, counted to 10,000."""
        walk, values = _walk_of(query)
        values.update(before=LAST, limit=COUNTED + 1)
        counting = f"select count(*) from ({SQL[walk].rstrip().rstrip(';')})"  # noqa: S608 - a walk of ours
        (number,) = await self._view(lambda db: db.execute(counting, values).fetchone())
        return BoundedCount(min(number, COUNTED), is_exact=number <= COUNTED)

    async def mark_seen(self, alert_ids: Sequence[str], now: Instant, *, seen: bool) -> int:
        """Mark alerts as seen, or as not; returns how many that changed."""
        place = {"ids": ids(alert_ids)}
        found = await self._view(lambda db: [row[0] for row in db.execute(SQL["positions"], place)])
        return await self._mark(found, now if seen else None)

    async def mark_all_seen(self, query: AlertQuery, now: Instant, *, up_to: int) -> int:
        """Mark all alerts of a list up to this position as seen, a step at a time; returns how many."""
        walk, values = _walk_of(query)
        marked, before = 0, bounded(up_to + 1)
        while before:
            values.update(before=before, limit=STEP_ROWS)
            found = await self._view(lambda db: db.execute(SQL[walk], values).fetchall())
            before = found[-1][0] if len(found) == STEP_ROWS else 0
            marked += await self._mark([position for position, seen_at in found if seen_at is None], now)
        return marked

    async def _mark(self, positions: Sequence[int], now: Instant | None) -> int:
        marked, pace = 0, self._paces["mark"]
        for step in pace.pieces(positions):
            work = partial(_mark, place={"positions": ids(step), "now": now})
            marked += await self._in_turn(pace, len(step), work)
        return marked


def _mark(db: Session, place: dict[str, Any]) -> int:
    return db.execute(SQL["mark"], place).rowcount


def _walk_of(query: AlertQuery) -> tuple[str, dict[str, Any]]:
    """Find the walk that a list of alerts is; raises UsageError for what is not offered."""
    page = None if query.page_id is None else bounded(query.page_id)
    alone = {"kind": query.kind, "group": query.group, "page": page, "dead": query.dead or None}
    given = {name: value for name, value in alone.items() if value is not None}
    if len(given) + (query.unseen or query.outcome is not None) > 1:
        raise UsageError(
            "alerts: `group`, `page_id`, `kind` and `dead` each stand alone, and `unseen` goes with `outcome` only; "
            "leave one of them out"
        )
    for name in given:
        return f"of_{name}", {} if name == "dead" else given
    if query.outcome is None:
        return "of_unseen" if query.unseen else "of_all", {}
    return "of_unseen_outcome" if query.unseen else "of_outcome", {"outcome": query.outcome}
