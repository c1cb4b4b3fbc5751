"""The connections of an open store: each on a thread of its own, doing one whole piece of work at a time."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tocsin.adapters.stores.postgres.session import PostgresSession, SnapshotSession
from tocsin.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import EditStep, SnapshotReader, SqlSession


T = TypeVar("T")

OLDEST: Final = 15
# For writing, the engine's reading, people, leases and what others publish; and now and then for a long reading.
CONNECTIONS: Final = 6
# A server or a network that went away is noticed by both sides within ten seconds or so.
_ALIVE: Final = {
    "connect_timeout": "10",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "8000",
}
_SESSION: Final = """
set client_min_messages = warning;
set plan_cache_mode = force_generic_plan;
set jit = off;
set timezone = 'UTC';
set tcp_keepalives_idle = 5;
set tcp_keepalives_interval = 2;
set tcp_keepalives_count = 3;
set tcp_user_timeout = 8000;
"""
# Statements are planned once, often while the store is small: such a plan must still be right when the store has grown.
# It finds rows by their keys, one after the other, and goes through no table.
_BY_INDEX: Final = "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off;"
# What was found unchanged may be checked again after the server was killed; what must not be lost says so.
_WRITER: Final = """
set synchronous_commit = off;
set lock_timeout = {busy_ms};
set idle_in_transaction_session_timeout = '5s';
"""
_READER: Final = "set default_transaction_read_only = on;"
# What the server says last, by the beginning of its code.
_ENDED: Final = "57P"
_SNAPSHOT: Final = b"begin isolation level repeatable read read only"
# How often what another process may have changed is looked for without a notification.
LOOK_S: Final = 5.0
# How often a transaction is tried that met another one, and how that shows: both wanted the same rows, or wrote them.
_TRIES: Final = 4
_MET: Final = (
    psycopg.errors.SerializationFailure,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.UniqueViolation,
    psycopg.errors.ForeignKeyViolation,
)
# The advisory lock of ours is named by this and the number of the table `store`: "Tocs".
_WRITING: Final = 0x546F6373 << 32


class PostgresPlace:
    """Where a store is.

    conninfo  as libpq takes it: a URL
    password  of its user, where the URL and libpq's own files have none
    busy      how long to wait for another process that writes
    """

    def __init__(self, conninfo: str, busy: timedelta, *, password: str = "") -> None:
        self.busy = busy
        with translated(_without_password(conninfo)):
            given = conninfo_to_dict(conninfo)
            self.name = _without_password(conninfo)
            own = {**_ALIVE, "application_name": "tocsin", "client_encoding": "UTF8"}
            if password:
                own["password"] = password
            self.conninfo = make_conninfo(**{**own, **{key: str(value) for key, value in given.items()}})

    def connect(self, *, writes: bool, by_index: bool = True) -> psycopg.Connection[Any]:
        """Connect, as every part of the store wants it: transactions are begun by name, never by the driver.

        by_index  its statements find their rows by an index wherever there is one
        """
        with translated(self.name):
            connection = psycopg.connect(self.conninfo, autocommit=True)
            try:
                self._demand_fit(connection.pgconn)
                busy_ms = max(round(self.busy.total_seconds() * 1000), 1)
                own = _WRITER.format(busy_ms=busy_ms) if writes else _READER
                connection.execute(_SESSION + own + (_BY_INDEX if by_index else ""))
            except BaseException:
                connection.close()
                raise
            return connection

    def _demand_fit(self, pgconn: Any) -> None:
        version = pgconn.server_version // 10_000
        if version < OLDEST:
            raise StoreError(f"{self.name}: PostgreSQL {version} is too old; Tocsin needs {OLDEST} or later")
        encoding = (pgconn.parameter_status(b"server_encoding") or b"").decode()
        if encoding != "UTF8":
            raise StoreError(
                f"{self.name}: the encoding of the database is {encoding}; make one in UTF8: "
                "create database tocsin encoding 'UTF8' template template0"
            )


def _without_password(conninfo: str) -> str:
    """Name a place in messages and logs."""
    scheme, separator, rest = conninfo.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, host = authority.rpartition("@")
    return f"{scheme}{separator}{user.partition(':')[0]}{at}{host}{slash}{path.partition('?')[0]}"


class PostgresLane:
    """A connection whose thread does whole functions, and that connects anew once its connection was lost.

    prepare  is called with each new connection, before it is used
    """

    def __init__(
        self,
        place: PostgresPlace,
        *,
        writes: bool = False,
        kind: type[PostgresSession] = PostgresSession,
        prepare: Callable[[PostgresSession], None] = lambda _: None,
    ) -> None:
        self._place, self._writes, self._kind, self._prepare = place, writes, kind, prepare
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._connection: psycopg.Connection[Any] | None = None
        self._session: PostgresSession | None = None
        self._is_closed = False

    async def run(self, work: Callable[[PostgresSession], T]) -> T:
        """Do this on the connection's thread.

        Cancelling the caller does not stop the work: it is done completely, or not at all.
        Raises StoreError for every error of PostgreSQL, and once the connection was closed.
        """
        if self._is_closed:
            raise StoreError(f"{self._place.name}: the store was closed; open it again")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)

    async def close(self) -> None:
        """Close the connection, after the work that was handed over before."""
        if not self._is_closed:
            self._is_closed = True
            await asyncio.get_running_loop().run_in_executor(self._thread, self._disconnect)
            self._thread.shutdown(wait=False)

    def _do(self, work: Callable[[PostgresSession], T]) -> T:
        with translated(self._place.name):
            try:
                return work(self._session or self._connect())
            except psycopg.Error as exc:
                # The server ended the connection, or is not there: the next work connects anew.
                if (exc.sqlstate or _ENDED).startswith(_ENDED):
                    self._disconnect()
                raise

    def _connect(self) -> PostgresSession:
        # Long readings go through whole tables.
        by_index = self._kind is not SnapshotSession
        self._connection = self._place.connect(writes=self._writes, by_index=by_index)
        session = self._kind(self._connection, self._disconnect)
        try:
            self._prepare(session)
        except BaseException:
            self._disconnect()
            raise
        self._session = session
        return session

    def _disconnect(self) -> None:
        connection, self._connection, self._session = self._connection, None, None
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()


@asynccontextmanager
async def open_lane(lane: PostgresLane) -> AsyncIterator[PostgresLane]:
    """Have a connection for as long as the context lasts."""
    try:
        await lane.run(lambda _: None)
        yield lane
    finally:
        await lane.close()


@contextmanager
def transaction(db: PostgresSession, begin: bytes) -> Iterator[None]:
    """Work in one transaction: all of it, or nothing. A connection that was lost meanwhile is given up."""
    try:
        db.command(begin)
        yield
        db.command(b"commit")
    finally:
        db.leave()


async def notifications(place: PostgresPlace, name: str) -> AsyncGenerator[bool, None]:
    """Yield True for each notification of this name, or several of them, and False after each `LOOK_S` without one.

    Raises StoreError when the connection is lost, or the server cannot be reached.
    """
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    connection = await asyncio.to_thread(partial(place.connect, writes=False))
    number = connection.fileno()
    try:
        with translated(place.name):
            await asyncio.to_thread(connection.execute, f"listen {name}".encode())
            yield True
            while True:
                # Only while it is waited for: what arrives in between would keep the loop busy until it is read.
                loop.add_reader(number, arrived.set)
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await arrived.wait()
                loop.remove_reader(number)
                arrived.clear()
                connection.pgconn.consume_input()
                is_told = False
                while connection.pgconn.notifies() is not None:
                    is_told = True
                yield is_told
    finally:
        loop.remove_reader(number)
        connection.close()


class PostgresDatabase:
    """Implements session.Database for one store."""

    is_shared = True

    def __init__(self, place: PostgresPlace) -> None:
        self.place = place
        self.writer = PostgresLane(place, writes=True, prepare=self._prepare_writer)
        self._reader = PostgresLane(place, prepare=self._prepare_reader)
        self._viewer = PostgresLane(place)
        self._keeper = PostgresLane(place, writes=True)
        self._writing = 0
        self._seen: int | None = None
        self._is_edited, self._looked_s = True, 0.0

    async def write(self, work: Callable[[SqlSession], T], *, durable: bool = False, shared: bool = False) -> T:
        """Run this in a writing transaction."""
        write = self._write_beside_others if shared else self._write
        return await self.writer.run(partial(write, work=work, durable=durable))

    async def write_at_once(self, calls: Sequence[tuple[str, Any]]) -> list[list[Any]]:
        """Run these statements beside others in one transaction and one round trip; returns the rows of each.

        A node that stops within it holds no lock that another one waits for.
        """
        return await self.writer.run(partial(self._at_once, calls=calls))

    async def keep(self, work: Callable[[SqlSession], T]) -> T:
        """Run this on a connection of its own, without the lock of the writers: a lease must not wait for them."""
        return await self._keeper.run(partial(_in_transaction, work=work))

    async def edit(self, work: Callable[[SqlSession], T]) -> T:
        """Run this in a durable transaction that a running engine notices."""
        done = await self.write(work, durable=True)
        self._is_edited = True
        return done

    async def edit_step(self, step: EditStep) -> None:
        """Run a step of a long edit."""

        def whole(db: PostgresSession) -> None:
            self._write(db, step.run, durable=True)
            step.committed()

        await self.writer.run(whole)
        self._is_edited = True

    async def rest(self, held_s: float) -> None:
        """Go on at once: PostgreSQL's locks have queues."""

    async def drain(self) -> None:
        """Wait for the work that was handed to the writing connection before; it does one piece after the other."""
        await self.writer.run(lambda _: None)

    async def read(self, work: Callable[[SqlSession], T]) -> T:
        """Run this on one snapshot."""
        return await self._reader.run(partial(_on_snapshot, work=work))

    async def view(self, work: Callable[[SqlSession], T]) -> T:
        """Run this on one snapshot, through the connection for people."""
        return await self._viewer.run(partial(_on_snapshot, work=work))

    @asynccontextmanager
    async def apart(self, *, one_instant: bool = False) -> AsyncIterator[SnapshotReader]:
        """Open a connection for long readings."""
        async with open_lane(PostgresLane(self.place, kind=SnapshotSession)) as lane:
            if one_instant:
                # Closing the connection ends the transaction.
                await lane.run(lambda db: db.command(_SNAPSHOT))
                yield lane.run
            else:
                yield lambda work: lane.run(partial(_on_snapshot, work=work))

    def size(self, db: SqlSession) -> tuple[int, int | None]:
        """Tell how many bytes the database takes; what is free on its disk is not known here."""
        taken: int = db.execute("select pg_database_size(current_database())").fetchone()[0]
        return taken, None

    async def foreign_revision(self, latest: Callable[[SqlSession], int]) -> int | None:
        """Read the store's revision if there was an edit since the last call, or no call yet; else None.

        latest  reads the revision
        """
        if await self._reader.run(lambda db: db.take_notifications()) or time.monotonic() - self._looked_s >= LOOK_S:
            self._is_edited = True
        if not self._is_edited:
            return None
        self._is_edited = False
        try:
            revision = await self.read(latest)
        except BaseException:
            self._is_edited = True
            raise
        self._looked_s = time.monotonic()
        if revision == self._seen:
            return None
        self._seen = revision
        return revision

    async def follow(self, name: str, latest: Callable[[SqlSession], object], on_news: Callable[[], None]) -> None:
        """Call this whenever another process may have changed what `latest` reads, until cancelled."""
        seen: object = None
        while True:
            # A notification may be lost with its connection: then a look each few seconds finds what it was about.
            with suppress(StoreError):
                async with aclosing(notifications(self.place, name)) as each:
                    async for is_told in each:
                        before, seen = seen, await self.view(latest)
                        if is_told or seen != before:
                            on_news()
            await asyncio.sleep(LOOK_S)

    async def copy_log(self) -> None:
        """Do nothing: the server copies its log by itself."""

    async def is_held(self) -> bool:
        """Tell whether a node works on the store."""
        return await self._viewer.run(is_in_use)

    async def keep_place(self) -> bool:
        """Return False: leases say who works on a database, and it cannot be replaced unnoticed."""
        return False

    async def close(self) -> None:
        """Close all connections."""
        for lane in (self._keeper, self._viewer, self._reader, self.writer):
            await lane.close()

    def _prepare_reader(self, db: PostgresSession) -> None:
        db.command(b"listen revisions")
        # Notifications that came before are lost.
        self._is_edited = True

    def _prepare_writer(self, db: PostgresSession) -> None:
        (number,) = db.execute("select coalesce(to_regclass('store')::oid::bigint, 0)").fetchone()
        self._writing = _WRITING + number

    def _write(
        self, db: PostgresSession, work: Callable[[SqlSession], T], *, durable: bool, lock: bytes = b"lock"
    ) -> T:
        begin = b"begin; set local synchronous_commit = on; " if durable else b"begin; "
        # Most roles are written for one writer at a time. Those that write beside others share this lock: an edit finds
        # no other transaction under way.
        with transaction(db, b"%bselect pg_advisory_xact_%b(%d)" % (begin, lock, self._writing)):
            return work(db)

    def _write_beside_others(self, db: PostgresSession, work: Callable[[SqlSession], T], *, durable: bool) -> T:
        return _tried(partial(self._write, db, work, durable=durable, lock=b"lock_shared"))

    def _at_once(self, db: PostgresSession, calls: Sequence[tuple[str, Any]]) -> list[list[Any]]:
        lock = (_LOCK_SHARED, {"number": self._writing})
        try:
            return _tried(lambda: db.transact([lock, *calls])[1:])
        finally:
            db.leave()


