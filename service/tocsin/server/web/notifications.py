"""*Notifications*: who hears what. Routes, channels and silences are made, edited, tested, muted and removed."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.routes import KINDS
from tocsin.configuration.saved import ChannelField, fields_of
from tocsin.engine.alerting.routing import explain, router_of
from tocsin.errors import DeliveryError, FieldErrors, UsageError
from tocsin.model import AlertDraft, AlertRow, SavedEntry
from tocsin.model.records.routing import ConfiguredRoute, RoutePreviewed
from tocsin.server import notifications as deeds
from tocsin.server.actions import Stale
from tocsin.server.decisions import read_moment, try_channel
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.server.web.formatting import zone_named
from tocsin.server.web.rendering import go_on, page

router = APIRouter(include_in_schema=False)

_HOME: Final = "/notifications"
_PART: Final = 50
_LAST: Final = 50
_TITLES: Final = {
    "changed": "changed",
    "unreachable": "is unreachable",
    "recovered": "is reachable again",
    "suspect": "shows something else (a login, an error)",
    "storm": "changed like many others",
    "disallowed": "may not be read (robots.txt)",
    "outage": "cannot be read: our own connection is down",
    "unchanged": "did not change",
    "too-soon": "was checked too soon",
}
# Texts of the form of a route: key, label and hint.
_TEXTS: Final = (
    ("group", "In groups", "any, or several with commas: press, town hall"),
    ("host", "On hosts", "any, or *.example.org"),
    ("words", "Containing any of these words", "in the title, the added lines or your notes: recall, tender"),
    ("url", "With an address", "any, or https://example.org/news/*"),
)
_SELDOM: Final = (
    ("rule", "Decided by a rule", "such as T44"),
    ("field", "With a changed field", "such as topper-major"),
)
_CHOICES: Final = {
    "outcome": ("major", "minor", "unchanged", "too-soon"),
    "basis": ("declared", "inferred", "contradicted"),
}


class RouteForm(Struct, frozen=True):
    """A form of a route as it is shown.

    typed  texts by key; of `unless` with "unless-" before the key
    """

    name: str
    typed: Mapping[str, Any]
    is_new: bool
    revision: int
    wrong: Mapping[str, str] = {}
    is_stale: bool = False


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
    counts = await asyncio.to_thread(_counts, parts, alerts) if len(routes) <= _PART else {}
    now = parts.clock.now()
    silences = [each for each in await parts.store.silences(limit=100) if each.is_in_force(now)]
    return await page(
        request,
        "notifications.html",
        status=422 if wrong else 200,
        routes=[(place, route, tell_route(route)) for place, route in enumerate(shown, begin + 1)],
        counts=counts,
        of=len(alerts),
        unrouted=counts.get("", 0),
        following=f"{_HOME}?from={end}" if end < len(routes) else None,
        first=_HOME if begin else None,
        file=deeds.place_of(parts, "route", ""),
        places={each.name: deeds.place_of(parts, "channel", each.name) for each in channels},
        channels=channels,
        failing=[each for each in channels if each.state in {"failing", "disabled", "unreadable"}],
        silences=[(each, tell_match(each.match)) for each in silences],
        silence=silence or {},
        wrong=wrong or {},
        texts=_TEXTS,
    )


def _counts(parts: Parts, alerts: Sequence[AlertRow]) -> dict[str, int]:
    """Count which route takes how many of these alerts; "": none does."""
    settings = parts.service.settings()
    if not settings.routes:
        return {}
    routes, found = router_of(settings), dict.fromkeys((route.name for route in settings.routes), 0)
    found[""] = 0
    for alert in alerts:
        draft = AlertDraft(alert.id, alert.type, alert.page_id, alert.created_at, alert.event)
        taken = [answer.route for answer in explain(routes, draft, alert.created_at) if answer.takes]
        for name in taken or [""]:
            found[name] += 1
    return found


def tell_match(match: Mapping[str, Any]) -> str:
    """Tell which alerts are meant, in words."""
    words = {"group": "in", "host": "on", "words": "with the word", "url": "at", "rule": "by rule", "field": "of field"}
    said = {key: " or ".join(map(str, values)) for key, values in match.items() if values}
    kinds = " or ".join(_TITLES.get(kind, kind) for kind in match.get("kind") or ())
    first = " ".join(part for part in (said.get("outcome"), said.get("basis")) if part)
    begin = f"a page {kinds}" if kinds else f"{first} changes" if first else "all alerts"
    if kinds and first:
        begin += f" ({first})"
    return ", ".join([begin, *(f"{word} {said[key]}" for key, word in words.items() if key in said)])


def tell_route(route: ConfiguredRoute) -> str:
    """Tell a route as a sentence."""
    when = "at once"
    if route.digest:
        when = f"together, {route.digest}" if " " in route.digest else f"together, {route.digest} after the first"
        when += f", by {' and '.join(route.group_by)}" if route.group_by else ""
    parts = [tell_match(route.match), f"but not {tell_match(route.unless)}" if route.unless else "", when]
    parts += [f"at most {route.at_most}" if route.at_most else "", "further routes, too" if route.continues else ""]
    quiet = f"not {', '.join(route.quiet)}" if route.quiet else ""
    sentence = "; ".join(part for part in (*parts, quiet) if part)
    return f"{sentence[:1].upper()}{sentence[1:]}"


# Routes -----------------------------------------------------------------------------------------------------------


@router.get(f"{_HOME}/route")
async def route_form(
    request: Request, _: Reading, parts: Given, name: Annotated[str, Query(max_length=63)] = ""
) -> Response:
    """Show the form of a route, with its preview."""
    if not name:
        return await _route_page(request, parts, RouteForm("", {"channels": []}, is_new=True, revision=0))
    entry = deeds.demand_saved(parts, "route", name)
    return await _route_page(request, parts, _form_of(entry))


def _form_of(entry: SavedEntry) -> RouteForm:
    typed: dict[str, Any] = dict(entry.settings)
    for prefix, table in (("", entry.settings.get("match") or {}), ("unless-", entry.settings.get("unless") or {})):
        for key, values in table.items():
            listed = [values] if isinstance(values, str) else values
            typed[f"{prefix}{key}"] = listed if not prefix and key in {"kind", *_CHOICES} else ", ".join(listed)
    typed["quiet"] = ", ".join(entry.settings.get("quiet") or ())
    return RouteForm(entry.name, typed, is_new=False, revision=entry.revision)


@router.post(f"{_HOME}/route")
async def save_route(request: Request, caller: Writing, parts: Given) -> Response:
    """Save a route, or preview it without saving."""
    form = await request.form(max_fields=200)
    name, typed = str(form.get("name", "")).strip(), _typed_route(form)
    revision = int(str(form.get("revision") or "0")[:18]) if str(form.get("revision") or "0").isdigit() else 0
    shown = RouteForm(name, typed, is_new=not revision, revision=revision)
    if form.get("do") == "preview":
        return await _route_page(request, parts, shown)
    try:
        await deeds.save_route(parts, caller, name, _given_route(typed), if_revision=revision)
    except FieldErrors as exc:
        wrong = {key.replace("match.", "").replace("unless.", "unless-"): text for key, text in exc.errors}
        return await _route_page(request, parts, _with(shown, wrong), status=422)
    except Stale:
        return await _route_page(request, parts, _overtaken(parts, shown), status=412)
    except (Problem, UsageError) as exc:
        return await _route_page(request, parts, _with(shown, {"name": str(exc)}), status=422)
    return go_on(request, _HOME, f"Route {name} is saved. It holds for alerts from now on.")


def _with(form: RouteForm, wrong: Mapping[str, str]) -> RouteForm:
    return RouteForm(form.name, form.typed, form.is_new, form.revision, wrong)


def _overtaken(parts: Parts, form: RouteForm) -> RouteForm:
    """Keep what was typed, on top of the version that another person saved meanwhile."""
    entry = deeds.entry_of(parts, "route", form.name)
    revision = entry.revision if entry is not None else 0
    return RouteForm(form.name, form.typed, not revision, revision, is_stale=True)


def _typed_route(form: Any) -> dict[str, Any]:
    texts = [key for key, _, _ in (*_TEXTS, *_SELDOM)]
    found: dict[str, Any] = {key: str(form.get(key, "")).strip() for key in texts}
    found |= {f"unless-{key}": str(form.get(f"unless-{key}", "")).strip() for key in (*texts, "kind", *_CHOICES)}
    found |= {key: [str(each) for each in form.getlist(key)] for key in ("kind", *_CHOICES, "channels", "group_by")}
    found |= {key: str(form.get(key, "")).strip() for key in ("digest", "quiet", "at_most")}
    found |= {key: bool(form.get(key)) for key in ("say_nothing", "continue")}
    return found


def _given_route(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Make the route that the configuration would have; what is empty is left out."""
    keys = ("kind", *_CHOICES, *(key for key, _, _ in (*_TEXTS, *_SELDOM)))
    match = {key: _listed(typed.get(key, "")) for key in keys}
    unless = {key: _listed(typed.get(f"unless-{key}", "")) for key in keys}
    given = {
        "channels": list(typed["channels"]),
        "match": {key: values for key, values in match.items() if values},
        "unless": {key: values for key, values in unless.items() if values},
        "quiet": _listed(typed.get("quiet", "")),
        **{key: typed.get(key) for key in ("digest", "at_most", "say_nothing", "continue", "group_by")},
    }
    return {key: value for key, value in given.items() if value}


