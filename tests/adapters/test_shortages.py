"""Where this machine is short of files, no page, host or channel is to blame."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path

import aiohttp
import pytest

from tests.fakes import ManualClock, settle
from tests.nameserver import NameServer
from tests.origin import Origin, Page
from tests.receivers import EVENT, no_dial, no_tls
from tests.shortages import no_file_left
from tests.wire import fetcher, request
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.http.addresses import NameCache, NameNotResolved
from tocsin.adapters.http.fetcher import translate
from tocsin.errors import DeliveryError, Shortage
from tocsin.model import SerializedEvent
from tocsin.ports import Notification

SECRET = "whsec_c2VjcmV0IG9mIHRlc3RzLCBsb25nIGVub3VnaA=="


async def test_T58_a_request_that_finds_no_file_left_is_no_failure_of_its_page() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/a"] = Page("hello")
        with no_file_left(), pytest.raises(Shortage, match="ulimit -n") as caught:
            await client.get(request(origin.url("/a")))

        after = await client.get(request(origin.url("/a")))

    assert caught.value.what == "files"
    assert after.body == b"hello"


async def test_a_shortage_of_files_closes_connections_that_lie_idle() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/a"] = Page("hello")
        await client.get(request(origin.url("/a")))
        before = client.shared().connections
        with no_file_left(), pytest.raises(Shortage):
            await client.get(request(origin.url("/a", host="127.0.0.2")))
        await settle()

        assert (before, client.shared().connections) == (1, 0)


async def test_a_name_that_cannot_be_asked_for_is_not_taken_to_be_unknown() -> None:
    async with NameServer() as server:
        server.names["site.example"] = ["192.0.2.1"]
        names = NameCache(30.0, servers=[server.address])
        with no_file_left(), pytest.raises(Shortage):
            await names.addresses("site.example")

        found = await names.addresses("site.example")
        with pytest.raises(NameNotResolved):
            await names.addresses("other.example")
        await names.close()

    assert found == ("192.0.2.1",)


@pytest.mark.parametrize(
    ("number", "what"),
    [
        (errno.EMFILE, "files"),
        (errno.ENFILE, "files"),
        (errno.ENOMEM, "memory"),
        (errno.ENOBUFS, "buffers"),
    ],
)
def test_what_the_system_has_no_more_of_is_named_with_the_mend(number: int, what: str) -> None:
    error = translate("http://site.example/", OSError(number, "no more"))

    assert isinstance(error, Shortage)
    assert error.what == what
    assert "fetch.in_flight" in str(error)


def test_memory_that_is_used_up_is_a_shortage() -> None:
    assert isinstance(translate("http://site.example/", MemoryError()), Shortage)


def test_an_address_that_is_not_there_is_no_shortage_of_ports_where_it_may_be_ipv6() -> None:
    error = translate("http://site.example/", OSError(errno.EADDRNOTAVAIL, "cannot assign requested address"))

    assert not isinstance(error, Shortage)


async def test_a_webhook_that_finds_no_file_left_does_not_blame_its_channel() -> None:
    async with aiohttp.ClientSession() as session:
        settings = WebhookSettings(type="webhook", url="http://127.0.0.1:9/hook", secret=SECRET)
        channel = open_channel("ops", settings, ChannelContext(lambda: session, ManualClock(), no_dial, no_tls))
        with no_file_left(), pytest.raises(DeliveryError, match="ulimit -n") as caught:
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert caught.value.blames == "ours"


def test_a_file_channel_that_finds_no_file_left_does_not_blame_its_channel(tmp_path: Path) -> None:
    settings = FileSettings(type="file", path=str(tmp_path / "alerts.jsonl"))
    channel = open_channel("log", settings, ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls))

    async def deliver() -> None:
        # Its thread is there already.
        await asyncio.to_thread(int)
        with no_file_left():
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))

    with pytest.raises(DeliveryError, match="ulimit -n") as caught:
        asyncio.run(deliver())

    assert caught.value.blames == "ours"
