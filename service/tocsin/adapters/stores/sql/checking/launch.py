"""What a launch, or a clock that was set, makes due, while other pages are checked.

These are pages that are overdue, pages that were planned by a clock that was ahead, and pages that are off no longer.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql import claims
from tocsin.adapters.stores.sql.role import STEP_ROWS, Role, ids, touch_hosts
from tocsin.adapters.stores.sql.schedule import HOUR_US, to_us, window_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_settings, unpack_why
from tocsin.model import PageSchedule
from tocsin.ports.checking import untold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from tocsin.adapters.stores.sql.role import Options
    from tocsin.adapters.stores.sql.session import Database, SqlSession
    from tocsin.model import Claim, Instant, NewDueTime
    from tocsin.ports.checking import OnSpread, Plan

SQL = queries("work")

# Pages of one scan, about 20 ms: due pages are read through the same connection.
_LOOK_PAGES = 4000

ALL_TIMES: Instant = -(2**63)


class LaunchRole(Role):
    """Implements the launch's part of ports.WorkStore."""

    def __init__(self, database: Database, options: Options) -> None:
        super().__init__(database, options)
        # Pages that were due before this wait: they may be overdue and are not spread yet.
        self._shown = ALL_TIMES
        self._mode: str | None = None

    async def hold_overdue(self, now: Instant, *, at_launch: timedelta) -> None:
        self._shown = now - window_us(await self._read(_size), to_us(at_launch))

    async def spread_overdue(
        self,
        claim: Claim,
        now: Instant,
        *,
        at_launch: timedelta,
        cron: str,
        on_spread: OnSpread = untold,
    ) -> int:
        longest = to_us(at_launch)
        window = window_us(await self._read(_size), longest)
        place: dict[str, Any] = {"first": claim.first_shard, "last": claim.last_shard, "now": now, "window": window}
        place.update(at_launch=longest, cron=cron, why="overdue at launch", until=0)
        # What is checked by the true clock while this goes on is no page of a clock that was ahead.
        place["ahead"] = now + max(window, HOUR_US)
        moved = waited = 0
        while await self._look("look_until", place):
            waited += place["waiting"]
            found = await self._read(lambda db: [row[0] for row in db.execute(SQL["overdue"], place)])
            for start in range(0, len(found), STEP_ROWS):
                due = await self._spread(claim, {**place, "ids": ids(found[start : start + STEP_ROWS])})
                moved += len(due)
                # Of each host the earliest is the last, and stays.
                on_spread(dict(sorted(due, key=itemgetter(1), reverse=True)))
        self._shown = ALL_TIMES
        if moved or waited:
            on_spread(None)
        return moved

    async def _spread(self, claim: Claim, place: dict[str, Any]) -> list[tuple[int, Instant]]:
        def spread(db: SqlSession) -> list[tuple[int, Instant]]:
            claims.require(db, claim)
            return db.execute(SQL["spread"], place).fetchall()

        return await self._write(spread)

    async def pull_in(
        self, claim: Claim, now: Instant, *, every: timedelta, plan: Plan, on_spread: OnSpread = untold
    ) -> int:
        place: dict[str, Any] = {"first": claim.first_shard, "last": claim.last_shard, "now": now, "window": 0}
        place.update(every=to_us(every), until=0)
        moved = 0
        while await self._look("look_until", place):
            found = await self._read(lambda db: db.execute(SQL["ahead_of_clock"], place).fetchall())
            for start in range(0, len(found), STEP_ROWS):
                replanned = plan([_to_schedule(row) for row in found[start : start + STEP_ROWS]])
                if replanned:
                    due = await self._replan(claim, replanned, now)
                    moved += len(due)
                    # Of each host the earliest is the last, and stays.
                    on_spread(dict(sorted(due, key=itemgetter(1), reverse=True)))
        if moved:
            on_spread(None)
        return moved

    async def _replan(self, claim: Claim, pages: Sequence[NewDueTime], now: Instant) -> list[tuple[int, Instant]]:
        def replan(db: SqlSession) -> list[tuple[int, Instant]]:
            claims.require(db, claim)
            places = ({"id": id_, "before": before, "at": at, "why": why, "now": now} for id_, before, at, why in pages)
            # What was checked or edited meanwhile is not found.
            return [row for place in places for row in db.execute(SQL["replan"], place)]

        return await self._write(replan)

    async def pull_in_waits(self, now: Instant, *, back: timedelta, longest: timedelta) -> None:
        options = self._options

        def pull_in(db: SqlSession) -> None:
            place = {"now": now, "back": to_us(back), "longest": to_us(longest)}
            db.execute(SQL["pull_in_gates"], place)
            db.execute(SQL["pull_in_renders"], place)
            db.execute(SQL["pull_in_questions"], {"now": now, "gather": to_us(options.gather)})
            db.execute(SQL["pull_in_storms"], {"now": now, "gather": to_us(options.storms.gather)})

        await self._write(pull_in)

    async def wake_off(self, now: Instant, *, mode: str) -> int:
        self._mode = mode
        window = window_us(await self._read(_size))
        place: dict[str, Any] = {"mode": mode}

        def look(db: SqlSession) -> list[tuple[int, int]]:
            return db.execute(SQL["wrongly_off"], place).fetchall()

        # Results that were handed over under the mode before are written first, and so are found.
        await self._database.drain()
        woken = 0
        for group in await self._read(lambda db: [row[0] for row in db.execute(SQL["group_ids"])]):
            place.update(group=group, until=0)
            while await self._look("look_until_off", place):
                found = await self._read(look)
                for start in range(0, len(found), STEP_ROWS):
                    woken += await self._wake(found[start : start + STEP_ROWS], {"now": now, "window": window})
        return woken

    async def _wake(self, found: Sequence[tuple[int, int]], place: dict[str, Any]) -> int:
        def wake(db: SqlSession) -> int:
            woken = db.execute(SQL["wake"], {**place, "ids": ids(row[0] for row in found)})
            touch_hosts(db, {row[1] for row in found})
            return woken.rowcount

        return await self._edit(wake)

    async def _look(self, query: str, place: dict[str, Any]) -> bool:
        """Go on to the next pages, from where the last look ended; False if there are none."""
        place.update(after=place["until"], look=_LOOK_PAGES)
        place["until"], place["waiting"] = await self._read(lambda db: db.execute(SQL[query], place).fetchone())
        return place["until"] is not None


def _to_schedule(row: Sequence[Any]) -> PageSchedule:
    page_id, group_id, settings, next_at, checked_at, why = row
    own = read_settings(settings) if settings else None
    return PageSchedule(page_id, group_id, own, next_at, checked_at, unpack_why(why) or "")


def _size(db: SqlSession) -> int:
    size: int = db.execute(SQL["size"]).fetchone()[0]
    return size
