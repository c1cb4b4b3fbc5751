"""What checking needs of the store: claims, the agenda, due pages and their results."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql import claims
from tocsin.adapters.stores.sql.checking.launch import LaunchRole
from tocsin.adapters.stores.sql.checking.results import Batch, PagesMoved, Terms, write_results
from tocsin.adapters.stores.sql.pages.tasks import read_tasks
from tocsin.adapters.stores.sql.role import ids
from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_ids, read_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import timedelta

    from tocsin.adapters.stores.sql.pages.tasks import TaskRows
    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import CheckResult, Claim, Instant, JsonObject, PageTask

SQL = queries("work")
_HOSTS_A_READ = 5000
_ORIGINS_A_HOST = 16
_LAST_ID = 2**63 - 1


class WorkRole(LaunchRole):
    """Implements ports.WorkStore."""

    async def claim(self, shards: range, now: Instant, lease: timedelta, holder: str) -> Claim | None:
        until = now + to_us(lease)
        return await self._write(lambda db: claims.take(db, shards, now, until, holder))

    async def renew(self, claim: Claim, now: Instant, lease: timedelta) -> Claim:
        return await self._write(lambda db: claims.renew(db, claim, now + to_us(lease)))

    async def host_agenda(self, claim: Claim, *, since_revision: int | None) -> AsyncIterator[tuple[int, Instant]]:
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
        place = {"now": now, "limit": per_host, "request": request_id, "shown": self._shown}

        def read(db: SqlSession) -> tuple[list[int], TaskRows]:
            chosen = _choose(db, host_ids, place)
            shards = {"first": claim.first_shard, "last": claim.last_shard}
            # In the order of the table: neighbours are in one leaf.
            in_order = ids(sorted(chosen))
            return chosen, read_tasks(db, SQL["tasks_of_shards"], {"ids": in_order, **shards})

        chosen, rows = await self._read(read)
        found = {task.page_id: task for task in rows.tasks()}
        return [found[page_id] for page_id in chosen if page_id in found]

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        query, place = SQL["still_watched"], {"ids": ids(page_ids)}
        return await self._read(lambda db: {row[0] for row in db.execute(query, place)})

    async def commit(self, claim: Claim, results: Sequence[CheckResult]) -> dict[int, Instant | None]:
        batch, options = Batch.of(results), self._options
        terms = Terms(to_us(options.gather), options.storms, self._mode, self._shown)
        work = partial(write_results, claim=claim, terms=terms)
        try:
            return await self._write(partial(work, batch=batch), durable=batch.is_worth_a_flush)
        except PagesMoved:
            # Rare enough: with a savepoint, every batch would keep a copy of each leaf that it changes.
            return await self._write(partial(work, batch=batch.to_compare()), durable=batch.is_worth_a_flush)

    async def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        def read(db: SqlSession) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
            (of_all,) = db.execute(SQL["settings_of_all"]).fetchone()
            groups = db.execute(SQL["settings_of_groups"])
            return read_settings(of_all), {row[0]: (row[1], read_settings(row[2])) for row in groups}

        return await self._read(read)


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
