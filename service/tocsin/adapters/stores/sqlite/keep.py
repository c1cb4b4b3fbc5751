"""The store as it was before it is migrated: migrations go forward only, and whoever updates may want to go back."""

from __future__ import annotations

import shutil
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
    """Name the copy of a store of this version."""
    return f"{path}.before-{migrations()[-1].number}.v{version}"


def keep_before_migration(path: str, version: int, busy: timedelta) -> str | None:
    """Copy a store that is about to be migrated, once; returns the copy's name, or None where nothing is migrated.

    version  of its schema; 0 for one that is only being made
    Raises StoreError where there is no room for the copy: then nothing is migrated.
    """
    if not 0 < version < migrations()[-1].number:
        return None
    target = kept_name(path, version)
    with reached(path):
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
