"""*Pages*: the list of watched pages, the forms that add pages, and actions on many of them."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Final, Literal, TypeAlias, get_args

from fastapi import APIRouter, Form, Request, UploadFile
from fastapi.responses import RedirectResponse, Response
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from tocsin.configuration import parse_page_settings
from tocsin.errors import DeliveryError, SettingsError, UsageError
from tocsin.lists.importing import Reader, Tally
from tocsin.lists.pages import check_group
from tocsin.model import (
    DEMO_GROUP,
    BoundedCount,
    GroupRow,
    Instant,
    JsonObject,
    NewPage,
    PageFilter,
    PageQuery,
    PageRow,
    Slice,
    View,
)
from tocsin.model.records.pages import PageLook
from tocsin.server import actions
from tocsin.server.access.auditing import audit
from tocsin.server.bodies import Shared, keep
from tocsin.server.exports import ListFormat, export_list
from tocsin.server.imports import ListToTake, start_import
from tocsin.server.jobs import Work
from tocsin.server.looks import look_at
from tocsin.server.notifications import read_given, save_channel, try_unsaved
from tocsin.server.parts import Caller, Given, Parts, Reading, Writing, base_url
from tocsin.server.problems import Problem
from tocsin.server.web.formatting import short_url, weight
from tocsin.server.web.jobs import await_job
from tocsin.server.web.listing import (
    AskedFor,
    PageListFilter,
    chips_of,
    queries_of_chips,
    rail_of,
    sorts_of,
    to_line,
)
from tocsin.server.web.near_words import find_near
from tocsin.server.web.page_settings import show_many
from tocsin.server.web.rendering import Undo, ask, go_on, page, say, together, typed_again

router = APIRouter(include_in_schema=False)

PER_PART: Final = 50
_WIDE_PART: Final = 35  # With further columns, so that they stay below 50 KB as well.
_PIECE: Final = 2**16
# Bytes of the select box; with more groups it becomes a text field.
_ROOM_FOR_GROUPS: Final = 3000
_MOST_EMPTY: Final = 1
_LONGEST_SHARED: Final = 8192
_SHARED: Final = re.compile(r"https?://\S+", re.IGNORECASE)
# Chats that take webhooks of their own, by the end of their host.
_CHATS: Final = (
    ("slack.com", "slack"),
    ("discord.com", "discord"),
    ("discordapp.com", "discord"),
    ("office.com", "teams"),
    ("logic.azure.com", "teams"),
    ("powerplatform.com", "teams"),
    ("ntfy.sh", "ntfy"),
)
# What has more settings than an address: the type of its channel.
_SET_UP: Final = {"mail": "mail", "program": "webhook"}
_LATE_S: Final = 300


class Box(Struct, frozen=True):
    """The box to add pages, with its input.

    pasted   the parsed input; None before it is submitted
    known    its URLs that are watched already
    found    what a look at its only page found
    to       how alerts are to come, and the address of a chat
    tested   what kept a test of that from being accepted; "" if nothing did, None before a test
    """

    urls: str = ""
    group: str = ""
    every: str = ""
    wrong: tuple[str, ...] = ()
    pasted: Pasted | None = None
    known: frozenset[str] = frozenset()
    found: PageLook | None = None
    to: str = "here"
    address: str = ""
    tested: str | None = None

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
async def home(request: Request, _caller: Reading, parts: Given) -> Response:
    """Go to *Changes*, to the first steps while no page is watched, or with parameters to the list that was here."""
    is_watching = bool((await parts.store.tally_pages(PageQuery())).number)
    if request.url.query or not is_watching:
        return RedirectResponse(f"/pages?{request.url.query}".rstrip("?"), status_code=303)
    return RedirectResponse("/changes", status_code=303)


@router.get("/pages")
async def show(request: Request, _caller: Reading, parts: Given, asked: AskedFor) -> Response:
    """Show the list, or the first steps while no page is watched."""
    return await list_page(request, parts, asked)


async def list_page(
    request: Request,
    parts: Parts,
    asked: PageListFilter,
    *,
    wrong: Sequence[str] = (),
    chosen: Chosen | None = None,
    status: int = 200,
) -> Response:
    """Show a list, with errors and rejected input, if any."""
    every = await parts.store.tally_pages(PageQuery())
    if not every.number:
        return await show_box(request, parts, Box(), status=status, wrong=wrong)
    now = parts.clock.now()
    query = asked.query.asked_at(now)
    found, refused = await _found(parts, query, asked.after, PER_PART if not asked.more else _WIDE_PART)
    refusals = [*wrong, *refused]
    status = 422 if refusals else status
    groups, tallies, modes = (
        await parts.store.group_rows(),
        await _tallies(parts, asked, every, now),
        await parts.modes(),
    )
    number = (
        BoundedCount(0) if refused else tallies.get(asked.view, every) if query.words is None is query.host else None
    )
    if number is None:
        number = await parts.store.tally_pages(query)
    return await page(
        request,
        "pages.html",
        status=status,
        wrong=refusals,
        asked=asked,
        chosen=chosen or Chosen(),
        every=every,
        lines=[to_line(row, modes.of(row)[0], now, has_more=bool(asked.more)) for row in found.rows],
        chips=chips_of(asked, tallies),
        sorts=sorts_of(asked, number),
        number=number,
        near=[] if found.rows or found.next or refused else await find_near(parts, asked),
        next=asked.path(after=found.next) if found.next else None,
        group_entries=rail_of(groups, await parts.store.unseen_by_group(), asked),
        group_names=[row.name for row in _offered(groups)],
        is_late=(parts.service.live().late_s or 0) > _LATE_S,
        demo_is_on=parts.service.demo.is_on,
    )


def _offered(groups: Sequence[GroupRow]) -> list[GroupRow]:
    """Return the largest groups that fit into the select box."""
    # The largest ones are what most users look for; they are shown in the order of the list all the same.
    room, kept = _ROOM_FOR_GROUPS, set()
    for row in sorted(groups, key=lambda row: row.pages, reverse=True):
        # The name is in the value and in the label of an option, whose markup takes the rest.
        room -= 2 * weight(row.name) + 90
        if room < 0:
            break
        kept.add(row.name)
    return [row for row in groups if row.name in kept]


async def _found(parts: Parts, query: PageQuery, cursor: str, limit: int) -> tuple[Slice[PageRow], list[str]]:
    """Read a part of the list; an unsupported combination of filters gives an error and no rows."""
    try:
        found = await parts.store.browse_pages(query, cursor=cursor or None, limit=limit)
        for _ in range(_MOST_EMPTY):
            # A part of a search, or of a list that is sorted, may be empty although pages follow.
            if found.rows or found.next is None:
                break
            found = await parts.store.browse_pages(query, cursor=found.next, limit=limit)
    except UsageError as exc:
        return Slice((), None), [str(exc)]
    return found, []


async def _tallies(parts: Parts, asked: PageListFilter, every: BoundedCount, now: Instant) -> dict[View, BoundedCount]:
    queries = queries_of_chips(asked)
    # Counted already for the head of the page.
    known = {} if asked.group else {View.ALL: every}
    asked_for = [view for view in queries if view not in known]
    read = await together(parts.store.tally_pages(queries[view].asked_at(now)) for view in asked_for)
    return {**known, **dict(zip(asked_for, read, strict=True))}


@router.get("/pages/export")
async def export(
    _caller: Reading,
    parts: Given,
    shared: Shared,
    asked: AskedFor,
    format: ListFormat = "csv",  # noqa: A002 - as addresses say it
) -> Response:
    """Export the whole list: as CSV, safe for spreadsheets, as OPML, or one URL per line."""
    return await export_list(parts, shared, asked.query, format)


# Forms that add pages: one page at once, many after a preview; input with errors is shown again.


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
        # Each line may be wrong: the page names the first ones, and counts the others.
        if len(wrong) < MOST_NAMED:
            wrong.append(what.removeprefix("pasted:"))

    reader = Reader("pasted", "list", check_group(group or "main"), tally=tally, say=say)
    found: dict[str, NewPage] = {}
    twice = 0
    # The same reader as for files, so that a line means the same in both places.
    for each in reader.pages(io.BytesIO(text.encode("utf-8", "surrogatepass"))):
        if each.url in found:
            twice += 1
        # One more than the limit is kept: that is how `is_too_much` knows.
        elif len(found) <= MOST_AT_ONCE:
            found[each.url] = each
    pages = tuple(_with(each, settings) for each in found.values())
    return Pasted(pages, tuple(f"line {line}" for line in wrong), tally.refused, twice)


def _with(page: NewPage, settings: JsonObject) -> NewPage:
    return replace(page, settings={**settings, **(page.settings or {})} or None)


class WatchForm(BaseModel):
    """The form that adds pages.

    step     look: at the page, or at several lines; test: of the chat; add
    to       how alerts are to come
    address  of the chat
    """

    model_config = ConfigDict(extra="ignore")

    urls: str = ""
    group: str = ""
    every: str = ""
    step: str = "look"
    to: Literal["here", "chat", "feed", "mail", "program"] = "here"
    address: str = ""


@router.post("/pages/add")
async def add(
    request: Request, caller: Writing, parts: Given, jobs: Work, form: Annotated[WatchForm, Form()]
) -> Response:
    """Look at a page or at several lines, test a chat, or add the pages."""
    box = Box(form.urls, form.group, form.every.strip(), to=form.to, address=form.address.strip())
    if await typed_again(request):
        return await show_box(request, parts, box)
    box = await _read(request, parts, box)
    pasted = box.pasted
    if pasted is None or pasted.is_too_much or not pasted.pages:
        return await _again(request, parts, box)
    is_single = len(pasted.pages) == 1 and not pasted.refused
    wanted = _chat_of(box) if is_single and form.step != "look" else None
    if form.step == "add":
        try:
            if wanted is not None:
                await save_channel(parts, caller, _free_name(parts), wanted, if_revision=0, written=True)
        except (SettingsError, UsageError, Problem) as exc:
            return await _again(request, parts, await _looked(parts, replace(box, wrong=(str(exc),))))
        act = actions.Act(jobs, caller)
        ids = [each for each in await actions.add_pages(parts, act, pasted.pages, check=True) if each is not None]
        if is_single and box.to in _SET_UP:
            path = f"/notifications/channel?type={_SET_UP[box.to]}"
            return go_on(request, path, "added_to_set_up", url=short_url(pasted.pages[0].url))
        return await _added(request, parts, pasted, ids)
    if is_single:
        box = await _looked(parts, box)
        if form.step == "test":
            box = replace(box, tested=await _test(request, parts, caller, wanted))
    return await show_box(request, parts, box, status=422 if box.wrong and is_single else 200)


async def _read(request: Request, parts: Parts, box: Box) -> Box:
    """Read the addresses and settings of the box; what is wrong with them is told in it."""
    try:
        settings = parse_page_settings({"every": box.every} if box.every else {})
        pasted = read_pasted(box.urls, box.group, settings)
    except UsageError as exc:
        return replace(box, wrong=(str(exc),))
    return replace(box, wrong=_wrong(request, pasted), pasted=pasted, known=await _known(parts, pasted))


async def _looked(parts: Parts, box: Box) -> Box:
    """Look at the only page of the box; what keeps it from being looked at is wrong with it."""
    if box.pasted is None:
        return box
    (wanted,) = box.pasted.pages
    try:
        return replace(box, found=await look_at(parts, wanted.url, wanted.secrets))
    except Problem as exc:
        return replace(box, wrong=(*box.wrong, str(exc)))


def _chat_of(box: Box) -> dict[str, str] | None:
    """Return the settings of a channel for the address of a chat; None where none is wanted."""
    if box.to != "chat":
        return None
    scheme, _, rest = box.address.partition("://")
    host = rest.partition("/")[0].lower()
    if scheme.lower() in ("http", "https"):
        known = next((name for ending, name in _CHATS if host == ending or host.endswith(f".{ending}")), "text")
        return {"type": "webhook", "url": box.address, "format": known}
    return {"type": "apprise", "url": box.address}


def _free_name(parts: Parts) -> str:
    known = parts.service.settings().channels
    return next(
        name for number in range(1, len(known) + 2) if (name := f"chat-{number}" if number > 1 else "chat") not in known
    )


async def _test(request: Request, parts: Parts, caller: Caller, wanted: dict[str, str] | None) -> str:
    """Send a test; returns what kept it from being accepted, "" if nothing did."""
    if wanted is None:
        return say(request, "add.no_chat")
    try:
        section, _ = read_given(parts, "chat", wanted, written=True)
        await try_unsaved(parts, caller, "chat", section)
    except (DeliveryError, SettingsError, UsageError) as exc:
        return str(exc)
    return ""


async def _added(request: Request, parts: Parts, pasted: Pasted, ids: Sequence[int]) -> Response:
    # All of them are put into one group, which the input names.
    first = pasted.pages[0]
    if len(pasted.pages) == 1:
        row = await parts.store.page(first.url)
        path = f"/pages/{row.id}" if row is not None else "/pages"
        if not ids:
            return go_on(request, path, "known_already", kind="warn", url=short_url(first.url))
        return go_on(request, path, "added", url=short_url(first.url))
    known = len(pasted.pages) - len(ids)
    rest = "".join(
        f" {say(request, key, n=number)}"
        for key, number in (("add.some_known", known), ("add.left_out", pasted.refused))
        if number
    )
    path = PageListFilter(group=first.group if first.group != "main" else "").path()
    return go_on(request, path, "added_pages", n=len(ids), rest=rest)


async def _again(request: Request, parts: Parts, box: Box) -> Response:
    return await show_box(request, parts, box, status=422)


@router.get("/add")
async def show_add(request: Request, _caller: Writing, parts: Given, url: str = "", text: str = "") -> Response:
    """Show the box that adds pages; a bookmarklet or a share target brings a URL."""
    # Many programs share the URL within a text.
    found = _SHARED.search(text[:_LONGEST_SHARED])
    return await show_box(request, parts, Box(url[:_LONGEST_SHARED] or (found[0] if found else "")))


async def show_box(
    request: Request, parts: Parts, box: Box, *, status: int = 200, wrong: Sequence[str] = ()
) -> Response:
    """Show the box that adds pages, with its input and what was wrong with that."""
    groups = _offered(await parts.store.group_rows())
    return await page(
        request,
        "first.html",
        status=status,
        box=box,
        wrong=wrong,
        every=await parts.store.tally_pages(PageQuery()),
        group_names=[row.name for row in groups],
        demo_is_on=parts.service.demo.is_on,
        address=base_url(request, parts.service.settings().http),
    )


def _wrong(request: Request, pasted: Pasted) -> tuple[str, ...]:
    if pasted.is_too_much:
        return (say(request, "add.too_many", n=MOST_AT_ONCE),)
    more = pasted.refused - len(pasted.wrong)
    told = (*pasted.wrong, say(request, "add.more_wrong", n=more)) if more > 0 else pasted.wrong
    return told or (() if pasted.pages else (say(request, "add.no_url"),))


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
    # Kept before the job begins: the upload ends with its request, the job goes on.
    act, listed = actions.Act(jobs, caller), await keep(parts, _pieces(file))
    taken = ListToTake(listed, name=file.filename or "list", group=group.strip() or "main")
    return await await_job(request, await start_import(parts, act, taken), "/pages")


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    """Yield the upload, to be copied: its file is deleted with the request."""
    while piece := await file.read(_PIECE):
        yield piece


@router.post("/demo")
async def begin(request: Request, caller: Writing, parts: Given) -> Response:
    """Watch the demo site."""
    await parts.service.demo.begin()
    await audit(parts, caller, "demo.begin")
    return go_on(request, PageListFilter(group=DEMO_GROUP).path(), "demo_begun")


@router.post("/demo/remove")
async def end(request: Request, caller: Writing, parts: Given) -> Response:
    """Delete the pages of the demo site."""
    number = await parts.service.demo.end()
    await audit(parts, caller, "demo.end", pages=number)
    undo = Undo("/demo", say(request, "notice.undo_demo"), {})
    return go_on(request, "/pages", "demo_removed", undo=undo, n=number)


# Bulk actions: run at once where they can be undone, else after a confirmation with the number of pages.


Verb: TypeAlias = Literal["check", "pause", "resume", "seen", "move", "every", "remove"]
_MOST_CHOSEN: Final = 1000
_ID: Final = re.compile(r"[0-9]{1,18}")
# Buttons of a single row: the name is the action, the value the page.
_OF_A_ROW: Final = ("check", "pause", "resume")
_OTHER: Final[dict[str, Verb]] = {"pause": "resume", "resume": "pause"}


class BulkForm(Struct, frozen=True):
    """The form of a bulk action: the action, and its pages."""

    verb: Verb
    ids: tuple[int, ...]
    is_all: bool
    asked: PageListFilter
    value: str = ""

    @property
    def deed(self) -> actions.Deed:
        """Return the action. Raises UsageError for an invalid value."""
        match self.verb:
            case "move":
                return actions.read_deed("edit", group=self.value)
            case "every":
                return actions.read_deed("edit", settings={"every": self.value})
            case _:
                return actions.read_deed(self.verb)

    @property
    def meant(self) -> actions.Meant:
        """The pages."""
        return actions.Meant(query=self.asked.query) if self.is_all else actions.Meant(ids=self.ids)


@router.post("/pages/bulk")
async def bulk(
    request: Request,
    caller: Writing,
    parts: Given,
    jobs: Work,
    asked: Annotated[PageListFilter, Form()],
) -> Response:
    """Run the action, or ask for confirmation."""
    form = await request.form()
    said = {name: str(form.get(name, "")) for name in ("verb", "scope", "to_group", "every", "confirmed")}
    ids = [int(str(each)) for each in form.getlist("page") if _ID.fullmatch(str(each))]
    verb = said["verb"]
    for act in _OF_A_ROW:
        if _ID.fullmatch(str(form.get(act, ""))):
            verb, ids, said["scope"] = act, [int(str(form[act]))], ""
    if verb == "settings" and (ids or said["scope"] == "all"):
        return await show_many(request, parts, asked, () if said["scope"] == "all" else tuple(ids[:_MOST_CHOSEN]))
    if verb not in get_args(Verb):
        why = "pages.none_chosen" if verb == "settings" else "pages.no_action"
        return await list_page(request, parts, asked, wrong=[say(request, why)])
    value = {"move": said["to_group"], "every": said["every"]}.get(verb, "").strip()
    wanted = BulkForm(verb, tuple(dict.fromkeys(ids))[:_MOST_CHOSEN], said["scope"] == "all", asked, value)  # type: ignore[arg-type] # judged above
    try:
        wrong = "" if wanted.is_all or wanted.ids else say(request, "pages.none_chosen")
        wanted.deed  # noqa: B018 - judged before anything is asked
        number = await parts.store.tally_pages(asked.query) if wanted.is_all else len(wanted.ids)
    except UsageError as exc:
        wrong = str(exc)
    if wrong:
        chosen = Chosen(frozenset(wanted.ids), wanted.is_all, said["to_group"], said["every"])
        return await list_page(request, parts, asked, wrong=[wrong.removeprefix("settings: ")], chosen=chosen)
    if said["confirmed"] != "yes" and (wanted.is_all or verb in ("remove", "move", "every")):
        return await _ask(request, wanted, number)
    # Read before the action: afterwards, pages that it changed cannot be told from those that were so before.
    undo = await _undo(request, parts, wanted)
    job = await actions.start_deed(parts, actions.Act(jobs, caller), wanted.meant, wanted.deed)
    # The part of the list that was shown may be gone with its pages.
    back = asked.path() if verb != "remove" else PageListFilter(group=asked.group).path()
    return await await_job(request, job, back, undo=undo)


async def _ask(request: Request, wanted: BulkForm, number: int | BoundedCount) -> Response:
    values: dict[str, object] = {**wanted.asked.values, "verb": wanted.verb, "scope": "all" if wanted.is_all else ""}
    values["to_group" if wanted.verb == "move" else "every"] = wanted.value
    if not wanted.is_all:
        values["page"] = [str(each) for each in wanted.ids]
    return await ask(
        request,
        "pages_seen" if wanted.verb == "seen" else wanted.verb,
        "/pages/bulk",
        back=wanted.asked.path(),
        section="pages",
        values=values,
        danger=wanted.verb == "remove",
        n=number,
        value=wanted.value,
    )


async def _undo(request: Request, parts: Parts, wanted: BulkForm) -> Undo | None:
    """Make the undo for individually selected pages: exactly those that will change."""
    other = _OTHER.get(wanted.verb)
    # "All that match" may be a million ids, more than a form can carry.
    if other is None or wanted.is_all:
        return None
    rows = await parts.store.pages_by_id(wanted.ids)
    changing = [str(row.id) for row in rows if row.paused == (wanted.verb == "resume")]
    if not changing:
        return None
    values = {**wanted.asked.values, "verb": other, "scope": "", "page": changing}
    return Undo("/pages/bulk", say(request, f"notice.undo_to_{other}", n=len(changing)), values)
