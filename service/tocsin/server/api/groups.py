"""What holds for groups of pages, and for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Path, Response

from tocsin.configuration import mask
from tocsin.configuration.convert import to_json
from tocsin.configuration.tree import dotted, walk
from tocsin.server.access import Reading, Writing
from tocsin.server.actions import Act, edit_defaults, remove_group, revision_of, shown
from tocsin.server.api.given import IfMatch, Once, make_router, problems, revision_wanted, tag
from tocsin.server.api.schemas.settings import (
    Group,
    Groups,
    SetForAll,
    Setting,
    SettingsEdit,
    SettingsInForce,
)
from tocsin.server.decisions import missing
from tocsin.server.jobs import Work
from tocsin.server.parts import Given

if TYPE_CHECKING:
    from tocsin.server.parts import Parts

router = make_router("groups")
service_routes = make_router("service")

Name = Annotated[str, Path(min_length=1, max_length=63, description="of the group, as it is", examples=["main"])]


@router.get("/groups", summary="List groups", operation_id="list_groups")
async def list_groups(_: Reading, parts: Given) -> Groups:
    """List all groups, by name, with what is set for them."""
    rows = await parts.store.group_rows()
    return Groups(items=[Group(name=row.name, pages=row.pages, settings=shown(row.settings)) for row in rows])


@router.get("/groups/{name:path}", summary="Show a group", operation_id="show_group", responses=problems(404))
async def show_group(_: Reading, parts: Given, response: Response, name: Name) -> Group:
    """Show a group, with the ETag that an edit of it needs."""
    return await _group(parts, name, response)


@router.patch(
    "/groups/{name:path}",
    summary="Set what holds for a group",
    operation_id="edit_group",
    responses=problems(404, 412, 428),
    dependencies=Once,
)
async def edit_group(
    caller: Writing,
    parts: Given,
    jobs: Work,
    response: Response,
    name: Name,
    wanted: SettingsEdit,
    if_match: IfMatch = None,
) -> Group:
    """Set what holds for a group, for pages that are added later, too. The schedule of its pages follows in a job."""
    await _edit(parts, Act(jobs, caller), name, wanted, if_match)
    return await _group(parts, name, response)


@router.delete(
    "/groups/{name:path}",
    status_code=204,
    summary="Remove a group without pages",
    operation_id="remove_group",
    responses=problems(404, 409, 412),
    dependencies=Once,
)
async def remove(caller: Writing, parts: Given, jobs: Work, name: Name, if_match: IfMatch = None) -> None:
    """Remove a group that has no pages, with what is set for it; the group that pages begin in always stays."""
    revision = revision_wanted(if_match, current=await revision_of(parts, name), needed=False)
    await remove_group(parts, Act(jobs, caller), name, if_revision=revision)


@router.get("/settings/pages", summary="Show what is set for all pages", operation_id="show_defaults")
async def show_defaults(_: Reading, parts: Given, response: Response) -> SetForAll:
    """Show what was set at run time for all pages, with the ETag that an edit of it needs."""
    return await _for_all(parts, response)


@router.patch(
    "/settings/pages",
    summary="Set what holds for all pages",
    operation_id="edit_defaults",
    responses=problems(412, 428),
    dependencies=Once,
)
async def set_defaults(
    caller: Writing,
    parts: Given,
    jobs: Work,
    response: Response,
    wanted: SettingsEdit,
    if_match: IfMatch = None,
) -> SetForAll:
    """Set what holds for all pages: {"settings": {"mode": "off"}} disables all, {"mode": "on"} enables them (T52)."""
    await _edit(parts, Act(jobs, caller), None, wanted, if_match)
    return await _for_all(parts, response)


@service_routes.get("/settings", summary="List the settings in force", operation_id="list_settings")
async def list_settings(_: Reading, parts: Given) -> SettingsInForce:
    """List every setting with its value and where that comes from; secrets are masked."""
    origins = parts.service.origins()
    for_all = (await parts.store.overrides())[0]
    items = []
    for path, configured in walk(parts.service.settings()):
        value, origin = to_json(path, configured), origins.get(dotted(path), "default")
        if path[0] == "pages" and path[1] in for_all:
            value, origin = for_all[path[1]], "all pages"
        items.append(Setting(key=dotted(path), value=mask(path, value), origin=origin))
    return SettingsInForce(items=items)


async def _edit(parts: Parts, act: Act, group: str | None, wanted: SettingsEdit, if_match: str | None) -> None:
    revision = revision_wanted(if_match, current=await revision_of(parts, group))
    settings = wanted.settings.given()
    await edit_defaults(parts, act, group, settings, wanted.unset, if_revision=revision)


async def _group(parts: Parts, name: str, response: Response) -> Group:
    for row in await parts.store.group_rows():
        if row.name == name:
            tag(response, row.revision)
            return Group(name=row.name, pages=row.pages, settings=shown(row.settings))
    raise missing("group", name, "GET /api/v1/groups")


async def _for_all(parts: Parts, response: Response) -> SetForAll:
    tag(response, await parts.store.revision_for_all())
    return SetForAll(settings=shown((await parts.store.overrides())[0]))
