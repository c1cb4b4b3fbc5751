"""Holds of hosts on their way to the store, and back."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.fakes import START, EagerClock, RecordingTelemetry, settle
from tocsin.engine.hosts.kept_gates import KeptGates
from tocsin.errors import StoreError
from tocsin.model import Instant
from tocsin.settings import HostSettings

SECOND = 1_000_000


class _Store:
    """Keeps holds, and counts the writes; `fails` as often as it says."""

    def __init__(self) -> None:
        self.kept: dict[str, Instant] = {}
        self.writes, self.fails = 0, 0

    async def host_gates(self, now: Instant) -> dict[str, Instant]:
        return {host: until for host, until in self.kept.items() if until > now}

    async def hold_hosts(self, held: dict[str, Instant]) -> None:
        self.writes += 1
        if self.fails:
            self.fails -= 1
            raise StoreError("the disk is full")
        self.kept |= held


class Setting:
    """Gates over a store that this process, or an earlier one, writes to."""

    def __init__(self) -> None:
        self.clock, self.store, self.telemetry = EagerClock(), _Store(), RecordingTelemetry()
        self.gates = self.fresh()

    def fresh(self) -> KeptGates:
        """The gates of a process that was started anew."""
        settings = HostSettings(retry_after_max=timedelta(hours=1))
        return KeptGates(settings, self.clock, self.store, self.telemetry)

    def hold(self, host: str, seconds: float) -> bool:
        return self.gates.hold(host, self.clock.monotonic() + seconds)

    async def keep(self) -> None:
        """Let everything be written that is heard of."""
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(self.gates.keep())
            await settle()
            keeping.cancel()


@pytest.fixture
def setting() -> Setting:
    return Setting()


async def test_a_hold_shorter_than_any_wait_in_memory_outlives_the_process(setting: Setting) -> None:
    setting.hold("a.example", 5)
    await setting.keep()

    successor = setting.fresh()
    await successor.recall()

    assert setting.store.kept == {"a.example": START + 5 * SECOND}
    assert successor.held_s("a.example") == pytest.approx(5)


async def test_holds_of_one_moment_are_written_together_and_each_once(setting: Setting) -> None:
    for number in range(100):
        setting.hold(f"{number}.example", 5)
        setting.hold(f"{number}.example", 4)
    await setting.keep()
    setting.hold("0.example", 3)
    setting.hold("1.example", -1)
    await setting.keep()

    assert len(setting.store.kept) == 100
    assert setting.store.writes == 1


async def test_a_hold_is_kept_no_longer_than_it_is_obeyed(setting: Setting) -> None:
    setting.hold("a.example", 86_400)
    await setting.keep()

    assert setting.store.kept == {"a.example": START + 3600 * SECOND}


async def test_what_was_recalled_is_not_written_again(setting: Setting) -> None:
    setting.store.kept["a.example"] = START + 5 * SECOND

    await setting.gates.recall()
    await setting.keep()

    assert setting.gates.held_s("a.example") == pytest.approx(5)
    assert setting.store.writes == 0


async def test_a_hold_that_a_full_disk_refused_is_written_later_and_told_of(setting: Setting) -> None:
    setting.store.fails = 1
    setting.hold("a.example", 20)

    await setting.keep()

    assert setting.store.kept == {"a.example": START + 20 * SECOND}
    assert setting.telemetry.names() == ["holds.unwritten"]
