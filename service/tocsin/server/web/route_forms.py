"""The form of a route, with a preview of the alerts that it would take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.configuration.limits import check_cron
from tocsin.configuration.routes import KINDS
from tocsin.configuration.week import DAYS, parse_times
from tocsin.engine.alerting.occasions import DigestTimes, QuietHours
from tocsin.errors import FieldErrors, UsageError
from tocsin.model import SavedEntry
from tocsin.model.records.routing import RoutePreviewed
from tocsin.server import notifications as deeds
from tocsin.server.actions import Stale
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.server.web.formatting import ENGLISH, local_time, zone_named
from tocsin.server.web.rendering import go_on, language_of, page, typed_again
from tocsin.server.web.week_picker import (
    DigestChoice,
    QuietRow,
    read_digest,
    read_quiet,
    tell_digest,
    tell_quiet,
    write_digest,
    write_quiet,
)
from tocsin.wording.words import LANGUAGES, Words, words_of

router = APIRouter(include_in_schema=False)

_HOME: Final = "/notifications"
_LAST: Final = 50
_MOST_ROWS: Final = 8  # Of quiet hours.
# Texts of the form of a route.
MATCH_TEXTS: Final = ("group", "host", "words", "url")
_SELDOM: Final = ("rule", "field")
_AS_TYPED: Final = ("at_most", "say_nothing", "continue", "group_by", "template", "language")
_CHOICES: Final = {
    "outcome": ("major", "minor", "unchanged", "too-soon"),
    "basis": ("declared", "inferred", "contradicted"),
}


class RouteForm(Struct, frozen=True):
    """A form of a route as it is shown.

    typed  texts by key; of `unless` with "unless-" before the key
    other  what another person saved meanwhile
    """

    name: str
    typed: Mapping[str, Any]
    is_new: bool
    revision: int
    wrong: Mapping[str, str] = {}
    other: deeds.OtherVersion | None = None


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
            several = [values] if isinstance(values, str) else values
            typed[f"{prefix}{key}"] = several if not prefix and key in {"kind", *_CHOICES} else ", ".join(several)
    typed |= _shown_times(str(entry.settings.get("digest") or ""), entry.settings.get("quiet") or ())
    return RouteForm(entry.name, typed, is_new=False, revision=entry.revision)


@router.post(f"{_HOME}/route")
async def save_route(request: Request, caller: Writing, parts: Given) -> Response:
    """Save a route, or preview it without saving."""
    form = await request.form(max_fields=200)
    name, typed = str(form.get("name", "")).strip(), _typed_route(form)
    revision = int(str(form.get("revision") or "0")[:18]) if str(form.get("revision") or "0").isdigit() else 0
    shown = RouteForm(name, typed, is_new=not revision, revision=revision)
    if await typed_again(request) or form.get("do") == "preview":
        return await _route_page(request, parts, shown)
    try:
        given = _given_route(typed, words_of(language_of(request)))
        await deeds.save_route(parts, caller, name, given, if_revision=revision)
    except FieldErrors as exc:
        wrong = {key.replace("match.", "").replace("unless.", "unless-"): text for key, text in exc.errors}
        return await _route_page(request, parts, _with(shown, wrong), status=422)
    except Stale:
        return await _route_page(request, parts, _overtaken(parts, shown), status=412)
    except (Problem, UsageError) as exc:
        return await _route_page(request, parts, _with(shown, {"name": str(exc)}), status=422)
    return go_on(request, _HOME, "route_saved", name=name)


def _with(form: RouteForm, wrong: Mapping[str, str]) -> RouteForm:
    return RouteForm(form.name, form.typed, form.is_new, form.revision, wrong)


def _overtaken(parts: Parts, form: RouteForm) -> RouteForm:
    """Keep what was typed, on top of the version that another person saved meanwhile."""
    entry = deeds.entry_of(parts, "route", form.name)
    revision = entry.revision if entry is not None else 0
    try:
        given = _given_route(form.typed)
    except FieldErrors:
        given = {}
    saved = {} if entry is None else {key: value for key, value in entry.settings.items() if key != "name"}
    other = deeds.other_version(entry, saved, given)
    return RouteForm(form.name, form.typed, not revision, revision, other=other)


def _typed_route(form: Any) -> dict[str, Any]:
    texts = (*MATCH_TEXTS, *_SELDOM)
    found: dict[str, Any] = {key: str(form.get(key, "")).strip() for key in texts}
    found |= {f"unless-{key}": str(form.get(f"unless-{key}", "")).strip() for key in (*texts, "kind", *_CHOICES)}
    found |= {key: [str(each) for each in form.getlist(key)] for key in ("kind", *_CHOICES, "channels", "group_by")}
    found |= {key: str(form.get(key, "")).strip() for key in ("at_most", "template", "language")}
    found |= _typed_times(form)
    found |= {key: bool(form.get(key)) for key in ("say_nothing", "continue")}
    return found


def _shown_times(digest: str, quiet: Iterable[str]) -> dict[str, Any]:
    try:
        return {"digest": read_digest(digest), "quiet": read_quiet(quiet)}
    except ValueError:
        return {"digest": read_digest(digest), "quiet": tuple(QuietRow(begin=entry, end=entry) for entry in quiet)}


def _typed_times(form: Any) -> dict[str, Any]:
    """Read the pickers; a client that has none sends `digest` and `quiet` as the settings write them."""
    if "when" not in form:
        return _shown_times(str(form.get("digest", "")).strip(), listed(str(form.get("quiet", ""))))
    when = form["when"]
    rows = [
        QuietRow(
            tuple(map(str, form.getlist(f"quiet-days-{number}"))),
            str(form.get(f"quiet-from-{number}", "")).strip(),
            str(form.get(f"quiet-to-{number}", "")).strip(),
        )
        for number in range(_MOST_ROWS)
    ]
    choice = DigestChoice(
        when if when in {"wait", "times", "cron"} else "once",
        str(form.get("wait", "")).strip(),
        tuple(map(str, form.getlist("digest-days"))),
        tuple(time for each in form.getlist("digest-at") if (time := str(each).strip())),
        str(form.get("digest", "")).strip(),
    )
    return {"digest": choice, "quiet": tuple(row for row in rows if row != QuietRow())}


def _given_route(typed: Mapping[str, Any], words: Words = ENGLISH) -> dict[str, Any]:
    """Make the route that the configuration would have; what is empty is left out. Raises FieldErrors."""
    times, wrong = {}, []
    for key, write, nothing in (("digest", write_digest, DigestChoice("once")), ("quiet", write_quiet, ())):
        try:
            times[key] = write(typed.get(key, nothing), words)
        except ValueError as exc:
            wrong.append((key, str(exc)))
    if wrong:
        raise FieldErrors("routes", wrong)
    keys = ("kind", *_CHOICES, *MATCH_TEXTS, *_SELDOM)
    match = {key: listed(typed.get(key, "")) for key in keys}
    unless = {key: listed(typed.get(f"unless-{key}", "")) for key in keys}
    given = {
        "channels": list(typed["channels"]),
        "match": {key: values for key, values in match.items() if values},
        "unless": {key: values for key, values in unless.items() if values},
        **times,
        **{key: typed.get(key) for key in _AS_TYPED},
    }
    return {key: value for key, value in given.items() if value}


def listed(value: Any) -> list[str]:
    """Read a text with commas; a list is left as it is."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else list(value)


