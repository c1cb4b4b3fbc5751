"""Settings in the store that nothing can use, as another program may have written them: other pages go on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.contract.desk import DAY, HOUR, NOW, A, B, Desk
from tocsin.engine.policies import Policies
from tocsin.errors import SettingsError
from tocsin.model import CheckOutcome, CheckReport, JsonObject, PageFilter
from tocsin.settings import PageSettings


async def put(desk: Desk, url: str, settings: JsonObject) -> None:
    """Write settings that no command would take."""
    page = await desk.page(url)
    await desk.store.edit_pages(
        [page.id], desk.now, settings=settings, unset=(), paused=None, group=None, text=None, clear_text=False
    )


def write(desk: Desk, statement: str, text: str) -> None:
    """Write settings by hand, beside the engine."""
    desk.behind.alter("update store set revision = revision + 1")
    assert desk.behind.alter(statement, text) == 1


BY_HAND = ["every = 1h", "{'every': '1h'}", "[1]", '"6h"', "null", "{"]


@pytest.mark.parametrize("text", BY_HAND)
async def test_settings_written_by_hand_that_are_no_object_hold_their_own_page_alone(desk: Desk, text: str) -> None:
    await desk.watch(A, B)
    write(desk, f"update pages set settings = ? where url = '{A}'", text)  # noqa: S608 - ours

    tasks = {url: await desk.task(url) for url in (A, B)}
    await desk.store.commit(desk.claim, [desk.result(tasks[B])])

    with pytest.raises(SettingsError, match=r"settings of the page: no JSON object: .*watch set .* --unset unreadable"):
        Policies(PageSettings()).of(tasks[A])
    assert Policies(PageSettings()).of(tasks[B]) == PageSettings()
    assert {page.url for page in await desk.store.pages(PageFilter())} == {A, B}


@pytest.mark.parametrize("text", BY_HAND)
@pytest.mark.parametrize("statement", ["update groups set settings = ? where id = 1", "update store set settings = ?"])
async def test_settings_of_a_group_or_of_all_that_are_no_object_are_told_for_their_pages(
    desk: Desk, statement: str, text: str
) -> None:
    await desk.watch(A)
    write(desk, statement, text)
    policies = Policies(PageSettings())
    await policies.load(desk.store)

    with pytest.raises(SettingsError, match=r"no JSON object: .*watch set --(all|group main) --unset unreadable"):
        policies.of(await desk.task(A))


@pytest.mark.parametrize("text", BY_HAND)
async def test_a_launch_and_a_look_at_modes_and_intervals_go_on_beside_settings_that_are_no_object(
    desk: Desk, text: str
) -> None:
    await desk.watch(A, B)
    tasks = [await desk.task(url) for url in (A, B)]
    desk.now = NOW - 2 * DAY
    await desk.store.commit(desk.claim, [desk.result(task, next_at=NOW - DAY) for task in tasks])
    desk.now = NOW
    write(desk, f"update pages set settings = ? where url = '{A}'", text)  # noqa: S608 - ours

    moved = await desk.store.spread_overdue(desk.claim, NOW, at_launch=timedelta(hours=1), cron="")
    await find_off(desk)
    await desk.store.wake_off(NOW, mode="on")

    assert moved == 2


async def test_settings_that_are_no_object_are_mended_by_the_command_that_is_told(desk: Desk) -> None:
    await desk.watch(A)
    write(desk, "update pages set settings = ?", "every = 1h")
    page = await desk.page(A)
    assert page.settings == {"unreadable": "every = 1h"}

    await desk.edit(page.id, settings={"every": "6h"}, unset=("unreadable",))

    assert (await desk.page(A)).settings == {"every": "6h"}


async def find_off(desk: Desk) -> None:
    """Commit a check that found the page off, as its settings said when it began."""
    report = CheckReport(A, CheckOutcome.SKIPPED, problem="off")
    off = desk.failed(await desk.task(A), report=report, failure=None, next_at=None, next_why="off")
    await desk.store.commit(desk.claim, [off])


@pytest.mark.parametrize("written", ["soon", "9999999999999d", "999999999d", 5, ["1h"], {"hours": 1}])
async def test_T63_a_launch_goes_on_whatever_a_page_says_of_launches(desk: Desk, written: object) -> None:
    await desk.watch(A, B)
    tasks = [await desk.task(url) for url in (A, B)]
    desk.now = NOW - 2 * DAY
    await desk.store.commit(desk.claim, [desk.result(task, next_at=NOW - DAY) for task in tasks])
    desk.now = NOW
    await put(desk, A, {"at_launch": written})

    moved = await desk.store.spread_overdue(desk.claim, NOW, at_launch=timedelta(hours=1), cron="")

    assert moved == 2


@pytest.mark.parametrize("written", ["bogus", 3])
async def test_T52_a_page_whose_own_mode_is_none_stays_off_where_the_next_level_says_so(
    desk: Desk, written: object
) -> None:
    await desk.watch(A)
    await desk.store.wake_off(NOW, mode="off")
    await put(desk, A, {"mode": written})

    await find_off(desk)

    page = await desk.page(A)
    assert (page.due.at, page.due.why) == (None, "off")


async def test_T52_a_page_that_is_turned_on_while_it_is_found_off_is_looked_at_again(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.wake_off(NOW, mode="off")
    await put(desk, A, {"mode": "auto"})

    await find_off(desk)

    due = (await desk.page(A)).due.at
    assert due is not None
    assert due < NOW + HOUR


@pytest.mark.parametrize(
    "damage",
    [
        "update states set fields = x'c1' where page_id = (select id from pages where url = ?)",
        "update states set fields = x'' where page_id = (select id from pages where url = ?)",
        "delete from states where page_id = (select id from pages where url = ?)",
        "update pages set attempts = '{' where url = ?",
        "update pages set rule = '[' where url = ?",
        "update pages set secrets = '{}' where url = ?",
    ],
)
async def test_a_damaged_row_holds_its_page_and_no_other(database: str, tmp_path: Path, damage: str) -> None:
    desk = await Desk.at(tmp_path, database)
    try:
        await desk.watch(A, B)
        for url in (A, B):
            await desk.check(url)
        desk.now += 2 * DAY
        write(desk, damage, A)

        tasks = {url: await desk.task(url) for url in (A, B)}
        await desk.store.commit(desk.claim, [desk.result(tasks[B])])

        with pytest.raises(SettingsError, match="what is stored of this page is damaged; see: tocsin store check"):
            Policies(PageSettings()).of(tasks[A])
        assert Policies(PageSettings()).of(tasks[B]) == PageSettings()
        assert {page.url for page in await desk.store.pages(PageFilter())} == {A, B}
    finally:
        await desk.store.close()
