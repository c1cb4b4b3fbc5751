"""What is due: the agenda, pages with all that a check needs, hosts, and what a launch spreads."""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.checking.results import Batch, PagesMoved, Terms, write_results
from tocsin.adapters.stores.sql.pages.tasks import read_tasks
from tocsin.adapters.stores.sql.role import (
    STEP_ROWS,
    Options,
    Role,
    ids,
    of_parts,
    require_parts,
    touch_hosts,
)
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    HOUR_US,
    read_ids,
    read_object,
    read_settings,
    to_json,
    to_us,
    unpack_why,
    window_us,
)
from tocsin.model import HostPages, PageSchedule
from tocsin.ports.checking import untold
from tocsin.spec.html.urls import shard_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import timedelta

    from tocsin.adapters.stores.sql.pages.tasks import TaskRows
    from tocsin.adapters.stores.sql.role import Options
    from tocsin.adapters.stores.sql.session import Database, SnapshotReader, SqlSession
    from tocsin.model import CheckResult, Claim, CommittedResults, Instant, JsonObject, NewDueTime, PageTask
    from tocsin.ports.checking import OnSpread, Plan


# What is kept of hosts: gates, robots.txt, and how many pages they have at which schedule.


HOSTS = queries("hosts")
_PAGES_A_READ = 10_000
_HOSTS_A_READ = 500
_ORIGINS_A_HOST = 16
_SCHEDULE = ("every", "cron", "mode")


class HostRole(Role):
    """Implements what ports.WorkStore says of hosts, and ports.RoundStore."""

    async def load_robots(self, origin: str) -> str | None:
        row = await self._read(lambda db: db.execute(HOSTS["robots_of"], {"host": _host_of(origin)}).fetchone())
        if row is None or row[1] is None:
            return None
        kept: str | None = read_object(row[1]).get(origin)
        return kept

    async def save_robots(self, origin: str, kept: str) -> None:
        def save(db: SqlSession) -> None:
            row = db.execute(HOSTS["robots_to_keep"], {"host": _host_of(origin)}).fetchone()
            if row is None:
                return
            known = read_object(row[1]) if row[1] else {}
            known.pop(origin, None)
            # The latest last: a host with a port for each page would grow its row without end.
            newest = dict([*known.items(), (origin, kept)][-_ORIGINS_A_HOST:])
            db.execute(HOSTS["keep_robots"], {"id": row[0], "robots": to_json(newest)})

        await self._write(save, shared=True)

    async def host_gates(self, now: Instant) -> dict[str, Instant]:
        return await self._read(lambda db: dict(db.execute(HOSTS["gates"], {"now": now}).fetchall()))

    async def hold_hosts(self, held: dict[str, Instant]) -> None:
        # In one order, so that two nodes do not wait for each other.
        rows = [{"host": host, "shard": shard_of(host), "gate_at": held[host]} for host in sorted(held)]
        await self._write(lambda db: db.executemany(HOSTS["hold"], rows), shared=True)

    async def hosts_received_last(self, limit: int) -> list[tuple[int, Instant]]:
        place = {"limit": limit}
        return await self._read(lambda db: db.execute(HOSTS["received_last"], place).fetchall())

    async def own_schedules(self) -> list[JsonObject]:
        last: int = (await self._read(lambda db: db.execute("select coalesce(max(id), 0) from pages").fetchone()))[0]
        found: set[tuple[str | None, str | None]] = set()
        async with self._database.apart() as read:
            for after in range(0, last, _PAGES_A_READ):
                place = {"after": after, "last": after + _PAGES_A_READ}
                found.update(await _rows(read, HOSTS["own_schedules"], place))
        return [_to_settings(row) for row in found]

    async def crowds(self, least: int) -> AsyncIterator[HostPages]:
        return self._crowds(least)

    async def _crowds(self, least: int) -> AsyncIterator[HostPages]:
        place = {"after": 0, "least": least, "limit": _HOSTS_A_READ}
        async with self._database.apart() as read:
            while rows := await _rows(read, HOSTS["crowds"], place):
                for host_id, host, pages, robots in rows:
                    kept = tuple(read_object(robots).values()) if robots else ()
                    yield HostPages(host_id, host, pages, kept)
                place["after"] = rows[-1][0]

    async def schedules_of(self, host_id: int) -> list[tuple[int, JsonObject, int]]:
        async with self._database.apart() as read:
            rows = await _rows(read, HOSTS["schedules_of"], {"host": host_id})
        return [(group_id, _to_settings(settings), pages) for group_id, *settings, pages in rows]


async def _rows(read: SnapshotReader, query: str, place: dict[str, int]) -> list[tuple[Any, ...]]:
    return await read(lambda db: db.execute(query, place).fetchall())


def _to_settings(values: list[Any] | tuple[Any, ...]) -> JsonObject:
    return {key: value for key, value in zip(_SCHEDULE, values, strict=False) if value is not None}


def _host_of(origin: str) -> str:
    authority = origin.partition("://")[2]
    host, colon, port = authority.rpartition(":")
    return host if colon and port.isdigit() else authority


