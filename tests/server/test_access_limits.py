"""How large and how many requests may be, and what every answer says to browsers."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.requests import Request

from tocsin.model import Scope
from tocsin.server.access import limits
from tocsin.server.access.rights import Reading, Writing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx
    import pytest

    from tests.server.rig import Rig


async def test_a_body_that_says_it_is_too_large_is_not_read(rig: Rig) -> None:
    token = await rig.token(Scope.ADMIN)
    async with rig.asking(token) as asked:
        answer = await asked.post("/logout", content=b"x" * (limits.MOST_BYTES + 1))

    assert (answer.status_code, answer.json()["type"]) == (413, "urn:tocsin:problem:too-large")
    assert answer.headers["connection"] == "close"


async def test_a_body_that_does_not_say_how_large_it_is_ends_where_it_is_too_large(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    @rig.app.post("/taken")
    async def taken(request: Request, _caller: Writing) -> int:
        return len(await request.body())

    sent = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(64):
            sent.append(2**16)
            yield b"x" * 2**16

    answer = await local.post("/taken", content=pieces())

    assert answer.status_code == 413
    assert sum(sent) <= limits.MOST_BYTES + 2**17


async def test_more_requests_than_are_answered_at_one_time_are_sent_away(rig: Rig, local: httpx.AsyncClient) -> None:
    held, entered = asyncio.Event(), asyncio.Semaphore(0)

    @rig.app.get("/slow")
    async def slow(_caller: Reading) -> str:
        entered.release()
        await held.wait()
        return "done"

    async with asyncio.TaskGroup() as group:
        asking = [group.create_task(local.get("/slow")) for _ in range(limits.MOST_OF_A_TOKEN)]
        for _ in asking:
            await entered.acquire()
        late = await local.get("/slow")
        health = await local.get("/healthz")
        held.set()

    assert (late.status_code, late.headers["retry-after"]) == (503, "1")
    assert health.status_code == 200
    assert {task.result().status_code for task in asking} == {200}


async def test_the_requests_of_one_token_leave_places_for_others(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_OF_A_TOKEN", 1)
    greedy, other = await rig.token(Scope.READ, "greedy"), await rig.token(Scope.READ, "other")
    held, entered = asyncio.Event(), asyncio.Event()

    @rig.app.get("/slow")
    async def slow(_caller: Reading) -> str:
        entered.set()
        await held.wait()
        return "done"

    async with rig.asking(greedy) as first, rig.asking(other) as second, asyncio.TaskGroup() as group:
        group.create_task(first.get("/slow"))
        await entered.wait()
        refused, taken = await first.get("/api/v1/service"), await second.get("/api/v1/service")
        held.set()

    assert (refused.status_code, taken.status_code) == (503, 200)


async def test_a_body_that_stops_coming_is_not_waited_for(
    rig: Rig, local: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PIECE_S", 0.05)

    @rig.app.post("/taken")
    async def taken(request: Request, _caller: Writing) -> int:
        return len(await request.body())

    async def stopping() -> AsyncIterator[bytes]:
        yield b"x"
        await asyncio.Event().wait()

    answer = await local.post("/taken", content=stopping())

    assert (answer.status_code, answer.json()["type"]) == (408, "urn:tocsin:problem:too-slow")


async def test_a_body_that_trickles_is_not_waited_for(
    rig: Rig, local: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "PIECE_S", 0.05)

    @rig.app.post("/api/v1/parsed")
    async def parsed(_caller: Writing, given: dict[str, int]) -> int:
        return len(given)

    async def trickling() -> AsyncIterator[bytes]:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.01):
                    await asyncio.Event().wait()
            yield b" "

    answer = await local.post("/api/v1/parsed", content=trickling(), headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["type"]) == (408, "urn:tocsin:problem:too-slow")


async def test_every_answer_is_dressed(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.get("/broken")
    async def broken(_caller: Reading) -> str:
        raise ZeroDivisionError

    for path in ("/", "/healthz", "/broken", "/no-such-page", "/api/v1/no-such-thing"):
        answer = await local.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["x-request-id"]
        assert "server" not in answer.headers


async def test_what_is_private_is_kept_by_nobody(local: httpx.AsyncClient) -> None:
    for path in ("/", "/api/openapi.json", "/no-such-page"):
        answer = await local.get(path)
        assert answer.headers["cache-control"] == "no-store", path


async def test_where_there_is_get_there_is_head(local: httpx.AsyncClient) -> None:
    answer = await local.head("/healthz")

    assert answer.status_code == 200


async def test_a_request_has_one_id(local: httpx.AsyncClient) -> None:
    first = await local.get("/no-such-page")
    second = await local.get("/no-such-page")

    assert first.json()["request_id"] == first.headers["x-request-id"]
    assert first.headers["x-request-id"] != second.headers["x-request-id"]


async def test_an_id_is_taken_from_a_trusted_proxy_only(rig: Rig, local: httpx.AsyncClient) -> None:
    said = {"X-Request-Id": "edge-12345678", "X-Forwarded-For": "198.51.100.1"}
    not_believed = await local.get("/healthz", headers=said)
    rig.service.configure(trusted_proxies=("127.0.0.1",))
    believed = await local.get("/healthz", headers=said)
    nonsense = await local.get("/healthz", headers={**said, "X-Request-Id": "a b\tc" * 20})

    assert not_believed.headers["x-request-id"] != "edge-12345678"
    assert believed.headers["x-request-id"] == "edge-12345678"
    assert " " not in nonsense.headers["x-request-id"]


async def test_what_people_search_for_stands_in_no_log(rig: Rig, local: httpx.AsyncClient) -> None:
    await local.get("/", params={"words": "my-secret-interest"})

    assert "my-secret-interest" not in repr(rig.telemetry.happenings)
    assert "http.answered" in rig.telemetry.names()


async def test_the_log_names_the_method_that_was_asked_for(rig: Rig, local: httpx.AsyncClient) -> None:
    await local.head("/healthz")

    assert logged(rig) == [("HEAD", 200)]


async def test_a_request_that_broke_off_has_no_status_in_the_log(rig: Rig, local: httpx.AsyncClient) -> None:
    @rig.app.get("/slow")
    async def slow(_caller: Reading) -> str:
        entered.set()
        return await asyncio.Future()

    entered = asyncio.Event()
    asking = asyncio.gather(local.get("/slow"))
    await entered.wait()
    asking.cancel()
    with suppress(asyncio.CancelledError):
        await asking

    assert logged(rig) == [("GET", None)]


def logged(rig: Rig) -> list[tuple[str, int | None]]:
    """Give method and status of each request in the log."""
    found = [each.values for each in rig.telemetry.happenings if each.name == "http.answered"]
    return [(values["method"], values["status"]) for values in found]
