"""What is kept of hosts: gates, robots.txt, and how many pages they have at which schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_object, to_json
from tocsin.model import HostPages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.adapters.stores.sql.session import SnapshotReader, SqlSession
    from tocsin.model import Instant, JsonObject

SQL = queries("hosts")
_PAGES_A_READ = 10_000
_HOSTS_A_READ = 500
_ORIGINS_A_HOST = 16
_SCHEDULE = ("every", "cron", "mode")


class HostRole(Role):
    """Implements what ports.WorkStore says of hosts, and ports.RoundStore."""

    async def load_robots(self, origin: str) -> str | None:
        row = await self._read(lambda db: db.execute(SQL["robots_of"], {"host": _host_of(origin)}).fetchone())
        if row is None or row[1] is None:
            return None
        kept: str | None = read_object(row[1]).get(origin)
        return kept

    async def save_robots(self, origin: str, kept: str) -> None:
        def save(db: SqlSession) -> None:
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
        return await self._read(lambda db: dict(db.execute(SQL["gates"], {"now": now}).fetchall()))

    async def hosts_received_last(self, limit: int) -> list[tuple[int, Instant]]:
        place = {"limit": limit}
        return await self._read(lambda db: db.execute(SQL["received_last"], place).fetchall())

    async def own_schedules(self) -> list[JsonObject]:
        last: int = (await self._read(lambda db: db.execute("select coalesce(max(id), 0) from pages").fetchone()))[0]
        found: set[tuple[str | None, str | None]] = set()
        async with self._database.apart() as read:
            for after in range(0, last, _PAGES_A_READ):
                place = {"after": after, "last": after + _PAGES_A_READ}
                found.update(await _rows(read, SQL["own_schedules"], place))
        return [_to_settings(row) for row in found]

    async def crowds(self, least: int) -> AsyncIterator[HostPages]:
        return self._crowds(least)

    async def _crowds(self, least: int) -> AsyncIterator[HostPages]:
        place = {"after": 0, "least": least, "limit": _HOSTS_A_READ}
        async with self._database.apart() as read:
            while rows := await _rows(read, SQL["crowds"], place):
                for host_id, host, pages, robots in rows:
                    kept = tuple(read_object(robots).values()) if robots else ()
                    yield HostPages(host_id, host, pages, kept)
                place["after"] = rows[-1][0]

    async def schedules_of(self, host_id: int) -> list[tuple[int, JsonObject, int]]:
        async with self._database.apart() as read:
            rows = await _rows(read, SQL["schedules_of"], {"host": host_id})
        return [(group_id, _to_settings(settings), pages) for group_id, *settings, pages in rows]


async def _rows(read: SnapshotReader, query: str, place: dict[str, int]) -> list[tuple[Any, ...]]:
    return await read(lambda db: db.execute(query, place).fetchall())


def _to_settings(values: list[Any] | tuple[Any, ...]) -> JsonObject:
    return {key: value for key, value in zip(_SCHEDULE, values, strict=False) if value is not None}


def _host_of(origin: str) -> str:
    authority = origin.partition("://")[2]
    host, colon, port = authority.rpartition(":")
    return host if colon and port.isdigit() else authority
