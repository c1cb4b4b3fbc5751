"""Adding pages: what was pasted is shown before many are added, and stays where it was typed if some of it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Form, Request, UploadFile
from fastapi.responses import Response

from tocsin.configuration import parse_page_settings
from tocsin.errors import UsageError
from tocsin.model import PageFilter
from tocsin.server import actions
from tocsin.server.access.rights import Writing
from tocsin.server.imports import ListToTake, start_import
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Parts
from tocsin.server.uploads import keep
from tocsin.server.web.adding import MOST_AT_ONCE, Pasted, read_pasted
from tocsin.server.web.jobs import await_job
from tocsin.server.web.listing import Asked
from tocsin.server.web.notices import go_on
from tocsin.server.web.pages import Box, list_page
from tocsin.server.web.words import count, short_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

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
    """Add one page at once; show first what many lines, or a wrong one, would come to."""
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
        return await list_page(request, parts, Asked(), box=box)
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
        return go_on(request, path, f"Added {short_url(first.url)}. Its first check is on its way.")
    known = len(pasted.pages) - len(ids)
    rest = f" {count(known, 'page')} watched already." if known else ""
    left = f" {count(pasted.refused, 'line')} left out." if pasted.refused else ""
    said = f"Added {count(len(ids), 'page')}; their first checks are on their way.{rest}{left}"
    return go_on(request, Asked(group=first.group).path() if first.group != "main" else "/", said)


async def _again(request: Request, parts: Parts, box: Box) -> Response:
    return await list_page(request, parts, Asked(), box=box, status=422)


def _wrong(pasted: Pasted) -> tuple[str, ...]:
    if pasted.is_too_much:
        return (f"more than {MOST_AT_ONCE:,} pages at once; bring them as a file, below",)
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
    """Take a list that somebody has as a file; how far it is, its job says."""
    act, listed = actions.Act(jobs, caller), await keep(parts, _pieces(file))
    taken = ListToTake(listed, name=file.filename or "list", group=group.strip() or "main")
    return await await_job(request, await start_import(parts, act, taken), "/")


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    """Give what was sent, to be kept for as long as the job needs it: the request's own file goes with the request."""
    while piece := await file.read(_PIECE):
        yield piece
