"""What every answer says to browsers, and the id that it bears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from tocsin.events import Happening
from tocsin.server.access.forms import SAFE
from tocsin.server.access.guard import SENDER, is_public
from tocsin.server.access.origins import sender_of
from tocsin.server.access.requests import HEADER, begin_request

if TYPE_CHECKING:
    from starlette.datastructures import State
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from tocsin.server.parts import Parts

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


class Envelope:
    """ASGI middleware, the outermost: request ids, security headers, HEAD where there is GET, and a line in the log."""

    def __init__(self, app: ASGIApp, state: State) -> None:
        self._app, self._state = app, state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and dress its answer."""
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
        scope = {**scope, SENDER: sender, "state": state}
        is_private = not is_public(scope["path"])
        has_head = scope["path"] not in _ENDLESS
        if method == "HEAD" and has_head:
            scope["method"] = "GET"  # the server leaves the body out

        async def dress(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                said = MutableHeaders(scope=message)
                said[HEADER] = request_id
                if has_head and (allowed := said.get("allow", "")).startswith("GET"):
                    said["allow"] = allowed.replace("GET", "GET, HEAD", 1)
                for name, value in _ALWAYS.items():
                    said.setdefault(name, value)
                if is_private:
                    said.setdefault("cache-control", "no-store")
                if sender.origin is not None and sender.origin.scheme == "https":
                    said.setdefault("strict-transport-security", _A_YEAR)
            await send(message)

        try:
            await self._app(scope, receive, dress)
        finally:
            values = {
                "method": method,
                # Never the query: what people search for is theirs.
                "path": scope["path"],
                "status": status,  # none: it broke off before
                "elapsed_ms": round((parts.clock.monotonic() - began_s) * 1000),
            }
            is_change = method not in SAFE
            parts.telemetry.emit(Happening("http.answered", "info" if is_change else "debug", values))
