"""*Notifications*: who hears what. Routes, channels and silences are made, edited, tested, muted and removed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from tocsin.engine.alerting.routing import explain, router_of
from tocsin.errors import DeliveryError, FieldErrors, UsageError
from tocsin.model import AlertDraft, AlertRow
from tocsin.server import notifications as deeds
from tocsin.server.decisions import read_moment, try_channel
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.server.web.formatting import zone_named
from tocsin.server.web.rendering import ask, go_on, language_of, page, typed_again
from tocsin.server.web.route_forms import MATCH_TEXTS, listed
from tocsin.server.web.route_words import tell_match, tell_route
from tocsin.wording.words import words_of

router = APIRouter(include_in_schema=False)

_HOME: Final = "/notifications"
_PART: Final = 50
_LAST: Final = 50


@router.get(_HOME)
async def home(
    request: Request, _: Reading, parts: Given, begin: Annotated[int, Query(alias="from", ge=0, le=10**6)] = 0
) -> Response:
    """Show routes, channels and silences."""
    return await _home(request, parts, begin=begin)


async def _home(
    request: Request,
    parts: Parts,
    *,
    begin: int = 0,
    silence: Mapping[str, str] | None = None,
    wrong: Mapping[str, str] | None = None,
) -> Response:
    routes, settings = deeds.show_routes(parts), parts.service.settings()
    shown, end = routes[begin : begin + _PART], begin + _PART
    names = sorted(settings.channels)
    channels = [await deeds.show_channel(parts, name, settings.channels[name]) for name in names[: 4 * _PART]]
    alerts = await deeds.latest_alerts(parts, _LAST)
    counts, taken_by = await asyncio.to_thread(_counts, parts, alerts) if len(routes) <= _PART else ({}, {})
    now = parts.clock.now()
    refused = {row.channel: row for row in await parts.store.bundles(limit=_PART, state="sealed") if row.error}
    silences = [each for each in await parts.store.silences(limit=100) if each.is_in_force(now)]
    words = words_of(language_of(request))
    return await page(
        request,
        "notifications.html",
        status=422 if wrong else 200,
        routes=[(place, route, tell_route(route, words)) for place, route in enumerate(shown, begin + 1)],
        counts=counts,
        taken_by=taken_by,
        of=len(alerts),
        unrouted=counts.get("", 0),
        following=f"{_HOME}?from={end}" if end < len(routes) else None,
        first=_HOME if begin else None,
        file=deeds.place_of(parts, "route", ""),
        sources={each.name: deeds.place_of(parts, "channel", each.name) for each in channels},
        channels=channels,
        refused=refused,
        failing=[each for each in channels if each.state in {"failing", "disabled", "unreadable"}],
        silences=[(each, tell_match(each.match, words)) for each in silences],
        silence=silence or {},
        wrong=wrong or {},
        texts=MATCH_TEXTS,
    )


def _counts(parts: Parts, alerts: Sequence[AlertRow]) -> tuple[dict[str, int], dict[str, Counter[str]]]:
    """Count which route takes how many of these alerts ("": none does), and how many others take that match it, too."""
    settings = parts.service.settings()
    if not settings.routes:
        return {}, {}
    taken_by = {route.name: Counter[str]() for route in settings.routes}
    routes, found = router_of(settings), dict.fromkeys((route.name for route in settings.routes), 0)
    found[""] = 0
    for alert in alerts:
        draft = AlertDraft(alert.id, alert.type, alert.page_id, alert.created_at, alert.event)
        answers = explain(routes, draft, alert.created_at)
        for name in [answer.route for answer in answers if answer.takes] or [""]:
            found[name] += 1
        for answer in answers:
            if answer.taken_by:
                taken_by[answer.route][answer.taken_by] += 1
    return found, taken_by


# Routes -----------------------------------------------------------------------------------------------------------


@router.post(f"{_HOME}/route/move")
async def move_route(
    request: Request,
    caller: Writing,
    parts: Given,
    name: Annotated[str, Form(max_length=63)],
    by: Annotated[int, Form(ge=-1, le=1)],
) -> Response:
    """Move a route up or down."""
    await deeds.move_route(parts, caller, name, by)
    return go_on(request, _HOME, "moved_up" if by < 0 else "moved_down", name=name)


@router.post(f"{_HOME}/remove")
async def remove(
    request: Request,
    caller: Writing,
    parts: Given,
    kind: Annotated[str, Form(pattern="^(channel|route)$")],
    name: Annotated[str, Form(max_length=63)],
    confirmed: Annotated[str, Form()] = "",
) -> Response:
    """Remove a channel or a route, after a question."""
    what = "channel" if kind == "channel" else "route"
    deeds.demand_saved(parts, "channel" if kind == "channel" else "route", name)
    if not confirmed:
        return await ask(
            request,
            what,
            f"{_HOME}/remove",
            back=_HOME,
            section="notifications",
            values={"kind": what, "name": name},
            danger=True,
            name=name,
        )
    removing = deeds.remove_entry(parts, caller, "channel" if kind == "channel" else "route", name, if_revision=None)
    return await _carried_out(request, removing, name, f"{what}_removed", "not_removed")


async def _carried_out(request: Request, work: Awaitable[None], name: str, done: str, failed: str) -> Response:
    """Go back to the page with the result of an action on a channel or route: one of two notices."""
    try:
        await work
    except (Problem, DeliveryError, UsageError) as exc:
        mend = f"; {exc.mend}" if isinstance(exc, Problem) else ""
        why = words_of(language_of(request)).retell(f"{exc}{mend}")
        return go_on(request, _HOME, failed, kind="warn", why=why)
    return go_on(request, _HOME, done, name=name)


# Channels ---------------------------------------------------------------------------------------------------------


@router.post(f"{_HOME}/channel/test")
async def test_channel(
    request: Request, caller: Writing, parts: Given, name: Annotated[str, Form(max_length=63)]
) -> Response:
    """Send a test to a channel as it is."""
    trying = try_channel(parts, caller, name)
    return await _carried_out(request, trying, name, "test_accepted", "test_failed")


@router.post(f"{_HOME}/channel/mute")
async def mute(
    request: Request,
    caller: Writing,
    parts: Given,
    name: Annotated[str, Form(max_length=63)],
    muted: Annotated[str, Form()] = "",
    until: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Mute a channel, or end its mute."""
    if not muted:
        await deeds.unmute_channel(parts, caller, name)
        return go_on(request, _HOME, "unmuted", name=name)
    try:
        end = _moment(parts, until)
    except ValueError as exc:
        why = words_of(language_of(request)).retell(str(exc))
        return go_on(request, _HOME, "not_muted", kind="warn", name=name, why=why)
    await deeds.mute_channel(parts, caller, name, end)
    return go_on(request, _HOME, "muted", name=name)


