"""Actions on pages, shared by web pages and API: audited, and run as jobs where they take long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from tocsin.configuration import all_unset, check_page_keys, parse_page_settings
from tocsin.configuration.loading import mask_settings
from tocsin.configuration.routes import check_page_route
from tocsin.errors import StaleRevision, UsageError
from tocsin.lists.pages import check_group, check_words
from tocsin.model import AlertQuery, JsonObject, NewPage, PageQuery
from tocsin.server.access.auditing import audit
from tocsin.server.jobs import Job, Jobs, Progress
from tocsin.server.parts import Caller, Parts
from tocsin.server.problems import Problem

STEP: Final = 1000  # Ids read from the store in one step.

DeedKind: TypeAlias = Literal["pause", "resume", "remove", "check", "edit", "seen"]


class Act(Struct, frozen=True):
    """The caller of an action, and the jobs that run it."""

    jobs: Jobs
    caller: Caller


class Meant(Struct, frozen=True):
    """The pages of an action: these ids, or the pages of a list at the time of the request. Exactly one is set."""

    ids: tuple[int, ...] | None = None
    query: PageQuery | None = None


class Deed(Struct, frozen=True):
    """An action on pages; "seen" marks their alerts as seen.

    settings, unset  for "edit": the new values, and the keys that inherit again
    group            the group to move the pages to
    text             the user's notes; `clear_text` removes them
    """

    kind: DeedKind
    settings: JsonObject = {}
    unset: tuple[str, ...] = ()
    group: str | None = None
    text: str | None = None
    clear_text: bool = False
    paused: bool | None = None


class Stale(Problem):
    """The revision of the caller is out of date."""

    def __init__(self, what: str) -> None:
        super().__init__(
            412,
            "stale",
            "It was edited meanwhile",
            f"{what} is no longer the one that If-Match names",
            mend="get it again, look at what changed, and send the edit with its new ETag",
        )


def read_settings(given: Mapping[str, object]) -> JsonObject:
    """Validate page settings from JSON, ready to be stored. Raises SettingsError."""
    return parse_page_settings({key: as_text(value) for key, value in given.items()}, source="settings")


def as_text(value: object) -> str:
    """Write a value as on a command line."""
    match value:
        case bool():
            # Before numbers and texts: Python writes True, our settings true.
            return str(value).lower()
        case list() | tuple():
            # A value may have a comma in it.
            return json.dumps([str(each) for each in value], ensure_ascii=False)
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)} = {json.dumps(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def read_deed(
    kind: DeedKind,
    *,
    settings: Mapping[str, object] | None = None,
    unset: Sequence[str] = (),
    group: str | None = None,
    text: str | None = None,
    paused: bool | None = None,
    held: Container[str] = (),
) -> Deed:
    """Validate an action; an empty text removes the notes. Raises UsageError.

    held  keys set now: unknown ones, from another version, can be unset
    """
    # A key that only a newer version knows can be set in a store that was downgraded; a user must get rid of it.
    check_page_keys((key for key in unset if key not in held), source="unset")
    judged = read_settings(settings or {})
    if both := sorted(judged.keys() & set(unset)):
        raise UsageError(f"{', '.join(both)}: set and unset at once; leave one of them out")
    return Deed(
        kind,
        settings=judged,
        unset=all_unset(judged, unset),
        group=check_group(group) if group is not None else None,
        text=check_words(text),
        clear_text=text == "",
        paused=paused,
    )


# One page, or some ------------------------------------------------------------------------------------------------


async def add_pages(parts: Parts, act: Act, pages: Sequence[NewPage], *, check: bool = False) -> list[int | None]:
    """Add pages; returns ids, None where the URL is watched already.

    check  request a check of them at once
    """
    now = parts.clock.now()
    for page in pages:
        _demand_route(parts, page.settings)
    request = await parts.store.open_request(now) if check else None
    ids = await parts.store.add_pages(pages, now, request=request)
    added = [page_id for page_id in ids if page_id is not None]
    if added:
        await audit(parts, act.caller, "pages.add", pages=len(added), first=str(added[0]))
    return ids


async def edit_page(parts: Parts, act: Act, page_id: int, deed: Deed, *, if_revision: int | None) -> None:
    """Edit a page at this revision. Raises Stale."""
    _demand_route(parts, deed.settings)
    async with act.jobs.editing:
        with _raising_stale():
            await _edit(parts, [page_id], deed, of=1, if_revision=if_revision)
    # Audited when it is done: what was refused has changed nothing.
    await audit(parts, act.caller, f"page.{deed.kind}", page=str(page_id), **_told(deed))


async def remove_page(parts: Parts, act: Act, page_id: int, *, if_revision: int | None) -> None:
    """Delete a page at this revision. Raises Stale."""
    async with act.jobs.editing:
        page = await parts.store.page_by_id(page_id)
        with _raising_stale():
            await parts.store.remove_pages([page_id], if_revision=if_revision)
    await audit(parts, act.caller, "page.remove", page=str(page_id), url=page.url if page is not None else None)


async def forget_login(parts: Parts, caller: Caller, page_id: int) -> None:
    """Delete the cookies that the steps of a page keep of their login."""
    if await parts.store.forget_logins([page_id]):
        await audit(parts, caller, "page.forget_login", page=str(page_id))


async def check_pages(parts: Parts, act: Act, ids: Sequence[int] | None) -> int:
    """Request a check of these pages (None: all); returns the request's id."""
    request_id = await parts.store.request_check(ids, parts.clock.now())
    await audit(parts, act.caller, "pages.check", pages="all" if ids is None else len(ids), request=str(request_id))
    return request_id


