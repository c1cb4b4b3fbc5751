"""What checks learn of pages beside their states, inside a transaction."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import structs

from tocsin.adapters.stores.sql.knowledge.items import is_bare, keep_items
from tocsin.adapters.stores.sql.knowledge.knowledge import read_host_noise, write_host_noise, write_known
from tocsin.adapters.stores.sql.knowledge.listings import keep_listings
from tocsin.adapters.stores.sql.knowledge.snapshots import keep_snapshots
from tocsin.adapters.stores.sql.statements import queries
from tocsin.engine.judging.noise import HOST_MUTES_AT
from tocsin.model import HostNoise

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import CheckResult, PageNoise

SQL = queries("learnt")

MOST_OF_HOST = 256
"""So many places are remembered of one host; those that the fewest pages share are forgotten first."""


def remember(db: Session, results: Sequence[CheckResult]) -> None:
    """Write what these checks, whose pages were written, learnt beside states: one more row for each that has any."""
    found = [
        result
        for result in results
        if result.known is not None or result.snapshot or result.listing or result.items is not None
    ]
    if not found:
        return
    known = [(result.page_id, write_known(result.known)) for result in found if result.known is not None]
    if known:
        db.executemany(SQL["know"], known)
    _count_noise(db, found)
    keep_snapshots(db, [(result.page_id, result.snapshot) for result in found if result.snapshot is not None])
    keep_listings(db, [result for result in found if result.listing is not None])
    for result in found:
        if result.items is not None:
            keep_items(db, result.page_id, result.items, leaves_row=not is_bare(result.items))


def _count_noise(db: Session, results: Iterable[CheckResult]) -> None:
    """Count the pages on which something has been muted just now, and mute what enough of them share for the host."""
    by_host: dict[int, list[tuple[int, PageNoise]]] = defaultdict(list)
    for result in results:
        if result.known is not None and result.known.noise:
            by_host[result.host_id] += [
                (result.page_id, noise)
                for noise in result.known.noise
                if noise.since is not None and noise.since >= result.checked_at
            ]
    for host_id, muted in by_host.items():
        if muted:
            _count_noise_of(db, host_id, muted)


def _count_noise_of(db: Session, host_id: int, muted: Iterable[tuple[int, PageNoise]]) -> None:
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


def keep_noise(db: Session, host_id: int, noise: dict[int, HostNoise]) -> None:
    """Write the noise of a host, as much of it as is remembered."""
    if len(noise) > MOST_OF_HOST:
        kept = sorted(noise.values(), key=lambda each: (not each.heard, -len(each.pages)))[:MOST_OF_HOST]
        noise = {each.key: each for each in kept}
    db.execute(SQL["keep_noise"], {"host": host_id, "noise": write_host_noise(noise)})
