"""What is known of a page beside its state, and of its host's noise."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec import structs

from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import to_json
from tocsin.engine.judging.noise import HOST_MUTES_AT
from tocsin.errors import DamagedItems
from tocsin.model import HostNoise, PageKnowledge, SignalContext
from tocsin.spec.microdata.reading.packing import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import CheckResult, PageNoise


T = TypeVar("T")

# For each signal, what the pages with these ids say of the page.
Listed = dict[str, dict[str, str]]

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
    """Build the context of a page's signals; None if there is none."""
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


SQL = queries("learnt")

# The most places that are kept of one host; those that the fewest pages share are dropped first.
MOST_OF_HOST = 256


def count_noise(db: SqlSession, results: Iterable[CheckResult]) -> None:
    """Count the pages on which something has been muted just now, and mute what enough of them share for the host."""
    by_host: dict[int, list[tuple[int, PageNoise]]] = defaultdict(list)
    for result in results:
        if result.learnt.known is not None and result.learnt.known.noise:
            by_host[result.host_id] += [
                (result.page_id, noise)
                for noise in result.learnt.known.noise
                if noise.since is not None and noise.since >= result.checked_at
            ]
    for host_id, muted in by_host.items():
        if muted:
            _count_noise_of(db, host_id, muted)


def _count_noise_of(db: SqlSession, host_id: int, muted: Iterable[tuple[int, PageNoise]]) -> None:
    row = db.execute(SQL["noise_of"], {"host": host_id}).fetchone()
    before = read_host_noise(row[0]) if row is not None else {}
    after = dict(before)
    for page_id, noise in muted:
        place = after.get(noise.key) or HostNoise(noise.key, noise.what)
        if page_id not in place.pages and len(place.pages) < HOST_MUTES_AT:
            place = structs.replace(place, what=noise.what, pages=(*place.pages, page_id))
            if len(place.pages) >= HOST_MUTES_AT:
                place = structs.replace(place, muted_at=noise.since)
            after[noise.key] = place
    if after != before:
        keep_noise(db, host_id, after)


def keep_noise(db: SqlSession, host_id: int, noise: dict[int, HostNoise]) -> None:
    """Write the noise of a host, as much of it as is remembered."""
    if len(noise) > MOST_OF_HOST:
        kept = sorted(noise.values(), key=lambda each: (not each.heard, -len(each.pages)))[:MOST_OF_HOST]
        noise = {each.key: each for each in kept}
    db.execute(SQL["keep_noise"], {"host": host_id, "noise": write_host_noise(noise)})


class SignalRole(Role):
    """Implements ports.SignalStore."""

    async def learnt(self, url: str) -> tuple[int, SignalContext] | None:
        row = await self._read(lambda db: db.execute(SQL["learnt_of"], {"url": url}).fetchone())
        return None if row is None else (row[0], beside_of(*row[1:]) or SignalContext())

    async def noise_of_host(self, host: str) -> list[HostNoise]:
        row = await self._read(lambda db: db.execute(SQL["noise_of_host"], {"host": host}).fetchone())
        noise = read_host_noise(row[1]).values() if row is not None else ()
        return sorted(noise, key=lambda each: (each.muted_at is None, -len(each.pages), each.what, each.key))

    async def hear(self, page_id: int, keys: Sequence[int], *, muted: bool) -> None:
        def write(db: SqlSession) -> None:
            row = db.execute(SQL["heard"], {"page": page_id}).fetchone()
            before = read_keys(row[0]) if row is not None else ()
            after = [key for key in before if key not in keys] + ([] if muted else list(dict.fromkeys(keys)))
            db.execute(SQL["hear"], {"page": page_id, "heard": to_json(after) if after else None})
            db.execute(SQL["note_learnt"], {"page": page_id})

        await self._edit(write)

    async def hear_host(self, host: str, keys: Sequence[int], *, muted: bool) -> None:
        def write(db: SqlSession) -> None:
            row = db.execute(SQL["noise_of_host"], {"host": host}).fetchone()
            if row is None:
                return
            noise = read_host_noise(row[1])
            told = {key: structs.replace(noise[key], heard=not muted) for key in keys if key in noise}
            keep_noise(db, row[0], noise | told)

        await self._edit(write)
