"""*Settings*: of all pages and of groups, the settings in use with their sources, the audit log (T50 to T54)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from msgspec import Struct
from msgspec.inspect import BoolType, LiteralType
from msgspec.structs import replace

from tocsin.configuration import mask, parse_page_settings, resolve_page_origins, resolve_readable
from tocsin.configuration.convert import (
    PAGE_KEYS,
    NotAllowed,
    Path,
    dotted,
    pattern,
    to_json,
    to_setting,
    type_at,
    walk,
)
from tocsin.configuration.loading import mask_settings
from tocsin.configuration.template import KEYS, SECTIONS
from tocsin.errors import SettingsError
from tocsin.model import GroupRow, JsonObject
from tocsin.server.actions import Act, Stale, edit_defaults, remove_group, revision_of
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.notifications import OtherVersion, differing
from tocsin.server.parts import Administering, Given, Parts, Reading, Writing
from tocsin.server.web.formatting import fitting_by, local_path, weight
from tocsin.server.web.rendering import (
    KEYS_COOKIE,
    LANGUAGE_COOKIE,
    LOOK_COOKIE,
    LOOKS,
    Undo,
    go_on,
    page,
    say,
    typed_again,
)
from tocsin.settings import PageSettings, Settings
from tocsin.wording.words import LANGUAGES

# Settings as forms: their fields and values, and the validation of input. Pure.


# Secret settings, which forms neither show nor keep.
SECRET_KEYS: Final = ("auth", "proxy", "headers", "cookies", "secrets")
# Lists with an entry a line: what is in them has commas of its own.
LINE_KEYS: Final = ("steps",)
FORM_KEYS: Final = tuple(key for key in PAGE_KEYS if key not in SECRET_KEYS)

# The steps of the form, in order; their titles are in the section `page_settings` of the words.
STEPS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("often", ("every", "cron", "adaptive", "every_min", "every_max", "at_launch", "min_gap")),
    ("counts", ("look_at", "ignore")),
    ("major", ("signal_rules", "minor_threshold", "durational_threshold", "signals", "refresh_cap")),
    ("notify", ("tell", "report", "route")),
    ("read", ("fetch", "ready", "steps", "consent")),
    ("more", ("mode", "suspects", "tries", "retry_refused")),
)


class SettingLine(Struct, frozen=True):
    """A setting of the configuration.

    value   as TOML, secrets masked
    origin  "default", the file with its name, a variable of the environment, an option
    """

    key: str
    value: str
    origin: str
    meaning: str

    @property
    def is_default(self) -> bool:
        """Whether it has its default."""
        return self.origin == "default"


class Section(Struct, frozen=True):
    """A section of the configuration."""

    name: str
    meaning: str
    lines: tuple[SettingLine, ...]


class Field(Struct, frozen=True):
    """A field of the form.

    own        the value at this level, as typed; empty: it inherits
    inherited  the inherited value
    origin     the source of the inherited value
    choices    the possible values; empty: free text
    error      of the input
    """

    key: str
    own: str
    inherited: str
    origin: str
    choices: tuple[str, ...] = ()
    error: str | None = None

    @property
    def has_lines(self) -> bool:
        """Whether it has an entry a line."""
        return self.key in LINE_KEYS

    @property
    def in_force(self) -> str:
        """The value that applies."""
        return self.own or self.inherited


# They are lists, which the page Notifications tells as sentences.
_SHOWN_ELSEWHERE: Final = frozenset({"routes", "silences"})


def sections(settings: Settings, origins: Mapping[str, str]) -> list[Section]:
    """List the settings by section, in the order of the configuration file.

    origins  by dotted key, see `Service.origins`
    """
    found: dict[str, list[SettingLine]] = {}
    for path, value in walk(settings):
        found.setdefault(_section_of(path), []).append(line_of(path, value, origins))
    return [
        Section(name, SECTIONS.get(name, ""), tuple(lines))
        for name in SECTIONS
        if (lines := found.get(name)) is not None and name not in _SHOWN_ELSEWHERE
    ]


def line_of(path: Path, value: Any, origins: Mapping[str, str]) -> SettingLine:
    """Make the line of a setting; secrets are masked first."""
    key = dotted(path)
    return SettingLine(key, written(path, mask(path, value)), origins.get(key, "default"), _meaning(path))


def fields(
    own: Mapping[str, str],
    inherited: Mapping[str, Any],
    origins: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
) -> dict[str, Field]:
    """Make the fields of the form, by key.

    own        the values at this level, or the input, by key of PageSettings
    inherited  the inherited values; `origins` has their sources
    """
    blamed = errors or {}
    return {
        key: Field(
            key,
            own.get(key, ""),
            written(("pages", key), inherited[key]),
            origins.get(key, "default"),
            choices_of(key),
            blamed.get(key),
        )
        for _, keys in STEPS
        for key in keys
    }


def steps_of(fields: Mapping[str, Field]) -> list[tuple[str, list[Field]]]:
    """Put the fields under their steps."""
    return [(name, [fields[key] for key in keys]) for name, keys in STEPS]


def choices_of(key: str) -> tuple[str, ...]:
    """Return the possible values of a setting; empty for free text."""
    kind = type_at(("pages", key))
    if isinstance(kind, BoolType):
        return ("true", "false")
    return tuple(str(value) for value in kind.values) if isinstance(kind, LiteralType) else ()


def as_typed(settings: JsonObject) -> dict[str, str]:
    """Write stored settings as a user types them."""
    return {key: written(("pages", key), value) for key, value in settings.items() if key in FORM_KEYS}


def written(path: Path, value: Any) -> str:
    """Write a value as a user types it."""
    value = to_json(path, value)
    match value:
        case list() if path[-1] in LINE_KEYS:
            return "\n".join(map(str, value))
        case bool():
            return str(value).lower()
        # Commas separate values of a field; a value with a comma is written as JSON, which is read back.
        case list() if all(isinstance(each, str) and "," not in each for each in value):
            return ", ".join(value)
        case list() | dict():
            return json.dumps(value, ensure_ascii=False) if value else ""
        case _:
            return str(value)


def _section_of(path: Path) -> str:
    # A list of tables is a section by itself.
    below = path[:-1] or path
    return next(name for depth in range(len(below), 0, -1) if (name := dotted(below[:depth])) in SECTIONS)


def _meaning(path: Path) -> str:
    return KEYS.get(pattern(path), "")


# Of one value in a form; selectors can be long.
_LONGEST: Final = 4000
_MOST_DIGITS: Final = 18  # Digits of a revision.


class Filled(Struct, frozen=True):
    """The validated input of a form.

    typed     the input, to be shown again
    settings  the new values, ready to be stored; `unset` are the keys that inherit again
    wrong     errors by field; `clashes` are errors of combinations
    """

    typed: dict[str, str]
    settings: JsonObject
    unset: tuple[str, ...]
    wrong: dict[str, str]
    clashes: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether there are no errors."""
        return not self.wrong and not self.clashes

    @property
    def changes(self) -> list[str]:
        """The keys of the changed fields."""
        return [key for key in FORM_KEYS if key in self.settings or key in self.unset]


