"""Tokens: how they are made, shown to the service, and refused."""

from __future__ import annotations

from base64 import b64encode
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.rig import ELSEWHERE
from tocsin.configuration.tokens import is_token
from tocsin.model import Scope
from tocsin.server.access.credentials import digest_of, new_token

if TYPE_CHECKING:
    from tests.server.rig import Rig

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
