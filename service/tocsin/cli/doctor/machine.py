"""The machine as `tocsin doctor` sees it: permissions of files, room on the disk, backups, certificates, clock."""

from __future__ import annotations

import os
import shutil
import ssl
import stat
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tocsin.adapters.http.tls import AUTHORITIES_MEND, NO_AUTHORITIES, has_authorities
from tocsin.adapters.stores import kept_copies, last_backup
from tocsin.cli.doctor import Diagnosis
from tocsin.cli.formatting import count, show_time
from tocsin.configuration.convert import is_secret
from tocsin.configuration.loading import Layer, from_environ, from_tree, mask, typed_channels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tocsin.configuration import Loaded
    from tocsin.model import Instant


_WRITE_BY_OTHERS: Final = 0o022
_READ_BY_OTHERS: Final = 0o044
# Where container engines put secrets, with modes that cannot be chosen.
_GIVEN_BY_THE_RUNTIME: Final = ("/run/secrets/", "/var/run/secrets/")


def examine_files(loaded: Loaded, store: Path) -> list[Diagnosis]:
    """Say which files are open to others."""
    findings: list[Diagnosis] = []
    if loaded.file is not None:
        findings += _of_writing(loaded.file, "The configuration")
        findings += _of_writing(loaded.file.absolute().parent, "The configuration's folder")
        findings += _of_secrets(loaded.file, loaded.settings.delivery.plugins)
    for file in loaded.files.values():
        findings += _of_reading(file, "A file with a secret")
    for file in (store, store.with_name(f"{store.name}-wal")):
        findings += _of_reading(file, "The store")
    if store.exists():
        findings += _of_writing(store.absolute().parent, "The store's folder")
    return findings


def _of_secrets(file: Path, plugins: Collection[str]) -> Iterator[Diagnosis]:
    """Look at a configuration file, if it has secrets in it."""
    try:
        given = list(from_tree(tomllib.loads(file.read_text("utf-8-sig")), str(file)))
        # The type of a channel may be in the environment, and tells which keys are secrets.
        layers = [Layer(tuple(given)), Layer(tuple(from_environ(os.environ)))]
        given = [item for item in given if item.path[0] != "channels"]
        given += next(iter(typed_channels(layers, plugins, lambda _: None))).given
    except (OSError, ValueError):
        # A pipe, for instance, which was read once: no other user can read it again.
        return
    held = [
        ".".join(item.path)
        for item in given
        # Of an address, the host alone is none.
        if not item.by_file and is_secret(item.path) and mask(item.path, item.value) != item.value
    ]
    if held:
        # The address of a webhook is one, too: which setting is meant is not plain to see.
        yield from _of_reading(file, f"The configuration, which contains a secret ({', '.join(held)}),")


def _of_writing(path: Path, what: str) -> Iterator[Diagnosis]:
    status = _status(path)
    if status is None:
        return
    is_shared_safely = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if status.st_mode & _WRITE_BY_OTHERS and not is_shared_safely:
        yield Diagnosis(f"{what} is writable by others: {path}.", f"chmod go-w {path}")
    if status.st_uid not in {0, os.geteuid()} and os.geteuid() != 0:
        yield Diagnosis(
            f"{what} belongs to another user: {path}.", f"Make yourself or root its owner: chown root {path}"
        )


def _of_reading(path: Path, what: str) -> Iterator[Diagnosis]:
    status = _status(path)
    if status is None or str(path.absolute()).startswith(_GIVEN_BY_THE_RUNTIME):
        return
    if status.st_mode & (_READ_BY_OTHERS | _WRITE_BY_OTHERS):
        yield Diagnosis(f"{what} is readable by others: {path}.", f"chmod 600 {path}")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


_LEAST_BYTES: Final = 100_000_000
# This program is younger than that; a clock that shows less is wrong.
_MADE: Final = datetime(2026, 11, 1, tzinfo=UTC)
_DAY_US: Final = 86_400_000_000
_STALE_DAYS: Final = 30


def examine_room(path: Path, url: str) -> Iterator[Diagnosis]:
    """Look at the disk that a store lies on.

    url  of the store, "sqlite:PATH"
    """
    try:
        free = shutil.disk_usage(path.absolute().parent).free
        size = sum(file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")) if file.is_file())
    except OSError:
        return
    if free < max(size, _LEAST_BYTES):
        yield Diagnosis(
            f"The disk has {free / 1e6:,.0f} MB free; the store has {size / 1e6:,.0f} MB.",
            "A backup and a migration need the size of the store; free some space, or lower store.history and run: "
            "tocsin store prune",
        )
    kept = kept_copies(url)
    if kept:
        megabytes = sum(file.stat().st_size for file in kept) / 1e6
        yield Diagnosis(
            f"{count(len(kept), 'file')} of {megabytes:,.0f} MB in all beside the store: as it was before a migration, "
            "or before a backup took its place.",
            f"When you no longer need them: rm {' '.join(map(str, kept))}",
            is_wrong=False,
        )


def examine_backup(url: str, now: Instant) -> Iterator[Diagnosis]:
    """Say when the store was backed up last by this program."""
    last = last_backup(url)
    how = "From cron: tocsin store backup FOLDER --keep 14"
    if last is None:
        yield Diagnosis("This program made no backup of the store yet.", how, is_wrong=False)
        return
    at, file = last
    days = (now - at) // _DAY_US
    what = f"The last backup of the store was made at {show_time(at)}: {file}"
    yield Diagnosis(f"{what}.", how if days >= _STALE_DAYS else "", is_wrong=days >= _STALE_DAYS)


def examine_authorities() -> Iterator[Diagnosis]:
    """Say whether there is any authority to vouch for the certificates of pages."""
    if not has_authorities(ssl.create_default_context()):
        what = f"{NO_AUTHORITIES[:1].upper()}{NO_AUTHORITIES[1:]}: no https page or channel can be verified."
        yield Diagnosis(what, f"{AUTHORITIES_MEND[:1].upper()}{AUTHORITIES_MEND[1:]}.")


def examine_clock(now: Instant) -> Iterator[Diagnosis]:
    """Say whether the clock shows a time at which this program was there."""
    if now < round(_MADE.timestamp() * 1_000_000):
        yield Diagnosis(
            f"The clock shows {show_time(now)}, which is before this program was written.",
            "Set it; certificates, schedules and dates of changes depend on it.",
        )
