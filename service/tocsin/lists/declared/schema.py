"""The JSON Schema of declared lists, generated from the settings."""

from __future__ import annotations

from typing import Any, Final

from msgspec.inspect import (
    BoolType,
    DictType,
    IntType,
    LiteralType,
    StrType,
    TimeDeltaType,
    Type,
    VarTupleType,
)

from tocsin.configuration.convert import type_at
from tocsin.configuration.template import KEYS as COMMENTS
from tocsin.lists.declared.reading import KEYS, SECRET_FILES
from tocsin.model import JsonObject

_SPAN: Final = "^(0|([0-9]{1,12}(ms|[wdhms]))+)$"
_LONGEST_GROUP, _LONGEST_TEXT = 63, 253


def to_schema() -> JsonObject:
    """Return the schema (draft 2020-12); editors use it to complete and to check TOML and YAML."""
    settings = {key: _of_setting(key) for key in KEYS}
    for by_file, key in SECRET_FILES.items():
        settings[by_file] = {"type": "string", "description": f"a file that holds {key}, from this file's folder"}
    group = {"type": "string", "minLength": 1, "maxLength": _LONGEST_GROUP}
    page = {
        "type": "object",
        "additionalProperties": False,
        "required": ["url"],
        "properties": {
            "url": {"$ref": "#/$defs/url"},
            "group": {**group, "default": "main"},
            "text": {"type": "string", "maxLength": _LONGEST_TEXT, "description": "your own words on the page"},
            "paused": {"type": "boolean", "description": "no checks; where it is left out a pause stays as it is"},
            **settings,
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A declared list of Tocsin",
        "description": "Which pages are watched, and how: see tocsin plan and tocsin apply.",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "prune": {"type": "boolean", "default": False, "description": "remove pages that the file does not name"},
            "all": {"$ref": "#/$defs/settings", "description": "for all pages"},
            "groups": {
                "type": "object",
                "propertyNames": group,
                "additionalProperties": {"anyOf": [{"$ref": "#/$defs/settings"}, {"type": "null"}]},
            },
            "pages": {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/url"}, {"$ref": "#/$defs/page"}]},
            },
        },
        "$defs": {
            "url": {"type": "string", "pattern": "^[hH][tT][tT][pP][sS]?://"},
            "settings": {"type": "object", "additionalProperties": False, "properties": settings},
            "page": page,
        },
    }


def _of_setting(key: str) -> JsonObject:
    return {**_of_type(type_at(("pages", key))), "description": COMMENTS[f"pages.{key}"]}


def _of_type(kind: Type) -> JsonObject:
    result: JsonObject
    match kind:
        case TimeDeltaType():
            result = {"type": "string", "pattern": _SPAN, "examples": ["10s", "5m", "24h", "80d"]}
        case BoolType():
            result = {"type": "boolean"}
        case IntType():
            bounds: dict[str, Any] = {"minimum": kind.ge, "maximum": kind.le}
            result = {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not None}}
        case LiteralType():
            result = {"enum": list(kind.values)}
        case VarTupleType():
            result = {"type": "array", "items": _of_type(kind.item_type)}
        case DictType():
            result = {"type": "object", "additionalProperties": {"type": "string"}}
        case StrType():
            result = {"type": "string"}
        case _:
            raise AssertionError(kind)
    return result
