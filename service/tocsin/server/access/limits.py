"""How large a request may be, how slow, and how many at one time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request

from tocsin.server.problems import Problem, answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 2**20
LARGER = (
    (("/api/v1/table", "/api/v1/imports"), 2 * 2**30),
    (("/api/v1/pages", "/pages", "/add", "/import", "/table"), 64 * 2**20),
)
"""Below these paths whole lists are sent; the largest are read as a stream."""
PIECE_S = 20.0
"""So long the next piece of a body may take."""
MOST_AT_ONE_TIME = 64
NOT_COUNTED = frozenset({"/events", "/healthz", "/readyz"})
"""Streams are counted where they are made; probes are answered however busy it is."""


class Limits:
    """ASGI middleware: bounds what a request may take."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, bounded."""
        if scope["type"] != "http" or scope["path"] in NOT_COUNTED:
            await self._app(scope, receive, send)
            return
        most = next((most for paths, most in LARGER if scope["path"].startswith(paths)), MOST_BYTES)
        if self._under_way >= MOST_AT_ONE_TIME:
            await _refuse(_busy(), scope, receive, send)
            return
        said = Headers(scope=scope).get("content-length", "0")
        if not said.isdecimal() or int(said) > most:
            await _refuse(_too_large(most), scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._bounded(most, scope, receive, send)
        finally:
            self._under_way -= 1

    async def _bounded(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        taken, has_begun, is_whole = 0, False, False

        async def receive_bounded() -> Message:
            nonlocal taken, is_whole
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout(PIECE_S):
                    message = await receive()
            except TimeoutError:
                raise _too_slow() from None
            taken += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            if taken > most:
                raise _too_large(most)
            return message

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive_bounded, send_noted)
        except Problem as exc:
            if has_begun:
                raise
            await _refuse(exc, scope, receive, send)
        except ClientDisconnect:
            # Whoever asked is gone: there is nobody to answer.
            return


async def _refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    # What is left of the body is not read, so that the connection cannot be used again.
    problem.headers.setdefault("Connection", "close")
    response = await answer(Request(scope), problem)
    await response(scope, receive, send)


def _too_large(most: int) -> Problem:
    mend = "send it in several parts"
    return Problem(413, "too-large", "The request is too large", f"at most {most >> 20} MiB here", mend=mend)


def _too_slow() -> Problem:
    detail = f"nothing came for {PIECE_S:g} s"
    return Problem(408, "too-slow", "The request is too slow", detail, mend="send it again, without a pause")


def _busy() -> Problem:
    detail = f"{MOST_AT_ONE_TIME} requests are being answered"
    return Problem(503, "busy", "Too many at one time", detail, mend="try again", headers={"Retry-After": "1"})
