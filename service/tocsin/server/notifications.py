"""Edits of channels, routes, mutes and silences while the service runs, shared by web pages and API; audited."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, to_builtins

from tocsin.configuration.routes import read_silences
from tocsin.configuration.saved import demand_room, plain_settings, read_channel, read_route, with_secrets
from tocsin.engine.alerting.messages import message_of
from tocsin.engine.alerting.previewing import alert_to_show
from tocsin.engine.alerting.routing import RouteList, RoutePreview, preview
from tocsin.errors import DeliveryError, FieldErrors, SettingsError, UsageError
from tocsin.model import (
    AlertQuery,
    AlertRow,
    BundleRow,
    Instant,
    JsonObject,
    SavedEntry,
    SavedKind,
    Silence,
    as_configured,
    to_rfc3339,
)
from tocsin.model.messages import Message
from tocsin.model.records.alerting import ConfiguredChannel, channel_of
from tocsin.model.records.routing import (
    ChannelPreview,
    ConfiguredRoute,
    RouteAlert,
    RoutePreviewed,
    channel_preview_of,
    routes_of,
)
from tocsin.model.saved import demand_unused
from tocsin.server.access.auditing import audit
from tocsin.server.actions import Stale
from tocsin.server.decisions import missing
from tocsin.server.parts import Caller, Parts
from tocsin.server.problems import Problem
from tocsin.settings import ChannelSettings

MOST_PREVIEWED: Final = 200
_SEE: Final = {"channel": "GET /api/v1/channels", "route": "GET /api/v1/routes"}


def entry_of(parts: Parts, kind: SavedKind, name: str) -> SavedEntry | None:
    """Return what was saved under this name; None where there is nothing."""
    saved = parts.service.saved()
    return next((each for each in (saved.channels if kind == "channel" else saved.routes) if each.name == name), None)


def place_of(parts: Parts, kind: SavedKind, name: str) -> str:
    """Name the file, variable or option that has a channel or route of the configuration."""
    return parts.service.origins().get(f"channels.{name}.type" if kind == "channel" else "routes", "the configuration")


def demand_saved(parts: Parts, kind: SavedKind, name: str) -> SavedEntry:
    """Return what can be edited. Raises Problem: 404 for an unknown name, 409 for one of the configuration."""
    entry = entry_of(parts, kind, name)
    if entry is not None:
        return entry
    if name in _configured(parts, kind):
        raise Problem(
            409,
            "configured",
            "It is in the configuration",
            f"{kind} {name[:80]} is in {place_of(parts, kind, name)}, and is read-only here",
            mend="edit it there, then send the service SIGHUP",
        )
    raise missing(kind, name, _SEE[kind])


def _configured(parts: Parts, kind: SavedKind) -> set[str]:
    settings = parts.service.settings()
    return set(settings.channels) if kind == "channel" else {route.name for route in settings.routes}


def read_given(
    parts: Parts, name: str, given: Mapping[str, Any], *, written: bool = False
) -> tuple[ChannelSettings, dict[str, Any]]:
    """Read a channel that a client sent, with the secrets that it was shown as masks; raises FieldErrors."""
    plugins, entry = parts.service.settings().delivery.plugins, entry_of(parts, "channel", name)
    whole = dict(given) if entry is None else with_secrets(name, given, entry.settings, plugins)
    section = read_channel(name, whole, plugins, files=False, written=written)
    return section, plain_settings(name, section, whole)


async def save_channel(
    parts: Parts, caller: Caller, name: str, given: Mapping[str, Any], *, if_revision: int | None, written: bool = False
) -> int:
    """Make or replace a channel; it is in force when this returns.

    if_revision  as in SavedStore.save_entry
    written      all values are texts of a form
    Raises FieldErrors, Stale, Problem.
    """
    if entry_of(parts, "channel", name) is None:
        _demand_free(parts, "channel", name, if_revision)
    section, whole = read_given(parts, name, given, written=written)
    await parts.service.demand_channel(name, section)
    return await _save(parts, caller, "channel", name, whole, if_revision, type=section.type)


async def save_route(
    parts: Parts, caller: Caller, name: str, given: Mapping[str, Any], *, if_revision: int | None
) -> int:
    """Make or replace a route; alerts that are written from now on obey it. Raises FieldErrors, Stale, Problem."""
    if entry_of(parts, "route", name) is None:
        _demand_free(parts, "route", name, if_revision)
    route = read_route(name, given, parts.service.settings().channels)
    parts.service.demand_route(route)
    return await _save(parts, caller, "route", name, to_builtins(route), if_revision, channels=list(route.channels))


def _demand_free(parts: Parts, kind: SavedKind, name: str, if_revision: int | None) -> None:
    """Check that a new channel or route may be made. Raises Problem, SettingsError."""
    if name in _configured(parts, kind):
        demand_saved(parts, kind, name)
    if if_revision:
        raise Stale(f"{kind} {name[:80]}")
    saved = parts.service.saved()
    demand_room(kind, len(saved.channels if kind == "channel" else parts.service.settings().routes))


async def _save(
    parts: Parts, caller: Caller, kind: SavedKind, name: str, settings: JsonObject, if_revision: int | None, **told: Any
) -> int:
    is_new = entry_of(parts, kind, name) is None
    revision = await parts.store.save_entry(
        kind, name, settings, parts.clock.now(), who=caller.who, if_revision=if_revision
    )
    if revision is None:
        raise _taken(kind, name) if if_revision == 0 else Stale(f"{kind} {name[:80]}")
    await parts.service.take_up()
    await audit(parts, caller, f"{kind}.{'add' if is_new else 'set'}", **{kind: name}, **told)
    return revision


def _taken(kind: str, name: str) -> Problem:
    return Problem(409, "name-taken", "The name is taken", f"{kind} {name[:80]}", mend="choose another one, or edit it")


async def remove_entry(parts: Parts, caller: Caller, kind: SavedKind, name: str, *, if_revision: int | None) -> None:
    """Remove a channel or a route. Raises Problem for a channel that routes still name."""
    entry = demand_saved(parts, kind, name)
    if kind == "channel":
        try:
            demand_unused(name, parts.service.settings(), parts.service.saved())
        except SettingsError as exc:
            detail, _, mend = str(exc).rpartition("; ")
            raise Problem(409, "in-use", "Routes send to it", detail, mend=mend) from exc
    if not await parts.store.remove_entry(kind, name, if_revision=if_revision):
        raise Stale(f"{kind} {entry.name[:80]}")
    await parts.service.take_up()
    await audit(parts, caller, f"{kind}.remove", **{kind: name})


async def move_route(parts: Parts, caller: Caller, name: str, by: int) -> None:
    """Move a saved route up or down among its like."""
    demand_saved(parts, "route", name)
    names = [entry.name for entry in parts.service.saved().routes]
    place = names.index(name)
    names.insert(max(0, min(place + by, len(names) - 1)), names.pop(place))
    await parts.store.order_routes(names)
    await parts.service.take_up()
    await audit(parts, caller, "route.move", route=name, place=names.index(name) + 1)


async def mute_channel(parts: Parts, caller: Caller, name: str, until: Instant | None) -> None:
    """Give a channel nothing until then; its alerts wait. Raises Problem for an unknown one."""
    _demand_channel(parts, name)
    await parts.store.mute_channel(name, parts.clock.now(), until_at=until, who=caller.who)
    await parts.service.take_up()
    await audit(parts, caller, "channel.mute", channel=name, until=None if until is None else to_rfc3339(until))


async def unmute_channel(parts: Parts, caller: Caller, name: str) -> None:
    """End a mute; one that has ended is left alone."""
    _demand_channel(parts, name)
    await parts.store.unmute_channel(name)
    await parts.service.take_up()
    await audit(parts, caller, "channel.unmute", channel=name)


async def try_unsaved(parts: Parts, caller: Caller, name: str, section: ChannelSettings) -> None:
    """Send a test event with settings that are not saved; raises DeliveryError, SettingsError."""
    await parts.service.demand_channel(name, section)
    try:
        await parts.service.try_channel(name, section)
    except (DeliveryError, UsageError):
        await audit(parts, caller, "channel.test", channel=name, type=section.type, accepted=False)
        raise
    await audit(parts, caller, "channel.test", channel=name, type=section.type, accepted=True)


def _demand_channel(parts: Parts, name: str) -> None:
    if name not in parts.service.settings().channels:
        raise missing("channel", name, _SEE["channel"])


async def add_silence(
    parts: Parts, caller: Caller, match: Mapping[str, Any], *, until: Instant | None, reason: str
) -> Silence:
    """Hold back alerts that match until then. Raises FieldErrors."""
    try:
        (read,) = read_silences([{"match": match, "reason": reason}], "silence")
    except UsageError as exc:
        raise FieldErrors("silence", [("match", str(exc).partition("]: ")[2] or str(exc))]) from exc
    silence = await parts.store.add_silence(
        to_builtins(read.match), from_at=parts.clock.now(), until_at=until, reason=reason, who=caller.who
    )
    await audit(parts, caller, "silence.add", silence=str(silence.id), match=silence.match)
    return silence


async def end_silence(parts: Parts, caller: Caller, silence: int) -> None:
    """End a silence before its time. Raises Problem where none of this number is in force."""
    if not await parts.store.end_silence(silence, parts.clock.now()):
        raise missing("silence", silence, "GET /api/v1/silences")
    await audit(parts, caller, "silence.end", silence=str(silence))


async def demand_digest(parts: Parts, number: int) -> BundleRow:
    """Return a digest. Raises Problem for an unknown one."""
    row = await parts.store.bundle(number)
    if row is None:
        raise missing("digest", number, "GET /api/v1/digests")
    return row


async def send_digest(parts: Parts, caller: Caller, number: int) -> None:
    """Send a digest that waits at once, and any other one again. Raises Problem."""
    row, now = await demand_digest(parts, number), parts.clock.now()
    if not await parts.store.hasten_bundle(number, now) and not await parts.store.replay_bundle(number, now):
        mend = "put the channel back first" if row.alerts else "wait for a digest that has alerts"
        raise Problem(
            409,
            "not-sendable",
            "The digest cannot be sent",
            f"digest {number}: channel {row.channel} is gone, or no alert is in it",
            mend=mend,
        )
    await audit(parts, caller, "digest.send", digest=str(number), channel=row.channel, alerts=row.alerts)


async def give_up_digest(parts: Parts, caller: Caller, number: int) -> None:
    """Give up a digest that was not accepted yet. Raises Problem."""
    row = await demand_digest(parts, number)
    if not await parts.store.give_up_bundle(number, parts.clock.now(), error=f"given up by {caller.who}"):
        raise Problem(
            409,
            "ended",
            "The digest has ended",
            f"digest {number} is {row.state} already",
            mend="send it again, if you want to",
        )
    await audit(parts, caller, "digest.give-up", digest=str(number), channel=row.channel, alerts=row.alerts)


class OtherVersion(Struct, frozen=True):
    """What another person saved while a form was filled in.

    rows     what differs: (key, saved now, typed)
    who, at  None: not known
    """

    rows: tuple[tuple[str, str, str], ...]
    who: str | None = None
    at: Instant | None = None
    is_removed: bool = False


def other_version(entry: SavedEntry | None, saved: Mapping[str, Any], typed: Mapping[str, Any]) -> OtherVersion:
    """Compare what is saved now with what was typed; neither holds secrets."""
    if entry is None:
        return OtherVersion((), is_removed=True)
    return OtherVersion(differing(saved, typed), entry.who, entry.at)


def differing(saved: Mapping[str, Any], typed: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """List what differs of settings: (key, saved, typed), "" for what is not set."""
    there, here = _flat(saved), _flat(typed)
    rows = ((key, there.get(key, ""), here.get(key, "")) for key in dict.fromkeys((*there, *here)))
    return tuple(row for row in rows if row[1] != row[2])


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Write settings as texts; what is empty is left out."""
    found: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{key}.")
        elif value not in (None, "", False) and value != []:
            listed = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            found[f"{prefix}{key}"] = "true" if value is True else listed
    return found


