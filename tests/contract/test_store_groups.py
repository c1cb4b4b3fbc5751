"""Groups are made with their first page, and stay until the user removes them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.desk import NOW, A, Desk
from tocsin.errors import UsageError
from tocsin.model import PageFilter


async def names(desk: Desk) -> list[str]:
    return [row.name for row in await desk.store.group_rows()]


async def test_a_group_without_pages_is_removed_with_what_is_set_for_it(desk: Desk) -> None:
    (page_id,) = await desk.watch(A, group="news")
    await desk.store.edit_group("news", NOW, settings={"every": "6h"}, unset=())
    await desk.store.remove_pages([page_id])

    assert await desk.store.remove_group("news")

    assert await names(desk) == ["main"]
    await desk.watch(A, group="papers")
    assert [settings for _, settings in (await desk.store.overrides())[1].values()] == [{}, {}]


async def test_a_group_with_pages_stays(desk: Desk) -> None:
    await desk.watch(A, group="news")

    assert not await desk.store.remove_group("news")

    assert await names(desk) == ["main", "news"]


@pytest.mark.parametrize("name", ["main", "none"])
async def test_the_first_group_stays_and_another_must_be_there(desk: Desk, name: str) -> None:
    assert not await desk.store.remove_group(name)

    assert await names(desk) == ["main"]


async def test_two_groups_never_differ_only_in_capitals(desk: Desk) -> None:
    (page_id,) = await desk.watch(A, group="Offers")
    move: dict[str, Any] = {"settings": {}, "unset": (), "paused": None, "text": None, "clear_text": False}

    for attempt in (
        desk.watch(f"{A}b", group="offers"),
        desk.store.edit_pages([page_id], NOW, group="OFFERS", **move),
        desk.store.edit_group("offerS", NOW, settings={"every": "6h"}, unset=()),
    ):
        with pytest.raises(UsageError, match="the group Offers differs only in capitals; write Offers"):
            await attempt

    assert await names(desk) == ["Offers", "main"]
    assert await desk.store.count_pages(PageFilter()) == 1


async def test_groups_of_an_older_version_that_differ_in_capitals_stay(desk: Desk) -> None:
    desk.behind.alter("insert into groups (name) values (?), (?)", "Old", "old")

    await desk.watch(A, group="Old")
    await desk.watch(f"{A}b", group="old")

    assert sorted([page.group for page in await desk.store.pages(PageFilter())]) == ["Old", "old"]


async def test_a_group_of_an_older_version_in_another_form_of_Unicode_is_the_same_group(desk: Desk) -> None:
    desk.behind.alter("insert into groups (name, settings) values (?, ?)", "cafe\u0301", '{"every": "6h"}')

    await desk.watch(A, group="caf\u00e9")

    assert await names(desk) == ["caf\u00e9", "main"]
    assert {"every": "6h"} in [own for _, own in (await desk.store.overrides())[1].values()]
