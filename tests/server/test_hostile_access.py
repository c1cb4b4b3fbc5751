"""Ways in that are none: proxies nobody told of, links from elsewhere, tokens that may only look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.rig import ELSEWHERE
from tocsin.model import Scope
from tocsin.server.access.credentials import new_token
from tocsin.server.access.guard import MOST_WRONG, TRIES_IN_ALL, Throttle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

    from tests.server.rig import Rig

ASKED = "/api/v1/service"


@pytest.mark.parametrize(
    "said",
    ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Forwarded", "Via"],
)
async def test_without_a_token_nobody_is_let_in_through_a_proxy_that_nobody_told_of(
    local: httpx.AsyncClient, said: str
) -> None:
    """A proxy on this machine speaks from loopback, for the whole world (as CVE-2023-27591 on whom to believe)."""
    answer = await local.get(ASKED, headers={said: "203.0.113.9"})

    assert answer.status_code == 401


async def test_a_link_from_another_site_gets_no_answer_of_the_api(local: httpx.AsyncClient) -> None:
    """As GHSA-3v57-xv5m-v7m7, where a GET acted on behalf of a person who followed a link."""
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    answer = await local.get("/api/v1/pages/1/extract/ical", headers=headers)

    assert (answer.status_code, answer.json()["type"]) == (403, "urn:tocsin:problem:cross-site")


async def test_what_a_token_may_not_send_is_not_even_read(rig: Rig) -> None:
    token = await rig.token(Scope.READ)
    sent = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(64):
            sent.append(2**16)
            yield b"x" * 2**16

    async with rig.asking(token) as asked:
        list_ = await asked.post("/api/v1/imports", content=pieces(), headers={"Idempotency-Key": "a"})
        again = await asked.post("/api/v1/pages", content=pieces(), headers={"Content-Type": "application/json"})

    assert (list_.status_code, again.status_code) == (403, 403)
    assert not sent


async def test_a_program_that_was_left_with_a_revoked_token_locks_nobody_out(rig: Rig) -> None:
    good, gone = await rig.token(Scope.READ), {"Authorization": f"Bearer {new_token()}"}
    async with rig.asking(client=ELSEWHERE) as beside:
        for _ in range(30):
            left = await beside.get(ASKED, headers=gone)
        let_in = await beside.get(ASKED, headers={"Authorization": f"Bearer {good}"})

    assert (left.status_code, let_in.status_code) == (401, 200)


async def test_guesses_from_many_addresses_lock_out_nobody_who_made_none(rig: Rig) -> None:
    throttle = Throttle(rig.clock)
    for number in range(TRIES_IN_ALL * 2):
        throttle.failed(f"2001:db8:{number:x}::/64", str(number).encode())

    assert throttle.wait_s("2001:db8:1::/64", b"another") > 0
    assert throttle.wait_s("192.0.2.1", b"good") == 0


async def test_guesses_are_remembered_in_a_bounded_memory(rig: Rig) -> None:
    throttle = Throttle(rig.clock)
    for number in range(MOST_WRONG * 6):
        throttle.failed(f"2001:db8:{number:x}::/64", str(number).encode())

    assert len(throttle) <= 4096
    assert len(throttle._wrong) == MOST_WRONG


async def test_the_files_of_a_store_are_nobody_elses_business(rig: Rig, tmp_path: Path) -> None:
    await rig.token(Scope.READ)
    async for _ in await rig.store.backup(str(tmp_path / "copy.db")):
        pass

    found = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir() if file.is_file()}
    assert {"tocsin.db", "tocsin.db-wal", "copy.db"} <= found.keys()
    assert set(found.values()) == {0o600}
