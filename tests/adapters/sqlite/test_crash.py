"""What a process that ends at any moment leaves behind, and two processes at work on one store."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.claiming import claim_all
from tests.contract.desk import NOW, A, B, Desk, new_page, url_of
from tocsin.adapters.stores import open_store
from tocsin.errors import StoreLocked

# The child does its work, says so from inside the transaction (or after it), and waits to be killed.
CHILD = """
import asyncio, sys, threading
from pathlib import Path
from tests.contract import desk as desks
from tocsin.adapters.stores.sqlite import connection

folder, when = Path(sys.argv[1]), sys.argv[2]

def halt():
    print("ready", flush=True)
    threading.Event().wait()

whole = connection.transaction
armed = False

def halting(db, *, durable=False):
    inner = whole(db, durable=durable)

    class Halting:
        def __enter__(self):
            inner.__enter__()
            if armed and when == "begun":
                halt()

        def __exit__(self, *error):
            if armed and when == "written":
                halt()
            done = inner.__exit__(*error)
            if armed and when == "committed":
                halt()
            return done

    return Halting()

connection.transaction = halting

async def main():
    global armed
    desk = await desks.Desk.at(folder)
    await desk.store.set_channels(["ops"])
    await desk.watch(desks.A)
    await desk.check(desks.A, "1")
    if sys.argv[3] == "check":
        armed = True
        await desk.check(desks.A, "2")
    await desk.check(desks.A, "2")
    jobs = [await desk.job(desks.A)]
    if sys.argv[3] == "renderings":
        await desk.watch(desks.B)
        await desk.check(desks.B, "1")
        await desk.check(desks.B, "2")
        jobs.append(await desk.job(desks.B))
    armed = True
    await desk.store.commit_renderings(desk.claim, [desk.rendered(job) for job in jobs])

asyncio.run(main())
"""


async def killed(folder: Path, when: str, what: str) -> None:
    """Run a child on this folder's store, and kill it at this moment of its transaction."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(folder), when, what, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    async with asyncio.timeout(60):
        line = await child.stdout.readline()
        child.kill()
        status = await child.wait()
    assert (line, status) == (b"ready\n", -signal.SIGKILL)


@pytest.mark.parametrize("when", ["begun", "written", "committed"])
async def test_T72_a_check_is_written_wholly_or_not_at_all(tmp_path: Path, when: str) -> None:
    await killed(tmp_path, when, "check")

    desk = await Desk.at(tmp_path)
    async with desk.store:
        stored = [entry.fields[10] for entry in await desk.store.history(A, limit=9)]
        assert stored == (["2", "1"] if when == "committed" else ["1"])
        assert await desk.store.count_waiting() == (1 if when == "committed" else 0)
        assert await desk.store.check() == []


@pytest.mark.parametrize("when", ["begun", "written", "committed"])
async def test_T72_a_rendering_is_written_wholly_or_given_again(tmp_path: Path, when: str) -> None:
    await killed(tmp_path, when, "render")

    desk = await Desk.at(tmp_path)
    async with desk.store:
        if when != "committed":
            assert await desk.alerts() == []
            assert len([row async for row in await desk.store.table_rows()]) == 2
            await desk.render(A)
        assert len(await desk.alerts()) == 1
        assert len(await desk.store.due_deliveries("ops", NOW, limit=9)) == 1
        assert len([row async for row in await desk.store.table_rows()]) == 1
        assert await desk.store.check() == []


@pytest.mark.parametrize("when", ["begun", "written", "committed"])
async def test_T72_renderings_of_one_transaction_are_all_written_or_all_given_again(tmp_path: Path, when: str) -> None:
    await killed(tmp_path, when, "renderings")

    desk = await Desk.at(tmp_path)
    async with desk.store:
        if when != "committed":
            assert await desk.alerts() == []
            for url in (A, B):
                await desk.render(url)
        assert len(await desk.alerts()) == 2
        assert len(await desk.store.due_deliveries("ops", NOW, limit=9)) == 2
        assert await desk.store.check() == []


async def test_a_killed_holder_lets_go_of_its_lock(tmp_path: Path) -> None:
    await killed(tmp_path, "begun", "check")

    async with await open_store(url_of(tmp_path), engine=True) as store:
        assert await claim_all(store, "engine") is not None


async def test_a_second_engine_is_told_who_holds_the_store(desk: Desk) -> None:
    with pytest.raises(StoreLocked, match=r"tocsin\.db: process \d+ is working on this store"):
        await open_store(url_of(desk.folder), engine=True)


async def test_a_command_writes_beside_a_busy_engine(desk: Desk) -> None:
    await desk.watch(A)

    async def engine() -> None:
        for number in range(60):
            await desk.check(A, f"{number}")

    async def command() -> None:
        async with await open_store(url_of(desk.folder), engine=False) as other:
            for number in range(60):
                await other.add_pages([new_page(f"https://h{number}.example/")], NOW)

    async with asyncio.TaskGroup() as group:
        group.create_task(engine(), name="engine")
        group.create_task(command(), name="command")

    assert len(await desk.agenda()) == 61
    assert len(await desk.store.history(A, limit=99)) == 60


async def test_an_edit_during_a_check_is_not_lost(desk: Desk) -> None:
    (page_id,) = await desk.watch(A, text="before")
    under_way = desk.result(await desk.task(A), "1")
    async with await open_store(url_of(desk.folder), engine=False) as other:
        await other.edit_pages(
            [page_id], NOW, settings={"tries": 0}, unset=[], paused=None, group="news", text="after", clear_text=False
        )

    await desk.store.commit(desk.claim, [under_way])

    page = await desk.page(A)
    assert (page.text, page.group, page.settings, page.state.fields is not None) == (
        "after",
        "news",
        {"tries": 0},
        True,
    )


async def test_who_is_cancelled_while_it_waits_leaves_whole_work_behind(desk: Desk) -> None:
    await desk.watch(A, B)
    results = [desk.result(task, "1") for task in await desk.due()]

    async with asyncio.TaskGroup() as group:
        commit = group.create_task(desk.store.commit(desk.claim, results), name="commit")
        group.create_task(cancel(commit), name="cancel")

    # Written after whatever was under way.
    await desk.store.set_channels([])
    assert len({(await desk.page(url)).state.fields for url in (A, B)}) == 1


async def cancel(task: asyncio.Task[object]) -> None:
    """Cancel a task once it waits."""
    task.cancel()