def _listed(value: Any) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else list(value)


async def _route_page(request: Request, parts: Parts, form: RouteForm, *, status: int = 200) -> Response:
    settings = parts.service.settings()
    found: RoutePreviewed | None = None
    message, unready = None, ""
    alerts = await deeds.latest_alerts(parts, _LAST)
    if form.typed.get("channels"):
        try:
            preview = await deeds.preview_route(parts, form.name or "new", _given_route(form.typed), alerts)
            found = deeds.previewed_of(preview, alerts)
        except FieldErrors as exc:
            unready = "; ".join(text for _, text in exc.errors)
        matching = {each.alert for each in found.alerts if each.matches} if found is not None else set()
        taken = next((alert for alert in alerts if alert.id in matching), None)
        message = deeds.message_for(parts, taken.event) if taken is not None else None
    return await page(
        request,
        "route_form.html",
        status=status,
        form=form,
        kinds=[(kind, _TITLES[kind]) for kind in KINDS],
        choices=_CHOICES,
        texts=_TEXTS,
        seldom=_SELDOM,
        channels=sorted(settings.channels),
        found=found,
        unready=unready,
        message=message,
        zone_name=settings.instance.time_zone,
    )


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
    return go_on(request, _HOME, f"Route {name} was moved {'up' if by < 0 else 'down'}.")


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
        detail = {
            "channel": "Alerts that wait for it are not sent. Its settings and secrets are deleted.",
            "route": "Alerts from now on go by the other routes. Its open digests are sent at once.",
        }[what]
        return await page(
            request,
            "confirm.html",
            section="notifications",
            title=f"Remove {what} {name}",
            question=f"Remove the {what} {name}?",
            detail=detail,
            path=f"{_HOME}/remove",
            values={"kind": what, "name": name},
            verb="Remove",
            back=_HOME,
            danger=True,
        )
    try:
        await deeds.remove_entry(parts, caller, "channel" if kind == "channel" else "route", name, if_revision=None)
    except Problem as exc:
        return go_on(request, _HOME, f"{exc}; {exc.mend}.", kind="warn")
    return go_on(request, _HOME, f"{what.capitalize()} {name} is removed.")


