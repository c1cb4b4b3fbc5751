"""*Page*: the history, data and text of one page, and the actions on it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from tocsin.configuration import mask, parse_page_settings, resolve_page_origins, resolve_readable
from tocsin.configuration.pages import mend_of
from tocsin.errors import UsageError
from tocsin.events import CHANGED
from tocsin.lists.pages import check_group, check_words
from tocsin.model import DEMO_HOST, AlertRow, PageItems, PageRow, SnapshotRow, StateEntry, VerdictEntry, to_rfc3339
from tocsin.server import actions
from tocsin.server.decisions import demand_page
from tocsin.server.jobs import Work
from tocsin.server.kept_items import why_no_items
from tocsin.server.notifications import OtherVersion, differing
from tocsin.server.parts import Given, Parts, Reading, Writing, base_url
from tocsin.server.web.activity import draw_timeline
from tocsin.server.web.formatting import short, short_url, zone_named
from tocsin.server.web.listing import problem_of, to_line
from tocsin.server.web.page_views import Texts, choose, compare_kept, field_rows, show_held
from tocsin.server.web.rendering import Undo, go_on, page, typed_again
from tocsin.server.web.settings import FORM_KEYS, SECRET_KEYS, as_typed, fields, read_revision
from tocsin.server.web.telling import BASES, AlertInWords, tell
from tocsin.spec.microdata.changes.words import tell_changes
from tocsin.spec.signals.texts import unpack_text

router = APIRouter(include_in_schema=False)

# Of each kind the latest few; the API has all.
_STATES: Final = 20
# More marks would overlap on a telephone.
_DRAWN: Final = 40
_VERDICTS: Final = 10
_RENDERINGS: Final = 5
_COPIES: Final = 5
_CHANGES: Final = 4


async def frame_of(parts: Parts, row: PageRow) -> dict[str, Any]:
    """Read the values of the head that all parts of a page share."""
    mode, _ = (await parts.modes()).of(row)
    report = row.last.report or {}
    badges = [str(report.get("outcome") or "not checked yet")]
    badges += ["built by scripts"] * row.flags.is_shell + ["paused"] * row.paused + ["off"] * (mode == "off")
    line = to_line(row, mode, parts.clock.now())
    return {"row": row, "line": line, "badges": badges, "mode": mode, "is_demo": row.host == DEMO_HOST}


@router.get("/pages/{page_id:int}")
async def show(
    request: Request,
    _caller: Reading,
    parts: Given,
    page_id: int,
    older: Annotated[int | None, Query()] = None,
    newer: Annotated[int | None, Query()] = None,
) -> Response:
    """Show a page: its last check, a timeline of its versions, two of them compared, and its changes."""
    row = await demand_page(parts, page_id)
    # One read serves both: the timeline draws all of them, the list below it shows the first _STATES.
    states = (await parts.store.states_of(page_id, limit=_DRAWN)).rows
    verdicts = (await parts.store.verdicts_of(page_id, limit=_DRAWN)).rows
    pair = choose(states, older, newer) if states else None
    changed = await parts.store.item_changes(page_id, limit=_CHANGES)
    renderings = await parts.store.renderings_of(page_id, limit=_RENDERINGS)
    instance = parts.service.settings().instance
    zone = zone_named(instance.time_zone)
    kept = await parts.store.items_before(page_id)
    # There may be a thousand items: other requests have their turn meanwhile.
    held = await asyncio.to_thread(show_held, kept) if kept is not None else None
    return await page(
        request,
        "page.html",
        **await frame_of(parts, row),
        part="overview",
        report=row.last.report or {},
        problem=problem_of(row.last.report or {}),
        timeline=draw_timeline(states, verdicts, row.last.checked_at, now=parts.clock.now(), zone=zone),
        states=_shown(states, pair),
        # More are known only as far as they were read for the timeline; the page links to the API for the rest.
        more_states=len(states) > _STATES,
        pair=pair,
        fields=field_rows(pair[0].fields if pair[0] else None, pair[1].fields) if pair else [],
        verdicts=[(each, told(row, each, instance.language)) for each in verdicts[:_VERDICTS]],
        more_verdicts=len(verdicts) > _VERDICTS,
        renderings=renderings.rows,
        copies=(await parts.store.copies_of(row.url))[:_COPIES],
        held=held,
        not_held=None if held else _why_no_items(row, kept, keeps=parts.service.settings().items.keep),
        held_changes=[(each.at, tuple(tell_changes(each.changes))) for each in changed.rows],
        address=base_url(request, parts.service.settings().http),
        bases=BASES,
    )


def _why_no_items(row: PageRow, kept: PageItems | None, *, keeps: bool) -> str | None:
    """Say why no data of a page is kept; None where the page has none, or was not received yet."""
    is_plain = kept is not None and not (row.flags.noindex or row.flags.not_html)
    return (
        None if is_plain or row.last.received_at is None else why_no_items(row, is_read=kept is not None, keeps=keeps)
    )


def _shown(states: tuple[StateEntry, ...], pair: tuple[StateEntry | None, StateEntry] | None) -> list[StateEntry]:
    """Return the states to select from: the latest ones, and the selected ones."""
    chosen = {state.id for state in pair or () if state is not None}
    return [state for place, state in enumerate(states) if place < _STATES or state.id in chosen]


def told(row: PageRow, verdict: VerdictEntry, language: str) -> AlertInWords:
    """Describe a verdict as its alert does."""
    # A verdict keeps the data of its event, so that the page and the alert say the same sentence.
    event = {"time": to_rfc3339(verdict.at), "data": verdict.data}
    return tell(AlertRow(verdict.alert_id or "", 0, CHANGED, row.id, row.url, verdict.at, event), language)


@router.post("/pages/{page_id:int}/check")
async def check(request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int) -> Response:
    """Request a check."""
    await demand_page(parts, page_id)
    await actions.check_pages(parts, actions.Act(jobs, caller), [page_id])
    return go_on(request, f"/pages/{page_id}", "A check was requested; its result appears here.")


@router.post("/pages/{page_id:int}/pause")
async def pause(
    request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int, paused: Annotated[bool, Form()]
) -> Response:
    """Pause or resume a page; each is the undo of the other."""
    await demand_page(parts, page_id)
    deed = actions.read_deed("pause" if paused else "resume")
    await actions.edit_page(parts, actions.Act(jobs, caller), page_id, deed, if_revision=None)
    path = f"/pages/{page_id}"
    verb = "Undo: resume it" if paused else "Undo: pause it"
    # Sets a value and does not toggle: a second click on it changes nothing.
    undo = Undo(f"{path}/pause", verb, {"paused": "no" if paused else "yes"})
    return go_on(
        request,
        path,
        "Paused: the page is not checked." if paused else "Resumed: the page is checked again.",
        undo=undo,
    )


@router.post("/pages/{page_id:int}/remove")
async def remove(
    request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int, confirmed: Annotated[str, Form()] = ""
) -> Response:
    """Ask for confirmation, then delete the page."""
    row = await demand_page(parts, page_id)
    # Without a script there is no dialog: the same path asks first, and acts when its own question is answered.
    if confirmed != "yes":
        return await page(
            request,
            "confirm.html",
            title="Delete this page",
            question=f"Delete {short_url(row.url, 200)}, with its history and texts?",
            detail="Its history, changes, renderings and texts are deleted with it. This cannot be undone.",
            path=f"/pages/{page_id}/remove",
            values={},
            verb="Delete 1 page",
            back=f"/pages/{page_id}",
            danger=True,
        )
    # No revision is demanded: what was edited since the question does not matter to a user who deletes all of it.
    await actions.remove_page(parts, actions.Act(jobs, caller), page_id, if_revision=None)
    return go_on(request, "/", f"Deleted {short_url(row.url)}.")


# Of the kept texts, in the box to choose from.
_OFFERED: Final = 50


@router.get("/pages/{page_id:int}/text")
async def show_text(
    request: Request,
    _caller: Reading,
    parts: Given,
    page_id: int,
    older: Annotated[int | None, Query()] = None,
    newer: Annotated[int | None, Query()] = None,
) -> Response:
    """Show the difference between two texts, by default the last two."""
    row = await demand_page(parts, page_id)
    kept = await parts.store.snapshots(row.url, limit=_OFFERED)
    pair = _choose(kept, older, newer)
    return await page(
        request,
        "page_text.html",
        **await frame_of(parts, row),
        part="text",
        kept=kept,
        pair=pair,
        texts=await _compare(parts, pair) if pair is not None else None,
        why=await _why_none(parts, row, kept),
    )


def _choose(
    kept: Sequence[SnapshotRow], older: int | None, newer: int | None
) -> tuple[SnapshotRow, SnapshotRow] | None:
    """Select two texts by their ids, newest first; None with fewer than two."""
    places = {row.id: place for place, row in enumerate(kept)}
    new = places.get(newer, 0) if newer is not None else 0
    old = places.get(older, new + 1) if older is not None else new + 1
    new, old = min(new, old), max(new, old)
    # An address with an id that was pruned since, or with one id twice, is answered with the latest two.
    if old == new or old >= len(kept):
        return (kept[1], kept[0]) if len(kept) > 1 else None
    return kept[old], kept[new]


async def _compare(parts: Parts, pair: tuple[SnapshotRow, SnapshotRow]) -> Texts | None:
    """Compare two texts on a thread, since long ones take a while; None if one was deleted meanwhile."""
    packed = [await parts.store.snapshot_text(row.id) for row in pair]
    # Pruning runs beside us; the page then shows the texts to choose from again.
    if None in packed:
        return None
    older, newer = [unpack_text(text) for text in packed if text is not None]
    return await asyncio.to_thread(compare_kept, older, newer)


async def _why_none(parts: Parts, row: PageRow, kept: Sequence[SnapshotRow]) -> str:
    """Say why there are fewer than two texts of a page, and the mend."""
    per_page = parts.service.settings().snapshots.per_page
    if row.flags.noindex:
        return "None of its text is kept: the page asks not to be indexed (noindex)."
    # In the order of what a user can do about it: what the page forbids comes first, no setting changes that.
    if per_page < 2:  # noqa: PLR2004 - a difference has two sides
        return f"Too few texts are kept: snapshots.per_page is {per_page}; set it to 2 or more."
    if kept:
        return "Only one version of its text is kept: it has not changed since."
    if row.state.stored_at is None:
        return "Nothing is stored yet; request a check."
    if await parts.store.texts_are_short():
        return (
            "None of its text is kept yet: there is no room for the first one while the texts of all pages "
            "fill nine tenths of snapshots.total; set that to more."
        )
    return (
        "None of its text is kept yet: that begins when it is next read whole "
        "(never where it says noarchive, has mode auto or signals none, or is no HTML)."
    )


# The settings of one page: a form with the source of each value.


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
    status: int = 200,
) -> Response:
    """Show the stored settings, or the rejected input."""
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


@router.post("/pages/{page_id:int}/settings")
async def save(request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int) -> Response:
    """Change the settings of a page; errors are shown beside the input."""
    row = await demand_page(parts, page_id)
    typed = {name: value.strip() for name, value in (await request.form()).items() if isinstance(value, str)}
    errors = judge(typed)
    if await typed_again(request):
        return await _show_settings(request, parts, row, typed=typed, errors=errors)
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
            settings={key: value for key, value in given.items() if own.get(key) != value},
            unset=taken,
            group=typed.get("group") or None,
            text=typed.get("text"),
        )
        act, revision = actions.Act(jobs, caller), read_revision(typed.get("revision", ""))
        await actions.edit_page(parts, act, page_id, deed, if_revision=revision)
    except actions.Stale:
        # The new revision goes into the form, so that saving again is a decision to overwrite.
        now = {**typed, "revision": str(await parts.store.page_revision(page_id))}
        row = await demand_page(parts, page_id)
        saved = {"your notes": row.text, "group": row.group, **as_typed(row.settings)}
        here = {"your notes": typed.get("text"), "group": typed.get("group"), **given}
        other = OtherVersion(differing(saved, here))
        return await _show_settings(request, parts, row, typed=now, other=other, status=409)
    except UsageError as exc:
        return await _show_settings(request, parts, row, typed=typed, wrong=tuple(str(exc).splitlines()), status=422)
    return go_on(request, f"/pages/{page_id}/settings", "Saved. The settings apply from the next check on.")


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
    return wrong
