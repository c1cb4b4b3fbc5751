"""What the web pages show changes by itself, at the cost of a look a second for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from tests.fakes import settle
from tests.server.streams.reader import reading
from tocsin.model import JobRow
from tocsin.server.streams.events import Counters

if TYPE_CHECKING:
    from tests.server.rig import Rig
    from tests.server.streams.conftest import Desk


async def test_counters_come_at_once_and_when_something_has_changed(desk: Desk) -> None:
    async with reading(desk.address, "?live=only") as reader:
        first = await reader.event()
        await desk.publish("a", outcome="major")
        await desk.clock.advance(1)
        second = await reader.event()

    assert (first.type, first.id) == ("live", "")
    assert (first.json["unseen"]["number"], first.json["position"]) == (0, 0)
    assert (second.json["unseen"]["number"], second.json["position"]) == (1, 1)


async def test_alerts_come_beside_counters_where_both_are_asked_for(desk: Desk) -> None:
    async with reading(desk.address, "?live=too&from=start") as reader:
        assert (await reader.event()).type == "live"
        await settle()
        await desk.publish("a")
        await desk.clock.advance(1)

        assert [event.type for event in await reader.events(2)] == ["tocsin.page.changed.v1", "live"]
        assert reader.last_id == "1"


async def test_however_many_look_the_store_is_asked_once_a_second(rig: Rig) -> None:
    counters, asked = Counters(rig.app.state.parts), []
    tally = rig.store.tally_questions

    async def noted() -> Any:
        asked.append(1)
        return await tally()

    rig.store.tally_questions = noted  # type: ignore[method-assign]  # only looked at here

    for _ in range(10):
        await counters.read()
    await rig.clock.advance(1)
    await counters.read()

    assert len(asked) == 2


async def test_what_the_service_does_is_told(rig: Rig) -> None:
    rig.service.state = replace(rig.service.state, checks=7, in_flight=3, rendering=2)
    await rig.store.save_job(JobRow("1", "pages.import", "me", rig.clock.now()))
    await rig.store.save_job(JobRow("2", "pages.import", "me", rig.clock.now(), state="done"))

    assert await Counters(rig.app.state.parts).read() == {
        "unseen": {"number": 0, "is_exact": True},
        "questions": 0,
        "checks": 7,
        "in_flight": 3,
        "rendering": 2,
        "jobs": 1,
        "position": 0,
    }
