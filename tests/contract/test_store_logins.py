"""Cookies of a login are kept for a page until they are replaced, cleared, or of no more use."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.desk import A, B, Desk
from tocsin.model import KeptLogin

COOKIES = KeptLogin('[{"name": "session"}]', 1_000_000)


async def test_cookies_are_kept_by_page_and_replaced(desk: Desk) -> None:
    page, other = await desk.watch(A, B)
    assert await desk.store.login(page) is None

    await desk.store.keep_login(page, COOKIES)
    await desk.store.keep_login(page, later := KeptLogin("[]", 2_000_000))

    assert await desk.store.login(page) == later
    assert await desk.store.login(other) is None


async def test_cookies_are_cleared_on_command(desk: Desk) -> None:
    page, other = await desk.watch(A, B)
    await desk.store.keep_login(page, COOKIES)

    assert await desk.store.forget_logins([page, other]) == 1
    assert await desk.store.login(page) is None


@pytest.mark.parametrize(
    ("edit", "is_kept"),
    [
        ({"settings": {"secrets": {"USER": "ada"}}}, False),
        ({"settings": {"steps": ["scroll"]}}, False),
        ({"unset": ["steps"]}, False),
        ({"settings": {"every": "6h"}}, True),
    ],
)
async def test_an_edit_of_steps_or_secrets_clears_them(desk: Desk, edit: dict[str, object], *, is_kept: bool) -> None:
    (page,) = await desk.watch(A)
    await desk.store.keep_login(page, COOKIES)

    await desk.edit(page, **edit)

    assert (await desk.store.login(page) is not None) == is_kept


@pytest.mark.parametrize(
    ("edit", "is_kept"),
    [
        ({"settings": {"steps": ["scroll"]}}, False),
        ({"unset": ["secrets"]}, False),
        ({"settings": {"every": "6h"}}, True),
    ],
)
@pytest.mark.parametrize("group", ["shops", None])
async def test_an_edit_of_steps_or_secrets_of_a_group_or_of_all_clears_those_of_its_pages(
    desk: Desk, group: str | None, edit: dict[str, Any], *, is_kept: bool
) -> None:
    page, other = await desk.watch(A, B)
    await desk.edit(page, group="shops")
    for each in (page, other):
        await desk.store.keep_login(each, COOKIES)

    await desk.store.edit_group(group, desk.now, **({"settings": {}, "unset": []} | edit))

    assert (await desk.store.login(page) is not None) == is_kept
    # A page of another group keeps its own, unless all are meant.
    assert (await desk.store.login(other) is not None) == (is_kept or group is not None)


async def test_a_page_that_comes_to_another_group_logs_in_anew(desk: Desk) -> None:
    (page,) = await desk.watch(A)
    await desk.store.keep_login(page, COOKIES)

    await desk.edit(page, group="shops")

    assert await desk.store.login(page) is None


async def test_a_page_that_is_removed_takes_its_cookies_along(desk: Desk) -> None:
    (page,) = await desk.watch(A)
    await desk.store.keep_login(page, COOKIES)

    await desk.store.remove_pages([page])
    await desk.store.keep_login(page, COOKIES)

    assert await desk.store.login(page) is None
