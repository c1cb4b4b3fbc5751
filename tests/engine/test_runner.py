"""When an engine takes its lease."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, cast

from tests.fakes import ManualClock, RecordingTelemetry, settle
from tests.shared_nodes import NodeLink, SharedNodes
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.runner import EngineParts, Runner, Upkeep
from tocsin.ports import Store

LEASE = timedelta(seconds=10)


class _Store(NodeLink):
    async def hold_overdue(self, *_given: object, **_named: object) -> None: ...


class _Outages:
    """The first part that is used after the lease was taken: the test ends there."""

    async def resume(self) -> None:
        await asyncio.Event().wait()


class Node:
    """An engine of which the lease alone is real.

    ready  is set when its fetchers can check
    """

    def __init__(self, shared: SharedNodes) -> None:
        store, telemetry = _Store(shared), RecordingTelemetry()
        lease = Lease(cast("Any", store), "a", LEASE, shared.clock, telemetry)
        others = dict.fromkeys((name for name in EngineParts.__struct_fields__), cast("Any", None))
        parts = EngineParts(**{**others, "lease": lease, "outages": _Outages()})
        self.ready, self.stopping = asyncio.Event(), asyncio.Event()
        self._runner = Runner(
            cast("Store", store),
            parts,
            shared.clock,
            telemetry,
            upkeep=lambda: cast("Upkeep", None),
            ready=self._wait,
        )

    async def run(self) -> None:
        """Run until told to stop."""
        await self._runner.serve(self.stopping, at_launch=timedelta(hours=1), cron="")

    async def _wait(self) -> None:
        await self.ready.wait()


async def test_a_node_takes_parts_only_once_its_fetchers_can_check() -> None:
    shared = SharedNodes(ManualClock(), parts=4)
    node = Node(shared)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(node.run())
        await settle()
        before = dict(shared.nodes)
        node.ready.set()
        await settle()
        running.cancel()

    assert before == {}
    assert shared.held_by("a") == {0, 1, 2, 3}


async def test_a_node_whose_fetchers_cannot_check_yet_stops_when_it_is_told_to() -> None:
    shared = SharedNodes(ManualClock(), parts=4)
    node = Node(shared)
    node.stopping.set()

    await node.run()

    assert shared.nodes == {}
