"""What checking needs of the store: claims, the agenda, due pages and their results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql import claims
from tocsin.adapters.stores.sql.checking.launch import LaunchRole
from tocsin.adapters.stores.sql.checking.results import Batch, PagesMoved, Terms, write_results
from tocsin.adapters.stores.sql.codec import read_ids, read_object, read_report, read_settings, to_json
from tocsin.adapters.stores.sql.pages.requests import SQL as REQUESTS
from tocsin.adapters.stores.sql.pages.requests import want_pages
from tocsin.adapters.stores.sql.pages.tasks import read_tasks
from tocsin.adapters.stores.sql.role import ids
from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import queries

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import timedelta

    from tocsin.adapters.stores.sql.pages.tasks import TaskRows
    from tocsin.adapters.stores.sql.role import Pace
    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import CheckReport, CheckResult, Claim, Instant, JsonObject, PageTask

SQL = queries("work")
_HOSTS_A_READ = 5000
_ORIGINS_A_HOST = 16
_LAST_ID = 2**63 - 1


class WorkRole(LaunchRole):
    """Implements ports.WorkStore."""

    # Claims and revisions ---------------------------------------------------------------------------------------

    async def claim(self, shards: range, now: Instant, lease: timedelta, holder: str) -> Claim | None:
        """Claim or renew these shards; None while somebody else's lease on one of them runs."""
        until = now + to_us(lease)
        return await self._write(lambda db: claims.take(db, shards, now, until, holder))

    async def renew(self, claim: Claim, now: Instant, lease: timedelta) -> Claim:
        """Lengthen the lease, same epoch. Raises StaleClaim."""
        return await self._write(lambda db: claims.renew(db, claim, now + to_us(lease)))

    # The agenda -------------------------------------------------------------------------------------------------

    async def host_agenda(self, claim: Claim, *, since_revision: int | None) -> AsyncIterator[tuple[int, Instant]]:
        """Each host with its earliest due time; with a revision, only hosts touched by others since."""
        return self._agenda(claim, since_revision)

    async def _agenda(self, claim: Claim, since: int | None) -> AsyncIterator[tuple[int, Instant]]:
        place: dict[str, Any] = {"first": claim.first_shard, "last": claim.last_shard, "limit": _HOSTS_A_READ}
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
        """The due pages of these hosts, at most `per_host` each: requested ones first, then the longest due."""
        place = {"now": now, "limit": per_host, "request": request_id, "shown": self._shown}

        def read(db: Session) -> tuple[list[int], TaskRows]:
            chosen = _choose(db, host_ids, place)
            shards = {"first": claim.first_shard, "last": claim.last_shard}
            # In the order of the table: neighbours stand in one leaf.
            in_order = ids(sorted(chosen))
            return chosen, read_tasks(db, SQL["tasks_of_shards"], {"ids": in_order, **shards})

        chosen, rows = await self._read(read)
        found = {task.page_id: task for task in rows.tasks()}
        return [found[page_id] for page_id in chosen if page_id in found]

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        """Of these pages, those that are on the list and not paused: the agreement that requests need (T62)."""
        query, place = SQL["still_watched"], {"ids": ids(page_ids)}
        return await self._read(lambda db: {row[0] for row in db.execute(query, place)})

    async def commit(self, claim: Claim, results: Sequence[CheckResult]) -> dict[int, Instant | None]:
        """Write results in one transaction; raises StaleClaim and writes nothing if the epoch is old."""
        batch, options = Batch.of(results), self._options
        terms = Terms(to_us(options.gather), options.storms, self._mode, self._shown)
        work = partial(write_results, claim=claim, terms=terms)
        try:
            return await self._write(partial(work, batch=batch), durable=batch.is_worth_a_flush)
        except PagesMoved:
            # Rare enough: with a savepoint, every batch would keep a copy of each leaf that it changes.
            return await self._write(partial(work, batch=batch.to_compare()), durable=batch.is_worth_a_flush)

    # Hosts ------------------------------------------------------------------------------------------------------

    async def load_robots(self, origin: str) -> str | None:
        """What `save_robots` kept for this origin."""
        row = await self._read(lambda db: db.execute(SQL["robots_of"], {"host": _host_of(origin)}).fetchone())
        if row is None or row[1] is None:
            return None
        kept: str | None = read_object(row[1]).get(origin)
        return kept

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep what robots.txt of a watched host's origin said; ignored for hosts that are not watched."""

        def save(db: Session) -> None:
            row = db.execute(SQL["robots_of"], {"host": _host_of(origin)}).fetchone()
            if row is None:
                return
            known = read_object(row[1]) if row[1] else {}
            known.pop(origin, None)
            # The latest last: a host with a port for each page would grow its row without end.
            newest = dict([*known.items(), (origin, kept)][-_ORIGINS_A_HOST:])
            db.execute(SQL["keep_robots"], {"id": row[0], "robots": to_json(newest)})

        await self._write(save)

    async def host_gates(self, now: Instant) -> dict[str, Instant]:
        """Hosts that asked to be left alone until later than now."""
        return await self._read(lambda db: dict(db.execute(SQL["gates"], {"now": now}).fetchall()))

    async def hosts_received_last(self, limit: int) -> list[tuple[int, Instant]]:
        """Hosts of pages that are checked, and when a page of theirs was received last, the latest first."""
        place = {"limit": limit}
        return await self._read(lambda db: db.execute(SQL["received_last"], place).fetchall())

    async def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        """What is set at run time: for all pages, and for each group (id to name and settings)."""

        def read(db: Session) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
            (of_all,) = db.execute(SQL["settings_of_all"]).fetchone()
            groups = db.execute(SQL["settings_of_groups"])
            return read_settings(of_all), {row[0]: (row[1], read_settings(row[2])) for row in groups}

        return await self._read(read)

    # Requests ---------------------------------------------------------------------------------------------------

    async def open_request(self, now: Instant) -> int:
        """Begin a request that wants no page yet; returns its id."""
        request: int = await self._write(lambda db: db.execute(REQUESTS["insert"], {"now": now}).fetchone()[0])
        return request

    async def request_check(
        self, page_ids: Sequence[int] | AsyncIterator[Sequence[int]] | None, now: Instant, *, request: int | None = None
    ) -> int:
        """Ask for these pages (all that are not paused: None) to be checked now; returns the request's id."""
        if request is None:
            request = await self.open_request(now)
        is_whole = False
        try:
            await self._want(request, page_ids)
            is_whole = True
        finally:
            if not is_whole:
                # Nobody would follow what was asked for so far.
                await self.drop_request(request)
        return request

    async def _want(self, request: int, page_ids: Sequence[int] | AsyncIterator[Sequence[int]] | None) -> None:
        pace, after = self._paces["want"], 0
        if page_ids is None:
            while last := await self._want_some(request, "next_pages", pace.rows, after=after, limit=pace.rows):
                after = last
        elif isinstance(page_ids, Sequence):
            for piece in pace.pieces(page_ids):
                await self._want_some(request, "these_pages", len(piece), ids=ids(piece))
        else:
            async for some in page_ids:
                await self._want(request, some)

    async def _want_some(self, request: int, query: str, rows: int, **place: Any) -> int:
        """Want one step's pages; returns the last one's id, 0 if there was none."""
        step = partial(_want_step, request=request, query=REQUESTS[query], place=place)
        return await self._in_turn(self._paces["want"], rows, step)

    async def drop_request(self, request_id: int) -> None:
        """Forget what a request still wants: whoever asked has gone away."""
        pace = self._paces["drop"]
        while await self._drop_some(pace, request_id):
            pass

    async def _drop_some(self, pace: Pace, request_id: int) -> int:
        place = {"request": request_id, "limit": pace.rows}
        return await self._in_turn(pace, pace.rows, lambda db: db.execute(REQUESTS["drop"], place).rowcount)

    async def request_progress(self, request_id: int) -> tuple[int, int]:
        """(done, all) of a request."""
        row = await self._read(lambda db: db.execute(REQUESTS["progress"], {"request": request_id}).fetchone())
        return (row[0], row[1]) if row else (0, 0)

    async def request_reports(
        self, request_id: int, *, after: int, limit: int | None = None
    ) -> list[tuple[int, CheckReport]]:
        """Reports of a request in order of completion, with their positions, after this position."""
        place = {"request": request_id, "after": after, "limit": -1 if limit is None else limit}
        rows = await self._read(lambda db: db.execute(REQUESTS["reports"], place).fetchall())
        return [(position, read_report(report)) for position, report in rows]


def _choose(db: Session, host_ids: Sequence[int], place: dict[str, Any]) -> list[int]:
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


def _want_step(db: Session, *, request: int, query: str, place: dict[str, Any]) -> int:
    """Want one step's pages; returns the last one's id, 0 if there was none."""
    rows = db.execute(query, place).fetchall()
    want_pages(db, request, rows)
    return max((row[0] for row in rows), default=0)


def _host_of(origin: str) -> str:
    authority = origin.partition("://")[2]
    host, colon, port = authority.rpartition(":")
    return host if colon and port.isdigit() else authority
