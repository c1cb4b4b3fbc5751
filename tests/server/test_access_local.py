"""Before any token was made: whoever is on this machine, and nobody behind whom somebody else could stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.rig import ELSEWHERE
from tocsin.model import Scope
from tocsin.server.access import rights
from tocsin.settings import unread

if TYPE_CHECKING:
    import httpx

    from tests.server.rig import Rig

ASKED = "/api/openapi.json"


async def test_whoever_is_on_this_machine_is_administrator(rig: Rig) -> None:
    async with rig.asking(client=("::1", 1), base="http://[::1]:8330") as asked:
        answer = await asked.get(ASKED)
        page = await asked.get("/", headers={"Accept": "text/html"})

    assert (answer.status_code, page.status_code) == (200, 200)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1", ""])
async def test_a_name_that_is_not_of_this_machine_is_refused(local: httpx.AsyncClient, host: str) -> None:
    """DNS rebinding: a site whose name leads here is not us."""
    answer = await local.get(ASKED, headers={"Host": host})

    assert answer.status_code == 421
    assert "http.public_url" in answer.json()["mend"]


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8330", "127.0.0.1:8330", "127.8.9.1", "[::1]:8330", "x.localhost"]
)
async def test_a_name_of_this_machine_is_answered_to(local: httpx.AsyncClient, host: str) -> None:
    answer = await local.get(ASKED, headers={"Host": host})

    assert answer.status_code == 200


async def test_the_name_of_the_public_address_is_answered_to(rig: Rig, local: httpx.AsyncClient) -> None:
    rig.service.configure(public_url="https://tocsin.example/below/")

    answer = await local.get(ASKED, headers={"Host": "tocsin.example"})

    assert answer.status_code == 200


async def test_nobody_from_elsewhere_is_let_in_without_a_token(rig: Rig) -> None:
    async with rig.asking(client=ELSEWHERE) as asked:
        answer = await asked.get(ASKED)

    assert answer.status_code == 401


async def test_whoever_comes_through_a_proxy_is_not_of_this_machine(rig: Rig) -> None:
    rig.service.configure(trusted_proxies=("127.0.0.1",))
    async with rig.asking() as proxy:
        answers = [
            await proxy.get(ASKED, headers={"X-Forwarded-For": said})
            for said in ("192.0.2.7", "127.0.0.1", "nonsense", "192.0.2.7, 127.0.0.1")
        ]

    assert [answer.status_code for answer in answers] == [401] * 4


async def test_a_page_of_another_site_can_make_a_browser_do_nothing_here(rig: Rig) -> None:
    async with rig.asking() as browser:
        posted = await browser.post("/look", data={"look": "dark"}, headers={"Origin": "http://evil.example"})
        fetched = await browser.get(ASKED, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"})

    assert (posted.status_code, fetched.status_code) == (403, 403)


async def test_a_form_without_its_token_is_refused_here_too(local: httpx.AsyncClient) -> None:
    answer = await local.post("/look", data={"look": "dark"})

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:tocsin:problem:csrf")


async def test_a_form_that_was_shown_is_taken(rig: Rig) -> None:
    caller = []

    @rig.app.get("/shown")
    async def shown(who: rights.Reading) -> str:
        caller.append(who)
        return ""

    async with rig.asking() as browser:
        await browser.get("/shown")
        answer = await browser.post("/look", data={"look": "dark", "csrf": caller[0].csrf})

    assert answer.status_code == 303


async def test_the_first_token_closes_it_at_once(rig: Rig, local: httpx.AsyncClient) -> None:
    before = await local.get(ASKED)
    await rig.token(Scope.READ)
    after = await local.get(ASKED)

    assert (before.status_code, after.status_code) == (200, 401)


async def test_declared_tokens_that_cannot_be_read_leave_nobody_in(rig: Rig, local: httpx.AsyncClient) -> None:
    before = await local.get(ASKED)
    rig.service.configure(tokens=unread("there is no such file"))
    after = await local.get(ASKED)

    assert (before.status_code, after.status_code) == (200, 401)
