"""Who changed what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tocsin.errors import StoreError
from tocsin.model import Scope
from tocsin.server.access.auditing import audit, begin_request
from tocsin.server.access.rights import Caller

if TYPE_CHECKING:
    from tests.server.rig import Rig

OPS = Caller("ops", Scope.ADMIN, 1)


async def test_a_change_is_noted_with_who_what_and_the_request(rig: Rig) -> None:
    begin_request({}, "01REQUEST", believed=False)

    await audit(rig.app.state.parts, OPS, "pages.remove", pages=3)

    (entry,) = (await rig.store.audit()).rows
    assert (entry.at, entry.who, entry.what) == (rig.clock.now(), "ops", "pages.remove")
    assert (entry.detail, entry.request_id) == ({"pages": 3}, "01REQUEST")


async def test_a_change_stands_in_the_log_too(rig: Rig) -> None:
    await audit(rig.app.state.parts, OPS, "token.revoke", name="feeds")

    (told,) = [each for each in rig.telemetry.happenings if each.name == "access.changed"]
    assert told.values["who"] == "ops"


class FullStore:
    """A store whose disk is full."""

    async def write_audit(self, entry: Any) -> None:
        raise StoreError(f"the disk is full: {entry.what}")


async def test_a_log_that_cannot_be_written_undoes_nothing_and_is_told(rig: Rig) -> None:
    parts = replace(rig.app.state.parts, store=FullStore())

    await audit(parts, OPS, "pages.remove")

    assert rig.telemetry.names() == ["access.changed", "access.unaudited"]
