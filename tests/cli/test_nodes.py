"""`tocsin nodes`: who works on a store, and who is to give its work away."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.cli.calling import Installation
from tocsin.adapters.stores import open_store
from tocsin.model import NodeIdentity


@pytest.fixture
def working(installation: Installation) -> Installation:
    """A store that node one works on, of which node two has no part."""

    async def enter() -> None:
        async with await open_store(f"sqlite:{installation.folder / 'tocsin.db'}", engine=True) as store:
            for name in ("one", "two"):
                me = await store.enter(name, timedelta(seconds=60), {"version": "1.2", "checks": 10})
                assert me is not None
                await store.take_parts(me, 64, expired=False)

    asyncio.run(enter())
    return installation


def test_nodes_are_listed(working: Installation) -> None:
    answer = working.call("nodes")

    assert answer.status == 0
    assert [(node["node"], node["state"], node["parts"]) for node in answer.records] == [
        ("one", "working", 1),
        ("two", "working", 0),
    ]


def test_a_node_is_drained_until_that_is_undone(working: Installation) -> None:
    assert working.call("nodes", "drain", "one").records == [{"node": "one", "draining": True}]
    assert working.call("nodes").records[0]["state"] == "draining"

    assert working.call("nodes", "undrain", "one").records == [{"node": "one", "draining": False}]
    assert working.call("nodes").records[0]["state"] == "working"


def test_an_unknown_node_is_named(working: Installation) -> None:
    answer = working.call("nodes", "drain", "three")

    assert (answer.status, answer.out) == (2, "")
    assert "node three: no such node; see: tocsin nodes" in answer.err


def test_a_part_without_a_node_is_a_finding(working: Installation) -> None:
    async def leave() -> None:
        async with await open_store(f"sqlite:{working.folder / 'tocsin.db'}", engine=False) as store:
            (one, _) = await store.nodes()
            await store.leave(NodeIdentity(one.node, one.entered_at))

    asyncio.run(leave())

    answer = working.call("nodes")

    assert answer.status == 1
    assert "1 part without a node: the pages there are not checked" in answer.err


def test_a_store_without_nodes_has_none(installation: Installation) -> None:
    installation.call("watch", "add", "--no-check", "https://example.org/a")

    answer = installation.call("nodes")

    assert (answer.status, answer.out) == (0, "")