def _tried(work: Callable[[], T]) -> T:
    for _ in range(_TRIES - 1):
        # Another transaction was first, and is over by now.
        with suppress(*_MET):
            return work()
    return work()


_LOCK_SHARED: Final = "select pg_advisory_xact_lock_shared(:number)"


def is_in_use(db: PostgresSession) -> bool:
    """Tell whether a node with a lease in force works on the store."""
    return bool(db.execute(_IS_HELD).fetchone()[0])


_IS_HELD: Final = "select exists (select 1 from nodes where until > extract(epoch from clock_timestamp()) * 1000000)"


def _in_transaction(db: PostgresSession, *, work: Callable[[SqlSession], T]) -> T:
    # Leases are lost with their server's last moments as other work is: their epochs must not come back.
    with transaction(db, b"begin; set local synchronous_commit = on"):
        return work(db)


def _on_snapshot(db: PostgresSession, *, work: Callable[[SqlSession], T]) -> T:
    with transaction(db, _SNAPSHOT):
        return work(db)


# What PostgreSQL says when it cannot go on, in words that name the place and the mend: by the beginning of its code.

_MENDS: Final = (
    ("28", "the user or the password is wrong, or the server does not let this user in; see store.url and pg_hba.conf"),
    ("3D000", "there is no such database; make it: create database tocsin encoding 'UTF8' template template0"),
    ("53100", "the disk of the server is full; free some space there, nothing that was committed is lost"),
    ("53300", "the server allows no more connections; raise max_connections, a node takes six"),
    ("53", "the server is short of memory or connections; see its log"),
    ("42501", "this user has no right to do that; make it the owner of the database"),
    ("26000", "it forgot what was prepared; a pooler of connections must work in session mode, or be left out"),
    (
        "42P05",
        "it knows what was prepared elsewhere; a pooler of connections must work in session mode, or be left out",
    ),
    ("25006", "the server is read-only; name the primary server in store.url, not a standby"),
    ("55P03", "another process has kept it locked for too long; wait for it, or end it, and try again"),
    ("40", "another process changed the same rows; it is tried again where that is safe"),
    ("57P", "the server is stopping or starting; wait for it"),
    ("58", "the server cannot read or write its files; see its log"),
    ("XX001", "the database is damaged; see the server's log, and restore a backup"),
    ("XX002", "an index of the database is damaged; see the server's log, and: reindex database"),
)
_FAULT: Final = "the program and this database do not agree; `tocsin store check` shows more, please report it"
_CERTIFICATE: Final = (
    "the server's certificate was refused; name the host that it is made for in store.url, and its authority in "
    "sslrootcert"
)
_UNENCRYPTED: Final = "the server offers no TLS; turn on ssl there, or choose another sslmode in store.url"
_UNREACHED: Final = "the server cannot be reached; is it running, and are host and port in store.url right?"


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn the driver's errors into StoreError, naming the store and the mend."""
    try:
        yield
    except psycopg.Error as exc:
        mend = _mend_of(exc)
        said = " ".join(str(exc).split())
        raise StoreError(f"{name}: {mend} (PostgreSQL: {said})", why=mend) from exc


def _mend_of(exc: psycopg.Error) -> str:
    code = exc.sqlstate or ""
    if not code:
        text = str(exc)
        if "password authentication failed" in text or "no password supplied" in text or "no pg_hba.conf entry" in text:
            code = "28"
        elif "does not exist" in text and "database" in text:
            code = "3D000"
        elif "certificate" in text:
            return _CERTIFICATE
        elif "does not support SSL" in text:
            return _UNENCRYPTED
        elif isinstance(exc, psycopg.ProgrammingError):
            return "this cannot be read; write postgresql://USER@HOST:PORT/DATABASE in store.url"
        else:
            return _UNREACHED
    return next((mend for start, mend in _MENDS if start and code.startswith(start)), _FAULT)
