"""*Settings of a page*: three steps, and what they would compare of the page; and of several pages at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from tocsin.configuration import mask, parse_page_settings, resolve_page_origins, resolve_readable
from tocsin.configuration.pages import mend_of
from tocsin.errors import UsageError
from tocsin.lists.pages import check_group, check_words
from tocsin.model import BoundedCount, JsonObject, PageRow
from tocsin.model.records.signals import TriedSettings
from tocsin.server import actions
from tocsin.server.decisions import demand_page
from tocsin.server.jobs import Work
from tocsin.server.notifications import OtherVersion, differing
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.server.trials import selectors_of, try_settings
from tocsin.server.web.formatting import short
from tocsin.server.web.jobs import await_job
from tocsin.server.web.listing import PageListFilter
from tocsin.server.web.page import frame_of
from tocsin.server.web.rendering import go_on, page, say, typed_again
from tocsin.server.web.settings import FORM_KEYS, LINE_KEYS, SECRET_KEYS, as_typed, fields, read_revision, steps_of
from tocsin.spec.signals.parts import split_selectors
from tocsin.spec.steps import check_secret_name

router = APIRouter(include_in_schema=False)


@router.get("/pages/{page_id:int}/settings")
async def show_settings(request: Request, _caller: Reading, parts: Given, page_id: int) -> Response:
    """Show the settings of a page."""
    return await _show_settings(request, parts, await demand_page(parts, page_id))


async def _show_settings(
    request: Request,
    parts: Parts,
    row: PageRow,
    *,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    wrong: tuple[str, ...] = (),
    other: OtherVersion | None = None,
    trial: TriedSettings | None = None,
    untried: str = "",
    status: int = 200,
) -> Response:
    """Show the stored settings, or the rejected input; with what these settings make of the page, if they were tried.

    untried  why they could not be
    """
    for_all, groups = await parts.store.overrides()
    group: dict[str, Any] = next((settings for name, settings in groups.values() if name == row.group), {})
    settings, origins = parts.service.settings(), parts.service.origins()
    # What each field falls back to, without the page's own values: the form shows it beside an empty field.
    inherited = resolve_readable(settings.pages, for_all, group, {}).settings
    # A setting may have become unreadable, by an update or by an edit of the file: the page says so where it is
    # mended.
    refused = resolve_readable(settings.pages, for_all, group, row.settings).refused
    typed = typed or {}
    own = {**as_typed(row.settings), **{key: value for key, value in typed.items() if key in FORM_KEYS}}
    by_key = fields(own, msgspec.structs.asdict(inherited), resolve_page_origins(origins, for_all, group, None), errors)
    return await page(
        request,
        "page_settings.html",
        status=status,
        **await frame_of(parts, row),
        part="settings",
        steps=steps_of(by_key),
        field_of=by_key,
        trial=trial,
        picture=parts.received.picture(row.id, parts.clock.now()) if trial is not None else None,
        untried=untried,
        may_try=not row.paused and not row.flags.noindex,
        secret_wrong=(errors or {}).get("secret-name", ""),
        login_at=login.kept_at if (login := await parts.store.login(row.id)) is not None else None,
        secrets=[(key, str(mask(("pages", key), row.settings[key]))) for key in SECRET_KEYS if key in row.settings],
        # Input that is shown again keeps the revision that it was typed against; else the check for a stale form is
        # void.
        revision=typed.get("revision") or str(await parts.store.page_revision(row.id)),
        text=typed.get("text", row.text or ""),
        group=typed.get("group", row.group),
        # Suggestions only, the field takes any name; forty keep the page small.
        groups=[each.name for each in (await parts.store.group_rows())[:40]],
        wrong=wrong,
        other=other,
        held=[short(each.why, 400) for each in refused],
        mend=mend_of(refused, url=row.url, group=row.group) if refused else "",
    )


@router.get("/pages/{page_id:int}/settings/picture")
async def show_tried(_caller: Writing, parts: Given, page_id: int) -> Response:
    """Give the picture that the latest trial in a browser took."""
    taken = parts.received.picture(page_id, parts.clock.now())
    if taken is None:
        raise Problem(404, "not-found", "There is no picture", "no trial of the last ten minutes took one")
    return Response(taken.png, media_type="image/png", headers={"Cache-Control": "no-store"})


@router.post("/pages/{page_id:int}/settings")
async def save(request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int) -> Response:
    """Change the settings of a page; errors are shown beside the input."""
    row = await demand_page(parts, page_id)
    typed = {name: value.strip() for name, value in (await request.form()).items() if isinstance(value, str)}
    # A browser sends other line ends than it was given.
    typed |= {key: typed[key].replace("\r\n", "\n") for key in LINE_KEYS if key in typed}
    errors = judge(typed)
    if await typed_again(request):
        return await _show_settings(request, parts, row, typed=typed, errors=errors)
    if typed.get("do") == "preview" or typed.get("drop"):
        return await _try_on(request, parts, row, typed, errors)
    if errors:
        return await _show_settings(
            request, parts, row, typed=typed, errors=errors, wrong=tuple(errors.values()), status=422
        )
    # An empty field means "inherit", and is no empty value: it becomes a key to unset, if the page has it.
    given = {key: typed[key] for key in FORM_KEYS if typed.get(key)}
    taken = [key for key in FORM_KEYS if key in typed and not typed[key] and key in row.settings]
    # Secrets are never sent to the browser, so an empty field cannot mean that they go: a box beside each says it.
    taken += [key for key in SECRET_KEYS if typed.get(f"forget-{key}") and key in row.settings]
    own = as_typed(row.settings)
    try:
        deed = actions.read_deed(
            "edit",
            # Only what differs: a value that was only shown must not be written, and audited, as if it were set anew.
            settings={key: value for key, value in given.items() if own.get(key) != value} | _secrets_of(row, typed),
            unset=taken,
            group=typed.get("group") or None,
            text=typed.get("text"),
        )
        act, revision = actions.Act(jobs, caller), read_revision(typed.get("revision", ""))
        await actions.edit_page(parts, act, page_id, deed, if_revision=revision)
        if typed.get("forget-login"):
            await actions.forget_login(parts, caller, page_id)
    except actions.Stale:
        # The new revision goes into the form, so that saving again is a decision to overwrite.
        now = {**typed, "revision": str(await parts.store.page_revision(page_id))}
        row = await demand_page(parts, page_id)
        saved = {"notes": row.text, "group": row.group, **as_typed(row.settings)}
        here = {"notes": typed.get("text"), "group": typed.get("group"), **given}
        other = OtherVersion(differing(saved, here))
        return await _show_settings(request, parts, row, typed=now, other=other, status=409)
    except UsageError as exc:
        return await _show_settings(request, parts, row, typed=typed, wrong=tuple(str(exc).splitlines()), status=422)
    return go_on(request, f"/pages/{page_id}/settings", "settings_saved")


async def show_many(
    request: Request,
    parts: Parts,
    asked: PageListFilter,
    ids: Sequence[int],
    *,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    wrong: Sequence[str] = (),
) -> Response:
    """Show the form for the settings of several pages: these, or without ids all of a list."""
    values, typed = parts.service.settings().pages, typed or {}
    by_key = fields({key: typed.get(key, "") for key in FORM_KEYS}, msgspec.structs.asdict(values), {}, errors)
    number = BoundedCount(len(ids)) if ids else await parts.store.tally_pages(asked.query)
    return await page(
        request,
        "many_settings.html",
        status=422 if wrong or errors else 200,
        steps=steps_of(by_key),
        unset=[key for key in FORM_KEYS if typed.get(f"unset-{key}")],
        values={**asked.values, "page": [str(each) for each in ids], "scope": "" if ids else "all"},
        number=number,
        back=asked.path(),
        wrong=wrong or tuple((errors or {}).values()),
    )


@router.post("/pages/settings")
async def save_many(
    request: Request, caller: Writing, parts: Given, jobs: Work, asked: Annotated[PageListFilter, Form()]
) -> Response:
    """Change the settings of several pages; empty fields stay as they are."""
    form = await request.form()
    typed = {name: value.strip() for name, value in form.items() if isinstance(value, str)}
    ids = tuple(int(each) for each in map(str, form.getlist("page")) if each.isascii() and each.isdecimal())
    if errors := judge({key: typed.get(key, "") for key in FORM_KEYS}):
        return await show_many(request, parts, asked, ids, typed=typed, errors=errors)
    try:
        deed = _deed_of_many(request, typed, ids)
        meant = actions.Meant(ids=ids) if ids else actions.Meant(query=asked.query)
        job = await actions.start_deed(parts, actions.Act(jobs, caller), meant, deed)
    except UsageError as exc:
        return await show_many(request, parts, asked, ids, typed=typed, wrong=str(exc).splitlines())
    return await await_job(request, job, asked.path())


def _deed_of_many(request: Request, typed: Mapping[str, str], ids: Sequence[int]) -> actions.Deed:
    if not ids and typed.get("scope") != "all":
        raise UsageError(say(request, "pages.none_chosen"))
    deed = actions.read_deed(
        "edit",
        settings={key: typed[key] for key in FORM_KEYS if typed.get(key)},
        unset=[key for key in FORM_KEYS if typed.get(f"unset-{key}")],
    )
    if not deed.settings and not deed.unset:
        raise UsageError(say(request, "page_settings.none_given"))
    return deed


async def _try_on(
    request: Request, parts: Parts, row: PageRow, typed: dict[str, str], errors: Mapping[str, str]
) -> Response:
    """Show what the input would compare of the page; nothing is saved."""
    trial, untried = None, ""
    try:
        typed = typed | {"ignore": await _chosen(parts, row, typed)}
        if not errors:
            own = {key: row.settings[key] for key in SECRET_KEYS if key in row.settings} | _secrets_of(row, typed)
            given = parse_page_settings({key: typed[key] for key in FORM_KEYS if typed.get(key)}, source="settings")
            trial = await try_settings(parts, row, own | given)
    except Problem as exc:
        untried = f"{exc.title}: {exc.detail}" if exc.detail else exc.title
    except UsageError as exc:
        untried = str(exc)
    return await _show_settings(request, parts, row, typed=typed, errors=errors, trial=trial, untried=untried)


async def _chosen(parts: Parts, row: PageRow, typed: Mapping[str, str]) -> str:
    """Give the selectors to leave out: those that were typed, but the dropped one, and those of parts that were chosen.

    The parts of the page have two radio buttons each, for browsers without scripts.
    """
    selectors = [each for each in split_selectors(typed.get("ignore", "")) if each != typed.get("drop")]
    numbers = [name.removeprefix("part-") for name in typed if name.startswith("part-")]
    texts = [typed.get(f"text-{number}", "") for number in numbers if typed[f"part-{number}"] == "out"]
    back = {typed.get(f"by-{number}", "") for number in numbers if typed[f"part-{number}"] == "in"}
    if texts := [text for text in texts if text]:
        selectors += (await selectors_of(parts, row, texts)).values()
    return ", ".join(dict.fromkeys(each for each in selectors if each not in back))


def _secrets_of(row: PageRow, typed: Mapping[str, str]) -> JsonObject:
    """Give the secrets of a page with the one that was typed; nothing if none was."""
    name = typed.get("secret-name", "")
    return {"secrets": {**row.settings.get("secrets", {}), name: typed.get("secret-value", "")}} if name else {}


def judge(typed: Mapping[str, str]) -> dict[str, str]:
    """Return the errors of the input, by field."""
    wrong = {}
    for key in FORM_KEYS:
        if typed.get(key):
            try:
                # Key by key, so that each error is shown at its field; what two of them forbid together is found when
                # it is saved.
                parse_page_settings({key: typed[key]}, source="settings")
            except UsageError as exc:
                wrong[key] = str(exc).removeprefix("settings: ")
    for key, check in (("group", check_group), ("text", check_words)):
        try:
            if typed.get(key):
                check(typed[key])
        except UsageError as exc:
            wrong[key] = str(exc)
    if typed.get("secret-name") and (allowed := check_secret_name(typed["secret-name"])):
        wrong["secret-name"] = allowed
    return wrong
