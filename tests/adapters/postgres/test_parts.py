"""Two nodes on one database: each reads and writes the pages of its own parts, and nothing of a part that it lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.desk import DAY, GATHER, LEASE, Desk, passing_desk
from tocsin.adapters.stores import open_store
from tocsin.errors import StaleClaim
from tocsin.model import CheckResult, Claim, NodeIdentity
from tocsin.spec.html.urls import shard_of

HOSTS = [f"h{number}.example" for number in range(12)]
PAGES = [f"https://{host}/" for host in HOSTS]


class TwoNodes:
    """Two processes on one database, and who of them holds which part."""

    def __init__(self, desk: Desk, other: Desk) -> None:
        self.desks = {"a": desk, "b": other}
        self._me: dict[str, NodeIdentity] = {}

    async def enter(self) -> None:
        """Let both enter, without parts."""
        first = self.desks["a"].store
        for row in await first.nodes():
            await first.leave(NodeIdentity(row.node, row.entered_at))
        for name, desk in self.desks.items():
            me = await desk.store.enter(name, LEASE, {})
            assert me is not None
            self._me[name] = me
            await self.look(name)

    async def look(self, name: str) -> None:
        """Let a node learn what it holds."""
        desk = self.desks[name]
        member = await desk.store.renew_node(self._me[name], LEASE)
        desk.claim = Claim(name, tuple(member.held.get(part, 0) for part in range(member.parts)))

    async def take(self, name: str, most: int) -> None:
        """Let a node take parts that are free."""
        await self.desks[name].store.take_parts(self._me[name], most, expired=False)
        await self.look(name)

    async def give_back(self, name: str, parts: list[int]) -> None:
        """Let a node give back parts; it may not know so yet."""
        await self.desks[name].store.give_back(self._me[name], parts)


@asynccontextmanager
async def two_nodes(desk: Desk) -> AsyncIterator[TwoNodes]:
    """Open the store a second time, as another process does."""
    async with await open_store(desk.behind.url, engine=True, gather=GATHER) as store:
        nodes = TwoNodes(desk, Desk(store, desk.claim, desk.folder, desk.behind))
        await nodes.enter()
        yield nodes


def hosts_of(claim: Claim) -> set[str]:
    """The hosts whose parts are claimed."""
    return {host for host in HOSTS if claim.epochs[claim.part_of(shard_of(host))]}


async def test_each_node_has_the_hosts_of_its_parts_on_its_agenda_and_reads_their_pages(desk: Desk) -> None:
    ids = await desk.watch(*PAGES)
    hosts = list(await desk.agenda())
    async with two_nodes(desk) as nodes:
        await nodes.take("a", 32)
        await nodes.take("b", 64)

        for node in nodes.desks.values():
            wanted = hosts_of(node.claim)
            assert 0 < len(wanted) < len(HOSTS)
            assert len(await node.agenda()) == len(wanted)
            assert len(await node.agenda(since=-1)) == len(wanted)
            # Also where it is asked for hosts of others, as an agenda may that was read before they were lost.
            due = await node.store.due_pages(node.claim, hosts, node.now + 2 * DAY, per_host=9)
            assert {task.host for task in due} == wanted
            assert {(task.order.part, task.order.epoch) for task in due} == {
                (node.claim.part_of(shard_of(host)), node.claim.epochs[node.claim.part_of(shard_of(host))])
                for host in wanted
            }
    assert len(ids) == len(PAGES)


async def test_results_of_a_part_that_was_lost_are_refused_and_the_others_are_written(desk: Desk) -> None:
    await desk.watch(*PAGES)
    async with two_nodes(desk) as nodes:
        await nodes.take("a", 64)
        tasks = await desk.due()
        lost = tasks[0].order.part
        await nodes.give_back("a", [lost])
        await nodes.take("b", 1)

        due, refused = await desk.store.commit(desk.claim, [desk.result(task, "1") for task in tasks])

        not_written = {task.url for task in tasks if task.order.part == lost}
        assert refused == len(not_written) > 0
        assert due.keys() == {task.host_id for task in tasks if task.order.part != lost}
        assert {url for url in PAGES if (await desk.page(url)).last.report is None} == not_written


async def test_a_result_of_a_part_that_was_lost_and_taken_again_is_refused(desk: Desk) -> None:
    await desk.watch(PAGES[0])
    async with two_nodes(desk) as nodes:
        await nodes.take("a", 64)
        (task,) = await desk.due()
        await nodes.give_back("a", [task.order.part])
        await nodes.take("a", 64)

        committed = await desk.store.commit(desk.claim, [desk.result(task, "1")])

        assert committed == ({}, 1)


async def test_renderings_wait_for_the_node_of_their_host(desk: Desk) -> None:
    await desk.watch(*PAGES)
    for major in "12":
        for url in PAGES:
            await desk.check(url, major)
    async with two_nodes(desk) as nodes:
        await nodes.take("a", 32)
        await nodes.take("b", 64)

        for node in nodes.desks.values():
            waiting = await node.store.waiting_renders(limit=99, claim=node.claim)
            jobs = await node.store.claim_renders(node.claim, [page.page_id for page in waiting])
            assert {job.task.host for job in jobs} == hosts_of(node.claim)
        assert await desk.store.count_waiting() == 0


async def test_a_rendering_of_a_part_that_was_lost_is_refused_and_its_page_waits_again(desk: Desk) -> None:
    await desk.watch(PAGES[0])
    for major in "12":
        await desk.check(PAGES[0], major)
    async with two_nodes(desk) as nodes:
        await nodes.take("a", 64)
        job = await desk.job(PAGES[0])
        part = job.task.order.part
        await nodes.give_back("a", [part])

        with pytest.raises(StaleClaim, match=f"parts {part} "):
            await desk.store.commit_renderings(desk.claim, [desk.rendered(job)])
        assert await desk.store.count_waiting() == 1


async def test_a_part_changes_hands_only_after_the_transaction_that_writes_under_it(desk: Desk) -> None:
    await desk.watch(PAGES[0])
    async with two_nodes(desk) as nodes:
        await nodes.take("a", 64)
        (task,) = await desk.due()
        part = task.order.part
        with psycopg.connect(desk.behind.url) as writing:
            writing.execute("select part from parts where part = %s for share", [part])
            async with asyncio.TaskGroup() as group:
                giving = group.create_task(nodes.give_back("a", [part]))
                while not await asyncio.to_thread(waits_for_lock, desk.behind.url):
                    assert not giving.done()
                writing.rollback()


def waits_for_lock(url: str) -> bool:
    """Tell whether a connection to this database waits for a row that another one has locked."""
    with psycopg.connect(url, autocommit=True) as db:
        found = db.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        )
        return found.fetchall() > [(0,)]


class Walk:
    """What two nodes do, in any order, and what is expected of each commit."""

    def __init__(self, nodes: TwoNodes) -> None:
        self._nodes = nodes
        self._read: dict[str, list[CheckResult]] = {"a": [], "b": []}

    async def take(self, name: str) -> None:
        await self._nodes.take(name, 20)

    async def give_back(self, name: str) -> None:
        await self._nodes.give_back(name, self._nodes.desks[name].claim.parts[:15])

    async def look(self, name: str) -> None:
        await self._nodes.look(name)

    async def read(self, name: str) -> None:
        desk = self._nodes.desks[name]
        self._read[name] = [desk.result(task, "1") for task in await desk.due()]

    async def commit(self, name: str) -> None:
        desk, results = self._nodes.desks[name], self._read[name]
        rows = desk.behind.look("select part, epoch from parts")
        held = set(rows)
        before = dict(desk.behind.look("select id, storings from pages"))
        committed = await desk.store.commit(desk.claim, results)
        after = dict(desk.behind.look("select id, storings from pages"))

        ours = {result.page_id for result in results if (result.order.part, result.order.epoch) in held}
        assert committed.refused == len(results) - len(ours)
        assert {page for page in after if after[page] != before[page]} <= ours
        self._read[name] = []


STEPS = ["take", "give_back", "look", "read", "commit"]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(st.tuples(st.sampled_from(STEPS), st.sampled_from("ab")), min_size=10, max_size=30))
def test_in_any_order_of_taking_and_committing_nothing_is_written_under_an_old_epoch(
    steps: list[tuple[str, str]],
) -> None:
    async def walk() -> None:
        async with passing_desk("postgresql") as desk:
            await desk.watch(*PAGES)
            async with two_nodes(desk) as nodes:
                walked = Walk(nodes)
                for step, name in steps:
                    await getattr(walked, step)(name)
                assert await desk.store.check() == []

    asyncio.run(walk())
