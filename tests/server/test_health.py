from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from tests.server.rig import ELSEWHERE
from tocsin.errors import StoreError
from tocsin.server.access.guard import Doorkeeper
from tocsin.settings import ChannelSettings, unread

if TYPE_CHECKING:
    import httpx

    from tests.server.rig import Rig


async def test_the_process_is_alive_whoever_asks(rig: Rig) -> None:
    async with rig.asking(client=ELSEWHERE, base="http://any.example") as stranger:
        answer = await stranger.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})


async def test_a_service_that_does_its_work_is_ready(local: httpx.AsyncClient) -> None:
    answer = await local.get("/readyz")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ready", "store": "ok", "engine": "ok", "fetchers": "ok"}


async def test_a_service_without_its_lease_is_not_ready(rig: Rig, local: httpx.AsyncClient) -> None:
    rig.service.state = replace(rig.service.state, has_lease=False)

    answer = await local.get("/readyz")

    assert (answer.status_code, answer.json()["engine"]) == (503, "waits for its lease")


async def test_a_service_that_could_not_write_for_longer_than_its_lease_is_not_ready_and_says_why(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    lease_s = rig.service.settings_.store.lease.total_seconds()
    full = "the disk is full; free some space"

    rig.service.state = replace(rig.service.state, unwritten_s=lease_s, unwritten_why=full)
    assert (await local.get("/readyz")).status_code == 200
    rig.service.state = replace(rig.service.state, unwritten_s=lease_s + 1, unwritten_why=full)
    answer = await local.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["store"] == f"cannot be written for {lease_s + 1:.0f} s: {full}"


async def test_a_service_whose_fetchers_all_start_anew_is_not_ready(rig: Rig, local: httpx.AsyncClient) -> None:
    life = replace(rig.service.state.fetchers[0], is_ready=False)
    rig.service.state = replace(rig.service.state, fetchers=(life,))

    answer = await local.get("/readyz")

    assert (answer.status_code, answer.json()["fetchers"]) == (503, "0 of 1 ready")


async def test_one_fetcher_of_two_that_starts_anew_is_told_and_no_reason_to_be_taken_out(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    life = rig.service.state.fetchers[0]
    rig.service.state = replace(rig.service.state, fetchers=(life, replace(life, is_ready=False)))

    answer = await local.get("/readyz")

    assert (answer.status_code, answer.json()["fetchers"]) == (200, "1 of 2 ready")


async def test_a_channel_without_its_secret_is_told_and_no_reason_to_be_taken_out(
    rig: Rig, local: httpx.AsyncClient
) -> None:
    channels = {
        "ops": ChannelSettings(type="webhook", secret=unread("no such file")),
        "lines": ChannelSettings(type="file"),
    }
    rig.service.settings_ = replace(rig.service.settings_, channels=channels)

    answer = await local.get("/readyz")

    assert (answer.status_code, answer.json()["channels"]) == (200, "1 of 2 without a secret that can be read")
    assert (await local.get("/api/v1/channels")).json()["items"][1]["error"] == "no such file"


class AilingStore:
    """A store whose disk fails."""

    async def is_held(self) -> bool:
        return True

    async def has_tokens(self) -> bool:
        raise StoreError("/data/tocsin.db: disk I/O error")


async def test_a_store_that_cannot_say_who_asks_is_a_problem_that_says_when_to_come_back(rig: Rig) -> None:
    doorkeeper = Doorkeeper(replace(rig.app.state.parts, store=AilingStore()))
    rig.app.state.doorkeeper = doorkeeper

    async with rig.asking() as asked:
        answer = await asked.get("/api/v1/pages")

    assert (answer.status_code, answer.json()["type"]) == (503, "urn:tocsin:problem:store")
    assert answer.headers["retry-after"] == "5"


async def test_a_store_that_does_not_answer_is_not_ready_and_says_no_path(rig: Rig, local: httpx.AsyncClient) -> None:
    rig.app.state.parts = replace(rig.app.state.parts, store=AilingStore())

    answer = await local.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["store"] == "unusable"
    assert "tocsin.db" not in answer.text
