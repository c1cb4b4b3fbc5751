"""What goes out: where a URL leads, and the head of a request for it, as bytes."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from tocsin.adapters.http.decoding import ACCEPTED

if TYPE_CHECKING:
    import ssl

    from tocsin.adapters.http.tls import TlsContexts
    from tocsin.model import HopRequest

ACCEPT: Final = "text/html,application/xhtml+xml,*/*;q=0.8"
MOST_ORIGINS: Final = 16_384
_URL: Final = re.compile(r"(https?)://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^:/?#]*)(?::(\d*))?(?=[/?#]|$)")
_NOT_SENT: Final = re.compile(r"[^\x21-\x7e]")
_BREAKS_LINES: Final = re.compile(r"[\r\n\0]")
_PORTS: Final = {"http": 80, "https": 443}
_LAST_PORT: Final = 65_535
_OURS: Final = frozenset(("host", "user-agent", "accept", "accept-encoding"))


class Origin:
    """Where requests go.

    host        as DNS is asked for it, or an address
    is_address  it is one
    context     of its encrypted connections; None: they are plain
    name        as its certificate and SNI have it
    key         what connections are kept by
    line        the end of the request line and the header Host, as bytes
    """

    __slots__ = ("context", "host", "is_address", "key", "line", "name", "port", "rest", "written")

    def __init__(self, scheme: str, host: str, port: int, context: ssl.SSLContext | None, user_agent: str) -> None:
        self.host = host.strip("[]")
        self.port, self.context = port, context
        self.is_address = _is_address(self.host)
        self.name = self.host.rstrip(".")
        self.key = (scheme, self.host, port)
        self.written = host.rstrip(".") + (f":{port}" if port != _PORTS[scheme] else "")
        self.line = f" HTTP/1.1\r\nHost: {self.written}\r\n".encode("ascii")
        self.rest = _rest(user_agent, ACCEPT)


class Origins:
    """Gives the origin of each URL, and the head of each request; what is the same for an origin is made once."""

    def __init__(self, user_agent: str, tls: TlsContexts) -> None:
        self._user_agent, self._tls = user_agent, tls
        self._known: dict[str, Origin] = {}

    def split(self, url: str) -> tuple[Origin, str]:
        """Split a URL into its origin and what is asked of it; raises ValueError for one that cannot be sent."""
        found = _URL.match(url)
        if found is None:
            raise ValueError("not a URL of HTTP")
        end = found.end()
        origin = self._known.get(url[:end])
        if origin is None:
            origin = self._new(url[:end], found)
        target = url[end:].partition("#")[0]
        if not target.startswith("/"):
            target = f"/{target}"
        if _NOT_SENT.search(target) is not None:
            raise ValueError("a URL with spaces, controls or letters beyond ASCII is not sent")
        return origin, target

    def head(self, origin: Origin, target: str, request: HopRequest) -> bytes:
        """Write the head of a request; raises ValueError for headers that no byte can carry, or that break lines."""
        asked = b"GET " + target.encode("ascii")
        if not request.headers:
            return asked + origin.line + origin.rest
        own, user_agent, accept, host = [], self._user_agent, ACCEPT, None
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

    def _new(self, prefix: str, found: re.Match[str]) -> Origin:
        scheme, host, written = found[1], found[2], found[3]
        port = int(written) if written else _PORTS[scheme]
        if not host or not host.isascii() or _NOT_SENT.search(host) is not None or not 0 < port <= _LAST_PORT:
            raise ValueError("a URL without a host and a port is not sent")
        context = self._tls.of(prefix) if scheme == "https" else None
        origin = Origin(scheme, host, port, context, self._user_agent)
        if "@" not in prefix:
            if len(self._known) >= MOST_ORIGINS:
                self._known.clear()
            self._known[prefix] = origin
        return origin


def _rest(user_agent: str, accept: str) -> bytes:
    # Whatever a page's own headers say of codings: only these can be decoded.
    return f"User-Agent: {user_agent}\r\nAccept: {accept}\r\nAccept-Encoding: {ACCEPTED}\r\n\r\n".encode("latin-1")


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
