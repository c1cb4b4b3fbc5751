"""The address policy: public addresses may be dialled, and those that the user allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from tocsin.errors import SettingsError

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
