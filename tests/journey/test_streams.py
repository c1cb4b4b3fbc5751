"""Whoever follows the alerts of a service misses none, even where it is killed."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.journey.running import CONFIGURATION, free_port, until
from tests.origin import Page
from tests.server.streams.reader import Reader, reading

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service
    from tests.origin import Origin

    Start = Callable[[], Awaitable[Service]]
    Address = tuple[str, int]


async def answering(address: Address) -> None:
    """Wait until /events is served."""

    async def probe() -> bool:
        try:
            async with reading(address, "?live=only") as reader:
                return reader.status == 200
        except (ConnectionError, EOFError):
            return False

    await until(probe, what="a service that answers")


async def heard_until(reader: Reader, date: str) -> list[str]:
    """Read alerts up to the one that tells of this date; returns the numbers of all."""
    numbers = []
    while True:
        event = await reader.event()
        numbers.append(event.id)
        if date in event.data:
            return numbers


async def test_no_alert_is_missed_over_reconnects_and_a_kill(home: Home, site: Origin, start: Start) -> None:
    address = ("127.0.0.1", free_port())
    home.configure(CONFIGURATION.replace("127.0.0.1:0", f"{address[0]}:{address[1]}"))
    dates: list[str] = []

    def change() -> str:
        dates.append(f"2026-01-{len(dates) + 1:02}")
        site.pages["/a"] = Page(f'<meta name=topper-major content="{" ".join(dates)}">')
        return dates[-1]

    change()
    await home.watch(site.url("/a"))
    service = await start()
    await answering(address)
    async with reading(address) as reader:
        await home.outcome(site.url("/a"), "first", "unchanged")
        heard = await heard_until(reader, change())
        last_id = reader.last_id
    # Nobody reads, and then nobody serves.
    await home.alert("changed", outcome="major", new_dates={"major": [change()], "minor": []})
    await service.end(signal.SIGKILL)
    service = await start()
    await answering(address)
    async with reading(address, last_id=last_id) as reader:
        heard += await heard_until(reader, change())

    async with home.store() as store:
        assert heard == [str(alert.position) for alert in reversed(await store.alerts(limit=100))]
    assert len(heard) == 3
    assert await service.stop() == 0
