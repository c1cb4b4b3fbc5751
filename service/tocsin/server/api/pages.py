"""Pages: added, listed, shown, edited and removed."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Body, Query, Request, Response
from pydantic import ConfigDict, Field, model_validator

from tocsin.lists.pages import check_group, check_words, new_page
from tocsin.model import NewPage, PageQuery, PageSort, View
from tocsin.model.records.fields import Part
from tocsin.model.records.pages import AddedPage, AddedPages, Copy, Pages, WholePage, copies_of, page_of, whole_page
from tocsin.model.records.service import JobStatus
from tocsin.server.actions import (
    Act,
    Deed,
    DeedKind,
    Meant,
    add_pages,
    edit_page,
    forget_login,
    read_deed,
    read_settings,
    remove_page,
    start_deed,
)
from tocsin.server.api.jobs import started
from tocsin.server.api.operations import (
    GroupFilter,
    GroupName,
    IdInBody,
    IfMatch,
    Input,
    NumberInPath,
    PartOf,
    Url,
    Words,
    make_router,
    numbers,
    problems,
    revision_wanted,
    tag,
)
from tocsin.server.api.settings import PageSettingsInput, SettingKey
from tocsin.server.bodies import Shared
from tocsin.server.decisions import demand_page, not_watched
from tocsin.server.exports import ListFormat, export_list
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.spec.html.urls import watch_url

router = make_router("pages")
bulk_routes = make_router("bulk")

# Pages of one request; longer lists are imports.
MOST_ADDED: Final = 1000
_TEXT: Final = {"schema": {"type": "string"}}


# What clients send ------------------------------------------------------------------------------------------------


class PageList(PartOf):
    """Which pages to list."""

    view: Annotated[
        View | None,
        Field(
            description="one of the lists; goes with group and sort. `recent` changed within a week, `quiet` did not "
            "change in 30 days"
        ),
    ] = None
    sort: Annotated[
        PageSort | None,
        Field(
            description="instead of the view's own order: the latest change first, by title, the page that is due "
            "first, by host. Of lists of more than 2,000 pages, that of all is sorted by changed_at, title and host, "
            "that of a group by changed_at"
        ),
    ] = None
    group: GroupFilter | None = None
    host: Annotated[str | None, Field(min_length=1, max_length=253, description="only this host; not combinable")] = (
        None
    )
    q: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=200,
            description="each word begins a word of the URL or of your own text",
        ),
    ] = None
    total: Annotated[bool, Field(description="also count the pages, as far as that is quick")] = False


class ListToExport(Input):
    """Which list is exported, and how."""

    format: Annotated[ListFormat, Field(description="of the file")] = "csv"
    group: GroupFilter | None = None


class PageToAdd(Input):
    """A page to be watched."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://example.org/news", "settings": {"every": "6h"}}]}
    )

    url: Url
    group: GroupName = "main"
    text: Annotated[Words | None, Field(description="your own words on it")] = None
    settings: PageSettingsInput = PageSettingsInput()


class PageEdit(Input):
    """Changes to a page."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"settings": {"every": "6h"}, "paused": False}]})

    settings: Annotated[PageSettingsInput, Field(description="merged into what is set")] = PageSettingsInput()
    unset: Annotated[
        list[SettingKey], Field(max_length=30, description="these inherit again"), Field(default_factory=list)
    ]
    paused: bool | None = None
    group: Annotated[GroupName | None, Field(description="moves it there; a new group is created")] = None
    text: Annotated[Annotated[str, Field(max_length=253)] | None, Field(description="empty removes it")] = None


class ChosenPages(Input):
    """Which pages are meant: these, or all of a list as GET /pages shows it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["42", "43"]}, {"view": "problems"}]})

    ids: Annotated[list[IdInBody] | None, Field(min_length=1, max_length=10_000)] = None
    view: View | None = None
    group: GroupName | None = None
    host: Annotated[str | None, Field(min_length=1, max_length=253)] = None
    q: Annotated[str | None, Field(min_length=1, max_length=200)] = None

    @model_validator(mode="after")
    def _is_one(self) -> ChosenPages:
        # An empty choice would mean every page; that must be said, as the message does.
        has_query = any(part is not None for part in (self.view, self.group, self.host, self.q))
        if (self.ids is not None) == has_query:
            raise ValueError('name the pages: either `ids`, or one of view, group, host and q; {"view": "all"} is all')
        return self

    def meant(self) -> Meant:
        """Give the pages as the store names them."""
        if self.ids is not None:
            return Meant(ids=numbers(self.ids))
        return Meant(query=PageQuery(view=self.view or View.ALL, group=self.group, host=self.host, words=self.q))


