"""Settings as forms: their fields and values, and the validation of input. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.inspect import BoolType, LiteralType

from tocsin.configuration import mask, parse_page_settings
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
from tocsin.configuration.template import KEYS, SECTIONS
from tocsin.errors import SettingsError
from tocsin.model import JsonObject
from tocsin.settings import Settings

SECRET_KEYS: Final = ("auth", "proxy", "headers", "cookies")  # Secret settings, which forms neither show nor keep.
FORM_KEYS: Final = tuple(key for key in PAGE_KEYS if key not in SECRET_KEYS)

# The blocks of the form, in order.
BLOCKS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Alerts", ("mode", "tell", "report")),
    ("When pages are checked", ("every", "cron", "adaptive", "every_min", "every_max", "at_launch", "min_gap")),
    ("What counts as a major change", ("durational_threshold", "minor_threshold", "refresh_cap")),
    ("What is compared", ("signals", "signal_rules", "look_at", "ignore", "suspects")),
    ("Unreachable pages", ("tries", "retry_refused")),
)

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
    label: str
    meaning: str
    own: str
    inherited: str
    origin: str
    choices: tuple[str, ...] = ()
    error: str | None = None


def sections(settings: Settings, origins: Mapping[str, str]) -> list[Section]:
    """List all settings by section, in the order of the configuration file.

    origins  by dotted key, see `Service.origins`
    """
    found: dict[str, list[SettingLine]] = {}
    for path, value in walk(settings):
        found.setdefault(_section_of(path), []).append(line_of(path, value, origins))
    return [
        Section(name, SECTIONS.get(name, ""), tuple(lines))
        for name in SECTIONS
        if (lines := found.get(name)) is not None
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
) -> list[tuple[str, list[Field]]]:
    """Make the blocks of the form, with their fields.

    own        the values at this level, or the input, by key of PageSettings
    inherited  the inherited values; `origins` has their sources
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
        """The labels of the changed fields."""
        return [LABELS[key] for key in FORM_KEYS if key in self.settings or key in self.unset]


def read_revision(typed: str) -> int:
    """Read the revision of a form; 0 for a missing or invalid one, which is always stale."""
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) <= _MOST_DIGITS else -1


def read_settings_form(form: Mapping[str, str], stored: JsonObject) -> Filled:
    """Read a form with some of FORM_KEYS: an empty field inherits, a missing one stays as it is.

    stored  the values at this level: equal input changes nothing
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