def _demand_route(parts: Parts, settings: JsonObject | None) -> None:
    """Check that a route which the settings name is there; raises SettingsError."""
    check_page_route(str((settings or {}).get("route", "")), parts.service.settings().routes, "route")


@contextmanager
def _raising_stale() -> Iterator[None]:
    try:
        yield
    except StaleRevision as exc:
        raise Stale(str(exc)) from exc


# Many pages -------------------------------------------------------------------------------------------------------


async def start_deed(parts: Parts, act: Act, meant: Meant, deed: Deed) -> Job:
    """Start an action on many pages; pages added later are not included."""
    _demand_route(parts, deed.settings)
    # Fixed now: pages that are added while the job runs were not in the list that the user saw.
    last_id = await parts.store.last_page_id()
    latest = (await parts.store.browse_alerts(AlertQuery(), limit=1)).rows
    last_position = latest[0].position if latest else 0
    if meant.query is not None:
        meant = Meant(query=meant.query.asked_at(parts.clock.now()))
    total: int | None = None
    if meant.ids is not None:
        total = len(meant.ids)
    elif meant.query is not None:
        tally = await parts.store.tally_pages(meant.query)
        # A bounded tally would promise an end too early; a job without a total shows what it has done.
        total = tally.number if tally.is_exact else None

    async def work(progress: Progress) -> JsonObject:
        if deed.kind == "check":
            return await _ask(parts, act, meant, last_id, progress)
        changed = 0
        async for some in _batches(parts, meant, last_id):
            if deed.kind == "seen":
                changed += await _mark_seen(parts, some, last_position, progress)
            elif deed.kind == "remove":
                changed += await parts.store.remove_pages(some, on_step=progress.advance)
            else:
                changed += await _edit(parts, some, deed, of=total or len(some), progress=progress)
        progress.total = progress.done
        told = _told(deed)
        await audit(parts, act.caller, f"pages.{deed.kind}", pages=changed, **told)
        return {"pages": changed, **told}

    return await act.jobs.start(f"pages.{deed.kind}", act.caller.who, work, total=total)


async def _mark_seen(parts: Parts, ids: Sequence[int], up_to: int, progress: Progress) -> int:
    """Mark the alerts of these pages as seen, up to this position; returns the number of pages that had any."""
    pages = 0
    for page_id in ids:
        query = AlertQuery(page_id=page_id)
        pages += await parts.store.mark_all_seen(query, parts.clock.now(), up_to=up_to) > 0
        progress.advance(1)
    return pages


async def _ask(parts: Parts, act: Act, meant: Meant, last_id: int, progress: Progress) -> JsonObject:
    # A check of all pages skips paused ones; a paused page is checked only by name.
    are_all = meant.query == PageQuery()
    request_id = await parts.store.request_check(
        None if are_all else _batches(parts, meant, last_id), parts.clock.now()
    )
    _, pages = await parts.store.request_progress(request_id)
    told = {"pages": "all" if are_all else pages, "request": str(request_id)}
    await audit(parts, act.caller, "pages.check", **told)
    progress.total = progress.done = pages
    return {"pages": pages, "check": str(request_id)}


