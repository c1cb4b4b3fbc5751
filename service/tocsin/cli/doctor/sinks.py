"""Whether sinks could be reached; nothing is sent to them."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.on_aiohttp.guarded import GuardedSessions
from tocsin.adapters.sinks.context import SinkContext
from tocsin.adapters.sinks.registry import SINKS, open_sink
from tocsin.adapters.sinks.signing import doubts_of
from tocsin.adapters.system import SystemClock
from tocsin.cli.doctor.finding import Finding
from tocsin.configuration import mask
from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from tocsin.settings import NetworkSettings, SinkSettings

_REACH_S: Final = 5.0
_PORTS: Final = {"http": 80, "https": 443}


async def examine_sink(name: str, sink: SinkSettings, network: NetworkSettings) -> list[Finding]:
    """Say what keeps alerts from this sink, if anything does."""
    findings = _opened(name, sink, network)
    parts = urlsplit(sink.url)
    if sink.type not in SINKS or sink.path or not parts.hostname or parts.scheme not in _PORTS:
        return findings
    where = str(mask(("sinks", name, "url"), sink.url))
    policy = AddressPolicy(network.allow)
    try:
        async with asyncio.timeout(_REACH_S):
            refused = await _reach(parts.hostname, parts.port or _PORTS[parts.scheme], policy)
    except (OSError, TimeoutError, ValueError) as exc:
        reason = str(exc) or "no answer in time"
        mend = f"Mend its url, or start it; then: tocsin sink test {name}"
        return [*findings, Finding(f"Sink {name} cannot be reached at {where}: {reason}", mend)]
    if refused is None:
        return findings
    what, _, mend = policy.refusal(f"{refused} {policy.refuses(refused)}", refused).partition("; ")
    return [*findings, Finding(f"Sink {name} at {where} is not dialled: {what}", f"{mend[:1].upper()}{mend[1:]}")]


def _opened(name: str, sink: SinkSettings, network: NetworkSettings) -> list[Finding]:
    """Open a sink as the service does, which contacts nobody, and say what it refuses."""
    sessions = GuardedSessions(network, user_agent="")
    try:
        open_sink(name, sink, SinkContext(session=sessions.open, clock=SystemClock()))
    except SettingsError as exc:
        shown = str(mask(("sinks", name, "url"), sink.url))
        # Some of these words quote the URL, which is a secret.
        what, _, mend = (str(exc).replace(sink.url, shown) if sink.url else str(exc)).partition("; ")
        return [Finding(f"Sink {name} cannot be opened: {what}", mend or f"Mend it under [sinks.{name}].")]
    doubts = doubts_of(sink.secret) if sink.type == "webhook" else []
    parts = (doubt.partition("; ") for doubt in doubts)
    return [Finding(f"Sink {name}: {what}", mend, is_wrong=False) for what, _, mend in parts]


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
