"""Messages of HTTP/1.1: heads of requests as bytes, and answers read from bytes."""

from __future__ import annotations

import re
import ssl
from base64 import b64encode
from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from tocsin.adapters.http.bodies import ACCEPTED, LEAST_PIECE_BYTES, Body, NotDecodable, TooLong
from tocsin.adapters.http.tls import TlsContexts
from tocsin.model import HopRequest
from tocsin.spec.infrastructure.unsafe import one_line

# The origin that a URL leads to, the proxy on the way, and the head of a request as bytes.


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


# Reading one answer from the bytes of its connection: llhttp parses them, doubtful framing is refused here.


# 103 Early Hints may come more than once; without a limit an answer never begins.
MOST_INTERIM: Final = 5
# All headers of an answer and of the interim answers before it.
MOST_HEADER_BYTES: Final = 128 * 1024
# Policies and cookies reach 10 KB.
LONGEST_HEADER_BYTES: Final = 32 * 1024
MOST_HEADERS: Final = 256
# The least that a read counts while a header is received: one that comes byte by byte is joined again each time.
_LEAST_READ_BYTES: Final = 64
# Sizes of chunks and trailers are on the wire, too.
_FRAMING_BYTES: Final = 64 * 1024
# Beyond this, a new connection is cheaper.
_DRAINED_BYTES: Final = 64 * 1024
_INTERIM: Final = 100
_SWITCHING: Final = 101
_FINAL: Final = 200
_NO_SUCCESS: Final = 300
_VERSIONS: Final = ("1.1", "1.0")
# Names of headers repeat: each is decoded once.
_MOST_NAMES: Final = 4096


class BrokenAnswer(Exception):
    """The bytes are no complete answer of HTTP; the text says how."""


class Disconnected(BrokenAnswer):
    """The connection ended before the header of an answer was complete."""