async def _batches(parts: Parts, meant: Meant, last_id: int) -> AsyncIterator[Sequence[int]]:
    if meant.ids is not None:
        for start in range(0, len(meant.ids), STEP):
            yield meant.ids[start : start + STEP]
    if meant.query is None:
        return
    cursor: str | None = None
    while True:
        found = await parts.store.browse_ids(meant.query, cursor=cursor, limit=STEP, last_id=last_id)
        # A step of a word search may find nothing, and not be the last.
        if found.rows:
            yield found.rows
        if found.next is None:
            return
        cursor = found.next


async def _edit(
    parts: Parts,
    ids: Sequence[int],
    deed: Deed,
    *,
    of: int,
    if_revision: int | None = None,
    progress: Progress | None = None,
) -> int:
    paused = {"pause": True, "resume": False}.get(deed.kind, deed.paused)
    return await parts.store.edit_pages(
        ids,
        parts.clock.now(),
        settings=deed.settings,
        unset=deed.unset,
        paused=paused,
        group=deed.group,
        text=deed.text,
        clear_text=deed.clear_text,
        of=of,
        if_revision=if_revision,
        on_step=progress.advance if progress is not None else lambda _: None,
    )


def _told(deed: Deed) -> JsonObject:
    """Describe an action for the audit log, without secrets."""
    told = {
        "set": mask_settings(deed.settings),
        "unset": list(deed.unset),
        "group": deed.group,
        "text": deed.text,
        "paused": deed.paused,
    }
    # The audit log keeps what was done; a list of what was not would hide it.
    return {key: value for key, value in told.items() if value not in (None, {}, [])}


# Settings of many pages --------------------------------------------------------------------------------------------


async def edit_defaults(
    parts: Parts,
    act: Act,
    group: str | None,
    settings: JsonObject,
    unset: Sequence[str],
    *,
    if_revision: int | None = None,
) -> Job:
    """Change the settings of a group (None: of all pages, T52); a job updates the schedule of its pages.

    Raises Stale, and Problem for an unknown group.
    """
    async with act.jobs.editing:
        await revision_of(parts, group)
        held, written = await _set_for(parts, group), asyncio.Event()
        deed = read_deed("edit", settings=settings, unset=unset, held=held)
        _demand_route(parts, deed.settings)

        async def work(progress: Progress) -> JsonObject:
            def on_step(pages: int) -> None:
                progress.advance(pages)
                written.set()

            with _raising_stale():
                await parts.store.edit_group(
                    group,
                    parts.clock.now(),
                    settings=deed.settings,
                    unset=deed.unset,
                    if_revision=if_revision,
                    on_step=on_step,
                )
            return {"pages": progress.done}

        job = await act.jobs.start("settings.set", act.caller.who, work)
        # The next edit must see the setting, which is written before the first step of the job. A job that is
        # cancelled at once has no step, and must still release the lock.
        job.when_over(written.set)
        await written.wait()
    if job.row.state == "failed":
        # Raises its error: another edit may have been first.
        await job.wait()
    await audit(parts, act.caller, "settings.set", of=group if group is not None else "all pages", **_told(deed))
    return job


async def _set_for(parts: Parts, group: str | None) -> JsonObject:
    """Return the settings of a group, or of all pages."""
    for_all, groups = await parts.store.overrides()
    return for_all if group is None else next((own for name, own in groups.values() if name == group), {})


async def remove_group(parts: Parts, act: Act, name: str, *, if_revision: int | None = None) -> None:
    """Delete an empty group at this revision.

    Raises Stale, and Problem for a group that has pages, for `main`, and for an unknown one.
    """
    async with act.jobs.editing:
        await revision_of(parts, name)
        with _raising_stale():
            is_gone = await parts.store.remove_group(name, if_revision=if_revision)
        if not is_gone:
            raise Problem(
                409,
                "group-in-use",
                "The group is in use",
                f"group {name[:80]} has pages, or is the one that pages begin in",
                mend="move its pages to another group, or delete them; the group that pages begin in always stays",
            )
    await audit(parts, act.caller, "group.remove", group=name)


async def revision_of(parts: Parts, group: str | None) -> int:
    """Return the revision of the settings of a group, or of all pages. Raises Problem for an unknown group."""
    if group is None:
        return await parts.store.revision_for_all()
    for row in await parts.store.group_rows():
        if row.name == group:
            return row.revision
    raise Problem(
        404,
        "no-such-group",
        "There is no such group",
        f"no group is called {group[:80]!r}",
        mend="see GET /api/v1/groups; a group is made by the first page that is put into it",
    )
