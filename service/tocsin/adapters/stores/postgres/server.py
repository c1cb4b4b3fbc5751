"""The server of a store on PostgreSQL: how it is set up, as far as a store depends on it."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from tocsin.adapters.stores.postgres.connection import CONNECTIONS, translated

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from tocsin.adapters.stores.postgres.connection import PostgresPlace

# A pooler gives a free session of the server to the next connection that asks: one of these gets ours if it was given
# back.
_OTHERS: Final = 4
_FACTS: Final = """
select
  current_setting('server_version'),
  array(select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off' order by name),
  pg_is_in_recovery(),
  current_setting('default_transaction_read_only') = 'on',
  least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
    nullif((select rolconnlimit from pg_roles where rolname = current_user), -1),
    nullif((select datconnlimit from pg_database where datname = current_database()), -1)
  ),
  coalesce(has_schema_privilege(current_schema(), 'create'), false)
"""
_HAS_PARTS: Final = "select to_regclass('parts') is not null"
_PARTS: Final = "select count(*) from parts"
_CLOCK: Final = "select extract(epoch from clock_timestamp())::float8"
_SESSION: Final = "select pg_backend_pid()"


class ServerFacts(Struct, frozen=True):
    """How a server is set up.

    unsafe            settings that are off, without which a crash of the server damages the store
    is_standby        it follows another server
    is_read_only      it, the database or the user is set to write nothing
    connections       that it allows for this database and user
    taken             of these by each node
    clock_s           by how much its clock is ahead of ours; 0 where the time that the question took explains it
    parts             that the store was made with; 0: there is none yet
    forgets_sessions  a pooler gives each transaction another session, and with it another's settings
    may_create        the user may make tables, as a new store and a later version need
    """

    version: str
    unsafe: tuple[str, ...]
    is_standby: bool
    is_read_only: bool
    connections: int
    taken: int
    clock_s: float
    parts: int
    forgets_sessions: bool
    may_create: bool


def examine_server(place: PostgresPlace, wall_s: Callable[[], float] = time.time) -> ServerFacts:
    """Look at the server of a store; raises StoreError where it cannot be used at all.

    wall_s  our clock
    """
    with translated(place.name), closing(place.connect(writes=True)) as server:
        version, unsafe, is_standby, is_read_only, connections, may_create = _one(server, _FACTS)
        return ServerFacts(
            version,
            tuple(unsafe),
            is_standby,
            is_read_only and not is_standby,
            connections,
            CONNECTIONS,
            _ahead_s(server, wall_s),
            _one(server, _PARTS)[0] if _one(server, _HAS_PARTS)[0] else 0,
            _forgets_sessions(place, server),
            may_create,
        )


def _ahead_s(server: psycopg.Connection[Any], wall_s: Callable[[], float]) -> float:
    before = wall_s()
    (theirs,) = _one(server, _CLOCK)
    after = wall_s()
    if before <= theirs <= after:
        return 0.0
    return float(theirs - after if theirs > after else theirs - before)


def _forgets_sessions(place: PostgresPlace, server: psycopg.Connection[Any]) -> bool:
    """Tell whether another connection gets the server's session of ours, which only an interposed pooler does."""
    with ExitStack() as stack:
        ours = _one(server, _SESSION)
        for _ in range(_OTHERS):
            other = stack.enter_context(closing(place.connect(writes=False)))
            # In a transaction it keeps the session that it got.
            other.execute("begin")
            if _one(other, _SESSION) == ours:
                return True
        return _one(server, _SESSION) != ours


def _one(server: psycopg.Connection[Any], query: str) -> tuple[Any, ...]:
    return server.execute(query.encode()).fetchone() or ()
