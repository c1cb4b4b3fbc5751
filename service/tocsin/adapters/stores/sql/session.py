"""What the roles of a store need of a database: sessions that run statements, and a database that lends sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator
    from contextlib import AbstractAsyncContextManager

    from tocsin.adapters.stores.sql.statements import Dialect

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]


class Cursor(Protocol):
    """The rows of a statement, or how many rows it changed."""

    @property
    def rowcount(self) -> int:
        """The number of rows that were changed."""

    def fetchone(self) -> Any:
        """Return the next row, None after the last one."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...

    def close(self) -> None:
        """Drop the rows that are left."""


class SqlSession(Protocol):
    """A connection, inside a transaction. `sqlite3.Connection` and psycopg's connection have this shape."""

    @property
    def dialect(self) -> Dialect:
        """The dialect of SQL that it speaks."""

    def execute(self, statement: str, parameters: Any = ..., /) -> Cursor:
        """Run a statement; its parameters are a mapping or a sequence."""

    def executemany(self, statement: str, rows: Iterable[Any], /) -> Cursor:
        """Run a statement once for each of these parameters."""


class EditStep(Protocol):
    """A transaction of a long edit: `run` is called inside of it, then `held_s` says how long it held its locks."""

    held_s: float

    def run(self, db: SqlSession) -> None:
        """Do the work of the step."""

    def committed(self) -> None:
        """Note that the work is stored."""


class Database(Protocol):
    """Runs functions of a session, each on a thread of its connection and in a transaction of its own.

    A call that is cancelled while it waits does not stop its function: that runs to its end, or not at all.
    Each method raises StoreError for every error of the database.
    """

    is_shared: bool
    """Whether several engines may work on it at the same time."""

    async def write(self, work: Callable[[SqlSession], T], *, durable: bool = False, shared: bool = False) -> T:
        """Run this in a writing transaction; a `durable` one survives a loss of power.

        shared  others may write at the same time: the work keeps to rows of its own hosts, channel or key, and writes
                what all nodes share after `take_turn`. It may be run again where it met another one's rows
        """

    async def keep(self, work: Callable[[SqlSession], T]) -> T:
        """Run this short writing transaction about leases: it waits for no other work where that can be."""

    async def edit(self, work: Callable[[SqlSession], T]) -> T:
        """Run this in a durable transaction that a running engine notices."""

    async def edit_step(self, step: EditStep) -> None:
        """Run a step of a long edit, as `edit` does; others that write wait only while it holds its locks."""

    async def rest(self, held_s: float) -> None:
        """Leave another process time to write after a step that held the locks for this long."""

    async def drain(self) -> None:
        """Wait until everything that was handed to `write`, `edit` and `edit_step` before is done."""

    async def read(self, work: Callable[[SqlSession], T]) -> T:
        """Run this on one snapshot, through the connection that the engine reads by."""

    async def view(self, work: Callable[[SqlSession], T]) -> T:
        """Run this on one snapshot, through the connection for people: neither waits for the other."""

    def apart(self, *, one_instant: bool = False) -> AbstractAsyncContextManager[SnapshotReader]:
        """Open a connection for long readings, on which only its caller waits.

        one_instant  all readings see one snapshot; else each sees its own
        """

    def size(self, db: SqlSession) -> tuple[int, int | None]:
        """Tell how many bytes the database takes, and how many are free where it lies (None: unknown)."""

    async def foreign_revision(self, latest: Callable[[SqlSession], int]) -> int | None:
        """Read the store's revision if there was an edit since the last call, or no call yet; else None.

        latest  reads the revision
        """

    async def follow(self, name: str, latest: Callable[[SqlSession], object], on_news: Callable[[], None]) -> None:
        """Call this whenever another process may have changed what `latest` reads, until cancelled.

        name  of the notifications that tell of it
        Returns at once where one engine alone works on a database.
        """

    async def keep_place(self) -> bool:
        """Raise StoreLost where the store is not ours any more; returns whether the engine's lock was taken anew."""

    async def copy_log(self) -> None:
        """Copy what is in the log to its places; see ports.StoreCare."""

    async def is_held(self) -> bool:
        """Tell whether an engine holds the store's lock."""


class SnapshotReader(Protocol):
    """Runs functions of a session of its own, one after the other."""

    def __call__(self, work: Callable[[SqlSession], T], /) -> Awaitable[T]: ...
