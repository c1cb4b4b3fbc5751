"""Alerts by Apprise, to real receivers on loopback: what arrives, what is blamed, and what gets out of the cell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs

import aiohttp
import pytest

from tests.adapters.test_egress import OK
from tests.fakes import START, FixedChance, ManualClock
from tests.origin import RawOrigin
from tests.receivers import EVENT, Answer, WebhookReceiver, no_dial, no_tls
from tocsin.adapters.channels.apprise import AppriseChannel, AppriseSettings, AppriseType
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.processes.starting import environment
from tocsin.app.channels import OpenChannels
from tocsin.app.egress import CellAsides
from tocsin.configuration import load, mask
from tocsin.configuration.convert import ChannelName
from tocsin.configuration.loading import shown_address
from tocsin.engine.judging.events import EventWriter
from tocsin.errors import DeliveryError
from tocsin.events import Happening
from tocsin.model import SerializedEvent
from tocsin.model.messages import Message
from tocsin.ports import Notification
from tocsin.settings import NetworkSettings, Settings

SECRET = "tk9s3cr3ttoken00000000000000"
MESSAGE = Message(
    id="01KAK0000000000000000000AA",
    subject="Prices changed <!channel>",
    text="Two lines <b> changed\nhttps://example.org/prices",
    html="<p>unused</p>",
    markdown="**Two** lines \\<b\\> changed",
    short="Two lines changed",
)
NOTIFICATION = Notification(SerializedEvent.of(EVENT), MESSAGE)
LOCAL = ("127.0.0.1/32",)


@asynccontextmanager
async def cells(*allow: str, told: list[Happening] | None = None) -> AsyncIterator[CellAsides]:
    happenings = [] if told is None else told
    opened = CellAsides(NetworkSettings(allow=allow or LOCAL), happenings.append, most=1)
    yield opened
    await opened.close()


def channel(url: str, asides: CellAsides, *, timeout_s: float = 30.0) -> AppriseChannel:
    settings = AppriseSettings(type="apprise", url=url, timeout=timedelta(seconds=timeout_s))
    return AppriseType().open("chat", settings, context(asides))


def context(asides: CellAsides) -> ChannelContext:
    return ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls, asides)


async def refused(
    url: str, asides: CellAsides, *, timeout_s: float = 30.0, message: Message = MESSAGE
) -> DeliveryError:
    with pytest.raises(DeliveryError) as caught:
        await channel(url, asides, timeout_s=timeout_s).deliver(Notification(SerializedEvent.of(EVENT), message))
    return caught.value


@pytest.mark.parametrize("scheme", ["json", "form", "ntfy", "mmost"])
async def test_a_message_arrives_as_its_service_wants_it(scheme: str) -> None:
    async with WebhookReceiver(Answer(200)) as receiver, cells() as asides:
        port = receiver.url.split(":")[2].partition("/")[0]
        where = {"json": "in", "form": "in", "ntfy": "alerts", "mmost": SECRET}[scheme]
        await channel(f"{scheme}://127.0.0.1:{port}/{where}", asides).deliver(NOTIFICATION)

    (got,) = receiver.got
    if scheme == "form":
        body = {key: values[0] for key, values in parse_qs(got.body.decode()).items()}
    else:
        body = json.loads(got.body)
    text = {
        "json": lambda: body["message"],
        "form": lambda: body["message"],
        "ntfy": lambda: body["message"],
        "mmost": lambda: body["text"],
    }[scheme]()
    assert "Two lines <b> changed" in text
    assert got.method == "POST"
    # No picture of another site is loaded by those who read it.
    assert b"github" not in got.body


async def test_a_message_that_is_too_long_for_its_service_is_sent_short() -> None:
    long = Message("1", "s", "x" * 40_000, "", "x" * 40_000, "Two lines changed")
    async with WebhookReceiver(Answer(200)) as receiver, cells() as asides:
        url = receiver.url.replace("http:", "json:")
        await channel(url, asides).deliver(Notification(SerializedEvent.of(EVENT), long))

    assert [json.loads(each.body)["message"] for each in receiver.got] == ["Two lines changed"]


async def test_an_address_that_the_policy_refuses_is_never_reached_and_named_with_the_mend() -> None:
    told: list[Happening] = []
    async with RawOrigin(OK) as canary, cells("10.0.0.0/8", told=told) as asides:
        found = [
            await refused(f"{scheme}://{host}:{canary.port}/{SECRET}", asides)
            for scheme in ("json", "form", "ntfy", "jsons")
            for host in ("127.0.0.1", "localhost", "2130706433")
        ]

    assert canary.connections == 0
    assert {each.blames for each in found} == {"channel"}
    assert "127.0.0.1 is a loopback address; if it is yours, write this line below [network]" in found[0].detail
    assert {each.name for each in told} == {"egress.refused"}


async def test_a_redirect_into_a_refused_network_is_not_followed() -> None:
    async with RawOrigin(OK) as canary:
        there = f"http://127.0.0.2:{canary.port}/{SECRET}"
        async with WebhookReceiver(Answer(307, {"Location": there})) as receiver, cells() as asides:
            found = await refused(receiver.url.replace("http:", "json:"), asides)

    assert canary.connections == 0
    assert found.detail.startswith("127.0.0.2 is a loopback address")


FAILING = """
import msgspec
from apprise import NotificationManager, NotifyBase
from tocsin.adapters.channels.apprise_process import AppriseJob, AppriseText, carry_out

