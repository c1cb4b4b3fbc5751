"""Names to addresses, and the address policy: public addresses may be dialled, and those that the user allows."""

from __future__ import annotations

import asyncio
import socket
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

import aiodns
import pycares

from tocsin.errors import SettingsError, Shortage, shortage_of

# Resolving names to addresses: asynchronous, with a bounded cache.


# A longer time to live in the DNS is ignored, so that a site that moves is found again within five minutes.
LONGEST_KEPT_S = 300
# Some records have a TTL of 0; pages of one host follow one another.
SHORTEST_KEPT_S = 5
# Each page of a host whose name server is down would wait for it again.
FAILURE_KEPT_S = 30
MOST_NAMES = 20_000
# Of a name, in each family: a name server could give thousands, all to be dialled and remembered.
MOST_ADDRESSES = 8
_FINAL = (aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_ENODATA)


class NameNotResolved(OSError):
    """DNS has no address for this name, or did not answer."""


class AddressRefused(OSError):
    """The address policy forbids every address that could be dialled."""


class NameCache:
    """Asks DNS for addresses, IPv4 and IPv6, and keeps them for at most five minutes, failures for 30 seconds.

    servers     name servers as "address" or "address:port"; None: the system's, with its hosts file
    deadline_s  after which a server is given up
    Callers that ask for the same name at the same time share one query.
    """

    def __init__(self, deadline_s: float, *, servers: Sequence[str] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        # Half the deadline each, so that a lost datagram does not fail the name.
        self._dns = aiodns.DNSResolver(nameservers=servers, timeout=max(deadline_s / 2, 0.05), tries=2)
        self._kept: OrderedDict[str, tuple[float, tuple[str, ...] | NameNotResolved]] = OrderedDict()
        self._asking: dict[str, asyncio.Future[pycares.AddrInfoResult]] = {}

    async def addresses(self, host: str) -> tuple[str, ...]:
        """Give the addresses of a host name; raises NameNotResolved with the name in its text, or Shortage."""
        # Names in the hosts file have no final dot; elsewhere a final dot keeps search domains out, and stays.
        host = host.removesuffix(".") if host.endswith("localhost.") else host
        known = self._known(host)
        if known is None:
            known = await self._ask(host)
        if isinstance(known, NameNotResolved):
            raise NameNotResolved(*known.args)
        return known

    async def close(self) -> None:
        """Give up all queries."""
        await self._dns.close()

    def __len__(self) -> int:
        return len(self._kept)

    def _known(self, host: str) -> tuple[str, ...] | NameNotResolved | None:
        until, known = self._kept.get(host, (0.0, None))
        if until <= self._loop.time():
            return None
        self._kept.move_to_end(host)
        return known

    async def _ask(self, host: str) -> tuple[str, ...] | NameNotResolved:
        asking = self._asking.get(host)
        if asking is None:
            asking = self._dns.getaddrinfo(host, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
            self._asking[host] = asking
            asking.add_done_callback(partial(self._learn, host))
        try:
            # All callers share the query: one that is cancelled must not cancel it for the others.
            return _addresses(await asyncio.shield(asking))
        except aiodns.error.DNSError as exc:
            if (shortage := _short_of_files()) is not None:
                raise shortage from exc
            return _failure(host, exc)

    def _learn(self, host: str, asked: asyncio.Future[pycares.AddrInfoResult]) -> None:
        """Keep an answer, also when no caller waits for it any more."""
        self._asking.pop(host, None)
        if asked.cancelled():
            return
        error = asked.exception()
        if error is None:
            answer = asked.result()
            ttl_s = min((node.ttl for node in answer.nodes), default=0)
            self._keep(host, _addresses(answer), min(max(ttl_s, SHORTEST_KEPT_S), LONGEST_KEPT_S))
        elif isinstance(error, aiodns.error.DNSError) and error.args[0] in _FINAL and _short_of_files() is None:
            # Failures of a server are not kept: the next try must ask again.
            self._keep(host, _failure(host, error), FAILURE_KEPT_S)

    def _keep(self, host: str, known: tuple[str, ...] | NameNotResolved, seconds: float) -> None:
        self._kept[host] = (self._loop.time() + seconds, known)
        self._kept.move_to_end(host)
        while len(self._kept) > MOST_NAMES:
            self._kept.popitem(last=False)


def _addresses(answer: pycares.AddrInfoResult) -> tuple[str, ...]:
    """Give the first addresses of each family, each once, in the order of the answer."""
    found = (node.addr[0] for node in answer.nodes)
    left = {True: MOST_ADDRESSES, False: MOST_ADDRESSES}
    kept: dict[str, None] = {}
    for text in found:
        address = text.decode("ascii") if isinstance(text, bytes) else text
        is_v6 = ":" in address
        if address not in kept and left[is_v6]:
            left[is_v6] -= 1
            kept[address] = None
    return tuple(kept)


def _short_of_files() -> Shortage | None:
    """Give the shortage if this process can open no socket: c-ares then reports a silent server."""
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    except OSError as exc:
        return shortage_of(exc)
    return None


def _failure(host: str, error: aiodns.error.DNSError) -> NameNotResolved:
    why = str(error.args[1]).lower() if len(error.args) > 1 else "no answer"
    return NameNotResolved(f"the name {host} has no address: {why}")


Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network
Place: TypeAlias = tuple[str, str, int]

# Source: the IANA special-purpose address registries. Python's `is_global` does not know every block, nor IPv4
# addresses within IPv6 addresses, and its answer depends on the version of Python.
_REFUSED_V4: tuple[tuple[IPv4Network, str], ...] = tuple(
    (IPv4Network(network), name)
    for network, name in (
        ("0.0.0.0/8", "this machine's own network"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "an address shared behind a carrier's NAT"),
        ("127.0.0.0/8", "a loopback address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "an address of IETF protocols"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.88.99.0/24", "an address of 6to4 relays"),
        ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "an address for benchmarks"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("255.255.255.255/32", "the broadcast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)
_REFUSED_V6: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(network), name)
    for network, name in (
        ("::/128", "this machine's own address"),
        ("::1/128", "a loopback address"),
        ("::/96", "an IPv4 address in disguise (IPv4-compatible)"),
        ("::ffff:0:0:0/96", "an IPv4 address in disguise (IPv4-translated)"),
        ("64:ff9b:1::/48", "an IPv4 address in disguise (local NAT64)"),
        ("100::/64", "an address that discards"),
        ("100:0:0:1::/64", "an address that is assigned to no host"),
        ("2001:db8::/32", "an address for documentation"),
        ("2001::/32", "an IPv4 address in disguise (Teredo)"),
        ("2001::/23", "an address of IETF protocols"),
        ("2002::/16", "an IPv4 address in disguise (6to4)"),
        ("3fff::/20", "an address for documentation"),
        ("5f00::/16", "an address of segment routing"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
# Addresses repeat: a host has the same ones for hours.
_MOST_JUDGED = 4096
# Above the IPv4 address in the last half of an address of ISATAP (RFC 5214, 6.1).
_ISATAP = (0x00005EFE, 0x02005EFE)


class AddressPolicy:
    """Judges addresses when they are dialled.

    allow   networks in CIDR notation, or addresses, that may be dialled in addition to public ones
    places  addresses and ports of origins (scheme, host, port) for which DNS is not asked
    Raises SettingsError for a text that is no network.
    """

    def __init__(self, allow: Sequence[str] = (), places: Mapping[Place, tuple[str, int]] | None = None) -> None:
        self._places = places or {}
        self._allowed: tuple[Network, ...] = tuple(_network(text) for text in allow)
        self._judged: dict[str | Address, str | None] = {}

    def place_of(self, origin: Place) -> tuple[str, int] | None:
        """Give the fixed address and port of an origin, if it has one; no other origin may reach them."""
        return self._places.get(origin)

    def refuses(self, address: str | Address) -> str | None:
        """Say why this address may not be dialled, in words that follow the address; None if it may."""
        if address not in self._judged:
            if len(self._judged) >= _MOST_JUDGED:
                self._judged.clear()
            self._judged[address] = self._judge(address)
        return self._judged[address]

    def refusal(self, what: str, address: str | Address) -> str:
        """Say what is refused, and the mend: the very line that allows the network of this address, too."""
        networks = [*map(str, self._allowed), str(_network_of(ip_address(address)))]
        line = ", ".join(f'"{network}"' for network in networks)
        return f"{what}; if it is yours, write this line below [network]: allow = [{line}]"

    def _judge(self, address: str | Address) -> str | None:
        try:
            judged = ip_address(address)
        except ValueError:
            return "is not an address"
        if isinstance(judged, IPv6Address):
            # The system dials the IPv4 address of a mapped one.
            judged = judged.ipv4_mapped or judged
        if any(judged in network for network in self._allowed if network.version == judged.version):
            return None
        return _why_v4(judged) if isinstance(judged, IPv4Address) else _why_v6(judged)


def judged(host: str, found: Sequence[str], policy: AddressPolicy) -> list[str]:
    """Give those of a host's addresses that may be dialled; raises NameNotResolved or AddressRefused."""
    if not found:
        raise NameNotResolved(f"the name {host} has no address")
    refusals = {address: policy.refuses(address) for address in found}
    allowed = [address for address, why in refusals.items() if why is None]
    if not allowed:
        address, why = next(iter(refusals.items()))
        said = f"{address} {why}" if address == host else f"{host} is {address}, which {why}"
        raise AddressRefused(policy.refusal(said, address))
    return allowed


def _network_of(address: Address) -> Network:
    """Find the refused network of this address, or the address alone where there is none."""
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        if mapped is None:
            bare = IPv6Address(int(address))  # without the interface, which no network has
            found = next((network for network, _ in _REFUSED_V6 if bare in network), None)
            return found or IPv6Network(bare)
        address = mapped
    return next((network for network, _ in _REFUSED_V4 if address in network), None) or IPv4Network(address)


def _why_v4(address: IPv4Address) -> str | None:
    return next((f"is {name}" for network, name in _REFUSED_V4 if address in network), None)


def _why_v6(address: IPv6Address) -> str | None:
    if address.scope_id is not None:
        return "is bound to one network interface"
    if address in _NAT64:
        # A NAT64 gateway dials the IPv4 address inside; some networks have no other way to IPv4.
        inside = IPv4Address(int(address) & 0xFFFFFFFF)
        why = _why_v4(inside)
        return why and f"carries {inside}, which {why}"
    named = next((f"is {name}" for network, name in _REFUSED_V6 if address in network), None)
    if named or address not in _GLOBAL_V6:
        return named or "is not part of the public internet"
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        inside = IPv4Address(int(address) & 0xFFFFFFFF)
        why = _why_v4(inside)
        return why and f"carries {inside} (ISATAP), which {why}"
    return None


def _network(text: str) -> Network:
    try:
        return ip_network(text, strict=False)
    except ValueError as exc:
        raise SettingsError(f'network.allow: {text!r} is not a network; write one such as "10.0.0.0/8"') from exc
