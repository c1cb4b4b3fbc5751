"""Whatever an event holds, it stays one event with one line of data."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.streams.reader import Interpreter, interpret
from tocsin.server.streams.tail import HEARTBEAT, block, numbered, opening

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
