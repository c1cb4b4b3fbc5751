"""Lists of pages written as files, a part at a time: CSV, OPML or one URL a line."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final, Literal, TypeAlias

from fastapi.responses import StreamingResponse
from msgspec.structs import replace

from tocsin.lists.formats.text import ListWriter, OutlineWriter, PlainWriter, SeparatedWriter
from tocsin.model import PageQuery
from tocsin.server.bodies import OpenDownloads
from tocsin.server.parts import Parts

ListFormat: TypeAlias = Literal["csv", "opml", "list"]

# Rows of one read: an export of a million pages must not hold the store.
_STEP: Final = 500
_FILES: Final = {
    "csv": ("pages.csv", "text/csv"),
    "opml": ("pages.opml", "text/x-opml"),
    "list": ("pages.txt", "text/plain"),
}


async def export_list(parts: Parts, shared: OpenDownloads, query: PageQuery, kind: ListFormat) -> StreamingResponse:
    """Stream a list as a file; credentials are left out.

    Raises UsageError for a list that is not offered, Problem while too many are downloaded.
    """
    # Errors must come before the first byte of the answer.
    shared.demand_place()
    asked = query.asked_at(parts.clock.now())
    await parts.store.browse_pages(asked, limit=1)
    name, media_type = _FILES[kind]
    return StreamingResponse(
        shared.counted(_written(parts, asked, kind)),
        media_type=f"{media_type}; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"},
    )


async def _written(parts: Parts, query: PageQuery, kind: ListFormat) -> AsyncGenerator[str]:
    writer: ListWriter = PlainWriter()
    # A browser's downloads folder is no place for credentials; the command line exports them where it is told to.
    if kind == "csv":
        writer = SeparatedWriter(with_secrets=False)
    elif kind == "opml":
        writer = OutlineWriter()
    yield writer.begin()
    for group in await _groups_of(parts, query) if kind == "opml" else [None]:
        if group is not None:
            yield writer.open_group(group)
        cursor: str | None = None
        while True:
            part = query if group is None else replace(query, group=group)
            found = await parts.store.browse_pages(part, cursor=cursor, limit=_STEP)
            yield writer.pages(found.rows)
            cursor = found.next
            if cursor is None:
                break
        if group is not None:
            yield writer.close_group()
    yield writer.end()


async def _groups_of(parts: Parts, query: PageQuery) -> list[str | None]:
    """Return the groups that OPML has an outline for; None alone for a list that is not by groups."""
    if query.host is not None or query.words is not None:
        return [None]
    return (
        [query.group] if query.group is not None else [row.name for row in await parts.store.group_rows() if row.pages]
    )
