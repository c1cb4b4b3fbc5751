"""Telling once of a change that many pages of a host share, over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.awareness import Listener
from tests.builders import with_changes
from tests.contract.desk import HOUR, MINUTE, Desk
from tests.fakes import ManualClock, SeededChance
from tocsin.engine.alerting.announcements import LOOK_S, StormAnnouncer
from tocsin.engine.judging.events import EventWriter
from tocsin.events import HOST_CHANGED
from tocsin.model import NO_COPY, JsonObject, Snapshot, StormRow, VerdictRow
from tocsin.spec.signals.texts import pack_text

GATHER = timedelta(seconds=60)
URLS = [f"https://one.example/{number}" for number in range(12)]
STORM = StormRow(7, "one.example", 312, tuple(URLS[:10]), "minor", "inferred", None, 5, 3_000_000, 9_000_000, 5)


class Sky:
    """Pages of a host that change alike, and the loop that tells of it."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.clock, self.telemetry = desk, ManualClock(desk.now), Listener()
        self.told = 0
        self.storms = StormAnnouncer(
            desk.store,
            EventWriter("tocsin", SeededChance()),
            GATHER,
            self.clock,
            self.telemetry,
            on_announced=self._note,
        )

    def _note(self) -> None:
        self.told += 1

    async def read(self, text: str, *urls: str, changed: bool = True) -> None:
        """Let checks of these pages find this text."""
        digest, packed = pack_text(text)
        tasks = {task.url: task for task in await self.desk.due()}
        results = []
        for url in urls:
            said = VerdictRow(self.desk.now, "minor", None, "content", "inferred", {}, awareness=True, storm_key=b"key")
            snapshot = Snapshot(digest, packed, self.desk.now)
            result = self.desk.result(tasks[url], "1", verdict=said if changed else None)
            results.append(with_changes(result, snapshot=snapshot))
        await self.desk.store.commit(self.desk.claim, results)

    async def events(self) -> list[JsonObject]:
        """What was told, in order."""
        return [row.event for row in await self.desk.store.after(0, limit=100)]


@pytest.fixture
async def sky(tmp_path: Path) -> AsyncIterator[Sky]:
    """A host whose pages were each read once, an hour ago."""
    desk = await Desk.at(tmp_path)
    async with desk.store:
        await desk.watch(*URLS)
        found = Sky(desk)
        await found.read("Opening hours\nCall 01 for help.", *URLS, changed=False)
        desk.now += HOUR
        found.clock.set_wall(desk.now)
        yield found


async def test_a_storm_is_told_when_it_was_gathered(sky: Sky) -> None:
    await sky.read("Opening hours\nCall 02 for help.", *URLS)

    early = await sky.storms.look()
    sky.clock.set_wall(sky.desk.now + MINUTE)
    due = await sky.storms.look()
    again = await sky.storms.look()

    (event,) = await sky.events()
    assert (early, due, again, sky.told) == (0, 1, 0, 1)
    assert (event["type"], event["subject"]) == (HOST_CHANGED, "one.example")
    assert event["data"]["storm"] == {
        "id": "1",
        "host": "one.example",
        "pages": 12,
        "sample": URLS[:10],
        "command": "tocsin alerts release 1",
    }
    assert event["data"]["excerpt"]["removed"] == ["Call 01 for help."]
    assert event["data"]["excerpt"]["added"] == ["Call 02 for help."]


async def test_what_changed_is_found_by_any_page_whose_text_is_kept(sky: Sky) -> None:
    await sky.read("Opening hours\nCall 02 for help.", *URLS)
    await sky.desk.check(URLS[0], "1", snapshot=NO_COPY)

    await sky.storms.flush()

    (event,) = await sky.events()
    assert event["data"]["excerpt"]["added"] == ["Call 02 for help."]


async def test_a_damaged_text_shows_nothing_and_stops_nothing(sky: Sky) -> None:
    await sky.read("Opening hours\nCall 02 for help.", *URLS)
    await sky.desk.store._write(lambda db: db.execute("update texts set packed = x'00'"))

    assert await sky.storms.flush() == 1

    (event,) = await sky.events()
    assert event["data"]["excerpt"] is None


async def test_a_one_shot_command_tells_at_once(sky: Sky) -> None:
    await sky.read("Opening hours\nCall 02 for help.", *URLS)

    assert await sky.storms.flush() == 1
    assert await sky.storms.flush() == 0


async def test_the_loop_goes_on_after_a_fault_of_the_store(sky: Sky) -> None:
    await sky.read("Opening hours\nCall 02 for help.", *URLS)
    await sky.desk.store._write(lambda db: db.execute("alter table storms rename to hidden"))
    sky.clock.set_wall(sky.desk.now + MINUTE)
    async with asyncio.TaskGroup() as group:
        loop = group.create_task(sky.storms.run(), name="storms")
        await sky.telemetry.heard("storms.failed")
        await sky.desk.store._write(lambda db: db.execute("alter table hidden rename to storms"))
        await sky.clock.advance(LOOK_S)
        await sky.telemetry.heard("host.changed")
        loop.cancel()

    (event,) = await sky.events()
    told = sky.telemetry.happenings[-1].values
    assert told["summary"] == event["data"]["summary"] != ""


def test_the_event_says_how_to_have_each_page_after_all() -> None:
    draft = EventWriter("tocsin", SeededChance()).host_changed_event(STORM, None, 10_000_000)

    assert draft.page_id is None
    assert draft.event["data"] == {
        "summary": "312 pages of one.example changed alike: the text changed.",
        "short": "312 pages of one.example changed alike: the text changed",
        "storm": {
            "id": "7",
            "host": "one.example",
            "pages": 312,
            "sample": URLS[:10],
            "command": "tocsin alerts release 7",
        },
        "basis": "inferred",
        "outcome": "minor",
        "excerpt": None,
        "first": "1970-01-01T00:00:03.000Z",
        "latest": "1970-01-01T00:00:09.000Z",
        "links": {"page": None},
    }
