"""Taking over what feeds and sitemaps say of other pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.awareness import Listener
from tests.contract.desk import A, B, Desk
from tests.fakes import ManualClock
from tocsin.engine.scheduling.writer import LOOK_S, ListedDates
from tocsin.model import Listing

if TYPE_CHECKING:
    from pathlib import Path


async def test_what_a_feed_says_is_taken_over_soon_after_its_check(tmp_path: Path) -> None:
    desk, telemetry, clock = await Desk.at(tmp_path), Listener(), ManualClock()
    async with desk.store:
        await desk.watch(A, B)
        hearsay = ListedDates(desk.store, clock, telemetry)
        nothing = await hearsay.look()

        await desk.check(A, "1", listing=Listing("feed", ((B, "2026-01-02"),)))

        assert (nothing, await hearsay.look(), await hearsay.look()) == (0, 1, 0)
        beside = (await desk.task(B)).beside
        assert beside is not None
        assert beside.listed == {"feed": "2026-01-02"}
        assert [happening.values for happening in telemetry.happenings] == [{"pages": 1}]


async def test_the_loop_goes_on_after_a_fault_of_the_store(tmp_path: Path) -> None:
    desk, telemetry, clock = await Desk.at(tmp_path), Listener(), ManualClock()
    async with desk.store:
        await desk.watch(A, B)
        await desk.check(A, "1", listing=Listing("feed", ((B, "2026-01-02"),)))
        await desk.store._write(lambda db: db.execute("alter table listings rename to hidden"))
        async with asyncio.TaskGroup() as group:
            loop = group.create_task(ListedDates(desk.store, clock, telemetry).run(), name="hearsay")
            await telemetry.heard("listings.failed")
            await desk.store._write(lambda db: db.execute("alter table hidden rename to listings"))
            await clock.advance(LOOK_S)
            await telemetry.heard("listings.read")
            loop.cancel()

        beside = (await desk.task(B)).beside
        assert beside is not None
        assert beside.listed == {"feed": "2026-01-02"}
