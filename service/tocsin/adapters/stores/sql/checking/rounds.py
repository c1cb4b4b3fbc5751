"""How many pages hosts have, and how often these are wanted: the rounds' part of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.codec import read_object
from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import HostPages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.adapters.stores.sql.session import Reading
    from tocsin.model import JsonObject

SQL = queries("rounds")
_PAGES_A_READ = 10_000
_HOSTS_A_READ = 500
_SCHEDULE = ("every", "cron", "mode")


class RoundRole(Role):
    """Implements ports.RoundStore. It reads over connections of its own: nobody waits for what takes a second."""

    async def own_schedules(self) -> list[JsonObject]:
        """The intervals and cron expressions that pages have of their own, each once."""
        last: int = (await self._read(lambda db: db.execute("select coalesce(max(id), 0) from pages").fetchone()))[0]
        found: set[tuple[str | None, str | None]] = set()
        async with self._database.apart() as read:
            for after in range(0, last, _PAGES_A_READ):
                place = {"after": after, "last": after + _PAGES_A_READ}
                found.update(await _rows(read, SQL["own_schedules"], place))
        return [_to_settings(row) for row in found]

    async def crowds(self, least: int) -> AsyncIterator[HostPages]:
        """The hosts with at least so many pages that are due at some time."""
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
        """What pages of a host that are due at some time set of their schedule: (group, settings, pages) each."""
        async with self._database.apart() as read:
            rows = await _rows(read, SQL["schedules_of"], {"host": host_id})
        return [(group_id, _to_settings(settings), pages) for group_id, *settings, pages in rows]


async def _rows(read: Reading, query: str, place: dict[str, int]) -> list[tuple[Any, ...]]:
    return await read(lambda db: db.execute(query, place).fetchall())


def _to_settings(values: list[Any] | tuple[Any, ...]) -> JsonObject:
    return {key: value for key, value in zip(_SCHEDULE, values, strict=False) if value is not None}
