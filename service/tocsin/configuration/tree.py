"""The settings as a tree of dotted keys: types, values, and which changes a running service takes up."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import msgspec
from msgspec import Struct
from msgspec.inspect import DictType, StructType, Type, type_info

from tocsin.settings import PageSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


Path: TypeAlias = tuple[str, ...]

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
ROOT: Final = cast("StructType", type_info(Settings))
PAGE_KEYS: Final = tuple(PageSettings.__struct_fields__)


class UnknownKey(Exception):
    """No setting has this key.

    path     up to the part that is unknown
    nearest  the known key with the most similar spelling, or None
    known    all keys at this place
    """

    def __init__(self, path: Path, known: Iterable[str]) -> None:
        super().__init__(dotted(path))
        self.path = path
        self.known = tuple(known)
        close = get_close_matches(path[-1].lower(), self.known, n=1)
        self.nearest = dotted((*path[:-1], close[0])) if close else None


def dotted(path: Path) -> str:
    """Write a path as TOML writes a key: parts that are not bare in quotes."""
    return ".".join(part if _BARE.fullmatch(part) else f'"{part}"' for part in path)


def pattern(path: Path) -> str:
    """Name the setting of a path: names that the user chose (channels, rules of hosts) become `*`."""
    parts: list[str] = []
    here: Type = ROOT
    for part in path:
        parts.append("*" if is_named_table(here) else part)
        here = _below(here, part)
    return ".".join(parts)


def type_at(path: Path) -> Type:
    """Return the type of the setting (or section) with this path.

    Raises UnknownKey.
    """
    here: Type = ROOT
    for depth, part in enumerate(path):
        if isinstance(here, StructType) and part not in _names(here):
            raise UnknownKey(path[: depth + 1], _names(here))
        if not isinstance(here, StructType) and not is_named_table(here):
            raise UnknownKey(path[: depth + 1], ())
        here = _below(here, part)
    return here


def is_section(kind: Type) -> bool:
    """Tell whether it has settings below it."""
    return isinstance(kind, StructType) or is_named_table(kind)


def is_named_table(kind: Type) -> bool:
    """Tell whether it is a table of sections whose names the user chooses."""
    return isinstance(kind, DictType) and isinstance(kind.value_type, StructType)


def required_keys(kind: StructType) -> tuple[str, ...]:
    """List the keys of a section that have no default."""
    return tuple(field.name for field in kind.fields if field.required)


def flatten(section: Struct, path: Path = ()) -> dict[str, Any]:
    """List every setting of an instance by its dotted key; unset ones of the rules of hosts are left out."""
    return {dotted(where): value for where, value in walk(section, path)}


def walk(section: Struct, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every setting of an instance with its path."""
    for name, value in msgspec.structs.asdict(section).items():
        below = (*path, name)
        if isinstance(value, Struct):
            yield from walk(value, below)
        elif isinstance(value, dict) and is_named_table(type_at(below)):
            for key, inner in value.items():
                yield from walk(inner, (*below, key))
        elif value is not None:
            yield below, value


def _below(kind: Type, part: str) -> Type:
    if isinstance(kind, StructType):
        return next(field.type for field in kind.fields if field.name == part)
    return kind.value_type if isinstance(kind, DictType) else kind


def _names(kind: StructType) -> tuple[str, ...]:
    return tuple(field.name for field in kind.fields)


# Changes of the configuration of a running service.


# A running service takes these up at once; the others are built into connections, files or processes.
_RELOADED: Final = ("pages.", "hosts.", "render.limit", "render.resume_at", "channels.", "http.tokens")
_BUILT_IN: Final = ".certificate"


def changed_keys(old: Settings, new: Settings) -> list[str]:
    """List the dotted keys whose values differ, including those that only one side has."""
    before, after = flatten(old), flatten(new)
    return sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def is_reloaded(key: str) -> bool:
    """Tell whether a running service takes up a new value of this dotted key at once."""
    return key.startswith(_RELOADED) and not key.endswith(_BUILT_IN)


def needs_restart(old: Settings, new: Settings) -> list[str]:
    """List the changed keys that a running service cannot take up."""
    changed = changed_keys(old, new)
    return [key for key in changed if not is_reloaded(key)]
