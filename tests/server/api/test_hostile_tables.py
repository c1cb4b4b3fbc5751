"""The table is one instant of the store, which may not last for ever."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from tocsin.errors import StoreError
from tocsin.server import bodies
from tocsin.server.access.limits import MOST_BYTES
from tocsin.server.bodies import OneTable

if TYPE_CHECKING:
    from tests.server.api.talk import Api


async def test_the_table_is_given_to_one_reader_at_a_time(busy: Api) -> None:
    shared = OneTable(busy.rig.app.state.parts)
    busy.rig.app.state.table = shared
    async with aclosing(shared.pieces()) as held:
        await anext(held)
        problem = await busy.refused("GET", "/table")
    afterwards = await busy.call("GET", "/table")

    assert (problem["status"], problem["type"]) == (503, "urn:tocsin:problem:table-taken")
    assert afterwards.status_code == 200


async def test_who_takes_the_table_too_slowly_does_not_get_to_its_end(busy: Api) -> None:
    async with aclosing(OneTable(busy.rig.app.state.parts).pieces()) as pieces:
        await anext(pieces)
        await busy.rig.clock.advance(bodies.LONGEST_S + 1)
        with pytest.raises(StoreError, match="try again"):
            await anext(pieces)


async def test_json_that_would_hold_up_everybody_is_not_parsed(api: Api) -> None:
    body = b"[" + b"{}," * (2 * MOST_BYTES) + b"{}]"

    problem = await api.refused("POST", "/pages", body, headers={"Content-Type": "application/json"})

    assert (problem["status"], problem["detail"]) == (413, "at most 4 MiB here")
