"""The origin of a request: address, scheme, host and prefix; proxy headers count from trusted proxies only."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.requests import Request
from starlette.types import Scope

from tocsin.configuration.limits import path_prefix
from tocsin.settings import HttpSettings

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


def sender_of(scope: Scope, headers: Mapping[str, str], settings: HttpSettings) -> Sender:
    """Find the sender of a request; X-Forwarded headers count from trusted proxies only."""
    client = scope.get("client")
    address = parse_address(client[0]) if client else None
    trusted = networks_of(settings.trusted_proxies)
    scheme, believed = str(scope.get("scheme", "http")), False
    prefix = _public_prefix(settings.public_url)
    is_proxy = address is not None and _is_in(address, trusted)
    if is_proxy and not settings.public_url:
        # The configuration takes precedence: a proxy may pass on the header of its client.
        prefix = path_prefix(headers.get("x-forwarded-prefix", ""))
    if is_proxy and "x-forwarded-for" in headers:
        believed = True
        # Our proxy appended the last address; any client may have written the ones before it.
        for said in reversed(headers["x-forwarded-for"].split(",")):
            found = parse_address(said.strip())
            if found is None:
                break
            address = found
            if not _is_in(found, trusted):
                break
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
