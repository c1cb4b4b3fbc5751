"""Settings of a page on trial, the copy of the page to pick from, and a look at a page before it is watched."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from tocsin.model.records.pages import PageLook
from tocsin.model.records.signals import PageCopy, TriedSettings
from tocsin.server.actions import read_deed
from tocsin.server.api.operations import Input, NumberInPath, Url, make_router, problems
from tocsin.server.api.settings import PageSettingsInput, SettingKey
from tocsin.server.decisions import demand_page
from tocsin.server.looks import look_at
from tocsin.server.parts import Given, Writing
from tocsin.server.trials import copy_page, try_settings

router = make_router("pages")
look_routes = make_router("bulk")


class PageToLookAt(Input):
    """A page that is looked at before it is watched."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"url": "https://example.org/news"}]})

    url: Url


class PageTrial(Input):
    """Settings to be tried on a page."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"settings": {"ignore": ".advert, #visitors"}}]})

    settings: Annotated[PageSettingsInput, Field(description="merged into what is set")] = PageSettingsInput()
    unset: Annotated[list[SettingKey], Field(max_length=30, description="these inherit"), Field(default_factory=list)]


@router.post(
    "/pages/{page_id}/try",
    summary="Try settings on a page",
    operation_id="try_settings",
    responses=problems(409, 502),
)
async def try_on(_: Writing, parts: Given, page_id: NumberInPath, wanted: PageTrial) -> TriedSettings:
    """Say which parts of a page settings would compare, and what they would report of its kept texts; nothing is saved.

    The page is received at its host's gate, and kept in memory for ten minutes, so that further trials make no
    request. A page that asks not to be indexed is kept back (409).
    """
    page = await demand_page(parts, int(page_id))
    deed = read_deed("edit", settings=wanted.settings.given(), unset=wanted.unset, held=page.settings)
    kept = {key: value for key, value in page.settings.items() if key not in deed.unset}
    return await try_settings(parts, page, kept | deed.settings)


@router.get(
    "/pages/{page_id}/copy",
    summary="Copy a page, to pick parts from it",
    operation_id="copy_page",
    responses=problems(409, 502),
)
async def copy(_: Writing, parts: Given, page_id: NumberInPath) -> PageCopy:
    """Give the page as HTML that only has names of elements, ids, classes and text.

    It is made by a white list and written anew: no script, style, link, picture, form or attribute of the page is in
    it. The page is received as for a trial. The copy belongs into a frame without scripts.
    """
    return await copy_page(parts, await demand_page(parts, int(page_id)))


@look_routes.post(
    "/pages/look",
    summary="Look at a page before it is watched",
    operation_id="look_at_page",
    responses=problems(409, 502),
)
async def look(_: Writing, parts: Given, wanted: PageToLookAt) -> PageLook:
    """Receive a page as a check would, and say what it declares and holds; nothing is stored.

    robots.txt, the address policy, the minimum delay of its host and all limits apply as for a check.
    """
    return await look_at(parts, wanted.url)
