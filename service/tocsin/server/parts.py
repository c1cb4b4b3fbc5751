"""What routes are given: the parts of the service, the sender of the request, and its caller with its scope."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from secrets import compare_digest
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Security
from fastapi.dependencies.models import Dependant
from fastapi.security import APIKeyCookie, HTTPBasic, HTTPBearer
from msgspec import Struct, field
from starlette.datastructures import FormData
from starlette.types import Scope as Connection

from tocsin.configuration.limits import path_prefix
from tocsin.model import Scope
from tocsin.model.records.pages import Modes
from tocsin.ports import Chance, Clock, Service, Store, Telemetry
from tocsin.server.lost_forms import LostForm, kept_of
from tocsin.server.problems import FORMS, Problem
from tocsin.server.received import ReceivedPages
from tocsin.settings import HttpSettings

# The origin of a request: address, scheme, host and prefix; proxy headers count from trusted proxies only.


Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
SENDER = "tocsin.sender"  # The key of the sender in a request's scope.
_PORTS = {"http": 80, "https": 443}


class WebOrigin(Struct, frozen=True):
    """Scheme, host and port, as browsers compare them."""

    scheme: str
    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port in {None, _PORTS.get(self.scheme)} else f":{self.port}")


class Sender(Struct, frozen=True):
    """The client of a request, and the origin under which it reached us.

    address   of the client, or of the last untrusted proxy
    believed  a trusted proxy is between
    origin    None where Host is invalid
    prefix    the path below which the browser sees the service, "/tocsin", empty for none; None: a proxy sent a bad one
    """

    address: Address | None
    believed: bool
    origin: WebOrigin | None
    prefix: str | None = ""

    @property
    def is_local(self) -> bool:
        """Whether it came from this machine, without a proxy between."""
        return self.address is not None and self.address.is_loopback and not self.believed


def sender_of(scope: Connection, headers: Mapping[str, str], settings: HttpSettings) -> Sender:
    """Find the sender of a request; X-Forwarded headers count from trusted proxies only."""
    client = scope.get("client")
    address = parse_address(client[0]) if client else None
    trusted = networks_of(settings.trusted_proxies)
    scheme, believed = str(scope.get("scheme", "http")), False
    prefix = _public_prefix(settings.public_url)
    is_proxy = address is not None and _is_in(address, trusted)
    if is_proxy and not settings.public_url:
        # The configuration takes precedence: a proxy may pass on the header of its client.
        # None for an unusable one: to guess would make links that lead elsewhere.
        prefix = path_prefix(headers.get("x-forwarded-prefix", ""))
    if is_proxy and "x-forwarded-for" in headers:
        believed = True
        # Our proxy appended the last address; any client may have written the ones before it.
        for said in reversed(headers["x-forwarded-for"].split(",")):
            found = parse_address(said.strip())
            # What is written before this, an untrusted client may have invented.
            if found is None:
                break
            address = found
            if not _is_in(found, trusted):
                break
        # The last one, as of addresses: our own proxy wrote it.
        said_scheme = headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
        scheme = said_scheme if said_scheme in _PORTS else scheme
    return Sender(address, believed, parse_origin(f"{scheme}://{headers.get('host', '')}"), prefix)


@lru_cache(maxsize=4)
def _public_prefix(public_url: str) -> str | None:
    return path_prefix(urlsplit(public_url).path)


def parse_address(text: str) -> Address | None:
    """Read an IP address; an IPv4-mapped IPv6 address becomes the IPv4 one."""
    try:
        found = ip_address(text.partition("%")[0].strip("[]"))
    except ValueError:
        return None
    # A socket for both families gives IPv4 clients as ::ffff:…, and rules are written for IPv4.
    return getattr(found, "ipv4_mapped", None) or found


@lru_cache(maxsize=16)
def networks_of(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Read networks; settings were checked before."""
    return tuple(ip_network(text, strict=False) for text in texts)