def _moment(parts: Parts, text: str) -> int | None:
    zone = zone_named(parts.service.settings().instance.time_zone)
    return read_moment(text.strip(), parts.clock.now(), zone) if text.strip() else None


# Silences ---------------------------------------------------------------------------------------------------------


@router.post(f"{_HOME}/silence")
async def add_silence(request: Request, caller: Writing, parts: Given) -> Response:
    """Hold back alerts that match."""
    form = await request.form(max_fields=50)
    typed = {key: str(form.get(key, "")).strip()[:500] for key in ("group", "host", "words", "url", "until", "reason")}
    match = {key: listed(typed[key]) for key in ("group", "host", "words", "url") if typed[key]}
    if await typed_again(request):
        return await _home(request, parts, silence=typed)
    try:
        end = _moment(parts, typed["until"])
    except ValueError as exc:
        return await _home(request, parts, silence=typed, wrong={"until": str(exc)})
    try:
        await deeds.add_silence(parts, caller, match, until=end, reason=typed["reason"])
    except FieldErrors as exc:
        return await _home(request, parts, silence=typed, wrong=dict(exc.errors))
    return go_on(request, _HOME, "silence_begun")


@router.post(f"{_HOME}/silence/end")
async def end_silence(
    request: Request, caller: Writing, parts: Given, silence: Annotated[int, Form(ge=1, le=10**17)]
) -> Response:
    """End a silence."""
    await deeds.end_silence(parts, caller, silence)
    return go_on(request, _HOME, "silence_ended")
