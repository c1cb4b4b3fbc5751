"""`tocsin demo` as its users call it."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.journey.running import Home

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