class Failing(NotifyBase):
    def send(self, body, **_):
        raise KeyError(body)

NotificationManager().add(Failing, schemas="failing")
job = AppriseJob("failing://here", AppriseText("subject", "hush", "hush", "hush"))
print(msgspec.msgpack.decode(carry_out(msgspec.msgpack.encode(job))))
"""


def test_a_text_at_which_apprise_fails_blames_the_alert_and_not_the_channel() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAILING], env=environment(), capture_output=True, text=True, check=False
    )

    assert "'Apprise failed at this message (KeyError)'" in done.stdout, done.stderr
    assert "'blames_text': True" in done.stdout
    assert "hush" not in done.stdout


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ntfy://127.0.0.1/a/b/c/d/e/f/g/h", "this URL names 8 targets; .*make a channel for each"),
        (f"nonsense://{SECRET}", "Apprise cannot read this URL"),
        (f"slack://{SECRET}", "Apprise cannot read this URL"),
    ],
)
async def test_a_url_that_cannot_work_is_said_so_and_doctor_finds_it(url: str, said: str) -> None:
    async with cells() as asides:
        found = await refused(url, asides)
        settings = AppriseSettings(type="apprise", url=url)
        findings = await AppriseType().probe("chat", settings, context(asides))

    assert found.blames == "channel"
    assert [each.what for each in findings] == [f"cannot work: {found.detail}"]
    assert SECRET not in str(found)
    assert re.search(said, found.detail)


async def test_a_url_that_apprise_can_read_is_no_finding() -> None:
    async with cells() as asides:
        settings = AppriseSettings(type="apprise", url="ntfy://127.0.0.1/alerts")

        assert list(await AppriseType().probe("chat", settings, context(asides))) == []


def test_the_whole_url_is_a_secret_and_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "chat.url").write_text(f"slack://{SECRET}/B/C\n")
    (tmp_path / "tocsin.toml").write_text('[channels.chat]\ntype = "apprise"\nurl_file = "chat.url"\n')
    section = load(environ={}, cwd=tmp_path).settings.channels["chat"]

    assert isinstance(section, AppriseSettings)
    assert section.url == f"slack://{SECRET}/B/C"
    assert shown_address(section) == "slack://***"
    assert mask(("channels", ChannelName("chat", AppriseSettings), "url"), section.url) == "slack://***"


async def test_a_channel_that_is_tried_with_other_settings_gets_a_message() -> None:
    async with WebhookReceiver(Answer(200)) as receiver:
        url = receiver.url.replace("http:", "json:")
        async with OpenChannels(Settings(network=NetworkSettings(allow=LOCAL))) as channels:
            event = EventWriter("tocsin", FixedChance()).test_event("chat", START).event
            await channels.try_out("chat", AppriseSettings(type="apprise", url=url), event)

    assert "This is a test" in json.loads(receiver.got[0].body)["message"]


def test_apprise_is_imported_by_its_process_alone(tmp_path: Path) -> None:
    """A channel is opened and a URL is read; the process that does so never imports the library."""
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tocsin.app.channels import OpenChannels\n"
        "from tocsin.configuration import load\n"
        "async def main():\n"
        "    settings = load(environ={}, cwd=Path()).settings\n"
        "    async with OpenChannels(settings) as channels:\n"
        "        assert await channels.probe('chat', settings.channels['chat']) == []\n"
        "asyncio.run(main())\n"
        "print(sorted({'apprise', 'requests', 'urllib3'} & sys.modules.keys()))\n"
    )
    (tmp_path / "tocsin.toml").write_text('[channels.chat]\ntype = "apprise"\nurl = "ntfy://example.org/alerts"\n')
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def test_without_the_extra_the_command_is_named() -> None:
    code = (
        "import sys\n"
        "sys.modules['apprise'] = None\n"
        "from tests.adapters.test_channel_apprise import channel\n"
        "try:\n"
        "    channel('ntfy://example.org/alerts', None)\n"
        "except Exception as exc:\n"
        "    print(exc)\n"
    )
    variables = environment()
    variables["PYTHONPATH"] = os.pathsep.join((variables["PYTHONPATH"], *sys.path))
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)

    assert "pip install 'tocsin[apprise]'" in done.stdout, done.stderr
