"""The form of a channel, made from the settings of its type."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.saved import ChannelField, fields_of
from tocsin.errors import DeliveryError, FieldErrors, UsageError
from tocsin.model import AlertRow, SavedEntry
from tocsin.server import notifications as deeds
from tocsin.server.access.guard import POLICY
from tocsin.server.actions import Stale
from tocsin.server.lost_forms import NOT_SENT_BACK
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.problems import Problem
from tocsin.server.web.formatting import cut
from tocsin.server.web.rendering import go_on, language_of, page, say, typed_again
from tocsin.settings import ChannelSettings
from tocsin.wording.words import Words, words_of

router = APIRouter(include_in_schema=False)

_HOME: Final = "/notifications"
_ACRONYMS: Final = frozenset({"ca", "id", "tls", "url"})
# The parent page may frame it; styles of its own are all that it has.
_OF_MAIL: Final = "sandbox; default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'"
_LATEST: Final = 50
_MOST_SHOWN: Final = 14_000
_MOST_OF_A_CHOICE: Final = 100
_FIRST, _LAST = ("mail", "webhook", "apprise"), ("stdout",)
_PREFIXES: Final = {"secret": NOT_SENT_BACK}  # Of the names of fields; of all others "s-".


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
    if await typed_again(request):
        return await _channel_page(request, parts, name, kind, again, revision)
    try:
        if form.get("do") == "test":
            section, _ = deeds.read_given(parts, name or "new", typed, written=True)
            await deeds.try_unsaved(parts, caller, name or "new", section)
            is_secret = bool(_secrets(parts, kind) & {key for key, value in typed.items() if value not in ("", "***")})
            told = say(request, "channels.accepted_secret" if is_secret else "channels.accepted")
            return await _channel_page(request, parts, name, kind, again, revision, told=told)
        await deeds.save_channel(parts, caller, name, typed, if_revision=revision, written=True)
    except FieldErrors as exc:
        wrong = dict(exc.errors)
    except Stale:
        entry = deeds.entry_of(parts, "channel", name)
        now = entry.revision if entry is not None else 0
        other = await _other(parts, entry, name, typed, words_of(language_of(request)))
        return await _channel_page(request, parts, name, kind, again, now, other=other)
    except DeliveryError as exc:
        wrong = {"test": say(request, "channels.test_failed", why=words_of(language_of(request)).retell(str(exc)))}
    except (Problem, UsageError) as exc:
        wrong = {"": str(exc)}
    else:
        return go_on(request, _HOME, "channel_saved", name=name)
    return await _channel_page(request, parts, name, kind, again, revision, wrong=wrong)


async def _other(
    parts: Parts, entry: SavedEntry | None, name: str, typed: Mapping[str, Any], words: Words
) -> deeds.OtherVersion:
    """Compare what another person saved with what was typed; of a secret, only whether one was typed."""
    section = parts.service.settings().channels.get(name)
    if entry is None or section is None:
        return deeds.other_version(None, {}, {})
    saved = (await deeds.show_channel(parts, name, section)).settings
    fields = _fields(parts, str(typed["type"]))
    there = {each.key: each.default for each in fields} | saved
    here = {each.key: each.default for each in fields} | dict(typed)
    for each in fields:
        if each.kind == "secret":
            kept = here[each.key] in {"", "***"}
            here[each.key] = there[each.key] if kept else words.say("channels.another_secret")
        elif each.kind == "truth":
            there[each.key] = str(there[each.key]).lower()
    return deeds.other_version(entry, there, here)


def _fields(parts: Parts, kind: str) -> list[ChannelField]:
    try:
        return fields_of(load_type(kind, parts.service.settings().delivery.plugins).Settings) if kind else []
    except UsageError:
        return []


def _has_form(parts: Parts, kind: str) -> bool:
    """Say whether a form has what is the type's own, beside what every type has."""
    try:
        settings = load_type(kind, parts.service.settings().delivery.plugins).Settings
    except UsageError:
        return False
    own = set(settings.__struct_fields__) - set(ChannelSettings.__struct_fields__)
    return not own or not own.isdisjoint(each.key for each in _fields(parts, kind))


def _place(kind: str) -> int:
    """Give the place of a type among those to choose from: ways to people come first."""
    return _FIRST.index(kind) if kind in _FIRST else len(_FIRST) + (kind in _LAST)


