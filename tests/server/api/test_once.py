"""Idempotency keys: the same request with the same key is done once, and answered alike."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.contract.desk import HOUR
from tocsin.model import Scope

if TYPE_CHECKING:
    from pathlib import Path

    from tests.server.api.talk import Api

A = "https://a.example/"
KEY = {"Idempotency-Key": "8e03978e-40d5-43dd-bc93-6894a57f9324"}


async def test_a_request_that_is_sent_again_is_answered_as_before_and_done_once(api: Api) -> None:
    first = await api.call("POST", "/pages", {"url": A}, headers=KEY)

    again = await api.call("POST", "/pages", {"url": A}, headers=KEY)

    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert await api.audited() == ["pages.add"]


async def test_an_answer_without_a_body_is_given_again_too(api: Api) -> None:
    await api.add(A)
    await api.do("DELETE", "/pages/1", headers=KEY)

    again = await api.call("DELETE", "/pages/1", headers=KEY)

    assert (again.status_code, again.content) == (204, b"")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/pages", {"url": "https://b.example/"}),
        ("POST", "/pages?x=1", {"url": A}),
        ("POST", "/checks", {"ids": ["1"]}),
    ],
)
async def test_a_key_that_is_used_for_another_request_is_refused(
    api: Api, method: str, path: str, body: object
) -> None:
    await api.do("POST", "/pages", {"url": A}, headers=KEY)

    problem = await api.refused(method, path, body, headers=KEY)

    assert (problem["status"], problem["type"]) == (422, "urn:tocsin:problem:key-used")
    assert await api.urls() == [A]


async def test_a_request_that_was_refused_may_be_tried_again_with_its_key(api: Api) -> None:
    await api.refused("PATCH", "/pages/1", {"text": "x"}, headers={**KEY, "If-Match": "*"})
    await api.add(A)

    page = await api.do("PATCH", "/pages/1", {"text": "x"}, headers={**KEY, "If-Match": "*"})

    assert page["text"] == "x"


async def test_a_key_belongs_to_whoever_sent_it(api: Api) -> None:
    one, other = await api.rig.token(Scope.WRITE, "one"), await api.rig.token(Scope.WRITE, "other")
    api.asked.headers["Authorization"] = f"Bearer {one}"
    await api.do("POST", "/pages", {"url": A}, headers=KEY)
    api.asked.headers["Authorization"] = f"Bearer {other}"

    answer = await api.call("POST", "/pages", {"url": "https://b.example/"}, headers=KEY)

    assert answer.status_code == 201


async def test_a_token_that_is_revoked_is_given_no_old_answers(api: Api) -> None:
    api.asked.headers["Authorization"] = f"Bearer {await api.rig.token(Scope.WRITE, 'one')}"
    await api.do("POST", "/pages", {"url": A}, headers=KEY)
    await api.store.revoke_token("one", api.rig.clock.now())

    assert (await api.refused("POST", "/pages", {"url": A}, headers=KEY))["status"] == 401


async def test_of_ten_that_are_sent_at_once_one_is_done(api: Api) -> None:
    answers = await asyncio.gather(*(api.call("POST", "/pages", {"url": A}, headers=KEY) for _ in range(10)))

    assert {answer.status_code for answer in answers} <= {201, 409}
    assert {answer.json()["id"] for answer in answers if answer.status_code == 201} == {"1"}
    assert await api.audited() == ["pages.add"]


async def test_the_secret_of_a_token_is_kept_nowhere(api: Api, tmp_path: Path) -> None:
    made = await api.do("POST", "/tokens", {"name": "one", "scope": "admin"}, headers=KEY)
    api.asked.headers["Authorization"] = f"Bearer {made['token']}"

    problem = await api.refused("POST", "/tokens", {"name": "one", "scope": "admin"}, headers=KEY)

    assert (problem["status"], problem["type"]) == (409, "urn:tocsin:problem:name-taken")
    for part in tmp_path.glob("*.db*"):
        assert made["token"].encode() not in part.read_bytes()


async def test_a_list_that_is_sent_again_is_imported_once(api: Api) -> None:
    first = await api.do("POST", "/imports", b"https://a.example/\n", headers=KEY)

    again = await api.do("POST", "/imports", b"https://a.example/\n", headers=KEY)

    assert again["id"] == first["id"]
    assert len((await api.get("/jobs"))["items"]) == 1
    assert (await api.refused("POST", "/imports", b"https://b.example/\n", headers=KEY))["status"] == 422


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a\tb"])
async def test_a_key_that_cannot_be_used_is_refused(api: Api, key: str) -> None:
    problem = await api.refused("POST", "/pages", {"url": A}, headers={"Idempotency-Key": key})

    assert problem["status"] == 422
    assert await api.urls() == []


async def test_a_key_is_forgotten_after_a_day(api: Api) -> None:
    await api.do("POST", "/pages", {"url": A}, headers=KEY)
    api.rig.clock.set_wall(api.rig.clock.now() + 25 * HOUR)

    problem = await api.refused("POST", "/pages", {"url": A}, headers=KEY)

    assert problem["status"] == 409
