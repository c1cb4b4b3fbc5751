"""What records are made of: kinds of fields, and the JSON in which all surfaces write a record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import Meta, Struct

from tocsin.model.common import Instant, to_rfc3339
from tocsin.spec.infrastructure.unsafe import UNSAFE_IN_TEXT

# RFC 3339 in UTC, cut to milliseconds.
Time: TypeAlias = Annotated[str, Meta(examples=["2026-03-04T05:06:07.890Z"], extra_json_schema={"format": "date-time"})]

# A number as digits: numbers of JSON are exact up to 53 bits only.
Id: TypeAlias = Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,17}$", examples=["42"])]

Ulid: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$", examples=["01KAKQ4ZC8N2V3J5R7T9WXYZ00"])]

Number: TypeAlias = Annotated[int, Meta(ge=0)]

Json: TypeAlias = dict[str, Any]

Row = TypeVar("Row")


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """Something as surfaces show it; each field says what it holds."""


class Part(Record, Generic[Row], frozen=True):
    """A part of a list."""

    items: list[Row]
    next: Annotated[str | None, Meta(description="the `cursor` of the next part; null at the end")]


_ENCODER: Final = msgspec.json.Encoder()


def to_json(record: Record | Mapping[str, Any]) -> bytes:
    """Write a record as all surfaces do: compact JSON in UTF-8, with letters escaped that a terminal would obey."""
    try:
        text = _ENCODER.encode(record).decode()
    except UnicodeEncodeError:
        # Halves of surrogate pairs, which JSON may hold only as escapes.
        text = json.dumps(msgspec.to_builtins(record), ensure_ascii=False, separators=(",", ":"))
    return UNSAFE_IN_TEXT.sub(_escaped, text).encode()


def _escaped(letter: Any) -> str:
    return f"\\u{ord(letter[0]):04x}"


def time_or_none(at: Instant | None) -> str | None:
    """Write an instant that may be absent."""
    return None if at is None else to_rfc3339(at)


def id_or_none(number: int | None) -> str | None:
    """Write an id that may be absent."""
    return None if number is None else str(number)