# What a launch, or a clock that was set, makes due, while other pages are checked.
#
# These are pages that are overdue, pages that were planned by a clock that was ahead, and pages that are off no longer.


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
        place: dict[str, Any] = {**of_parts(claim), "now": now, "window": window}
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
            require_parts(db, claim)
            return db.execute(SQL["spread"], place).fetchall()

        return await self._write(spread, shared=True)

    async def pull_in(
        self, claim: Claim, now: Instant, *, every: timedelta, plan: Plan, on_spread: OnSpread = untold
    ) -> int:
        place: dict[str, Any] = {**of_parts(claim), "now": now, "window": 0}
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
            require_parts(db, claim)
            places = ({"id": id_, "before": before, "at": at, "why": why, "now": now} for id_, before, at, why in pages)
            # What was checked or edited meanwhile is not found.
            return [row for place in places for row in db.execute(SQL["replan"], place)]

        return await self._write(replan, shared=True)

    async def pull_in_waits(self, claim: Claim, now: Instant, *, back: timedelta, longest: timedelta) -> None:
        place = {**of_parts(claim), "now": now, "back": to_us(back), "longest": to_us(longest)}
        of_storms = self._options.storms.gather
        for long, pull_in, gather in (
            ("long_gates", "pull_in_gates", longest),
            ("long_renders", "pull_in_renders", longest),
            ("long_questions", "pull_in_questions", self._options.gather),
            ("long_storms", "pull_in_storms", of_storms),
        ):
            place["gather"] = to_us(gather)
            rows = await self._read(partial(_rows_of, query=SQL[long], place=place))
            for start in range(0, len(rows), STEP_ROWS):
                step = {**place, "ids": ids(row[0] for row in rows[start : start + STEP_ROWS])}
                await self._write(partial(_rows_of, query=SQL[pull_in], place=step), shared=True)

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


# What is due: the agenda, and pages with all that a check needs.

_AGENDA_A_READ = 5000
_LAST_ID = 2**63 - 1


class WorkRole(LaunchRole):
    """Implements ports.WorkStore."""

    async def host_agenda(self, claim: Claim, *, since_revision: int | None) -> AsyncIterator[tuple[int, Instant]]:
        return self._agenda(claim, since_revision)

    async def _agenda(self, claim: Claim, since: int | None) -> AsyncIterator[tuple[int, Instant]]:
        place: dict[str, Any] = {**of_parts(claim), "limit": _AGENDA_A_READ}
        place["shown"] = self._shown
        # Hosts in order of (revision, id): all of this very revision are known already.
        place.update(after=0 if since is None else _LAST_ID, since=since)
        query = SQL["agenda" if since is None else "agenda_since"]
        rows: list[tuple[Any, ...]]
        while rows := await self._read(lambda db: db.execute(query, place).fetchall()):
            for row in rows:
                if row[1] is not None:
                    yield row[0], row[1]
            place.update(after=rows[-1][0], since=rows[-1][-1])

    async def due_pages(
        self, claim: Claim, host_ids: Sequence[int], now: Instant, *, per_host: int, request_id: int | None = None
    ) -> list[PageTask]:
        place = {"now": now, "limit": per_host, "request": request_id, "shown": self._shown}

        def read(db: SqlSession) -> tuple[list[int], TaskRows]:
            chosen = _choose(db, host_ids, place)
            # In the order of the table: neighbours are in one leaf.
            in_order = ids(sorted(chosen))
            return chosen, read_tasks(db, SQL["tasks_of_parts"], {"ids": in_order, **of_parts(claim)})

        chosen, rows = await self._read(read)
        found = {task.page_id: task for task in rows.tasks()}
        return [found[page_id] for page_id in chosen if page_id in found]

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        query, place = SQL["still_watched"], {"ids": ids(page_ids)}
        return await self._read(lambda db: {row[0] for row in db.execute(query, place)})

    async def commit(self, claim: Claim, results: Sequence[CheckResult]) -> CommittedResults:
        return await self._commit(claim, Batch.of(results))

    async def _commit(self, claim: Claim, batch: Batch) -> CommittedResults:
        options = self._options
        terms = Terms(to_us(options.gather), options.storms, self._mode, self._shown, self._routes)
        work = partial(write_results, claim=claim, terms=terms)
        try:
            return await self._write(partial(work, batch=batch), durable=batch.is_worth_a_flush, shared=True)
        except PagesMoved:
            # Rare enough: with a savepoint, every batch would keep a copy of each leaf that it changes.
            work = partial(work, batch=batch.to_compare())
            return await self._write(work, durable=batch.is_worth_a_flush, shared=True)

    async def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        def read(db: SqlSession) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
            (of_all,) = db.execute(SQL["settings_of_all"]).fetchone()
            groups = db.execute(SQL["settings_of_groups"])
            return read_settings(of_all), {row[0]: (row[1], read_settings(row[2])) for row in groups}

        return await self._read(read)


def _rows_of(db: SqlSession, *, query: str, place: dict[str, Any]) -> list[tuple[Any, ...]]:
    return db.execute(query, place).fetchall()


def _choose(db: SqlSession, host_ids: Sequence[int], place: dict[str, Any]) -> list[int]:
    """Choose the pages of each host that are asked for now, at most `limit` of each, in the order to ask for them."""
    if place["request"] is not None:
        queries_of_host = [SQL["requested_of_host"]]
    elif db.execute(SQL["any_requested"]).fetchone()[0]:
        queries_of_host = [SQL["wanted_of_host"], SQL["due_beside_wanted"]]
    else:
        arrays = db.execute(SQL["due_by_host"], {**place, "hosts": ids(host_ids)})
        return [page_id for (array,) in arrays for page_id in read_ids(array)]
    chosen: list[int] = []
    for host_id in host_ids:
        of_host: list[int] = []
        for query in queries_of_host:
            left = place["limit"] - len(of_host)
            if left > 0:
                of_host += [row[0] for row in db.execute(query, {**place, "host": host_id, "limit": left})]
        chosen += of_host
    return chosen
