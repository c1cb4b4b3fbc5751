"""What routes of the API are given: ids, parts of lists, revisions; and what all of them may answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Path, Response
from pydantic import Field

from tocsin.server.api.once import OnceRoute
from tocsin.server.api.schemas.common import Model, ProblemDetails
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ROWS: Final = 200
"""Of a million pages so many are read and written in a fraction of 100 ms, whatever stands in them."""

_ETAG: Final = re.compile(r'\s*(W/)?"([^"]*)"\s*(?:,|$)')
_OWN_ETAG: Final = re.compile(r"r([0-9]{1,18})")
_ID: Final = r"^[1-9][0-9]{0,17}$"
_ULID: Final = r"^[0-9A-HJKMNP-TV-Z]{26}$"

NumberInPath = Annotated[str, Path(pattern=_ID, examples=["42"])]
UlidInPath = Annotated[str, Path(pattern=_ULID, examples=["01KAKQ4ZC8N2V3J5R7T9WXYZ00"])]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match", max_length=200, description="the ETag of what is edited, as it was got", examples=['"r3"']
    ),
]
Cursor = Annotated[
    str | None,
    Field(max_length=512, pattern=r"^[\x21-\x7e]+$", description="`next` of the part before; none begins"),
]
Limit = Annotated[int, Field(ge=1, le=MOST_ROWS, description="rows of one part")]


class PartOf(Model):
    """Which part of a list."""

    cursor: Cursor = None
    limit: Limit = 50


def _allows_key(
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            pattern=r"^[\x21-\x7e]+$",
            description="a fresh UUID: the same request with the same key is done once, and answered alike for a day",
            examples=["8e03978e-40d5-43dd-bc93-6894a57f9324"],
        ),
    ] = None,
) -> None:
    """Describe the key, which the route itself reads before anything else."""


Once: Final = [Depends(_allows_key)]
"""Dependencies of a route that writes."""


def make_router(tag: str) -> APIRouter:
    """Make the router of one resource."""
    return APIRouter(tags=[tag], route_class=OnceRoute)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare which refusals a route may answer with, besides those that all have (see `describing`)."""
    return {status: {"model": ProblemDetails, "description": _WHY[status]} for status in statuses}


_WHY: Final = {
    404: "There is no such thing.",
    409: "It does not go with what is there.",
    412: "It was edited since it was got.",
    428: "If-Match is missing.",
    429: "Too much at once; Retry-After says when.",
    502: "Somebody else's server did not do its part.",
}


def etag_of(revision: int) -> str:
    """Write a revision as an ETag; it names what people set, not what checks find."""
    return f'"r{revision}"'


def tag(response: Response, revision: int) -> None:
    """Give an answer its ETag."""
    response.headers["ETag"] = etag_of(revision)


def revision_wanted(if_match: str | None, *, current: int | None = None, needed: bool = True) -> int | None:
    """Read the revision that an edit stands on; None: any will do.

    current  is taken where the header names several, this one among them
    needed   an edit without the header is refused: Problem 428
    """
    if if_match is None:
        if needed:
            raise Problem(
                428,
                "if-match-missing",
                "If-Match is missing",
                "an edit names what it stands on, so that nobody's edit is lost",
                mend='get it first, and send its ETag as If-Match; "*" overwrites whatever is there',
            )
        return None
    if if_match.strip() == "*":
        return None
    found = [own.group(1) for weak, text in _ETAG.findall(if_match) if not weak and (own := _OWN_ETAG.fullmatch(text))]
    revisions = [int(number) for number in found]
    if current is not None and current in revisions:
        return current
    # What is no tag of ours names something that is not there any more.
    return revisions[0] if revisions else -1


def number(text: str) -> int:
    """Read an id."""
    return int(text)


def numbers(texts: Sequence[str]) -> tuple[int, ...]:
    """Read ids, each once."""
    return tuple(dict.fromkeys(map(int, texts)))
