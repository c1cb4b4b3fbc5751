"""A whole store copied into an empty place of the other kind: from SQLite to PostgreSQL, or back."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import ExitStack, closing, contextmanager
from glob import escape
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
from msgspec import Struct
from psycopg import sql

from tocsin.adapters.stores.postgres import store as postgres
from tocsin.adapters.stores.postgres.connection import PostgresPlace, is_in_use, translated
from tocsin.adapters.stores.postgres.session import PostgresSession, SnapshotSession
from tocsin.adapters.stores.sql.invariants import breaches
from tocsin.adapters.stores.sqlite import store as sqlite
from tocsin.adapters.stores.sqlite.connection import connect, snapshot
from tocsin.adapters.stores.sqlite.place import (
    EngineLock,
    reached,
    refuse_network,
    size_of,
)
from tocsin.adapters.stores.sqlite.place import translated as translated_file
from tocsin.errors import StoreError, StoreLocked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import timedelta

# Rights of running engines: no engine works on either store, and the next one makes its own.
_RIGHTS: Final = frozenset({"nodes", "parts", "leases"})
# The schedule is an index on SQLite, and the version is in the head of its file.
_DERIVED: Final = frozenset({"due", "store_version"})
_ROWS: Final = 1000
_MOST_FINDINGS: Final = 5
_NUL, _INSTEAD = "\0", "\ufffd"
_SIGNED: Final = 2**31

# In the order in which they were made, so that what is referred to comes first.
_COLUMNS: Final = """
select c.relname, a.attname, a.atttypid::bigint
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and a.attgenerated = ''
order by c.oid, a.attnum
"""
_SEQUENCES: Final = """
select t.relname, s.oid::regclass::text
from pg_class s join pg_depend d on d.objid = s.oid and d.deptype = 'i' join pg_class t on t.oid = d.refobjid
where s.relkind = 'S' and s.relnamespace = current_schema()::regnamespace
"""
_INDEXES: Final = """
select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i
join pg_class c on c.oid = i.indrelid and c.relnamespace = current_schema()::regnamespace
where not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
"""
_REFERENCES: Final = """
select conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace order by oid
"""
# Long pauses between statements are expected, while the other store is read or rows are checked.
_PATIENT: Final = "set idle_in_transaction_session_timeout = 0; set maintenance_work_mem = '256MB'"


class CopiedTable(Struct, frozen=True):
    """A table that both stores have: its columns with PostgreSQL's types, and how many rows are copied."""

    name: str
    columns: tuple[str, ...]
    types: tuple[int, ...]
    rows: int

    @property
    def reading(self) -> str:
        """Statement of SQLite that reads it for PostgreSQL."""
        columns = ", ".join("key_of(url)" if self._is_key(column) else column for column in self.columns)
        return f"select {columns} from {self.name}"  # noqa: S608 - our own names

    @property
    def writing(self) -> str:
        """Statement of SQLite that writes a row of it."""
        values = ", ".join(
            f"url_key(?{self.columns.index('url') + 1})" if self._is_key(column) else f"?{place}"
            for place, column in enumerate(self.columns, 1)
        )
        return f"insert into {self.name} ({', '.join(self.columns)}) values ({values})"  # noqa: S608 - our own names

    @property
    def emptying(self) -> str:
        """Statement of SQLite that empties it."""
        return f"delete from {self.name}"  # noqa: S608 - our own names

    @property
    def counting(self) -> str:
        """Statement that counts its rows."""
        return f"select count(*) from {self.name}"  # noqa: S608 - our own names

    def _is_key(self, column: str) -> bool:
        # Each kind of store finds pages by a hash of its own.
        return (self.name, column) == ("pages", "key")


