"""Channels and routes that were made at run time, and mutes of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_object, to_json
from tocsin.model import ChannelMute, Saved, SavedEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant, JsonObject, SavedKind

SQL = queries("saved")


class SavedRole(Role):
    """Implements ports.SavedStore."""

    async def saved_revision(self) -> int:
        (revision,) = await self._view(lambda db: db.execute(SQL["revision"]).fetchone())
        return int(revision)

    async def saved(self) -> Saved:
        def read(db: SqlSession) -> Saved:
            (revision,) = db.execute(SQL["revision"]).fetchone()
            entries = [
                SavedEntry(kind, name, read_object(settings), number, at, who)
                for kind, name, settings, number, at, who in db.execute(SQL["entries"])
            ]
            return Saved(
                revision,
                tuple(entry for entry in entries if entry.kind == "channel"),
                tuple(entry for entry in entries if entry.kind == "route"),
                tuple(ChannelMute(*row) for row in db.execute(SQL["mutes"])),
            )

        return await self._view(read)

    async def save_entry(
        self, kind: SavedKind, name: str, settings: JsonObject, now: Instant, *, who: str, if_revision: int | None
    ) -> int | None:
        row: dict[str, Any] = {"kind": kind, "name": name, "settings": to_json(settings), "now": now, "who": who}

        def write(db: SqlSession) -> int | None:
            if _is_other(db, row, if_revision):
                return None
            revision: int = db.execute(SQL["next"]).fetchone()[0]
            db.execute(SQL["save"], {**row, "revision": revision})
            return revision

        return await self._write(write, durable=True)

    async def remove_entry(self, kind: SavedKind, name: str, *, if_revision: int | None) -> bool:
        place = {"kind": kind, "name": name}

        def write(db: SqlSession) -> bool:
            if _is_other(db, place, if_revision):
                return False
            is_gone = bool(db.execute(SQL["remove"], place).rowcount)
            if kind == "channel":
                db.execute(SQL["unmute"], place)
            db.execute(SQL["next"])
            return is_gone

        return await self._write(write, durable=True)

    async def order_routes(self, names: Sequence[str]) -> None:
        def write(db: SqlSession) -> None:
            db.executemany(SQL["place"], [{"name": name, "place": place} for place, name in enumerate(names, 1)])
            db.execute(SQL["next"])

        await self._write(write, durable=True)

    async def mute_channel(self, name: str, now: Instant, *, until_at: Instant | None, who: str) -> None:
        row = {"name": name, "until": until_at, "now": now, "who": who}

        def write(db: SqlSession) -> None:
            db.execute(SQL["mute"], row)
            db.execute(SQL["next"])

        await self._write(write, durable=True)

    async def unmute_channel(self, name: str) -> bool:
        def write(db: SqlSession) -> bool:
            db.execute(SQL["next"])
            return bool(db.execute(SQL["unmute"], {"name": name}).rowcount)

        return await self._write(write, durable=True)


def _is_other(db: SqlSession, place: dict[str, Any], revision: int | None) -> bool:
    """Tell whether the entry has another revision than the edit is based on; 0: it is to be new; None: any is right."""
    row = db.execute(SQL["revision_of"], place).fetchone()
    return revision is not None and revision != (row[0] if row is not None else 0)
