"""The nodes of a store in the API and in the web pages: what each does, and that only administrators drain them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.server.api.talk import Api
from tests.server.rig import Rig
from tests.server.web.visiting import Visitor, told, tree
from tocsin.model import LeaseRow, NodeIdentity, NodeRow, Scope
from tocsin.model.records.nodes import nodes_of

LEASE = timedelta(seconds=60)
SECOND = 1_000_000
# What a node says may come from another version, or be made up.
ODD = {"version": 7, "address": "", "checks": "many"}


@pytest.fixture
async def api(rig: Rig) -> AsyncIterator[Api]:
    """A client on this machine; node one has all parts and a duty, node two says odd things of itself."""
    said = {"version": "1.2", "address": "https://one.example/", "checks": 120}
    one = await rig.store.enter("one", LEASE, said)
    two = await rig.store.enter("two <b>", LEASE, ODD)
    assert one is not None
    assert two is not None
    await rig.store.take_parts(one, 64, expired=False)
    await rig.store.take_lease(one, "leader", LEASE)
    async with rig.asking() as asked:
        yield Api(asked, rig)


async def test_nodes_are_listed_with_what_each_does(api: Api) -> None:
    answer = await api.get("/nodes")

    one, two = answer["items"]
    assert (answer["parts_alone"], answer["next"]) == (0, None)
    assert (one["node"], one["state"], one["parts"], one["duties"]) == ("one", "working", 1, ["leader"])
    assert (one["version"], one["address"], one["checks"]) == ("1.2", "https://one.example/", 120)
    assert 0 < one["lease_s"] <= 60
    assert (two["version"], two["address"], two["checks"], two["duties"]) == (None, None, 0, [])


def test_a_rate_is_the_average_since_a_node_came_and_a_lease_that_ran_out_is_negative() -> None:
    row = NodeRow("one", 0, -2.04, draining=True, parts=3, said={"checks": 90})
    leases = [LeaseRow("leader", "one", -1.0), LeaseRow("channel:ops", "one", 1.0), LeaseRow("x", "two", 1.0)]

    found = nodes_of([row], leases, 3, 60 * SECOND)

    (node,) = found.items
    assert (node.checks_per_s, node.lease_s, node.state, node.duties) == (1.5, -2.0, "gone", ["channel:ops"])
    assert found.parts_alone == 3
    # A node that came a moment ago, also by a clock that is ahead of ours.
    assert nodes_of([row], [], 0, -5 * SECOND).items[0].checks_per_s == 90


async def test_a_node_is_drained_and_undrained(api: Api) -> None:
    assert (await api.do("POST", "/nodes/one/drain"))["state"] == "draining"
    assert [node["state"] for node in (await api.get("/nodes"))["items"]] == ["draining", "working"]

    assert (await api.do("POST", "/nodes/one/undrain"))["state"] == "working"

    assert (await api.audited())[:2] == ["node.undrain", "node.drain"]


async def test_an_unknown_node_is_not_drained(api: Api) -> None:
    problem = await api.refused("POST", "/nodes/three/drain")

    assert problem["status"] == 404
    assert "GET /api/v1/nodes" in problem["mend"]
    assert await api.audited() == []


async def test_only_an_administrator_drains_a_node(api: Api) -> None:
    secret = await api.rig.token(Scope.WRITE)
    async with api.rig.asking(secret) as client:
        assert (await client.get("/api/v1/nodes")).status_code == 200
        assert (await client.post("/api/v1/nodes/one/drain")).status_code == 403
        shown = (await client.get("/machines", headers={"Accept": "text/html"})).text

    assert "two &lt;b&gt;" in shown
    assert not tree(shown).xpath("//form[contains(@action, 'drain')]")


async def test_a_node_is_drained_on_its_page(api: Api) -> None:
    visitor = Visitor(api.rig, api.asked)

    shown = tree(await visitor.get("/machines"))
    done = await visitor.done("/settings/nodes/drain", name="two <b>")
    back = await visitor.done("/settings/nodes/undrain", name="two <b>")

    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in shown.xpath("//tbody/tr")]
    assert [row[1:4] for row in rows] == [["one", "checks, leader", "1"], ["two <b>", "checks", "0"]]
    assert rows[0][7:] == ["Drain"]
    assert told(done) == "Node two <b> gives its parts to the others."
    assert "End draining" in done
    assert told(back) == "Node two <b> takes its share again."


async def test_parts_without_a_node_are_told_on_the_page(api: Api) -> None:
    (one, _) = await api.store.nodes()
    visitor = Visitor(api.rig, api.asked)
    assert "has no node" not in await visitor.get("/machines")

    await api.store.leave(NodeIdentity("one", one.entered_at))

    assert "1 part of the hosts has no node." in await visitor.get("/machines")