class StoreCopier:
    """One store on its way into an empty place: `run` on a thread, `progress` from anywhere.

    path   of the store on SQLite
    place  of the one on PostgreSQL
    busy   how long to wait for another process that writes
    parts  that a new store on PostgreSQL is made with
    back   from PostgreSQL to SQLite
    Nothing can be found in the place before all of it is there and sound: PostgreSQL gets it in one transaction, and a
    file of SQLite its name at the end.
    """

    def __init__(self, path: str, place: PostgresPlace, busy: timedelta, *, parts: int, back: bool) -> None:
        self._path, self._place, self._busy, self._parts, self._back = path, place, busy, parts, back
        self._is_given_up = False
        self.stage = ""
        self.progress = (0, 0)
        """(rows done, all)"""
        self.tables: dict[str, int] = {}
        self.replaced = 0
        """In how many rows a text had U+0000, for which PostgreSQL has no place."""

    def give_up(self) -> None:
        """Let `run` end soon; nothing is left of the copy."""
        self._is_given_up = True

    def run(self) -> None:
        """Copy, compare, check. Raises StoreError, also where the target is not empty or an engine uses the source."""
        if self._back:
            self._to_sqlite(self._path, self._place)
        else:
            self._to_postgres(self._path, self._place)

    # ---- From SQLite to PostgreSQL ----

    def _to_postgres(self, path: str, place: PostgresPlace) -> None:
        with ExitStack() as stack:
            lock = _locked(path)
            stack.callback(lock.release)
            stack.enter_context(translated_file(path))
            file = stack.enter_context(closing(connect(path, busy=self._busy, writes=False)))
            sqlite.demand_current(file, path)
            file.create_function("key_of", 1, _postgres_key, deterministic=True)
            stack.enter_context(snapshot(file))
            stack.enter_context(translated(place.name))
            server = stack.enter_context(closing(place.connect(writes=True)))
            server.execute(_PATIENT)
            session = PostgresSession(server)
            with server.transaction():
                server.execute(postgres.ALONE)
                if postgres.version_of(session, place.name):
                    raise _not_empty(place.name)
                postgres.apply_within(session, 0, self._parts)
                self._fill_postgres(file, server)
                # Another session of ours on this connection, whose rows need not be in memory all at once.
                server.execute("deallocate all")
                self._demand_sound(breaches(SnapshotSession(server), psycopg.Error), place.name)
                server.execute("set local synchronous_commit = on")

    def _fill_postgres(self, file: sqlite3.Connection, server: psycopg.Connection[Any]) -> None:
        tables = _tables(file, server, lambda query: int(file.execute(query).fetchone()[0]))
        self._begin(tables)
        with _bare_postgres(server, tables):
            for table in tables:
                self._copy_in(file, server, table)
            server.execute(
                "insert into due select host_id, next_at, id from pages where next_at is not null and paused = 0"
            )
        latest = dict(file.execute("select name, seq from sqlite_sequence").fetchall())
        names = {table.name for table in tables}
        for name, sequence in server.execute(_SEQUENCES).fetchall():
            if name in names:
                asked = sql.SQL("select setval(%s, greatest(%s, (select max(id) from {}), 1), %s)")
                query = asked.format(sql.Identifier(name))
                # A sequence that gave nothing yet begins with 1.
                is_used = bool(latest.get(name) or _count(server, name))
                server.execute(query, [sequence, latest.get(name, 0), is_used])
        self._compare({table.name: _count(server, table.name) for table in tables})

    def _copy_in(self, file: sqlite3.Connection, server: psycopg.Connection[Any], table: CopiedTable) -> None:
        texts = [c for c, kind in zip(table.columns, table.types, strict=True) if kind == _TEXT]
        rows: Iterable[Sequence[Any]] = file.execute(table.reading)
        if texts:
            has_nul = " or ".join(f"instr(cast({column} as blob), x'00')" for column in texts)
            counting = f"select count(*) from {table.name} where {has_nul}"  # noqa: S608 - our own names
            (changed,) = file.execute(counting).fetchone()
            if changed:
                self.replaced += changed
                rows = map(_without_nul, rows)
        columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
        asked = sql.SQL("copy {} ({}) from stdin (format binary, freeze true)")
        with server.cursor().copy(asked.format(sql.Identifier(table.name), columns)) as copy:
            copy.set_types(table.types)
            for row in self._counted(rows):
                copy.write_row(row)

    # ---- From PostgreSQL to SQLite ----

    def _to_sqlite(self, path: str, place: PostgresPlace) -> None:
        with reached(path):
            # A log without its store may hold the store. A lock file is left by a copying that was killed.
            if size_of(path) or size_of(f"{path}-wal"):
                raise _not_empty(path)
        refuse_network(path)
        part = f"{path}.{os.getpid()}.part"
        with ExitStack() as stack:
            lock = EngineLock(path)
            stack.callback(lambda: lock.release(forget=not size_of(path)))
            _sweep(path)
            stack.callback(_remove, part)
            stack.enter_context(translated(place.name))
            server = stack.enter_context(closing(place.connect(writes=False)))
            server.execute(_PATIENT)
            session = PostgresSession(server)
            with reached(path):
                Path(part).touch(0o600)
            with (
                server.transaction(),
                translated_file(path),
                closing(connect(part, busy=self._busy, writes=True)) as file,
            ):
                server.execute("set transaction isolation level repeatable read read only")
                postgres.demand_current(session, place.name)
                if is_in_use(session):
                    raise StoreLocked(place.name, None)
                self._fill_sqlite(server, file, part)
                self._demand_sound(sqlite.findings(file), path)
            with reached(path):
                _name(part, path)

    def _fill_sqlite(self, server: psycopg.Connection[Any], file: sqlite3.Connection, part: str) -> None:
        for pragma in ("journal_mode = off", "synchronous = off"):
            file.execute(f"pragma {pragma}")
        for _ in sqlite.apply_migrations(file, part):
            pass
        tables = _tables(file, server, lambda query: int((server.execute(query).fetchone() or [0])[0]))
        self._begin(tables)
        with _bare_sqlite(file):
            for table in tables:
                self._copy_out(server, file, table)
            for name, sequence in server.execute(_SEQUENCES).fetchall():
                query = sql.SQL("select last_value from {} where is_called").format(sql.SQL(sequence))
                latest = server.execute(query).fetchone()
                # Only tables whose numbers are never given twice are in it.
                if latest is not None and "autoincrement" in _made_by(file, name):
                    file.execute("delete from sqlite_sequence where name = ?", [name])
                    file.execute("insert into sqlite_sequence values (?, ?)", [name, latest[0]])
        self._compare({table.name: file.execute(table.counting).fetchone()[0] for table in tables})

    def _copy_out(self, server: psycopg.Connection[Any], file: sqlite3.Connection, table: CopiedTable) -> None:
        columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
        asked = sql.SQL("copy (select {} from {} order by 1) to stdout (format binary)")
        file.execute(table.emptying)
        with server.cursor().copy(asked.format(columns, sql.Identifier(table.name))) as copy:
            copy.set_types(table.types)
            rows = self._counted(copy.rows())
            while some := list(islice(rows, _ROWS)):
                file.executemany(table.writing, some)

    # ---- Both ways ----

    def _begin(self, tables: Sequence[CopiedTable]) -> None:
        self.tables = {table.name: table.rows for table in tables}
        self.stage, self.progress = "Copying", (0, sum(self.tables.values()))

    def _counted(self, rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        done, total = self.progress
        for row in rows:
            done += 1
            if not done % _ROWS:
                self._note(done, total)
            yield row
        self._note(done, total)

    def _note(self, done: int, total: int) -> None:
        self.progress = (done, total)
        if self._is_given_up:
            raise StoreError("the copy was given up; nothing of it is left")

    def _compare(self, found: dict[str, int]) -> None:
        for name, rows in self.tables.items():
            if found[name] != rows:
                raise StoreError(f"table {name}: {found[name]:,} of {rows:,} rows were copied; please report it")

    def _demand_sound(self, findings: Iterator[str], name: str) -> None:
        self.stage = "Checking"
        told = list(islice(findings, _MOST_FINDINGS))
        if told:
            raise StoreError(
                f"{name}: the copy would not be sound, so nothing is kept of it: {'; '.join(told)}; "
                "see what is wrong with the store: tocsin store check"
            )


_TEXT: Final = 25


def _tables(
    file: sqlite3.Connection, server: psycopg.Connection[Any], count: Callable[[str], int]
) -> list[CopiedTable]:
    """List what is copied; raises StoreError where the two schemas differ otherwise than is known."""
    theirs: dict[str, list[tuple[str, int]]] = {}
    for table, column, kind in server.execute(_COLUMNS).fetchall():
        theirs.setdefault(table, []).append((column, kind))
    ours = [
        name
        for (name,) in file.execute("select name from sqlite_schema where type = 'table' and name not glob 'sqlite_*'")
    ]
    copied = [name for name in theirs if name not in _RIGHTS | _DERIVED]
    differing = set(copied) ^ (set(ours) - _RIGHTS)
    for name in set(copied) - differing:
        if {column for column, _ in theirs[name]} != {row[1] for row in file.execute(f"pragma table_info({name})")}:
            differing.add(name)
    if differing:
        raise StoreError(
            f"the two kinds of store have different tables ({', '.join(sorted(differing))}); please report it"
        )
    return [
        CopiedTable(
            name,
            tuple(column for column, _ in theirs[name]),
            tuple(kind for _, kind in theirs[name]),
            count(f"select count(*) from {name}"),  # noqa: S608 - our own names
        )
        for name in copied
    ]


def _postgres_key(url: str) -> int:
    """Find a page by what the function `url_key` of a store on PostgreSQL gives."""
    return int.from_bytes(sha256(url.encode()).digest()[:4], "big", signed=True)


def _without_nul(row: Sequence[Any]) -> list[Any]:
    return [value.replace(_NUL, _INSTEAD) if isinstance(value, str) else value for value in row]


def _count(server: psycopg.Connection[Any], name: str) -> int:
    row = server.execute(sql.SQL("select count(*) from {}").format(sql.Identifier(name))).fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _bare_postgres(server: psycopg.Connection[Any], tables: Sequence[CopiedTable]) -> Iterator[None]:
    """Fill tables without indexes, references and triggers, which then are made at once; empties the tables."""
    indexes, references = server.execute(_INDEXES).fetchall(), server.execute(_REFERENCES).fetchall()
    for table, name, _ in references:
        server.execute(f"alter table {table} drop constraint {name}".encode())
    for name, _ in indexes:
        server.execute(f"drop index {name}".encode())
    for table in tables:
        server.execute(f"alter table {table.name} disable trigger user".encode())
        # Rows that were made with the schema; and only a table emptied here takes rows that need no vacuum.
        server.execute(f"truncate {table.name}".encode())
    yield
    for _, definition in indexes:
        server.execute(definition.encode())
    for table, name, definition in references:
        server.execute(f"alter table {table} add constraint {name} {definition}".encode())
    for table in tables:
        server.execute(f"alter table {table.name} enable trigger user".encode())


@contextmanager
def _bare_sqlite(file: sqlite3.Connection) -> Iterator[None]:
    """Fill tables without indexes and triggers, which then are made at once, in one transaction."""
    file.execute("pragma foreign_keys = off")
    made = file.execute(
        "select type, name, sql from sqlite_schema where type in ('index', 'trigger') and sql is not null"
    )
    parts = made.fetchall()
    file.execute("begin")
    for kind, name, _ in parts:
        file.execute(f"drop {kind} {name}")
    yield
    for _, _, definition in parts:
        file.execute(definition)
    file.execute("commit")
    file.execute("pragma foreign_keys = on")


def _made_by(file: sqlite3.Connection, table: str) -> str:
    row = file.execute("select sql from sqlite_schema where type = 'table' and name = ?", [table]).fetchone()
    return str(row[0]) if row else ""


def _locked(path: str) -> EngineLock:
    """Keep engines from a store while it is copied: what they wrote meanwhile would be missing."""
    with reached(path):
        if not size_of(path):
            raise StoreError(f"{path}: there is no store to copy; name yours")
    return EngineLock(path)


def _not_empty(name: str) -> StoreError:
    return StoreError(f"{name}: there is a store already; a copy needs an empty place, name another one")


def _sweep(path: str) -> None:
    """Remove what a copying left that was killed: under the lock there is no other one."""
    for left in Path(path).parent.glob(f"{escape(Path(path).name)}.*.part*"):
        if re.fullmatch(r"\d+\.part(-\w+)?", left.name.removeprefix(f"{Path(path).name}.")):
            left.unlink(missing_ok=True)


def _remove(part: str) -> None:
    for ending in ("", "-journal", "-wal", "-shm"):
        Path(part + ending).unlink(missing_ok=True)


def _name(part: str, path: str) -> None:
    with Path(part).open("rb") as file:
        os.fsync(file.fileno())
    Path(part).replace(path)
    folder = os.open(Path(path).resolve().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
