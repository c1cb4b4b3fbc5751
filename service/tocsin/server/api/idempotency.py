"""Requests with an idempotency key: a repeated request is done once and answered alike. Bodies of JSON are strict."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine
from hashlib import blake2b
from typing import IO, Any, Final

import msgspec
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from tocsin.model import StoredAnswer
from tocsin.server.access.rights import CALLER, Caller, not_allowed, wanted_of
from tocsin.server.bodies import spool
from tocsin.server.parts import Parts
from tocsin.server.problems import Problem

Handle = Callable[[Request], Coroutine[Any, Any, Response]]

HEADER: Final = "idempotency-key"
REPLAYED: Final = "Idempotency-Replayed"
# Bytes of an answer; a longer one is not stored, and its key can be used again.
MOST_KEPT: Final = 64 * 1024

_LONGEST_KEY: Final = 255
_PIECE: Final = 65_536
WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_DONE: Final = range(200, 300)


class IdempotentRoute(APIRoute):
    """A route whose writes accept an idempotency key."""

    def get_route_handler(self) -> Handle:
        """Wrap the handler of a write."""
        handle = super().get_route_handler()
        if not WRITES & (self.methods or set()):
            return handle
        wanted = wanted_of(self.dependant)

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            caller = request.scope.get(CALLER)
            if caller is not None and wanted is not None and not caller.may(wanted):
                # Before the body of a request that will be refused is read or stored.
                raise not_allowed(caller, wanted)
            if key is None or caller is None:
                return await _handled(request, handle)
            return await _once(request, key, caller, handle)

        return once


class StrictRequest(Request):
    """A request whose JSON has each key once; of two, Python's parser would silently ignore the first."""

    async def json(self) -> Any:
        """Read the body. Raises Problem where an object has a key twice."""
        return json.loads(await self.body(), object_pairs_hook=_object_of)


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise Problem(
            422,
            "key-twice",
            "A key occurs twice",
            f"{twice[:100]!r} occurs more than once in one object of the body",
            mend="leave all but one of them out",
        )
    return found


async def _handled(request: Request, handle: Handle) -> Response:
    """Hand a request to its route. Raises the Problem that reading its body raised."""
    strict = StrictRequest(request.scope, request.receive, request._send)  # noqa: SLF001 - Starlette has no other way to hand it on
    try:
        return await handle(strict)
    except HTTPException as exc:
        # The framework hides every error of reading a body behind an HTTPException.
        if isinstance(exc.__cause__, Problem):
            raise exc.__cause__ from None
        raise


async def _once(request: Request, key: str, caller: Caller, handle: Handle) -> Response:
    """Answer a repeated request as before. Raises Problem if the key belongs to another request, or one in progress."""
    if not key or len(key) > _LONGEST_KEY or not key.isprintable():
        raise Problem(
            422,
            "bad-key",
            "The idempotency key cannot be used",
            f"it has 1 to {_LONGEST_KEY} printable characters",
            mend="send a fresh UUID, in quotation marks or without",
        )
    parts: Parts = request.app.state.parts
    name = blake2b(f"{caller.token_id or 0}\n{key}".encode("utf-8", "surrogatepass"), digest_size=32).digest()
    file = await spool(request)
    try:
        # A list may have gigabytes, whose digest would hold up other requests on the loop.
        fingerprint = await asyncio.to_thread(_fingerprint, request, file)
        known = await parts.store.begin_once(name, fingerprint, parts.clock.now())
        if known is not None:
            return _again(known, fingerprint)
        answer: StoredAnswer | None = None
        try:
            response = await _handled(Request(request.scope, _replay(file), request._send), handle)  # noqa: SLF001 - as above
            answer = _kept(response, fingerprint, parts)
        finally:
            await parts.store.finish_once(name, answer)
    finally:
        file.close()
    return response


def _again(known: StoredAnswer, fingerprint: bytes) -> Response:
    if known.fingerprint != fingerprint:
        raise Problem(
            422,
            "key-used",
            "The idempotency key was used for another request",
            "a key belongs to one request: the same method, address and body",
            mend="send this request with a key of its own",
        )
    if not known.status:
        raise Problem(
            409,
            "under-way",
            "The same request is being worked on",
            "it has not been answered yet",
            mend="send it again in a moment, with the same key",
            headers={"Retry-After": "1"},
        )
    headers = {REPLAYED: "true"}
    if known.location is not None:
        headers["Location"] = known.location
    body = known.body if known.content_type else b""
    return Response(body, known.status, headers, known.content_type or None)


def _kept(response: Response, fingerprint: bytes, parts: Parts) -> StoredAnswer | None:
    """Return the answer to store; None for one that failed, is a stream, or holds a secret."""
    body = getattr(response, "body", None)
    is_secret = response.headers.get("cache-control") == "no-store"
    if response.status_code not in _DONE or not isinstance(body, bytes) or len(body) > MOST_KEPT or is_secret:
        return None
    return StoredAnswer(
        fingerprint,
        response.status_code,
        response.headers.get("content-type", ""),
        body,
        parts.clock.now(),
        response.headers.get("location"),
    )


def _fingerprint(request: Request, file: IO[bytes]) -> bytes:
    """Digest everything that identifies a request."""
    headers = {name: request.headers.get(name) for name in ("content-type", "if-match")}
    asked = [request.method, request.scope["path"], request.scope["query_string"].decode("latin-1"), headers]
    digest = blake2b(msgspec.json.encode(asked), digest_size=32)
    while piece := file.read(_PIECE):
        digest.update(piece)
    file.seek(0)
    return digest.digest()


def _replay(file: IO[bytes]) -> Callable[[], Coroutine[Any, Any, Message]]:
    """Replay the body that was read, as a server sends it."""

    async def receive() -> Message:
        piece = file.read(_PIECE)
        return {"type": "http.request", "body": piece, "more_body": len(piece) == _PIECE}

    return receive
