"""What the doctor looks at outside of Tocsin: the machine and the network."""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import ssl
import stat
import tomllib
from contextlib import closing, suppress
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tocsin.adapters.http.tls import AUTHORITIES_MEND, NO_AUTHORITIES, has_authorities
from tocsin.adapters.stores import kept_copies, last_backup
from tocsin.app.channels import OpenChannels
from tocsin.cli.formatting import count, show_time
from tocsin.configuration.convert import is_secret
from tocsin.configuration.loading import Layer, from_environ, from_tree, mask, shown_address, typed_channels
from tocsin.errors import SettingsError
from tocsin.server.address import bind, is_loopback, local_address, parse_listen
from tocsin.settings import unread_in, why_unread

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tocsin.configuration import Loaded
    from tocsin.model import Instant
    from tocsin.settings import BrowserSettings, ChannelSettings, HttpSettings, Settings


_WRITE_BY_OTHERS: Final = 0o022
_READ_BY_OTHERS: Final = 0o044
# Where container engines put secrets, with modes that cannot be chosen.
_GIVEN_BY_THE_RUNTIME: Final = ("/run/secrets/", "/var/run/secrets/")


class Diagnosis(Struct, frozen=True):
    """One thing that the doctor says; what is not wrong is only good to know."""

    what: str
    mend: str = ""
    is_wrong: bool = True


def examine_files(loaded: Loaded, store: Path | None) -> list[Diagnosis]:
    """Say which files are open to others.

    store  the file of the store, if it is one
    """
    findings: list[Diagnosis] = []
    if loaded.file is not None:
        findings += _of_writing(loaded.file, "The configuration")
        findings += _of_writing(loaded.file.absolute().parent, "The configuration's folder")
        findings += _of_secrets(loaded.file, loaded.settings.delivery.plugins)
    for file in loaded.files.values():
        findings += _of_reading(file, "A file with a secret")
    for file in (store, store.with_name(f"{store.name}-wal")) if store is not None else ():
        findings += _of_reading(file, "The store")
    if store is not None and store.exists():
        findings += _of_writing(store.absolute().parent, "The store's folder")
    return findings


def _of_secrets(file: Path, plugins: Collection[str]) -> Iterator[Diagnosis]:
    """Look at a configuration file, if it has secrets in it."""
    try:
        given = list(from_tree(tomllib.loads(file.read_text("utf-8-sig")), str(file)))
        # The type of a channel may be in the environment, and tells which keys are secrets.
        layers = [Layer(tuple(given)), Layer(tuple(from_environ(os.environ)))]
        given = [item for item in given if item.path[0] != "channels"]
        given += next(iter(typed_channels(layers, plugins, lambda _: None))).given
    except (OSError, ValueError):
        # A pipe, for instance, which was read once: no other user can read it again.
        return
    held = [
        ".".join(item.path)
        for item in given
        # Of an address, the host alone is none.
        if not item.by_file and is_secret(item.path) and mask(item.path, item.value) != item.value
    ]
    if held:
        # The address of a webhook is one, too: which setting is meant is not plain to see.
        yield from _of_reading(file, f"The configuration, which contains a secret ({', '.join(held)}),")


def _of_writing(path: Path, what: str) -> Iterator[Diagnosis]:
    status = _status(path)
    if status is None:
        return
    # With the sticky bit, as /tmp has it, others can add files, but neither rename nor remove ours.
    is_shared_safely = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if status.st_mode & _WRITE_BY_OTHERS and not is_shared_safely:
        yield Diagnosis(f"{what} is writable by others: {path}.", f"chmod go-w {path}")
    # Its owner can give itself every right; root need not care who owns a file.
    if status.st_uid not in {0, os.geteuid()} and os.geteuid() != 0:
        yield Diagnosis(
            f"{what} belongs to another user: {path}.", f"Make yourself or root its owner: chown root {path}"
        )


def _of_reading(path: Path, what: str) -> Iterator[Diagnosis]:
    status = _status(path)
    if status is None or str(path.absolute()).startswith(_GIVEN_BY_THE_RUNTIME):
        return
    if status.st_mode & (_READ_BY_OTHERS | _WRITE_BY_OTHERS):
        yield Diagnosis(f"{what} is readable by others: {path}.", f"chmod 600 {path}")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