class AnswerReader:
    """Reads one answer after the other from a connection: `begin`, then `feed` or `end` until `is_done`.

    is_done     the answer is complete, or the rest of it is not wanted
    is_sure     another request over the same connection is safe
    is_silent   no byte of this answer has come
    has_header  its header is complete; its body follows
    status, headers  of the answer; names in lower case, each character of a value is one byte
    Bytes after the answer do not change it, and are never parsed as another answer.
    """

    __slots__ = (
        "_drained_work",
        "_fed",
        "_has_moved",
        "_header_left",
        "_interim",
        "_is_chunked",
        "_is_final",
        "_length",
        "_most_wire",
        "_parser",
        "_raw",
        "_request",
        "_still",
        "body",
        "drained_bytes",
        "has_header",
        "headers",
        "is_done",
        "is_silent",
        "is_sure",
        "status",
    )

    def __init__(self) -> None:
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        # The leniencies of browsers that are common and leave the end of an answer certain, and no others.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self.is_done = self.is_sure = True
        self.is_silent = self.has_header = False
        self._raw: list[tuple[bytes, bytes]] = []
        self.body: Body | None = None

    def begin(self, request: HopRequest) -> None:
        """Begin to wait for the answer to this request."""
        self._request = request
        self.is_done = self.has_header = False
        self.is_silent = True
        self._is_final = self._has_moved = False
        self._interim = self._fed = self._still = 0
        self._header_left = MOST_HEADER_BYTES
        self._most_wire = 2 * request.max_wire_bytes + _FRAMING_BYTES
        self._length: int | None = None
        self._is_chunked = False
        self.drained_bytes = self._drained_work = 0
        self.body = None
        # These are trailers of the answer before.
        self._raw.clear()

    def feed(self, data: bytes | memoryview) -> None:
        """Take bytes; raises BrokenAnswer, TooLong or NotDecodable."""
        parser = self._parser
        if parser is None:
            return
        self.is_silent = False
        count = len(data)
        self._fed += count
        try:
            parser.feed_data(data)
        except HttpParserUpgrade:
            self.is_done, self.is_sure = True, False
        except HttpParserError as exc:
            self.is_sure = False
            if not self.is_done:
                self._stumble(exc)
        if not self.is_done:
            self._count(count)

    def end(self, lost: str | None) -> None:
        """Take the end of the connection; raises BrokenAnswer where the answer is not complete.

        lost  why the end of the connection is not the end of the body; None for a proper end
        """
        self.is_sure = False
        if self.is_done:
            return
        if not self.has_header:
            raise Disconnected("the server closed the connection before it answered")
        if self.body is not None:
            if self._length is not None:
                raise BrokenAnswer(f"the body is not complete: received {self.body.wire_bytes} of {self._length} bytes")
            if self._is_chunked:
                raise BrokenAnswer("the body is not complete: the last chunk is missing")
            if lost is not None:
                raise BrokenAnswer(f"the body is not complete: {lost}")
        self.is_done = True

    def whole(self) -> tuple[bytes, int, bool]:
        """Give the decoded body, its bytes on the wire, and whether something was left unread.

        The body is empty unless the status is a success. Raises NotDecodable.
        """
        body = self.body
        if body is None:
            return b"", self.drained_bytes, False
        return body.whole(), body.wire_bytes, body.is_cut

    def give_up(self) -> None:
        """End the answer with the bytes so far: the rest of its body is not wanted."""
        self.is_done, self.is_sure = True, False

    def discard(self) -> None:
        """Free the body."""
        if self.body is not None:
            self.body.discard()
            self.body = None

    def close(self) -> None:
        """Free everything: parser and reader refer to each other."""
        self.discard()
        self._parser = None

    def on_message_begin(self) -> None:
        """Note that a message begins."""
        if self.is_done:
            self.is_sure = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header, or a trailer, which is ignored."""
        raw = self._raw
        raw.append((name, value))
        if len(raw) > MOST_HEADERS:
            raise BrokenAnswer(f"more than {MOST_HEADERS} headers")

    def on_headers_complete(self) -> None:
        """Read the status and the headers of a message."""
        parser = self._parser
        if self.is_done or parser is None:
            return
        version = parser.get_http_version()
        if version not in _VERSIONS:
            raise BrokenAnswer(f"version {version}")
        self.status = status = parser.get_status_code()
        codings = self._read_headers()
        if _INTERIM <= status < _FINAL and status != _SWITCHING:
            self._interim += 1
            if self._interim > MOST_INTERIM:
                raise BrokenAnswer(f"more than {MOST_INTERIM} interim answers")
            return
        self._is_final = self.has_header = True
        # HTTP/1.0 does not define whether a connection is kept, nor where such an answer ends.
        self.is_sure = self.is_sure and version == "1.1"
        if _FINAL <= status < _NO_SUCCESS:
            request = self._request
            self.body = body = Body(
                codings, max_wire=request.max_wire_bytes, max_body=request.max_body_bytes, cut_at=request.cut_at
            )
            if self._length is not None:
                body.announce(self._length)

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        body = self.body
        if self.is_done:
            return
        if not self._is_final:
            # llhttp reads a body after 199, and would go on in it.
            raise BrokenAnswer("an interim answer with a body")
        self._has_moved = True
        if body is not None:
            body.take(piece)
            if body.is_cut:
                self.give_up()
        else:
            self.drained_bytes += len(piece)
            self._drained_work += max(len(piece), LEAST_PIECE_BYTES)
            if self._drained_work > _DRAINED_BYTES:
                self.give_up()

    def on_message_complete(self) -> None:
        """Note the end of a message."""
        if self.is_done or self._parser is None:
            return
        if not self._is_final:
            self._raw.clear()
            return
        self.is_done = True
        # llhttp knows this only until the next byte.
        self.is_sure = self.is_sure and self._parser.should_keep_alive()

    def _read_headers(self) -> str | None:
        """Read the headers of one message, and the framing of its body; returns its content codings."""
        read: list[tuple[str, str]] = []
        codings: str | None = None
        transfers: list[str] | None = None
        self._length, self._is_chunked = None, False
        known = _NAMES.get
        is_long = self._fed > LONGEST_HEADER_BYTES
        for raw_name, raw_value in self._raw:
            name = known(raw_name) or _named(raw_name)
            value = raw_value.decode("latin-1").rstrip(" \t")
            if is_long:
                self._refuse_long(len(raw_name) + len(raw_value))
            if "\0" in value:
                raise BrokenAnswer(f"a NUL in the header {one_line(name)}")
            read.append((name, value))
            if name in _OF_THE_BODY:
                if name == "content-length":
                    self._length = int(value)
                elif name == "content-encoding":
                    codings = value if codings is None else f"{codings}, {value}"
                else:
                    transfers = [*(transfers or ()), value.lower()]
        self._raw.clear()
        self.headers = tuple(read)
        if transfers is not None:
            if transfers != ["chunked"]:
                # The body would still be coded.
                raise BrokenAnswer("a transfer coding other than chunked")
            self._is_chunked = True
        return codings

    def _count(self, count: int) -> None:
        """Refuse more bytes than any header or framing needs; raises BrokenAnswer or TooLong."""
        if self._has_moved:
            self._has_moved, self._still = False, 0
        else:
            self._still += max(count, _LEAST_READ_BYTES)
        if not self.has_header:
            if self._still > 2 * MOST_HEADER_BYTES:
                self._refuse_long(2 * MOST_HEADER_BYTES)
        elif self._fed > self._most_wire or self._still > 2 * MOST_HEADER_BYTES:
            if self.body is None:
                self.give_up()
            elif self._request.cut_at is not None:
                self.body.is_cut = True
                self.give_up()
            else:
                raise TooLong("more bytes on the wire than any framing takes (fetch.max_wire)")

    def _refuse_long(self, header_bytes: int) -> None:
        """Raise BrokenAnswer if this header, or all of them, are too long."""
        self._header_left -= header_bytes
        if self._header_left < 0:
            raise BrokenAnswer(f"headers of more than {MOST_HEADER_BYTES} bytes")
        if header_bytes > LONGEST_HEADER_BYTES:
            raise BrokenAnswer(f"a header of more than {LONGEST_HEADER_BYTES} bytes")

    def _stumble(self, exc: HttpParserError) -> None:
        """Raise an error of the parser, unless it is in a body that is not wanted."""
        if self.has_header and not _FINAL <= self.status < _NO_SUCCESS:
            self.give_up()
        else:
            raise self._named(exc) from None

    def _named(self, exc: HttpParserError) -> Exception:
        """Give an error of the parser, or the error of a callback, which is its context."""
        own = exc.__context__ if isinstance(exc, HttpParserCallbackError) else None
        if isinstance(own, TooLong | NotDecodable):
            return own
        how = one_line(own if isinstance(own, BrokenAnswer) else exc)
        return BrokenAnswer(f"the body is not complete: {how}" if self.has_header else f"not an answer of HTTP: {how}")


_OF_THE_BODY: Final = frozenset(("content-length", "content-encoding", "transfer-encoding"))
# Names of headers in lower case, by their bytes; most servers use the same few.
_NAMES: Final[dict[bytes, str]] = {}


def _named(raw: bytes) -> str:
    # llhttp ignores spaces before the colon (RFC 9112, 5.1), also of headers that frame the body.
    name = raw.decode("latin-1").lower().rstrip(" ")
    if len(_NAMES) < _MOST_NAMES and len(raw) <= 64:  # noqa: PLR2004 - longer ones are rare
        _NAMES[raw] = name
    return name
