"""The guard: identifies the caller of every request, and rejects requests that may not reach a route."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NoBase64
from collections import OrderedDict
from collections.abc import Iterable
from math import ceil
from typing import Any
from urllib.parse import parse_qsl, quote

from starlette.datastructures import Headers, MutableHeaders, State
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from tocsin.configuration.tokens import is_token
from tocsin.errors import TocsinError
from tocsin.events import Happening
from tocsin.model import Scope
from tocsin.ports import Clock
from tocsin.server.access.auditing import HEADER, begin_request
from tocsin.server.access.credentials import digest_of, new_secret
from tocsin.server.connections import CONNECTION, network_of
from tocsin.server.parts import (
    CALLER,
    SAFE,
    SENDER,
    Caller,
    Parts,
    Sender,
    Via,
    is_cross_site,
    is_form,
    is_own_name,
    is_secure,
    refuse_odd_charset,
    sender_of,
    unknown,
    wanted_of,
)
from tocsin.server.problems import Problem, answer, wants_html
from tocsin.settings import HttpSettings

# The outermost middleware: security headers, request ids, path prefixes and access log lines.


# No script, style or frame of another origin, so that a foreign text that escapes a template does nothing.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not `no-referrer`: with that, browsers send `Origin: null` with forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_ENDLESS = frozenset({"/events"})
_A_YEAR = "max-age=31536000"


_COOKIE_FOR_ALL = re.compile(rb"; *path=/(?=;|$)", re.IGNORECASE)


class Envelope:
    """The outermost ASGI middleware: request ids, security headers, HEAD for each GET, and a log line.

    Where a proxy serves us below a path, the prefix is removed from requests, and added to redirects and cookie paths.
    Inside, only `web/rendering.py` knows it, which writes links.
    """

    def __init__(self, app: ASGIApp, state: State) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        parts: Parts = self._state.parts
        headers = Headers(scope=scope)
        began_s, method = parts.clock.monotonic(), scope["method"]
        status: int | None = None
        sender = sender_of(scope, headers, parts.service.settings().http)
        # A client's own id counts through a trusted proxy alone: others could forge lines of the audit log.
        request_id = begin_request(headers, parts.chance.ulid(parts.clock.now()), believed=sender.believed)
        state = {**scope.get("state", {}), "request_id": request_id}
        scope = {**scope, SENDER: sender, "state": state, **_without(sender.prefix or "", scope)}
        is_private = not is_public(scope["path"])
        has_head = scope["path"] not in _ENDLESS
        if method == "HEAD" and has_head:
            scope["method"] = "GET"  # the server leaves the body out

        async def dress(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if sender.prefix:
                    message["headers"] = _below(sender.prefix, message.get("headers", []))
                said = MutableHeaders(scope=message)
                said[HEADER] = request_id
                # The routes know GET only, HEAD is answered here.
                if has_head and (allowed := said.get("allow", "")).startswith("GET"):
                    said["allow"] = allowed.replace("GET", "GET, HEAD", 1)
                _dress(said, sender, is_private=is_private)
            await send(message)

        try:
            if sender.prefix is None:
                await (await answer(Request(scope), _bad_prefix()))(scope, receive, dress)
            else:
                await self._app(scope, receive, dress)
        finally:
            values = {
                "method": method,
                # Never the query: searches are private.
                "path": scope["path"],
                "status": status,  # None: the connection broke off before
                "elapsed_ms": round((parts.clock.monotonic() - began_s) * 1000),
            }
            # Reading pages is not worth a line of the usual log; what changes something is.
            is_change = method not in SAFE
            parts.telemetry.emit(Happening("http.answered", "info" if is_change else "debug", values))


def _dress(said: MutableHeaders, sender: Sender, *, is_private: bool) -> None:
    """Add the security headers."""
    for name, value in _ALWAYS.items():
        said.setdefault(name, value)
    if is_private:
        # A browser's cache outlives its session.
        said.setdefault("cache-control", "no-store")
    # Over plain HTTP browsers ignore the header, and on a name of this machine it would lock out other services.
    if sender.origin is not None and sender.origin.scheme == "https":
        said.setdefault("strict-transport-security", _A_YEAR)


def _without(prefix: str, scope: Connection) -> dict[str, Any]:
    """Remove the prefix from a request's path, if it has it."""
    path, found = scope["path"], {}
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        found["path"] = path.removeprefix(prefix) or "/"
        found["raw_path"] = scope.get("raw_path", path.encode()).removeprefix(prefix.encode()) or b"/"
    if found.get("path", path) == "/api/openapi.json":
        # The framework names the prefix as the server in the description of the API.
        found["root_path"] = prefix
    return found


