"""Values as the store's columns hold them: mostly JSON text, read back into the structs that it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tocsin.errors import StoreError
from tocsin.model import Attempt, CheckReport, Instruction, JsonObject
from tocsin.settings import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_SHOWN = 60

read_attempts = msgspec.json.Decoder(tuple[Attempt, ...]).decode
read_instruction = msgspec.json.Decoder(Instruction).decode
read_report = msgspec.json.Decoder(CheckReport).decode
_read_object = msgspec.json.Decoder(JsonObject).decode
read_names = msgspec.json.Decoder(tuple[str, ...]).decode
read_ids = msgspec.json.Decoder(list[int]).decode
read_pair = msgspec.json.Decoder(tuple[str, str]).decode
read_deliveries = msgspec.json.Decoder(tuple[tuple[str, str, int, str | None], ...]).decode


# The values of a state are packed: they are read with each page that is due, and are the most of what is stored.
read_fields = msgspec.msgpack.Decoder(tuple[str | None, ...]).decode
write_fields = msgspec.msgpack.Encoder().encode


def read_object(text: str) -> JsonObject:
    """Read a JSON object; raises StoreError for what is none, which only another program has written."""
    try:
        return _read_object(text)
    except msgspec.DecodeError as exc:
        raise StoreError(
            f"the store holds {text[:_SHOWN]!r} where a JSON object must be ({exc}); if it was written by hand, mend "
            "it, else restore a backup"
        ) from exc


def unless_damaged(read: Callable[[Any], T], value: Any) -> T | None:
    """Read a value of a row that people look at; None where there is none, or it is damaged, as `store check` says."""
    if not value:
        return None
    try:
        return read(value)
    except msgspec.DecodeError:
        return None


def read_settings(text: str | None) -> JsonObject:
    """Read settings of a page, a group or all pages; what is no JSON object is given under the key UNREADABLE.

    No setting has that name, so that it holds only the pages that it is set for, with a mend that works.
    """
    if not text:
        return {}
    try:
        return _read_object(text)
    except msgspec.DecodeError:
        return {UNREADABLE: text[:_SHOWN]}


def to_json(value: Any) -> str:
    """Write a struct or a plain value as a column holds it."""
    return _encode(value).decode()


def to_json_or_null(value: Any) -> str | None:
    """Write a value, and nothing for None or what is empty."""
    return _encode(value).decode() if value else None
