"""The API and the command line give the same bytes for the same thing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from msgspec import Raw, Struct

from tests.cli.calling import Installation
from tests.server.api.talk import Api


class RawPart(Struct):
    """A part of a list whose records stay as they were sent."""

    items: list[Raw]


@pytest.fixture
def installation(busy: Api, tmp_path: Path) -> Installation:  # noqa: ARG001 - `busy` makes the store
    """The command line on the store of the API that is asked."""
    made = Installation(tmp_path / "busy")
    made.configure(
        '[channels.log]\ntype = "file"\npath = "alerts.jsonl"\n[channels.ops]\ntype = "webhook"\n'
        'url = "https://a.example/"\nsecret = "whsec_c2VjcmV0LW9mLXRoZS1zaW5r"\n'
        '[[routes]]\nname = "press"\nchannels = "ops"\nmatch = { group = "press" }\ncontinue = true\n'
        '[[routes]]\nname = "all"\nchannels = "log"\n'
    )
    return made


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/pages?limit=200", "watch list"),
        ("/questions?limit=200", "attention list"),
        ("/standing-answers", "attention list --standing"),
        ("/alerts?limit=50", "alerts list --limit 50"),
        ("/alerts?limit=50&dead=true", "alerts list --limit 50 --dead"),
        ("/storms", "alerts storms"),
        ("/storms/1/pages?limit=50", "alerts storms 1"),
        ("/channels", "channel list"),
        ("/routes", "route list"),
        ("/silences", "silence list --all"),
        ("/tokens", "token list"),
    ],
)
async def test_a_list_has_the_same_bytes_in_the_api_and_on_the_command_line(
    busy: Api, installation: Installation, path: str, command: str
) -> None:
    await asyncio.to_thread(installation.call, "silence", "add", "--host", "a.example", "--reason", "relaunch")
    answer = await busy.call("GET", path)
    called = await asyncio.to_thread(installation.call, *command.split())

    asked = [bytes(each).decode() for each in msgspec.json.decode(answer.content, type=RawPart).items]
    assert asked, "the store has none, so that nothing is compared"
    # The command line reads its configuration from a file, which makes paths absolute.
    assert sorted(called.out.replace(f"{installation.folder}/", "").splitlines()) == sorted(asked)


async def test_one_thing_has_the_same_bytes_in_the_api_and_on_the_command_line(
    busy: Api, installation: Installation
) -> None:
    question = (await busy.get("/questions?limit=1"))["items"][0]["id"]
    alert = (await busy.get("/alerts?limit=1"))["items"][0]["id"]

    for path, command in (
        (f"/questions/{question}", ("attention", "show", question)),
        (f"/alerts/{alert}", ("alerts", "show", alert)),
    ):
        answer = await busy.call("GET", path)
        called = await asyncio.to_thread(installation.call, *command)
        assert called.out == answer.text + "\n"


async def test_the_history_of_a_page_is_made_of_the_records_of_the_api(busy: Api, installation: Installation) -> None:
    page = await busy.get("/pages/13")
    states = (await busy.get("/pages/13/states"))["items"]
    verdicts = {verdict["id"]: verdict for verdict in (await busy.get("/pages/13/verdicts?limit=200"))["items"]}
    changes = (await busy.get("/pages/13/items/changes"))["items"]

    history = (await asyncio.to_thread(installation.call, "history", page["url"])).records

    assert [{name: state[name] for name in states[0]} for state in history] == states
    assert [verdicts[verdict["id"]] for state in history for verdict in state["verdicts"]] == [
        verdict for state in history for verdict in state["verdicts"]
    ]
    assert [change for state in history for change in reversed(state["items"])] == changes
    assert verdicts
