"""Settings by their dotted keys: the type of each, and how its values are written and read."""

from __future__ import annotations

import re
import tomllib
from datetime import timedelta
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.inspect import (
    BoolType,
    DictType,
    IntType,
    LiteralType,
    Metadata,
    NoneType,
    StrType,
    StructType,
    TimeDeltaType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from tocsin.configuration import limits
from tocsin.settings import ChannelSettings, PageSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


Path: TypeAlias = tuple[str, ...]
T = TypeVar("T")

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
ROOT: Final = cast("StructType", type_info(Settings))
PAGE_KEYS: Final = tuple(PageSettings.__struct_fields__)


class ChannelName(str):
    """The name of a channel in a path, with the class of its type's settings: which keys there are depends on it."""

    __slots__ = ("kind",)
    kind: type[ChannelSettings]

    def __new__(cls, name: str, kind: type[ChannelSettings]) -> Self:
        """Make the part of a path."""
        made = super().__new__(cls, name)
        made.kind = kind
        return made


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
    return _bare(_annotated_at(path))


def traits_at(path: Path) -> Mapping[str, Any]:
    """Return what `settings` says of this setting beyond its type: how it is shown and checked. Raises UnknownKey."""
    return _traits(_annotated_at(path))


def described(path: Path) -> str:
    """Return the description of a setting of a channel; empty for others."""
    kind = _annotated_at(path)
    said = (kind.extra_json_schema or {}) if isinstance(kind, Metadata) else {}
    return str(said.get("description", ""))


def is_secret(path: Path) -> bool:
    """Tell whether the value is a secret text, which may also be in a file. Raises UnknownKey."""
    return traits_at(path).get("shown") in {"never", "host", "scheme"}


def _annotated_at(path: Path) -> Type:
    here: Type = ROOT
    for depth, part in enumerate(path):
        bare = _bare(here)
        if isinstance(bare, StructType) and part not in _names(bare):
            raise UnknownKey(path[: depth + 1], _names(bare))
        if not isinstance(bare, StructType) and not is_named_table(bare):
            raise UnknownKey(path[: depth + 1], ())
        here = _below(bare, part)
    return here


def _bare(kind: Type) -> Type:
    return kind.type if isinstance(kind, Metadata) else kind


def _traits(kind: Type) -> Mapping[str, Any]:
    return (kind.extra or {}) if isinstance(kind, Metadata) else {}


def is_section(kind: Type) -> bool:
    """Tell whether it has settings below it."""
    return isinstance(kind, StructType) or is_named_table(kind)


def is_named_table(kind: Type) -> bool:
    """Tell whether it is a table of sections whose names the user chooses."""
    return isinstance(kind, DictType) and isinstance(kind.value_type, StructType)


def is_table_list(kind: Type) -> bool:
    """Tell whether it is a list of tables, such as the routes; `configuration.routes` reads those."""
    return isinstance(kind, VarTupleType) and isinstance(kind.item_type, StructType)


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
                named = ChannelName(key, type(inner)) if isinstance(inner, ChannelSettings) else key
                yield from walk(inner, (*below, named))
        elif value is not None:
            yield below, value


def _below(kind: Type, part: str) -> Type:
    kind = _bare(kind)
    if isinstance(part, ChannelName):
        return _type_of(part.kind)
    if isinstance(kind, StructType):
        return next(field.type for field in kind.fields if field.name == part)
    return kind.value_type if isinstance(kind, DictType) else kind


@lru_cache(maxsize=64)
def _type_of(kind: type[ChannelSettings]) -> Type:
    return type_info(kind)


def _names(kind: StructType) -> tuple[str, ...]:
    return tuple(field.name for field in kind.fields)


# Changes of the configuration of a running service.


# A running service takes these up at once; the others are built into connections, files or processes.
_RELOADED: Final = (
    "pages.", "hosts.", "render.limit", "render.resume_at", "channels.", "delivery.plugins", "routes",
    "silences", "messages.", "http.tokens",
)  # fmt: skip
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


# Durations and sizes as people write them.

_UNITS: Final = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_PART: Final = re.compile(r"([0-9]{1,12})(ms|[wdhms])")
_SPAN: Final = re.compile(r"(?:[0-9]{1,12}(?:ms|[wdhms]))+")
# Units for writing; weeks are only read.
_SHOWN: Final = ("d", "h", "m", "s", "ms")
# Written in the next smaller unit: 24h, 60s.
_SELDOM: Final = (timedelta(days=1), timedelta(minutes=1))

_SIZES: Final = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_SIZE: Final = re.compile(r"([0-9]{1,18})[ ]?(B|[KMG]i?B|)")


def parse_span(text: str) -> timedelta:
    """Read a duration: `100ms 10s 5m 24h 80d 2w`, or several of them (`1h30m`); `0` needs no unit.

    Raises ValueError for anything else.
    """
    if text == "0":
        return timedelta()
    if not _SPAN.fullmatch(text):
        raise ValueError(text)
    try:
        return sum((int(number) * _UNITS[unit] for number, unit in _PART.findall(text)), timedelta())
    except OverflowError as exc:
        raise ValueError(text) from exc


def show_span(span: timedelta) -> str:
    """Write a duration for `parse_span`, without parts of a millisecond."""
    for unit in _SHOWN:
        if span and not span % _UNITS[unit] and not (span in _SELDOM and span == _UNITS[unit]):
            # One unit is easier to read than several: 36h, not 1d12h.
            return f"{span // _UNITS[unit]}{unit}"
    return f"{span // _UNITS['ms']}ms" if span else "0s"


def parse_size(text: str) -> int:
    """Read a size in bytes: `512KiB 10MiB 1GB 4096`.

    Raises ValueError for anything else.
    """
    match = _SIZE.fullmatch(text)
    if not match:
        raise ValueError(text)
    return int(match[1]) * _SIZES[match[2]]


def show_size(count: int) -> str:
    """Write a number of bytes so that `parse_size` reads it again."""
    for unit in ("GiB", "MiB", "KiB"):
        if count and not count % _SIZES[unit]:
            return f"{count // _SIZES[unit]}{unit}"
    return f"{count}B"


_YES: Final = ("true", "yes", "on", "1")
_NO: Final = ("false", "no", "off", "0")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")


# Converting one value to the type of its setting, or saying what is allowed.


class NotAllowed(Exception):
    """The value does not fit the setting; the text says what is allowed."""


def to_setting(path: Path, value: object, *, written: bool) -> Any:
    """Convert a value to the type of the setting at `path`.

    value    from TOML, or text
    written  the value is text from the environment or a command line, though the setting may have another type
    Raises NotAllowed, whose text says what is allowed.
    """
    return _convert(_annotated_at(path), pattern(path), value, written=written)


def to_json(path: Path, value: Any) -> Any:
    """Convert a setting's value to TOML and JSON; `to_setting` reads it again."""
    if isinstance(value, timedelta):
        return show_span(value)
    if isinstance(value, tuple):
        return msgspec.to_builtins(list(value))
    if pattern(path) in limits.SIZES:
        return show_size(value)
    return value


def _convert(kind: Type, key: str, value: object, *, written: bool) -> Any:
    result: Any
    match kind:
        case Metadata():
            result = _annotated(kind, key, value, written=written)
        case TimeDeltaType():
            result = _span(value, *limits.SPANS.get(key, limits.ANY_SPAN))
        case IntType():
            result = _size(kind, value) if key in limits.SIZES else _whole(kind, key, value, written=written)
        case StrType():
            result = _text(kind, key, value)
        case BoolType():
            result = _truth(value, written=written)
        case LiteralType():
            result = _choice(kind, value)
        case VarTupleType():
            result = _list(kind, key, value, written=written)
        case DictType():
            result = _table(kind, key, value, written=written)
        case UnionType():
            result = _either(kind, key, value, written=written)
        case _:
            raise AssertionError(key)
    return result


def _annotated(kind: Metadata, key: str, value: object, *, written: bool) -> Any:
    """Convert a value whose type says more of it."""
    traits = _traits(kind)
    if "span" in traits:
        return _span(value, *traits["span"])
    result = _convert(kind.type, key, value, written=written)
    if isinstance(result, dict):
        for name in result:
            _refuse(traits.get("check_name"), name)
    for text in (result,) if isinstance(result, str) else result if isinstance(result, tuple) else ():
        # The character marks a secret that could not be read.
        _refuse(limits.check_secret if "shown" in traits else None, text)
        _refuse(traits.get("check"), text)
    return result


def _span(value: object, least: timedelta, most: timedelta) -> timedelta:
    allowed = f'a duration from {show_span(least)} to {show_span(most)}, such as "10s", "5m", "24h" or "80d"'
    try:
        span = parse_span(value) if isinstance(value, str) else None
    except ValueError:
        span = None
    if span is None or not least <= span <= most:
        raise NotAllowed(allowed)
    return span


def _size(kind: IntType, value: object) -> int:
    try:
        size = parse_size(value) if isinstance(value, str) else value
    except ValueError:
        size = None
    if not isinstance(size, int) or isinstance(size, bool) or not (kind.ge or 0) <= size <= limits.LARGEST_SIZE:
        most = show_size(limits.LARGEST_SIZE)
        raise NotAllowed(f'a size from {kind.ge or 0} bytes to {most}, such as "512KiB" or "10MiB"')
    return size


def _whole(kind: IntType, key: str, value: object, *, written: bool) -> int:
    if written and isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not _is_within(value, kind):
        raise NotAllowed(_whole_allowed(kind))
    _refuse(limits.NUMBERS.get(key), value)
    return value


def _is_within(value: int, kind: IntType) -> bool:
    return (kind.ge is None or value >= kind.ge) and (kind.le is None or value <= kind.le)


def _whole_allowed(kind: IntType) -> str:
    return f"a whole number from {kind.ge} to {kind.le}"


def _text(kind: StrType, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise NotAllowed("text in quotes")
    if kind.pattern and not re.fullmatch(kind.pattern, value):
        # The only pattern: a name for URLs and host names.
        raise NotAllowed('a name of a-z, 0-9, "." and "-"')
    if kind.max_length is not None and len(value) > kind.max_length:
        raise NotAllowed(f"at most {kind.max_length} characters")
    _refuse(limits.TEXTS.get(key), value)
    return value


def _truth(value: object, *, written: bool) -> bool:
    if isinstance(value, bool):
        return value
    if written and isinstance(value, str) and value.lower() in _YES + _NO:
        return value.lower() in _YES
    raise NotAllowed("true or false")


def _choice(kind: LiteralType, value: object) -> Any:
    if isinstance(value, str) and value in kind.values:
        return value
    names = [f'"{name}"' for name in kind.values]
    raise NotAllowed(names[0] if len(names) == 1 else "one of " + ", ".join(names))


def _list(kind: VarTupleType, key: str, value: object, *, written: bool) -> tuple[Any, ...]:
    if written and isinstance(value, str):
        value = _from_toml(value) if value.lstrip().startswith("[") else limits.SPLITS.get(key, _split)(value)
    if not isinstance(value, list):
        raise NotAllowed("a list")
    if kind.max_length is not None and len(value) > kind.max_length:
        raise NotAllowed(f"a list of at most {kind.max_length}")
    found = tuple(_convert(kind.item_type, key, item, written=written) for item in value)
    _refuse(limits.LISTS.get(key), found)
    return found


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _table(kind: DictType, key: str, value: object, *, written: bool) -> dict[str, Any]:
    if written and isinstance(value, str):
        value = _from_toml(value)
    if not isinstance(value, dict) or not all(isinstance(inner, str) for inner in value.values()):
        raise NotAllowed('a table of texts, such as { "Accept-Language" = "de" }')
    check_name = limits.NAMES.get(key)
    for name, inner in value.items():
        _refuse(check_name, name)
        _refuse(limits.check_line, inner)
    return {name: _convert(kind.value_type, f"{key}.*", inner, written=written) for name, inner in value.items()}


def _either(kind: UnionType, key: str, value: object, *, written: bool) -> Any:
    allowed: list[str] = []
    for choice in kind.types:
        if isinstance(choice, NoneType):
            continue
        try:
            return _convert(choice, key, value, written=written)
        except NotAllowed as exc:
            allowed.append(str(exc))
    raise NotAllowed(" or ".join(allowed))


def _refuse(check: Callable[[T], str | None] | None, value: T) -> None:
    allowed = check(value) if check else None
    if allowed:
        raise NotAllowed(allowed)


def _from_toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as exc:
        raise NotAllowed(f"a value as TOML writes it ({exc})") from exc