# What is shown -----------------------------------------------------------------------------------------------------


async def show_channel(parts: Parts, name: str, settings: ChannelSettings) -> ConfiguredChannel:
    """Show a channel with its health."""
    state = as_configured(await parts.store.channel_state(name), settings)
    mute = parts.service.saved().muted(parts.clock.now()).get(name)
    return channel_of(state, settings, is_saved=entry_of(parts, "channel", name) is not None, mute=mute)


def show_routes(parts: Parts) -> list[ConfiguredRoute]:
    """Show the routes in force from top to bottom, then saved ones that are left out."""
    service = parts.service
    return routes_of(service.settings(), service.saved(), service.unusable_routes())


async def latest_alerts(parts: Parts, last: int) -> list[AlertRow]:
    """Read the latest alerts, the newest first."""
    return list((await parts.store.browse_alerts(AlertQuery(), limit=min(last, MOST_PREVIEWED))).rows)


async def preview_route(parts: Parts, name: str, given: Mapping[str, Any], alerts: list[AlertRow]) -> RoutePreview:
    """Say which of these alerts a route would take that need not be saved; raises FieldErrors.

    Routes before it count as they are: one of the same name is replaced, another one is the last.
    """
    settings = parts.service.settings()
    route = read_route(name, given, settings.channels)
    names = [each.name for each in settings.routes]
    # Those below it change nothing about what it takes.
    before = settings.routes[: names.index(name)] if name in names else settings.routes
    routes = RouteList((*before, route), list(settings.channels), settings.instance.time_zone)
    named = await _page_routes(parts, alerts)
    # A thousand routes and two hundred alerts take a second.
    return await asyncio.to_thread(preview, routes, name, alerts, page_routes=named)


