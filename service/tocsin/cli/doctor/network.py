"""What `tocsin doctor` finds on the network: the service's own address and who is let in, and the channels."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import CHANNELS, open_channel
from tocsin.adapters.channels.signing import doubts_of
from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.system import SystemClock
from tocsin.cli.doctor import Finding
from tocsin.configuration import mask
from tocsin.errors import SettingsError
from tocsin.server.address import bind, is_loopback, local_address, parse_listen
from tocsin.settings import why_unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.settings import ChannelSettings, HttpSettings, NetworkSettings


_WITHIN_S: Final = 3.0
_READY: Final = 200
_IS_READY: Final = '{"status":"ready"'
_READY_OR_NOT: Final = re.compile(r'\{"status":"(not )?ready","store":')
_MAKE: Final = "Make one: tocsin token add NAME --scope admin"


def examine_http(http: HttpSettings, *, has_tokens: bool | None, is_running: bool) -> list[Finding]:
    """Say what is wrong with the service's own address, and who is let in.

    has_tokens  of the store; there are none without one, and nobody knows (None) in one that cannot be used
    is_running  an engine holds the store, so the address should answer
    """
    if not http.listen:
        return [Finding("http.listen is empty: no web pages, no interface, no metrics.", is_wrong=False)]
    host, port = parse_listen(http.listen)
    findings = list(_of_access(http, host, has_tokens=has_tokens))
    findings += _of_public_url(http, host)
    findings += _of_proxies(http)
    if port:
        findings += _of_address(http, is_running=is_running)
    return findings


def _of_access(http: HttpSettings, host: str, *, has_tokens: bool | None) -> Iterator[Finding]:
    if why := why_unread(http.tokens):
        what, _, mend = why.partition("; ")
        yield Finding(f"Declared tokens cannot be read, and take no effect: {what}", mend)
    if http.tokens or has_tokens is not False:
        return
    if is_loopback(host):
        yield Finding(
            f"No token was made: whoever is on this machine may do everything at {http.listen}.", _MAKE, is_wrong=False
        )
    elif http.first_token:
        yield Finding("The next start makes the first token, and prints it once.", is_wrong=False)
    else:
        yield Finding(
            f"http.listen is {http.listen}, and no token was made: the service listens on this machine only.", _MAKE
        )


def _of_public_url(http: HttpSettings, host: str) -> Iterator[Finding]:
    if not http.public_url:
        if not is_loopback(host):
            yield Finding(
                "http.public_url is not set: alerts and feeds cannot link to the web pages.",
                'Set it to the address that people use, such as "https://tocsin.example.org/".',
                is_wrong=False,
            )
        return
    parts = urlsplit(http.public_url)
    if parts.query or parts.fragment or parts.username is not None:
        yield Finding(
            "http.public_url has more than an address in it.", "Leave away user, ? and #, and what follows them."
        )
    name = parts.hostname or ""
    if parts.scheme == "http" and not is_loopback(name):
        yield Finding(
            f"http.public_url is http://{name}: tokens and cookies go over the network unencrypted.",
            "Put a reverse proxy with a certificate before it, and write https://; docs/operating.md shows two.",
            is_wrong=not _is_private(name),
        )
    if is_loopback(name) and not is_loopback(host):
        yield Finding(
            f"http.public_url is {http.public_url}, which for everybody else is their own machine.",
            "Set it to the address that people use.",
        )


def _is_private(name: str) -> bool:
    """Say whether a name or address is one of an internal network, as far as one can see."""
    try:
        return ipaddress.ip_address(name).is_private
    except ValueError:
        return "." not in name or name.endswith((".internal", ".local", ".lan", ".home.arpa", ".test"))


def _of_proxies(http: HttpSettings) -> Iterator[Finding]:
    for network in http.trusted_proxies:
        if ipaddress.ip_network(network, strict=False).prefixlen == 0:
            yield Finding(
                f"http.trusted_proxies has {network}: everybody is believed who they say they are.",
                "Name your proxy's own address, such as 172.18.0.2/32.",
            )


def _of_address(http: HttpSettings, *, is_running: bool) -> Iterator[Finding]:
    if is_running:
        yield from _of_answer(*local_address(http.listen))
        return
    try:
        for taken in bind(*parse_listen(http.listen)):
            taken.close()
    except SettingsError as exc:
        host, port = local_address(http.listen)
        with suppress(OSError, HTTPException):
            said = _readiness(host, port)[1]
            if _READY_OR_NOT.match(said):
                yield _of_another(f"{host}:{port}", is_ready=said.startswith(_IS_READY))
                return
        what, _, mend = str(exc).partition("; ")
        yield Finding(f"{what}.", f"{mend[:1].upper()}{mend[1:]}.")


def _of_another(where: str, *, is_ready: bool) -> Finding:
    """Say what a Tocsin is that has the address, while none held this store a moment ago."""
    if is_ready:
        return Finding(
            f"The Tocsin that answers at {where} works on another store.",
            "Stop it, or set another port in http.listen.",
        )
    return Finding(
        f"A Tocsin answers at {where} that does not work on a store yet: it is starting, or waits for one.",
        "Ask again in some seconds: tocsin doctor",
        is_wrong=False,
    )


def _of_answer(host: str, port: int) -> Iterator[Finding]:
    """Ask the service that runs how it is."""
    try:
        status, said = _readiness(host, port)
    except (OSError, HTTPException) as exc:
        yield Finding(
            f"A service works on this store, and nobody answers at {host}:{port} ({exc}).",
            "Does it have the same configuration? Its log has http.listening with the address.",
        )
        return
    if status != _READY:
        yield Finding(f"The service is not ready: {said}", "See its log.")


def _readiness(host: str, port: int) -> tuple[int, str]:
    """Give the status and the beginning of what is said of its readiness. Raises OSError and HTTPException."""
    with closing(HTTPConnection(host, port, timeout=_WITHIN_S)) as connection:
        connection.request("GET", "/readyz", headers={"Host": f"localhost:{port}", "Connection": "close"})
        answer = connection.getresponse()
        return answer.status, " ".join(answer.read(1000).decode("utf-8", "replace").split())


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
