"""The form of a route, with a preview of the alerts that it would take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.configuration.routes import KINDS
from tocsin.errors import FieldErrors, UsageError
from tocsin.model import SavedEntry
from tocsin.model.records.routing import RoutePreviewed
from tocsin.server import notifications as deeds
from tocsin.server.actions import Stale
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.server.web.rendering import go_on, page
from tocsin.server.web.route_words import KIND_TITLES

router = APIRouter(include_in_schema=False)

_HOME: Final = "/notifications"
_LAST: Final = 50
# Texts of the form of a route: key, label and hint.
MATCH_TEXTS: Final = (
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
    texts = [key for key, _, _ in (*MATCH_TEXTS, *_SELDOM)]
    found: dict[str, Any] = {key: str(form.get(key, "")).strip() for key in texts}
    found |= {f"unless-{key}": str(form.get(f"unless-{key}", "")).strip() for key in (*texts, "kind", *_CHOICES)}
    found |= {key: [str(each) for each in form.getlist(key)] for key in ("kind", *_CHOICES, "channels", "group_by")}
    found |= {key: str(form.get(key, "")).strip() for key in ("digest", "quiet", "at_most")}
    found |= {key: bool(form.get(key)) for key in ("say_nothing", "continue")}
    return found


def _given_route(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Make the route that the configuration would have; what is empty is left out."""
    keys = ("kind", *_CHOICES, *(key for key, _, _ in (*MATCH_TEXTS, *_SELDOM)))
    match = {key: listed(typed.get(key, "")) for key in keys}
    unless = {key: listed(typed.get(f"unless-{key}", "")) for key in keys}
    given = {
        "channels": list(typed["channels"]),
        "match": {key: values for key, values in match.items() if values},
        "unless": {key: values for key, values in unless.items() if values},
        "quiet": listed(typed.get("quiet", "")),
        **{key: typed.get(key) for key in ("digest", "at_most", "say_nothing", "continue", "group_by")},
    }
    return {key: value for key, value in given.items() if value}


def listed(value: Any) -> list[str]:
    """Read a text with commas; a list is left as it is."""
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
        kinds=[(kind, KIND_TITLES[kind]) for kind in KINDS],
        choices=_CHOICES,
        texts=MATCH_TEXTS,
        seldom=_SELDOM,
        channels=sorted(settings.channels),
        found=found,
        unready=unready,
        message=message,
        zone_name=settings.instance.time_zone,
    )
