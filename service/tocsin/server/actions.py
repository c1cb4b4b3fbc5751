"""What people have done to pages, however they ask for it: each is audited, and what is long is a job."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct

from tocsin.configuration import all_unset, check_page_keys, mask, parse_page_settings
from tocsin.errors import UsageError
from tocsin.lists.pages import check_group, check_words
from tocsin.model import PageQuery
from tocsin.server.access.auditing import audit
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Container, Mapping, Sequence

    from tocsin.model import JsonObject, NewPage
    from tocsin.server.access.rights import Caller
    from tocsin.server.jobs import Job, Jobs, Progress
    from tocsin.server.parts import Parts

STEP: Final = 1000
"""Ids that are read at once."""

DeedKind: TypeAlias = Literal["pause", "resume", "remove", "check", "edit"]


class Act(Struct, frozen=True):
    """Somebody who does something."""

    jobs: Jobs
    caller: Caller


class Meant(Struct, frozen=True):
    """Which pages are meant: these, or all of a list that were on it when somebody asked. Exactly one is given."""

    ids: tuple[int, ...] | None = None
    query: PageQuery | None = None


class Deed(Struct, frozen=True):
    """What is done to pages.

    settings, unset  for "edit": what is set from now on, and which keys inherit again
    group            moves them there
    text             the user's own words; `clear_text` takes them away
    """

    kind: DeedKind
    settings: JsonObject = {}
    unset: tuple[str, ...] = ()
    group: str | None = None
    text: str | None = None
    clear_text: bool = False
    paused: bool | None = None


class Stale(Problem):
    """Somebody else edited it meanwhile."""

    def __init__(self, what: str) -> None:
        super().__init__(
            412,
            "stale",
            "It was edited meanwhile",
            f"{what} is no longer the one that If-Match names",
            mend="get it again, look at what changed, and send the edit with its new ETag",
        )


def read_settings(given: Mapping[str, object]) -> JsonObject:
    """Judge settings of pages as JSON has them, ready to be stored. Raises SettingsError."""
    return parse_page_settings({key: as_text(value) for key, value in given.items()}, source="settings")


def as_text(value: object) -> str:
    """Write a value as a command line would."""
    match value:
        case bool():
            return str(value).lower()
        case list() | tuple():
            return ",".join(map(str, value))
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
    """Judge what is to be done to pages; an empty text takes the words away. Raises UsageError.

    held  keys that are set there now: one of another version, which is not known here, can be let go
    """
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


def shown(settings: Mapping[str, Any]) -> JsonObject:
    """Give settings of pages as they may be shown: secrets masked."""
    return {key: mask(("pages", key), value) for key, value in settings.items()}


# One page, or some ------------------------------------------------------------------------------------------------


async def add_pages(parts: Parts, act: Act, pages: Sequence[NewPage], *, check: bool = False) -> list[int | None]:
    """Add pages; returns ids, None where the URL is watched already.

    check  ask for them to be checked at once
    """
    now = parts.clock.now()
    request = await parts.store.open_request(now) if check else None
    ids = await parts.store.add_pages(pages, now, request=request)
    added = [page_id for page_id in ids if page_id is not None]
    if added:
        await audit(parts, act.caller, "pages.add", pages=len(added), first=str(added[0]))
    return ids


async def edit_page(parts: Parts, act: Act, page_id: int, deed: Deed, *, if_revision: int | None) -> None:
    """Edit a page, unless somebody else did since this revision. Raises Stale."""
    async with act.jobs.editing:
        await _demand(parts, page_id, if_revision)
        await _edit(parts, [page_id], deed, of=1)
    await audit(parts, act.caller, f"page.{deed.kind}", page=str(page_id), **_told(deed))


async def remove_page(parts: Parts, act: Act, page_id: int, *, if_revision: int | None) -> None:
    """Take a page off the list, unless somebody edited it since this revision. Raises Stale."""
    async with act.jobs.editing:
        await _demand(parts, page_id, if_revision)
        page = await parts.store.page_by_id(page_id)
        await parts.store.remove_pages([page_id])
    await audit(parts, act.caller, "page.remove", page=str(page_id), url=page.url if page is not None else None)


async def check_pages(parts: Parts, act: Act, ids: Sequence[int] | None) -> int:
    """Ask for these pages (None: all) to be checked now; returns the request's id."""
    request_id = await parts.store.request_check(ids, parts.clock.now())
    await audit(parts, act.caller, "pages.check", pages="all" if ids is None else len(ids), request=str(request_id))
    return request_id


async def _demand(parts: Parts, page_id: int, if_revision: int | None) -> None:
    if if_revision is not None and await parts.store.page_revision(page_id) != if_revision:
        raise Stale(f"page {page_id}")


