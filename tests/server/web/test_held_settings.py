"""Settings in the store that cannot be used: every page is shown all the same, and the form mends what it has."""

from __future__ import annotations

import pytest

from tests.server.web.busy import NEWS
from tests.server.web.visiting import Visitor, tree
from tocsin.model import JsonObject

REFUSED: JsonObject = {
    "every": [1], "cron": 3, "mode": {"a": 1}, "proxy": 7, "headers": "A: b", "colour": "<red>", "tries": -1,
    "signal_rules": "none", "look_at": ["main >>> p["], "adaptive": "soon", "report": {},
}  # fmt: skip


async def write(visitor: Visitor, level: str, settings: JsonObject) -> int:
    """Write settings that no form would take, as an older version may have; returns the page's number."""
    page = await visitor.store.page(NEWS)
    assert page is not None
    if level == "page":
        await visitor.store.edit_pages(
            [page.id], 1, settings=settings, unset=(), paused=None, group=None, text=None, clear_text=False
        )
    else:
        await visitor.store.edit_group(page.group if level == "group" else None, 1, settings=settings, unset=())
    return page.id


@pytest.mark.parametrize("level", ["page", "group", "all pages"])
async def test_every_page_that_shows_settings_is_shown(visitor: Visitor, level: str) -> None:
    number = await write(visitor, level, REFUSED)
    page = await visitor.store.page(NEWS)
    assert page is not None

    paths = [
        "/pages", "/activity", "/settings", f"/settings/group?name={page.group}", f"/pages/{number}",
        f"/pages/{number}/settings", "/api/v1/pages", f"/api/v1/pages/{number}", "/api/v1/groups",
        "/settings/groups", "/settings/force", "/settings/audit", "/api/v1/settings/pages", "/api/v1/settings",
    ]  # fmt: skip
    shown = [await visitor.get(path) for path in paths]

    assert all(shown)


async def test_the_settings_of_a_page_that_is_held_say_why_and_how_to_mend_it(visitor: Visitor) -> None:
    number = await write(visitor, "page", {"colour": "<red>", "tries": -1})
    (held,) = tree(await visitor.get(f"/pages/{number}/settings")).xpath("//*[@id='held']")
    await visitor.store.edit_pages(
        [number], 1, settings={}, unset=("colour", "tries"), paused=None, group=None, text=None, clear_text=False
    )
    mended = tree(await visitor.get(f"/pages/{number}/settings"))

    said = " ".join(held.text_content().split())
    assert all(word in said for word in ("colour", "tries", "--unset"))
    assert not mended.xpath("//*[@id='held']")


async def test_the_command_that_mends_it_is_whole_however_long_the_address_is(visitor: Visitor) -> None:
    url = f"https://news.example/{'long/' * 200}"
    async with visitor.rig.asking() as program:
        await program.post("/api/v1/pages", json=[{"url": url}])
    page = await visitor.store.page(url)
    assert page is not None
    await visitor.store.edit_pages(
        [page.id], 1, settings={"tries": -1}, unset=(), paused=None, group=None, text=None, clear_text=False
    )

    (held,) = tree(await visitor.get(f"/pages/{page.id}/settings")).xpath("//*[@id='held']")

    assert f"tocsin watch set {url} --unset tries" in held.text_content()


async def test_the_form_of_a_page_mends_what_it_has_a_field_for(visitor: Visitor) -> None:
    number = await write(visitor, "page", {"every": "0s"})
    path = f"/pages/{number}/settings"
    (revision,) = tree(await visitor.get(path)).xpath("//input[@name='revision']/@value")

    await visitor.done(path, revision=revision, every="")

    page = await visitor.store.page(NEWS)
    assert page is not None
    assert "every" not in page.settings


@pytest.mark.parametrize("level", ["group", "all pages"])
async def test_a_setting_that_this_version_does_not_know_can_be_let_go(visitor: Visitor, level: str) -> None:
    number = await write(visitor, level, {"colour": "<red>"})
    page = await visitor.store.page_by_id(number)
    assert page is not None

    await visitor.done("/settings/unset", key="colour", group=page.group if level == "group" else "")

    for_all, groups = await visitor.store.overrides()
    assert all("colour" not in own for own in (for_all, *(own for _, own in groups.values())))


async def test_a_program_lets_a_setting_go_that_this_version_does_not_know(visitor: Visitor) -> None:
    number = await write(visitor, "page", {"colour": "<red>", "mode": "on"})
    path = f"/api/v1/pages/{number}"
    async with visitor.rig.asking() as program:
        held = {"If-Match": (await program.get(path)).headers["etag"]}
        refused = await program.patch(path, json={"unset": ["color"]}, headers=held)
        done = await program.patch(path, json={"unset": ["colour"]}, headers=held)

    page = await visitor.store.page_by_id(number)
    assert page is not None
    assert (refused.status_code, "color" in refused.json()["detail"]) == (422, True)
    assert (done.status_code, page.settings) == (200, {"mode": "on"})
