"""Lists of pages and the table of states, streamed in and out."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from fastapi import Query, Request, Response
from pydantic import Field
from starlette.responses import StreamingResponse

from tocsin.lists import FORMATS
from tocsin.model.records.service import JobStatus
from tocsin.server.access.rights import Reading, Writing
from tocsin.server.actions import Act
from tocsin.server.api.jobs import LATER, finished, started
from tocsin.server.api.operations import GroupName, Input, make_router
from tocsin.server.bodies import Table, spool
from tocsin.server.imports import ListToTake, start_import, start_table
from tocsin.server.jobs import Work
from tocsin.server.parts import Given
from tocsin.spec.topper.table import RECORD_0

router = make_router("imports")
table_routes = make_router("table")

_TEXT: Final = {"schema": {"type": "string"}}
_LIST: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "A list in any format: one URL a line, CSV with a column `url`, OPML, a sitemap; also gzipped.",
        "content": {
            "text/plain": {**_TEXT, "example": "https://example.org/a\nhttps://example.org/b\n"},
            "text/csv": {**_TEXT, "example": "url,group,every\nhttps://example.org/a,news,6h\n"},
            "text/x-opml": _TEXT,
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_TABLE: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "A whole table, as GET returns it.",
        "content": {"text/plain": {**_TEXT, "example": RECORD_0}},
    }
}


class ListOptions(Input):
    """How a list is read."""

    format: Annotated[
        Literal[FORMATS] | None,  # type: ignore[valid-type]  # the formats are named in one place
        Field(description="recognised if left out"),
    ] = None
    group: Annotated[GroupName, Field(description="of pages whose line names none")] = "main"
    strict: Annotated[bool, Field(description="import nothing if any line is invalid")] = False
    dry_run: Annotated[bool, Field(description="only report what would be imported")] = False


class TableOptions(Input):
    """How a table is read."""

    replace: Annotated[bool, Field(description="replace the states of pages that have some")] = False


@router.post(
    "/imports", status_code=202, summary="Import a list of pages", operation_id="import_pages", openapi_extra=_LIST
)
async def import_pages(
    caller: Writing,
    parts: Given,
    jobs: Work,
    request: Request,
    response: Response,
    asked: Annotated[ListOptions, Query()],
) -> JobStatus:
    """Watch the pages of a list of any length, which is streamed in.

    Valid lines are imported; the job's result counts `added`, `known` and `refused` ones, and `lines` names the first
    100 invalid lines, each with its number. Pages that are watched already stay as they are.
    """
    listed = ListToTake(
        await spool(request), kind=asked.format, group=asked.group, strict=asked.strict, dry_run=asked.dry_run
    )
    job = await start_import(parts, Act(jobs, caller), listed)
    return started(job, response)


@table_routes.get(
    "/table",
    summary="Export the table",
    operation_id="export_table",
    response_class=Response,
    responses={200: {"description": "The table.", "content": {"text/plain": _TEXT}}},
)
async def export_table(_: Reading, table: Table) -> StreamingResponse:
    """Stream the specification's table of states, a consistent snapshot in order of storing; one reader at a time."""
    table.demand_free()
    headers = {"Content-Disposition": 'attachment; filename="states.txt"'}
    return StreamingResponse(table.pieces(), media_type="text/plain; charset=utf-8", headers=headers)


@table_routes.put(
    "/table", summary="Import a table", operation_id="import_table", openapi_extra=_TABLE, responses=LATER
)
async def import_table(
    caller: Writing,
    parts: Given,
    jobs: Work,
    request: Request,
    response: Response,
    asked: Annotated[TableOptions, Query()],
) -> JobStatus:
    """Import a table, all of it or nothing: a malformed one is refused with the line and column of the error.

    Pages that it names are added to the list. If one has states already, the answer is 409, unless `replace` is set.
    """
    job = await start_table(parts, Act(jobs, caller), await spool(request), replace=asked.replace)
    return await finished(job, response)
