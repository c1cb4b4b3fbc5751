"""The watch list: adding, editing, filtering, removing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, A, B, C, Desk, new_page
from tocsin.adapters.stores.sql.values import HOUR_US, spread_at, window_us
from tocsin.errors import NotWatched
from tocsin.model import Instruction, PageFilter

EVERYTHING = PageFilter()


async def edit(desk: Desk, *urls: str, **changes: Any) -> int:
    """Edit these pages."""
    ids = [(await desk.page(url)).id for url in urls]
    whole: dict[str, Any] = {
        "settings": {},
        "unset": (),
        "paused": None,
        "group": None,
        "text": None,
        "clear_text": False,
    }
    return await desk.store.edit_pages(ids, desk.now, **(whole | changes))


async def urls(desk: Desk, which: PageFilter) -> list[str]:
    """The URLs that a filter means; the count must agree."""
    found = [page.url for page in await desk.store.pages(which)]
    assert await desk.store.count_pages(which) == len(found)
    return found


async def test_a_url_that_is_watched_already_is_not_added_again(desk: Desk) -> None:
    (first,) = await desk.watch(A)

    added = await desk.store.add_pages([new_page(A), new_page(B), new_page(B)], NOW)

    assert added == [None, first + 1, None]


async def test_an_id_is_never_used_again(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await desk.store.remove_pages([page_id])

    assert await desk.watch(A) == [page_id + 1]


async def test_a_page_is_listed_as_it_was_added(desk: Desk) -> None:
    await desk.watch(A, given="HTTPS://One.example/a", text="Anna's", group="news", secrets=("user", "pass"))

    page = await desk.page(A)

    assert (page.given, page.host, page.group, page.text, page.has_secrets) == (
        "HTTPS://One.example/a",
        "one.example",
        "news",
        "Anna's",
        True,
    )
    assert (page.paused, page.state.fields) == (False, None)


async def test_filters_hold_together(desk: Desk) -> None:
    await desk.watch(A, B, C)
    await edit(desk, B, group="news", paused=True)
    await desk.check(A, "2026")
    await desk.check(C)

    assert await urls(desk, EVERYTHING) == [A, B, C]
    assert await urls(desk, PageFilter(urls=(C, "https://unknown.example/"))) == [C]
    assert await urls(desk, PageFilter(host="one.example")) == [A, B]
    assert await urls(desk, PageFilter(group="news")) == [B]
    assert await urls(desk, PageFilter(matching="e/a")) == [A]
    assert await urls(desk, PageFilter(outcome="first")) == [A, C]
    assert await urls(desk, PageFilter(paused=True)) == [B]
    assert await urls(desk, PageFilter(paused=False, host="one.example")) == [A]
    assert await urls(desk, PageFilter(topper=True)) == [A]
    assert await urls(desk, PageFilter(urls=())) == []


async def test_pages_are_listed_piece_by_piece(desk: Desk) -> None:
    await desk.watch(A, B, C)

    first = await desk.store.pages(EVERYTHING, limit=2)
    rest = await desk.store.pages(EVERYTHING, after_id=first[-1].id, limit=2)

    assert [page.url for page in [*first, *rest]] == [A, B, C]


async def test_removing_a_page_removes_all_that_is_stored_of_it(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await desk.check(A, "1")
    await desk.check(A, "2")

    assert await desk.store.remove_pages([page_id, 99]) == 1

    assert await desk.store.page(A) is None
    assert await desk.store.count_waiting() == 0
    assert [row async for row in await desk.store.table_rows()] == []
    with pytest.raises(NotWatched, match="watch add"):
        await desk.store.history(A, limit=1)


async def test_settings_are_merged_and_unset_ones_inherit_again(desk: Desk) -> None:
    await desk.watch(A)
    await edit(desk, A, settings={"every": "1h", "tries": 5})

    assert await edit(desk, A, settings={"tries": 1}, unset=["every"]) == 1

    assert (await desk.page(A)).settings == {"tries": 1}


async def test_T24_a_text_can_be_set_and_deleted(desk: Desk) -> None:
    await desk.watch(A)
    await edit(desk, A, text="For Anna")
    assert (await desk.page(A)).text == "For Anna"

    await edit(desk, A, clear_text=True)

    assert (await desk.page(A)).text is None


async def test_a_shorter_interval_brings_the_next_check_forward(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, next_at=NOW + 20 * HOUR)

    await edit(desk, A, settings={"every": "1h"})

    assert NOW <= ((await desk.page(A)).due.at or 0) < NOW + HOUR


async def test_a_longer_interval_does_not_put_the_next_check_off(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, next_at=NOW + MINUTE)

    await edit(desk, A, settings={"every": "7d"})

    assert (await desk.page(A)).due.at == NOW + MINUTE


async def test_a_longer_interval_brings_no_check_forward(desk: Desk) -> None:
    watched = [f"https://one.example/{number}" for number in range(64)]
    await desk.watch(*watched)
    due = {}
    for number, task in enumerate(await desk.due()):
        due[task.url] = NOW + (number + 1) * 5 * MINUTE
        await desk.store.commit(desk.claim, [desk.result(task, next_at=due[task.url], next_why="every 6h")])

    await desk.store.edit_group("main", NOW, settings={"every": "24h"}, unset=())
    await edit(desk, *watched, settings={"every": "7d"})

    assert {url: (await desk.page(url)).due.at for url in watched} == due


@pytest.mark.parametrize(
    ("settings", "unset"),
    [({"cron": "0 6 * * *"}, ["every"]), ({}, ["every"]), ({}, ["cron"]), ({"mode": "auto"}, [])],
    ids=["cron", "every-unset", "cron-unset", "mode"],
)
async def test_after_an_edit_whose_interval_only_a_check_knows_one_check_comes_soon(
    desk: Desk, settings: dict[str, Any], unset: list[str]
) -> None:
    """The store knows no configuration, and no time zone: the check plans the next one by the settings in force."""
    await desk.watch(A, B)
    for url, due in ((A, NOW + DAY), (B, NOW)):
        await desk.check(url, next_at=due)
    page_id = (await desk.page(A)).id

    await edit(desk, A, B, settings=settings, unset=unset)

    page, other = await desk.page(A), await desk.page(B)
    assert (page.due.at, page.due.why) == (spread_at(page_id, NOW, window_us(2)), "its schedule was changed")
    assert other.due.at == NOW


async def test_the_checks_that_such_an_edit_brings_are_spread_by_all_that_it_is_for(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, next_at=NOW + DAY)

    await edit(desk, A, unset=["every"], of=1_000_000)

    page = await desk.page(A)
    assert page.due.at == spread_at(page.id, NOW, HOUR_US)


async def test_after_a_shorter_interval_no_check_comes_later_than_it_allows(desk: Desk) -> None:
    desk.now = NOW - 2 * HOUR
    await desk.watch(A, B)
    for url, ago in ((A, 2 * HOUR), (B, HOUR)):
        desk.now = NOW - ago
        await desk.check(url, next_at=NOW + DAY)

    await desk.store.edit_group("main", NOW, settings={"every": "3h"}, unset=())

    assert NOW <= ((await desk.page(A)).due.at or 0) <= NOW + HOUR
    assert NOW <= ((await desk.page(B)).due.at or 0) <= NOW + 2 * HOUR


@pytest.mark.parametrize("why", ["the page's refresh of 604800 s", "adaptive: changed in 0 of 9 checks; every 7d"])
async def test_an_interval_moves_no_page_that_is_due_for_another_reason(desk: Desk, why: str) -> None:
    await desk.watch(A)
    await desk.check(A, next_at=NOW + 7 * DAY, next_why=why)

    await edit(desk, A, settings={"every": "12h"})

    assert (await desk.page(A)).due.at == NOW + 7 * DAY


async def test_off_is_not_due_and_on_again_is(desk: Desk) -> None:
    await desk.watch(A)
    await edit(desk, A, settings={"mode": "off"})
    assert ((await desk.page(A)).due.at, (await desk.page(A)).due.why) == (None, "off")

    await edit(desk, A, settings={"mode": "on"})

    assert (await desk.page(A)).due.at == pytest.approx(NOW, abs=MINUTE)


async def test_T60_turning_a_page_off_and_on_lifts_no_rule(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A)
    await desk.store.answer(1, Instruction("never"), scope="page", url=None, now=NOW)

    for settings in ({"mode": "off"}, {"mode": "on"}, {"every": "1h"}):
        await edit(desk, A, settings=settings)
    await desk.store.edit_group("main", NOW, settings={"mode": "auto"}, unset=[])

    page = await desk.page(A)
    assert (page.due.at, page.due.why) == (None, "never (standing answer 1)")


async def test_T54_a_group_that_is_on_again_takes_along_pages_with_an_interval_of_their_own(desk: Desk) -> None:
    await desk.watch(A, B)
    await edit(desk, A, settings={"every": "6h"})
    await edit(desk, B, settings={"mode": "off"})
    await desk.store.edit_group("main", NOW, settings={"mode": "off"}, unset=[])
    await desk.check(A, next_at=None, next_why="off")

    await desk.store.edit_group("main", NOW, settings={}, unset=["mode"])

    assert (await desk.page(A)).due.at == pytest.approx(NOW, abs=MINUTE)
    assert (await desk.page(B)).due.at is None


async def test_T54_a_groups_interval_wakes_nothing_that_is_off(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.edit_group("main", NOW, settings={"mode": "off"}, unset=[])
    await desk.check(A, next_at=None, next_why="off")

    await desk.store.edit_group("main", NOW, settings={"every": "1h"}, unset=[])

    assert (await desk.page(A)).due.at is None


async def test_T54_a_page_that_is_moved_out_of_a_group_that_is_off_is_due_again(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.edit_group("main", NOW, settings={"mode": "off"}, unset=[])
    await desk.check(A, next_at=None, next_why="off")

    await edit(desk, A, group="news")

    assert (await desk.page(A)).due.at == pytest.approx(NOW, abs=MINUTE)


async def test_a_page_on_hold_stays_held_when_its_interval_changes(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A, next_at=NOW + 20 * HOUR, next_why="held: Retry-After")

    await edit(desk, A, settings={"every": "1h"})

    assert (await desk.page(A)).due.at == NOW + 20 * HOUR


async def test_what_became_due_during_a_pause_is_spread(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, next_at=NOW + HOUR)
    await edit(desk, A, paused=True)
    desk.now += DAY

    await edit(desk, A, paused=False)

    page = await desk.page(A)
    assert not page.paused
    assert page.due.at == pytest.approx(desk.now, abs=MINUTE)


async def test_a_groups_interval_moves_the_pages_that_inherit_it(desk: Desk) -> None:
    await desk.watch(A, B, C)
    for url in (A, B, C):
        await desk.check(url, next_at=NOW + 20 * HOUR)
    await edit(desk, A, settings={"every": "24h"})
    await edit(desk, C, group="other")
    before = (await desk.page(A)).due.at

    await desk.store.edit_group("main", NOW, settings={"every": "1h"}, unset=[])

    assert (await desk.page(A)).due.at == before
    assert ((await desk.page(B)).due.at or 0) < NOW + HOUR
    assert (await desk.page(C)).due.at == NOW + 20 * HOUR


async def test_what_is_set_at_run_time_is_read_back(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.edit_group("news", NOW, settings={"tell": "major", "tries": 4}, unset=[])
    await desk.store.edit_group("news", NOW, settings={}, unset=["tries"])
    await desk.store.edit_group(None, NOW, settings={"mode": "auto"}, unset=[])

    for_all, groups = await desk.store.overrides()

    assert for_all == {"mode": "auto"}
    assert dict(groups.values()) == {"main": {}, "news": {"tell": "major"}}
    assert await desk.store.groups() == [("main", 1, {}), ("news", 0, {"tell": "major"})]


async def test_a_long_list_is_added_in_short_transactions(desk: Desk) -> None:
    many = [new_page(f"https://h{number % 50}.example/{number}") for number in range(2500)]

    added = await desk.store.add_pages(many, NOW)

    assert added == list(range(1, 2501))
    assert await desk.store.count_pages(EVERYTHING) == 2500
