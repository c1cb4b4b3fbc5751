"""*Pages*: the box to add pages, and the list of watched pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from msgspec import Struct

from tocsin.errors import UsageError
from tocsin.lists.formats.writing import PlainWriter, SeparatedWriter
from tocsin.model import BoundedCount, GroupRow, PageQuery, Slice, View
from tocsin.server.access.rights import Reading
from tocsin.server.bodies import Shared
from tocsin.server.parts import Given, Parts
from tocsin.server.web.formatting import weight
from tocsin.server.web.listing import TITLES, AskedFor, PageLine, PageListFilter, Tab, queries_of_tabs, to_line
from tocsin.server.web.rendering import page, together

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from tocsin.model import PageRow
    from tocsin.server.web.add import Pasted

router = APIRouter(include_in_schema=False)

PER_PART: Final = 50
_STEP: Final = 500
_ROOM_FOR_GROUPS: Final = 3000
_MOST_EMPTY: Final = 1
_QUIET_TABS: Final = (View.NEW, View.PAUSED, View.OFF)  # Tabs that are hidden while empty, unless selected.


class Box(Struct, frozen=True):
    """The box to add pages, with its input.

    pasted   the parsed input; None before it is submitted
    known    its URLs that are watched already
    """

    urls: str = ""
    group: str = ""
    every: str = ""
    wrong: tuple[str, ...] = ()
    pasted: Pasted | None = None
    known: frozenset[str] = frozenset()

    @property
    def new(self) -> int:
        """The number of pages that would be added."""
        return 0 if self.pasted is None else len(self.pasted.pages) - len(self.known)


class Chosen(Struct, frozen=True):
    """The input of a rejected bulk action, to be shown again."""

    ids: frozenset[int] = frozenset()
    is_all: bool = False
    to_group: str = ""
    every: str = ""


@router.get("/")
async def show(request: Request, _caller: Reading, parts: Given, asked: AskedFor) -> Response:
    """Show the list, or the first steps while no page is watched."""
    return await list_page(request, parts, asked)


async def list_page(
    request: Request,
    parts: Parts,
    asked: PageListFilter,
    *,
    box: Box | None = None,
    wrong: Sequence[str] = (),
    chosen: Chosen | None = None,
    status: int = 200,
) -> Response:
    """Show a list, with errors and rejected input, if any."""
    every = await parts.store.tally_pages(PageQuery())
    groups = await parts.store.group_rows()
    offered = _offered(groups)
    common: dict[str, Any] = {
        "asked": asked,
        "box": box or Box(),
        "chosen": chosen or Chosen(),
        "every": every,
        "groups": offered,
        "groups_are_all": len(offered) == len(groups),
        "group_names": [row.name for row in offered],
        "demo_is_on": parts.service.demo.is_on,
    }
    if not every.number:
        return await page(request, "first.html", status=status, wrong=wrong, **common)
    found, refused = await _found(parts, asked)
    refusals = [*wrong, *refused]
    status = 422 if refusals else status
    return await page(
        request,
        "pages.html",
        status=status,
        wrong=refusals,
        lines=await _lines(parts, found.rows),
        tabs=await _tabs(parts, asked, groups, every),
        number=BoundedCount(0) if refused else await parts.store.tally_pages(asked.query),
        next=asked.path(after=found.next) if found.next else None,
        **common,
    )


def _offered(groups: Sequence[GroupRow]) -> list[GroupRow]:
    """Return the largest groups that fit into the select box."""
    room, kept = _ROOM_FOR_GROUPS, set()
    for row in sorted(groups, key=lambda row: row.pages, reverse=True):
        room -= 2 * weight(row.name) + 90
        if room < 0:
            break
        kept.add(row.name)
    return [row for row in groups if row.name in kept]


async def _found(parts: Parts, asked: PageListFilter) -> tuple[Slice[PageRow], list[str]]:
    """Read a part of the list; an unsupported combination of filters gives an error and no rows."""
    try:
        found = await parts.store.browse_pages(asked.query, cursor=asked.after or None, limit=PER_PART)
        for _ in range(_MOST_EMPTY):
            # A part of a word search may be empty although matches follow.
            if found.rows or found.next is None:
                break
            found = await parts.store.browse_pages(asked.query, cursor=found.next, limit=PER_PART)
    except UsageError as exc:
        return Slice((), None), [str(exc)]
    return found, []


async def _lines(parts: Parts, rows: Sequence[PageRow]) -> list[PageLine]:
    modes = await parts.modes()
    return [to_line(row, modes.of(row)[0]) for row in rows]


async def _tabs(parts: Parts, asked: PageListFilter, groups: Sequence[GroupRow], every: BoundedCount) -> list[Tab]:
    tabs, queries = [], queries_of_tabs(asked)
    known = {View.ALL: (_of_group(groups, asked.group) or BoundedCount(0)) if asked.group else every}
    asked_for = [view for view in queries if view not in known]
    read = await together(parts.store.tally_pages(queries[view]) for view in asked_for)
    tallies = {**known, **dict(zip(asked_for, read, strict=True))}
    for view in queries:
        tally = tallies[view]
        is_this = view is asked.view and not asked.q
        if tally.number or is_this or view not in _QUIET_TABS:
            tabs.append(Tab(PageListFilter(view=view, group=asked.group).path(), TITLES[view], tally, is_this))
    return tabs


def _of_group(groups: Sequence[GroupRow], name: str) -> BoundedCount | None:
    return next((BoundedCount(row.pages) for row in groups if row.name == name), None)


@router.get("/pages/export")
async def export(
    _caller: Reading,
    parts: Given,
    shared: Shared,
    asked: AskedFor,
    format: Literal["csv", "list"] = "csv",  # noqa: A002 - as addresses say it
) -> Response:
    """Export the whole list: as CSV, safe for spreadsheets, or one URL per line."""
    # Errors must come before the first byte of the answer.
    shared.demand_place()
    await parts.store.browse_pages(asked.query, limit=1)
    name, media_type = ("pages.csv", "text/csv") if format == "csv" else ("pages.txt", "text/plain")
    return StreamingResponse(
        shared.counted(_written(parts, asked.query, format)),
        media_type=f"{media_type}; charset=utf-8",
        headers={"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"},
    )


async def _written(parts: Parts, query: PageQuery, kind: str) -> AsyncGenerator[str]:
    writer = SeparatedWriter(with_secrets=False) if kind == "csv" else PlainWriter()
    yield writer.begin()
    cursor: str | None = None
    while True:
        found = await parts.store.browse_pages(query, cursor=cursor, limit=_STEP)
        yield writer.pages(found.rows)
        if found.next is None:
            break
        cursor = found.next
    yield writer.end()
