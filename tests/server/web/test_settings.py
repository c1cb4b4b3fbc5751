"""Settings: what holds for all pages and for groups, tokens, and who may do what."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.web.busy import NEWS
from tests.server.web.visiting import Visitor, told, tree, undo_of
from tocsin.model import AlertQuery, Scope


async def for_all(visitor: Visitor) -> dict[str, Any]:
    return (await visitor.store.overrides())[0]


async def test_T52_everything_is_switched_off_and_on_with_one_click(visitor: Visitor) -> None:
    text = await visitor.done("/settings/mode", mode="off")

    assert (await for_all(visitor))["mode"] == "off"
    assert told(text).startswith("For all pages: check nothing.")
    path, fields = undo_of(text)
    await visitor.done(path, **fields)
    assert (await for_all(visitor))["mode"] == "on"


async def revision(visitor: Visitor, path: str = "/settings") -> str:
    (found,) = tree(await visitor.get(path)).xpath("//input[@name='revision']/@value")
    return str(found)


async def test_T54_what_holds_for_all_pages_is_set(visitor: Visitor) -> None:
    text = await visitor.done("/settings/pages", revision=await revision(visitor), tell="major", every="6h")

    assert told(text) == "Set for all pages: Report, Interval."
    assert await for_all(visitor) == {"tell": "major", "every": "6h"}


async def test_T54_what_holds_for_a_group_is_set(visitor: Visitor) -> None:
    number = await revision(visitor, "/settings/group?name=the+city")

    await visitor.done("/settings/pages", revision=number, group="the city", tries="5")

    rows = {row.name: row.settings for row in await visitor.store.group_rows()}
    assert rows["the city"] == {"tries": 5}


async def test_what_cannot_be_set_is_refused_beside_its_field_and_kept(visitor: Visitor) -> None:
    answer = await visitor.post("/settings/pages", revision=await revision(visitor), every="<b>now", tries="4")

    page = tree(answer.text)
    assert answer.status_code == 422
    assert page.xpath("//input[@name='every']/@value") == ["<b>now"]
    assert page.xpath("//input[@name='tries']/@value") == ["4"]
    assert page.xpath("//input[@name='every']/@aria-invalid") == ["true"]
    assert await for_all(visitor) == {}


async def test_an_edit_that_was_made_meanwhile_is_not_lost(visitor: Visitor) -> None:
    old = await revision(visitor)
    await visitor.done("/settings/pages", revision=old, every="6h")

    answer = await visitor.post("/settings/pages", revision=old, every="9h", tries="4")

    assert answer.status_code == 409
    assert "Another person changed these settings meanwhile" in answer.text
    assert await for_all(visitor) == {"every": "6h"}
    (again,) = tree(answer.text).xpath("//input[@name='revision']/@value")
    await visitor.done("/settings/pages", revision=again, every="9h", tries="4")
    assert await for_all(visitor) == {"every": "9h", "tries": 4}


@pytest.mark.parametrize("made_up", ["", "x", "-1", "9" * 40])
async def test_a_made_up_revision_is_an_old_one(visitor: Visitor, made_up: str) -> None:
    assert (await visitor.post("/settings/pages", revision=made_up, every="9h")).status_code == 409


async def test_a_group_that_there_is_not_cannot_be_set(visitor: Visitor) -> None:
    await visitor.get("/settings/group?name=nobody", status=404)
    assert (await visitor.post("/settings/pages", revision="0", group="nobody", tries="1")).status_code == 404


async def test_a_token_is_shown_once_and_its_digest_kept(visitor: Visitor) -> None:
    answer = await visitor.post("/settings/access/tokens", name="phone", scope="admin", expires="90d")

    (secret,) = tree(answer.text).xpath("//input[@id='secret']/@value")
    async with visitor.rig.asking(secret) as client:
        listed = await client.get("/settings/access")
        audit = await client.get("/settings/audit")
    assert "phone" in listed.text
    assert secret not in listed.text + audit.text
    assert "token.add" in audit.text


async def test_the_audit_log_shows_values_as_users_write_them(visitor: Visitor) -> None:
    await visitor.done("/settings/mode", mode="off")

    shown = tree(await visitor.get("/settings/audit")).xpath("string(//tbody/tr[1])")
    assert 'mode = "off"' in shown
    assert "{'" not in shown


async def test_a_refused_token_keeps_what_was_typed(visitor: Visitor) -> None:
    answer = await visitor.post("/settings/access/tokens", name="x" * 90, scope="write", expires="yesterday")

    page = tree(answer.text)
    assert answer.status_code == 422
    assert page.xpath("//input[@name='name']/@value") == ["x" * 90]
    assert page.xpath("//select[@name='scope']/option[@selected]/@value") == ["write"]
    assert await visitor.store.tokens() == []


async def test_a_token_is_revoked_after_a_question(visitor: Visitor) -> None:
    admin = await visitor.rig.token(Scope.ADMIN)
    await visitor.rig.token(Scope.READ, "old")
    async with visitor.rig.asking(admin) as client:
        asked = await client.post("/settings/access/tokens/revoke", data={"name": "old"})
        await client.post("/settings/access/tokens/revoke", data={"name": "old", "confirmed": "yes"})

    assert "Revoke the token old?" in asked.text
    assert {row.name for row in await visitor.store.tokens() if row.revoked_at is None} == {"admin"}


@pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE])
async def test_tokens_and_the_audit_log_are_for_administrators(visitor: Visitor, scope: Scope) -> None:
    token = await visitor.rig.token(scope)
    async with visitor.rig.asking(token) as client:
        listed = await client.get("/settings/access")
        assert "Make a token" not in listed.text
        assert (await client.get("/settings/audit")).status_code == 403
        assert (await client.post("/settings/access/tokens", data={"name": "x", "scope": "admin"})).status_code == 403


async def test_a_route_that_is_not_there_is_refused_and_what_was_typed_stays(visitor: Visitor) -> None:
    revision = tree(await visitor.get("/settings")).xpath("//input[@name='revision']/@value")[0]

    answer = await visitor.post("/settings/pages", revision=revision, route="nowhere", every="7h")

    assert answer.status_code == 422
    assert "there is no route" in answer.text
    assert 'value="7h"' in answer.text


async def test_whoever_may_only_read_changes_nothing(visitor: Visitor) -> None:
    token = await visitor.rig.token(Scope.READ)
    forms = {
        "/changes/seen": {"one": "x"},
        "/changes/seen/all": {"up_to": "1"},
        "/questions/1/answer": {"kind": "again"},
        "/questions/standing-answers/1/lift": {},
        "/notifications/channel/test": {"name": "ops"},
        "/activity/dead/replay": {},
        "/settings/mode": {"mode": "off"},
        "/settings/pages": {"revision": "0"},
    }
    async with visitor.rig.asking(token) as client:
        assert {(await client.post(path, data=form)).status_code for path, form in forms.items()} == {403}


@pytest.mark.parametrize("path", ["/changes/seen", "/settings/mode", "/questions/1/answer", "/activity/dead/replay"])
async def test_GHSA_3v57_xv5m_v7m7_a_form_without_its_token_changes_nothing(visitor: Visitor, path: str) -> None:
    headers = {"Origin": "http://localhost:8330"}
    async with visitor.rig.asking() as client:
        answer = await client.post(path, data={"mode": "off", "kind": "never", "csrf": "made up"}, headers=headers)

    assert answer.status_code == 403


@pytest.mark.parametrize("back", ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"])
async def test_CVE_2025_67713_a_form_sends_nobody_elsewhere(visitor: Visitor, back: str) -> None:
    (alert, *_) = (await visitor.store.browse_alerts(AlertQuery())).rows

    answer = await visitor.post("/changes/seen", one=alert.id, back=back)

    assert answer.headers["location"].startswith("/changes?told=")


async def test_a_notice_is_for_whoever_did_it(visitor: Visitor) -> None:
    answer = await visitor.post("/settings/mode", mode="off")
    token = await visitor.rig.token(Scope.READ)
    async with visitor.rig.asking(token) as client:
        seen = await client.get(answer.headers["location"])

    assert not tree(seen.text).xpath("//*[@id='told']/*")


async def test_the_news_page_is_called_by_the_users_words(visitor: Visitor) -> None:
    page = await visitor.store.page(NEWS)

    assert page is not None
    assert page.text == "The news, which we need every morning"


async def test_the_first_token_is_one_that_may_do_everything_unless_somebody_chooses_otherwise(
    visitor: Visitor,
) -> None:
    chosen = tree(await visitor.get("/settings/access")).xpath("//select[@name='scope']/option[@selected]/@value")

    assert chosen == ["admin"]


async def test_a_group_without_pages_is_removed_with_one_click(visitor: Visitor) -> None:
    now = visitor.rig.clock.now()
    await visitor.store.edit_group("left behind", now, settings={"every": "6h"}, unset=())
    path = "/settings/groups/remove"
    offered = tree(await visitor.get("/settings/groups")).xpath(
        f"//form[@action='{path}']//input[@name='group']/@value"
    )

    text = await visitor.done(path, group="left behind")

    assert offered == ["left behind"]
    assert told(text) == "Removed group left behind."
    assert "left behind" not in {row.name for row in await visitor.store.group_rows()}
    assert (await visitor.post(path, group="the city")).status_code == 409
