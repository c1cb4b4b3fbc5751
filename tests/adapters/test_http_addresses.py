"""From a URL as typed to what is dialled: every form of an address ends at the same judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.nameserver import NameServer
from tests.origin import Origin, Page, RawOrigin
from tests.wire import fetcher, request
from tocsin.adapters.http.llhttp import dialling
from tocsin.adapters.http.resolver import MOST_ADDRESSES, NameCache
from tocsin.errors import BadUrl, FetchFailed, FetchRefused
from tocsin.model import FailureKind
from tocsin.settings import NetworkSettings
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from tocsin.model import HopRequest

NOWHERE = NetworkSettings()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://%31%32%37.0.0.1/",
        "http://\uff11\uff12\uff17\u3002\uff10\u3002\uff10\u3002\uff11/",
        "http://0/",
        "http://[::]/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest",
        "http://192.88.99.1/",
        "http://224.0.0.1/",
        "http://[fd00::1]/",
        "http://LOCALHOST./",
        "http:\\\\127.0.0.1\\",
        "http://example.org@127.0.0.1/",
        "http://127.0.0.1#@example.org/",
    ],
)
async def test_no_form_of_an_address_gets_past_its_judgement(url: str) -> None:
    async with fetcher(network=NOWHERE) as client:
        with pytest.raises(FetchRefused) as caught:
            await client.get(request(watch_url(url).url))

    assert caught.value.kind == FailureKind.BLOCKED_ADDRESS


async def test_an_address_with_a_zone_cannot_even_be_written() -> None:
    with pytest.raises(BadUrl, match="not a URL"):
        watch_url("http://[fe80::1%25eth0]/")


async def test_the_very_address_that_is_dialled_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is resolved twice may give another address the second time."""
    allowed = NetworkSettings(allow=("127.0.0.2/32",))
    target = dialling._target
    monkeypatch.setattr(dialling, "_target", lambda _, port: target("127.0.0.1", port))
    async with (
        NameServer() as names,
        Origin() as origin,
        fetcher(network=allowed, name_servers=[names.address]) as client,
    ):
        names.names["turns.example"] = ["127.0.0.2"]
        with pytest.raises(FetchRefused, match=r"127\.0\.0\.1 is a loopback address") as caught:
            await client.get(request(origin.url("/", host="turns.example")))

    assert caught.value.kind == FailureKind.BLOCKED_ADDRESS
    assert origin.log == []


async def test_a_connection_that_stands_is_not_used_for_a_name_that_is_another_machine_s() -> None:
    async with NameServer() as names, Origin() as origin, fetcher(name_servers=[names.address]) as client:
        names.names["a.example"] = ["127.0.0.1"]
        origin.pages["/"] = Page("mine")
        await client.get(request(origin.url("/", host="a.example")))

        with pytest.raises(FetchFailed, match=r"b\.example has no address"):
            await client.get(request(origin.url("/", host="b.example")))


async def test_a_proxy_that_is_allowed_is_not_asked_for_addresses_that_are_not() -> None:
    def through(proxy: str, url: str) -> HopRequest:
        return request(watch_url(url).url, proxy=proxy)

    async with RawOrigin(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as proxy, fetcher() as client:
        for url in ("http://[::ffff:10.0.0.1]/", "http://10.1/", "http://[64:ff9b::a9fe:a9fe]/", "http://[fe80::1]/"):
            with pytest.raises(FetchRefused, match=r"\[network\]: allow = "):
                await client.get(through(proxy.url(""), url))

    assert proxy.heads == []


async def test_only_the_first_addresses_of_a_name_are_dialled_and_remembered() -> None:
    async with NameServer() as server:
        server.names["many.test"] = [f"127.0.1.{n}" for n in range(1, 20)] + [f"fd00::{n}" for n in range(1, 20)]
        names = NameCache(1.0, servers=[server.address])
        found = await names.addresses("many.test")
        await names.close()

    assert sum(":" in address for address in found) == MOST_ADDRESSES
    assert len(found) == 2 * MOST_ADDRESSES