def read_revision(typed: str) -> int:
    """Read the revision of a form; -1 for a missing or invalid one, which is always stale."""
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) <= _MOST_DIGITS else -1


def read_settings_form(form: Mapping[str, str], stored: JsonObject) -> Filled:
    """Read a form with some of FORM_KEYS: an empty field inherits, a missing one stays as it is.

    stored  the values at this level: equal input changes nothing
    """
    before = as_typed(stored)
    # A field that the form does not have, as from an older page, leaves the setting as it is.
    typed = {key: form.get(key, before.get(key, "")).strip()[:_LONGEST] for key in FORM_KEYS}
    given = {key: text for key, text in typed.items() if text}
    wrong, values = {}, {}
    for key, text in given.items():
        try:
            values[key] = to_json(("pages", key), to_setting(("pages", key), text, written=True))
        except NotAllowed as exc:
            wrong[key] = f"allowed is {exc}"
    clashes: tuple[str, ...] = ()
    # What two values forbid together can only be judged where each is allowed.
    if not wrong:
        try:
            parse_page_settings(given, source="Together")
        except SettingsError as exc:
            clashes = tuple(str(exc).splitlines())
    return Filled(
        typed,
        # Only what differs is written, and audited.
        {key: value for key, value in values.items() if stored.get(key) != value},
        tuple(key for key in before if not typed[key]),
        wrong,
        clashes,
    )


router = APIRouter(include_in_schema=False)

# Bytes of the list of groups; the page stays below 50 KB.
_ROOM_FOR_GROUPS: Final = 38_000
_PART: Final = 40
_LONGEST_GROUP: Final = 63
_YEAR_S: Final = 365 * 86_400
Mode = Literal["on", "auto", "off"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)
TABS: Final = (
    ("/settings", "all_pages"),
    ("/settings/groups", "groups"),
    ("/settings/force", "in_use"),
    ("/settings/access", "access"),
    ("/settings/audit", "audit"),
    ("/machines", "machines"),
)


