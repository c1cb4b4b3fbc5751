"""Health, and when the web framework is loaded and warmed."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest
from msgspec.structs import replace

from tests.server.rig import ELSEWHERE, Rig, served
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.cli.__main__ import COMMANDS
from tocsin.errors import StoreError
from tocsin.model import Unwritten
from tocsin.ports import Store
from tocsin.server.access.guard import Doorkeeper
from tocsin.server.web import rendering
from tocsin.settings import unread


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
    lease_s = rig.service.settings_.cluster.lease.total_seconds()
    full = "the disk is full; free some space"

    rig.service.state = replace(rig.service.state, unwritten=Unwritten(lease_s, full))
    assert (await local.get("/readyz")).status_code == 200
    rig.service.state = replace(rig.service.state, unwritten=Unwritten(lease_s + 1, full))
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
        "ops": WebhookSettings(type="webhook", secret=unread("no such file")),
        "lines": FileSettings(type="file"),
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


FRAMEWORK = {"fastapi", "starlette", "uvicorn", "jinja2", "pydantic", "prometheus_client", "multipart"}


def loaded_by(statements: str) -> set[str]:
    code = f"import sys\n{statements}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "modules",
    [
        # A fetcher process, the engine as one-shot checks use it, the service before it serves, and every command.
        ["tocsin.app.fetcher"],
        ["tocsin.app.once", "tocsin.app.assembly"],
        ["tocsin.app.service", "tocsin.app.edge"],
        ["tocsin.cli.__main__", *(command.module for command in COMMANDS)],
    ],
)
def test_nobody_but_who_serves_loads_the_web_framework(modules: list[str]) -> None:
    loaded = loaded_by("\n".join(f"import {module}" for module in modules))

    assert loaded & FRAMEWORK == set()


def test_a_health_check_loads_neither_the_engine_nor_the_store() -> None:
    code = (
        "from tocsin.cli.__main__ import tocsin\n"
        "try: tocsin(['healthcheck'])\n"
        "except SystemExit: pass\n"
        "print({'aiohttp', 'aiosqlite', 'uvloop'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, check=True)

    assert done.stderr.splitlines()[-1] == "set()"


async def test_no_first_page_waits_for_its_template(store: Store) -> None:
    rendering._ENVIRONMENT.cache.clear()  # type: ignore[union-attr]  # it has one

    async with served(store):
        compiled = {name for _, name in rendering._ENVIRONMENT.cache}  # type: ignore[union-attr]  # as above

    assert compiled >= set(rendering._ENVIRONMENT.list_templates())
