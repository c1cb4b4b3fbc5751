"""What all operations of the API share: ids, parts of lists, revisions, records as answers."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial, wraps
from hashlib import blake2b
from types import UnionType
from typing import IO, Annotated, Any, Final, get_args, get_origin, get_type_hints
from unicodedata import normalize

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import Message

from tocsin.model import StoredAnswer
from tocsin.model.records.fields import Record, to_json
from tocsin.server.bodies import spool
from tocsin.server.parts import CALLER, Caller, Parts, not_allowed, wanted_of
from tocsin.server.problems import Problem

# Requests with an idempotency key: a repeated request is done once and answered alike. Bodies of JSON are strict.


Handle = Callable[[Request], Coroutine[Any, Any, Response]]

HEADER: Final = "idempotency-key"
REPLAYED: Final = "Idempotency-Replayed"
# Bytes of an answer; a longer one is not stored, and its key can be used again.
MOST_KEPT: Final = 64 * 1024

# A UUID has 36; the draft of the IETF sets no limit, and the store needs one.
_LONGEST_KEY: Final = 255
# The digest of a long body is computed in pieces, so that other requests get their turn.
_PIECE: Final = 65_536
WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_DONE: Final = range(200, 300)


class IdempotentRoute(APIRoute):
    """A route whose writes accept an idempotency key."""

    def get_route_handler(self) -> Handle:
        """Wrap the handler of a write."""
        handle = super().get_route_handler()
        # Reading twice is the same as reading once.
        if not WRITES & (self.methods or set()):
            return handle
        wanted = wanted_of(self.dependant)

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            caller = request.scope.get(CALLER)
            if caller is not None and wanted is not None and not caller.may(wanted):
                # Before the body of a request that will be refused is read or stored.
                raise not_allowed(caller, wanted)
            # Without a caller the handler answers 401; the key of a client without a token must not take room in the
            # store.
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
    # Keys of two tokens are apart, and the store keeps none as it was sent.
    name = blake2b(f"{caller.token_id or 0}\n{key}".encode("utf-8", "surrogatepass"), digest_size=32).digest()
    file = await spool(request)
    try:
        # A list may have gigabytes, whose digest would hold up other requests on the loop.
        fingerprint = await asyncio.to_thread(_fingerprint, request, file)
        # The row is there before the work begins: a repeated request that comes meanwhile finds it.
        known = await parts.store.begin_once(name, fingerprint, parts.clock.now(), node=parts.service.node)
        if known is not None:
            return _again(known, fingerprint)
        answer: StoredAnswer | None = None
        try:
            response = await _handled(Request(request.scope, _replay(file), request._send), handle)  # noqa: SLF001 - as above
            answer = _kept(response, fingerprint, parts)
        finally:
            # Without an answer the key is free again: what failed may be tried once more.
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
    # Begun, and not finished: by a request under way, or one that a crash cut off.
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
    # The answer holds a new token, which is shown once and stored nowhere.
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
    # These change what a request means; others, such as the user agent of a retry, do not.
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


# This many of a million pages, with any contents, are read and written within a fraction of 100 ms.
MOST_ROWS: Final = 200

SCHEMAS: Final = "#/components/schemas/{name}"

_ETAG: Final = re.compile(r'\s*(W/)?"([^"]*)"\s*(?:,|$)')
_OWN_ETAG: Final = re.compile(r"r([0-9]{1,18})")
_ID: Final = r"^[1-9][0-9]{0,17}$"
_ULID: Final = r"^[0-9A-HJKMNP-TV-Z]{26}$"

IdInBody = Annotated[str, Field(pattern=_ID, examples=["42"])]
UlidInBody = Annotated[str, Field(pattern=_ULID, examples=["01KAKQ4ZC8N2V3J5R7T9WXYZ00"])]
# Names are stored composed; a client may send them in another form of Unicode.
COMPOSED: Final = AfterValidator(partial(normalize, "NFC"))
GroupName = Annotated[
    str, Field(min_length=1, max_length=63, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["news"]), COMPOSED
]
GroupFilter = Annotated[str, Field(min_length=1, max_length=63), COMPOSED]
Words = Annotated[str, Field(min_length=1, max_length=253, examples=["watched for the tender"])]
Url = Annotated[str, Field(min_length=1, max_length=8192, examples=["https://example.org/news"])]

NumberInPath = Annotated[str, Path(pattern=_ID, examples=["42"])]
UlidInPath = Annotated[str, Path(pattern=_ULID, examples=["01KAKQ4ZC8N2V3J5R7T9WXYZ00"])]
IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", max_length=200, description="the ETag of the version that is edited", examples=['"r3"']),
]
Cursor = Annotated[
    str | None, Field(max_length=512, pattern=r"^[\x21-\x7e]+$", description="`next` of the previous page of the list")
]
Limit = Annotated[int, Field(ge=1, le=MOST_ROWS, description="rows at most")]


class Input(BaseModel):
    """What a client sends: the fields that are named here, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class PartOf(Input):
    """Which part of a list."""

    cursor: Cursor = None
    limit: Limit = 50


