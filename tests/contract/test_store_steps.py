"""Edits of many pages: short transactions, room for an engine, exact words on how far they came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.desk import DAY, HOUR, NOW, Desk, new_page
from tests.fakes import settle
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.role import FIRST_ROWS, HELD_S, LEAST_ROWS, STEP_ROWS, Pace
from tocsin.model import Instruction, PageFilter

MANY = 2500
STEPS = [100, 200, 400, 800, 1000]
"""Of so many pages, where steps take no time."""

Kind = Literal["again", "never", "until-major", "drop"]
NOTHING: dict[str, Any] = {
    "settings": {},
    "unset": (),
    "paused": None,
    "group": None,
    "text": None,
    "clear_text": False,
}


async def watch_many(desk: Desk, pages: int = MANY) -> list[int]:
    """Watch so many pages on a hundred hosts."""
    return await desk.watch(*(f"https://h{number % 100}.example/{number}" for number in range(pages)))


NEW = [new_page(f"https://new.example/{number}") for number in range(MANY)]
EDITS: dict[str, Callable[[Desk, list[int], Callable[[int], None]], Any]] = {
    "add": lambda desk, _, told: desk.store.add_pages(NEW, NOW, on_step=told),
    "remove": lambda desk, ids, told: desk.store.remove_pages(ids, on_step=told),
    "edit": lambda desk, ids, told: desk.store.edit_pages(ids, NOW, **(NOTHING | {"paused": True}), on_step=told),
    "group": lambda desk, _, told: desk.store.edit_group(None, NOW, settings={"every": "1h"}, unset=(), on_step=told),
}


@pytest.mark.parametrize("name", EDITS)
async def test_a_long_edit_is_told_of_after_each_step(desk: Desk, name: str) -> None:
    ids, told = await watch_many(desk, 0 if name == "add" else MANY), list[int]()

    await EDITS[name](desk, ids, told.append)

    assert told == STEPS


async def test_steps_that_keep_others_waiting_become_shorter_and_then_longer_again(
    database: str, tmp_path: Path
) -> None:
    adding, removing = [0.0, 0.0], [2 * HELD_S] * 4
    looks = chain.from_iterable((0.0, held_s) for held_s in chain(adding, removing, repeat(0.0)))
    slow = await Desk.at(tmp_path, database, timer=lambda: next(looks))
    told: list[int] = []
    async with slow.store:
        ids = await watch_many(slow, 300)

        await slow.store.remove_pages(ids, on_step=told.append)

    assert told == [100, 50, 25, 16, 16, 32, 61]


@given(st.lists(st.tuples(st.integers(0, 2000), st.floats(0, 10))))
def test_a_step_is_never_so_short_that_it_pays_nothing_nor_longer_than_a_thousand(
    steps: list[tuple[int, float]],
) -> None:
    pace = Pace()

    for rows, held_s in steps:
        pace.learn(rows, held_s)

        assert LEAST_ROWS <= pace.rows <= STEP_ROWS


def test_a_last_step_of_few_rows_says_nothing_of_longer_ones() -> None:
    pace = Pace()

    pace.learn(FIRST_ROWS - 1, 0.0)

    assert pace.rows == FIRST_ROWS


async def test_an_interrupted_edit_has_done_exactly_the_steps_that_were_told_of(desk: Desk) -> None:
    ids, told = await watch_many(desk), list[int]()
    async with asyncio.TaskGroup() as group:
        with desk.behind.write_lock():
            running = group.create_task(desk.store.remove_pages(ids, on_step=told.append), name="edit")
            await settle()
            running.cancel()

    assert told == STEPS[:1]
    assert await desk.store.count_pages(PageFilter()) == MANY - STEPS[0]


# Locks of PostgreSQL have queues.
@pytest.mark.parametrize("database", ["sqlite"])
async def test_an_engine_has_its_turn_between_the_steps_of_an_edit_beside_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, written, seen, rested = await watch_many(desk), [0], list[int](), list[float]()
    turn = asyncio.sleep

    async def rest(seconds: float) -> None:
        # However slow the engine is: its rest is as long as it takes to write once.
        rested.append(seconds)
        before = written[0]
        while written[0] == before:
            await turn(0)

    async def work() -> None:
        while True:
            await desk.store.save_robots("https://h1.example", f"kept {written[0]}")
            written[0] += 1

    async with (
        await open_store(desk.behind.url, engine=False, create=False) as beside,
        asyncio.TaskGroup() as group,
    ):
        working = group.create_task(work(), name="engine")
        with monkeypatch.context() as resting:
            resting.setattr(asyncio, "sleep", rest)
            await beside.remove_pages(ids, on_step=lambda _: seen.append(written[0]))
        working.cancel()

    assert all(earlier < later for earlier, later in pairwise(seen))
    assert len(rested) == len(seen) > 1
    assert all(0 < seconds <= HELD_S * 5 for seconds in rested)


async def test_the_checks_that_a_long_edit_brings_are_spread_by_all_of_its_pages(desk: Desk) -> None:
    ids = await watch_many(desk, 100)
    await desk.store.edit_pages(ids, NOW, **(NOTHING | {"paused": True}))

    await desk.store.edit_pages(ids, NOW + DAY, **(NOTHING | {"paused": False}), of=1_000_000)

    due = [page.due.at - NOW - DAY for page in await desk.store.pages(PageFilter()) if page.due.at is not None]
    assert max(due) > HOUR // 2
    assert len([at for at in due if at < HOUR // 10]) < 30


async def test_settings_of_a_group_that_move_no_check_touch_no_host(desk: Desk) -> None:
    await watch_many(desk, 10)
    before = await desk.store.foreign_revision()

    await desk.store.edit_group(None, NOW, settings={"tell": "major"}, unset=())

    assert await desk.store.foreign_revision() is not None
    assert await desk.agenda(since=before) == {}


async def test_ids_are_read_in_order_from_one_to_another(desk: Desk) -> None:
    ids = await desk.watch("https://one.example/a", "https://two.example/b", "https://one.example/c")
    which = PageFilter(host="one.example")

    assert await desk.store.page_ids(which, last_id=ids[-1]) == [ids[0], ids[2]]
    assert await desk.store.page_ids(which, after_id=ids[0], last_id=ids[1]) == []
    assert await desk.store.last_page_id() == ids[-1]


async def test_the_last_times_are_those_of_any_page(desk: Desk) -> None:
    assert await desk.store.last_times() == (None, None)
    await desk.store.add_pages([new_page("https://one.example/a")], NOW)
    await desk.check("https://one.example/a")

    checked_at, stored_at = await desk.store.last_times()

    assert checked_at is not None
    assert stored_at is not None


async def ask_about_many(desk: Desk, pages: int = MANY) -> None:
    """One question about so many pages of one host."""
    await desk.watch(*(f"https://one.example/{number}" for number in range(pages)))
    tasks = await desk.due(per_host=pages)
    await desk.store.commit(desk.claim, [desk.failed(task) for task in tasks])


@pytest.mark.parametrize("kind", ["again", "never", "until-major", "drop"])
async def test_a_question_of_many_pages_is_answered_in_steps(desk: Desk, kind: Kind) -> None:
    await ask_about_many(desk)
    told: list[int] = []

    done = await desk.store.answer(1, Instruction(kind), scope="host-cause", url=None, now=NOW, on_step=told.append)

    assert (done, told) == (MANY, [*STEPS, 0])
    left = [page for page in await desk.store.pages(PageFilter(), limit=MANY) if page.question_id is not None]
    assert len(left) == (MANY if kind == "again" else 0)


@pytest.mark.parametrize("kind", ["again", "never", "drop"])
async def test_an_answer_that_was_interrupted_goes_on_when_it_is_given_again(desk: Desk, kind: Kind) -> None:
    await ask_about_many(desk)
    instruction = Instruction(kind)

    async with asyncio.TaskGroup() as group:

        def interrupt(_pages: int) -> None:
            running.cancel()

        running = group.create_task(
            desk.store.answer(1, instruction, scope="host-cause", url=None, now=NOW, on_step=interrupt), name="answer"
        )
    assert running.cancelled()
    await desk.store.answer(1, instruction, scope="host-cause", url=None, now=NOW)

    pages = await desk.store.pages(PageFilter(), limit=MANY)
    whys = {page.due.why for page in pages}
    assert whys == {"again": {"held: tried again at once"}, "never": {"never (standing answer 1)"}, "drop": set()}[kind]
    assert len(await desk.store.standing_answers()) == (kind == "never")


@pytest.mark.parametrize(("first", "then"), [("until-major", "never"), ("never", "until-major")])
async def test_pages_of_a_rule_that_is_replaced_follow_the_new_one_in_steps(
    desk: Desk, first: Kind, then: Kind
) -> None:
    await ask_about_many(desk, 1000)
    async with asyncio.TaskGroup() as group:

        def interrupt(_pages: int) -> None:
            running.cancel()

        running = group.create_task(
            desk.store.answer(1, Instruction(first), scope="host-cause", url=None, now=NOW, on_step=interrupt),
            name="answer",
        )
    left = await desk.store.question(1)
    assert left is not None
    told: list[int] = []

    done = await desk.store.answer(
        1, Instruction(then), scope="host-cause", url=None, now=NOW + HOUR, on_step=told.append
    )

    assert done == sum(told) == left.pages < 1000
    assert [(rule.id, rule.instruction.kind) for rule in await desk.store.standing_answers()] == [(2, then)]
    due = [page.due.at is not None for page in await desk.store.pages(PageFilter())]
    assert due == [then == "until-major"] * 1000


async def test_a_rule_is_lifted_in_steps_and_goes_with_the_last_of_its_pages(desk: Desk) -> None:
    await ask_about_many(desk)
    await desk.store.answer(1, Instruction("never"), scope="host-cause", url=None, now=NOW)
    told: list[int] = []
    left: list[int] = []

    def look(pages: int) -> None:
        told.append(pages)
        left.append(desk.behind.look("select count(*) from standing_answers")[0][0])

    assert await desk.store.lift_standing_answer(1, NOW, on_step=look) == MANY

    assert (told, left) == ([*STEPS, 0], [1, 1, 1, 1, 1, 0])


async def test_a_check_that_is_given_up_while_it_is_asked_for_leaves_nothing_wanted(desk: Desk) -> None:
    await watch_many(desk)
    requested = "select count(*) from pages where request_id is not null"
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(desk.store.request_check(None, NOW), name="request")
        while desk.behind.look(requested) == [(0,)]:
            await settle()
        asking.cancel()

    assert desk.behind.look(requested) == [(0,)]
