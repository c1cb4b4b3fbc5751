"""The outermost middleware: security headers, request ids, path prefixes and access log lines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders, State
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tocsin.events import Happening
from tocsin.server.access.auditing import HEADER, begin_request
from tocsin.server.access.guard import is_public
from tocsin.server.access.origins import SENDER, Sender, sender_of
from tocsin.server.access.rights import SAFE
from tocsin.server.parts import Parts
from tocsin.server.problems import Problem, answer

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        parts: Parts = self._state.parts
        headers = Headers(scope=scope)
        began_s, method = parts.clock.monotonic(), scope["method"]
        status: int | None = None
        sender = sender_of(scope, headers, parts.service.settings().http)
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
            is_change = method not in SAFE
            parts.telemetry.emit(Happening("http.answered", "info" if is_change else "debug", values))


def _dress(said: MutableHeaders, sender: Sender, *, is_private: bool) -> None:
    """Add the security headers."""
    for name, value in _ALWAYS.items():
        said.setdefault(name, value)
    if is_private:
        said.setdefault("cache-control", "no-store")
    if sender.origin is not None and sender.origin.scheme == "https":
        said.setdefault("strict-transport-security", _A_YEAR)


def _without(prefix: str, scope: Scope) -> dict[str, Any]:
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