# Routes -----------------------------------------------------------------------------------------------------------


def _allows_key(
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            pattern=r"^[\x21-\x7e]+$",
            description="a fresh UUID; a repeated request with the same key is done once and answered alike for a day",
            examples=["8e03978e-40d5-43dd-bc93-6894a57f9324"],
        ),
    ] = None,
) -> None:
    """Describe the key, which the route reads before anything else."""


class RecordResponse(JSONResponse):
    """A record that was written already."""

    def render(self, content: str) -> bytes:
        """Encode it."""
        return content.encode()


class Operation(IdempotentRoute):
    """A route that answers with records, which it writes and describes; writes accept an idempotency key.

    records  all that it may answer with, for the description of the API
    """

    def __init__(self, path: str, endpoint: Callable[..., Awaitable[Any]], **options: Any) -> None:
        if WRITES & set(options["methods"]):
            options["dependencies"] = [*(options.get("dependencies") or ()), Depends(_allows_key)]
        responses = {status: dict(answer) for status, answer in (options.get("responses") or {}).items()}
        answers = {status: answer.pop("record") for status, answer in responses.items() if "record" in answer}
        returned = get_type_hints(endpoint, include_extras=True).get("return")
        if all(map(_is_record, kinds := _kinds_of(returned))):
            if len(kinds) == 1:
                answers[options.get("status_code") or 200] = returned
            endpoint = _writing(endpoint)
            options |= {"response_model": None, "response_class": RecordResponse}
        self.records = list(answers.values())
        references, _ = msgspec.json.schema_components(self.records, ref_template=SCHEMAS)
        for status, reference in zip(answers, references, strict=True):
            extra = options["openapi_extra"] = options.get("openapi_extra") or {}
            described = extra.setdefault("responses", {}).setdefault(str(status), {})
            described["content"] = {"application/json": {"schema": reference}}
        super().__init__(path, endpoint, **options | {"responses": responses})


def _kinds_of(returned: Any) -> tuple[Any, ...]:
    return get_args(returned) if isinstance(returned, UnionType) else (returned,)


def _is_record(kind: Any) -> bool:
    kind = get_origin(kind) or kind
    return isinstance(kind, type) and issubclass(kind, Record)


def _writing(endpoint: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Have a route's function return its record as JSON text, which the framework hands on as it is."""

    @wraps(endpoint)
    async def write(**given: Any) -> Any:
        answer = await endpoint(**given)
        return answer if isinstance(answer, Response) else to_json(answer).decode()

    return write


def make_router(tag: str) -> APIRouter:
    """Make the router of one resource."""
    return APIRouter(tags=[tag], route_class=Operation)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare errors that a route may answer with, besides those that `describing` adds to all of its kind."""
    return {status: {"description": _PROBLEMS[status]} for status in statuses}


_PROBLEMS: Final = {
    404: "There is nothing of this number, or nothing yet.",
    409: "Conflicts with the current state.",
    412: "Edited since the version that If-Match names.",
    428: "If-Match is missing.",
    502: "Another server failed.",
}


# Revisions --------------------------------------------------------------------------------------------------------


def tag(response: Response, revision: int) -> None:
    """Set the ETag of an answer; it names what users set, not what checks find."""
    response.headers["ETag"] = f'"r{revision}"'


def revision_wanted(if_match: str | None, *, current: int | None = None, needed: bool = True) -> int | None:
    """Read the revision that an edit is based on; None: any.

    current  is returned where the header names several, this one among them
    needed   an edit without the header is refused: Problem 428
    """
    if if_match is None:
        if needed:
            raise Problem(
                428,
                "if-match-missing",
                "If-Match is missing",
                "an edit names the version that it is based on, so that no other edit is lost",
                mend='get it first, and send its ETag as If-Match; "*" overwrites any version',
            )
        return None
    if if_match.strip() == "*":
        return None
    found = [own.group(1) for weak, text in _ETAG.findall(if_match) if not weak and (own := _OWN_ETAG.fullmatch(text))]
    revisions = [int(number) for number in found]
    if current is not None and current in revisions:
        return current
    # A tag that is not ours names a version that does not exist any more.
    return revisions[0] if revisions else -1


def numbers(texts: Sequence[str]) -> tuple[int, ...]:
    """Read ids, each once."""
    return tuple(dict.fromkeys(map(int, texts)))
