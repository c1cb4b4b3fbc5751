"""Which addresses may be dialled, and how a client learns them."""

from __future__ import annotations

import json
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nameserver import NameServer
from tests.origin import Origin, Page, RawOrigin
from tests.wire import fetcher, request
from tocsin.adapters.http.addresses import MOST_ADDRESSES, AddressPolicy, NameCache
from tocsin.adapters.http.llhttp import pool
from tocsin.errors import BadUrl, FetchFailed, FetchRefused, SettingsError
from tocsin.model import FailureKind, HopRequest
from tocsin.settings import NetworkSettings
from tocsin.spec.html.urls import watch_url

PUBLIC = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "11.0.0.1", "223.255.255.255", "2606:4700::1111"]
REFUSED = {
    "0.0.0.0": "this machine's own network",
    "0.1.2.3": "this machine's own network",
    "10.255.255.255": "private",
    "100.64.0.1": "carrier's NAT",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "169.254.169.254": "link-local",
    "172.31.255.255": "private",
    "192.0.0.8": "IETF",
    "192.0.2.1": "documentation",
    "192.88.99.1": "6to4",
    "192.168.0.1": "private",
    "198.19.0.1": "benchmarks",
    "198.51.100.7": "documentation",
    "203.0.113.7": "documentation",
    "224.0.0.1": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "broadcast",
    "::": "this machine's own",
    "::1": "loopback",
    "::7f00:1": "IPv4-compatible",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:0:7f00:1": "IPv4-translated",
    "64:ff9b::10.0.0.1": "carries 10.0.0.1, which is a private address",
    "64:ff9b:1::808:808": "NAT64",
    "100::1": "discards",
    "100:0:0:1::1": "assigned to no host",
    "2606:4700::5efe:127.0.0.1": "carries 127.0.0.1 (ISATAP), which is a loopback address",
    "2606:4700::200:5efe:10.0.0.1": "carries 10.0.0.1 (ISATAP), which is a private address",
    "2001::1": "Teredo",
    "2001:2::1": "IETF",
    "2001:db8::1": "documentation",
    "2002:808:808::1": "6to4",
    "3fff:fff::1": "documentation",
    "5f00::1": "segment routing",
    "fd00::1": "private",
    "fe80::1": "link-local",
    "fe80::1%eth0": "network interface",
    "2606:4700::1%eth0": "network interface",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
    "4000::1": "not part of the public internet",
    "example.org": "not an address",
    "127.1": "not an address",
    "": "not an address",
}


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_may_be_dialled(address: str) -> None:
    assert AddressPolicy().refuses(address) is None


@pytest.mark.parametrize(("address", "why"), REFUSED.items())
def test_what_the_internet_does_not_reach_is_refused_and_named(address: str, why: str) -> None:
    assert why in (AddressPolicy().refuses(address) or "")


@pytest.mark.parametrize("address", ["64:ff9b::8.8.8.8", "2606:4700::5efe:8.8.8.8"])
def test_an_address_that_carries_a_public_one_may_be_dialled(address: str) -> None:
    assert AddressPolicy().refuses(address) is None


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_in_every_disguise(address: IPv4Address) -> None:
    policy = AddressPolicy()
    refused = policy.refuses(address) is not None

    assert (policy.refuses(f"::ffff:{address}") is not None) is refused
    assert (policy.refuses(f"64:ff9b::{address}") is not None) is refused
    assert (policy.refuses(f"2606:4700::5efe:{address}") is not None) is refused
    assert policy.refuses(f"::ffff:0:{address}") is not None
    assert policy.refuses(f"64:ff9b:1::{address}") is not None
    assert policy.refuses(IPv6Address(0x2002 << 112 | int(address) << 80)) is not None
    assert policy.refuses(IPv6Address(0x20010000 << 96 | (int(address) ^ 0xFFFFFFFF))) is not None
    assert policy.refuses(f"::{address}") is not None


@given(st.ip_addresses(v=4))
def test_no_address_is_let_through_that_python_calls_private(address: IPv4Address) -> None:
    """GHSA-gwph-fp79-379w, GHSA-hgrr-mjfp-gmr6: special ranges are refused whole."""
    if ip_address(int(address)).is_private:
        assert AddressPolicy().refuses(address) is not None


def test_the_user_may_allow_a_network() -> None:
    policy = AddressPolicy(["10.0.0.0/8", "fd00::/8"])

    assert policy.refuses("10.1.2.3") is None
    assert policy.refuses("::ffff:10.1.2.3") is None
    assert policy.refuses("fd12::1") is None
    assert policy.refuses("192.168.0.1") is not None


def test_an_allowed_ipv4_network_does_not_open_its_disguises() -> None:
    policy = AddressPolicy(["10.0.0.0/8"])

    assert policy.refuses("64:ff9b::10.0.0.1") is not None
    assert policy.refuses("2002:a00:1::") is not None


@pytest.mark.parametrize("text", ["10.0.0.0/33", "localhost", "10.*", ""])
def test_what_is_no_network_is_refused_with_the_mend(text: str) -> None:
    with pytest.raises(SettingsError, match=r"network\.allow.*10\.0\.0\.0/8"):
        AddressPolicy([text])


@given(st.ip_addresses(v=6))
def test_no_ipv6_address_is_let_through_that_python_calls_private(address: IPv6Address) -> None:
    """GHSA-q5qw-345w-55xg: those of IPv6, and of IPv4 within it."""
    # Of what carries an IPv4 address, that address decides.
    carries = address.ipv4_mapped or address in IPv6Network("64:ff9b::/96")
    if not carries and (address.is_private or address.is_multicast or address.is_reserved):
        assert AddressPolicy().refuses(address) is not None


@given(st.text() | st.ip_addresses().map(str).flatmap(lambda text: st.text().map(text.__add__)))
def test_no_text_is_too_strange_to_be_judged(text: str) -> None:
    assert AddressPolicy().refuses(text) is None or isinstance(AddressPolicy().refuses(text), str)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.1.2.3", "10.0.0.0/8"),
        ("192.168.1.9", "192.168.0.0/16"),
        ("127.0.0.1", "127.0.0.0/8"),
        ("::1", "::1/128"),
        ("::ffff:172.20.0.1", "172.16.0.0/12"),
        ("fd00::7", "fc00::/7"),
        ("fe80::1%eth0", "fe80::/10"),
        ("64:ff9b::a00:1", "64:ff9b::a00:1/128"),
    ],
)
def test_a_refusal_names_the_line_that_allows_the_network(address: str, network: str) -> None:
    said = AddressPolicy(("172.30.0.0/16",)).refusal("refused", address)

    assert said == f'refused; if it is yours, write this line below [network]: allow = ["172.30.0.0/16", "{network}"]'


@pytest.mark.parametrize("address", ["10.1.2.3", "::1", "::ffff:172.20.0.1", "fd00::7", "64:ff9b::a00:1"])
def test_what_a_refusal_says_lets_the_address_in(address: str) -> None:
    line = AddressPolicy().refusal("", address).rpartition("allow = ")[2]

    assert AddressPolicy(json.loads(line)).refuses(address) is None


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
    target = pool._target
    monkeypatch.setattr(pool, "_target", lambda _, port: target("127.0.0.1", port))
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
