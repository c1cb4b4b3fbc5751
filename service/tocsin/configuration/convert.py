"""Converting one value to the type of its setting, or saying what is allowed."""

from __future__ import annotations

import re
import tomllib
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from msgspec.inspect import (
    BoolType,
    DictType,
    IntType,
    LiteralType,
    NoneType,
    StrType,
    TimeDeltaType,
    Type,
    UnionType,
    VarTupleType,
)

from tocsin.configuration import limits
from tocsin.configuration.spans import parse_size, parse_span, show_size, show_span
from tocsin.configuration.tree import Path, pattern, type_at

if TYPE_CHECKING:
    from collections.abc import Callable

_YES: Final = ("true", "yes", "on", "1")
_NO: Final = ("false", "no", "off", "0")
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,18}")


class NotAllowed(Exception):
    """The value does not fit the setting; the text says what is allowed."""


def to_setting(path: Path, value: object, *, written: bool) -> Any:
    """Convert a value to the type of the setting at `path`.

    value    from TOML, or text
    written  the value is text from the environment or a command line, though the setting may have another type
    Raises NotAllowed, whose text says what is allowed.
    """
    return _convert(type_at(path), pattern(path), value, written=written)


def to_json(path: Path, value: Any) -> Any:
    """Convert a setting's value to TOML and JSON; `to_setting` reads it again."""
    if isinstance(value, timedelta):
        return show_span(value)
    if isinstance(value, tuple):
        return list(value)
    if pattern(path) in limits.SIZES:
        return show_size(value)
    return value


def _convert(kind: Type, key: str, value: object, *, written: bool) -> Any:
    result: Any
    match kind:
        case TimeDeltaType():
            result = _span(key, value)
        case IntType():
            result = _size(kind, value) if key in limits.SIZES else _whole(kind, value, written=written)
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


def _span(key: str, value: object) -> timedelta:
    least, most = limits.SPANS.get(key, limits.ANY_SPAN)
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


def _whole(kind: IntType, value: object, *, written: bool) -> int:
    if written and isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not _is_within(value, kind):
        raise NotAllowed(_whole_allowed(kind))
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
        if value.lstrip().startswith("["):
            value = _from_toml(value)
        else:
            value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list):
        raise NotAllowed("a list")
    return tuple(_convert(kind.item_type, key, item, written=written) for item in value)


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


def _refuse(check: Callable[[str], str | None] | None, value: str) -> None:
    allowed = check(value) if check else None
    if allowed:
        raise NotAllowed(allowed)


def _from_toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as exc:
        raise NotAllowed(f"a value as TOML writes it ({exc})") from exc
