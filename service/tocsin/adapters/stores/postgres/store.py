"""The store on PostgreSQL: its roles put together, opened, migrated and closed."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import psycopg
from msgspec import Struct

from tocsin.adapters.stores.postgres.connection import (
    PostgresDatabase,
    PostgresLane,
    PostgresPlace,
    open_lane,
    transaction,
    translated,
)
from tocsin.adapters.stores.postgres.session import POSTGRES, PostgresSession
from tocsin.adapters.stores.sql.checking.results import Batch, beside_rows, hosts_of, parts_of, same_rows
from tocsin.adapters.stores.sql.invariants import breaches
from tocsin.adapters.stores.sql.role import Options, ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.adapters.stores.sql.values import read_ids
from tocsin.errors import StoreError, StoreLocked, StoreOutdated, StoreTooNew, UsageError
from tocsin.model import CommittedResults
from tocsin.settings import StoreSettings
from tocsin.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Claim

WORK: Final = queries("work", POSTGRES)
PARTS: Final = StoreSettings().parts
# Of a row of `note_same`.
_PAGE_ID: Final = itemgetter(-3)
_FILE: Final = re.compile(r"(\d{4})_\w+\.sql")
# Two processes that open a new store at the same time make it one after the other.
ALONE: Final = b"select pg_advisory_xact_lock(%d)" % (0x546F6373 << 32)
_MIGRATING: Final = b"begin; set local synchronous_commit = on; " + ALONE
_MAKE_PARTS: Final = """
insert into parts (part) select generate_series(0, :last) where not exists (select 1 from parts)
"""
_PARTS: Final = "select count(*) from parts"
# Pages that are due and have no place at that time, and places that no such page has.
_UNSCHEDULED: Final = """
with wanted as (select id, next_at, host_id from pages where next_at is not null and paused = 0),
  placed as (select id, next_at, host_id from due),
  wrong as ((table wanted except table placed) union all (table placed except table wanted))
select id, next_at from wrong order by id, next_at limit 5
"""
_VERSION: Final = "select version from store_version"
_OTHERS: Final = """
select count(*) from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')
"""


class PostgresMigration(Struct, frozen=True):
    """One step from a version of the schema to the next."""

    number: int
    script: str


def migrations() -> tuple[PostgresMigration, ...]:
    """Read the migrations that this program knows, in order."""
    files = sorted((shipped("migrations") / "postgres").iterdir())
    return tuple(
        PostgresMigration(int(match[1]), path.read_text(encoding="utf-8"))
        for path in files
        if (match := _FILE.fullmatch(path.name))
    )


def version_of(db: PostgresSession, name: str) -> int:
    """Tell a store's version, 0 for an empty database; raises StoreError for a database of another program."""
    if db.execute("select to_regclass('store_version') is not null").fetchone()[0]:
        version: int = db.execute(_VERSION).fetchone()[0]
        return version
    if db.execute(_OTHERS).fetchone()[0]:
        raise StoreError(f"{name}: a database of another program; name another one in store.url")
    return 0


def demand_current(db: PostgresSession, name: str) -> None:
    """Raise StoreTooNew or StoreOutdated unless the store is of this program's version."""
    version, newest = version_of(db, name), migrations()[-1].number
    _refuse_newer(name, version, newest)
    if version == 0:
        raise StoreError(f"{name}: there is no store yet; `tocsin watch add URL` makes one, or name yours with --store")
    if version < newest:
        raise StoreOutdated(
            f"{name}: the store is of version {version}, this program needs {newest}; run `tocsin store migrate`"
        )


def apply_migrations(db: PostgresSession, name: str, parts: int = PARTS) -> Iterator[tuple[int, int]]:
    """Apply what is missing, all in one transaction; yields (done, all) before and after.

    parts  of a new store
    """
    known = migrations()
    version = version_of(db, name)
    _refuse_newer(name, version, known[-1].number)
    missing = sum(migration.number > version for migration in known)
    yield 0, missing
    if not missing:
        return
    with transaction(db, _MIGRATING):
        # Another process may have been first while we waited for the lock.
        apply_within(db, version_of(db, name), parts)
    yield missing, missing


def apply_within(db: PostgresSession, version: int, parts: int) -> None:
    """Apply what is missing since this version, inside a transaction.

    parts  of a new store
    """
    known = migrations()
    for migration in known:
        if migration.number > version:
            db.command(migration.script.encode())
    db.execute(_MAKE_PARTS, {"last": parts - 1})
    db.command(b"delete from store_version")
    db.execute("insert into store_version (one, version) values (1, :number)", {"number": known[-1].number})


