"""Browsers: logging in and out, what their cookies are, and what forms must carry."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.server.rig import BASE, ELSEWHERE
from tocsin.model import Scope
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.server.access.login import onward

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.server.rig import Rig

BROWSER = {"Accept": "text/html", "Origin": BASE, "Sec-Fetch-Site": "same-origin"}


@asynccontextmanager
async def logged_in(rig: Rig, scope: Scope = Scope.ADMIN) -> AsyncIterator[httpx.AsyncClient]:
    token = await rig.token(scope)
    async with rig.asking() as browser:
        browser.headers.update(BROWSER)
        await browser.post("/login", data={"token": token})
        yield browser


async def csrf_of(rig: Rig, browser: httpx.AsyncClient) -> str:
    session = await rig.store.session_of(digest_of(browser.cookies["tocsin"]), rig.clock.now())
    assert session is not None
    return session.csrf


async def test_a_browser_without_a_session_is_led_to_the_login_and_back(rig: Rig) -> None:
    token = await rig.token(Scope.ADMIN)
    async with rig.asking() as browser:
        browser.headers.update(BROWSER)
        sent = await browser.get("/changes?unseen=1")
        form = await browser.get(sent.headers["location"])
        back = await browser.post("/login", data={"token": token, "next": "/changes?unseen=1"})

    assert (sent.status_code, sent.headers["location"]) == (303, "/login?next=%2Fchanges%3Funseen%3D1")
    assert 'value="/changes?unseen=1"' in form.text
    assert (back.status_code, back.headers["location"]) == (303, "/changes?unseen=1")


async def test_a_session_cookie_is_for_this_service_only(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking() as browser:
        answer = await browser.post("/login", data={"token": token}, headers=BROWSER)

    cookie = answer.headers["set-cookie"].lower()
    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in cookie.split(";")}
    assert "domain" not in cookie
    assert token.lower() not in cookie


async def test_over_https_the_cookie_is_secure_and_bound_to_the_host(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    rig.service.configure(trusted_proxies=("192.0.2.7",))
    async with rig.asking(client=ELSEWHERE, base="https://tocsin.example") as browser:
        headers = {"X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "https"}
        answer = await browser.post("/login", data={"token": token}, headers=headers)
        cookie = answer.headers["set-cookie"]
        page = await browser.get("/api/openapi.json", headers={**headers, "Cookie": cookie.partition(";")[0]})

    assert cookie.startswith("__Host-tocsin=")
    assert "secure" in cookie.lower()
    assert page.status_code == 200
    assert "strict-transport-security" in page.headers


async def test_over_https_a_cookie_that_a_neighbour_can_have_set_is_not_believed(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        secret = browser.cookies["tocsin"]
    rig.service.configure(public_url="https://tocsin.example")
    async with rig.asking(client=ELSEWHERE, base="http://tocsin.example") as other:
        plain = await other.get("/api/openapi.json", headers={"Cookie": f"tocsin={secret}"})
        bound = await other.get("/api/openapi.json", headers={"Cookie": f"x=1; __Host-tocsin={secret}"})

    assert (plain.status_code, bound.status_code) == (401, 200)


async def test_logging_in_makes_a_session_that_nobody_knew_before(rig: Rig) -> None:
    """Session fixation: a cookie that somebody planted is worth nothing after the login either."""
    token = await rig.token(Scope.READ)
    async with rig.asking() as browser:
        browser.cookies.set("tocsin", "planted", domain="localhost.local")
        await browser.post("/login", data={"token": token}, headers={**BROWSER, "Cookie": "tocsin=planted"})

    assert await rig.store.session_of(digest_of("planted"), rig.clock.now()) is None


async def test_logging_in_again_ends_the_session_before(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        before = browser.cookies["tocsin"]
        token = await rig.token(Scope.READ)
        await browser.post("/login", data={"token": token})

        assert browser.cookies["tocsin"] != before
        assert await rig.store.session_of(digest_of(before), rig.clock.now()) is None


async def test_logging_out_ends_the_session_and_takes_a_post(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        secret = browser.cookies["tocsin"]
        got = await browser.get("/logout")
        out = await browser.post("/logout", data={"csrf": await csrf_of(rig, browser)})
        after = await browser.get("/")

    assert got.status_code == 405
    assert (out.status_code, out.headers["location"]) == (303, "/login")
    assert await rig.store.session_of(digest_of(secret), rig.clock.now()) is None
    assert (after.status_code, after.headers["location"]) == (303, "/login")


async def test_revoking_a_token_ends_its_sessions(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        await rig.store.revoke_token("admin", rig.clock.now())
        answer = await browser.get("/")

    assert answer.status_code == 303


async def test_a_session_ends_with_its_time(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        rig.clock.set_wall(rig.clock.now() + 31 * 86_400 * 1_000_000)
        answer = await browser.get("/")

    assert answer.status_code == 303


async def test_a_failed_login_says_why_and_the_mend(rig: Rig) -> None:
    await rig.token(Scope.READ)
    async with rig.asking() as browser:
        answer = await browser.post("/login", data={"token": new_token(), "next": "/changes"}, headers=BROWSER)

    assert answer.status_code == 401
    assert "This token is not in force" in answer.text
    assert "Paste it whole; where the service runs, tocsin token list shows" in answer.text
    assert "Bearer" not in answer.text
    assert 'value="/changes"' in answer.text


async def test_failed_logins_are_limited(rig: Rig) -> None:
    good = await rig.token(Scope.READ)
    async with rig.asking(client=ELSEWHERE, base="http://tocsin.example") as browser:
        for _ in range(11):
            answer = await browser.post("/login", data={"token": new_token()})
        let_in = await browser.post("/login", data={"token": good})

    assert answer.status_code == 429
    assert let_in.status_code == 303
    assert int(answer.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    "wanted",
    [
        *("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)"),
        *(
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "",
            "evil",
            "http:evil",
            "/x\x00",
            "/login",
            "/logout",
        ),
    ],
)
async def test_a_login_leads_nowhere_else(wanted: str) -> None:
    """CVE-2025-67713: what looks like a path, and is an address for browsers."""
    assert onward(wanted) == "/"


async def test_a_form_without_the_token_of_its_session_is_refused(rig: Rig) -> None:
    """GHSA-3v57-xv5m-v7m7: what a form does, it does for whoever was shown it."""
    async with logged_in(rig) as browser:
        without = await browser.post("/logout")
        wrong = await browser.post("/logout", data={"csrf": "x" * 43})
        still = await browser.get("/api/openapi.json")

    assert (without.status_code, wrong.status_code, still.status_code) == (403, 403, 200)
    assert "load the page again" in without.text.lower()


async def test_a_form_of_another_session_is_refused(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        other = await csrf_of(rig, browser)
        token = await rig.token(Scope.READ)
        await browser.post("/login", data={"token": token})
        answer = await browser.post("/logout", data={"csrf": other})

    assert answer.status_code == 403


async def test_a_script_of_ours_sends_the_token_in_a_header(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        answer = await browser.post("/logout", headers={"X-CSRF-Token": await csrf_of(rig, browser)})

    assert answer.status_code == 303


@pytest.mark.parametrize(
    "foreign",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": None, "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": None, "Origin": "null"},
        {"Sec-Fetch-Site": None, "Origin": "https://localhost:8330"},
        {"Sec-Fetch-Site": None, "Origin": "http://localhost:8331"},
    ],
)
async def test_a_form_on_another_site_is_refused_even_with_the_right_token(
    rig: Rig, foreign: dict[str, str | None]
) -> None:
    async with logged_in(rig) as browser:
        headers = {name: value for name, value in {**BROWSER, **foreign}.items() if value is not None}
        browser.headers.clear()
        answer = await browser.post("/logout", data={"csrf": await csrf_of(rig, browser)}, headers=headers)

    assert answer.status_code == 403


async def test_another_site_cannot_log_a_browser_in(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking() as browser:
        answer = await browser.post("/login", data={"token": token}, headers={"Origin": "http://evil.example"})

    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


async def test_basic_that_a_browser_remembers_is_no_use_to_another_site(rig: Rig) -> None:
    token = await rig.token(Scope.ADMIN)
    async with rig.asking() as browser:
        browser.auth = ("x", token)
        answer = await browser.post("/logout", headers={"Origin": "http://evil.example"})

    assert answer.status_code == 403


async def test_a_program_with_a_token_of_its_own_needs_no_form(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking(token) as program:
        answer = await program.post("/logout")

    assert answer.status_code == 303


async def test_a_link_from_another_site_leads_in(rig: Rig) -> None:
    async with logged_in(rig) as browser:
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        followed = await browser.get("/api/openapi.json", headers=headers)
        taken = await browser.get("/api/openapi.json", headers={**headers, "Sec-Fetch-Mode": "no-cors"})

    assert (followed.status_code, taken.status_code) == (200, 403)
