"""The receivers that the documents give people to copy, run as they would, against the real webhook channel."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.house.sources import ROOT
from tests.receivers import EVENT, no_dial, no_tls
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.signing import read_secrets, sign
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.system import SystemClock
from tocsin.errors import DeliveryError
from tocsin.model import SerializedEvent
from tocsin.ports import Notification

EXAMPLES = ROOT / "docs" / "examples"
SECRET = "whsec_dG9jc2luLXRlc3RzLXNpZ24td2l0aC10aGlz"
OTHER: dict[str, Any] = {**EVENT, "id": "01KAK0000000000000000000BB"}
SHELL = shutil.which("sh") or "/bin/sh"


def environ(folder: Path, secret: str) -> dict[str, str]:
    (folder / "ops.secret").write_text(f"{secret}\n")
    return {**os.environ, "RECEIVER_SECRET_FILE": str(folder / "ops.secret")}


@asynccontextmanager
async def in_python(folder: Path, secret: str) -> AsyncIterator[tuple[str, Callable[[], list[str]]]]:
    """The receiver in Python; yields its URL, and what it worked on."""
    with (folder / "said").open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            EXAMPLES / "receiver.py",
            "127.0.0.1:0",
            env=environ(folder, secret),
            stdout=said,
            stderr=asyncio.subprocess.PIPE,
        )
    assert process.stderr is not None
    async with asyncio.timeout(30):
        url = (await process.stderr.readline()).decode().split()[-1]
    try:
        yield url, lambda: (folder / "said").read_text().splitlines()
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def in_shell(folder: Path, secret: str) -> AsyncIterator[tuple[str, Callable[[], list[str]]]]:
    """The receiver in shell behind a listener that gives each connection to it, as socat and inetd do."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        process = await asyncio.create_subprocess_exec(
            SHELL,
            EXAMPLES / "receiver.sh",
            cwd=folder,
            env=environ(folder, secret),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        request = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in request.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        out, _ = await process.communicate(request + await reader.readexactly(length))
        writer.write(out)
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/", lambda: lines_of(folder / "alerts.jsonl")


def lines_of(journal: Path) -> list[str]:
    return [json.loads(line)["id"] for line in journal.read_text().splitlines()] if journal.exists() else []


@pytest.fixture(params=[in_python, in_shell])
def receiver(request: pytest.FixtureRequest) -> Callable[[Path, str], AbstractAsyncContextManager[Any]]:
    found: Callable[[Path, str], AbstractAsyncContextManager[Any]] = request.param
    return found


async def deliver(url: str, *events: dict[str, Any], secret: str = SECRET) -> None:
    settings = WebhookSettings(type="webhook", url=url, secret=secret, timeout=timedelta(seconds=30))
    channel = open_channel("ops", settings, ChannelContext(aiohttp.ClientSession, SystemClock(), no_dial, no_tls))
    try:
        for event in events:
            await channel.deliver(Notification(SerializedEvent.of(event)))
    finally:
        await channel.close()


@pytest.mark.parametrize("secret", [SECRET, SECRET.removeprefix("whsec_"), "bm8gcGFkZGluZw"])
async def test_alerts_are_received_and_each_is_worked_on_once(
    receiver: Callable[..., AbstractAsyncContextManager[Any]], tmp_path: Path, secret: str
) -> None:
    async with receiver(tmp_path, secret) as (url, worked_on):
        await deliver(url, EVENT, EVENT, OTHER, secret=secret)

        assert len(worked_on()) == 2


async def test_while_a_secret_is_replaced_a_receiver_can_read_the_file_that_Tocsin_signs_from(
    receiver: Callable[..., AbstractAsyncContextManager[Any]], tmp_path: Path
) -> None:
    both = f"whsec_bmV3LXNlY3JldC1vZi10aGUtdGVzdHM=\n{SECRET}"

    async with receiver(tmp_path, both) as (url, worked_on):
        await deliver(url, EVENT, secret=both)

        assert len(worked_on()) == 1


async def test_what_is_signed_with_another_secret_is_refused(
    receiver: Callable[..., AbstractAsyncContextManager[Any]], tmp_path: Path
) -> None:
    async with receiver(tmp_path, SECRET) as (url, worked_on):
        with pytest.raises(DeliveryError, match="401"):
            await deliver(url, EVENT, secret="YW5vdGhlcg==")

        assert worked_on() == []


@pytest.mark.parametrize("changed", ["body", "late", "unsigned", "id"])
async def test_what_was_changed_or_is_old_is_refused(
    receiver: Callable[..., AbstractAsyncContextManager[Any]], tmp_path: Path, changed: str
) -> None:
    body = json.dumps(EVENT).encode()
    at = SystemClock().now() - (3_600_000_000 if changed == "late" else 0)
    headers = sign(read_secrets(SECRET), EVENT["id"], at, body)
    if changed == "unsigned":
        del headers["webhook-signature"]
    if changed == "id":
        headers["webhook-id"] = "../../x"
    async with receiver(tmp_path, SECRET) as (url, worked_on), aiohttp.ClientSession() as session:
        sent = body.replace(b"ops", b"oops") if changed == "body" else body
        async with session.post(url, data=sent, headers=headers) as answer:
            assert answer.status == 401

        assert worked_on() == []


def test_the_documents_lead_to_both_receivers() -> None:
    text = (ROOT / "docs" / "alert-receivers.md").read_text("utf-8")

    assert "examples/receiver.py" in text
    assert "examples/receiver.sh" in text
