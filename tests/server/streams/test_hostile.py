"""Readers who should not be told any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.server.streams.reader import reading
from tests.server.streams.test_events import followed
from tests.server.test_access_sessions import logged_in
from tocsin.model import Scope
from tocsin.server.access.credentials import digest_of

if TYPE_CHECKING:
    from tests.server.streams.conftest import Desk


async def test_an_alert_is_never_told_to_one_whose_token_was_revoked_a_moment_before(desk: Desk) -> None:
    token = await desk.rig.token(Scope.READ, "reader")
    async with reading(desk.address, token=token) as reader:
        await followed(reader)
        await desk.store.revoke_token("reader", desk.clock.now())
        await desk.publish("a")

        assert await reader.ended() == []


async def test_an_alert_is_never_told_to_one_who_logged_out_a_moment_before(desk: Desk) -> None:
    async with logged_in(desk.rig, Scope.READ) as browser:
        secret = browser.cookies["tocsin"]
        async with reading(desk.address, cookie=secret) as reader:
            await followed(reader)
            await desk.store.close_session(digest_of(secret))
            await desk.publish("a")

            assert await reader.ended() == []
