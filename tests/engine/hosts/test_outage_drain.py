"""A node in an outage leaves its hosts to others, where there are others whose connection works."""

from __future__ import annotations

from tests.fakes import ManualClock, RecordingTelemetry, cut_off
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.outage_drain import PATIENCE_S, OutageDrain
from tocsin.model import JsonObject, NodeRow


class Nodes:
    """The nodes of a store; implements `DrainStore`."""

    is_shared = True

    def __init__(self) -> None:
        self.others: list[NodeRow] = [self.other()]
        self.drained: list[bool] = []

    @staticmethod
    def other(*, left_s: float = 5.0, draining: bool = False, said: JsonObject | None = None) -> NodeRow:
        """Another node."""
        return NodeRow("other", 0, left_s, draining, 1, said or {})

    async def nodes(self) -> list[NodeRow]:
        return [NodeRow("one", 0, 5.0, bool(self.drained and self.drained[-1]), 1, {}), *self.others]

    async def drain_node(self, node: str, *, draining: bool) -> bool:
        assert node == "one"
        self.drained.append(draining)
        return True


class Drained:
    """A node, its connection and the other nodes."""

    def __init__(self) -> None:
        self.clock, self.nodes, self.telemetry = ManualClock(), Nodes(), RecordingTelemetry()
        self.outage = OutageWatch(self.clock)
        self.drain = OutageDrain(self.nodes, "one", self.outage, self.clock, self.telemetry)

    async def pass_time(self, seconds: float) -> list[bool]:
        """Look now and after this time; returns what became of the node so far."""
        await self.drain.look()
        await self.clock.advance(seconds)
        await self.drain.look()
        return self.nodes.drained


async def test_a_long_outage_drains_the_node_and_its_end_undrains_it() -> None:
    node = Drained()
    cut_off(node.outage)

    short, long = list(await node.pass_time(PATIENCE_S - 1)), list(await node.pass_time(1))
    node.outage.note("a.example", ok=True)

    assert (short, long) == ([], [True])
    assert await node.pass_time(0) == [True, False]
    assert node.telemetry.names() == ["outage.drained", "outage.undrained"]


async def test_without_a_node_whose_connection_works_it_keeps_its_hosts() -> None:
    for other in (Nodes.other(left_s=0.0), Nodes.other(draining=True), Nodes.other(said={"outage": True})):
        node = Drained()
        node.nodes.others = [other]
        cut_off(node.outage)

        assert await node.pass_time(2 * PATIENCE_S) == []


async def test_where_the_others_fail_too_it_takes_its_hosts_back() -> None:
    node = Drained()
    cut_off(node.outage)
    await node.pass_time(PATIENCE_S)

    node.nodes.others = [Nodes.other(said={"outage": True})]

    assert await node.pass_time(1) == [True, False]


async def test_a_node_that_its_operator_drains_is_left_so() -> None:
    node = Drained()
    node.outage.note("a.example", ok=True)

    assert await node.pass_time(PATIENCE_S) == []


async def test_a_store_of_one_engine_has_nothing_to_drain() -> None:
    node = Drained()
    node.nodes.is_shared = False
    cut_off(node.outage)

    await node.drain.run()

    assert node.nodes.drained == []
