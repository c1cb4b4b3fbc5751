"""The judge of a cluster's soak finds what it is there to find; its network loses what it says that it loses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import SystemRandom

import pytest

from benchmarks.cluster.evidence import Committed, Taken
from benchmarks.cluster.judge import Case, Verdict, judge
from benchmarks.cluster.modelled import DAY_US
from benchmarks.cluster.proxy import Direction, Proxy
from benchmarks.cluster.simulation import LEASE_S, Plan, simulate
from benchmarks.cluster.site import Received, Requested
from benchmarks.cluster.trouble import TROUBLES, troubles
from benchmarks.cluster.virtual import VirtualClock, VirtualLoop

URL, OTHER = "http://127.0.1.1:1/0", "http://127.0.1.2:1/0"
EVERY_S = 10.0


class Evidence:
    """What a sound cluster leaves behind: two pages, each checked every ten seconds, of which one changed once."""

    def __init__(self) -> None:
        times = [0.0, 10.0, 20.0, 30.0]
        self.requested = [
            Requested(at + 0.1, URL, "n1", None if at == 0 else 1 if at < 20 else 2, 1 if at == 0 else 2)
            for at in times
        ]
        self.requested += [Requested(at + 0.2, OTHER, "n2", None if at == 0 else 1, 1) for at in times]
        self.committed = [Committed(URL, at, at + 0.3, "n1") for at in times]
        self.committed += [Committed(OTHER, at, at + 0.4, "n2") for at in times]
        self.received = [Received(11.0, name, "A1", URL, 1, 2, accepted=True) for name in ("steady", "flaky")]
        self.taken = [Taken(0, "n1", 1, 0.0), Taken(1, "n2", 1, 0.0)]
        self.deaths: list[tuple[str, float]] = []
        self.outages: list[tuple[float, float]] = []

    def judged(self) -> Verdict:
        return judge(
            Case(
                every_s=EVERY_S,
                lease_s=5,
                began=1.0,
                ended=35.0,
                versions={URL: 2, OTHER: 1},
                requested=sorted(self.requested),
                received=self.received,
                committed=sorted(self.committed, key=lambda commit: commit.at),
                taken=self.taken,
                outages=self.outages,
                troubles=1,
                deaths=self.deaths,
            )
        )


def commit_twice(evidence: Evidence) -> None:
    # Another node had the page in hand at the same time.
    evidence.requested.append(Requested(20.15, URL, "n2", 2, 2))
    evidence.committed.append(Committed(URL, 30.0, 20.5, "n2"))


def forget_a_page(evidence: Evidence) -> None:
    evidence.requested = [each for each in evidence.requested if each.url == URL or each.at < 10]
    evidence.committed = [each for each in evidence.committed if each.url == URL or each.at < 10]


def never_commit_a_page(evidence: Evidence) -> None:
    evidence.committed = [each for each in evidence.committed if each.url == URL]


def fetch_for_nothing(evidence: Evidence) -> None:
    evidence.requested += [Requested(15 + number / 100, URL, "n2", 2, 2) for number in range(50)]


def lose_an_alert(evidence: Evidence) -> None:
    del evidence.received[0]


def refuse_an_alert(evidence: Evidence) -> None:
    evidence.received[0] = evidence.received[0]._replace(accepted=False)


def tell_under_another_id(evidence: Evidence) -> None:
    evidence.received.append(evidence.received[0]._replace(at=12.0, id="A2"))


def skip_a_step(evidence: Evidence) -> None:
    evidence.received[0] = evidence.received[0]._replace(before=0)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (commit_twice, "committed twice for one due time"),
        (forget_a_page, "not checked for"),
        (never_commit_a_page, "1 pages were never committed"),
        (fetch_for_nothing, "were fetched for nothing"),
        (lose_an_alert, "its alerts end at version 1, the page at 2"),
        (refuse_an_alert, "its alerts end at version 1, the page at 2"),
        (tell_under_another_id, "came as A1 and as A2"),
        (skip_a_step, "goes on from 0, accepted was 1"),
    ],
)
def test_what_is_lost_doubled_or_late_is_found(harm: Callable[[Evidence], None], said: str) -> None:
    evidence = Evidence()
    assert evidence.judged().findings == []

    harm(evidence)

    assert any(said in finding for finding in evidence.judged().findings)


def test_a_repeat_with_its_id_is_counted_and_no_finding() -> None:
    evidence = Evidence()
    evidence.received.append(evidence.received[0]._replace(at=12.0))

    found = evidence.judged()

    assert (found.findings, found.figures["repeated"]) == ([], 1)


def test_an_outage_of_the_database_makes_no_page_late() -> None:
    evidence = Evidence()
    evidence.requested = [each for each in evidence.requested if each.at < 20]
    evidence.committed = [each for each in evidence.committed if each.at < 20]
    assert len(evidence.judged().findings) == len({URL, OTHER})

    evidence.outages = [(15.0, 25.0)]

    assert evidence.judged().findings == []


def test_it_says_when_the_parts_of_a_dead_node_were_taken() -> None:
    evidence = Evidence()
    evidence.deaths = [("n2", 12.0)]
    evidence.taken += [Taken(1, "n1", 2, 17.5), Taken(0, "n2", 2, 20.0)]

    figures = evidence.judged().figures

    assert figures["parts taken over from dead nodes"] == 1
    assert figures["… the latest, s after the death"] == 5.5


def test_every_kind_of_trouble_is_planned_as_often_as_every_other() -> None:
    names = {each.name for each in troubles(SystemRandom(), 3)}

    assert {each.name for each in TROUBLES if not each.takes_clock} <= names
    assert {each.name for each in troubles(SystemRandom(), 1)} == {each.name for each in TROUBLES if each.nodes == 1}


@pytest.mark.parametrize(
    ("direction", "arrived"), [(Direction.TO_DATABASE, b""), (Direction.TO_NODE, b"asked")], ids=["to", "from"]
)
async def test_what_is_lost_in_one_direction_arrives_late(direction: Direction, arrived: bytes) -> None:
    heard = bytearray()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(100):
            heard.extend(piece)
            writer.write(piece.upper())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server, Proxy(server.sockets[0].getsockname()[1]) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"HELLO"
        heard.clear()
        async with asyncio.TaskGroup() as group:
            losing = group.create_task(proxy.lose(direction, 0.3), name="lose")
            await asyncio.sleep(0)  # it begins
            writer.write(b"asked")
            answered = group.create_task(reader.readexactly(5), name="answered")
            done, _ = await asyncio.wait({answered, losing}, return_when=asyncio.FIRST_COMPLETED)
            assert (done, bytes(heard)) == ({losing}, arrived)
        assert answered.result() == b"ASKED"
        writer.close()
        assert await reader.read() == b""


def test_20_nodes_share_64_parts_evenly_and_take_over_from_one_another_without_checking_twice() -> None:
    found = simulate(Plan(nodes=20, pages=1_000_000))

    assert set(found.shares.values()) == {(3, 4)}
    assert found.takeover_s <= LEASE_S + 1
    assert max(found.joined_s, found.left_s) <= 4
    assert (found.moved, found.twice) == (0, 0)
    assert found.wasted <= 0.001
    assert found.latest_s <= LEASE_S + 5
    assert found.checks >= 0.99 * found.due


def test_a_simulated_clock_passes_where_all_tasks_wait() -> None:
    loop = VirtualLoop()
    clock = VirtualClock(loop)
    before = clock.now()
    try:
        loop.run_until_complete(clock.sleep(86_400))
    finally:
        loop.close()

    assert clock.monotonic() == pytest.approx(86_400)
    assert clock.now() - before == pytest.approx(DAY_US)
