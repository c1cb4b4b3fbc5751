"""Several processes write to one store at the same time, and all that must hold of it still does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from random import Random

import pytest

from tests.contract.desk import DAY, GATHER, NOW, Desk
from tests.contract.test_store_snapshots import kept
from tocsin.adapters.stores import open_store
from tocsin.errors import StaleRevision
from tocsin.model import DeliveryResult, JsonObject
from tocsin.ports import Store

WRITERS, HOSTS, PAGES, STEPS = 3, 12, 60, 14


@asynccontextmanager
async def writers(desk: Desk) -> AsyncIterator[list[Desk]]:
    """Open the store as several processes do, each with a share of the parts; of one part, the first has it."""
    async with AsyncExitStack() as opened:
        found = []
        for number in range(WRITERS):
            store = await opened.enter_async_context(await open_store(desk.behind.url, engine=False, gather=GATHER))
            ours = [part for part in desk.claim.parts if part % WRITERS == number]
            found.append(Desk(store, desk.claim.only(ours), desk.folder, desk.behind))
        yield found


@pytest.mark.parametrize("seed", range(3))
async def test_several_writers_at_once_keep_every_invariant(desk: Desk, seed: int) -> None:
    await desk.store.set_channels([f"channel {number}" for number in range(WRITERS)])
    await desk.watch(*(f"https://h{number % HOSTS}.example/{number}" for number in range(PAGES)))

    async with writers(desk) as others, asyncio.TaskGroup() as group:
        for number, other in enumerate(others):
            chance = Random(f"{seed} {number}")  # noqa: S311 - the same in each run
            group.create_task(_work(other, number, chance), name=f"writer {number}")

    assert await desk.store.check() == []
    ((alerts, last),) = desk.behind.look("select count(*), max(position) from alerts")
    assert alerts == last > 0


EDITED: JsonObject = {"settings": {"every": "6h"}, "unset": ()}
TOUCHED: JsonObject = {**EDITED, "paused": None, "group": None, "text": None, "clear_text": False}
EDITS: dict[str, Callable[[Store, int], Awaitable[object]]] = {
    "of a page": lambda store, revision: store.edit_pages([1], NOW, **TOUCHED, if_revision=revision),
    "that removes a page": lambda store, revision: store.remove_pages([1], if_revision=revision),
    "of a group": lambda store, revision: store.edit_group("main", NOW, **EDITED, if_revision=revision),
    "of all pages": lambda store, revision: store.edit_group(None, NOW, **EDITED, if_revision=revision),
    "that removes a group": lambda store, revision: store.remove_group("empty", if_revision=revision),
}


@pytest.mark.parametrize("kind", EDITS)
async def test_of_edits_of_one_revision_by_several_processes_one_is_made(desk: Desk, kind: str) -> None:
    await desk.watch("https://a.example/")
    await desk.store.edit_group("empty", NOW, settings={}, unset=())
    revision = 1 if kind == "that removes a group" else 0

    async with writers(desk) as others:
        made = await asyncio.gather(*(EDITS[kind](other.store, revision) for other in others), return_exceptions=True)

    assert sum(isinstance(each, StaleRevision) for each in made) == WRITERS - 1


async def _work(desk: Desk, number: int, chance: Random) -> None:
    """Do what a service does, in any order."""
    for step in range(STEPS):
        desk.now += DAY
        await chance.choice([_check, _check, _check, _render, _render, _deliver, _edit])(desk, number, chance)
        if step % 5 == number:
            url = f"https://h{chance.randrange(HOSTS)}.example/{number}/{step}"
            added = await desk.watch(url, "https://shared.example/", group=chance.choice(["main", "news"]))
            if chance.random() < 0.5:
                await desk.store.remove_pages(added[:1])


async def _check(desk: Desk, _: int, chance: Random) -> None:
    tasks = await desk.due()
    results = []
    for task in chance.sample(tasks, min(len(tasks), 8)):
        major = chance.choice(["1", "1", "2", "3"])
        if chance.random() < 0.2:
            results.append(desk.failed(task))
        else:
            text = kept(f"text {chance.randrange(4)}", desk.now)
            results.append(desk.result(task, major, snapshot=text, next_at=desk.now + chance.randrange(DAY)))
    await desk.store.commit(desk.claim, results)


async def _render(desk: Desk, _: int, chance: Random) -> None:
    own = {task.page_id for task in await desk.due()}
    waiting = [job.page_id for job in await desk.store.waiting_renders(limit=50) if job.page_id in own]
    jobs = await desk.store.claim_renders(desk.claim, waiting)
    text = kept(f"text {chance.randrange(4)}", desk.now)
    await desk.store.commit_renderings(desk.claim, [desk.rendered(job, snapshot=text) for job in jobs])


async def _deliver(desk: Desk, number: int, chance: Random) -> None:
    channel = f"channel {number}"
    due = await desk.store.due_deliveries(channel, desk.now, limit=9)
    results = [
        DeliveryResult(each.alert_id, channel, "dead" if chance.random() < 0.3 else "accepted", desk.now)
        for each in due
    ]
    await desk.store.record_deliveries(results)


async def _edit(desk: Desk, number: int, chance: Random) -> None:
    pages = [chance.randrange(1, PAGES + 1) for _ in range(5)]
    await desk.edit(pages[0], settings={"every": "2h"}, group=chance.choice(["main", "news", "papers"]))
    await desk.edit(pages[1], paused=chance.random() < 0.5)
    await desk.store.request_check(sorted({pages[2], pages[3]}), desk.now)
    if number == 0:
        await desk.store.remove_pages([pages[4]])


async def test_an_answer_that_two_processes_begin_at_once_is_begun_by_one(desk: Desk) -> None:
    async with writers(desk) as others:
        begun = await asyncio.gather(*(other.store.begin_once(b"key", b"print", NOW) for other in others))

    assert [answer is None for answer in begun].count(True) == 1
