"""Whether channels could be reached; nothing is sent to them."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import CHANNELS, open_channel
from tocsin.adapters.channels.signing import doubts_of
from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.on_aiohttp.guarded import GuardedSessions
from tocsin.adapters.system import SystemClock
from tocsin.cli.doctor import Finding
from tocsin.configuration import mask
from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from tocsin.settings import ChannelSettings, NetworkSettings

_REACH_S: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}


async def examine_channel(name: str, channel: ChannelSettings, network: NetworkSettings) -> list[Finding]:
    """Say what keeps alerts from this channel, if anything does."""
    findings = _opened(name, channel, network)
    parts = urlsplit(channel.url)
    if channel.type not in CHANNELS or channel.path or not parts.hostname or parts.scheme not in _PORTS:
        return findings
    where = str(mask(("channels", name, "url"), channel.url))
    policy = AddressPolicy(network.allow)
    try:
        async with asyncio.timeout(_REACH_S):
            refused = await _reach(parts.hostname, parts.port or _PORTS[parts.scheme], policy)
    except (OSError, TimeoutError, ValueError) as exc:
        reason = str(exc) or "no answer in time"
        mend = f"Mend its url, or start it; then: tocsin channel test {name}"
        return [*findings, Finding(f"Channel {name} cannot be reached at {where}: {reason}", mend)]
    if refused is None:
        return findings
    what, _, mend = policy.refusal(f"{refused} {policy.refuses(refused)}", refused).partition("; ")
    return [*findings, Finding(f"Channel {name} at {where} is not dialled: {what}", f"{mend[:1].upper()}{mend[1:]}")]


def _opened(name: str, channel: ChannelSettings, network: NetworkSettings) -> list[Finding]:
    """Open a channel as the service does, which contacts nobody, and say what it refuses."""
    sessions = GuardedSessions(network, user_agent="")
    try:
        open_channel(name, channel, ChannelContext(session=sessions.open, clock=SystemClock()))
    except SettingsError as exc:
        shown = str(mask(("channels", name, "url"), channel.url))
        # Some of these words quote the URL, which is a secret.
        what, _, mend = (str(exc).replace(channel.url, shown) if channel.url else str(exc)).partition("; ")
        return [Finding(f"Channel {name} cannot be opened: {what}", mend or f"Mend it under [channels.{name}].")]
    doubts = doubts_of(channel.secret) if channel.type == "webhook" else []
    parts = (doubt.partition("; ") for doubt in doubts)
    return [Finding(f"Channel {name}: {what}", mend, is_wrong=False) for what, _, mend in parts]


async def _reach(host: str, port: int, policy: AddressPolicy) -> str | None:
    """Connect to an address of this host that may be dialled; give one that is refused if there is no other."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(address[0]) for *_, address in found]
    allowed = next((address for address in addresses if policy.refuses(address) is None), None)
    if allowed is None:
        return addresses[0]
    _, writer = await asyncio.open_connection(allowed, port)
    writer.close()
    return None
