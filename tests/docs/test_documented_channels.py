"""The sections of channels that the documentation shows reach real servers, with nothing changed but addresses."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.cli.calling import CONFIGURATION, Installation
from tests.far_ends.base import PASSWORD
from tests.far_ends.brokers import BROKERS
from tests.house.sources import ROOT
from tests.mailserver import MailServer
from tests.receivers import Answer, WebhookReceiver

FENCED = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    monkeypatch.chdir(tmp_path)
    return Installation(tmp_path)


def section_of(document: str, channel: str) -> str:
    """The last configuration of a page that has this channel."""
    text = (ROOT / "docs" / document).read_text("utf-8")
    blocks: list[str] = FENCED.findall(text)
    return [block for block in blocks if f"[channels.{channel}]" in block][-1]


async def carry_out(reader: Installation, text: str, channel: str) -> None:
    """Configure the channel, let the doctor look, and send a test."""
    reader.write("tocsin.toml", text if "[network]" in text else CONFIGURATION + text)
    for file in (*reader.folder.glob("*.secret"), *reader.folder.glob("*.url")):
        file.chmod(0o600)

    found = await asyncio.to_thread(reader.call, "doctor", "--no-settings")
    assert f"Channel {channel}" not in found.out
    assert "contains a secret" not in found.out
    answer = await asyncio.to_thread(reader.call, "channel", "test", channel)
    assert answer.status == 0, answer.err


@pytest.mark.parametrize("name", BROKERS)
async def test_a_broker_is_reached_as_its_section_says(reader: Installation, name: str) -> None:
    broker = BROKERS[name](reader.folder / "server")
    await broker.start()
    try:
        await broker.prepare()
        text = re.sub(r"\w+://[\w.]+", broker.server.url, section_of("brokers.md", name))
        reader.write(f"{name}.secret", PASSWORD)

        await carry_out(reader, text, name)

        assert [event["type"] for event in await broker.received(1)] == ["tocsin.channel.test.v1"]
    finally:
        await broker.kill()


async def test_a_mail_server_on_this_machine_is_reached_as_its_section_says(reader: Installation) -> None:
    async with MailServer() as server:
        text = section_of("mail.md", "desk").replace('host = "127.0.0.1"', f'host = "127.0.0.1"\nport = {server.port}')

        await carry_out(reader, text, "desk")

    assert len(server.mails) == 1


def apprise_url() -> str:
    page = (ROOT / "docs/apprise.md").read_text("utf-8")
    [url] = re.findall(r"^\$ printf '%s\\n' '(.*)' > chat.url$", page, re.MULTILINE)
    return str(url).replace("ntfy.example.org", "{}")


@pytest.mark.parametrize(
    ("document", "file", "url"),
    [("alert-receivers.md", "slack.url", "http://{}/services"), ("apprise.md", "chat.url", apprise_url())],
)
async def test_a_chat_is_reached_as_its_section_says(reader: Installation, document: str, file: str, url: str) -> None:
    async with WebhookReceiver(Answer(200)) as receiver:
        reader.write(file, url.format(receiver.url.removeprefix("http://").removesuffix("/hook")) + "\n")

        await carry_out(reader, section_of(document, "chat"), "chat")

    assert b"This is a test" in receiver.got[0].body
