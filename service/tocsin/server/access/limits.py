"""Limits on requests: size, speed, and the number in progress."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tocsin.server.access.guard import LOST_FORM, who_is
from tocsin.server.parts import CALLER, SAFE, SENDER, Caller
from tocsin.server.problems import Problem, answer

# Forms and JSON of one page are some kilobytes.
MOST_BYTES = 2**20
# Larger bodies, below the paths that take lists. Parsing JSON blocks the loop, a second for 5 MiB.
LARGER = (
    (("/api/v1/table", "/api/v1/imports"), 2 * 2**30),
    (("/pages/import",), 64 * 2**20),
    (("/api/v1/pages",), 4 * 2**20),
    # A login may carry a form whose session ended, encoded once more.
    ((LOST_FORM,), 32 * 2**10),
    (("/login",), 64 * 2**10),
)
PIECE_S = 20.0  # Deadline for the next piece of a body.
SLOWEST_BYTES_S = 1024  # Slower bodies are given up.
# Requests in progress of known clients, in all and per token.
MOST_AT_ONE_TIME = 128
# Half, so that one faulty program leaves room for the others.
MOST_OF_A_TOKEN = 64
# Answers to unknown clients in preparation; a slot is freed before its answer is sent.
MOST_UNKNOWN = 16
# A login needs one; browsers ask for style and script beside it.
MOST_UNKNOWN_OF_AN_ADDRESS = 4
UNKNOWN_BODY_S = 3.0  # Deadline for the whole body of an unknown client: a login.
UNKNOWN_WAIT_S = 5.0  # Deadline for the slot of an unknown client.
# Streams have a limit of their own, and `/healthz` answers under any load.
NOT_COUNTED = frozenset({"/events", "/healthz"})


class RequestLimits:
    """ASGI middleware inside the guard: bounds the size, time and number of requests.

    Known clients have slots of their own, in all and per token. Unknown clients reach public paths only, whose answers
    are small and made at once. They hold a slot neither while their body arrives nor while the answer is sent, so that
    any number of slow unknown clients leaves the known ones alone.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._under_way = Counter[str]()
        self._unknown = asyncio.Semaphore(MOST_UNKNOWN)
        self._by_address: dict[str, tuple[asyncio.Semaphore, list[None]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on within the limits."""
        if scope["type"] != "http" or scope["path"] in NOT_COUNTED:
            await self._app(scope, receive, send)
            return
        most = next((most for paths, most in LARGER if scope["path"].startswith(paths)), MOST_BYTES)
        said = Headers(scope=scope).get("content-length", "0")
        if not said.isdecimal() or int(said) > most:
            await _refuse(_too_large(most), scope, receive, send)
            return
        caller = scope.get(CALLER)
        if not isinstance(caller, Caller):
            await self._answer_unknown(most, scope, receive, send)
            return
        places = {"": MOST_AT_ONE_TIME, f"token {caller.token_id}": MOST_OF_A_TOKEN}
        full = next((most for kind, most in places.items() if self._under_way[kind] >= most), None)
        if full is not None:
            await _refuse(_busy(f"{full} requests are being answered"), scope, receive, send)
            return
        self._under_way.update(places.keys())
        try:
            await self._bounded(most, scope, receive, send)
        finally:
            self._under_way.subtract(places.keys())
            # Drop counters at zero: tokens come and go.
            self._under_way = +self._under_way

    async def _answer_unknown(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, make the answer in a slot, and send it after the slot is freed."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        try:
            body = b"" if scope["method"] in SAFE else await _whole_body(most, receive)
            async with self._place_of(who_is(scope[SENDER])):
                await self._app(scope, _given(body, receive), keep)
                # Most answers are made without waiting for anything: unless the slot outlives this turn of the loop,
                # a turn would make those of all connections, and known clients need several turns for one.
                await asyncio.sleep(0)
        except Problem as exc:
            await _refuse(exc, scope, receive, send)
            return
        except ClientDisconnect:
            return
        for message in messages:
            await send(message)

    @asynccontextmanager
    async def _place_of(self, who: str) -> AsyncIterator[None]:
        """Wait for a slot, at most a few per address. Raises Problem at the deadline."""
        own, waiting = self._by_address.setdefault(who, (asyncio.Semaphore(MOST_UNKNOWN_OF_AN_ADDRESS), []))
        waiting.append(None)
        try:
            async with AsyncExitStack() as places:
                try:
                    async with asyncio.timeout(UNKNOWN_WAIT_S):
                        await places.enter_async_context(own)
                        await places.enter_async_context(self._unknown)
                except TimeoutError:
                    raise _busy("too many requests came without a token") from None
                yield
        finally:
            waiting.pop()
            if not waiting:
                del self._by_address[who]

    async def _bounded(self, most: int, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(most, receive)
        has_begun = False

        async def send_noted(message: Message) -> None:
            nonlocal has_begun
            # The handler may report the failed body in its own words; the reason is known here only.
            if body.wrong is None or has_begun:
                has_begun = True
                await send(message)

        try:
            await self._app(scope, body.receive, send_noted)
        except Problem as exc:
            if has_begun or exc is not body.wrong:
                raise
        except ClientDisconnect:
            # The client is gone: there is no one to answer.
            return
        if body.wrong is not None and not has_begun:
            await _refuse(body.wrong, scope, receive, send)


async def _whole_body(most: int, receive: Receive) -> bytes:
    """Read a small body within its deadline. Raises Problem, ClientDisconnect."""
    body = bytearray()
    try:
        async with asyncio.timeout(UNKNOWN_BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                if len(body) > most:
                    raise _too_large(most)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise _too_slow(f"it did not come within {UNKNOWN_BODY_S:g} s") from None


def _given(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body read before."""
    pieces: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return pieces.pop() if pieces else await receive()

    return give


class _Body:
    """The body of a request, read within the limits.

    wrong  the limit that it broke, if any
    """

    def __init__(self, most: int, receive: Receive) -> None:
        self._most, self._receive = most, receive
        self._taken, self._is_whole = 0, False
        self._began_s: float | None = None
        self.wrong: Problem | None = None

    async def receive(self) -> Message:
        """Return the next piece. Raises Problem."""
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
    # The rest of the body is not read, so that the connection cannot be reused.
    problem.headers.setdefault("Connection", "close")
    response = await answer(Request(scope), problem)
    await response(scope, receive, send)


def _too_large(most: int) -> Problem:
    mend = "send it in several parts"
    said = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
    return Problem(413, "too-large", "The request is too large", f"at most {said} here", mend=mend)


def _too_slow(detail: str) -> Problem:
    return Problem(408, "too-slow", "The request is too slow", detail, mend="send it again, without a pause")


def _busy(detail: str) -> Problem:
    return Problem(503, "busy", "Too many at one time", detail, mend="try again", headers={"Retry-After": "1"})
