"""What is known of a page beside its state, and of its host's noise, as their columns hold it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from tocsin.errors import DamagedItems
from tocsin.model import HostNoise, PageKnowledge, SignalContext
from tocsin.spec.microdata.reading.packing import unpack

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

Listed = dict[str, dict[str, str]]
"""For each signal, what the pages with these ids say of the page."""

write_known = msgspec.msgpack.Encoder().encode
_read_known: Final = msgspec.msgpack.Decoder(PageKnowledge).decode
_read_noise: Final = msgspec.msgpack.Decoder(list[HostNoise]).decode
_read_listed: Final = msgspec.json.Decoder(Listed).decode
_read_keys: Final = msgspec.json.Decoder(tuple[int, ...]).decode


def read_known(packed: bytes | None) -> PageKnowledge | None:
    """Read what is known of a page; of a damaged value nothing is known."""
    return _read(_read_known, packed)


def read_host_noise(packed: bytes | None) -> dict[int, HostNoise]:
    """Read the noise of a host by its keys; a damaged value is none."""
    return {noise.key: noise for noise in _read(_read_noise, packed) or ()}


def write_host_noise(noise: dict[int, HostNoise]) -> bytes:
    """Pack the noise of a host."""
    return write_known(list(noise.values()))


def read_listed(text: str | None) -> Listed:
    """Read what other pages say of a page; a damaged value says nothing."""
    return _read(_read_listed, text) or {}


def read_keys(text: str | None) -> tuple[int, ...]:
    """Read the keys of noise that the user wants to hear of; a damaged value has none."""
    return _read(_read_keys, text) or ()


def beside_of(known: bytes | None, listed: str | None, heard: str | None, noise: bytes | None) -> SignalContext | None:
    """Put together what stands beside a page's state; None where nothing does."""
    if known is None and listed is None and heard is None and noise is None:
        return None
    muted, of_host = _told_by_host(noise) if noise is not None else ((), ())
    return SignalContext(
        read_known(known),
        {name: _said_first(said) for name, said in read_listed(listed).items() if said},
        (*read_keys(heard), *of_host),
        muted,
    )


def is_readable(column: str, value: bytes | str | None) -> bool:
    """Tell whether a value is what this column holds: known, listed, heard, noise, items."""
    readers: dict[str, Callable[[Any], object]] = {
        "known": _read_known,
        "listed": _read_listed,
        "heard": _read_keys,
        "noise": _read_noise,
        "items": unpack,
    }
    return value is None or _read(readers[column], value) is not None


def _said_first(said: dict[str, str]) -> str:
    """Choose what the page says that has been watched longest: of two that say different things, always the same."""
    return said[min(said, key=lambda page_id: (len(page_id), page_id))]


@lru_cache(maxsize=1024)
def _told_by_host(packed: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give the keys that are muted on all pages of a host, and those that the user wants to hear of on all."""
    noise = read_host_noise(packed).values()
    muted = tuple(each.key for each in noise if each.muted_at is not None and not each.heard)
    return muted, tuple(each.key for each in noise if each.heard)


def _read(decode: Callable[[Any], T], value: bytes | str | None) -> T | None:
    try:
        return None if value is None else decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError, DamagedItems):
        # TypeError: a value of another type, which a column of text or bytes cannot hold but a damaged one does.
        return None
