"""What can be measured: one registry of rows, with which of them belong to the usual run and which to that of size."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from benchmarks.bench import (
    alerting,
    browsing,
    checking,
    databases,
    engine,
    fetchers,
    items,
    listing,
    memory,
    pages,
    picking,
    poison,
    rivals,
    routing,
    saturated,
    signals,
    silent,
    size_disk,
    size_running,
    size_served,
    starting,
    storing,
    way,
)
from benchmarks.bench.measure import Figure, Sizes
from benchmarks.cluster import simulation


class Row(NamedTuple):
    """One part of the table.

    measure   gives its figures
    budget_s  how long it may take in the usual run; longer is told
    size_s    the same in the run of size; a row without one is no part of that run
    is_own    it can be measured wherever the project's own tests run; else it needs programs of others
    """

    measure: Callable[[Sizes], Awaitable[list[Figure]]]
    budget_s: int | None = None
    size_s: int | None = None
    is_own: bool = True

    def budget(self, *, size: bool) -> int | None:
        """How many seconds it may take in a run; None if it is no part of it."""
        return self.size_s if size else self.budget_s


ROWS: dict[str, Row] = {
    "way": Row(way.measure, 60),
    "rivals": Row(rivals.measure, 60, is_own=False),
    "silent": Row(silent.measure, 120, is_own=False),
    "fetchers": Row(fetchers.measure, 50),
    "saturated": Row(saturated.measure, 60),
    "engine": Row(engine.measure, 35),
    "pages": Row(pages.measure, 20),
    "signals": Row(signals.measure, 15),
    "items": Row(items.measure, 15),
    "check": Row(checking.measure, 30),
    "import": Row(listing.measure, 10, 200),
    "store": Row(storing.measure, 20, 240),
    "postgresql": Row(databases.measure, 60),
    "nodes": Row(simulation.measure, None, 200),
    "picks": Row(picking.measure, 5, 300),
    "disk": Row(size_disk.measure, 10, 60),
    "service": Row(size_running.measure, 20, 500),
    "starting": Row(starting.measure, 30),
    "served": Row(size_served.measure, 40, 400),
    "flight": Row(memory.measure_held, None, 60),
    "growth": Row(memory.measure_growth, None, 400),
    "alerts": Row(alerting.measure, 10),
    "poison": Row(poison.measure, 10),
    "routes": Row(routing.measure, 15),
    "browser": Row(browsing.measure, 120),
}
