"""*Page*: the history, data and text of one page, and the actions on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.configuration import resolve_readable
from tocsin.events import CHANGED
from tocsin.model import (
    DEMO_HOST,
    AlertQuery,
    AlertRow,
    JsonObject,
    PageItems,
    PageRow,
    SnapshotRow,
    StateEntry,
    VerdictEntry,
    to_rfc3339,
)
from tocsin.server import actions
from tocsin.server.decisions import demand_page
from tocsin.server.jobs import Work
from tocsin.server.kept_items import why_no_items
from tocsin.server.parts import Given, Parts, Reading, Writing, base_url
from tocsin.server.web.changes import shape_of
from tocsin.server.web.formatting import short_url, zone_named
from tocsin.server.web.listing import browser_mend, problem_key, problem_of, to_line
from tocsin.server.web.page_history import day_in, draw_year, find_habits
from tocsin.server.web.page_pictures import OFFERED, latest_pair, pair_of
from tocsin.server.web.page_views import Texts, choose, compare_kept, field_rows, show_held
from tocsin.server.web.rendering import Undo, ask, go_on, language_of, page, say
from tocsin.server.web.telling import AlertInWords, phrases_of, tell
from tocsin.spec.microdata.changes.words import tell_changes
from tocsin.spec.signals.texts import unpack_text
from tocsin.wording.words import Words, words_of

router = APIRouter(include_in_schema=False)

# Of each kind the latest few; the API has all.
_STATES: Final = 16
_VERDICTS: Final = 10
_RENDERINGS: Final = 5
_COPIES: Final = 5
_CHANGES: Final = 4
# Of the changes of a year; what they hold is not read.
_MARKS: Final = 1000
_YEAR_US: Final = 365 * 86_400 * 1_000_000
_ALERTS: Final = 6
# Channels that are named.
_NAMED: Final = 4


async def frame_of(parts: Parts, row: PageRow) -> dict[str, Any]:
    """Read the values of the head that all parts of a page share."""
    mode, _ = (await parts.modes()).of(row)
    report = row.last.report or {}
    badges = [str(report.get("outcome") or "unchecked")]
    badges += ["shell"] * row.flags.is_shell + ["paused"] * row.paused + ["off"] * (mode == "off")
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
    """Show a page: its last change, its history, and all that is known of it."""
    row = await demand_page(parts, page_id)
    # One more than is shown tells whether there are more.
    states = (await parts.store.states_of(page_id, limit=_STATES + 1)).rows
    verdicts = (await parts.store.verdicts_of(page_id, limit=_VERDICTS + 1)).rows
    pair = choose(states, older, newer) if states else None
    settings, now = parts.service.settings(), parts.clock.now()
    zone = zone_named(settings.instance.time_zone)
    kept = await parts.store.items_before(page_id)
    # There may be a thousand items: other requests have their turn meanwhile.
    held = await asyncio.to_thread(show_held, kept) if kept is not None else None
    marks = await parts.store.change_marks(page_id, now - _YEAR_US, limit=_MARKS)
    language, shape = language_of(request), shape_of(request)
    # Sentences were made in the language of the instance.
    telling = partial(tell, language=language, is_told_anew=language != settings.instance.language)
    told = [(each, telling(to_alert(row, each))) for each in verdicts[:_VERDICTS]]
    alerts = (await parts.store.browse_alerts(AlertQuery(page_id=page_id), limit=_ALERTS)).rows
    fetch = await _fetch_of(parts, row) if row.flags.is_shell or problem_key(row.last.report or {}) else ""
    last = await _last_change(parts, row, told, alerts, telling)
    answer = await page(
        request,
        "page.html",
        **await frame_of(parts, row),
        part="overview",
        **_told_problem(row.last.report or {}, words_of(language), fetch),
        channels=", ".join(list(settings.channels)[:_NAMED]),
        last=last,
        latest=[(each, telling(each)) for each in alerts],
        has_sides=shape.has_sides,
        fetch=fetch,
        year=draw_year(row.days, day_in(now)),
        habits=find_habits(marks, zone, is_cut=len(marks) == _MARKS),
        comparing=older is not None or newer is not None,
        states=_shown(states, pair),
        # The page links to the API for the rest.
        more_states=len(states) > _STATES,
        pair=pair,
        fields=field_rows(pair[0].fields if pair[0] else None, pair[1].fields) if pair else [],
        verdicts=told,
        more_verdicts=len(verdicts) > _VERDICTS,
        pictures=await latest_pair(parts, page_id),
        renderings=(await parts.store.renderings_of(page_id, limit=_RENDERINGS)).rows,
        copies=(await parts.store.copies_of(row.url))[:_COPIES],
        held=held,
        not_held=None if held else _why_no_items(row, kept, keeps=settings.items.keep),
        held_changes=[
            (each.at, tuple(tell_changes(each.changes, phrases_of(words_of(language)))))
            for each in (await parts.store.item_changes(page_id, limit=_CHANGES)).rows
        ],
        address=base_url(request, settings.http),
    )
    return shape.keep(answer)


def _told_problem(report: JsonObject, words: Words, fetch: str) -> dict[str, Any]:
    """Say what keeps the page from being read, and what one can do about it in a browser."""
    mend = browser_mend(report, words) if fetch == "browser" else ""
    return {"report": report, "problem": problem_of(report, words), "mend": mend}


class ShownChange(Struct, frozen=True):
    """A change as the page shows it.

    alert  None of a change that has none yet, or that one alert told for several pages
    """

    outcome: str
    told: AlertInWords
    alert: AlertRow | None
    is_storm: bool


async def _last_change(
    parts: Parts,
    row: PageRow,
    told: Sequence[tuple[VerdictEntry, AlertInWords]],
    alerts: Sequence[AlertRow],
    telling: Callable[[AlertRow], AlertInWords],
) -> ShownChange | None:
    """Find the last change, with its alert, which says more than the verdict."""
    found = next((each for each in told if each[0].outcome in ("major", "minor")), None)
    if found is None:
        return None
    verdict, words = found
    alert = next((each for each in alerts if each.id == verdict.alert_id), None)
    if alert is None and verdict.alert_id is not None:
        alert = await parts.store.alert(verdict.alert_id)
    # An alert about several pages has another page's text.
    if alert is not None and alert.page_id == row.id:
        words = telling(alert)
    return ShownChange(verdict.outcome, words, alert, verdict.storm_id is not None)


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


def to_alert(row: PageRow, verdict: VerdictEntry) -> AlertRow:
    """Make an alert of a verdict, which keeps the data of its event: so the page and the alert say the same."""
    # A sentence in another language is made of the event with its type.
    event = {"type": CHANGED, "time": to_rfc3339(verdict.at), "data": verdict.data}
    return AlertRow(verdict.alert_id or "", 0, CHANGED, row.id, row.url, verdict.at, event)


async def _fetch_of(parts: Parts, row: PageRow) -> str:
    """Return how the checks of a page read it."""
    for_all, groups = await parts.store.overrides()
    group: JsonObject = next((settings for name, settings in groups.values() if name == row.group), {})
    return resolve_readable(parts.service.settings().pages, for_all, group, row.settings).settings.fetch


@router.post("/pages/{page_id:int}/check")
async def check(request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int) -> Response:
    """Request a check."""
    await demand_page(parts, page_id)
    await actions.check_pages(parts, actions.Act(jobs, caller), [page_id])
    return go_on(request, f"/pages/{page_id}", "check_requested")


@router.post("/pages/{page_id:int}/pause")
async def pause(
    request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int, paused: Annotated[bool, Form()]
) -> Response:
    """Pause or resume a page; each is the undo of the other."""
    await demand_page(parts, page_id)
    deed = actions.read_deed("pause" if paused else "resume")
    await actions.edit_page(parts, actions.Act(jobs, caller), page_id, deed, if_revision=None)
    path = f"/pages/{page_id}"
    verb = say(request, "notice.undo_pause" if paused else "notice.undo_resume")
    # Sets a value and does not toggle: a second click on it changes nothing.
    undo = Undo(f"{path}/pause", verb, {"paused": "no" if paused else "yes"})
    return go_on(request, path, "paused" if paused else "resumed", undo=undo)


@router.post("/pages/{page_id:int}/fetch")
async def read_with(
    request: Request,
    caller: Writing,
    parts: Given,
    jobs: Work,
    page_id: int,
    fetch: Annotated[Literal["http", "browser"], Form()],
) -> Response:
    """Read a page in a browser from now on, or by HTTP again; each is the undo of the other."""
    await demand_page(parts, page_id)
    deed = actions.read_deed("edit", settings={"fetch": fetch})
    await actions.edit_page(parts, actions.Act(jobs, caller), page_id, deed, if_revision=None)
    path, is_browser = f"/pages/{page_id}", fetch == "browser"
    verb = say(request, "notice.undo_browser" if is_browser else "notice.undo_http")
    undo = Undo(f"{path}/fetch", verb, {"fetch": "http" if is_browser else "browser"})
    return go_on(request, path, "read_in_browser" if is_browser else "read_by_http", undo=undo)


@router.post("/pages/{page_id:int}/remove")
async def remove(
    request: Request, caller: Writing, parts: Given, jobs: Work, page_id: int, confirmed: Annotated[str, Form()] = ""
) -> Response:
    """Ask for confirmation, then delete the page."""
    row = await demand_page(parts, page_id)
    # Without a script there is no dialog: the same path asks first, and acts when its own question is answered.
    if confirmed != "yes":
        back, shown = f"/pages/{page_id}", short_url(row.url, 200)
        return await ask(request, "page", f"{back}/remove", back=back, section="pages", danger=True, url=shown)
    # No revision is demanded: what was edited since the question does not matter to a user who deletes all of it.
    await actions.remove_page(parts, actions.Act(jobs, caller), page_id, if_revision=None)
    return go_on(request, "/pages", "page_deleted", url=short_url(row.url))


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
        why=say(request, f"page.{await _why_none(parts, row, kept)}", n=parts.service.settings().snapshots.per_page),
    )


@router.get("/pages/{page_id:int}/pictures")
async def show_pictures(
    request: Request,
    _caller: Reading,
    parts: Given,
    page_id: int,
    at: Annotated[int | None, Query(ge=0, le=2**63 - 1)] = None,
) -> Response:
    """Show a picture of a rendering beside the one before, by default the latest two."""
    row = await demand_page(parts, page_id)
    kept = await parts.store.pictures_of(page_id, limit=OFFERED)
    # An address with a picture that was deleted since shows the latest.
    pair = pair_of(kept, at, whole=True) or pair_of(kept, None, whole=True)
    frame = await frame_of(parts, row)
    return await page(request, "page_pictures.html", **frame, part="pictures", kept=kept, pair=pair)


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
    """Return the key of the text that says why there are fewer than two texts of a page, and the mend."""
    if row.flags.noindex:
        return "texts_noindex"
    # In the order of what a user can do about it: what the page forbids comes first, no setting changes that.
    if parts.service.settings().snapshots.per_page < 2:  # noqa: PLR2004 - a difference has two sides
        return "texts_too_few"
    if kept:
        return "texts_one"
    if row.state.stored_at is None:
        return "texts_unstored"
    return "texts_no_room" if await parts.store.texts_are_short() else "texts_not_yet"
