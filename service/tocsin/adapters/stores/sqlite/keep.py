"""The store as it was before it is migrated: migrations go forward only, and whoever updates may want to go back."""

from __future__ import annotations

import shutil
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tocsin.adapters.stores.sqlite.backup import Backup
from tocsin.adapters.stores.sqlite.faults import reached
from tocsin.adapters.stores.sqlite.migrations import migrations
from tocsin.errors import StoreError

if TYPE_CHECKING:
    from datetime import timedelta

_ROOM: Final = 1.1


def kept_name(path: str, version: int) -> str:
    """Name the copy of a store of this version: one of an earlier version where a migration was interrupted."""
    names = [f"{path}.before-{migrations()[-1].number}.v{before}" for before in range(1, version + 1)]
    return next((name for name in names if Path(name).exists()), names[-1])


def keep_before_migration(path: str, version: int, busy: timedelta) -> str | None:
    """Copy a store that is about to be migrated, once; returns the copy's name, or None where nothing is migrated.

    version  of its schema; 0 for one that is only being made
    Raises StoreError where there is no room for the copy: then nothing is migrated.
    """
    if not 0 < version < migrations()[-1].number:
        return None
    with reached(path):
        _sweep(path)
        target = kept_name(path, version)
        if Path(target).exists():
            return target
        needed = sum(file.stat().st_size for file in (Path(path), Path(f"{path}-wal")) if file.exists())
        free = shutil.disk_usage(Path(path).resolve().parent).free
    if free < needed * _ROOM:
        raise StoreError(
            f"{path}: a migration keeps a copy of the store as it was, and {needed / 1e6:,.0f} MB are not free; "
            "free some space, or back it up elsewhere and run: tocsin store migrate --no-backup"
        )
    Backup(path, target, busy).run()
    return target


def _sweep(path: str) -> None:
    """Remove what a copying left that was killed; under the engine lock there is no other one."""
    store = Path(path)
    for left in store.parent.glob(f"{escape(store.name)}.before-*.part*"):
        left.unlink(missing_ok=True)
