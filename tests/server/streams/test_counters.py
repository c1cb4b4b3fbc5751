"""Blocks and counters of the web pages that change by themselves."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.fakes import settle
from tests.server.rig import Rig
from tests.server.streams.conftest import Desk
from tests.server.streams.reader import Interpreter, interpret, reading
from tocsin.model import JobRow, RenderSlots
from tocsin.server.streams.events import HEARTBEAT, Counters, block, numbered, opening


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
    rig.service.state = replace(rig.service.state, checks=7, in_flight=3, renders=RenderSlots(8, 4, taken=2))
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


TEXTS = st.text(st.sampled_from('ab:\r\n\0\u2028\u2029\x85\ufeff {}"') | st.characters(codec="utf-8"), max_size=8)
DATA = st.dictionaries(TEXTS, TEXTS | st.none() | st.lists(TEXTS, max_size=2), max_size=3)
FEW = settings(max_examples=40)


@FEW
@given(st.lists(DATA, min_size=1, max_size=3), TEXTS)
def test_every_event_is_read_as_it_was_written(events: list[dict[str, object]], kind: str) -> None:
    stream = opening(0) + b"".join(block(kind, data, place) for place, data in enumerate(events, 1))

    read = interpret(stream.decode())

    assert [event.json for event in read] == [msgspec.json.decode(msgspec.json.encode(data)) for data in events]
    assert [event.id for event in read] == [str(place) for place in range(1, len(events) + 1)]


@FEW
@given(DATA)
def test_data_is_one_line_for_every_reader_of_lines(data: dict[str, object]) -> None:
    lines = block("tocsin.page.changed.v1", data, 7).decode().splitlines()

    assert lines[:2] == ["id: 7", "event: tocsin.page.changed.v1"]
    assert lines[2].startswith("data: ")
    assert lines[3:] == [""]


@pytest.mark.parametrize("kind", ["", "a\ndata: {}", "a\rid: 9", "ä", "a b", "a\0"])
def test_a_type_that_is_none_of_ours_breaks_nothing(kind: str) -> None:
    (event,) = interpret(block(kind, {"a": 1}, 3).decode())

    assert (event.type, event.id, event.json) == ("message", "3", {"a": 1})


def test_what_is_not_numbered_leaves_the_readers_number_as_it_is() -> None:
    reader = Interpreter()
    stream = opening(4) + block("live", {"unseen": 1}) + HEARTBEAT

    for line in stream.decode().split("\n")[:-1]:
        reader.line(line)

    assert (reader.last_id, reader.retry_ms, reader.comments) == ("4", 3000, 1)


def test_a_number_alone_is_no_event() -> None:
    assert interpret(opening(None).decode() + numbered(5).decode()) == []
    assert re.fullmatch(rb"retry: \d+\n\n", opening(None))
