"""A secret of a channel, of any type, is never read back: by API, web pages, commands, log or errors."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.calling import Installation
from tests.server.rig import Rig
from tests.server.web.visiting import Visitor, tree
from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.saved import fields_of

MARK: Final = "never-to-be-read-back-0001"
# A channel of each type that has a secret, or an address that holds one.
CHANNELS: Final[dict[str, dict[str, Any]]] = {
    "webhook": {
        "url": f"https://hooks.example/T0/{MARK}?key={MARK}",
        "secret": f"raw:{MARK}",
        "headers": {"Authorization": f"Bearer {MARK}"},
    },
    "mail": {
        "host": "mail.example", "user": "u", "password": MARK, "sender": "a@b.example", "to": ["c@d.example"],
    },
    "nats": {"url": "tls://nats.example", "subject": "tocsin.alerts", "user": "u", "password": MARK},
    "mqtt": {"url": "mqtts://mqtt.example", "topic": "tocsin", "user": "u", "password": MARK},
    "redis": {"url": "rediss://redis.example/0", "stream": "tocsin", "password": MARK},
    "amqp": {"url": "amqps://rabbit.example", "routing_key": "tocsin", "user": "u", "password": MARK},
    "apprise": {"url": f"json://u:{MARK}@apprise.example/{MARK}"},
}  # fmt: skip
NATS_TOKEN: Final = {"type": "nats", "url": "tls://nats.example", "subject": "tocsin.alerts", "token": MARK}
ROWS: Final = [*({"type": kind, **settings} for kind, settings in CHANNELS.items()), NATS_TOKEN]


def named(row: dict[str, Any]) -> str:
    return f"{row['type']}-{'token' if 'token' in row else 'password'}"


def test_every_type_with_a_secret_is_in_the_table() -> None:
    secrets = {
        kind: {each.key for each in fields_of(load_type(kind, ()).Settings) if each.kind == "secret"}
        for kind in our_types()
    }
    tried = {kind: {key for row in ROWS if row["type"] == kind for key in row} for kind in secrets}

    assert [(kind, keys - tried[kind]) for kind, keys in secrets.items() if keys - tried[kind]] == []


@pytest.mark.parametrize("row", ROWS, ids=named)
async def test_the_service_tells_no_secret_of_a_channel(rig: Rig, row: dict[str, Any]) -> None:
    async with rig.asking() as asked:
        visitor, told = Visitor(rig, asked), []

        async def call(method: str, path: str, body: Any = None, **headers: str) -> int:
            answer = await asked.request(method, f"/api/v1{path}", json=body, headers=headers)
            told.append((f"{method} {path}", f"{answer.text} {answer.headers}"))
            return answer.status_code

        assert await call("POST", "/channels", {"name": "ops", **row}) == 201
        assert MARK in str((await rig.store.saved()).channels[0].settings), "it was stored"
        await call("POST", "/channels", {"name": "ops", **row})
        await call("POST", "/channels", {"name": "two", **row, "sercet": MARK})
        await call("POST", "/channels", {"name": "two", **row, "timeout": MARK})
        await call("POST", "/channels", {"name": "two", **row, "type": "webhok"})
        await call("POST", "/channels/test", {"name": "two", **row, "timeout": "soon"})
        shown = (await asked.get("/api/v1/channels/ops")).json()["settings"]
        await call("PUT", "/channels/ops", {**shown, "url": "https://elsewhere.example/"}, **{"If-Match": "*"})
        for path in ("/channels", "/channels/ops", "/settings", "/audit", "/routes", "/channel-types", "/alerts"):
            await call("GET", path)
        pages = ("/notifications", "/notifications/channel?name=ops", "/settings/force", "/settings/audit")
        told += [(path, await visitor.get(path)) for path in pages]
        form = tree(await visitor.get("/notifications/channel?name=ops"))
        fields = {each.get("name"): each.get("value") or each.text or "" for each in form.xpath("//form//*[@name]")}
        typed = fields | {name: MARK for name in fields if name.startswith("secret-")}
        for change in ({"s-timeout": "soon"}, {"revision": "0"}, {"again": "yes"}, {"csrf": "stale"}):
            answer = await visitor.post("/notifications/channel", **typed | {"name": "ops", "do": "save"} | change)
            told.append((f"the form with {change}", answer.text))
        told.append(("the log", "\n".join(map(str, rig.telemetry.happenings))))
        told += [("audit", str(entry.detail)) for entry in (await rig.store.audit(limit=100)).rows]

    assert [what for what, text in told if MARK in text] == []


def written(row: dict[str, Any]) -> str:
    """The same channel in the configuration file."""
    text = {key: re.sub(r"'", '"', str(value)).replace("{", "{ ").replace(": ", " = ") for key, value in row.items()}
    lines = [f"{key} = {text[key] if isinstance(row[key], list | dict) else repr(row[key])}" for key in row]
    return "\n".join(["[channels.ops]", *lines, ""])


@pytest.mark.parametrize("row", ROWS, ids=named)
@pytest.mark.parametrize("place", ["file", "store"])
async def test_no_command_tells_a_secret_of_a_channel(tmp_path: Path, row: dict[str, Any], place: str) -> None:
    installation = Installation(tmp_path)
    installation.configure(written(row) if place == "file" else "")
    pages = installation.write("pages.toml", "pages = []\n")
    await asyncio.to_thread(installation.call, "watch", "add", "https://a.example/")
    if place == "store":
        given = [f"{key}={value}" for key, value in row.items() if key not in {"type", "headers", "to"}]
        given += [f"to={row['to'][0]}"] if "to" in row else []
        added = await asyncio.to_thread(
            installation.call, "channel", "add", "ops", "--type", row["type"], *given, "timeout=soon"
        )
        assert added.status != 0
        assert MARK not in added.err + added.out
        added = await asyncio.to_thread(installation.call, "channel", "add", "ops", "--type", row["type"], *given)
        # A name that does not resolve here is no reason against it.
        assert added.status == 0, added.err

    answers = [
        await asyncio.to_thread(installation.call, *command)
        for command in (
            ("channel", "list"), ("channel", "list", "--json"), ("channel", "show", "ops", "--json"),
            ("channel", "remove", "none"), ("plan", pages, "--json"), ("apply", pages, "--yes", "--json"),
            ("plan", "--from-store"), ("store", "check", "--json"), ("route", "list", "--json"),
        )
    ]  # fmt: skip

    assert [answer.status for answer in answers[:3]] == [0, 0, 0], answers[0].err
    assert [answer for answer in answers if MARK in answer.out + answer.err] == []


@pytest.mark.parametrize("row", ROWS, ids=named)
@pytest.mark.parametrize("change", [{"timeout": "soon"}, {"sercet": MARK}, {"type": "webhok"}])
def test_no_error_in_the_file_tells_a_secret_of_a_channel(
    tmp_path: Path, row: dict[str, Any], change: dict[str, str]
) -> None:
    installation = Installation(tmp_path)
    installation.configure(written(row | change))

    answer = installation.call("channel", "list")

    assert answer.status != 0
    assert MARK not in answer.out + answer.err
