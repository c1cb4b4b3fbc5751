"""The nodes that work on the store: their leases, the parts of the hosts, and named leases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.role import NODES, Role, ids, named
from tocsin.adapters.stores.sql.values import read_object, to_json, to_json_or_null, to_us
from tocsin.errors import StaleClaim
from tocsin.model import LeaseRow, Membership, NamedLease, NodeIdentity, NodeRow, TakenPart

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta
    from typing import Any

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import JsonObject


class NodeRole(Role):
    """Implements ports.NodeStore."""

    @property
    def is_shared(self) -> bool:
        return self._database.is_shared

    async def enter(self, node: str, lease: timedelta, said: JsonObject) -> NodeIdentity | None:
        place = {"node": node, "lease": to_us(lease), "said": to_json(said)}

        def enter(db: SqlSession) -> NodeIdentity | None:
            for before in ("free_parts_before", "free_leases_before"):
                db.execute(NODES[before], {"node": node})
            db.execute(NODES["forget_long_gone"])
            row = db.execute(NODES["enter"], place).fetchone()
            return None if row is None else NodeIdentity(node, row[0])

        return await self._database.keep(enter)

    async def renew_node(self, me: NodeIdentity, lease: timedelta, said: JsonObject | None = None) -> Membership:
        place = {**_me(me), "lease": to_us(lease), "said": to_json_or_null(said)}

        def renew(db: SqlSession) -> Membership:
            row = db.execute(NODES["renew_node"], place).fetchone()
            if row is None:
                raise StaleClaim(f"node {me.node}: another process of this name has entered, or this one has left")
            alive, parts, ahead = db.execute(NODES["counts"], {"node": me.node}).fetchone()
            held = dict(db.execute(NODES["held"], {"node": me.node}).fetchall())
            return Membership(alive, bool(row[0]), parts, held, ahead, row[1] if self.is_shared else None)

        return await self._database.keep(renew)

    async def take_parts(self, me: NodeIdentity, most: int, *, expired: bool) -> list[TakenPart]:
        place = {**_me(me), "most": most, "expired": int(expired)}

        def take(db: SqlSession) -> list[TakenPart]:
            return [
                TakenPart(part, epoch, float(alone_s))
                for part, epoch, alone_s in sorted(db.execute(NODES["take_parts"], place))
            ]

        return await self._database.keep(take)

    async def give_back(self, me: NodeIdentity, parts: Collection[int]) -> None:
        place = {**_me(me), "parts": ids(parts)}

        def give_back(db: SqlSession) -> None:
            db.execute(NODES["lock_parts"], {"node": me.node}).fetchall()
            db.execute(NODES["give_back"], place)

        await self._database.keep(give_back)

    async def leave(self, me: NodeIdentity) -> None:
        def leave(db: SqlSession) -> None:
            parts = [row[0] for row in db.execute(NODES["lock_parts"], {"node": me.node}).fetchall()]
            db.execute(NODES["give_back"], {**_me(me), "parts": ids(parts)})
            db.execute(NODES["release_all"], _me(me))
            db.execute(NODES["leave"], _me(me))

        await self._database.keep(leave)

    async def nodes(self) -> list[NodeRow]:
        rows = await self._view(lambda db: db.execute(NODES["nodes"]).fetchall())
        return [
            NodeRow(node, entered_at, float(left_s), bool(draining), parts, read_object(said))
            for node, entered_at, left_s, draining, parts, said in rows
        ]

    async def parts_alone(self) -> int:
        alone: int = await self._view(lambda db: db.execute(NODES["parts_alone"]).fetchone()[0])
        return alone

    async def drain_node(self, node: str, *, draining: bool) -> bool:
        place = {"node": node, "draining": int(draining)}
        return await self._database.keep(lambda db: db.execute(NODES["drain"], place).rowcount > 0)

    async def take_lease(self, me: NodeIdentity, name: str, lease: timedelta) -> NamedLease | None:
        place = {"name": name, "node": me.node, "lease": to_us(lease)}

        def take(db: SqlSession) -> NamedLease | None:
            row = db.execute(NODES["take_lease"], place).fetchone()
            return None if row is None else NamedLease(name, me.node, row[0])

        return await self._database.keep(take)

    async def renew_leases(self, leases: Sequence[NamedLease], lease: timedelta) -> list[NamedLease]:
        length = to_us(lease)

        def renew(db: SqlSession) -> list[NamedLease]:
            return [
                each for each in leases if db.execute(NODES["renew_lease"], {**named(each), "lease": length}).rowcount
            ]

        return await self._database.keep(renew)

    async def release_leases(self, leases: Sequence[NamedLease]) -> None:
        def release(db: SqlSession) -> None:
            for each in leases:
                db.execute(NODES["release_lease"], named(each))

        await self._database.keep(release)

    async def leases(self) -> list[LeaseRow]:
        rows = await self._view(lambda db: db.execute(NODES["leases"]).fetchall())
        return [LeaseRow(name, node, float(left_s)) for name, node, left_s in rows]


def _me(me: NodeIdentity) -> dict[str, Any]:
    return {"node": me.node, "incarnation": me.incarnation}
