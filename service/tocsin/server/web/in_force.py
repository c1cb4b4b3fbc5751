"""Every setting as it is in force: what it is, where that comes from, and what it means. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.inspect import BoolType, LiteralType

from tocsin.configuration import mask
from tocsin.configuration.convert import to_json
from tocsin.configuration.template import KEYS, SECTIONS
from tocsin.configuration.tree import PAGE_KEYS, Path, dotted, pattern, type_at, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.model import JsonObject
    from tocsin.settings import Settings

SECRET_KEYS: Final = ("auth", "proxy", "headers", "cookies")
"""Settings of pages that nobody is shown, so that a form can neither show nor keep them."""
FORM_KEYS: Final = tuple(key for key in PAGE_KEYS if key not in SECRET_KEYS)

BLOCKS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("Awareness", ("mode", "tell", "report")),
    ("When pages are checked", ("every", "cron", "adaptive", "every_min", "every_max", "at_launch", "min_gap")),
    ("What counts as a major change", ("durational_threshold", "minor_threshold", "refresh_cap")),
    ("What else pages say", ("signals", "signal_rules", "look_at", "ignore", "suspects")),
    ("When a page cannot be received", ("tries", "retry_refused")),
)
"""The form, in the order in which somebody thinks of it."""

LABELS: Final = {
    "mode": "Mode",
    "tell": "Tell me of",
    "report": "Tell these, too",
    "every": "Interval",
    "cron": "Or by cron",
    "adaptive": "Adaptive",
    "every_min": "Shortest interval",
    "every_max": "Longest interval",
    "at_launch": "Due at a start after",
    "min_gap": "Least gap",
    "durational_threshold": "Durational threshold",
    "minor_threshold": "Minor threshold",
    "refresh_cap": "Refresh at most",
    "signals": "Signals",
    "signal_rules": "Rules for signals",
    "look_at": "Look at",
    "ignore": "Ignore",
    "suspects": "Suspect answers",
    "tries": "Further tries",
    "retry_refused": "Try refusals again",
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