def _tell_when(parts: Parts, typed: Mapping[str, Any], words: Words) -> str:
    """Say what the pickers mean, or what is wrong with them."""
    try:
        given = _given_route(typed, words)
    except FieldErrors as exc:
        return "; ".join(text for _, text in exc.errors)
    digest, quiet, zone = given.get("digest", ""), given.get("quiet", []), parts.service.settings().instance.time_zone
    told = tell_digest(digest, given.get("group_by", ()), zone, words)
    told = words.say("told.each_alert", when=told) if not digest else told[:1].upper() + told[1:]
    try:
        hours = QuietHours(parse_times(quiet), zone)
    except ValueError as exc:
        return words.say("told.wrong_quiet", told=told, found=exc)
    if read_digest(digest).when in {"times", "cron"}:
        if check_cron(digest) is not None:
            return words.say("told.wrong_cron", found=digest)
        following = DigestTimes(digest, zone, hours).after(parts.clock.now())
        told = words.say("told.next", told=told, when=local_time(following, zone_named(zone), words))
    return words.say("told.quiet", told=told, quiet=tell_quiet(quiet, words)) if quiet else f"{told}."


async def _route_page(request: Request, parts: Parts, form: RouteForm, *, status: int = 200) -> Response:
    settings = parts.service.settings()
    found: RoutePreviewed | None = None
    message, unready, words = None, "", words_of(language_of(request))
    alerts = await deeds.latest_alerts(parts, _LAST)
    if form.typed.get("channels"):
        try:
            given = _given_route(form.typed, words)
            preview = await deeds.preview_route(parts, form.name or "new", given, alerts)
            found = deeds.previewed_of(preview, alerts)
        except FieldErrors as exc:
            unready = "; ".join(text for _, text in exc.errors)
        matching = {each.alert for each in found.alerts if each.matches} if found is not None else set()
        taken = next((alert for alert in alerts if alert.id in matching), None)
        language = str(form.typed.get("language") or "")
        message = deeds.message_for(parts, taken.event, language) if taken is not None else None
    return await page(
        request,
        "route_form.html",
        status=status,
        form=form,
        kinds=KINDS,
        choices=_CHOICES,
        texts=MATCH_TEXTS,
        seldom=_SELDOM,
        channels=sorted(settings.channels),
        found=found,
        unready=unready,
        message=message,
        digest=form.typed.get("digest", DigestChoice("once")),
        quiet_rows=[*form.typed.get("quiet", ()), QuietRow()][:_MOST_ROWS],
        days=DAYS,
        sentence=_tell_when(parts, form.typed, words),
        zone_name=settings.instance.time_zone,
        languages=LANGUAGES,
    )