def tabs_at(path: str) -> list[tuple[str, str, None, bool]]:
    """Return the parts of *Settings*: path, key of the title, no count, whether it is this one."""
    return [(each, key, None, each == path) for each, key in TABS]


class SettingsLevel(Struct, frozen=True):
    """The settings of one level.

    own        as stored
    inherited  the inherited values; `origins` has their sources
    """

    own: JsonObject
    inherited: PageSettings
    origins: dict[str, str]
    revision: int


@router.get("/settings")
async def for_all(request: Request, _caller: Reading, parts: Given) -> Response:
    """Show the settings of all pages."""
    return await _form(request, parts, None)


@router.get("/settings/groups")
async def groups(request: Request, _caller: Reading, parts: Given) -> Response:
    """List groups with their settings."""
    rows = await parts.store.group_rows()
    return await page(
        request,
        "groups.html",
        tabs=tabs_at("/settings/groups"),
        groups=(kept := fitting_by([(row, mask_settings(row.settings)) for row in rows], _ROOM_FOR_GROUPS, _weight_of)),
        more=len(rows) - len(kept),
    )


@router.get("/settings/group")
async def for_group(
    request: Request, _caller: Reading, parts: Given, name: Annotated[str, Query(max_length=_LONGEST_GROUP)]
) -> Response:
    """Show the settings of a group."""
    return await _form(request, parts, name)


@router.post("/settings/groups/remove")
async def drop_group(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    group: Annotated[str, Form(max_length=_LONGEST_GROUP)],
) -> Response:
    """Delete an empty group, with its settings."""
    await remove_group(parts, Act(work, caller), group)
    return go_on(request, "/settings/groups", "group_removed", group=group)


@router.post("/settings/pages")
async def edit(request: Request, caller: Writing, parts: Given, work: Work) -> Response:
    """Change the settings of all pages or of a group; a stale form is shown again."""
    form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    group = form.get("group") or None
    revision = form.get("revision", "")
    level = await _level(parts, group)
    filled = read_settings_form(form, level.own)
    if await typed_again(request):
        return await _form(request, parts, group, filled, revision=revision)
    if not filled.is_good:
        return await _form(request, parts, group, filled, status=422, revision=revision)
    path = path_of(group)
    # No job, no entry in the audit log for a form that was only sent.
    if not filled.settings and not filled.unset:
        return go_on(request, path, "nothing_changed", kind="warn")
    try:
        act, known = Act(work, caller), read_revision(revision)
        job = await edit_defaults(parts, act, group, filled.settings, filled.unset, if_revision=known)
    except Stale:
        return await _form(request, parts, group, filled, status=409, is_stale=True)
    except SettingsError as exc:
        wrong = replace(filled, clashes=tuple(str(exc).splitlines()))
        return await _form(request, parts, group, wrong, status=422, revision=revision)
    row = await job.wait(PATIENCE_S)
    more = (f"/jobs/{row.id}", "updating") if row.state == "running" else None
    labels = ", ".join(say(request, f"page_setting.{key}") for key in filled.changes)
    return go_on(request, path, "set_group" if group else "set_all", more=more, group=group, settings=labels)


@router.post("/settings/mode")
async def set_mode(
    request: Request, caller: Writing, parts: Given, work: Work, mode: Annotated[Mode, Form()]
) -> Response:
    """Set the mode of all pages with one click (T52)."""
    before, _ = await parts.store.overrides()
    # Read before the change, for the undo.
    was = before.get("mode", parts.service.settings().pages.mode)
    job = await edit_defaults(parts, Act(work, caller), None, {"mode": mode}, ())
    row = await job.wait(PATIENCE_S)
    more = (f"/jobs/{row.id}", "updating") if row.state == "running" else None
    undo = Undo("/settings/mode", say(request, "notice.undo"), {"mode": str(was)}) if was != mode else None
    return go_on(request, "/settings", f"mode_{mode}", kind="good" if mode != "off" else "warn", undo=undo, more=more)


@router.post("/settings/unset")
async def unset(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    key: Annotated[str, Form(max_length=64)],
    group: Annotated[str, Form(max_length=_LONGEST_GROUP)] = "",
) -> Response:
    """Unset one setting, for those that the form does not show."""
    job = await edit_defaults(parts, Act(work, caller), group or None, {}, (key,))
    await job.wait(PATIENCE_S)
    return go_on(request, path_of(group or None), "unset_group" if group else "unset_all", setting=key, group=group)