def _below(prefix: str, headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Add the prefix to redirects to our own paths, and to the paths of cookies."""
    put = []
    for name, value in headers:
        match name.lower():
            # `//host` is another site; a path that has the prefix was written with it.
            case b"location" if value.startswith(b"/") and not value.startswith((b"//", prefix.encode() + b"/")):
                put.append((name, prefix.encode() + value))
            case b"set-cookie":
                put.append((name, _COOKIE_FOR_ALL.sub(b"; Path=" + prefix.encode(), value)))
            case _:
                put.append((name, value))
    return put


def _bad_prefix() -> Problem:
    return Problem(
        400,
        "bad-prefix",
        "X-Forwarded-Prefix cannot be used",
        "it is no path like /tocsin, or begins with the name of one of the service's own paths",
        mend="have the proxy send one such path, or set http.public_url with it",
    )


TRIES = 10  # Failures allowed for one address within SPAN_S seconds.
SPAN_S = 300.0
# For all addresses together: one client may have thousands of them.
TRIES_IN_ALL = 300
SPAN_IN_ALL_S = 60.0
# Of each table the oldest entry is dropped: a flood of addresses or secrets must not fill the memory.
MOST_ADDRESSES = 4096
MOST_KNOWN = 256
MOST_WRONG = 1024


class Throttle:
    """Delays clients with many failed logins: a leaky bucket for each address, and one for all addresses.

    Failures drain evenly: another try is free after each tenth of the span. Memory is bounded; the oldest failures are
    forgotten first. A recently valid credential is never delayed, so that an attacker behind the same address cannot
    lock out its owner. The same wrong credential counts once, since a program with a revoked token guesses nothing.
    The bucket for all addresses delays only addresses with failures of their own.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._in_all = (0.0, 0.0)
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._wrong: OrderedDict[tuple[str, bytes], None] = OrderedDict()

    def wait_s(self, who: str, digest: bytes) -> float:
        """Return the seconds until this address may try this credential; 0 if it may now."""
        if digest in self._known:
            return 0.0
        now = self._clock.monotonic()
        own = _left(self._failed.get(who, (0.0, now)), now, TRIES / SPAN_S)
        whole = _left(self._in_all, now, TRIES_IN_ALL / SPAN_IN_ALL_S) if own else 0.0
        return max(_over(own, TRIES, SPAN_S), _over(whole, TRIES_IN_ALL, SPAN_IN_ALL_S))

    def failed(self, who: str, digest: bytes) -> None:
        """Count a failure of this address, and forget that the credential was valid."""
        now = self._clock.monotonic()
        self._known.pop(digest, None)
        if (who, digest) in self._wrong:
            self._wrong.move_to_end((who, digest))
            return
        self._wrong[who, digest] = None
        if len(self._wrong) > MOST_WRONG:
            self._wrong.popitem(last=False)
        self._failed[who] = (_left(self._failed.pop(who, (0.0, now)), now, TRIES / SPAN_S) + 1, now)
        self._in_all = (_left(self._in_all, now, TRIES_IN_ALL / SPAN_IN_ALL_S) + 1, now)
        if len(self._failed) > MOST_ADDRESSES:
            self._failed.popitem(last=False)

    def succeeded(self, digest: bytes) -> None:
        """Remember a valid credential."""
        self._known.pop(digest, None)
        self._known[digest] = None
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def __len__(self) -> int:
        return len(self._failed)


def _left(failed: tuple[float, float], now: float, drain: float) -> float:
    count, at = failed
    return max(count - (now - at) * drain, 0.0)


def _over(count: float, most: int, span_s: float) -> float:
    return max(count - most + 1, 0.0) * span_s / most


LOST_FORM = "/login/kept"  # Takes a form that came without a session; what was typed goes back with the login.
PUBLIC = frozenset({"/healthz", "/readyz", "/login", LOST_FORM})
PUBLIC_BELOW = "/static/"
COOKIE = "tocsin"
SECURE_COOKIE = "__Host-tocsin"
SECURE_COOKIE_BELOW = "__Secure-tocsin"
_SECRET_PARAMETERS = frozenset({"token", "access_token", "api_key", "apikey", "password"})
# Headers of proxies, trusted or not.
_FORWARDING = (
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-prefix",
    "x-forwarded-proto",
    "x-real-ip",
)


def is_public(path: str) -> bool:
    """Say whether this path needs no credential."""
    return path in PUBLIC or (path.startswith(PUBLIC_BELOW) and ".." not in path)


async def demand_declared_scope(request: Request) -> None:
    """Reject requests to a route without a declared scope. Raises Problem."""
    if not is_public(request.scope["path"]) and wanted_of(request.scope["route"].dependant) is None:
        raise Problem(403, "undeclared", "This route is closed", "the route declares no scope", mend="please report it")


class Doorkeeper:
    """Identifies callers by token, Basic or session; before the first token, by a connection from this machine."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._has_tokens = False
        self.throttle = Throttle(parts.clock)
        self._local_csrf = new_secret()

    async def is_open(self) -> bool:
        """Say whether no token was ever made or declared, so that the service is open to its own machine.

        Tokens count as declared while their file is unreadable: requests without one are still rejected.
        """
        if self._parts.service.settings().http.tokens:
            return False
        if not self._has_tokens:
            self._has_tokens = await self._parts.store.has_tokens()
        return not self._has_tokens

    async def find(self, request: Request, sender: Sender) -> Caller | None:
        """Identify the caller; None for a request without credentials. Raises Problem."""
        if await self.is_open():
            return self._local(request, sender)
        header = request.headers.get("authorization")
        if header is not None:
            return await self._by_header(header, sender)
        secret = session_cookie(request, self._parts.service.settings().http)
        if secret is not None:
            digest = digest_of(secret)
            session = await self._parts.store.session_of(digest, self._parts.clock.now())
            if session is not None:
                token = session.token
                return Caller(token.name, token.scope, token.id, session.csrf, Via.SESSION, digest)
        return None

    async def by_token(self, token: str, sender: Sender, via: Via) -> Caller:
        """Identify the caller of a token. Raises Problem: 401, or 429 for an address with too many failures.

        A valid token is accepted regardless of earlier failures: it is too long to be guessed. Behind a proxy that is
        not trusted all clients have one address, and a stranger's failures would lock out the administrator.
        """
        who, digest = who_is(sender), digest_of(token)
        found = await self._parts.store.token_of(digest, self._parts.clock.now()) if is_token(token) else None
        if found is None:
            if (wait_s := self.throttle.wait_s(who, digest)) > 0:
                raise Problem(
                    429,
                    "too-many-failures",
                    "Too many failed tries",
                    "this token is not in force, and from this address, or in all, too many tokens were wrong",
                    mend=f"wait {ceil(wait_s)} s, then use a token that is in force (tocsin token list)",
                    headers={"Retry-After": str(ceil(wait_s))},
                )
            self.throttle.failed(who, digest)
            self._parts.telemetry.emit(Happening("access.refused", "warning", {"address": who, "via": via.value}))
            raise unknown("this token is not in force: mistyped, revoked, or past its time")
        self.throttle.succeeded(digest)
        return Caller(found.name, found.scope, found.id, "", via)

    def _local(self, request: Request, sender: Sender) -> Caller:
        """Accept a client on this machine. Raises Problem where the request may come from elsewhere."""
        settings = self._parts.service.settings().http
        if not sender.is_local:
            raise unknown("no token was made yet, and without one only this machine is let in")
        if any(name in request.headers for name in _FORWARDING):
            # Behind a proxy on this machine, any client would look local.
            raise unknown("no token was made yet, and without one no client behind a proxy is accepted")
        if not is_own_name(sender.origin, settings):
            raise Problem(
                421,
                "unknown-host",
                "The service is not known by this name",
                "without a token it answers to names of this machine only, so that no web site can pass for it",
                mend="use http://127.0.0.1 or localhost, set http.public_url, or make a token (tocsin token add)",
            )
        return Caller("local", Scope.ADMIN, None, self._local_csrf, Via.LOCAL)

    async def _by_header(self, header: str, sender: Sender) -> Caller:
        scheme, _, said = header.partition(" ")
        match scheme.lower():
            case "bearer":
                return await self.by_token(said.strip(), sender, Via.BEARER)
            case "basic":
                return await self.by_token(_password(said.strip()), sender, Via.BASIC)
        raise unknown(f"Authorization: {scheme[:20]!r} is not known here")


class Guard:
    """ASGI middleware: identifies the caller before any of the body is read."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a problem."""
        if scope["type"] != "http":
            raise Problem(400, "no-http", "Only HTTP is spoken here")
        request = Request(scope, receive)
        try:
            response: Response | None = await self._refusal(request)
        except TocsinError as exc:
            # Includes errors of the store: no handler of the application sees an exception raised here.
            response = await answer(request, exc)
        connection = scope.get(CONNECTION)
        if connection is not None and not is_public(scope["path"]):
            # When connections run out, those of unknown clients are closed first.
            connection.is_known = CALLER in scope
        await (self._app if response is None else response)(scope, receive, send)

    async def _refusal(self, request: Request) -> RedirectResponse | None:
        scope, settings = request.scope, self._state.parts.service.settings().http
        sender: Sender = scope[SENDER]
        _refuse_secrets_in(scope["query_string"])
        refuse_odd_charset(request)
        path = scope["path"]
        if is_public(path):
            if request.method not in SAFE and is_cross_site(request, sender, settings):
                raise _foreign()
            return None
        caller = await self._state.doorkeeper.find(request, sender)
        if caller is None:
            if wants_html(request) and request.method in SAFE:
                wanted = path + (f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else "")
                return RedirectResponse("/login" if wanted == "/" else f"/login?next={quote(wanted, safe='')}", 303)
            if wants_html(request) and is_form(request) and not is_cross_site(request, sender, settings):
                scope["state"]["lost_form"] = path
                scope["path"], scope["raw_path"] = LOST_FORM, LOST_FORM.encode()
                return None
            raise unknown()
        if caller.via is not Via.BEARER and is_cross_site(request, sender, settings) and not _is_visit(request):
            raise _foreign()
        scope[CALLER] = scope["state"]["caller"] = caller
        return None


def who_is(sender: Sender) -> str:
    """Return the key under which failures, requests and streams of a client are counted."""
    return network_of(str(sender.address))


def cookie_name(sender: Sender, settings: HttpSettings) -> str:
    """Return the name of the session cookie; over HTTPS one that no other site and no neighbour domain can set.

    Below a path, browsers reject the prefix `__Host-`; there the cookie is bound to that path.
    """
    if not is_secure(sender, settings):
        return COOKIE
    return SECURE_COOKIE_BELOW if sender.prefix else SECURE_COOKIE


def session_cookie(request: Request, settings: HttpSettings) -> str | None:
    """Return the session secret that a browser sends."""
    return request.cookies.get(cookie_name(request.scope[SENDER], settings)) or None


def _password(said: str) -> str:
    try:
        _, _, password = b64decode(said, validate=True).decode("utf-8").partition(":")
    except (NoBase64, UnicodeDecodeError):
        raise unknown("the Basic credentials cannot be read") from None
    if not password:
        raise unknown("the password of Basic is empty: the token belongs there, whatever the user name is")
    return password


def _is_visit(request: Request) -> bool:
    """Say whether the request follows a link from another site to a web page; that site cannot read the answer.

    Links from other sites to the API are refused: only programs call it.
    """
    is_get = request.method in {"GET", "HEAD"} and request.headers.get("sec-fetch-mode") == "navigate"
    return is_get and not request.scope["path"].startswith("/api/v1/")


def _refuse_secrets_in(query: bytes) -> None:
    """Refuse tokens in URLs, which end up in logs, browser histories and proxies."""
    names = {name.lower() for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True)}
    if names & _SECRET_PARAMETERS:
        raise Problem(
            400,
            "token-in-url",
            "A token does not belong in a URL",
            "logs, histories and proxies keep URLs",
            mend="send `Authorization: Bearer TOKEN`, or it as the password of Basic; revoke one that was in a URL",
        )


def _foreign() -> Problem:
    return Problem(
        403,
        "cross-site",
        "The request comes from another site",
        "a browser sent it for a page that is not one of ours",
        mend="open this service's own page; behind a proxy, set http.public_url to the address that people use",
    )