def _demand_parts(db: PostgresSession, name: str, parts: int) -> None:
    (made,) = db.execute(_PARTS).fetchone()
    if made != parts:
        raise StoreError(f"{name}: the store was made with {made} parts, not {parts}; set store.parts = {made}")


def _refuse_newer(name: str, version: int, newest: int) -> None:
    if version > newest:
        raise StoreTooNew(
            f"{name}: the store is of version {version}, this program knows {newest}; "
            "update the program, or restore a backup made before the store was migrated"
        )


def _unscheduled(db: SqlSession) -> Iterator[str]:
    for page_id, next_at in db.execute(_UNSCHEDULED):
        yield f"page {page_id}: its place in the schedule, at {next_at}, is missing or wrong"


class PostgresStore(SqlStore):
    """A store in a PostgreSQL database; implements ports.Store. Made by `open_store`."""

    _database: PostgresDatabase

    async def _commit(self, claim: Claim, batch: Batch) -> CommittedResults:
        """Write a batch that found nothing new in one round trip."""
        if not batch.same or batch.others or beside_rows(batch.same):
            return await super()._commit(claim, batch)
        parts = parts_of(claim, batch.same)
        under = [part for part, _ in parts], [epoch for _, epoch in parts]
        spared, equal = same_rows(batch.same)
        calls: list[tuple[str, Any]] = [
            (WORK[query], (*under, *zip(*rows, strict=True), len(parts), len(rows)))
            for query, rows in (("note_same_at_once", spared), ("note_same_anew_at_once", equal))
            if rows
        ]
        hosts = {"hosts": ids(hosts_of(batch.same)), "shown": self._shown}
        *noted, due = await self._database.write_at_once([*calls, (WORK["due_of_hosts"], hosts)])
        if all(written is None for ((written,),) in noted):
            return CommittedResults(dict(due))
        # A part was taken, or a page is not as its check knew it: what was not written is looked at.
        some = zip((rows for rows in (spared, equal) if rows), noted, strict=True)
        written = {id_ for rows, ((ids_,),) in some for id_ in (read_ids(ids_) if ids_ else map(_PAGE_ID, rows))}
        left = [result for result in batch.same if result.page_id not in written]
        looked_at, of_left = await super()._commit(claim, Batch(left, [], left)), hosts_of(left)
        return looked_at._replace(due={**{host: at for host, at in due if host not in of_left}, **looked_at.due})

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        raise UsageError(
            f"{target}: a store on PostgreSQL is backed up by the tools of PostgreSQL, such as: "
            "pg_dump --format=custom --file=FILE URL"
        )

    async def check(self) -> list[str]:
        async with self._database.apart(one_instant=True) as read:
            return await read(lambda db: [*_unscheduled(db), *breaches(db, psycopg.Error)])

    async def close(self) -> None:
        await self._database.close()


async def open_postgres(
    conninfo: str,
    *,
    password: str,
    engine: bool,
    create: bool,
    parts: int,
    options: Options,
    busy: timedelta,
    on_migrating: Callable[[int, int], None],
) -> PostgresStore:
    """Open a store; see `open_store`."""
    place = PostgresPlace(conninfo, busy, password=password)

    def prepare(db: PostgresSession) -> None:
        version, newest = version_of(db, place.name), migrations()[-1].number
        if (engine and version < newest) or (create and version == 0):
            if version:
                on_migrating(version, newest)
            for _ in apply_migrations(db, place.name, parts):
                pass
        demand_current(db, place.name)
        if engine:
            _demand_parts(db, place.name, parts)

    # A connection of its own: what the writer takes with its connection is there by then.
    async with open_lane(PostgresLane(place, writes=True)) as lane:
        await lane.run(prepare)
    database = PostgresDatabase(place)
    try:
        await database.drain()
    except BaseException:
        await database.close()
        raise
    return PostgresStore(database, options)


def has_store(conninfo: str, busy: timedelta, *, password: str) -> bool:
    """Tell whether there is a store in a database."""
    place = PostgresPlace(conninfo, busy, password=password)
    connection = place.connect(writes=False)
    try:
        with translated(place.name):
            return version_of(PostgresSession(connection), place.name) > 0
    finally:
        connection.close()


async def migrate_postgres(conninfo: str, busy: timedelta, *, password: str) -> AsyncIterator[tuple[int, int]]:
    """Bring a store to this program's version; see `migrate`."""
    place = PostgresPlace(conninfo, busy, password=password)
    database = PostgresDatabase(place)
    try:
        if await database.writer.run(lambda db: version_of(db, place.name)) and await database.is_held():
            raise StoreLocked(place.name, None)
        steps = await database.writer.run(lambda db: apply_migrations(db, place.name))
        while (step := await database.writer.run(lambda _: next(steps, None))) is not None:
            yield step
    finally:
        await database.close()
