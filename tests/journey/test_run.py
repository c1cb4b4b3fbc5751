"""The service from its first check to its end, as a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest
from standardwebhooks.webhooks import Webhook

from tests.far_ends.brokers import RedisBroker
from tests.journey.running import CONFIGURATION, RARELY, Home, Service, until
from tests.origin import Origin, Page
from tests.receivers import Answer, WebhookReceiver

Start = Callable[[], Awaitable[Service]]


SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def dated(*major: str, minor: str = "") -> Page:
    return Page(f'<meta name=topper-major content="{" ".join(major)}"><meta name=topper-minor content="{minor}"><h1>A')


async def test_a_change_reaches_the_channel_and_SIGTERM_ends_with_0(home: Home, site: Origin, start: Start) -> None:
    site.pages["/a"] = dated("2026-01-01")
    await home.watch(site.url("/a"))
    service = await start()
    await home.outcome(site.url("/a"), "first", "unchanged")

    site.pages["/a"] = dated("2026-01-01", "2026-02-02")
    alert = await home.alert("changed", site.url("/a"))

    assert (alert["data"]["outcome"], alert["data"]["rule"]) == ("major", "T44")
    assert alert["data"]["new_dates"] == {"major": ["2026-02-02"], "minor": []}
    assert alert["data"]["rendering"]["error"] is None
    assert await service.stop() == 0


async def test_SIGINT_ends_the_service_with_0(home: Home, start: Start) -> None:
    service = await start()
    await home.hears("engine.started")

    assert await service.end(signal.SIGINT) == 0


async def test_a_stop_does_not_wait_for_a_site_that_never_answers(home: Home, site: Origin, start: Start) -> None:
    gone = asyncio.Event()
    site.pages["/slow"] = Page(wait=gone.wait)
    home.configure(CONFIGURATION + '[fetch.deadlines]\nfirst_byte = "300s"\ntotal = "300s"\n')
    await home.watch(site.url("/slow"))
    service = await start()

    async def is_asked() -> bool:
        return bool(site.asked("/slow"))

    await until(is_asked, what="a request for the page")

    assert await service.stop() == 0
    gone.set()


async def test_SIGHUP_rereads_and_a_bad_file_keeps_the_old_one(home: Home, site: Origin, start: Start) -> None:
    site.pages["/a"] = dated("2026-01-01")
    await home.watch(site.url("/a"))
    service = await start()
    await home.outcome(site.url("/a"), "unchanged")

    home.configure(CONFIGURATION.replace("every =", "evry ="))
    service.tell(signal.SIGHUP)
    refused = await home.hears("configuration.refused")
    site.pages["/a"] = dated("2026-01-01", "2026-02-02")
    await home.alert("changed", site.url("/a"))
    home.configure(CONFIGURATION.replace("[hosts]", 'report = ["unchanged"]\n[hosts]'))
    service.tell(signal.SIGHUP)
    await home.alert("unchanged", site.url("/a"))

    assert "every" in refused["error"]
    assert await service.stop() == 0


async def test_SIGHUP_while_the_file_is_gone_keeps_what_was_in_force(home: Home, start: Start) -> None:
    service = await start()
    await home.hears("engine.started")
    (home.folder / "tocsin.toml").rename(home.folder / "moved.toml")

    service.tell(signal.SIGHUP)

    refused = await home.hears("configuration.refused")
    assert "is gone" in refused["error"]


async def test_SIGHUP_says_what_needs_a_restart(home: Home, start: Start) -> None:
    service = await start()
    await home.hears("engine.started")

    home.configure(CONFIGURATION.replace("tocsin.db", "other.db"))
    service.tell(signal.SIGHUP)

    assert "store.url" in str((await home.hears("configuration.read"))["needs_restart"])


WEBHOOK = '[channels.ops]\ntype = "webhook"\nurl = "{url}"\nsecret_file = "ops.secret"\n'
SECRETLESS = '[channels.pager]\ntype = "webhook"\nurl = "https://pager.example/"\nsecret_file = "pager.secret"\n'


async def test_a_channel_that_changes_and_its_new_secret_are_taken_up_at_SIGHUP(
    home: Home, site: Origin, start: Start
) -> None:
    site.pages["/a"] = dated("2026-01-01")
    await home.watch(site.url("/a"))
    async with WebhookReceiver() as before, WebhookReceiver() as receiver:
        (home.folder / "ops.secret").write_text(SECRET)
        home.configure(CONFIGURATION + WEBHOOK.format(url=before.url))
        service = await start()
        await home.outcome(site.url("/a"), "first", "unchanged")
        made = json.loads((await home.call("channel", "secret", "ops", "--replace", "--json")).out)["secret"]

        home.configure(CONFIGURATION + WEBHOOK.format(url=receiver.url))
        service.tell(signal.SIGHUP)
        read = await home.hears("configuration.read")
        site.pages["/a"] = dated("2026-01-01", "2026-02-02")

        async def is_told() -> bool:
            return bool(receiver.got)

        await until(is_told, what="an alert at the new address")
        delivered, asked_before = receiver.got[0], len(before.got)
        assert await service.stop() == 0

    assert (read["needs_restart"], asked_before) == ([], 0)
    for secret in (SECRET, made):
        assert Webhook(secret).verify(delivered.body, dict(delivered.headers)) == delivered.event


async def test_a_test_of_a_channel_goes_through_the_running_service_and_enables_what_said_410(
    home: Home, site: Origin, start: Start
) -> None:
    site.pages["/a"] = dated("2026-01-01")
    await home.watch(site.url("/a"))
    async with WebhookReceiver(Answer(410)) as receiver:
        (home.folder / "ops.secret").write_text(SECRET)
        home.configure(CONFIGURATION + WEBHOOK.format(url=receiver.url) + SECRETLESS)
        service = await start()
        await home.outcome(site.url("/a"), "first", "unchanged")
        site.pages["/a"] = dated("2026-01-01", "2026-02-02")
        await home.hears("channel.disabled")
        unread = await home.call("channel", "test", "pager")
        refused = await home.call("channel", "test", "ops")
        # What the file says now is not in force: neither this address nor this secret is used.
        home.configure(CONFIGURATION + WEBHOOK.format(url="http://127.0.0.1:1/") + 'timeout = "1s"\n')
        (home.folder / "ops.secret").unlink()
        receiver.answers[:] = [Answer(204)]

        tried = await home.call("channel", "test", "ops", "--json")

        async def is_told() -> bool:
            return any(delivered.event["type"] == "tocsin.page.changed.v1" for delivered in receiver.got[2:])

        await until(is_told, what="the alert that waited")
        unknown = await home.call("channel", "test", "nowhere")
        assert await service.stop() == 0

    assert (refused.status != 0, "answered 410" in refused.err) == (True, True)
    assert (unread.status, "`tocsin channel secret pager` makes a secret" in unread.err) == (2, True)
    assert (tried.status, json.loads(tried.out)["through"]) == (0, "service")
    assert "the running service has no such channel" in unknown.err


async def test_a_second_engine_is_refused_and_told_who_holds_the_store(home: Home, start: Start) -> None:
    service = await start()
    await home.hears("engine.started")

    second = await home.call("run")

    assert second.status == 3
    assert str(service.pid) in second.err
    assert await service.stop() == 0


async def test_check_beside_a_running_engine_follows_its_results(home: Home, site: Origin, start: Start) -> None:
    home.configure(RARELY)
    urls = [site.url(f"/{number}") for number in range(5)]
    site.fallback = dated("2026-01-01")
    await home.watch(*urls)
    await start()
    for url in urls:
        await home.outcome(url, "first")

    site.fallback = dated("2026-01-01", minor="2026-02-02")
    called = await home.call("check", *urls)

    assert called.status == 0, called.err
    assert {(record["url"], record["outcome"]) for record in called.records()} == {(url, "minor") for url in urls}
    for url in urls:
        await home.alert("changed", url, outcome="minor")


async def test_pages_are_checked_while_a_channel_waits_for_its_secret(home: Home, site: Origin, start: Start) -> None:
    site.pages["/a"] = dated("2026-01-01")
    await home.watch(site.url("/a"))
    async with WebhookReceiver() as receiver:
        channel = f'[channels.ops]\ntype = "webhook"\nurl = "{receiver.url}"\nsecret_file = "ops.secret"\n'
        home.configure(CONFIGURATION + channel)
        service = await start()
        told = await home.hears("channel.unread")
        await home.outcome(site.url("/a"), "first", "unchanged")
        site.pages["/a"] = dated("2026-01-01", "2026-02-02")
        await home.alert("changed", site.url("/a"))
        async with home.store() as store:
            waiting = (await store.channel_state("ops")).waiting
        (home.folder / "ops.secret").write_text(SECRET)
        service.tell(signal.SIGHUP)

        async def is_given() -> bool:
            return bool(receiver.got)

        await until(is_given, what="the alert that waited")

    assert (told["level"], told["channel"], "ops.secret: there is no such file" in told["error"]) == (
        "error",
        "ops",
        True,
    )
    assert waiting == 1
    assert receiver.got[0].event["subject"] == site.url("/a")
    assert await service.stop() == 0


async def test_SIGHUP_takes_the_credentials_of_pages_that_were_not_there(
    home: Home, site: Origin, start: Start
) -> None:
    site.pages["/a"] = dated("2026-01-01")
    await home.watch(site.url("/a"))
    home.configure(CONFIGURATION.replace("[pages]", '[pages]\nauth_file = "a.secret"'))
    service = await start()
    await home.outcome(site.url("/a"), "deferred")
    asked_without = len(site.asked("/a"))

    (home.folder / "a.secret").write_text("me:secret")
    service.tell(signal.SIGHUP)
    await home.outcome(site.url("/a"), "first", "unchanged")

    assert asked_without == 0
    assert all(asked.headers.get("authorization") == "Basic bWU6c2VjcmV0" for asked in site.asked("/a"))
    assert await service.stop() == 0


PIGEON = """
from pathlib import Path
from tocsin.settings import ChannelSettings


