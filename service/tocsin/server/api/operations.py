"""What all operations of the API share: ids, parts of lists, revisions, records as answers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial, wraps
from types import UnionType
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints
from unicodedata import normalize

import msgspec
from fastapi import APIRouter, Depends, Header, Path, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from tocsin.model.records.fields import Record, to_json
from tocsin.server.api.idempotency import WRITES, IdempotentRoute
from tocsin.server.problems import Problem

# Of a million pages this many are read and written within a fraction of 100 ms, whatever they hold.
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
