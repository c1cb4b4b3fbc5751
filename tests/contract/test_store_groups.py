"""Groups that come with their first page, and go when somebody says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.contract.desk import NOW, A

if TYPE_CHECKING:
    from tests.contract.desk import Desk


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
