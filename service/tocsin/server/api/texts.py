"""The texts kept of a page, their differences, and its copies."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, Literal

from fastapi import Query, Response
from pydantic import Field

from tocsin.server.access import Reading
from tocsin.server.api.given import NumberInPath, make_router, number, problems
from tocsin.server.api.schemas.common import Model, time_of
from tocsin.server.api.schemas.pages import Copies
from tocsin.server.api.schemas.records import Run, Text, TextDifference, Texts
from tocsin.server.api.shapes import copies_of
from tocsin.server.decisions import demand_page, missing
from tocsin.server.parts import Given
from tocsin.server.problems import Problem
from tocsin.spec.differences.compare import compare_texts, whole_lines
from tocsin.spec.signals.texts import unpack_text

if TYPE_CHECKING:
    from tocsin.model import SnapshotRow
    from tocsin.server.parts import Parts

router = make_router("records")
page_routes = make_router("pages")

MOST_TEXTS: Final = 10_000
_Number = Annotated[int | None, Field(ge=1, le=MOST_TEXTS)]


class Compared(Model):
    """Which two texts, by their numbers, and how they are compared."""

    older: Annotated[_Number, Field(alias="from", description="by default the one before `to`")] = None
    newer: Annotated[_Number, Field(alias="to", description="by default 1, the latest")] = None
    by: Annotated[Literal["words", "lines"], Field(description="words within lines, too, or whole lines only")] = (
        "words"
    )


@router.get(
    "/pages/{page_id}/texts",
    summary="List the texts that are kept of a page",
    operation_id="list_texts",
    responses=problems(404),
)
async def list_texts(_: Reading, parts: Given, page_id: NumberInPath) -> Texts:
    """List the texts that are kept of a page, newest first; none of one that asks not to be archived."""
    page = await demand_page(parts, number(page_id))
    rows = await parts.store.snapshots(page.url, limit=MOST_TEXTS)
    return Texts(items=[_text_of(row, place) for place, row in enumerate(rows, 1)])


@router.get(
    "/pages/{page_id}/texts/{text_id}",
    summary="Get a text",
    operation_id="get_text",
    response_class=Response,
    responses={
        200: {
            "description": "The main text, a block a line.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **problems(404),
    },
)
async def get_text(_: Reading, parts: Given, page_id: NumberInPath, text_id: NumberInPath) -> Response:
    """Get the main text of a page as it was."""
    page = await demand_page(parts, number(page_id))
    rows = await parts.store.snapshots(page.url, limit=MOST_TEXTS)
    if all(row.id != number(text_id) for row in rows):
        raise missing("text", text_id, f"GET /api/v1/pages/{page_id}/texts")
    text = await _read(parts, number(text_id), page_id)
    return Response(text.encode("utf-8", "replace"), media_type="text/plain; charset=utf-8")


@router.get(
    "/pages/{page_id}/difference",
    summary="Compare two texts of a page",
    operation_id="compare_texts",
    responses=problems(404, 409),
)
async def compare(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[Compared, Query()]
) -> TextDifference:
    """Compare two texts of a page, the last two of them by default."""
    page = await demand_page(parts, number(page_id))
    rows = await parts.store.snapshots(page.url, limit=MOST_TEXTS)
    newer = asked.newer or 1
    older = asked.older or newer + 1
    if max(older, newer) > len(rows):
        raise Problem(
            404,
            "no-such-text",
            "There is no such text",
            f"text {max(older, newer)} of {len(rows)} that are kept",
            mend="see which are at texts; `snapshots.per_page` says how many are kept, and pages may ask for none",
        )
    before = await _read(parts, rows[older - 1].id, page_id)
    latest = await _read(parts, rows[newer - 1].id, page_id)
    # Of long texts it takes a while: others have their turn meanwhile.
    found = await asyncio.to_thread(partial(compare_texts, whole_lines(before), whole_lines(latest), by=asked.by))
    return TextDifference.model_validate(
        {
            "from": _text_of(rows[older - 1], older),
            "to": _text_of(rows[newer - 1], newer),
            "by": found.by,
            "changed": not found.is_none,
            "runs": [Run(kind=run.kind, text=_whole(run.text)) for run in found.runs],
        }
    )


@page_routes.get(
    "/pages/{page_id}/copies", summary="List copies of a page", operation_id="list_copies", responses=problems(404)
)
async def list_copies(_: Reading, parts: Given, page_id: NumberInPath) -> Copies:
    """List copies of a page that watched pages name, the newest first."""
    page = await demand_page(parts, number(page_id))
    return Copies(items=copies_of(await parts.store.copies_of(page.url)))


async def _read(parts: Parts, text_id: int, page_id: str) -> str:
    packed = await parts.store.snapshot_text(text_id)
    if packed is None:
        raise missing("text", text_id, f"GET /api/v1/pages/{page_id}/texts")
    return unpack_text(packed)


def _text_of(row: SnapshotRow, place: int) -> Text:
    return Text(
        number=place, id=str(row.id), at=time_of(row.at), digest=row.digest.hex(), packed_bytes=row.packed_bytes
    )


def _whole(text: str) -> str:
    """Replace halves of letters, which JSON in UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()
