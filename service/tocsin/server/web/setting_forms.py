"""Settings of pages as somebody filled them in: what is to be set, what inherits again, or what is wrong. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.inspect import BoolType, LiteralType

from tocsin.configuration import mask, parse_page_settings
from tocsin.configuration.convert import NotAllowed, to_json, to_setting
from tocsin.configuration.template import KEYS, SECTIONS
from tocsin.configuration.tree import PAGE_KEYS, Path, dotted, pattern, type_at, walk
from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import JsonObject
    from tocsin.settings import Settings


SECRET_KEYS: Final = ("auth", "proxy", "headers", "cookies")
"""Settings of pages that nobody is shown, so that a form can neither show nor keep them."""
FORM_KEYS: Final = tuple(key for key in PAGE_KEYS if key not in SECRET_KEYS)

BLOCKS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Alerts", ("mode", "tell", "report")),
    ("When pages are checked", ("every", "cron", "adaptive", "every_min", "every_max", "at_launch", "min_gap")),
    ("What counts as a major change", ("durational_threshold", "minor_threshold", "refresh_cap")),
    ("What is compared", ("signals", "signal_rules", "look_at", "ignore", "suspects")),
    ("Unreachable pages", ("tries", "retry_refused")),
)
"""The form, in the order in which somebody thinks of it."""

LABELS: Final = {
    "mode": "Mode",
    "tell": "Report",
    "report": "Also report",
    "every": "Interval",
    "cron": "Or cron",
    "adaptive": "Adaptive",
    "every_min": "Shortest adaptive interval",
    "every_max": "Longest adaptive interval",
    "at_launch": "Due at startup after",
    "min_gap": "Minimum interval",
    "durational_threshold": "Durational threshold",
    "minor_threshold": "Minor threshold",
    "refresh_cap": "Refresh limit",
    "signals": "Signals",
    "signal_rules": "Signal rules",
    "look_at": "Compare only",
    "ignore": "Leave out",
    "suspects": "Login and error pages",
    "tries": "Retries",
    "retry_refused": "Retry refusals",
}


class Line(Struct, frozen=True):
    """A setting of the configuration.

    value   as TOML has it, secrets masked
    origin  "default", the file with its name, a variable of the environment, an option
    """

    key: str
    value: str
    origin: str
    meaning: str

    @property
    def is_default(self) -> bool:
        """Nobody set it."""
        return self.origin == "default"


class Section(Struct, frozen=True):
    """Settings that belong together."""

    name: str
    meaning: str
    lines: tuple[Line, ...]


class Field(Struct, frozen=True):
    """A setting of pages that can be set at run time, as its form shows it.

    own        what is set at this level, as typed; empty: it inherits
    inherited  what holds without it, and
    origin     where that comes from
    choices    what it may be; empty: free text
    error      what is wrong with what was typed
    """

    key: str
    label: str
    meaning: str
    own: str
    inherited: str
    origin: str
    choices: tuple[str, ...] = ()
    error: str | None = None


def sections(settings: Settings, origins: Mapping[str, str]) -> list[Section]:
    """List every setting by its section, as the configuration's file has them.

    origins  by dotted key, as `Service.origins` gives them
    """
    found: dict[str, list[Line]] = {}
    for path, value in walk(settings):
        found.setdefault(_section_of(path), []).append(line_of(path, value, origins))
    return [
        Section(name, SECTIONS.get(name, ""), tuple(lines))
        for name in SECTIONS
        if (lines := found.get(name)) is not None
    ]


def line_of(path: Path, value: Any, origins: Mapping[str, str]) -> Line:
    """Show one setting; what is secret is masked before it is written."""
    key = dotted(path)
    return Line(key, written(path, mask(path, value)), origins.get(key, "default"), _meaning(path))


def fields(
    own: Mapping[str, str],
    inherited: Mapping[str, Any],
    origins: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
) -> list[tuple[str, list[Field]]]:
    """Make the form: its blocks, each with its fields.

    own        what is set at this level, or was typed, by key of PageSettings
    inherited  what holds without that, as settings hold it; `origins` says where each comes from
    """
    blamed = errors or {}
    return [
        (
            title,
            [
                Field(
                    key,
                    LABELS[key],
                    KEYS[f"pages.{key}"],
                    own.get(key, ""),
                    written(("pages", key), inherited[key]),
                    origins.get(key, "default"),
                    choices_of(key),
                    blamed.get(key),
                )
                for key in keys
            ],
        )
        for title, keys in BLOCKS
    ]


def choices_of(key: str) -> tuple[str, ...]:
    """What a setting of pages may be, where it is one of few."""
    kind = type_at(("pages", key))
    if isinstance(kind, BoolType):
        return ("true", "false")
    return tuple(str(value) for value in kind.values) if isinstance(kind, LiteralType) else ()


def as_typed(settings: JsonObject) -> dict[str, str]:
    """Write what is stored at one level as somebody types it into the form."""
    return {key: written(("pages", key), value) for key, value in settings.items() if key in FORM_KEYS}


def written(path: Path, value: Any) -> str:
    """Write a value as it is typed into a form or a variable."""
    value = to_json(path, value)
    match value:
        case bool():
            return str(value).lower()
        case list() if all(isinstance(each, str) and "," not in each for each in value):
            return ", ".join(value)
        case list() | dict():
            return json.dumps(value, ensure_ascii=False) if value else ""
        case _:
            return str(value)


def _section_of(path: Path) -> str:
    below = path[:-1]
    return next(name for depth in range(len(below), 0, -1) if (name := dotted(below[:depth])) in SECTIONS)


def _meaning(path: Path) -> str:
    return KEYS.get(pattern(path), "")


_LONGEST: Final = 4000
_MOST_DIGITS: Final = 18
"""Of an integer of the store."""


class Filled(Struct, frozen=True):
    """A form as it was filled in.

    typed     what stands in each field, to be shown again
    settings  what is set from now on, ready to be stored; `unset` inherits again
    wrong     by field, why it cannot be used; `clashes` is what does not go together
    """

    typed: dict[str, str]
    settings: JsonObject
    unset: tuple[str, ...]
    wrong: dict[str, str]
    clashes: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        """All of it can be used."""
        return not self.wrong and not self.clashes

    @property
    def changes(self) -> list[str]:
        """The labels of what it changes."""
        return [LABELS[key] for key in FORM_KEYS if key in self.settings or key in self.unset]


def read_revision(typed: str) -> int:
    """Read what a form stands on; what is made up, or left out, is older than anything."""
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) <= _MOST_DIGITS else -1


def read_settings_form(form: Mapping[str, str], stored: JsonObject) -> Filled:
    """Read a form that has fields for some of FORM_KEYS: an empty one inherits, one that is not there stays as it is.

    stored  what is set at this level now: what is typed as it stands there changes nothing
    """
    before = as_typed(stored)
    typed = {key: form.get(key, before.get(key, "")).strip()[:_LONGEST] for key in FORM_KEYS}
    given = {key: text for key, text in typed.items() if text}
    wrong, values = {}, {}
    for key, text in given.items():
        try:
            values[key] = to_json(("pages", key), to_setting(("pages", key), text, written=True))
        except NotAllowed as exc:
            wrong[key] = f"allowed is {exc}"
    clashes: tuple[str, ...] = ()
    if not wrong:
        try:
            parse_page_settings(given, source="Together")
        except SettingsError as exc:
            clashes = tuple(str(exc).splitlines())
    return Filled(
        typed,
        {key: value for key, value in values.items() if stored.get(key) != value},
        tuple(key for key in before if not typed[key]),
        wrong,
        clashes,
    )