# Of a worker on the same machine, which only has to accept.
_WORKER_S: Final = 2.0
_LEAST_BYTES: Final = 100_000_000
# This program is younger than that; a clock that shows less is wrong.
_MADE: Final = datetime(2026, 11, 1, tzinfo=UTC)
_DAY_US: Final = 86_400_000_000
_STALE_DAYS: Final = 30


def examine_room(path: Path, url: str) -> Iterator[Diagnosis]:
    """Look at the disk that a store lies on.

    url  of the store, "sqlite:PATH"
    """
    try:
        free = shutil.disk_usage(path.absolute().parent).free
        size = sum(file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")) if file.is_file())
    except OSError:
        return
    if free < max(size, _LEAST_BYTES):
        yield Diagnosis(
            f"The disk has {free / 1e6:,.0f} MB free; the store has {size / 1e6:,.0f} MB.",
            "A backup and a migration need the size of the store; free some space, or lower store.history and run: "
            "tocsin store prune",
        )
    kept = kept_copies(url)
    if kept:
        megabytes = sum(file.stat().st_size for file in kept) / 1e6
        yield Diagnosis(
            f"{count(len(kept), 'file')} of {megabytes:,.0f} MB in all beside the store: as it was before a migration, "
            "or before a backup took its place.",
            f"When you no longer need them: rm {' '.join(map(str, kept))}",
            is_wrong=False,
        )


def examine_backup(url: str, now: Instant) -> Iterator[Diagnosis]:
    """Say when the store was backed up last by this program."""
    last = last_backup(url)
    how = "From cron: tocsin store backup FOLDER --keep 14"
    # No fault by itself: a fresh installation has none, and others back up the disk.
    if last is None:
        yield Diagnosis("This program made no backup of the store yet.", how, is_wrong=False)
        return
    at, file = last
    days = (now - at) // _DAY_US
    what = f"The last backup of the store was made at {show_time(at)}: {file}"
    yield Diagnosis(f"{what}.", how if days >= _STALE_DAYS else "", is_wrong=days >= _STALE_DAYS)


def examine_authorities() -> Iterator[Diagnosis]:
    """Say whether there is any authority to vouch for the certificates of pages."""
    if not has_authorities(ssl.create_default_context()):
        what = f"{NO_AUTHORITIES[:1].upper()}{NO_AUTHORITIES[1:]}: no https page or channel can be verified."
        yield Diagnosis(what, f"{AUTHORITIES_MEND[:1].upper()}{AUTHORITIES_MEND[1:]}.")


def examine_clock(now: Instant) -> Iterator[Diagnosis]:
    """Say whether the clock shows a time at which this program was there."""
    if now < round(_MADE.timestamp() * 1_000_000):
        yield Diagnosis(
            f"The clock shows {show_time(now)}, which is before this program was written.",
            "Set it; certificates, schedules and dates of changes depend on it.",
        )


_WITHIN_S: Final = 3.0
_READY: Final = 200
_IS_READY: Final = '{"status":"ready"'
_READY_OR_NOT: Final = re.compile(r'\{"status":"(not )?ready","store":')
_MAKE: Final = "Create one: tocsin token add NAME --scope admin"


def examine_http(
    http: HttpSettings, *, has_tokens: bool | None, is_running: bool, is_shared: bool = False
) -> list[Diagnosis]:
    """Find problems of the service's own address and of access to it.

    has_tokens  whether the store has tokens; None if it cannot be read
    is_running  an engine holds the store, so the address should answer
    is_shared   services on other machines may be those that work on the store
    """
    if not http.listen:
        return [Diagnosis("http.listen is empty: no web pages, no API, no metrics.", is_wrong=False)]
    host, port = parse_listen(http.listen)
    findings = list(_of_access(http, host, has_tokens=has_tokens))
    findings += _of_public_url(http, host)
    findings += _of_proxies(http)
    if port:
        findings += _of_address(http, is_running=is_running, is_shared=is_shared)
    return findings


def examine_browser(browser: BrowserSettings) -> Iterator[Diagnosis]:
    """Say what the browser lacks, where pages are to be read in it."""
    if browser.socket:
        yield from _of_worker(browser.socket)
        return
    # It loads what starts processes, and few installations read pages in a browser.
    from tocsin.adapters.processes.aside import why_no_cells  # noqa: PLC0415 - as above
    from tocsin.app.browser import why_no_browser  # noqa: PLC0415 - as above

    why = why_no_browser(browser.path) or why_no_cells()
    if why is not None:
        what, _, mend = why.partition("; ")
        yield Diagnosis(f"Pages cannot be read in the browser: {what}.", f"{mend[:1].upper()}{mend[1:]}")


def _of_worker(address: str) -> Iterator[Diagnosis]:
    from tocsin.app.browser_socket import why_not_served  # noqa: PLC0415 - it loads what speaks over sockets

    why = why_not_served(address, _WORKER_S)
    if why is not None:
        what, _, mend = why.partition("; ")
        own = "What it lacks is in its own log: docker compose logs browser"
        yield Diagnosis(f"The browser cannot be used at {address}: {what}.", f"{mend[:1].upper()}{mend[1:]}. {own}")


def _of_access(http: HttpSettings, host: str, *, has_tokens: bool | None) -> Iterator[Diagnosis]:
    if why := why_unread(http.tokens):
        what, _, mend = why.partition("; ")
        yield Diagnosis(f"Declared tokens cannot be read and have no effect: {what}", mend)
    # A store that cannot be read may have tokens: nothing is said of what is not known.
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
        # On this machine alone, links to it would serve no other reader.
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
            # A home network may do without a certificate; it is said all the same.
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
        # A name without a dot is resolved by a search list or by /etc/hosts, which no public site is.
        return "." not in name or name.endswith((".internal", ".local", ".lan", ".home.arpa", ".test"))


def _of_proxies(http: HttpSettings) -> Iterator[Diagnosis]:
    for network in http.trusted_proxies:
        if ipaddress.ip_network(network, strict=False).prefixlen == 0:
            yield Diagnosis(
                f"http.trusted_proxies contains {network}, so any client can forge its address.",
                "Give the address of your proxy, such as 172.18.0.2/32.",
            )


def _of_address(http: HttpSettings, *, is_running: bool, is_shared: bool) -> Iterator[Diagnosis]:
    if is_running:
        yield from _of_answer(*local_address(http.listen), is_shared=is_shared)
        return
    try:
        # The only proof that the address is free is to take it.
        for taken in bind(*parse_listen(http.listen)):
            taken.close()
    except SettingsError as exc:
        host, port = local_address(http.listen)
        # Taken: perhaps by a Tocsin that starts just now, which is no fault.
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


def _of_answer(host: str, port: int, *, is_shared: bool) -> Iterator[Diagnosis]:
    """Ask the service that runs how it is."""
    try:
        status, said = _readiness(host, port)
    except (OSError, HTTPException) as exc:
        yield Diagnosis(
            f"A service uses this store, but there is no answer from {host}:{port} ({exc}).",
            "See where the nodes run: tocsin nodes"
            if is_shared
            else "Check that it has the same configuration; http.listening in its log has its address.",
            is_wrong=not is_shared,
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


async def examine_channels(settings: Settings, saved: Collection[str]) -> list[Diagnosis]:
    """Say what keeps alerts from each channel, if anything does.

    saved  names of those that were made at run time
    """
    findings = []
    # Opened one by one, so that a channel that cannot be opened does not hide the others.
    async with OpenChannels(msgspec.structs.replace(settings, channels={})) as channels:
        for name, channel in settings.channels.items():
            mend = f"Correct it on the page Notifications, or: tocsin channel remove {name}"
            mend = mend if name in saved else f"Mend it under [channels.{name}]."
            findings += await _examine_channel(name, channel, channels, mend)
    return findings


async def _examine_channel(
    name: str, settings: ChannelSettings, channels: OpenChannels, usual_mend: str
) -> list[Diagnosis]:
    findings = []
    try:
        # As the service does, which contacts no host.
        await (await channels.open(name, settings)).close()
    except SettingsError as exc:
        shown, address = shown_address(settings), settings.address()
        # Some of these words quote the URL, which is a secret.
        what, _, mend = (str(exc).replace(address, shown) if address else str(exc)).partition("; ")
        findings.append(Diagnosis(f"Channel {name} cannot be opened: {what}", mend or usual_mend))
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
