"""The JSON Schema of the configuration file, generated from the settings.

`python -m tocsin.configuration.schema [TYPE…]` prints it; TYPE is a type of channels of another package.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from msgspec.inspect import (
    BoolType,
    DateTimeType,
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
from tocsin.configuration.channels import load_type, our_types
from tocsin.configuration.convert import (
    ROOT,
    ChannelName,
    Path,
    described,
    is_named_table,
    is_secret,
    is_table_list,
    pattern,
)
from tocsin.configuration.template import KEYS

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.settings import ChannelSettings

DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_SPAN: Final = "^(0|([0-9]{1,12}(ms|[wdhms]))+)$"
_SIZE: Final = r"^[0-9]+(\.[0-9]+)? ?([KMGT]i?B|B)?$"


def to_schema(plugins: Collection[str] = ()) -> dict[str, Any]:
    """Return the schema of the configuration file (draft 2020-12); editors use it to complete and to check TOML.

    plugins  types of channels of other packages
    """
    return {
        "$schema": DRAFT,
        "title": "The configuration of Tocsin",
        **_section(ROOT, (), plugins),
        "$defs": {name: channel_schema(load_type(name, plugins).Settings, name) for name in (*our_types(), *plugins)},
    }


def channel_schema(kind: type[ChannelSettings], name: str) -> dict[str, Any]:
    """Return the schema of a channel of this type."""
    made = type_info(kind)
    assert isinstance(made, StructType)  # noqa: S101 - settings are structs
    found = _section(made, ("channels", ChannelName("x", kind)), ())
    found["properties"] = {**found["properties"], "type": {"const": name}}
    return {**found, "required": ["type"], "description": " ".join((kind.__doc__ or "").split())}


def schema_of(kind: Type) -> dict[str, Any]:
    """Return the schema of a value of this type."""
    result: dict[str, Any]
    match kind:
        case Metadata():
            result = schema_of(kind.type)
        case TimeDeltaType():
            result = {"type": "string", "pattern": _SPAN, "examples": ["10s", "5m", "24h", "80d"]}
        case DateTimeType():
            result = {"type": "string", "format": "date-time"}
        case BoolType():
            result = {"type": "boolean"}
        case IntType():
            bounds: dict[str, Any] = {"minimum": kind.ge, "maximum": kind.le}
            result = {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
        case LiteralType():
            result = {"enum": list(kind.values)}
        case StrType():
            result = {"type": "string"}
        case _:
            result = _of_several(kind)
    return result


def _of_several(kind: Type) -> dict[str, Any]:
    result: dict[str, Any]
    match kind:
        case VarTupleType():
            result = {"type": "array", "items": schema_of(kind.item_type)}
            if kind.max_length is not None:
                result["maxItems"] = kind.max_length
        case DictType():
            result = {"type": "object", "additionalProperties": schema_of(kind.value_type)}
        case UnionType():
            found = [schema_of(each) for each in kind.types if not isinstance(each, NoneType)]
            result = found[0] if len(found) == 1 else {"anyOf": found}
        case StructType():
            properties = {field.encode_name: _one_or_more(field.type) for field in kind.fields}
            result = {"type": "object", "additionalProperties": False, "properties": properties}
        case _:
            raise AssertionError(kind)
    return result


def _one_or_more(kind: Type) -> dict[str, Any]:
    """In tables of routes, one text may stand for a list of one."""
    found = schema_of(kind)
    return {"anyOf": [found["items"], found]} if found.get("type") == "array" else found


def _section(kind: StructType, path: Path, plugins: Collection[str]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for field in kind.fields:
        here = (*path, field.name)
        properties[field.encode_name] = found = _at(field.type, here, plugins)
        what = KEYS.get(pattern(here)) or described(here)
        if what:
            found["description"] = what
        if is_secret(here):
            properties[f"{field.encode_name}_file"] = {
                "type": "string",
                "description": f"a file that holds {field.encode_name}, from this file's folder",
            }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _at(kind: Type, path: Path, plugins: Collection[str]) -> dict[str, Any]:
    bare = kind.type if isinstance(kind, Metadata) else kind
    if path == ("channels",):
        named = [{"$ref": f"#/$defs/{name}"} for name in (*our_types(), *plugins)]
        return {"type": "object", "additionalProperties": {"oneOf": named}}
    if isinstance(bare, StructType):
        return _section(bare, path, plugins)
    if is_named_table(bare) and isinstance(bare, DictType) and isinstance(bare.value_type, StructType):
        return {"type": "object", "additionalProperties": _section(bare.value_type, (*path, "x"), plugins)}
    if is_table_list(bare):
        return schema_of(bare)
    if pattern(path) in limits.SIZES:
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": _SIZE}]}
    return schema_of(bare)


if __name__ == "__main__":
    print(json.dumps(to_schema(sys.argv[1:]), indent=2, ensure_ascii=False))  # noqa: T201 - what it is run for