class PigeonSettings(ChannelSettings, frozen=True, kw_only=True):
    loft: str


class Pigeon:
    at_once, takes_messages = 1, False

    def __init__(self, name, loft):
        self.name, self._loft = name, loft

    async def deliver(self, notification):
        with self._loft.open("ab") as file:
            file.write(notification.event.json + b"\\n")

    async def close(self):
        pass


class PigeonType:
    Settings, example = PigeonSettings, ""

    def open(self, name, settings, context):
        return Pigeon(name, Path(settings.loft))

    async def probe(self, name, settings, context):
        return ()
"""


async def test_a_broker_and_a_plug_in_take_their_changes_up_at_SIGHUP(
    home: Home, site: Origin, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = home.folder / "installed"
    metadata = installed / "pigeon-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: pigeon\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[tocsin.channels]\npigeon = pigeon:PigeonType\n")
    (installed / "pigeon.py").write_text(PIGEON)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), str(installed)))))
    site.pages["/a"] = dated("2026-01-01")
    await home.watch(site.url("/a"))
    broker = RedisBroker(home.folder / "redis")
    await broker.start()
    try:
        home.configure(CONFIGURATION + channels_of(broker, stream="before", loft=home.folder / "before"))
        service = await start()
        await home.outcome(site.url("/a"), "first", "unchanged")

        home.configure(CONFIGURATION + channels_of(broker, stream="tocsin:alerts", loft=home.folder / "after"))
        service.tell(signal.SIGHUP)
        read = await home.hears("configuration.read")
        site.pages["/a"] = dated("2026-01-01", "2026-02-02")
        await home.alert("changed", site.url("/a"))
        given = await until(partial(broker.received, 0), what="an alert in the new stream")

        async def carried() -> list[str]:
            loft = home.folder / "after"
            return loft.read_text("utf-8").splitlines() if loft.exists() else []

        lines = await until(carried, what="an alert in the new loft")
        assert await service.stop() == 0
    finally:
        await broker.kill()

    assert (read["needs_restart"], (home.folder / "before").exists()) == ([], False)
    assert [each["type"] for each in given] == ["tocsin.page.changed.v1"]
    assert [json.loads(line) for line in lines] == given


def channels_of(broker: RedisBroker, *, stream: str, loft: Path) -> str:
    section = broker.section() | {"stream": stream}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in section.items())
    pigeon = f'[delivery]\nplugins = ["pigeon"]\n[channels.loft]\ntype = "pigeon"\nloft = "{loft}"\n'
    return f'{pigeon}[channels.stream]\ntype = "redis"\n{lines}'
