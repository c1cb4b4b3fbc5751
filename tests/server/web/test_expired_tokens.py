"""Tokens that are past their time."""

from __future__ import annotations

from tests.server.web.visiting import Visitor, tree
from tocsin.model import Scope

REVOKE = "/settings/access/tokens/revoke"


async def test_a_token_past_its_time_is_revoked_unless_its_name_is_that_of_one_in_force(visitor: Visitor) -> None:
    now = visitor.rig.clock.now()
    admin = await visitor.rig.token(Scope.ADMIN)
    for name, at, expires_at in (("gone", now - 2, now - 1), ("renewed", now - 2, now - 1), ("renewed", now, None)):
        await visitor.store.add_token(name, Scope.READ, f"{name}{at}".encode(), at, expires_at=expires_at)
    async with visitor.rig.asking(admin) as client:
        offered = tree((await client.get("/settings/access")).text).xpath(
            f"//form[@action='{REVOKE}']//input[@name='name']/@value"
        )
        await client.post(REVOKE, data={"name": "gone", "confirmed": "yes"})

    assert sorted(offered) == ["admin", "gone", "renewed"]
    assert [row.name for row in await visitor.store.tokens() if row.revoked_at is not None] == ["gone"]
