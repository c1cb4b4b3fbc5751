"""Room, time and trust: free disk space, copies that are kept, whether the clock can be right, and authorities."""

from __future__ import annotations

import shutil
import ssl
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tocsin.adapters.http.tls import AUTHORITIES_MEND, NO_AUTHORITIES, has_authorities
from tocsin.adapters.stores import kept_copies, last_backup
from tocsin.cli.doctor.finding import Finding
from tocsin.cli.formatting import count, show_time

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tocsin.model import Instant

_LEAST_BYTES: Final = 100_000_000
_MADE: Final = datetime(2026, 11, 1, tzinfo=UTC)
"""This program is younger than that; a clock that shows less is wrong."""
_DAY_US: Final = 86_400_000_000
_STALE_DAYS: Final = 30


def examine_room(path: Path, url: str) -> Iterator[Finding]:
    """Look at the disk that a store lies on.

    url  of the store, "sqlite:PATH"
    """
    try:
        free = shutil.disk_usage(path.absolute().parent).free
        size = sum(file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")) if file.is_file())
    except OSError:
        return
    if free < max(size, _LEAST_BYTES):
        yield Finding(
            f"The disk of the store has {free / 1e6:,.0f} MB left, beside a store of {size / 1e6:,.0f} MB.",
            "A backup and a migration need as much as the store again; free some, or lower store.history: "
            "tocsin store prune",
        )
    kept = kept_copies(url)
    if kept:
        megabytes = sum(file.stat().st_size for file in kept) / 1e6
        yield Finding(
            f"{count(len(kept), 'file')} of {megabytes:,.0f} MB in all beside the store: as it was before a migration, "
            "or before a backup took its place.",
            f"Once you are content: rm {' '.join(map(str, kept))}",
            is_wrong=False,
        )


def examine_backup(url: str, now: Instant) -> Iterator[Finding]:
    """Say when the store was backed up last by this program."""
    last = last_backup(url)
    how = "From cron: tocsin store backup FOLDER --keep 14"
    if last is None:
        yield Finding("No backup of this store was made with this program.", how, is_wrong=False)
        return
    at, file = last
    days = (now - at) // _DAY_US
    what = f"The last backup of this store is of {show_time(at)}: {file}"
    yield Finding(f"{what}.", how if days >= _STALE_DAYS else "", is_wrong=days >= _STALE_DAYS)


def examine_authorities() -> Iterator[Finding]:
    """Say whether there is any authority to vouch for the certificates of pages."""
    if not has_authorities(ssl.create_default_context()):
        what = f"{NO_AUTHORITIES[:1].upper()}{NO_AUTHORITIES[1:]}: no page and no channel with https can be trusted."
        yield Finding(what, f"{AUTHORITIES_MEND[:1].upper()}{AUTHORITIES_MEND[1:]}.")


def examine_clock(now: Instant) -> Iterator[Finding]:
    """Say whether the clock shows a time at which this program was there."""
    if now < round(_MADE.timestamp() * 1_000_000):
        yield Finding(
            f"The clock shows {show_time(now)}, which is before this program was made.",
            "Set it; certificates, schedules and dates of changes all go by it.",
        )
