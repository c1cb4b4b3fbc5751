"""What `tocsin doctor` finds on the network: the service's own address, who has access, and the channels."""

from __future__ import annotations

import ipaddress
import re
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec

from tocsin.app.channels import OpenChannels
from tocsin.cli.doctor import Diagnosis
from tocsin.configuration.loading import shown_address
from tocsin.errors import SettingsError
from tocsin.server.address import bind, is_loopback, local_address, parse_listen
from tocsin.settings import unread_in, why_unread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.settings import ChannelSettings, HttpSettings, Settings


_WITHIN_S: Final = 3.0
_READY: Final = 200
_IS_READY: Final = '{"status":"ready"'
_READY_OR_NOT: Final = re.compile(r'\{"status":"(not )?ready","store":')
_MAKE: Final = "Create one: tocsin token add NAME --scope admin"


def examine_http(http: HttpSettings, *, has_tokens: bool | None, is_running: bool) -> list[Diagnosis]:
    """Find problems of the service's own address and of access to it.

    has_tokens  whether the store has tokens; None if it cannot be read
    is_running  an engine holds the store, so the address should answer
    """
    if not http.listen:
        return [Diagnosis("http.listen is empty: no web pages, no API, no metrics.", is_wrong=False)]
    host, port = parse_listen(http.listen)
    findings = list(_of_access(http, host, has_tokens=has_tokens))
    findings += _of_public_url(http, host)
    findings += _of_proxies(http)
    if port:
        findings += _of_address(http, is_running=is_running)
    return findings


def _of_access(http: HttpSettings, host: str, *, has_tokens: bool | None) -> Iterator[Diagnosis]:
    if why := why_unread(http.tokens):
        what, _, mend = why.partition("; ")
        yield Diagnosis(f"Declared tokens cannot be read and have no effect: {what}", mend)
    if http.tokens or has_tokens is not False:
        return
    if is_loopback(host):
        yield Diagnosis(
            f"There is no token: every user of this machine has full access at {http.listen}.", _MAKE, is_wrong=False
        )
    elif http.first_token:
        yield Diagnosis("The next start creates the first token and prints it once.", is_wrong=False)
    else:
        yield Diagnosis(
            f"http.listen is {http.listen}, but there is no token: the service listens on this machine only.", _MAKE
        )


def _of_public_url(http: HttpSettings, host: str) -> Iterator[Diagnosis]:
    if not http.public_url:
        if not is_loopback(host):
            yield Diagnosis(
                "http.public_url is not set, so alerts and feeds cannot link to the web pages.",
                'Set it to the address that users open, such as "https://tocsin.example.org/".',
                is_wrong=False,
            )
        return
    parts = urlsplit(http.public_url)
    if parts.query or parts.fragment or parts.username is not None:
        yield Diagnosis(
            "http.public_url contains more than an address.", "Remove the user, and everything from ? or # on."
        )
    name = parts.hostname or ""
    if parts.scheme == "http" and not is_loopback(name):
        yield Diagnosis(
            f"http.public_url is http://{name}: tokens and cookies go over the network unencrypted.",
            "Put a reverse proxy with a certificate in front, and use https://; docs/operating.md shows two.",
            is_wrong=not _is_private(name),
        )
    if is_loopback(name) and not is_loopback(host):
        yield Diagnosis(
            f"http.public_url is {http.public_url}, which on other machines is not this one.",
            "Set it to the address that users open.",
        )


def _is_private(name: str) -> bool:
    """Say whether a name or address is one of an internal network, as far as one can see."""
    try:
        return ipaddress.ip_address(name).is_private
    except ValueError:
        return "." not in name or name.endswith((".internal", ".local", ".lan", ".home.arpa", ".test"))


def _of_proxies(http: HttpSettings) -> Iterator[Diagnosis]:
    for network in http.trusted_proxies:
        if ipaddress.ip_network(network, strict=False).prefixlen == 0:
            yield Diagnosis(
                f"http.trusted_proxies contains {network}, so any client can forge its address.",
                "Give the address of your proxy, such as 172.18.0.2/32.",
            )


def _of_address(http: HttpSettings, *, is_running: bool) -> Iterator[Diagnosis]:
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
        yield Diagnosis(f"{what}.", f"{mend[:1].upper()}{mend[1:]}.")


def _of_another(where: str, *, is_ready: bool) -> Diagnosis:
    """Say what a Tocsin is that has the address, while none held this store a moment ago."""
    if is_ready:
        return Diagnosis(
            f"The Tocsin that answers at {where} uses another store.",
            "Stop it, or set another port in http.listen.",
        )
    return Diagnosis(
        f"A Tocsin answers at {where} but has no store yet: it is starting, or waiting for one.",
        "Run again in some seconds: tocsin doctor",
        is_wrong=False,
    )


def _of_answer(host: str, port: int) -> Iterator[Diagnosis]:
    """Ask the service that runs how it is."""
    try:
        status, said = _readiness(host, port)
    except (OSError, HTTPException) as exc:
        yield Diagnosis(
            f"A service uses this store, but there is no answer from {host}:{port} ({exc}).",
            "Check that it has the same configuration; http.listening in its log has its address.",
        )
        return
    if status != _READY:
        yield Diagnosis(f"The service is not ready: {said}", "See its log.")


def _readiness(host: str, port: int) -> tuple[int, str]:
    """Give the status and the beginning of what is said of its readiness. Raises OSError and HTTPException."""
    with closing(HTTPConnection(host, port, timeout=_WITHIN_S)) as connection:
        connection.request("GET", "/readyz", headers={"Host": f"localhost:{port}", "Connection": "close"})
        answer = connection.getresponse()
        return answer.status, " ".join(answer.read(1000).decode("utf-8", "replace").split())


async def examine_channels(settings: Settings) -> list[Diagnosis]:
    """Say what keeps alerts from each channel, if anything does."""
    findings = []
    async with OpenChannels(msgspec.structs.replace(settings, channels={})) as channels:
        for name, channel in settings.channels.items():
            findings += await _examine_channel(name, channel, channels)
    return findings


async def _examine_channel(name: str, settings: ChannelSettings, channels: OpenChannels) -> list[Diagnosis]:
    findings = []
    try:
        # As the service does, which contacts no host.
        await (await channels.open(name, settings)).close()
    except SettingsError as exc:
        shown, address = shown_address(settings), settings.address()
        # Some of these words quote the URL, which is a secret.
        what, _, mend = (str(exc).replace(address, shown) if address else str(exc)).partition("; ")
        mend = mend or f"Mend it under [channels.{name}]."
        findings.append(Diagnosis(f"Channel {name} cannot be opened: {what}", mend))
    if unread_in(settings):
        return findings
    again = f"; then: tocsin channel test {name}"
    return findings + [
        Diagnosis(
            f"Channel {name} {found.what}" if found.is_wrong else f"Channel {name}: {found.what}",
            f"{found.mend}{again}" if found.is_wrong else found.mend,
            is_wrong=found.is_wrong,
        )
        for found in await channels.probe(name, settings)
    ]