def _told(parts: Parts, kind: str) -> str:
    """Say what a type is, in the first sentence of its settings' description."""
    said = load_type(kind, parts.service.settings().delivery.plugins).Settings.__doc__ or ""
    return f"{' '.join(said.split()).split('. ')[0].rstrip('.')}."


def _label(key: str, told: Words) -> str:
    """Name a setting; one of a type from another package by its key."""
    if f"channel_field.{key}" in told:
        return told.say(f"channel_field.{key}")
    words = [word.upper() if word in _ACRONYMS else word for word in key.split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _secrets(parts: Parts, kind: str) -> set[str]:
    return {each.key for each in _fields(parts, kind) if each.kind == "secret"}


def _typed_channel(parts: Parts, kind: str, name: str, form: Any) -> dict[str, Any]:
    """Read the fields; an empty one is left out, and a secret that is empty stays as it is."""
    entry, found = deeds.entry_of(parts, "channel", name), {}
    for each in _fields(parts, kind):
        text = str(form.get(f"{_PREFIXES.get(each.kind, 's-')}{each.key}", "")).strip()
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
    other: deeds.OtherVersion | None = None,
    told: str = "",
) -> Response:
    types = sorted([*our_types(), *parts.service.settings().delivery.plugins], key=_place)
    entry, words = deeds.entry_of(parts, "channel", name), words_of(language_of(request))
    fields = [
        (
            each,
            _label(each.key, words),
            _shown(each, values.get(each.key)),
            bool(entry and entry.settings.get(each.key)),
        )
        for each in _fields(parts, kind)
    ]
    return await page(
        request,
        "channel_form.html",
        status=412 if other else 422 if wrong else 200,
        # A type that needs a file of this machine has no form: only its owner names one.
        types=(offered := [each for each in types if _has_form(parts, each)]),
        told_types=[(each, _told(parts, each)) for each in offered],
        name=name,
        kind=kind,
        fields=fields,
        revision=revision,
        wrong=wrong or {},
        other=other,
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


@router.get(f"{_HOME}/preview")
async def preview(
    request: Request,
    _: Reading,
    parts: Given,
    channel: Annotated[str, Query(max_length=63)],
    alert: Annotated[str, Query(max_length=26)] = "",
    route: Annotated[str | None, Query(max_length=63)] = None,
) -> Response:
    """Show an alert as a channel sends it; its HTML is in a frame."""
    shown = await deeds.preview_channel(parts, channel, alert or None, route)
    values = {"channel": channel, "alert": shown.alert or "", "route": shown.route}
    answer = await page(
        request,
        "preview.html",
        shown=shown,
        frame_path=f"{_HOME}/preview/html?{urlencode(values)}",
        alerts=previewed(await deeds.latest_alerts(parts, _LATEST)),
        routes=[each.name for each in parts.service.settings().routes],
        text=cut(shown.text, _MOST_SHOWN),
        body=cut(shown.body, _MOST_SHOWN),
    )
    answer.headers["Content-Security-Policy"] = f"{POLICY}; frame-src 'self'"
    return answer


@router.get(f"{_HOME}/preview/html")
async def preview_html(
    _: Reading,
    parts: Given,
    channel: Annotated[str, Query(max_length=63)],
    alert: Annotated[str, Query(max_length=26)] = "",
    route: Annotated[str | None, Query(max_length=63)] = None,
) -> Response:
    """Give the HTML of a message for the frame, where nothing in it can act."""
    shown = await deeds.preview_channel(parts, channel, alert or None, route)
    headers = {"Content-Security-Policy": _OF_MAIL, "X-Frame-Options": "SAMEORIGIN", "Cache-Control": "no-store"}
    return HTMLResponse(shown.html, headers=headers)


def previewed(alerts: Sequence[AlertRow]) -> list[tuple[str, str]]:
    """Name alerts to choose from."""
    found = []
    for alert in alerts:
        data = alert.event.get("data") or {}
        page_data = data.get("page") or {}
        title = page_data.get("text") or page_data.get("title") or alert.url or alert.event.get("subject") or alert.type
        found.append((alert.id, cut(f"{title}: {data.get('short') or ''}", _MOST_OF_A_CHOICE)))
    return found
