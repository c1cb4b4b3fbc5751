"""Tokens and sessions: how they are made, shown, refused and audited."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.server.rig import BASE, ELSEWHERE, Rig
from tocsin.configuration.tokens import is_token
from tocsin.errors import StoreError
from tocsin.model import Scope
from tocsin.server.access.auditing import audit, begin_request
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.server.parts import Caller
from tocsin.server.web.tokens import onward

ASKED = "/api/openapi.json"


def basic(name: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{name}:{password}".encode()).decode()}


def test_no_two_tokens_are_alike_and_each_is_known_for_one() -> None:
    made = {new_token() for _ in range(100)}

    assert len(made) == 100
    assert all(is_token(token) and token.startswith("tcs_") for token in made)


@given(place=st.integers(4, 52), letter=st.sampled_from("AZaz09-_"))
def test_a_mistyped_token_is_known_without_a_look_up(place: int, letter: str) -> None:
    token = new_token()
    mistyped = token[:place] + letter + token[place + 1 :]

    assert is_token(mistyped) == (mistyped == token)


@given(st.text())
def test_no_text_makes_the_digest_fail(text: str) -> None:
    assert len(digest_of(text)) == 32


async def test_a_token_is_let_in_as_bearer(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking(token, client=ELSEWHERE, base="http://tocsin.example") as asked:
        answer = await asked.get(ASKED)

    assert answer.status_code == 200


async def test_a_token_is_let_in_as_the_password_of_basic_with_any_name(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking() as asked:
        answers = [await asked.get(ASKED, headers=basic(name, token)) for name in ("", "reader", "x:y")]

    # Of "x:y" the name ends at the first colon, as Basic has it.
    assert [answer.status_code for answer in answers] == [200, 200, 401]


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Basic", "Basic !!!", "Basic eA==", "Digest x", "tcs_x", "Bearer tcs_" + "A" * 49]
)
async def test_what_is_no_token_is_refused_with_a_challenge(rig: Rig, header: str) -> None:
    await rig.token(Scope.READ)
    async with rig.asking() as asked:
        answer = await asked.get(ASKED, headers={"Authorization": header})

    assert answer.status_code == 401
    assert "Bearer" in answer.headers["www-authenticate"]
    assert "Basic" in answer.headers["www-authenticate"]


async def test_a_token_that_came_as_the_user_name_is_told_where_it_belongs(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    async with rig.asking() as asked:
        answer = await asked.get(ASKED, headers=basic(token, ""))

    assert (answer.status_code, "the password of Basic is empty" in answer.json()["detail"]) == (401, True)


async def test_a_wrong_token_is_no_way_in_from_this_machine_either(rig: Rig) -> None:
    await rig.token(Scope.READ)
    async with rig.asking(new_token()) as asked:
        answer = await asked.get(ASKED)

    assert answer.status_code == 401


async def test_a_revoked_token_is_refused_at_once(rig: Rig) -> None:
    token = await rig.token(Scope.READ, "feeds")
    async with rig.asking(token) as asked:
        before = await asked.get(ASKED)
        await rig.store.revoke_token("feeds", rig.clock.now())
        after = await asked.get(ASKED)

    assert (before.status_code, after.status_code) == (200, 401)


async def test_revoking_the_last_token_opens_the_service_to_nobody(rig: Rig) -> None:
    await rig.token(Scope.ADMIN, "only")
    await rig.store.revoke_token("only", rig.clock.now())
    async with rig.asking() as asked:
        answer = await asked.get(ASKED)

    assert answer.status_code == 401


async def test_a_token_past_its_time_is_refused(rig: Rig) -> None:
    token, now = new_token(), rig.clock.now()
    await rig.store.add_token("short", Scope.READ, digest_of(token), now, expires_at=now + 1_000_000)
    async with rig.asking(token) as asked:
        before = await asked.get(ASKED)
        rig.clock.set_wall(now + 2_000_000)
        after = await asked.get(ASKED)

    assert (before.status_code, after.status_code) == (200, 401)


@pytest.mark.parametrize("name", ["token", "access_token", "TOKEN", "api_key", "%74oken"])
async def test_a_token_in_a_url_is_refused_and_stands_in_no_log(rig: Rig, name: str) -> None:
    token = await rig.token(Scope.ADMIN)
    async with rig.asking(token) as asked:
        answer = await asked.get(f"{ASKED}?{name}={token}")

    assert (answer.status_code, answer.json()["type"]) == (400, "urn:tocsin:problem:token-in-url")
    assert "Authorization" in answer.json()["mend"]
    assert token not in repr(rig.telemetry.happenings)
    assert token not in answer.text


async def test_no_answer_and_no_log_line_repeats_a_wrong_token(rig: Rig) -> None:
    """CVE-2023-22481: what somebody typed for a secret was written to the log."""
    await rig.token(Scope.ADMIN)
    wrong = new_token()
    async with rig.asking(wrong) as asked:
        answer = await asked.get(ASKED)

    assert wrong not in answer.text
    assert wrong not in repr(rig.telemetry.happenings)


def guess() -> dict[str, str]:
    return {"Authorization": f"Bearer {new_token()}"}


async def test_whoever_fails_too_often_waits_and_is_told_how_long(rig: Rig) -> None:
    await rig.token(Scope.READ)
    async with rig.asking(client=ELSEWHERE) as guessing:
        got = [await guessing.get(ASKED, headers=guess()) for _ in range(11)]
        await rig.clock.advance(timedelta(minutes=5).total_seconds())
        later = await guessing.get(ASKED, headers=guess())

    assert [answer.status_code for answer in got] == [401] * 10 + [429]
    assert 0 < int(got[-1].headers["retry-after"]) <= 300
    assert later.status_code == 401


async def test_failures_of_others_at_the_same_address_do_not_lock_out_a_valid_token(rig: Rig) -> None:
    """Behind a proxy that is not trusted, all clients have one address."""
    good = await rig.token(Scope.READ)
    async with rig.asking(client=ELSEWHERE) as proxy:
        failed = [await proxy.get(ASKED, headers=guess()) for _ in range(11)]
        answer = await proxy.get(ASKED, headers={"Authorization": f"Bearer {good}"})

    assert failed[-1].status_code == 429
    assert answer.status_code == 200


async def test_nobody_who_works_is_locked_out_by_a_neighbour_who_guesses(rig: Rig) -> None:
    good = await rig.token(Scope.READ)
    async with rig.asking(good) as working, rig.asking() as guessing:
        await working.get(ASKED)
        for _ in range(20):
            await guessing.get(ASKED, headers={"Authorization": f"Bearer {new_token()}"})
        answer = await working.get(ASKED)

    assert answer.status_code == 200


async def test_failures_are_counted_by_the_address_behind_a_trusted_proxy(rig: Rig) -> None:
    await rig.token(Scope.READ)
    rig.service.configure(trusted_proxies=("192.0.2.0/24",))
    async with rig.asking(client=ELSEWHERE) as proxy:
        for _ in range(11):
            first = await proxy.get(ASKED, headers={**guess(), "X-Forwarded-For": "198.51.100.1"})
        other = await proxy.get(ASKED, headers={**guess(), "X-Forwarded-For": "198.51.100.2"})

    assert (first.status_code, other.status_code) == (429, 401)


async def test_a_made_up_forwarded_address_does_not_escape_the_limit(rig: Rig) -> None:
    """CVE-2023-27591: headers of proxies count only where a trusted proxy sent them."""
    await rig.token(Scope.READ)
    async with rig.asking(client=ELSEWHERE) as stranger:
        for number in range(11):
            answer = await stranger.get(ASKED, headers={**guess(), "X-Forwarded-For": f"198.51.100.{number}"})

    assert answer.status_code == 429


async def test_what_is_read_of_a_token_is_its_use(rig: Rig) -> None:
    token = await rig.token(Scope.READ, "scraper")
    async with rig.asking(token) as asked:
        await asked.get(ASKED)

    (row,) = await rig.store.tokens()
    assert row.last_used_at == rig.clock.now()


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


OPS = Caller("ops", Scope.ADMIN, 1)


async def test_a_change_is_noted_with_who_what_and_the_request(rig: Rig) -> None:
    begin_request({}, "01REQUEST", believed=False)

    await audit(rig.app.state.parts, OPS, "pages.remove", pages=3)

    (entry,) = (await rig.store.audit()).rows
    assert (entry.at, entry.who, entry.what) == (rig.clock.now(), "ops", "pages.remove")
    assert (entry.detail, entry.request_id) == ({"pages": 3}, "01REQUEST")


async def test_a_change_stands_in_the_log_too(rig: Rig) -> None:
    await audit(rig.app.state.parts, OPS, "token.revoke", name="feeds")

    (told,) = [each for each in rig.telemetry.happenings if each.name == "access.changed"]
    assert told.values["who"] == "ops"


class FullStore:
    """A store whose disk is full."""

    async def write_audit(self, entry: Any) -> None:
        raise StoreError(f"the disk is full: {entry.what}")


async def test_a_log_that_cannot_be_written_undoes_nothing_and_is_told(rig: Rig) -> None:
    parts = replace(rig.app.state.parts, store=FullStore())

    await audit(parts, OPS, "pages.remove")

    assert rig.telemetry.names() == ["access.changed", "access.unaudited"]
