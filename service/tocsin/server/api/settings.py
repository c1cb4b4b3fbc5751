"""Settings of groups and of all pages, and the settings in force."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Path, Response
from pydantic import ConfigDict, Field

from tocsin.configuration import mask
from tocsin.configuration.convert import dotted, to_json, walk
from tocsin.configuration.loading import mask_settings
from tocsin.model.records.fields import Part
from tocsin.model.records.service import PageGroup, Setting, SettingsForAll, group_of
from tocsin.server.actions import Act, edit_defaults, remove_group, revision_of
from tocsin.server.api.operations import COMPOSED, IfMatch, Input, make_router, problems, revision_wanted, tag
from tocsin.server.decisions import missing
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.settings import PageSettings

router = make_router("groups")
service_routes = make_router("service")

Name = Annotated[str, Path(min_length=1, max_length=63, description="of the group", examples=["main"]), COMPOSED]

# The key of a page setting. A key of another version that is set can be named, too; other unknown ones are refused.
SettingKey = Annotated[str, Field(max_length=64, json_schema_extra={"enum": list(PageSettings.__struct_fields__)})]

_Span = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,9}(ms|s|m|h|d)$", max_length=16, description="such as 10s, 5m, 24h, 80d", examples=["6h"]),
]
_Rule = Annotated[str, Field(max_length=200)]
_Step = Annotated[str, Field(max_length=500)]
_Value = Annotated[str, Field(max_length=4096)]


class PageSettingsInput(Input):
    """Settings of a page, a group, or all pages; the nearest level wins."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"every": "6h", "tell": "major"}]})

    mode: Literal["on", "auto", "off"] | None = None
    tell: Literal["any", "major"] | None = None
    every: _Span | None = None
    cron: Annotated[str | None, Field(max_length=200, examples=["0 6 * * *"])] = None
    at_launch: _Span | None = None
    min_gap: _Span | None = None
    refresh_cap: _Span | None = None
    durational_threshold: _Span | None = None
    minor_threshold: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    tries: Annotated[int | None, Field(ge=0, le=100)] = None
    retry_refused: bool | None = None
    report: Annotated[list[Literal["unchanged", "too-soon"]] | None, Field(max_length=2)] = None
    signals: Literal["auto", "all", "none"] | None = None
    signal_rules: Annotated[list[_Rule] | None, Field(max_length=50, examples=[["json-ld.version: major"]])] = None
    look_at: Annotated[str | None, Field(max_length=1000, examples=["main"])] = None
    ignore: Annotated[str | None, Field(max_length=1000, examples=[".ads"])] = None
    suspects: Literal["hold", "accept"] | None = None
    route: Annotated[str | None, Field(max_length=63, description="name of a route", examples=["press"])] = None
    fetch: Literal["http", "browser", "auto"] | None = None
    ready: Annotated[str | None, Field(max_length=500, examples=["css: main .price"])] = None
    steps: Annotated[list[_Step] | None, Field(max_length=20, examples=[["click .more"]])] = None
    consent: Literal["none", "reject"] | None = None
    adaptive: bool | None = None
    every_min: _Span | None = None
    every_max: _Span | None = None
    headers: Annotated[dict[str, _Value] | None, Field(max_length=50, examples=[{"Accept-Language": "de"}])] = None
    auth: Annotated[str | None, Field(max_length=1000, description="user:password")] = None
    cookies: Annotated[dict[str, _Value] | None, Field(max_length=50)] = None
    secrets: Annotated[
        dict[str, _Value] | None, Field(max_length=50, description="that steps type", examples=[{"USER": "ada"}])
    ] = None
    proxy: Annotated[str | None, Field(max_length=8192)] = None

    def given(self) -> dict[str, Any]:
        """Give the keys that were sent with a value other than null."""
        return {key: value for key, value in self.model_dump().items() if value is not None}


