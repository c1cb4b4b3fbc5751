"""Lists of pages, and the table: streamed in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import Query, Request, Response
from pydantic import Field
from starlette.responses import StreamingResponse

from tocsin.lists import FORMATS
from tocsin.server.access import Reading, Writing
from tocsin.server.actions import Act
from tocsin.server.api.given import Once, make_router, problems
from tocsin.server.api.schemas.common import GroupName, Job, Model, job_of
from tocsin.server.imports import ListToTake, start_import, start_table
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.parts import Given
from tocsin.server.tables import Table
from tocsin.server.uploads import spool
from tocsin.spec.topper.table import RECORD_0

if TYPE_CHECKING:
    from tocsin.server.jobs import Job as Running

router = make_router("imports")
table_routes = make_router("table")

_TEXT: Final = {"schema": {"type": "string"}}
_LIST: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "A list in any format: a URL a line, CSV with a column `url`, OPML, a sitemap; also gzipped.",
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
        "description": "A table as GET gives it, whole.",
        "content": {"text/plain": {**_TEXT, "example": RECORD_0}},
    }
}


class ListWanted(Model):
    """How a list is to be taken."""

    format: Annotated[
        Literal[FORMATS] | None,  # type: ignore[valid-type]  # the formats are named in one place
        Field(description="recognised where it is left out"),
    ] = None
    group: Annotated[GroupName, Field(description="for pages whose line names none")] = "main"
    strict: Annotated[bool, Field(description="take nothing if any line cannot be taken")] = False
    dry_run: Annotated[bool, Field(description="only say what would be taken")] = False


class TableWanted(Model):
    """How a table is to be taken."""

    replace: Annotated[bool, Field(description="also for pages that have states: theirs go")] = False


@router.post(
    "/imports",
    status_code=202,
    summary="Import a list of pages",
    operation_id="import_pages",
    openapi_extra=_LIST,
    dependencies=Once,
)
async def import_pages(
    caller: Writing,
    parts: Given,
    jobs: Work,
    request: Request,
    response: Response,
    asked: Annotated[ListWanted, Query()],
) -> Job:
    """Watch the pages of a list that is streamed in, however long it is.

    Good lines are taken; the job's result counts `added`, `known` and `refused` ones, and `lines` names the first 100
    that could not be taken, each with its number. Pages that are watched already stay as they are.
    """
    listed = ListToTake(
        await spool(request), kind=asked.format, group=asked.group, strict=asked.strict, dry_run=asked.dry_run
    )
    job = await start_import(parts, Act(jobs, caller), listed)
    return tell(job, response)


@table_routes.get(
    "/table",
    summary="Export the table",
    operation_id="export_table",
    response_class=Response,
    responses={200: {"description": "The table.", "content": {"text/plain": _TEXT}}},
)
async def export_table(_: Reading, table: Table) -> StreamingResponse:
    """Stream the specification's table of states, of one instant, in order of storing; to one reader at a time."""
    table.demand_free()
    headers = {"Content-Disposition": 'attachment; filename="states.txt"'}
    return StreamingResponse(table.pieces(), media_type="text/plain; charset=utf-8", headers=headers)


@table_routes.put(
    "/table",
    summary="Import a table",
    operation_id="import_table",
    openapi_extra=_TABLE,
    response_model=Job,
    responses={
        202: {"model": Job, "description": "It takes longer; Location says where its progress is."},
        **problems(409),
    },
    dependencies=Once,
)
async def import_table(
    caller: Writing,
    parts: Given,
    jobs: Work,
    request: Request,
    response: Response,
    asked: Annotated[TableWanted, Query()],
) -> Job:
    """Take a table whole, or not at all: what is malformed is refused with its line and column.

    Pages that it names and that are not watched are added. Pages that have states already are a 409, unless `replace`.
    """
    job = await start_table(parts, Act(jobs, caller), await spool(request), replace=asked.replace)
    return await told(job, response)


async def told(job: Running, response: Response) -> Job:
    """Answer with a job that is short as done (200), else where its progress is (202)."""
    await job.wait(PATIENCE_S)
    if job.row.state == "running":
        return tell(job, response)
    response.status_code = 200
    return job_of(job.row)


def tell(job: Running, response: Response) -> Job:
    """Answer where the progress of a job is."""
    response.status_code = 202
    response.headers["Location"] = f"/api/v1/jobs/{job.row.id}"
    return job_of(job.row)
