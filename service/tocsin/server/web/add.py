"""Forms that add pages: one page at once, many after a preview; input with errors is shown again."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request, UploadFile
from fastapi.responses import Response
from msgspec import Struct
from msgspec.structs import replace

from tocsin.configuration import parse_page_settings
from tocsin.errors import UsageError
from tocsin.lists.importing import Reader, Tally
from tocsin.lists.pages import check_group
from tocsin.model import DEMO_GROUP, PageFilter
from tocsin.server import actions
from tocsin.server.access.auditing import audit
from tocsin.server.access.rights import Writing
from tocsin.server.bodies import keep
from tocsin.server.imports import ListToTake, start_import
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Parts
from tocsin.server.web.formatting import count, short_url
from tocsin.server.web.jobs import await_job
from tocsin.server.web.listing import PageListFilter
from tocsin.server.web.notices import Undo, go_on
from tocsin.server.web.pages import Box, list_page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tocsin.model import JsonObject, NewPage


MOST_AT_ONCE: Final = 1000  # Longer lists are imported from a file, in a job.
MOST_NAMED: Final = 20


class Pasted(Struct, frozen=True):
    """The pasted lines.

    pages    the valid ones, each URL once
    wrong    errors with line numbers, at most MOST_NAMED
    refused  the number of invalid lines
    twice    the number of repeated URLs
    """

    pages: tuple[NewPage, ...]
    wrong: tuple[str, ...]
    refused: int
    twice: int

    @property
    def is_too_much(self) -> bool:
        """Whether the list must be imported from a file."""
        return len(self.pages) > MOST_AT_ONCE


def read_pasted(text: str, group: str, settings: JsonObject) -> Pasted:
    """Read one URL per line. Raises UsageError for an invalid group."""
    tally = Tally()
    wrong: list[str] = []

    def say(what: str) -> None:
        if len(wrong) < MOST_NAMED:
            wrong.append(what.removeprefix("pasted:"))

    reader = Reader("pasted", "list", check_group(group or "main"), tally=tally, say=say)
    found: dict[str, NewPage] = {}
    twice = 0
    for page in reader.pages(io.BytesIO(text.encode("utf-8", "surrogatepass"))):
        if page.url in found:
            twice += 1
        elif len(found) <= MOST_AT_ONCE:
            found[page.url] = page
    pages = tuple(_with(page, settings) for page in found.values())
    return Pasted(pages, tuple(f"line {line}" for line in wrong), tally.refused, twice)


def _with(page: NewPage, settings: JsonObject) -> NewPage:
    return replace(page, settings={**settings, **(page.settings or {})} or None)


router = APIRouter(include_in_schema=False)

_PIECE: Final = 2**16


@router.post("/pages/add")
async def add(
    request: Request,
    caller: Writing,
    parts: Given,
    jobs: Work,
    urls: Annotated[str, Form()] = "",
    group: Annotated[str, Form()] = "",
    every: Annotated[str, Form()] = "",
    step: Annotated[str, Form()] = "look",
) -> Response:
    """Add one page at once; preview several lines, or lines with errors."""
    try:
        pasted = read_pasted(urls, group, parse_page_settings({"every": every.strip()} if every.strip() else {}))
    except UsageError as exc:
        return await _again(request, parts, Box(urls, group, every, (str(exc),)))
    known = await _known(parts, pasted)
    box = Box(urls, group, every, _wrong(pasted), pasted, known)
    is_plain = len(pasted.pages) == 1 and not pasted.refused
    if pasted.is_too_much or not pasted.pages:
        return await _again(request, parts, box)
    if not (is_plain or step == "add"):
        return await list_page(request, parts, PageListFilter(), box=box)
    act = actions.Act(jobs, caller)
    ids = [each for each in await actions.add_pages(parts, act, pasted.pages, check=True) if each is not None]
    return await _added(request, parts, pasted, ids)


async def _added(request: Request, parts: Parts, pasted: Pasted, ids: Sequence[int]) -> Response:
    first = pasted.pages[0]
    if len(pasted.pages) == 1:
        row = await parts.store.page(first.url)
        path = f"/pages/{row.id}" if row is not None else "/"
        if not ids:
            return go_on(request, path, f"{short_url(first.url)} is watched already; nothing was changed.", kind="warn")
        return go_on(request, path, f"Added {short_url(first.url)}. Its first check follows at once.")
    known = len(pasted.pages) - len(ids)
    rest = f" {count(known, 'page')} watched already." if known else ""
    left = f" {count(pasted.refused, 'line')} left out." if pasted.refused else ""
    said = f"Added {count(len(ids), 'page')}; their first checks follow at once.{rest}{left}"
    return go_on(request, PageListFilter(group=first.group).path() if first.group != "main" else "/", said)


async def _again(request: Request, parts: Parts, box: Box) -> Response:
    return await list_page(request, parts, PageListFilter(), box=box, status=422)


def _wrong(pasted: Pasted) -> tuple[str, ...]:
    if pasted.is_too_much:
        return (f"more than {MOST_AT_ONCE:,} pages at once; import them from a file, below",)
    more = pasted.refused - len(pasted.wrong)
    told = (*pasted.wrong, f"and {count(more, 'line')} more") if more > 0 else pasted.wrong
    return told or (() if pasted.pages else ("paste at least one URL, such as https://example.org/news",))


async def _known(parts: Parts, pasted: Pasted) -> frozenset[str]:
    if pasted.is_too_much or not pasted.pages:
        return frozenset()
    which = PageFilter(urls=tuple(page.url for page in pasted.pages))
    return frozenset(row.url for row in await parts.store.pages(which, limit=MOST_AT_ONCE))


@router.post("/pages/import")
async def bring(
    request: Request,
    caller: Writing,
    parts: Given,
    jobs: Work,
    file: UploadFile,
    group: Annotated[str, Form()] = "",
) -> Response:
    """Import a list from a file, in a job."""
    act, listed = actions.Act(jobs, caller), await keep(parts, _pieces(file))
    taken = ListToTake(listed, name=file.filename or "list", group=group.strip() or "main")
    return await await_job(request, await start_import(parts, act, taken), "/")


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    """Yield the upload, to be copied: its file is deleted with the request."""
    while piece := await file.read(_PIECE):
        yield piece


@router.post("/demo")
async def begin(request: Request, caller: Writing, parts: Given) -> Response:
    """Watch the demo site."""
    await parts.service.demo.begin()
    await audit(parts, caller, "demo.begin")
    said = "The demo site is now watched. The first change comes within half a minute."
    return go_on(request, PageListFilter(group=DEMO_GROUP).path(), said)


@router.post("/demo/remove")
async def end(request: Request, caller: Writing, parts: Given) -> Response:
    """Delete the pages of the demo site."""
    number = await parts.service.demo.end()
    await audit(parts, caller, "demo.end", pages=number)
    undo = Undo("/demo", "Undo: watch it again", {})
    return go_on(request, "/", f"Removed the demo site and its {count(number, 'page')}.", undo=undo)
