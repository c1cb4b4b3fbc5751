"""`tocsin demo`, and the demo site within a service, as users call them."""

from __future__ import annotations

import json
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.journey.running import CONFIGURATION, PATIENCE_S, Home, Service, until
from tests.journey.test_serving import address, first_token, ready

Start = Callable[[], Awaitable[Service]]


KEYS = {"at", "step", "row", "id", "url", "outcome", "rule", "sentence"}


@pytest.mark.timeout(900)  # it names by itself what never comes, of each of its parts
async def test_piped_it_prints_the_whole_story_as_JSON_and_ends_by_itself(home: Home, tmp_path: Path) -> None:
    kept = tmp_path / "kept"

    called = await home.call("demo", "--keep", str(kept), patience_s=800)

    assert called.status == 0, called.err
    lines = called.records()
    assert all(set(line) == KEYS for line in lines)
    rules = {line["rule"] for line in lines}
    assert rules >= {"T40", "T44", "T47", "S2", "T58", "T60"}
    given = [json.loads(line) for line in (kept / "alerts.jsonl").read_text("utf-8").splitlines()]
    assert {event["id"] for event in given} == {line["id"] for line in lines if line["row"] == "alert"}
    checked = await home.call(
        "--config", str(kept / "tocsin.toml"), "--store", f"sqlite:{kept / 'tocsin.db'}", "store", "check"
    )
    assert checked.status == 0, checked.out + checked.err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)])
async def test_a_signal_ends_it_with_its_service_and_site(
    home: Home, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    kept = tmp_path / "kept"
    demo = await home.begin("demo", "--keep", str(kept))
    await demo.line()

    assert await demo.end(number) == status

    # A store that can be worked on is a store that no service holds.
    checked = await home.call("--store", f"sqlite:{kept / 'tocsin.db'}", "store", "migrate")
    assert checked.status == 0, checked.err


async def test_it_ends_with_its_service_when_its_reader_has_gone(home: Home, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    demo = await home.begin("demo", "--keep", str(kept))
    await demo.line()

    assert await demo.unheard() == 0

    checked = await home.call("--store", f"sqlite:{kept / 'tocsin.db'}", "store", "migrate")
    assert checked.status == 0, checked.err


async def test_a_folder_with_something_in_it_is_refused(home: Home) -> None:
    called = await home.call("demo", "--keep", str(home.folder))

    assert called.status == 2
    assert "not empty" in called.err


SHUT = CONFIGURATION.replace('allow = ["127.0.0.0/8"]', "allow = []") + "first_token = true\n"
PAGES = 5


async def test_one_click_begins_it_a_kill_does_not_end_it_and_one_click_does(home: Home, start: Start) -> None:
    home.configure(SHUT)
    service = await start()
    url = await address(home)
    await ready(url)
    token = {"Authorization": f"Bearer {await first_token(home)}"}
    async with httpx.AsyncClient(base_url=url, headers=token, timeout=PATIENCE_S) as browser:
        assert (await browser.post("demo")).status_code == 303
        await until(lambda: _received(browser), what="the first state of a page")
    await service.end(signal.SIGKILL)
    home.log.write_text("")

    again = await start()
    url = await address(home)
    await ready(url)
    async with httpx.AsyncClient(base_url=url, headers=token, timeout=PATIENCE_S) as browser:
        kept = await _pages(browser)
        assert (await browser.post("demo/remove")).status_code == 303
        left = await _pages(browser)

    assert (len(kept), left) == (PAGES, [])
    assert await again.stop() == 0


async def _pages(browser: httpx.AsyncClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await browser.get("api/v1/pages", params={"group": "demo"})).json()["items"]
    return found


async def _received(browser: httpx.AsyncClient) -> bool | None:
    pages = await _pages(browser)
    return (len(pages) == PAGES and any(page["received_at"] for page in pages)) or None
