"""A copy of a store as it was at one instant, made while others write; and the copy kept before a migration."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from contextlib import closing
from glob import escape
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from tocsin.adapters.stores.sqlite.connection import connect, snapshot
from tocsin.adapters.stores.sqlite.faults import reached, translated
from tocsin.adapters.stores.sqlite.migrations import migrations
from tocsin.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import timedelta


_STEP_PAGES = 500
_REPORT_S = 0.1


class _GivenUpError(Exception):
    """The caller stopped waiting for the copy."""


class Backup:
    """One copy in the making: `run` on a thread, `progress` from anywhere."""

    def __init__(self, source: str, target: str, busy: timedelta) -> None:
        self._source, self._target, self._busy = source, target, busy
        self._part = f"{target}.{os.getpid()}.part"
        self._stop = Event()
        self.progress = (0, 0)
        """(database pages done, all)"""

    def give_up(self) -> None:
        """Let `run` end soon, without a copy."""
        self._stop.set()

    def run(self) -> None:
        """Copy, then give the copy its name in one step. Raises StoreError, also for a target that is there."""
        if Path(self._target).exists():
            raise self._there()
        try:
            self._copy()
            self._name()
        except _GivenUpError:
            pass
        except OSError as exc:
            raise StoreError(f"{self._target}: {exc.strerror}; name a file in a folder that can be written") from exc
        finally:
            for ending in ("", "-journal", "-wal", "-shm"):
                Path(self._part + ending).unlink(missing_ok=True)

    def _copy(self) -> None:
        Path(self._part).touch(0o600)
        with (
            translated(self._source),
            closing(connect(self._source, busy=self._busy, writes=False)) as source,
            # Held from the first page to the last: without it, each commit of others would begin the copy anew.
            snapshot(source),
            translated(self._target),
            closing(sqlite3.connect(self._part)) as target,
        ):
            source.execute("select 1 from sqlite_schema").fetchone()
            source.backup(target, pages=_STEP_PAGES, progress=self._note)
            # One file, complete without a log until it is opened as a store.
            target.execute("pragma journal_mode = delete")
        with Path(self._part).open("rb") as copy:
            os.fsync(copy.fileno())

    def _note(self, _status: int, left: int, pages: int) -> None:
        self.progress = (pages - left, pages)
        if self._stop.is_set():
            raise _GivenUpError

    def _name(self) -> None:
        try:
            # Unlike a renaming, a link never takes the place of what is there.
            os.link(self._part, self._target)
        except FileExistsError:
            raise self._there() from None
        except OSError:  # a file system without links
            Path(self._part).rename(self._target)
        folder = os.open(Path(self._target).resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _there(self) -> StoreError:
        return StoreError(f"{self._target}: file exists; choose another name (backups never overwrite)")


async def run_backup(copy: Backup) -> AsyncIterator[tuple[int, int]]:
    """Run a copy on a thread; yields (pages done, all). Where the caller stops listening, no copy is left."""
    running = asyncio.get_running_loop().run_in_executor(None, copy.run)
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=_REPORT_S)
            yield copy.progress
        running.result()
    finally:
        copy.give_up()
        await asyncio.wait({running})


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