# Channels ---------------------------------------------------------------------------------------------------------


@router.get(f"{_HOME}/channel")
async def channel_form(
    request: Request,
    _: Reading,
    parts: Given,
    name: Annotated[str, Query(max_length=63)] = "",
    kind: Annotated[str, Query(alias="type", max_length=63)] = "",
) -> Response:
    """Show the form of a channel, made from the settings of its type."""
    if name:
        entry = deeds.demand_saved(parts, "channel", name)
        section = parts.service.settings().channels[name]
        shown = (await deeds.show_channel(parts, name, section)).settings
        return await _channel_page(request, parts, name, str(entry.settings["type"]), shown, entry.revision)
    return await _channel_page(request, parts, "", kind, {}, 0)


@router.post(f"{_HOME}/channel")
async def save_channel(request: Request, caller: Writing, parts: Given) -> Response:
    """Save a channel, or send a test with what was typed."""
    form = await request.form(max_fields=200)
    name, kind = str(form.get("name", "")).strip(), str(form.get("type", ""))
    known = str(form.get("revision") or "0")
    revision = int(known[:18]) if known.isdigit() else 0
    typed = {"type": kind, **_typed_channel(parts, kind, name, form)}
    again = {**typed, **{key: "" for key in _secrets(parts, kind) if key in typed}}
    try:
        if form.get("do") == "test":
            section, _ = deeds.read_given(parts, name or "new", typed, written=True)
            await deeds.try_unsaved(parts, caller, name or "new", section)
            told = "The test was accepted. Nothing is saved yet."
            return await _channel_page(request, parts, name, kind, again, revision, told=told)
        await deeds.save_channel(parts, caller, name, typed, if_revision=revision, written=True)
    except FieldErrors as exc:
        return await _channel_page(request, parts, name, kind, again, revision, wrong=dict(exc.errors))
    except Stale:
        entry = deeds.entry_of(parts, "channel", name)
        now = entry.revision if entry is not None else 0
        return await _channel_page(request, parts, name, kind, again, now, is_stale=True)
    except (Problem, UsageError, DeliveryError) as exc:
        return await _channel_page(request, parts, name, kind, again, revision, wrong={"": str(exc)})
    return go_on(request, _HOME, f"Channel {name} is saved.")


