"""The render queue: who is rendered when, and what is told."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.awareness import NEW, NEWER, SECOND, Bench, failure, url_of
from tests.claiming import claim_all
from tests.fakes import ManualClock, cut_off, settle
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.rendering import awareness
from tocsin.engine.rendering.render_queue import RenderGate, RenderingWriter, RenderOrder, share_of
from tocsin.errors import FetchRefused, StaleClaim, StoreError
from tocsin.model import Claim, FailureKind, Instant, RenderCommit, RenderingRow, RenderJob, WaitingPage
from tocsin.settings import RenderSettings


class Queue:
    """The pages of an example by letter; a capital letter is a major change."""

    def __init__(self, limit: int, resume_at: int) -> None:
        self.gate, self.order = RenderGate(limit, resume_at), RenderOrder()
        self.waiting: list[WaitingPage] = []
        self.busy: set[int] = set()
        self._clock = 0

    def due(self, letters: str) -> str:
        for letter in letters:
            self._clock += 1
            self.waiting.append(WaitingPage(page_id=ord(letter), major=letter.isupper(), since=self._clock))
        return self._start()

    def done(self, letter: str) -> str:
        self.busy.remove(ord(letter))
        return self._start()

    def _start(self) -> str:
        seats = self.gate.admit(len(self.waiting), len(self.busy))
        started = self.order.take(self.waiting, seats)
        assert len(started) == seats
        self.busy.update(started)
        self.waiting = [page for page in self.waiting if page.page_id not in started]
        return "".join(chr(page_id) for page_id in started)


def test_T56_deferred_pages_go_on_when_the_capacity_set_is_free() -> None:
    queue = Queue(limit=4, resume_at=3)

    assert queue.due("abcdefghi") == "abcd"
    assert queue.done("b") == ""
    assert queue.done("a") == ""
    assert queue.done("d") == "efg"
    assert queue.due("J") == ""
    assert queue.done("c") == ""
    assert queue.done("e") == ""
    assert queue.done("f") == "Jhi"
    assert queue.due("k") == ""
    assert queue.done("g") == "k"


def test_T55_while_the_gate_is_open_a_page_starts_at_once() -> None:
    queue = Queue(limit=4, resume_at=3)

    assert [queue.due("a"), queue.due("b"), queue.done("a"), queue.due("c")] == ["a", "b", "", "c"]


def test_T56_fewer_waiting_pages_than_the_capacity_need_no_more_slots_than_they_are() -> None:
    queue = Queue(limit=4, resume_at=4)
    queue.due("abcdef")

    assert [queue.done("a"), queue.done("b")] == ["", "ef"]


def test_T56_a_capacity_above_the_limit_counts_as_the_limit() -> None:
    queue = Queue(limit=2, resume_at=9)
    queue.due("abcde")

    assert [queue.done("a"), queue.done("b")] == ["", "cd"]


def test_T55_single_slots_go_to_major_changes_and_to_the_oldest_page_in_turn() -> None:
    queue = Queue(limit=1, resume_at=1)
    queue.due("a")
    queue.due("bCDE")

    assert [queue.done("a"), queue.done("C"), queue.done("b"), queue.done("D")] == ["C", "b", "D", "E"]


@given(
    limit=st.integers(1, 6),
    resume_at=st.integers(1, 6),
    steps=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60),
)
def test_T55_no_more_pages_than_the_limit_and_none_waits_for_ever(
    limit: int, resume_at: int, steps: list[tuple[bool, bool]]
) -> None:
    queue, letters = Queue(limit, resume_at), iter(range(97, 97 + 26 * 9))
    for is_due, major in steps:
        if is_due:
            letter = chr(next(letters))
            queue.due(letter.upper() if major else letter)
        elif queue.busy:
            queue.done(chr(min(queue.busy)))
        assert len(queue.busy) <= limit
        assert not queue.waiting or queue.busy, "a page waits while all slots are free"

    for _ in range(len(queue.busy) + len(queue.waiting)):
        queue.done(chr(min(queue.busy)))

    assert not queue.waiting


@given(
    pages=st.lists(
        st.builds(WaitingPage, page_id=st.integers(1, 99), major=st.booleans(), since=st.integers(0, 9)),
        unique_by=lambda page: page.page_id,
        min_size=1,
    ),
    seats=st.integers(2, 9),
)
def test_T55_each_batch_takes_the_oldest_page_and_else_major_ones_first(pages: list[WaitingPage], seats: int) -> None:
    batch = RenderOrder().take(pages, seats)

    oldest = min(pages, key=lambda page: (page.since, page.page_id)).page_id
    others = [page for page in pages if page.page_id in batch and page.page_id != oldest]
    left = [page for page in pages if page.page_id not in batch]
    assert oldest in batch
    assert len(batch) == min(seats, len(pages))
    assert all(page.major or not any(other.major for other in left) for page in others)


async def test_T57_a_change_is_rendered_and_told_in_one_alert(bench: Bench) -> None:
    await bench.add_changed("a")

    await bench.drain()

    (event,) = await bench.events()
    assert (event["type"], event["subject"]) == ("tocsin.page.changed.v1", url_of("a"))
    assert event["data"]["rendering"]["title"] == "A page"
    assert event["data"]["rendering"]["same_state"] is True
    assert bench.committed == 1


async def test_T55_no_more_pages_are_rendered_at_once_than_the_limit(store: SqlStore) -> None:
    bench = Bench(store, limit=3)
    under_way, most = 0, 0
    are_three = asyncio.Event()

    async def count(_job: RenderJob) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 3:
            are_three.set()
        await are_three.wait()
        await settle()
        under_way -= 1

    bench.renderer.before = count
    await bench.add(*"abcdefgh")
    for name in "abcdefgh":
        await bench.check(name, NEW)

    await bench.drain()

    assert most == 3
    assert sorted(bench.renderer.pages) == list("abcdefgh")


async def test_T55_deferred_pages_go_major_ones_first_but_none_waits_for_ever(store: SqlStore) -> None:
    bench = Bench(store, limit=1)
    await bench.add(*"abcde")
    for name in "abc":
        bench.clock.set_wall(bench.clock.now() + SECOND)
        await bench.check(name, NEW, major=False)
    for name in "de":
        bench.clock.set_wall(bench.clock.now() + SECOND)
        await bench.check(name, NEW)

    await bench.drain()

    assert bench.renderer.pages == ["d", "a", "e", "b", "c"]


async def test_T58_a_failed_rendering_is_tried_again_and_the_tries_outlive_a_restart(bench: Bench) -> None:
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a"), failure("a"), NEW)

    await bench.drain()

    assert [len(job.task.order.attempts) for job in bench.renderer.asked] == [0, 1, 2]
    (event,) = await bench.events()
    assert event["data"]["rendering"]["error"] is None


async def test_T55_a_slot_is_given_up_during_the_pause_between_tries(store: SqlStore) -> None:
    bench = Bench(store, ManualClock(), limit=1)
    await bench.add("a", "b")
    await bench.check("a", NEW)
    bench.clock.set_wall(bench.clock.now() + SECOND)
    await bench.check("b", NEW)
    bench.renderer.on(url_of("a"), failure("a"), NEW)
    second = asyncio.Event()

    async def tell(job: RenderJob) -> None:
        if job.task.url == url_of("b"):
            second.set()

    bench.renderer.before = tell
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.drain(), name="drain")
        await second.wait()
        await bench.clock.advance(2)

    assert bench.renderer.pages == ["a", "b", "a"]


@pytest.mark.parametrize("kind", [FailureKind.STATUS, FailureKind.TOO_LARGE, FailureKind.BLOCKED_ADDRESS])
async def test_T58_in_awareness_every_failure_is_tried_again(bench: Bench, kind: FailureKind) -> None:
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), FetchRefused(url_of("a"), kind, "no", status=404), NEW)

    await bench.drain()

    assert len(bench.renderer.asked) == 2


async def test_our_own_outage_costs_no_try_and_asks_nobody(bench: Bench) -> None:
    await bench.add_changed("a")

    async def lose_the_connection(_job: RenderJob) -> None:
        cut_off(bench.outage)

    bench.renderer.before = lose_the_connection
    bench.renderer.on(url_of("a"), failure("a"), NEW)
    await bench.drain()
    during = await bench.events()
    bench.outage.note("a.example", ok=True)
    bench.renderer.before = None
    bench.clock.set_wall(bench.clock.now() + 61 * SECOND)

    await bench.drain()

    assert during == []
    assert len(await bench.events()) == 1
    assert [len(job.task.order.attempts) for job in bench.renderer.asked] == [0, 0]


async def test_T72_a_rendering_that_was_cut_off_is_made_again_after_a_restart(store: SqlStore) -> None:
    bench = Bench(store, ManualClock())
    await bench.add_changed("a")
    begun = asyncio.Event()

    async def hang(_job: RenderJob) -> None:
        begun.set()
        await asyncio.Event().wait()

    bench.renderer.before = hang
    async with asyncio.TaskGroup() as group:
        cut = group.create_task(bench.drain(), name="cut off")
        await begun.wait()
        cut.cancel()
    bench.renderer.before = None

    await bench.drain()

    assert len(await bench.events()) == 1
    assert len(bench.renderer.asked) == 2


async def test_T72_what_a_lost_claim_rendered_is_not_written(bench: Bench) -> None:
    await bench.add_changed("a")

    async def lose_the_claim(_job: RenderJob) -> None:
        bench.renderer.before = None
        await claim_all(bench.store, "test")

    bench.renderer.before = lose_the_claim
    bench.queue = bench.fresh_queue()
    await bench.lease.take()
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.queue.run(group), name="renders")
        await bench.telemetry.heard("render.lost")
        bench.queue.stop()

    assert await bench.events() == []


async def test_a_page_whose_claim_was_lost_is_not_rendered_twice_at_once(store: SqlStore) -> None:
    bench = Bench(store, ManualClock())
    await bench.add("a", "b")
    await bench.check("a", NEW)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def hold(job: RenderJob) -> None:
        begun.set()
        if job.task.url == url_of("a"):
            await go_on.wait()

    bench.renderer.before = hold
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.drain(), name="drain")
        await begun.wait()
        await bench.check("b", NEW)
        begun.clear()
        bench.queue.wake()
        await begun.wait()
        go_on.set()

    assert sorted(bench.renderer.pages) == ["a", "a", "b"]
    assert bench.renderer.pages[1] == "b"
    assert len(await bench.events()) == 2


async def test_T55_a_queue_with_nothing_to_do_goes_on_when_pages_come(store: SqlStore) -> None:
    bench = Bench(store, ManualClock())
    await bench.add("a")
    bench.queue = bench.fresh_queue()
    await bench.lease.take()
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.queue.run(group), name="renders")
        await settle()
        await bench.check("a", NEW)
        bench.queue.wake()
        await bench.telemetry.heard("page.rendered")
        bench.queue.stop()

    assert bench.renderer.pages == ["a"]


async def test_a_page_that_a_check_has_in_hand_waits_for_what_it_finds(store: SqlStore) -> None:
    bench = Bench(store, ManualClock())
    await bench.add_changed("a", "b")
    bench.visited.add(bench.page_id("a"))
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.drain(), name="drain")
        await bench.telemetry.heard("page.rendered")
        alone = list(bench.renderer.pages)
        bench.visited.clear()
        bench.queue.wake()

    assert (alone, bench.renderer.pages) == (["b"], ["b", "a"])


async def test_a_page_that_only_a_check_keeps_from_its_rendering_is_next_whatever_its_interval(
    store: SqlStore,
) -> None:
    bench = Bench(store, ManualClock())
    await bench.add_changed("a", "b")
    bench.visited.add(bench.page_id("a"))
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.drain(), name="drain")
        await bench.telemetry.heard("page.rendered")
        kept_for_it = bench.queue.has_in_hand(bench.page_id("a"), bench.clock.monotonic())
        bench.visited.clear()
        bench.queue.on_checked()

    assert kept_for_it
    assert bench.renderer.pages == ["b", "a"]


async def test_a_check_that_read_its_page_before_a_rendering_ended_leaves_it_alone(bench: Bench) -> None:
    await bench.add_changed("a")
    read_s = bench.clock.monotonic()
    await bench.drain()

    assert bench.queue.has_in_hand(bench.page_id("a"), read_s)
    assert not bench.queue.has_in_hand(bench.page_id("a"), bench.clock.monotonic() + 1)


async def test_a_drain_leaves_a_try_that_is_far_off_to_the_next_run(store: SqlStore) -> None:
    # On an eager clock an hour could pass while the store is at work.
    bench = Bench(store, ManualClock())
    await bench.add_changed("a")
    bench.renderer.on(url_of("a"), failure("a", retry_after=timedelta(hours=1)), NEW)

    await bench.drain()
    early = list(bench.renderer.pages)
    bench.clock.set_wall(bench.clock.now() + 3601 * SECOND)
    await bench.drain()

    assert (early, bench.renderer.pages) == (["a"], ["a", "a"])


async def test_T55_the_limit_can_be_set_anew(store: SqlStore) -> None:
    bench = Bench(store, ManualClock(), limit=1)
    await bench.add("a", "b")
    for name in "ab":
        await bench.check(name, NEW)
    both = asyncio.Barrier(2)

    async def meet(_job: RenderJob) -> None:
        bench.queue.configure(RenderSettings(limit=2))
        await both.wait()

    bench.renderer.before = meet
    await bench.drain()

    assert sorted(bench.renderer.pages) == ["a", "b"]


async def test_T72_what_was_rendered_waits_for_a_store_that_cannot_be_written(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.add_changed("a")
    commit, faults = bench.store.commit_renderings, [StoreError("the disk is full")]

    async def sometimes(claim: Claim, results: Sequence[RenderCommit]) -> dict[int, Instant | None]:
        if faults:
            raise faults.pop()
        return await commit(claim, results)

    monkeypatch.setattr(bench.store, "commit_renderings", sometimes)

    await bench.drain()

    assert len(await bench.events()) == 1
    assert len(bench.renderer.asked) == 1
    assert "store.failed" in bench.telemetry.names()


FAILED = RenderingRow(
    kind="http",
    started_at=1,
    received=None,
    status=None,
    final_url=None,
    content_type=None,
    title=None,
    bytes=None,
    digest=None,
    same_state=None,
    error=("connect", None, "connection refused"),
)


class HeldStore:
    """Writes renderings when it is let, but for some pages, and under one claim alone; implements `CommitStore`."""

    def __init__(self) -> None:
        self.let, self.batches = asyncio.Event(), list[list[int]]()
        self.broken: set[int] = set()
        self.stale: Claim | None = None

    async def commit_renderings(self, claim: Claim, results: Sequence[RenderCommit]) -> dict[int, Instant | None]:
        self.batches.append([result.page_id for result in results])
        await self.let.wait()
        if claim == self.stale:
            raise StaleClaim("replaced")
        if not self.broken.isdisjoint(self.batches[-1]):
            raise StoreError("this row")
        return {result.host_id: 100 + result.host_id for result in results}


CLAIM = Claim("test", (2,))
OLDER = Claim("test", (1,))


def commit_of(page: int) -> RenderCommit:
    """The rendering of a page on a host of the same number."""
    return RenderCommit(page, page, FAILED, served=(), alerts=(), set_at=None)


async def write(store: HeldStore, *claims: Claim, cancelled: int | None = None) -> list[Instant | str | None]:
    """Put the rendering of a page under each of these claims while the first is written; returns what came of each."""
    writer, ended = RenderingWriter(store), list[Instant | str | None](["cancelled"] * len(claims))

    async def put(page: int, claim: Claim) -> None:
        try:
            ended[page] = await writer.put(claim, commit_of(page), group)
        except StoreError as exc:
            ended[page] = type(exc).__name__

    async with asyncio.TaskGroup() as group:
        puts = [group.create_task(put(page, claim), name=f"put-{page}") for page, claim in enumerate(claims)]
        await settle()
        if cancelled is not None:
            puts[cancelled].cancel()
        store.let.set()
    return ended


async def test_renderings_that_wait_at_the_same_time_are_written_in_one_transaction() -> None:
    store = HeldStore()

    assert await write(store, *[CLAIM] * 4) == [100, 101, 102, 103]

    assert store.batches == [[0, 1, 2, 3]]


async def test_what_is_received_already_is_written_with_the_renderings_that_wait() -> None:
    store = HeldStore()
    store.let.set()
    writer = RenderingWriter(store)

    async with asyncio.TaskGroup() as group:
        with writer.concluding():
            group.create_task(writer.put(CLAIM, commit_of(1), group), name="first")
            await settle()
            assert store.batches == []
        await writer.put(CLAIM, commit_of(2), group)

    assert store.batches == [[1, 2]]


async def test_a_rendering_that_cannot_be_written_keeps_none_of_the_others() -> None:
    store = HeldStore()
    store.broken = {2}

    assert await write(store, *[CLAIM] * 4) == [100, 101, "StoreError", 103]


async def test_a_rendering_under_an_older_claim_is_refused_alone() -> None:
    store = HeldStore()
    store.stale = OLDER

    assert await write(store, CLAIM, OLDER, CLAIM) == [100, "StaleClaim", 102]

    assert store.batches == [[0, 2], [1]]


async def test_a_rendering_whose_task_is_cancelled_holds_up_none_of_the_others() -> None:
    assert await write(HeldStore(), *[CLAIM] * 3, cancelled=1) == [100, "cancelled", 102]


async def test_a_verdict_that_comes_while_its_page_is_rendered_gets_a_rendering_of_its_own(bench: Bench) -> None:
    await bench.add_changed("a")

    async def change_again(_job: RenderJob) -> None:
        bench.renderer.before = None
        bench.clock.set_wall(bench.clock.now() + SECOND)
        await bench.check("a", NEWER)

    bench.renderer.before = change_again
    bench.renderer.on(url_of("a"), NEW, NEWER)

    await bench.drain()

    assert len(bench.renderer.asked) == 2
    assert len(await bench.events()) == 2


async def test_a_large_page_that_is_read_holds_up_no_rendering_that_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awareness, "LARGE_BYTES", 0)
    is_told, waited, read = threading.Event(), list[bool](), awareness.Awareness.look
    await bench.add_changed("small", "large")

    def look(self: awareness.Awareness, job: RenderJob, *rest: Any) -> awareness.RenderedAssessment:
        if job.page_id == bench.page_id("large"):
            waited.append(is_told.wait(30))
        return read(self, job, *rest)

    monkeypatch.setattr(awareness.Awareness, "look", look)
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.drain(), name="drain")
        await bench.telemetry.heard("page.rendered")
        is_told.set()

    assert waited == [True], "the other rendering waited for this one"
    assert len(await bench.events()) == 2


@pytest.mark.parametrize(
    ("own", "parts", "limits"),
    [(1, 1, (8, 4)), (64, 64, (8, 4)), (22, 64, (2, 1)), (1, 64, (1, 1)), (0, 64, (1, 1)), (0, 0, (8, 4))],
)
def test_T55_the_limit_is_that_of_all_nodes_and_each_has_its_share(
    own: int, parts: int, limits: tuple[int, int]
) -> None:
    assert share_of(8, 4, own, parts) == limits
