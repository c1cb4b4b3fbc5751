"""Jobs, answers that are given once, and what happened within a span of time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from msgspec import structs

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, Desk
from tocsin.adapters.stores import open_store
from tocsin.model import ActivityRow, JobRow, StoredAnswer

KEY, PRINT = b"k" * 32, b"f" * 32
ANSWER = StoredAnswer(PRINT, 201, "application/json", b"{}", NOW, "/api/v1/pages/1")
JOB = JobRow("01J", "pages.import", "ops", NOW, total=7)
YEAR = timedelta(days=365)


async def test_of_two_that_begin_the_same_at_once_one_may(desk: Desk) -> None:
    async with await open_store(desk.behind.url, engine=False) as other:
        said = await asyncio.gather(*(store.begin_once(KEY, PRINT, NOW) for store in (desk.store, other, desk.store)))

    assert sorted(each is None for each in said) == [False, False, True]
    assert {each.status for each in said if each is not None} == {0}


async def test_an_answer_is_given_again_for_a_day(desk: Desk) -> None:
    await desk.store.begin_once(KEY, PRINT, NOW)
    await desk.store.finish_once(KEY, ANSWER)

    assert await desk.store.begin_once(KEY, b"another", NOW + DAY - 1) == ANSWER
    assert await desk.store.begin_once(KEY, PRINT, NOW + DAY) is None


async def test_what_came_to_nothing_may_be_begun_anew(desk: Desk) -> None:
    await desk.store.begin_once(KEY, PRINT, NOW)
    await desk.store.finish_once(KEY, None)

    assert await desk.store.begin_once(KEY, PRINT, NOW) is None


async def test_what_an_earlier_life_left_behind_is_interrupted(desk: Desk) -> None:
    await desk.store.save_job(JOB)
    await desk.store.save_job(structs.replace(JOB, id="02J", state="done", ended_at=NOW, done=7))
    await desk.store.begin_once(KEY, PRINT, NOW)

    assert await desk.store.interrupt_jobs(NOW + MINUTE) == 1
    assert [(row.state, row.ended_at) for row in await desk.store.jobs()] == [
        ("done", NOW),
        ("interrupted", NOW + MINUTE),
    ]
    assert await desk.store.begin_once(KEY, PRINT, NOW + MINUTE) is None


async def test_a_start_interrupts_what_its_node_left_behind_and_no_other_nodes_work(desk: Desk) -> None:
    other = structs.replace(JOB, id="02J", node="two")
    await desk.store.save_job(structs.replace(JOB, node="one"))
    await desk.store.save_job(other)
    await desk.store.begin_once(KEY, PRINT, NOW, node="two")

    interrupted = await desk.store.interrupt_jobs(NOW, node="one")

    # A store of one engine has no other nodes: its machine was only called otherwise before.
    is_shared = desk.behind.kind != "sqlite"
    assert interrupted == (1 if is_shared else 2)
    assert (await desk.store.job("02J") == other) is is_shared
    assert (await desk.store.begin_once(KEY, PRINT, NOW) is not None) is is_shared


async def test_the_jobs_of_a_node_that_is_gone_are_interrupted(desk: Desk) -> None:
    await desk.store.enter("lives", timedelta(minutes=5), {})
    for node in ("lives", "gone"):
        await desk.store.save_job(structs.replace(JOB, id=node, node=node))
        await desk.store.begin_once(node.encode(), PRINT, NOW, node=node)

    # A node that has just begun may not have entered yet.
    interrupted = [await desk.store.interrupt_lost_jobs(now) for now in (NOW + MINUTE, NOW + MINUTE + 1, NOW + HOUR)]

    is_shared = desk.behind.kind != "sqlite"
    assert interrupted == ([0, 1, 0] if is_shared else [0, 0, 0])
    states = {row.id: (row.state, row.ended_at) for row in await desk.store.jobs()}
    assert states["lives"] == ("running", None)
    assert states["gone"] == (("interrupted", NOW + MINUTE + 1) if is_shared else ("running", None))
    begun = [await desk.store.begin_once(node, PRINT, NOW + HOUR) for node in (b"lives", b"gone")]
    assert [each is None for each in begun] == [False, is_shared]


async def test_a_job_of_another_node_is_cancelled_through_the_store(desk: Desk) -> None:
    await desk.store.save_job(structs.replace(JOB, node="one"))
    await desk.store.save_job(structs.replace(JOB, id="02J", node="two"))
    await desk.store.save_job(structs.replace(JOB, id="03J", node="one", state="done"))

    asked = [await desk.store.ask_to_cancel(job_id) for job_id in ("01J", "03J", "nothing")]

    assert asked == [True, False, False]
    # Progress that is written meanwhile does not take it back.
    await desk.store.save_job(structs.replace(JOB, node="one", done=3))
    is_shared = desk.behind.kind != "sqlite"
    assert await desk.store.jobs_to_cancel("one") == (["01J"] if is_shared else [])
    assert await desk.store.jobs_to_cancel("two") == []


async def test_a_job_is_read_as_it_was_written_last(desk: Desk) -> None:
    ended = structs.replace(
        JOB, state="failed", done=3, ended_at=NOW + 1, result={"added": 3}, error="the disk is full"
    )
    await desk.store.save_job(JOB)
    before = await desk.store.job(JOB.id)
    await desk.store.save_job(ended)

    assert (before, await desk.store.job(JOB.id), await desk.store.job("nothing")) == (JOB, ended, None)


async def test_the_latest_jobs_come_first(desk: Desk) -> None:
    for number in range(4):
        await desk.store.save_job(structs.replace(JOB, id=f"{number}J", started_at=NOW + number))

    assert [row.id for row in await desk.store.jobs(limit=3)] == ["3J", "2J", "1J"]


async def test_what_is_noted_of_a_span_adds_up(desk: Desk) -> None:
    await desk.store.note_activity(ActivityRow(NOW, {"first": 2}, 1, 1, 10, 5))
    await desk.store.note_activity(ActivityRow(NOW, {"first": 1, "major": 1}, 1, 0, 5, 5))
    await desk.store.note_activity(ActivityRow(NOW - 1, {}))

    assert await desk.store.activity(NOW) == [ActivityRow(NOW, {"first": 3, "major": 1}, 2, 1, 15, 10)]
    await desk.store.prune_activity(NOW + DAY, keep=timedelta(days=1))
    assert [row.at for row in await desk.store.activity(0)] == [NOW]


async def test_jobs_answers_and_activity_are_forgotten_each_in_its_time(desk: Desk) -> None:
    await desk.store.save_job(structs.replace(JOB, id="old", state="done"))
    await desk.store.save_job(structs.replace(JOB, id="runs"))
    await desk.store.begin_once(KEY, PRINT, NOW)
    await desk.store.note_activity(ActivityRow(NOW, {}))

    counts = [await desk.store.prune(NOW + days * DAY + 1, history=YEAR, limit=100) for days in (0, 1, 8, 29, 30)]

    assert counts == [0, 1, 1, 0, 1]
    assert [row.id for row in await desk.store.jobs()] == ["runs"]