def _fields(parts: Parts, kind: str) -> list[ChannelField]:
    try:
        return fields_of(load_type(kind, parts.service.settings().delivery.plugins).Settings) if kind else []
    except UsageError:
        return []


def _secrets(parts: Parts, kind: str) -> set[str]:
    return {each.key for each in _fields(parts, kind) if each.kind == "secret"}


def _typed_channel(parts: Parts, kind: str, name: str, form: Any) -> dict[str, Any]:
    """Read the fields; an empty one is left out, and a secret that is empty stays as it is."""
    entry, found = deeds.entry_of(parts, "channel", name), {}
    for each in _fields(parts, kind):
        text = str(form.get(f"s-{each.key}", "")).strip()
        if not text and each.kind == "secret" and entry is not None and each.key in entry.settings:
            found[each.key] = "***"
        elif each.kind == "table" and text:
            found[each.key] = _table(text)
        elif each.kind == "truth":
            found[each.key] = "true" if text else "false"
        elif text:
            found[each.key] = text
    return found


def _table(text: str) -> Any:
    """Read a table as TOML has it, or lines of NAME: VALUE."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
        return {name.strip(): value.strip() for name, colon, value in pairs if colon} or text


async def _channel_page(
    request: Request,
    parts: Parts,
    name: str,
    kind: str,
    values: Mapping[str, Any],
    revision: int,
    *,
    wrong: Mapping[str, str] | None = None,
    is_stale: bool = False,
    told: str = "",
) -> Response:
    types = [*our_types(), *parts.service.settings().delivery.plugins]
    entry = deeds.entry_of(parts, "channel", name)
    fields = [
        (each, _shown(each, values.get(each.key)), bool(entry and entry.settings.get(each.key)))
        for each in _fields(parts, kind)
    ]
    return await page(
        request,
        "channel_form.html",
        status=412 if is_stale else 422 if wrong else 200,
        # A type that needs a file of this machine has no form: only its owner names one.
        types=[each for each in types if len(_fields(parts, each)) > 1 or each == "stdout"],
        name=name,
        kind=kind,
        fields=fields,
        revision=revision,
        wrong=wrong or {},
        is_stale=is_stale,
        accepted=told,
    )


def _shown(each: ChannelField, value: Any) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{name}: {inner}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return (
        "" if value is None or each.kind == "secret" else str(value).lower() if value in (True, False) else str(value)
    )


@router.post(f"{_HOME}/channel/test")
async def test_channel(
    request: Request, caller: Writing, parts: Given, name: Annotated[str, Form(max_length=63)]
) -> Response:
    """Send a test to a channel as it is."""
    try:
        await try_channel(parts, caller, name)
    except (DeliveryError, UsageError) as exc:
        return go_on(request, _HOME, f"The test failed: {exc}", kind="warn")
    return go_on(request, _HOME, f"Channel {name} accepted the test.")


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
        return go_on(request, _HOME, f"Channel {name} is given its alerts again.")
    try:
        end = _moment(parts, until)
    except ValueError as exc:
        return go_on(request, _HOME, f"Channel {name} is not muted: {exc}.", kind="warn")
    await deeds.mute_channel(parts, caller, name, end)
    return go_on(request, _HOME, f"Channel {name} is muted; its alerts wait, and none is lost.")


def _moment(parts: Parts, text: str) -> int | None:
    zone = zone_named(parts.service.settings().instance.time_zone)
    return read_moment(text.strip(), parts.clock.now(), zone) if text.strip() else None


# Silences ---------------------------------------------------------------------------------------------------------


@router.post(f"{_HOME}/silence")
async def add_silence(request: Request, caller: Writing, parts: Given) -> Response:
    """Hold back alerts that match."""
    form = await request.form(max_fields=50)
    typed = {key: str(form.get(key, "")).strip()[:500] for key in ("group", "host", "words", "url", "until", "reason")}
    match = {key: _listed(typed[key]) for key in ("group", "host", "words", "url") if typed[key]}
    try:
        end = _moment(parts, typed["until"])
    except ValueError as exc:
        return await _home(request, parts, silence=typed, wrong={"until": str(exc)})
    try:
        await deeds.add_silence(parts, caller, match, until=end, reason=typed["reason"])
    except FieldErrors as exc:
        return await _home(request, parts, silence=typed, wrong=dict(exc.errors))
    return go_on(request, _HOME, "These alerts are listed, but not sent.")


@router.post(f"{_HOME}/silence/end")
async def end_silence(
    request: Request, caller: Writing, parts: Given, silence: Annotated[int, Form(ge=1, le=10**17)]
) -> Response:
    """End a silence."""
    await deeds.end_silence(parts, caller, silence)
    return go_on(request, _HOME, "The silence has ended. What it held back stays so until you deliver it.")
