"""The origin that a URL leads to, the proxy on the way, and the head of a request as bytes."""

from __future__ import annotations

import re
import ssl
from base64 import b64encode
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote

from tocsin.adapters.http.decoding import ACCEPTED
from tocsin.adapters.http.tls import TlsContexts
from tocsin.model import HopRequest

ACCEPT: Final = "text/html,application/xhtml+xml,*/*;q=0.8"
MOST_ORIGINS: Final = 16_384
# Scheme, user information, host, port.
_FORM: Final = r"(https?)://(?:([^/?#]*)@)?(\[[^\]/?#]*\]|[^:/?#]*)(?::(\d*))?(?=[/?#]|$)"
_URL: Final = re.compile(_FORM)
_PROXY: Final = re.compile(_FORM, re.IGNORECASE)
_NOT_SENT: Final = re.compile(r"[^\x21-\x7e]")
_BREAKS_LINES: Final = re.compile(r"[\r\n\0]")
_PORTS: Final = {"http": 80, "https": 443}
_LAST_PORT: Final = 65_535
_OURS: Final = frozenset(("host", "user-agent", "accept", "accept-encoding"))


class SiteOrigin:
    """A scheme, a host and a port, with what every request to them begins and ends with.

    host        as DNS is asked for it, or an address
    is_address  the host is an address
    context     of its encrypted connections; None: they are plain
    name        of the host in its certificate and in SNI
    authority   host and port as a request names them, the port only where it is not the scheme's own
    line        the end of the request line and the header Host, as bytes
    rest        the usual last headers, as bytes
    """

    __slots__ = ("authority", "context", "host", "is_address", "key", "line", "name", "port", "rest", "scheme")

    def __init__(self, scheme: str, host: str, port: int, context: ssl.SSLContext | None, user_agent: str) -> None:
        self.scheme, self.host = scheme, host.strip("[]")
        self.port, self.context = port, context
        self.is_address = _is_address(self.host)
        self.name = self.host.rstrip(".")
        self.key = (scheme, self.host, port)
        self.authority = host.rstrip(".") + (f":{port}" if port != _PORTS[scheme] else "")
        self.line = f" HTTP/1.1\r\nHost: {self.authority}\r\n".encode("ascii")
        self.rest = _rest(user_agent, ACCEPT)


class Proxy:
    """An HTTP proxy: its origin, and the header with the credentials of its URL."""

    __slots__ = ("_user_agent", "authorization", "origin")

    def __init__(self, origin: SiteOrigin, user_info: str | None, user_agent: str) -> None:
        self.origin, self._user_agent = origin, user_agent
        self.authorization = "" if user_info is None else f"Proxy-Authorization: Basic {_basic(user_info)}\r\n"

    def connect_head(self, origin: SiteOrigin) -> bytes:
        """Write the request for a tunnel to this origin. Source: RFC 9110, 9.3.6."""
        host = f"[{origin.host}]" if ":" in origin.host else origin.host
        target = f"{host}:{origin.port}"
        agent = f"User-Agent: {self._user_agent}\r\n"
        return f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{agent}{self.authorization}\r\n".encode("latin-1")


class Origins:
    """Gives the origin of each URL, and the head of each request; what is the same for an origin is made once."""

    def __init__(self, user_agent: str, tls: TlsContexts) -> None:
        self._user_agent, self._tls = user_agent, tls
        self._known: dict[str, SiteOrigin] = {}
        self._proxies: dict[str, Proxy] = {}

    def proxy(self, url: str) -> Proxy:
        """Give the proxy of this URL; raises ValueError, without the URL, for one that cannot be read."""
        proxy = self._proxies.get(url)
        if proxy is not None:
            return proxy
        found = _PROXY.match(url)
        if found is None or not found[3]:
            raise ValueError('not the URL of a proxy: in a password "/" is %2F, "?" is %3F, and "#" is %23')
        scheme, host = found[1].lower(), found[3].lower()
        if not host.isascii():
            host = host.encode("idna").decode("ascii")
        bare = f"{scheme}://{host}" + (f":{found[4]}" if found[4] else "")
        proxy = Proxy(self._origin(bare, scheme, host, found[4]), found[2], self._user_agent)
        if len(self._proxies) >= MOST_ORIGINS:
            self._proxies.clear()
        self._proxies[url] = proxy
        return proxy

    def split(self, url: str) -> tuple[SiteOrigin, str]:
        """Split a URL into its origin and what is asked of it; raises ValueError for one that cannot be sent."""
        found = _URL.match(url)
        if found is None:
            raise ValueError("not a URL of HTTP")
        end = found.end()
        origin = self._known.get(url[:end])
        if origin is None:
            origin = self._origin(url[:end], found[1], found[3], found[4])
            if "@" not in url[:end]:
                if len(self._known) >= MOST_ORIGINS:
                    self._known.clear()
                self._known[url[:end]] = origin
        target = url[end:].partition("#")[0]
        if not target.startswith("/"):
            target = f"/{target}"
        if _NOT_SENT.search(target) is not None:
            raise ValueError("a URL with spaces, controls or letters beyond ASCII is not sent")
        return origin, target

    def head(self, origin: SiteOrigin, target: str, request: HopRequest, proxy: Proxy | None = None) -> bytes:
        """Write the head of a request; raises ValueError for headers that no byte can carry, or that break lines."""
        is_plain_proxy = proxy is not None and origin.context is None
        if not request.headers and not is_plain_proxy:
            return b"GET " + target.encode("ascii") + origin.line + origin.rest
        own, user_agent, accept, host = [], self._user_agent, ACCEPT, None
        if proxy is not None and is_plain_proxy:
            # Source: RFC 9112, 3.2.2 (absolute-form); a tunnel carries the usual form.
            target = f"{origin.scheme}://{origin.authority}{target}"
            own.append(proxy.authorization)
        asked = b"GET " + target.encode("ascii")
        for name, value in request.headers:
            if _BREAKS_LINES.search(value) is not None or _BREAKS_LINES.search(name) is not None:
                raise ValueError("a header with line ends is not sent")
            lower = name.lower()
            if lower not in _OURS:
                own.append(f"{name}: {value}\r\n")
            elif lower == "user-agent":
                user_agent = value
            elif lower == "accept":
                accept = value
            elif lower == "host":
                host = value
        line = origin.line if host is None else f" HTTP/1.1\r\nHost: {host}\r\n".encode("latin-1")
        is_usual = user_agent is self._user_agent and accept is ACCEPT
        rest = origin.rest if is_usual else _rest(user_agent, accept)
        return asked + line + "".join(own).encode("latin-1") + rest

    def __len__(self) -> int:
        return len(self._known)

    def _origin(self, url: str, scheme: str, host: str, written_port: str) -> SiteOrigin:
        port = int(written_port) if written_port else _PORTS[scheme]
        if not host or not host.isascii() or _NOT_SENT.search(host) is not None or not 0 < port <= _LAST_PORT:
            raise ValueError("a URL without a host and a port is not sent")
        context = self._tls.of(url) if scheme == "https" else None
        return SiteOrigin(scheme, host, port, context, self._user_agent)


def _basic(user_info: str) -> str:
    """Encode the credentials of a URL. Source: RFC 7617, 2."""
    name, _, password = user_info.partition(":")
    return b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode("ascii")


def _rest(user_agent: str, accept: str) -> bytes:
    # A page's own Accept-Encoding is not sent: only these codings can be decoded.
    return f"User-Agent: {user_agent}\r\nAccept: {accept}\r\nAccept-Encoding: {ACCEPTED}\r\n\r\n".encode("latin-1")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
