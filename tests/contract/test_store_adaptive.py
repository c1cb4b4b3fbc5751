"""Adaptive checking in the store: what is known of a page's pace is kept, and schedules follow its settings."""

from __future__ import annotations

import pytest

from tests.contract.desk import DAY, HOUR, NOW, A, Desk
from tocsin.model import JsonObject, PageFilter, PageKnowledge
from tocsin.model.knowledge import ChangePace

PACE = ChangePace(checks=12.5, found=3.25, found_s=86_400.5, dated=1.0, quiet_s=1e6)
WHY = "adaptive: changed in 5 of 40 checks, about every 4d; every 2d"


async def next_at(desk: Desk) -> int:
    found = (await desk.page(A)).due.at
    assert found is not None
    return found


async def watched_until(desk: Desk, at: int, settings: JsonObject) -> int:
    (page_id,) = await desk.watch(A, settings=settings)
    await desk.check(A, next_at=at)
    return page_id


async def test_the_pace_of_a_page_comes_back_with_its_next_check(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, known=PageKnowledge("", {}, pace=PACE))

    (task,) = await desk.due()

    assert task.beside is not None
    assert task.beside.known == PageKnowledge("", {}, pace=PACE)


async def test_the_reason_of_an_adaptive_check_is_listed_in_words(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, next_why=WHY)

    assert [page.due.why for page in await desk.store.pages(PageFilter())] == [WHY]


async def test_that_a_page_is_to_be_adaptive_moves_nothing(desk: Desk) -> None:
    page_id = await watched_until(desk, NOW + 20 * HOUR, {})

    await desk.edit(page_id, settings={"adaptive": True, "every_min": "1h"})

    assert await next_at(desk) == NOW + 20 * HOUR


@pytest.mark.parametrize("is_unset", [True, False])
async def test_a_page_that_is_no_longer_adaptive_is_due_soon(desk: Desk, *, is_unset: bool) -> None:
    page_id = await watched_until(desk, NOW + 29 * DAY, {"adaptive": True})

    if is_unset:
        await desk.edit(page_id, unset=("adaptive",))
    else:
        await desk.edit(page_id, settings={"adaptive": False})

    assert await next_at(desk) < NOW + HOUR


async def test_a_lower_bound_of_rareness_holds_at_once(desk: Desk) -> None:
    page_id = await watched_until(desk, NOW + 29 * DAY, {"adaptive": True})

    await desk.edit(page_id, settings={"every_max": "7d"})

    assert await next_at(desk) < NOW + 7 * DAY


async def test_what_a_page_has_of_its_own_stands_above_what_its_group_says(desk: Desk) -> None:
    await watched_until(desk, NOW + 29 * DAY, {"adaptive": True})

    await desk.store.edit_group("main", NOW, settings={"adaptive": False}, unset=[])

    assert await next_at(desk) == NOW + 29 * DAY
