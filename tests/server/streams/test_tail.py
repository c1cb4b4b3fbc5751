"""Whatever is kept of the latest alerts, every reader gets all, in order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tocsin.events import CHANGED
from tocsin.model import AlertRow
from tocsin.server.streams import tail as module
from tocsin.server.streams.tail import Tail

if TYPE_CHECKING:
    import pytest

STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 400)), max_size=60)


class Shelf:
    """Alerts by position."""

    def __init__(self) -> None:
        self.rows: list[AlertRow] = []

    def publish(self, size: int) -> None:
        event = {"id": "x" * size, "data": {"page": {"group": "main"}}}
        self.rows.append(AlertRow(str(len(self.rows)), len(self.rows) + 1, CHANGED, 1, None, 0, event))

    async def after(self, position: int, *, limit: int) -> list[AlertRow]:
        await asyncio.sleep(0)
        return self.rows[position : position + limit]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(STEPS, st.lists(st.integers(0, 60), min_size=1, max_size=3))
async def test_every_reader_gets_every_alert_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch, steps: list[tuple[int, int]], begins: list[int]
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 2000)
    shelf = Shelf()
    tail = Tail(shelf)  # type: ignore[arg-type]  # what of a store it asks
    began = [min(begin, len(steps)) for begin in begins]
    places = list(began)
    heard: list[list[int]] = [[] for _ in places]

    async def read(reader: int) -> bool:
        found = await tail.after(places[reader])
        heard[reader] += [told.position for told in found]
        places[reader] = found[-1].position if found else places[reader]
        return bool(found)

    for who, size in steps:
        shelf.publish(size)
        if who < len(places):
            # Two at a time, as they come.
            await asyncio.gather(read(who), read((who + 1) % len(places))) if len(places) > 1 else await read(who)
    for reader in range(len(places)):
        while await read(reader):
            pass

    assert heard == [list(range(begin + 1, len(steps) + 1)) for begin in began]
    assert sum(len(told.block) for told in tail._kept) <= 2000 + 16 * 700
