"""Cursors: opaque text that says where a page of a list ended."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME_BYTES: Final = 4
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(tuple[int | str, ...]).decode


class Cursors:
    """The cursors of one list; those of other lists are refused.

    kinds  the types of a place: int or str each; a number: as many integers
    name   of the list, with all that it is filtered by
    """

    def __init__(self, kinds: int | tuple[type, ...], *name: Any) -> None:
        self._kinds = (int,) * kinds if isinstance(kinds, int) else kinds
        self._name = blake2b(_encode(name), digest_size=_NAME_BYTES).digest()

    def write(self, place: Sequence[int | str]) -> str:
        """Write a place as a cursor."""
        return urlsafe_b64encode(self._name + _encode(tuple(place))).decode().rstrip("=")

    def read(self, cursor: str | None) -> tuple[Any, ...] | None:
        """Read a cursor; None begins. Raises UsageError for one that is not of this list."""
        if cursor is None:
            return None
        try:
            packed = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            place: tuple[int | str, ...] = _decode(packed[_NAME_BYTES:])
        except (binascii.Error, UnicodeEncodeError, msgspec.DecodeError):
            place = ()
            packed = b""
        if packed[:_NAME_BYTES] != self._name or tuple(map(type, place)) != self._kinds or not all(map(_fits, place)):
            raise UsageError("cursor: invalid; pass the `next` value of the previous page")
        return place


def _fits(value: int | str) -> bool:
    """Tell whether every database takes this value."""
    return "\0" not in value if isinstance(value, str) else abs(value) < 1 << 62