async def _page_routes(parts: Parts, alerts: list[AlertRow]) -> dict[int, str]:
    """Return the routes that the settings of the alerts' pages name."""
    for_all, groups = await parts.store.overrides()
    of_groups, found = dict(groups.values()), {}
    for page_id in {alert.page_id for alert in alerts if alert.page_id}:
        page = await parts.store.page_by_id(page_id)
        if page is not None:
            levels = (page.settings or {}, of_groups.get(page.group, {}), for_all)
            route = next((str(level["route"]) for level in levels if "route" in level), None)
            found[page_id] = parts.service.settings().pages.route if route is None else route
    return found


def previewed_of(found: RoutePreview, rows: list[AlertRow]) -> RoutePreviewed:
    """Show a preview of these alerts."""
    alerts = []
    for answer, row in zip(found.alerts, rows, strict=True):
        data = row.event.get("data") or {}
        page = data.get("page") or {}
        alerts.append(
            RouteAlert(
                alert=row.id,
                matches=answer.takes,
                why=answer.why,
                at=to_rfc3339(row.created_at),
                type=row.type,
                outcome=data.get("outcome"),
                title=str(page.get("title") or row.url or row.event.get("subject") or row.type),
                short=str(data.get("short") or ""),
            )
        )
    return RoutePreviewed(
        matches=found.matches,
        of=len(rows),
        per_day=round(found.per_day, 1),
        quiet=found.quiet,
        taken_by=found.taken_by,
        alerts=alerts,
    )


def message_for(parts: Parts, event: JsonObject, language: str = "") -> Message:
    """Write an alert as people read it."""
    instance = parts.service.settings().instance
    return message_of(event, language or instance.language, time_zone=instance.time_zone)


async def preview_channel(parts: Parts, name: str, alert_id: str | None, route: str | None) -> ChannelPreview:
    """Show what a channel would send of an alert; see `alert_to_show`. Raises Problem, UsageError."""
    _demand_channel(parts, name)
    shown = await alert_to_show(
        parts.service.settings(),
        parts.store,
        parts.chance,
        parts.clock.now(),
        channel=name,
        alert_id=alert_id,
        route=route,
    )
    return channel_preview_of(name, shown.route, shown.id, await parts.service.preview(name, shown.event, shown.route))
