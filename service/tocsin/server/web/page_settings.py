"""The settings of one page: a form with the source of each value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.responses import Response

from tocsin.configuration import mask, parse_page_settings, resolve_page_origins, resolve_readable
from tocsin.configuration.pages import mend_of
from tocsin.errors import UsageError
from tocsin.lists.pages import check_group, check_words
from tocsin.model import PageRow
from tocsin.server import actions
from tocsin.server.access.rights import Reading, Writing
from tocsin.server.decisions import demand_page
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Parts
from tocsin.server.web.formatting import short
from tocsin.server.web.notices import go_on
from tocsin.server.web.page import frame_of
from tocsin.server.web.rendering import page
from tocsin.server.web.setting_forms import FORM_KEYS, SECRET_KEYS, as_typed, fields, read_revision

router = APIRouter(include_in_schema=False)


@router.get("/pages/{page_id:int}/settings")
async def show(request: Request, _caller: Reading, parts: Given, page_id: int) -> Response:
    """Show the settings of a page."""
    return await _show(request, parts, await demand_page(parts, page_id))


async def _show(
    request: Request,
    parts: Parts,
    row: PageRow,
    *,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    wrong: tuple[str, ...] = (),
    status: int = 200,
) -> Response:
    """Show the stored settings, or the rejected input."""
    for_all, groups = await parts.store.overrides()
    group: dict[str, Any] = next((settings for name, settings in groups.values() if name == row.group), {})
    settings, origins = parts.service.settings(), parts.service.origins()
    inherited = resolve_readable(settings.pages, for_all, group, {}).settings
    refused = resolve_readable(settings.pages, for_all, group, row.settings).refused
    typed = typed or {}
    own = {**as_typed(row.settings), **{key: value for key, value in typed.items() if key in FORM_KEYS}}
    return await page(
        request,
        "page_settings.html",
        status=status,
        **await frame_of(parts, row),
        part="settings",
        blocks=fields(
            own, msgspec.structs.asdict(inherited), resolve_page_origins(origins, for_all, group, None), errors
        ),
        secrets=[(key, str(mask(("pages", key), row.settings[key]))) for key in SECRET_KEYS if key in row.settings],
        revision=typed.get("revision") or str(await parts.store.page_revision(row.id)),
        text=typed.get("text", row.text or ""),
        group=typed.get("group", row.group),
        groups=[each.name for each in (await parts.store.group_rows())[:40]],
        wrong=wrong,
        held=[short(each.why, 400) for each in refused],
        mend=mend_of(refused, url=row.url, group=row.group) if refused else "",
    )


@router.post("/pages/{page_id:int}/settings")
async def save(request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int) -> Response:
    """Change the settings of a page; errors are shown beside the input."""
    row = await demand_page(parts, page_id)
    typed = {name: value.strip() for name, value in (await request.form()).items() if isinstance(value, str)}
    errors = judge(typed)
    if errors:
        return await _show(request, parts, row, typed=typed, errors=errors, wrong=tuple(errors.values()), status=422)
    given = {key: typed[key] for key in FORM_KEYS if typed.get(key)}
    taken = [key for key in FORM_KEYS if key in typed and not typed[key] and key in row.settings]
    taken += [key for key in SECRET_KEYS if typed.get(f"forget-{key}") and key in row.settings]
    own = as_typed(row.settings)
    try:
        deed = actions.read_deed(
            "edit",
            settings={key: value for key, value in given.items() if own.get(key) != value},
            unset=taken,
            group=typed.get("group") or None,
            text=typed.get("text"),
        )
        act, revision = actions.Act(jobs, caller), read_revision(typed.get("revision", ""))
        await actions.edit_page(parts, act, page_id, deed, if_revision=revision)
    except actions.Stale:
        now = {**typed, "revision": str(await parts.store.page_revision(page_id))}
        why = "this page was changed meanwhile; check your input, and save again to overwrite"
        return await _show(request, parts, row, typed=now, wrong=(why,), status=409)
    except UsageError as exc:
        return await _show(request, parts, row, typed=typed, wrong=tuple(str(exc).splitlines()), status=422)
    return go_on(request, f"/pages/{page_id}/settings", "Saved. The settings apply from the next check on.")


def judge(typed: Mapping[str, str]) -> dict[str, str]:
    """Return the errors of the input, by field."""
    wrong = {}
    for key in FORM_KEYS:
        if typed.get(key):
            try:
                parse_page_settings({key: typed[key]}, source="settings")
            except UsageError as exc:
                wrong[key] = str(exc).removeprefix("settings: ")
    for key, check in (("group", check_group), ("text", check_words)):
        try:
            if typed.get(key):
                check(typed[key])
        except UsageError as exc:
            wrong[key] = str(exc)
    return wrong