class BulkAction(Input):
    """An action on many pages."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"pages": {"group": "news"}, "action": "pause"}]})

    pages: ChosenPages
    action: Literal["pause", "resume", "delete", "move", "set", "check"]
    group: Annotated[GroupName | None, Field(description="for move")] = None
    settings: Annotated[PageSettingsInput | None, Field(description="for set")] = None
    unset: Annotated[list[SettingKey] | None, Field(max_length=30, description="for set: these inherit again")] = None

    @model_validator(mode="after")
    def _fits(self) -> BulkAction:
        # What does not belong is refused, and not ignored: a client that sends it expects something of it.
        if (self.action == "move") != (self.group is not None):
            raise ValueError("`group` belongs to move, which needs it")
        if (self.action == "set") != (self.settings is not None or self.unset is not None):
            raise ValueError("`settings` and `unset` belong to set, which needs one of them")
        return self


class Emptying(Input):
    """The confirmation that the whole list is to be removed."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"confirm": "remove all pages"}]})

    confirm: Literal["remove all pages"]


# Operations -------------------------------------------------------------------------------------------------------


@router.get("/pages", summary="List pages", operation_id="list_pages")
async def list_pages(_: Reading, parts: Given, asked: Annotated[PageList, Query()]) -> Pages:
    """List watched pages: the last added first; with `view=changed`, `recent` and `quiet` the last changed first.

    Combinations that would be slow are refused: `view`, `group` and `sort` go together; `host` and `q` each stand
    alone.
    A part of a list that is sorted or searched may be shorter than `limit`, or empty, although `next` goes on.
    """
    query = PageQuery(asked.view or View.ALL, asked.group, asked.host, asked.q, asked.sort)
    query = query.asked_at(parts.clock.now())
    found = await parts.store.browse_pages(query, cursor=asked.cursor, limit=asked.limit)
    modes = await parts.modes()
    total = await parts.store.tally_pages(query) if asked.total else None
    return Pages(items=[page_of(row, modes) for row in found.rows], next=found.next, total=total)


@router.post(
    "/pages",
    status_code=201,
    summary="Add pages",
    operation_id="add_pages",
    responses={
        200: {"record": AddedPages, "description": "What became of each of many."},
        201: {"record": WholePage, "description": "The page."},
    },
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
) -> WholePage | AddedPages:
    """Watch a page (201), or up to 1,000 (200); they are checked at once.

    Longer lists, and lists in other formats, are for POST /api/v1/imports. A single page that is watched already is a
    409; of many pages, those that are watched already stay as they are.
    """
    act = Act(jobs, caller)
    if isinstance(given, list):
        # Two spellings of one URL in a request are one page, with the last settings.
        pages = list({page.url: page for page in map(_judged, given)}.values())
        ids = await add_pages(parts, act, pages, check=True)
        items = [
            AddedPage(url=page.url, id=None if page_id is None else str(page_id))
            for page, page_id in zip(pages, ids, strict=True)
        ]
        added = sum(page_id is not None for page_id in ids)
        response.status_code = 200
        return AddedPages(items=items, added=added, known=len(ids) - added)
    page = _judged(given)
    (page_id,) = await add_pages(parts, act, [page], check=True)
    # Of one page the client wants to know; of many, the answer says for each.
    if page_id is None:
        known = await parts.store.page(page.url)
        at = f"/api/v1/pages/{known.id}" if known is not None else "GET /api/v1/pages"
        raise Problem(409, "watched-already", "The page is watched already", page.url[:200], mend=f"edit it at {at}")
    response.headers["Location"] = f"{request.url.path}/{page_id}"
    return await _shown(parts, page_id, response)


@router.get("/pages/{page_id}", summary="Show a page", operation_id="show_page")
async def show(_: Reading, parts: Given, response: Response, page_id: NumberInPath) -> WholePage:
    """Show a page; its ETag names what users set of it, not what checks find."""
    return await _shown(parts, int(page_id), response)


@router.patch("/pages/{page_id}", summary="Edit a page", operation_id="edit_page", responses=problems(412, 428))
async def edit(
    caller: Writing,
    parts: Given,
    jobs: Work,
    response: Response,
    page_id: NumberInPath,
    wanted: PageEdit,
    if_match: IfMatch = None,
) -> WholePage:
    """Edit a page: settings are merged, and the keys in `unset` inherit again."""
    revision = revision_wanted(if_match, current=await _revision(parts, int(page_id)))
    deed = read_deed(
        "edit",
        settings=wanted.settings.given(),
        unset=wanted.unset,
        group=wanted.group,
        text=wanted.text,
        paused=wanted.paused,
        held=(await demand_page(parts, int(page_id))).settings,
    )
    await edit_page(parts, Act(jobs, caller), int(page_id), deed, if_revision=revision)
    return await _shown(parts, int(page_id), response)