@router.get("/settings/force")
async def in_force(request: Request, _caller: Reading, parts: Given) -> Response:
    """Show all settings in use, with their sources."""
    over, _ = await parts.store.overrides()
    return await page(
        request,
        "in_force.html",
        tabs=tabs_at("/settings/force"),
        sections=sections(parts.service.settings(), parts.service.origins()),
        over=as_typed(over),
    )


@router.get("/settings/audit")
async def audit_log(
    request: Request,
    _caller: Administering,
    parts: Given,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """Show the audit log."""
    found = await parts.store.audit(cursor=cursor, limit=_PART)
    return await page(
        request,
        "audit.html",
        tabs=tabs_at("/settings/audit"),
        entries=found.rows,
        following=f"/settings/audit?{urlencode({'cursor': found.next})}" if found.next else None,
        first="/settings/audit" if cursor else None,
    )


def _weight_of(entry: tuple[GroupRow, JsonObject]) -> int:
    """Return the bytes of a group in the list: its name is in two links, percent-encoded."""
    name = entry[0].name
    return 900 + 2 * len(quote(name)) + sum(weight(key) + 40 for key in entry[1])


def path_of(group: str | None) -> str:
    """Return the path of the form of a group, or of all pages."""
    return f"/settings/group?{urlencode({'name': group})}" if group is not None else "/settings"


async def _level(parts: Parts, group: str | None) -> SettingsLevel:
    revision = await revision_of(parts, group)
    base, origins = parts.service.settings().pages, parts.service.origins()
    over, named = await parts.store.overrides()
    if group is None:
        return SettingsLevel(over, base, {key: origins.get(f"pages.{key}", "default") for key in _keys(base)}, revision)
    own = next((settings for name, settings in named.values() if name == group), {})
    return SettingsLevel(
        own, resolve_readable(base, over, {}, None).settings, resolve_page_origins(origins, over, {}, None), revision
    )


def _keys(base: PageSettings) -> tuple[str, ...]:
    return base.__struct_fields__


async def _form(
    request: Request,
    parts: Parts,
    group: str | None,
    filled: Filled | None = None,
    *,
    status: int = 200,
    revision: str | None = None,
    is_stale: bool = False,
) -> Response:
    level = await _level(parts, group)
    inherited: Mapping[str, object] = {key: getattr(level.inherited, key) for key in _keys(level.inherited)}
    own = as_typed(level.own)
    typed = filled.typed if filled is not None else own
    by_key = fields(typed, inherited, level.origins, filled.wrong if filled is not None else None)
    return await page(
        request,
        "settings.html",
        status=status,
        tabs=tabs_at("/settings" if group is None else "/settings/groups"),
        group=group,
        steps=steps_of(by_key),
        field_of=by_key,
        wrong=_complaints(request, filled),
        other=OtherVersion(differing(own, {key: text for key, text in typed.items() if text})) if is_stale else None,
        revision=revision if revision is not None else str(level.revision),
        hidden=mask_settings({key: value for key, value in level.own.items() if key in SECRET_KEYS}),
        modes=MODES,
        mode=str(level.own.get("mode", level.inherited.mode)),
        offers_demo=group is None and not parts.service.demo.is_on,
    )


def _complaints(request: Request, filled: Filled | None) -> list[str]:
    if filled is None:
        return []
    if filled.wrong:
        return [say(request, "settings.wrong_fields", n=len(filled.wrong))]
    return list(filled.clashes)


@router.post("/look")
async def set_look(
    _caller: Reading,
    look: Annotated[str, Form()] = "",
    language: Annotated[str, Form()] = "",
    keys: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/",
) -> Response:
    """Set the cookies for light or dark mode, the language and single keys, and redirect back."""
    answer = RedirectResponse(local_path(back), status_code=303)
    if look == "auto":
        answer.delete_cookie(LOOK_COOKIE, httponly=True, samesite="lax")
    elif look in LOOKS:
        answer.set_cookie(LOOK_COOKIE, look, max_age=_YEAR_S, httponly=True, samesite="lax")
    if language in LANGUAGES:
        answer.set_cookie(LANGUAGE_COOKIE, language, max_age=_YEAR_S, httponly=True, samesite="lax")
    if keys == "on":
        answer.delete_cookie(KEYS_COOKIE, httponly=True, samesite="lax")
    elif keys == "off":
        answer.set_cookie(KEYS_COOKIE, keys, max_age=_YEAR_S, httponly=True, samesite="lax")
    return answer
