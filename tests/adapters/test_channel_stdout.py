from __future__ import annotations

import asyncio
import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.receivers import EVENT
from tocsin.adapters.channels.stdout import StdoutChannel
from tocsin.errors import DeliveryError
from tocsin.model import SerializedEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

BIG = EVENT | {"id": "01KAK0000000000000000000BG", "data": {"text": "x" * 200_000}}


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read_end, write_end = os.pipe()
    yield read_end, write_end
    os.close(read_end)
    os.close(write_end)


async def test_a_reader_that_stopped_reading_is_given_up_after_the_timeout(pipe: tuple[int, int]) -> None:
    channel = StdoutChannel("out", timeout_s=0.05, file=pipe[1])

    with pytest.raises(DeliveryError, match=r"not read within 0\.05 s") as caught:
        await channel.deliver(SerializedEvent.of(BIG))

    assert caught.value.blames == "channel"


async def test_a_line_that_was_begun_is_ended_before_the_next_one(pipe: tuple[int, int]) -> None:
    channel = StdoutChannel("out", timeout_s=0.05, file=pipe[1])
    with pytest.raises(DeliveryError):
        await channel.deliver(SerializedEvent.of(BIG))

    channel = _patient(channel)
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(asyncio.to_thread(_read_lines, pipe[0], 2), name="reader")
        group.create_task(channel.deliver(SerializedEvent.of(EVENT)), name="writer")

    assert reading.result() == [BIG, EVENT]


async def test_a_line_that_was_not_begun_is_not_given_twice(pipe: tuple[int, int]) -> None:
    full = _fill(pipe[1])
    channel = StdoutChannel("out", timeout_s=0.05, file=pipe[1])
    with pytest.raises(DeliveryError):
        await channel.deliver(SerializedEvent.of(BIG))
    os.read(pipe[0], full)

    await _patient(channel).deliver(SerializedEvent.of(EVENT))

    assert _read_lines(pipe[0], 1) == [EVENT]


def _patient(channel: StdoutChannel) -> StdoutChannel:
    """The same channel with time for a slow machine."""
    channel._timeout_s = 30.0
    return channel


def _fill(write_end: int) -> int:
    """Fill a pipe; returns with how many bytes."""
    os.set_blocking(write_end, False)
    full = 0
    try:
        while True:
            full += os.write(write_end, b" " * 4096)
    except BlockingIOError:
        os.set_blocking(write_end, True)
    return full


def _read_lines(read_end: int, count: int) -> list[object]:
    text = b""
    while text.count(b"\n") < count:
        text += os.read(read_end, 65536)
    return [json.loads(line) for line in text.splitlines()]
