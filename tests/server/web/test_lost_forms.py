"""Forms whose session ended, or whose token is stale: what was typed is not lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import httpx
import pytest

from tests.server.web.visiting import Visitor, tree
from tocsin.model import Scope

SECRET = "raw:a key that is nowhere shown"
HTML = {"Accept": "text/html", "Origin": "http://localhost:8330"}
ROUTE: dict[str, Any] = {
    "name": "press", "revision": "0", "channels": "ops", "group": "press & <law>", "when": "times",
    "digest-at": ["08:00", ""], "digest-days": ["mon", "fri"], "quiet-days-0": ["sat", "sun"], "do": "save",
}  # fmt: skip
FORMS: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "/notifications/route": (ROUTE, ("//input[@name='group']/@value", "press & <law>")),
    "/notifications/channel": (
        {"name": "hook", "type": "webhook", "revision": "0", "s-url": "https://a.example/", "secret-secret": SECRET},
        ("//input[@name='s-url']/@value", "https://a.example/"),
    ),
    "/notifications/silence": (
        {"host": "staging.example", "reason": "relaunch"},
        ("//input[@name='reason']/@value", "relaunch"),
    ),
    "/settings/pages": ({"revision": "0", "every": "7h"}, ("//input[@name='every']/@value", "7h")),
    "/pages/add": (
        {"urls": "https://a.example/\r\nhttps://b.example/", "group": "press", "step": "add"},
        ("//textarea[@name='urls']", "\nhttps://a.example/\nhttps://b.example/"),
    ),
    "/pages/1/settings": ({"revision": "0", "text": "Grüße,\r\nzwei"}, ("//*[@name='text']", "Grüße,\nzwei")),
}


class LoggedOut(NamedTuple):
    """A browser whose session has ended, and the token with which it can log in."""

    asked: httpx.AsyncClient
    token: str

    async def post(self, path: str, **options: Any) -> httpx.Response:
        return await self.asked.post(path, **{"headers": HTML} | options)

    async def log_in(self, page: str, token: str = "") -> httpx.Response:
        return await self.post("/login", data={**hidden(page), "token": token or self.token})


@pytest.fixture
async def client(visitor: Visitor) -> AsyncIterator[LoggedOut]:
    token = await visitor.rig.token(Scope.ADMIN)
    async with visitor.rig.asking() as asked:
        yield LoggedOut(asked, token)


def hidden(page: str) -> dict[str, list[str]]:
    """The fields that the form of a page carries."""
    found: dict[str, list[str]] = {}
    for each in tree(page).xpath("//main//form[1]//input[@type='hidden']"):
        found.setdefault(each.get("name"), []).append(each.get("value"))
    return found


@pytest.mark.parametrize("path", FORMS)
async def test_a_session_that_ends_amid_a_form_loses_nothing_but_secrets(
    visitor: Visitor, client: LoggedOut, path: str
) -> None:
    typed, (where, value) = FORMS[path]

    asked = await client.post(path, data=typed)
    wrong = await client.log_in(asked.text, "no")
    logged_in = await client.log_in(wrong.text)
    again = await client.post(path, data=hidden(logged_in.text))

    assert (asked.status_code, wrong.status_code, logged_in.status_code, again.status_code) == (401, 401, 200, 200)
    assert "Basic" not in asked.headers["www-authenticate"]
    assert SECRET not in asked.text + logged_in.text + again.text
    (found,) = tree(again.text).xpath(where)
    assert (found if isinstance(found, str) else (found.get("value") or found.text_content())).replace(
        "\r\n", "\n"
    ) == value
    assert "Nothing is saved yet" in again.text
    assert (await visitor.store.saved()).routes == (await visitor.store.saved()).channels == ()


async def test_a_form_with_pickers_comes_back_as_it_was_and_can_be_saved(client: LoggedOut) -> None:
    page = (await client.post("/notifications/route", data=ROUTE)).text
    logged_in = await client.log_in(page)
    form = tree((await client.post("/notifications/route", data=hidden(logged_in.text))).text)
    csrf = form.xpath("//input[@name='csrf']/@value")[0]

    assert form.xpath("//input[@name='digest-days'][@checked]/@value") == ["mon", "fri"]
    saved = await client.post("/notifications/route", data=ROUTE | {"csrf": csrf})
    assert saved.status_code == 303


async def test_another_form_is_sent_again_by_a_button(visitor: Visitor, client: LoggedOut) -> None:
    page = await client.post("/settings/mode", data={"mode": "off"})
    logged_in = await client.log_in(page.text)

    assert "Send it again" in logged_in.text
    assert not tree(logged_in.text).xpath("//form[@data-again]")
    sent = await client.post("/settings/mode", data=hidden(logged_in.text))
    assert sent.status_code == 303
    assert (await visitor.store.overrides())[0] == {"mode": "off"}


async def test_a_form_with_the_token_of_an_earlier_session_comes_back_filled(visitor: Visitor) -> None:
    stale = await visitor.post("/notifications/route", **ROUTE | {"csrf": "of yesterday"})
    again = await visitor.post("/notifications/route", **hidden(stale.text))

    assert stale.status_code == 403
    assert hidden(stale.text)["csrf"] != ["of yesterday"]
    assert tree(again.text).xpath("//input[@name='group']/@value") == ["press & <law>"]
    assert (await visitor.store.saved()).routes == ()


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Accept": "text/html", "Origin": "https://evil.example"}, b"name=x", 401),
        ({"Accept": "text/html", "Sec-Fetch-Site": "cross-site"}, b"name=x", 401),
        ({"Accept": "application/json"}, b"name=x", 401),
        (HTML, b"x=" + b"y" * 33_000, 413),
    ],
)
async def test_what_another_site_or_a_program_sends_is_not_carried_on_nor_is_a_large_form(
    client: LoggedOut, headers: dict[str, str], body: bytes, status: int
) -> None:
    headers = headers | {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await client.post("/notifications/route", content=body, headers=headers)

    assert answer.status_code == status
    assert "kept_path" not in answer.text


async def test_a_login_goes_on_to_no_form_of_another_site(client: LoggedOut) -> None:
    for path in ("https://evil.example/", "//evil.example/", "/\\evil.example"):
        page = (await client.post("/login", data={"token": client.token, "kept_path": path, "kept": "a=b"})).text
        assert tree(page).xpath("//main//form/@action") == ["/"]
