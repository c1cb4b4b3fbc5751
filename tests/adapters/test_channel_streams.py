"""Channels that write lines: to a file, and to standard output."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.fakes import ManualClock
from tests.receivers import EVENT, no_dial, no_tls
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.stdout import StdoutChannel
from tocsin.errors import DeliveryError
from tocsin.model import JsonObject, SerializedEvent
from tocsin.ports import Channel, Notification

OTHER = EVENT | {"id": "01KAK0000000000000000000BB"}


def channel_at(path: Path) -> Channel:
    return open_channel(
        "log",
        FileSettings(type="file", path=str(path)),
        ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls),
    )


def give(channel: Channel, event: JsonObject) -> None:
    asyncio.run(channel.deliver(Notification(SerializedEvent.of(event))))


def lines(path: Path) -> list[JsonObject]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "alerts.jsonl"


def test_what_the_file_held_before_stays(path: Path) -> None:
    path.write_text('{"mine":1}\n', "utf-8")

    give(channel_at(path), EVENT)

    assert lines(path) == [{"mine": 1}, EVENT]


def test_a_new_file_is_for_its_owner_alone_T64(path: Path) -> None:
    give(channel_at(path), EVENT)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_was_rotated_away_is_opened_anew(path: Path) -> None:
    channel = channel_at(path)
    give(channel, EVENT)
    path.rename(path.with_suffix(".1"))

    give(channel, OTHER)

    assert (lines(path.with_suffix(".1")), lines(path)) == ([EVENT], [OTHER])


def test_a_file_that_was_removed_is_made_anew(path: Path) -> None:
    channel = channel_at(path)
    give(channel, EVENT)
    path.unlink()

    give(channel, OTHER)

    assert lines(path) == [OTHER]


@pytest.mark.parametrize("kept", [1, 9, 40, 100])
def test_a_line_that_a_crash_tore_is_taken_out(path: Path, kept: int) -> None:
    torn = json.dumps(OTHER, separators=(",", ":")).encode()[:kept]
    path.write_bytes(b'{"mine":1}\n' + torn)

    give(channel_at(path), EVENT)

    assert lines(path) == [{"mine": 1}, EVENT]


@pytest.mark.parametrize("last", [json.dumps(OTHER), "a line of somebody else", "{ not ours"])
def test_a_last_line_that_is_not_a_torn_event_stays(path: Path, last: str) -> None:
    path.write_text(last, "utf-8")

    give(channel_at(path), EVENT)

    first, second = path.read_text("utf-8").splitlines()
    assert (first, json.loads(second)) == (last, EVENT)


def test_a_line_that_the_disk_took_only_in_part_is_taken_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    channel = channel_at(path)
    give(channel, EVENT)
    whole = os.write
    monkeypatch.setattr(os, "write", lambda file, line: whole(file, line[:10]))

    with pytest.raises(DeliveryError, match="only a part"):
        give(channel, OTHER)

    assert lines(path) == [EVENT]


def test_a_line_is_on_the_disk_before_it_counts_as_accepted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    channel, synced = channel_at(path), []
    sync = os.fsync

    def note(file: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else path.read_text("utf-8").count("\n"))
        sync(file)

    monkeypatch.setattr(os, "fsync", note)
    give(channel, EVENT)
    give(channel, OTHER)

    assert synced == ["folder", 1, 2]


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
        await channel.deliver(Notification(SerializedEvent.of(BIG)))

    assert caught.value.blames == "channel"


async def test_a_line_that_was_begun_is_ended_before_the_next_one(pipe: tuple[int, int]) -> None:
    channel = StdoutChannel("out", timeout_s=0.05, file=pipe[1])
    with pytest.raises(DeliveryError):
        await channel.deliver(Notification(SerializedEvent.of(BIG)))

    channel = _patient(channel)
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(asyncio.to_thread(_read_lines, pipe[0], 2), name="reader")
        group.create_task(channel.deliver(Notification(SerializedEvent.of(EVENT))), name="writer")

    assert reading.result() == [BIG, EVENT]


async def test_a_line_that_was_not_begun_is_not_given_twice(pipe: tuple[int, int]) -> None:
    full = _fill(pipe[1])
    channel = StdoutChannel("out", timeout_s=0.05, file=pipe[1])
    with pytest.raises(DeliveryError):
        await channel.deliver(Notification(SerializedEvent.of(BIG)))
    os.read(pipe[0], full)

    await _patient(channel).deliver(Notification(SerializedEvent.of(EVENT)))

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