@router.delete(
    "/pages/{page_id}", status_code=204, summary="Remove a page", operation_id="remove_page", responses=problems(412)
)
async def remove(caller: Writing, parts: Given, jobs: Work, page_id: NumberInPath, if_match: IfMatch = None) -> None:
    """Remove a page with everything that is stored of it; no request for it is made from then on (T62)."""
    # A client that deletes a page need not have seen it.
    revision = revision_wanted(if_match, current=await _revision(parts, int(page_id)), needed=False)
    await remove_page(parts, Act(jobs, caller), int(page_id), if_revision=revision)


@router.delete(
    "/pages/{page_id}/login", status_code=204, summary="Forget the login of a page", operation_id="forget_login"
)
async def forget(caller: Writing, parts: Given, page_id: NumberInPath) -> None:
    """Delete the cookies that the page's steps keep of their login, if there are any: the next visit logs in again."""
    await demand_page(parts, int(page_id))
    await forget_login(parts, caller, int(page_id))


@router.post("/pages/{page_id}/pause", summary="Pause a page", operation_id="pause_page")
async def pause(caller: Writing, parts: Given, jobs: Work, response: Response, page_id: NumberInPath) -> WholePage:
    """Stop checking a page until it is resumed."""
    return await _set_paused(parts, Act(jobs, caller), int(page_id), response, "pause")


@router.post("/pages/{page_id}/resume", summary="Resume a page", operation_id="resume_page")
async def resume(caller: Writing, parts: Given, jobs: Work, response: Response, page_id: NumberInPath) -> WholePage:
    """Check a page again."""
    return await _set_paused(parts, Act(jobs, caller), int(page_id), response, "resume")


@router.get("/pages/{page_id}/copies", summary="List copies of a page", operation_id="list_copies")
async def list_copies(_: Reading, parts: Given, page_id: NumberInPath) -> Part[Copy]:
    """List copies of a page that watched pages name, the newest first."""
    page = await demand_page(parts, int(page_id))
    return Part(items=copies_of(await parts.store.copies_of(page.url)), next=None)


@router.post("/pages/empty", status_code=202, summary="Remove all pages", operation_id="empty_list")
async def empty(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: Emptying) -> JobStatus:
    """Remove every page with everything that is stored (T53); the job's result is {"pages": …}."""
    assert wanted.confirm  # noqa: S101 - validation admits nothing else
    job = await start_deed(parts, Act(jobs, caller), Meant(query=PageQuery()), Deed("remove"))
    return started(job, response)


_DEEDS: Final[dict[str, DeedKind]] = {
    "pause": "pause",
    "resume": "resume",
    "delete": "remove",
    "move": "edit",
    "set": "edit",
    "check": "check",
}


@bulk_routes.get(
    "/pages/export",
    summary="Export a list of pages",
    operation_id="export_pages",
    response_class=Response,
    responses={
        200: {"description": "The list.", "content": {"text/csv": _TEXT, "text/x-opml": _TEXT, "text/plain": _TEXT}}
    },
)
async def export_pages(_: Reading, parts: Given, shared: Shared, asked: Annotated[ListToExport, Query()]) -> Response:
    """Stream all pages, or those of a group, as CSV with all settings, as OPML with groups, or one URL a line.

    Credentials are left out. POST /imports takes each of these formats.
    """
    return await export_list(parts, shared, PageQuery(group=asked.group), asked.format)


@bulk_routes.post("/pages/bulk", status_code=202, summary="Act on many pages", operation_id="do_to_pages")
async def act_on_pages(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: BulkAction) -> JobStatus:
    """Pause, resume, delete, move, set or check these pages, or all of a list, as it is now.

    The job's result is {"pages": how many}, and for `check` {"check": the id of GET /api/v1/checks/{id}}.
    """
    deed = read_deed(
        _DEEDS[wanted.action],
        settings=wanted.settings.given() if wanted.settings is not None else {},
        unset=wanted.unset or (),
        group=wanted.group,
    )
    job = await start_deed(parts, Act(jobs, caller), wanted.pages.meant(), deed)
    return started(job, response)


def _judged(given: PageToAdd) -> NewPage:
    settings = read_settings(given.settings.given())
    group, text = check_group(given.group), check_words(given.text)
    return new_page(watch_url(given.url), group=group, text=text, settings=settings)


async def _shown(parts: Parts, page_id: int, response: Response) -> WholePage:
    revision = await _revision(parts, page_id)
    page = await demand_page(parts, page_id)
    tag(response, revision)
    return whole_page(page, await parts.modes(), await parts.store.latest_items(page_id))


async def _revision(parts: Parts, page_id: int) -> int:
    revision = await parts.store.page_revision(page_id)
    if revision is None:
        raise not_watched(page_id)
    return revision


async def _set_paused(
    parts: Parts, act: Act, page_id: int, response: Response, kind: Literal["pause", "resume"]
) -> WholePage:
    await _revision(parts, page_id)
    # No revision: other edits change nothing about pausing.
    await edit_page(parts, act, page_id, Deed(kind), if_revision=None)
    return await _shown(parts, page_id, response)