def parse_origin(text: str) -> WebOrigin | None:
    """Read an origin; None for an invalid one, also for "null"."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or parts.username or parts.path not in {"", "/"}:
        return None
    # urlsplit takes much that browsers refuse: what is odd must not equal an origin that we trust.
    if parts.query or parts.fragment or not parts.netloc.isprintable() or set(parts.netloc) & set(" \\/?#@,;<>\"'"):
        return None
    return WebOrigin(parts.scheme, parts.hostname.rstrip("."), port if port is not None else _PORTS[parts.scheme])


def public_origin(settings: HttpSettings) -> WebOrigin | None:
    """Return the origin of `http.public_url`, which may have a path below another site."""
    parts = urlsplit(settings.public_url)
    return parse_origin(f"{parts.scheme}://{parts.netloc}")


def is_secure(sender: Sender, settings: HttpSettings) -> bool:
    """Say whether the browser uses HTTPS, by a trusted proxy or by `http.public_url`."""
    if sender.origin is None:
        return False
    public = public_origin(settings)
    is_public = public is not None and public.scheme == "https" and public.host == sender.origin.host
    return sender.origin.scheme == "https" or is_public


def is_own_name(origin: WebOrigin | None, settings: HttpSettings) -> bool:
    """Say whether the service has this name: on this machine, or by `http.public_url` (against DNS rebinding)."""
    if origin is None:
        return False
    public = public_origin(settings)
    if public is not None and origin.host == public.host:
        return True
    address = parse_address(origin.host)
    return address.is_loopback if address is not None else is_loopback_name(origin.host)


def is_loopback_name(host: str) -> bool:
    """Say whether the name is `localhost` or below it, which resolves without DNS."""
    return host == "localhost" or host.endswith(".localhost")


def is_cross_site(request: Request, sender: Sender, settings: HttpSettings) -> bool:
    """Say whether a browser sends this request for a page of another site."""
    site = request.headers.get("sec-fetch-site")
    # Browsers set it, and pages cannot: it says more than Origin, which is missing from some requests.
    if site is not None:
        return site not in {"same-origin", "none"}
    said = request.headers.get("origin")
    if said is None:
        return False
    found = parse_origin(said)
    return found is None or found not in {sender.origin, public_origin(settings)}


def base_url(request: Request, settings: HttpSettings) -> str:
    """Return the URL under which people reach this service, without a final slash.

    Host counts only without `http.public_url`, and only if it names this machine: a client must not choose the links
    that leave the service (GHSA-hp8h-jqfm-v7x5).
    """
    if settings.public_url:
        return settings.public_url.rstrip("/")
    sender = sender_of(request.scope, request.headers, settings)
    if sender.origin is not None and (is_own_name(sender.origin, settings) or _is_address(sender.origin.host)):
        return f"{sender.origin}{sender.prefix or ''}"
    server = request.scope.get("server") or ("localhost", None)
    return str(WebOrigin(sender.origin.scheme if sender.origin else "http", server[0], server[1]))


def _is_address(host: str) -> bool:
    return parse_address(host) is not None


def _is_in(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address in network for network in networks)


# The caller of a request, the scope that a route requires, and the CSRF token of forms.


class Via(StrEnum):
    """How a caller was authenticated.

    A browser sends SESSION, BASIC and LOCAL by itself, so that another site could make it send them.
    """

    BEARER = "bearer"
    BASIC = "basic"
    SESSION = "session"
    LOCAL = "local"


class Caller(Struct, frozen=True):
    """An authenticated client.

    who       the token's name; "local" where no token was ever made
    token_id  None for "local"
    csrf      the token that its forms must carry; empty without a session
    session   the digest of the session secret; empty without a session
    """

    who: str
    scope: Scope
    token_id: int | None = None
    csrf: str = ""
    via: Via = Via.BEARER
    session: bytes = b""

    def may(self, wanted: Scope) -> bool:
        """Say whether the caller has this scope."""
        return self.scope.allows(wanted)


FIELD = "csrf"
HEADER = "x-csrf-token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_USUAL_CHARSET = re.compile(r""";\s*charset=(?P<quote>"?)(?:utf-?8|us-ascii)(?P=quote)\s*(?=;|$)""", re.IGNORECASE)


def refuse_odd_charset(request: Request) -> None:
    """Refuse a form in another charset than UTF-8, before it is read. Raises Problem: 415.

    The form parser decodes with any codec that the client names: some take quadratic time, others produce lone
    surrogates. Browsers send UTF-8, the charset of our pages.
    """
    kind = request.headers.get("content-type", "")
    # Looked for anywhere in the header: parsers disagree on which of two parameters counts.
    if any(form in kind.lower() for form in FORMS) and "charset" in _USUAL_CHARSET.sub("", kind).lower():
        raise Problem(
            415,
            "unknown-charset",
            "The form's charset is not read here",
            "forms come in UTF-8",
            mend="leave charset out of Content-Type, or say charset=utf-8",
        )