class SettingsEdit(Input):
    """Changes to what is set for a group or for all pages."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"settings": {"mode": "off"}, "unset": ["every"]}]})

    settings: Annotated[PageSettingsInput, Field(description="merged into what is set")] = PageSettingsInput()
    unset: Annotated[
        list[SettingKey], Field(max_length=30, description="these inherit again"), Field(default_factory=list)
    ]


@router.get("/groups", summary="List groups", operation_id="list_groups")
async def list_groups(_: Reading, parts: Given) -> Part[PageGroup]:
    """List all groups, by name, with what is set for them."""
    return Part(items=[group_of(row) for row in await parts.store.group_rows()], next=None)


@router.get("/groups/{name:path}", summary="Show a group", operation_id="show_group")
async def show_group(_: Reading, parts: Given, response: Response, name: Name) -> PageGroup:
    """Show a group, with the ETag that an edit needs."""
    return await _group(parts, name, response)


@router.patch(
    "/groups/{name:path}",
    summary="Edit the settings of a group",
    operation_id="edit_group",
    responses=problems(412, 428),
)
async def edit_group(
    caller: Writing,
    parts: Given,
    jobs: Work,
    response: Response,
    name: Name,
    wanted: SettingsEdit,
    if_match: IfMatch = None,
) -> PageGroup:
    """Edit the settings of a group; they hold for pages added later, too. A job adapts the schedule of its pages."""
    await _edit(parts, Act(jobs, caller), name, wanted, if_match)
    return await _group(parts, name, response)


@router.delete(
    "/groups/{name:path}",
    status_code=204,
    summary="Remove an empty group",
    operation_id="remove_group",
    responses=problems(412),
)
async def remove(caller: Writing, parts: Given, jobs: Work, name: Name, if_match: IfMatch = None) -> None:
    """Remove a group that has no pages, with its settings; the default group always stays."""
    revision = revision_wanted(if_match, current=await revision_of(parts, name), needed=False)
    await remove_group(parts, Act(jobs, caller), name, if_revision=revision)


@router.get("/settings/pages", summary="Show the settings for all pages", operation_id="show_defaults")
async def show_defaults(_: Reading, parts: Given, response: Response) -> SettingsForAll:
    """Show what was set for all pages at run time, with the ETag that an edit needs."""
    return await _for_all(parts, response)


@router.patch(
    "/settings/pages",
    summary="Edit the settings for all pages",
    operation_id="edit_defaults",
    responses=problems(412, 428),
)
async def set_defaults(
    caller: Writing, parts: Given, jobs: Work, response: Response, wanted: SettingsEdit, if_match: IfMatch = None
) -> SettingsForAll:
    """Edit the settings for all pages: {"settings": {"mode": "off"}} disables all pages, "on" enables them (T52)."""
    await _edit(parts, Act(jobs, caller), None, wanted, if_match)
    return await _for_all(parts, response)


@service_routes.get("/settings", summary="List the settings in force", operation_id="list_settings")
async def list_settings(_: Reading, parts: Given) -> Part[Setting]:
    """List every setting with its value and its origin; secrets are masked."""
    origins = parts.service.origins()
    for_all = (await parts.store.overrides())[0]
    items = []
    for path, configured in walk(parts.service.settings()):
        value, origin = to_json(path, configured), origins.get(dotted(path), "default")
        if path[0] == "pages" and path[1] in for_all:
            value, origin = for_all[path[1]], "all pages"
        items.append(Setting(key=dotted(path), value=mask(path, value), origin=origin))
    return Part(items=items, next=None)


async def _edit(parts: Parts, act: Act, group: str | None, wanted: SettingsEdit, if_match: str | None) -> None:
    revision = revision_wanted(if_match, current=await revision_of(parts, group))
    settings = wanted.settings.given()
    await edit_defaults(parts, act, group, settings, wanted.unset, if_revision=revision)


async def _group(parts: Parts, name: str, response: Response) -> PageGroup:
    for row in await parts.store.group_rows():
        if row.name == name:
            tag(response, row.revision)
            return group_of(row)
    raise missing("group", name, "GET /api/v1/groups")


async def _for_all(parts: Parts, response: Response) -> SettingsForAll:
    tag(response, await parts.store.revision_for_all())
    return SettingsForAll(settings=mask_settings((await parts.store.overrides())[0]))
