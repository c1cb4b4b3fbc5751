"""Storms: a change that many pages of a host share, told once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tocsin.adapters.stores.sql.owed import publish, want_render
from tocsin.adapters.stores.sql.role import Role, bounded, ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_names, read_object, row_digest, to_json, to_json_or_null, to_us
from tocsin.errors import UsageError
from tocsin.model import StormRow, StormVerdict
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Row, SqlSession
    from tocsin.model import AlertDraft, CheckResult, Instant, JsonObject, VerdictRow
    from tocsin.ports.pages import OnStep
    from tocsin.settings import SignalSettings


SQL = queries("storms")

# The least time that a change counts; it counts for two intervals of its page in any case.
LEAST_US: Final = 24 * 3_600_000_000

_ROUNDS: Final = 2


def may_be_shared(result: CheckResult, settings: SignalSettings) -> bool:
    """Tell whether an alert of this check's verdict may give way to one of a storm.

    Only if the state is unchanged: the alerts about the states of a page are an unbroken chain.
    """
    said = result.verdict
    return (
        settings.storm_pages > 0
        and said is not None
        and said.storm_key is not None
        and said.awareness
        and result.state is not None
        and result.state.equal
    )


class Storms:
    """Takes verdicts into storms.

    settings  how many pages make a storm, and how long it gathers before it is reported
    """

    def __init__(self, db: SqlSession, settings: SignalSettings) -> None:
        self._db, self._most = db, settings.storm_pages
        self._gather_us = to_us(settings.gather)
        # By host and key: an upper bound of the pages with this change, so that few verdicts count them again.
        self._seen: dict[tuple[int, bytes | None], int] = {}

    def take(self, result: CheckResult, said: VerdictRow, row: Row) -> None:
        """Write a verdict that other pages may share, and let its page be rendered unless they do.

        row  of the verdict, up to its data
        """
        place = {"host": result.host_id, "key": said.storm_key, "at": said.at, "page": result.page_id}
        until = said.at + _counts_us(result)
        storm_id, is_released = self._running(place) or (self._open(place, said, until), False)
        # A storm withholds alerts, never changes: the page's own change is written in any case.
        is_due = storm_id is None or is_released
        (verdict_id,) = self._db.execute(
            SQL["insert_verdict"], (*row, is_due, storm_id, row_digest(row[0], *row[2:]))
        ).fetchone()
        if is_due:
            want_render(self._db, result.page_id, since=said.at, major=said.outcome == "major")
        if storm_id is None:
            self._db.execute(SQL["see"], {**place, "until": until, "verdict": verdict_id})
            self._seen[result.host_id, said.storm_key] += 1
        else:
            self._db.execute(SQL["go_on"], {"storm": storm_id, "until": until})

    def _running(self, place: dict[str, Any]) -> tuple[int, bool] | None:
        found: tuple[int, bool] | None = self._db.execute(SQL["running"], place).fetchone()
        return found

    def _open(self, place: dict[str, Any], said: VerdictRow, until: Instant) -> int | None:
        """Open a storm if this verdict makes enough of them, with those before; returns its id."""
        what = place["host"], said.storm_key
        if what not in self._seen:
            (self._seen[what],) = self._db.execute(SQL["count_seen"], {**place, "limit": self._most}).fetchone()
        if self._seen[what] + 1 < self._most:
            return None
        others = [row[0] for row in self._db.execute(SQL["seen_elsewhere"], {**place, "limit": self._most})]
        self._seen[what] = len(others)
        if len(others) + 1 < self._most:
            return None
        storm = {
            **place,
            "outcome": said.outcome,
            "basis": said.basis,
            "until": until,
            "announce_at": said.at + self._gather_us,
        }
        storm_id: int = self._db.execute(SQL["open"], storm).fetchone()[0]
        self._db.execute(SQL["gather"], {"storm": storm_id, "verdicts": ids(others)})
        # What was rendered already, or is just now, has its alert.
        folded = [row[0] for row in self._db.execute(SQL["fold"], {"storm": storm_id}).fetchall()]
        self._db.execute(SQL["close_jobs"], {"pages": to_json(folded)})
        self._db.execute(SQL["forget_seen"], place)
        del self._seen[what]
        return storm_id


def _counts_us(result: CheckResult) -> int:
    """Tell how long a change counts: pages of a host that are checked less often meet it later."""
    round_us = result.due.at - result.checked_at if result.due.at is not None else 0
    return max(LEAST_US, _ROUNDS * round_us)


class StormRole(Role):
    """Implements ports.StormStore."""

    async def storms_to_announce(self, now: Instant) -> list[StormRow]:
        storms = await self._storms("to_announce", {"now": now})
        empty = [{"storm": storm.id} for storm in storms if not storm.pages]
        if empty:
            await self._write(lambda db: db.executemany(SQL["close_empty"], empty))
        return [storm for storm in storms if storm.pages]

    async def announce_storm(
        self, storm_id: int, alert: AlertDraft, now: Instant, *, excerpt: JsonObject | None
    ) -> None:
        place = {"storm": storm_id, "now": now, "excerpt": to_json_or_null(excerpt)}

        def write(db: SqlSession) -> None:
            if db.execute(SQL["announce"], place).rowcount:
                publish(db, [alert], self._routes)

        await self._write(write, durable=True)

    async def storms(self, *, limit: int, before: int | None = None) -> list[StormRow]:
        return await self._storms("storms", {"limit": limit, "before": before})

    async def storm(self, storm_id: int) -> StormRow | None:
        return next(iter(await self._storms("one_storm", {"storm": bounded(storm_id)})), None)

    async def storm_verdicts(self, storm_id: int, *, after: tuple[int, int], limit: int) -> list[StormVerdict]:
        place = {"storm": storm_id, "page": after[0], "after": after[1], "limit": limit}
        rows = await self._read(lambda db: db.execute(SQL["verdicts_of"], place).fetchall())
        return [
            StormVerdict(verdict_id, page_id, url, at, outcome, alert_id, bool(withheld))
            for verdict_id, page_id, url, at, outcome, alert_id, withheld in rows
        ]

    async def count_withheld(self, storm_id: int) -> int:
        (count,) = await self._read(lambda db: db.execute(SQL["count_withheld"], {"storm": storm_id}).fetchone())
        return int(count)

    async def release_storm(self, storm_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        after: int | None = 0

        def release(db: SqlSession, *, limit: int) -> int:
            nonlocal after
            if not db.execute(SQL["release"], {"storm": storm_id, "now": now}).rowcount:
                raise UsageError(f"storm {storm_id}: no such storm; `tocsin alerts storms` lists them")
            rows = db.execute(SQL["withheld"], {"storm": storm_id, "after": after, "limit": limit}).fetchall()
            db.execute(SQL["give_awareness"], {"storm": storm_id, "pages": ids(row[0] for row in rows)})
            for page_id, since, major in rows:
                want_render(db, page_id, since=since, major=bool(major))
            after = rows[-1][0] if len(rows) == limit else None
            return len(rows)

        pages, pace = 0, self._paces["release"]
        while after is not None:
            pages += await self._step(pace, partial(release, limit=pace.rows), on_step)
        return pages

    async def _storms(self, query: str, place: dict[str, Any]) -> list[StormRow]:
        rows = await self._read(lambda db: db.execute(SQL[query], place).fetchall())
        return [_to_storm(row) for row in rows]


def _to_storm(row: Sequence[Any]) -> StormRow:
    (
        storm_id, host, pages, sample, outcome, basis, excerpt, opened_at, first_at, latest_at,
        announce_at, announced_at, released_at,
    ) = row  # fmt: skip
    return StormRow(
        id=storm_id,
        host=host,
        pages=pages,
        sample=read_names(sample),
        outcome=outcome,
        basis=basis,
        excerpt=read_object(excerpt) if excerpt else None,
        opened_at=opened_at,
        first_at=first_at,
        latest_at=latest_at,
        announce_at=announce_at,
        announced_at=announced_at,
        released_at=released_at,
    )
