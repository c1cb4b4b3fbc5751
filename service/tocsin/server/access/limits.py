"""How large a request may be, how slow, and how many at one time."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request

from tocsin.server.problems import Problem, answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 2**20
LARGER = (
    (("/api/v1/table", "/api/v1/imports"), 2 * 2**30),
    (("/pages/import",), 64 * 2**20),
    (("/api/v1/pages",), 4 * 2**20),
    (("/login",), 16 * 2**10),
)
"""Below these paths whole lists are sent; what is parsed at once holds up everybody, a second for 5 MiB of JSON."""
PIECE_S = 20.0
"""So long the next piece of a body may take."""
SLOWEST_BYTES_S = 1024
"""What trickles in more slowly is not waited for, either."""
MOST_AT_ONE_TIME = 64
MOST_EXTRACTS = 256
"""Of those who take pages' data away: who waits for a slow page must not take the places of all others."""
MOST_LOGINS = 8
"""Of those that nobody knows yet: their bodies are waited for, and must not take the places of those who are known."""
_EXTRACTS = re.compile(r"/api/v1/pages/[0-9]+/extract/.")
NOT_COUNTED = frozenset({"/events", "/healthz", "/readyz"})
"""Streams are counted where they are made; probes are answered however busy it is."""


class Limits:
    """ASGI middleware: bounds what a request may take."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, bounded."""
        if scope["type"] != "http" or scope["path"] in NOT_COUNTED:
            await self._app(scope, receive, send)
            return
        most = next((most for paths, most in LARGER if scope["path"].startswith(paths)), MOST_BYTES)
        kind, room = _room_for(scope["path"])
        if self._under_way[kind] >= room:
            await _refuse(_busy(room), scope, receive, send)
            return
        said = Headers(scope=scope).get("content-length", "0")
        if not said.isdecimal() or int(said) > most:
            await _refuse(_too_large(most), scope, receive, send)
            return
        self._under_way[kind] += 1
        try:
            await self._bounded(most, scope, receive, send)
        finally:
            self._under_way[kind] -= 1

    async def _bounded(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(most, receive)
        has_begun = False

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            # Whoever reads the body may say in its own words that it failed; why it did, is known here.
            if body.wrong is None or has_begun:
                has_begun = True
                await send(message)

        try:
            await self._app(scope, body.receive, send_noted)
        except Problem as exc:
            if has_begun or exc is not body.wrong:
                raise
        except ClientDisconnect:
            # Whoever asked is gone: there is nobody to answer.
            return
        if body.wrong is not None and not has_begun:
            await _refuse(body.wrong, scope, receive, send)


def _room_for(path: str) -> tuple[str, int]:
    """Name the kind of a request, and how many of that may be under way."""
    if path == "/login":
        return "login", MOST_LOGINS
    return ("extract", MOST_EXTRACTS) if _EXTRACTS.match(path) else ("", MOST_AT_ONE_TIME)


class _Body:
    """A request's body as it comes in, bounded.

    wrong  what it broke, once it did
    """

    def __init__(self, most: int, receive: Receive) -> None:
        self._most, self._receive = most, receive
        self._taken, self._is_whole = 0, False
        self._began_s: float | None = None
        self.wrong: Problem | None = None

    async def receive(self) -> Message:
        """Give the next piece. Raises Problem."""
        if self._is_whole:
            return await self._receive()
        now = asyncio.get_running_loop().time
        if self._began_s is None:
            self._began_s = now()
        try:
            async with asyncio.timeout(PIECE_S):
                message = await self._receive()
        except TimeoutError:
            self.wrong = _too_slow(f"nothing came for {PIECE_S:g} s")
            raise self.wrong from None
        self._taken += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._taken > self._most:
            self.wrong = _too_large(self._most)
        elif not self._is_whole and now() - self._began_s > PIECE_S + self._taken / SLOWEST_BYTES_S:
            self.wrong = _too_slow(f"less than {SLOWEST_BYTES_S} bytes came a second")
        if self.wrong is not None:
            raise self.wrong
        return message


async def _refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    # What is left of the body is not read, so that the connection cannot be used again.
    problem.headers.setdefault("Connection", "close")
    response = await answer(Request(scope), problem)
    await response(scope, receive, send)


def _too_large(most: int) -> Problem:
    mend = "send it in several parts"
    said = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
    return Problem(413, "too-large", "The request is too large", f"at most {said} here", mend=mend)


def _too_slow(detail: str) -> Problem:
    return Problem(408, "too-slow", "The request is too slow", detail, mend="send it again, without a pause")


def _busy(room: int) -> Problem:
    detail = f"{room} requests are being answered"
    return Problem(503, "busy", "Too many at one time", detail, mend="try again", headers={"Retry-After": "1"})
