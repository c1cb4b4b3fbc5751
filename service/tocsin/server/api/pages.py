"""Pages: added, listed, shown, edited, taken off the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Body, Query, Request, Response
from pydantic import Field

from tocsin.lists.pages import check_group, check_words, new_page
from tocsin.model import PageQuery, View
from tocsin.server.access import Reading, Writing
from tocsin.server.actions import (
    Act,
    Deed,
    Meant,
    add_pages,
    edit_page,
    read_deed,
    read_settings,
    remove_page,
    start_deed,
)
from tocsin.server.api.given import (
    IfMatch,
    NumberInPath,
    Once,
    PartOf,
    make_router,
    number,
    problems,
    revision_wanted,
    tag,
)
from tocsin.server.api.schemas.common import Job, count_of, job_of
from tocsin.server.api.schemas.pages import AddedPage, AddedPages, Emptying, PageEdit, Pages, PageToAdd, WholePage
from tocsin.server.api.shapes import page_of, whole_page
from tocsin.server.decisions import demand_page, not_watched
from tocsin.server.jobs import Work
from tocsin.server.modes import read_modes
from tocsin.server.parts import Given
from tocsin.server.problems import Problem
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from tocsin.model import NewPage
    from tocsin.server.parts import Parts

router = make_router("pages")

MOST_ADDED: Final = 1000
"""Pages of one request; more are an import."""


class PageList(PartOf):
    """Which pages, and which part of them."""

    view: Annotated[View | None, Field(description="one of the lists; goes with group, and with nothing else")] = None
    group: Annotated[str | None, Field(min_length=1, max_length=63)] = None
    host: Annotated[str | None, Field(min_length=1, max_length=253, description="only this host; stands alone")] = None
    q: Annotated[
        str | None,
        Field(min_length=1, max_length=200, description="each word begins a word of the URL or of your own text"),
    ] = None
    total: Annotated[bool, Field(description="say also how many there are, as far as that is quickly counted")] = False


@router.get("/pages", summary="List pages", operation_id="list_pages")
async def list_pages(_: Reading, parts: Given, asked: Annotated[PageList, Query()]) -> Pages:
    """List watched pages: the latest added first, of `view=changed` the latest changed.

    What cannot be combined is refused: `view` goes with `group`, `host` and `q` each stand alone.
    """
    query = PageQuery(view=asked.view or View.ALL, group=asked.group, host=asked.host, words=asked.q)
    found = await parts.store.browse_pages(query, cursor=asked.cursor, limit=asked.limit)
    modes = await read_modes(parts)
    total = count_of(await parts.store.tally_pages(query)) if asked.total else None
    return Pages(items=[page_of(row, modes) for row in found.rows], next=found.next, total=total)


@router.post(
    "/pages",
    status_code=201,
    summary="Add a page, or some",
    operation_id="add_pages",
    response_model=WholePage,
    responses={
        200: {"model": AddedPages, "description": "What became of each of many."},
        **problems(409),
    },
    dependencies=Once,
)
async def add(
    caller: Writing,
    parts: Given,
    jobs: Work,
    request: Request,
    response: Response,
    given: Annotated[
        PageToAdd | Annotated[list[PageToAdd], Field(min_length=1, max_length=MOST_ADDED)],
        Body(
            openapi_examples={
                "one": {"value": {"url": "https://example.org/news"}},
                "some": {
                    "value": [{"url": "https://example.org/a", "group": "news"}, {"url": "https://example.org/b"}]
                },
            }
        ),
    ],
) -> WholePage | Response:
    """Watch a page (201), or up to 1,000 (200); they are checked at once.

    Lists of other formats, or longer ones, are for POST /api/v1/imports. One page that is watched already is a 409; of
    many such pages stay as they are.
    """
    act = Act(jobs, caller)
    if isinstance(given, list):
        pages = list({page.url: page for page in map(_judged, given)}.values())
        ids = await add_pages(parts, act, pages, check=True)
        items = [
            AddedPage(url=page.url, id=None if page_id is None else str(page_id))
            for page, page_id in zip(pages, ids, strict=True)
        ]
        added = sum(page_id is not None for page_id in ids)
        told = AddedPages(items=items, added=added, known=len(ids) - added)
        return Response(told.model_dump_json(), media_type="application/json")
    page = _judged(given)
    (page_id,) = await add_pages(parts, act, [page], check=True)
    if page_id is None:
        known = await parts.store.page(page.url)
        at = f"/api/v1/pages/{known.id}" if known is not None else "GET /api/v1/pages"
        raise Problem(409, "watched-already", "The page is watched already", page.url[:200], mend=f"edit it at {at}")
    response.headers["Location"] = f"{request.url.path}/{page_id}"
    return await _shown(parts, page_id, response)


@router.get("/pages/{page_id}", summary="Show a page", operation_id="show_page", responses=problems(404))
async def show(_: Reading, parts: Given, response: Response, page_id: NumberInPath) -> WholePage:
    """Show a page; ETag names what people set of it, not what checks find."""
    return await _shown(parts, number(page_id), response)


@router.patch(
    "/pages/{page_id}",
    summary="Edit a page",
    operation_id="edit_page",
    responses=problems(404, 412, 428),
    dependencies=Once,
)
async def edit(
    caller: Writing,
    parts: Given,
    jobs: Work,
    response: Response,
    page_id: NumberInPath,
    wanted: PageEdit,
    if_match: IfMatch = None,
) -> WholePage:
    """Set what holds for a page: settings are merged, and what stands in `unset` inherits again."""
    revision = revision_wanted(if_match, current=await _revision(parts, number(page_id)))
    deed = read_deed(
        "edit",
        settings=wanted.settings.given(),
        unset=wanted.unset,
        group=wanted.group,
        text=wanted.text,
        paused=wanted.paused,
        held=(await demand_page(parts, number(page_id))).settings,
    )
    await edit_page(parts, Act(jobs, caller), number(page_id), deed, if_revision=revision)
    return await _shown(parts, number(page_id), response)


@router.delete(
    "/pages/{page_id}",
    status_code=204,
    summary="Take a page off the list",
    operation_id="remove_page",
    responses=problems(404, 412),
    dependencies=Once,
)
async def remove(caller: Writing, parts: Given, jobs: Work, page_id: NumberInPath, if_match: IfMatch = None) -> None:
    """Take a page off the list, with all that is stored of it; no request for it is made from then on (T62)."""
    revision = revision_wanted(if_match, current=await _revision(parts, number(page_id)), needed=False)
    await remove_page(parts, Act(jobs, caller), number(page_id), if_revision=revision)


@router.post(
    "/pages/{page_id}/pause",
    summary="Pause a page",
    operation_id="pause_page",
    responses=problems(404),
    dependencies=Once,
)
async def pause(caller: Writing, parts: Given, jobs: Work, response: Response, page_id: NumberInPath) -> WholePage:
    """Check a page no more, until it is resumed."""
    return await _paused(parts, Act(jobs, caller), page_id, response, "pause")


@router.post(
    "/pages/{page_id}/resume",
    summary="Resume a page",
    operation_id="resume_page",
    responses=problems(404),
    dependencies=Once,
)
async def resume(caller: Writing, parts: Given, jobs: Work, response: Response, page_id: NumberInPath) -> WholePage:
    """Check a page again."""
    return await _paused(parts, Act(jobs, caller), page_id, response, "resume")


@router.post(
    "/pages/empty",
    status_code=202,
    summary="Empty the list",
    operation_id="empty_list",
    dependencies=Once,
)
async def empty(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: Emptying) -> Job:
    """Take every page off the list, with all that is stored (T53); the job's result is {"pages": …}."""
    assert wanted.confirm  # noqa: S101 - nothing else is let in
    job = await start_deed(parts, Act(jobs, caller), Meant(query=PageQuery()), Deed("remove"))
    response.headers["Location"] = f"/api/v1/jobs/{job.row.id}"
    return job_of(job.row)


def _judged(given: PageToAdd) -> NewPage:
    settings = read_settings(given.settings.given())
    group, text = check_group(given.group), check_words(given.text)
    return new_page(watch_url(given.url), group=group, text=text, settings=settings)


async def _shown(parts: Parts, page_id: int, response: Response) -> WholePage:
    revision = await _revision(parts, page_id)
    page = await demand_page(parts, page_id)
    tag(response, revision)
    return whole_page(page, await read_modes(parts), await parts.store.latest_items(page_id))


async def _revision(parts: Parts, page_id: int) -> int:
    revision = await parts.store.page_revision(page_id)
    if revision is None:
        raise not_watched(page_id)
    return revision


async def _paused(parts: Parts, act: Act, page_id: str, response: Response, kind: str) -> WholePage:
    await _revision(parts, number(page_id))
    await edit_page(parts, act, number(page_id), Deed("pause" if kind == "pause" else "resume"), if_revision=None)
    return await _shown(parts, number(page_id), response)