# Many pages -------------------------------------------------------------------------------------------------------


async def start_deed(parts: Parts, act: Act, meant: Meant, deed: Deed) -> Job:
    """Begin to do something to many pages; pages that are added from now on are not meant."""
    last_id = await parts.store.last_page_id()
    total: int | None = None
    if meant.ids is not None:
        total = len(meant.ids)
    elif meant.query is not None:
        tally = await parts.store.tally_pages(meant.query)
        total = tally.number if tally.is_exact else None

    async def work(progress: Progress) -> JsonObject:
        if deed.kind == "check":
            return await _ask(parts, act, meant, last_id, progress)
        changed = 0
        async for some in _batches(parts, meant, last_id):
            if deed.kind == "remove":
                changed += await parts.store.remove_pages(some, on_step=progress.advance)
            else:
                changed += await _edit(parts, some, deed, of=total or len(some), progress=progress)
        progress.total = progress.done
        told = _told(deed)
        await audit(parts, act.caller, f"pages.{deed.kind}", pages=changed, **told)
        return {"pages": changed, **told}

    return await act.jobs.start(f"pages.{deed.kind}", act.caller.who, work, total=total)


async def _ask(parts: Parts, act: Act, meant: Meant, last_id: int, progress: Progress) -> JsonObject:
    # Of all pages those are left alone that are paused: only one that is named is checked all the same.
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
        if found.rows:
            yield found.rows
        if found.next is None:
            return
        cursor = found.next


async def _edit(parts: Parts, ids: Sequence[int], deed: Deed, *, of: int, progress: Progress | None = None) -> int:
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
        on_step=progress.advance if progress is not None else lambda _: None,
    )


def _told(deed: Deed) -> JsonObject:
    """Tell a deed to the audit log: what was set, never a secret."""
    told = {
        "set": shown(deed.settings),
        "unset": list(deed.unset),
        "group": deed.group,
        "text": deed.text,
        "paused": deed.paused,
    }
    return {key: value for key, value in told.items() if value not in (None, {}, [])}


# What holds for many ----------------------------------------------------------------------------------------------


async def edit_defaults(
    parts: Parts,
    act: Act,
    group: str | None,
    settings: JsonObject,
    unset: Sequence[str],
    *,
    if_revision: int | None = None,
) -> Job:
    """Change what is set for a group (None: for all pages, T52); the schedule of its pages follows in a job.

    Raises Stale, and Problem for a group that there is not.
    """
    async with act.jobs.editing:
        revision = await revision_of(parts, group)
        if if_revision is not None and revision != if_revision:
            raise Stale("what is set for all pages" if group is None else f"group {group}")
        held, written = await _set_for(parts, group), asyncio.Event()
        deed = read_deed("edit", settings=settings, unset=unset, held=held)

        async def work(progress: Progress) -> JsonObject:
            def on_step(pages: int) -> None:
                progress.advance(pages)
                written.set()

            await parts.store.edit_group(
                group, parts.clock.now(), settings=deed.settings, unset=deed.unset, on_step=on_step
            )
            return {"pages": progress.done}

        job = await act.jobs.start("settings.set", act.caller.who, work)
        # The setting is written before the first step; the next edit must not stand on what was before it. There may
        # be no step, nor a beginning: one that is cancelled at once never runs, and must not keep others from editing.
        job.when_over(written.set)
        await written.wait()
    await audit(parts, act.caller, "settings.set", of=group if group is not None else "all pages", **_told(deed))
    return job


async def _set_for(parts: Parts, group: str | None) -> JsonObject:
    """Give what is set for a group, or for all pages."""
    for_all, groups = await parts.store.overrides()
    return for_all if group is None else next((own for name, own in groups.values() if name == group), {})


async def remove_group(parts: Parts, act: Act, name: str, *, if_revision: int | None = None) -> None:
    """Take a group without pages off the list, unless somebody edited it since this revision.

    Raises Stale, and Problem for a group that has pages, is the first, or is not there.
    """
    async with act.jobs.editing:
        revision = await revision_of(parts, name)
        if if_revision is not None and revision != if_revision:
            raise Stale(f"group {name}")
        if not await parts.store.remove_group(name):
            raise Problem(
                409,
                "group-in-use",
                "The group is in use",
                f"group {name[:80]} has pages, or is the one that pages begin in",
                mend="move its pages to another group, or delete them; the group that pages begin in always stays",
            )
    await audit(parts, act.caller, "group.remove", group=name)


async def revision_of(parts: Parts, group: str | None) -> int:
    """The revision of what is set for a group, or for all pages. Raises Problem where there is no such group."""
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