async def check_form(request: Request, caller: Caller) -> None:
    """Check the CSRF token of a form, or of a script in `X-CSRF-Token`.

    Callers with a bearer token need none. Raises Problem: 403.
    """
    if request.method in SAFE or not caller.csrf:
        return
    said, form = request.headers.get(HEADER), FormData()
    if said is None:
        if not is_form(request):
            # A program that has a session cookie sends none of these headers; no page made it send this.
            if not _is_browser(request):
                return
        else:
            form = await request.form()
            found = form.get(FIELD)
            said = found if isinstance(found, str) else None
    # In constant time: how long a comparison takes must not tell how many letters are right.
    if said is None or not compare_digest(said.encode(), caller.csrf.encode()):
        # What was typed is kept: the form may only be older than the last login.
        raise LostForm(kept_of(form))


def is_form(request: Request) -> bool:
    """Say whether a form is the body of a request."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() in FORMS


def _is_browser(request: Request) -> bool:
    """Say whether a browser sent this: pages cannot remove these headers."""
    return "sec-fetch-site" in request.headers or "origin" in request.headers or "cookie" in request.headers


CALLER = "tocsin.caller"  # The key of the caller in a request's scope; the guard sets it.
# For the API description only: the guard reads the credentials.
_SCHEMES = (
    HTTPBearer(scheme_name="token", auto_error=False, description="`Authorization: Bearer tcs_…`"),
    HTTPBasic(scheme_name="basic", auto_error=False, description="Any user name, a token as the password."),
    APIKeyCookie(name="tocsin", scheme_name="session", auto_error=False, description="A browser that logged in."),
)
_token, _basic, _session = _SCHEMES


class Right:
    """A dependency that returns the caller, if it has this scope."""

    def __init__(self, wanted: Scope) -> None:
        self.wanted = wanted

    async def __call__(
        self,
        request: Request,
        _token: Annotated[object, Security(_token)],
        _basic: Annotated[object, Security(_basic)],
        _session: Annotated[object, Security(_session)],
    ) -> Caller:
        """Return the caller. Raises Problem: 401 without a caller, 403 without the scope."""
        caller = request.scope.get(CALLER)
        if not isinstance(caller, Caller):
            raise unknown()
        if not caller.may(self.wanted):
            raise not_allowed(caller, self.wanted)
        await check_form(request, caller)
        return caller


Reading = Annotated[Caller, Security(Right(Scope.READ))]
Writing = Annotated[Caller, Security(Right(Scope.WRITE))]
Administering = Annotated[Caller, Security(Right(Scope.ADMIN))]


def unknown(detail: str = "no token came with the request") -> Problem:
    """Make the 401 for a request without a valid credential."""
    return Problem(
        401,
        "unauthorized",
        "A token is needed",
        detail,
        mend="send `Authorization: Bearer TOKEN`, or the token as the password of Basic; "
        "`tocsin token add NAME --scope read` makes one",
        headers={"WWW-Authenticate": 'Bearer realm="Tocsin", Basic realm="Tocsin", charset="UTF-8"'},
    )


def not_allowed(caller: Caller, wanted: Scope) -> Problem:
    """Make the 403 for a caller without the scope."""
    return Problem(
        403,
        "not-allowed",
        "The token does not allow this",
        f"token {caller.who} has scope {caller.scope}, and {wanted} is needed",
        mend=f"use a token made by `tocsin token add NAME --scope {wanted}`",
    )


def wanted_of(dependant: Dependant) -> Scope | None:
    """Return the scope that a route requires; None where it declares none."""
    if isinstance(dependant.call, Right):
        return dependant.call.wanted
    found = [wanted for inner in dependant.dependencies if (wanted := wanted_of(inner)) is not None]
    # A route inside a router may ask for more than the router does.
    return max(found, key=list(Scope).index, default=None)


class Parts(Struct, frozen=True):
    """The collaborators of the HTTP server.

    stopping  set at a stop of the service; streams end then
    received  pages that were received for a trial of their settings
    """

    store: Store
    service: Service
    clock: Clock
    chance: Chance
    telemetry: Telemetry
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    received: ReceivedPages = field(default_factory=ReceivedPages)

    async def modes(self) -> Modes:
        """Read which mode is in force for each page."""
        return Modes(self.service.settings().pages.mode, *await self.store.overrides())


async def parts(request: Request) -> Parts:
    """Return the parts of this application."""
    found = request.app.state.parts
    assert isinstance(found, Parts)  # noqa: S101 - `make_app` sets it
    return found


Given = Annotated[Parts, Depends(parts)]
