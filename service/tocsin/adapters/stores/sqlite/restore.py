"""A backup verified, and put in the place of a store: whole or not at all, with the store before it kept aside."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from contextlib import closing, suppress
from glob import escape
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from msgspec import Struct

from tocsin.adapters.stores.sqlite.connection import connect, transaction
from tocsin.adapters.stores.sqlite.place import EngineLock, reached, refuse_network, size_of, translated
from tocsin.adapters.stores.sqlite.store import apply_migrations, findings, migrations, version_of
from tocsin.errors import StoreError, StoreTooNew

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from tocsin.adapters.stores.sqlite.connection import SqliteSession


_READ: Final = "select name, scope, digest, created_at, expires_at, last_used_at, revoked_at from tokens order by id"
_WRITE: Final = """
insert into tokens (name, scope, digest, created_at, expires_at, last_used_at, revoked_at)
values (?, ?, ?, ?, ?, ?, ?)
"""


def keep_access(restored: sqlite3.Connection, replaced: Path) -> None:
    """Carry over from the store that is replaced which tokens are revoked; all of them where the backup has none.

    Sessions of browsers end: people log in again. A store that is damaged, or of before there were tokens, has nothing
    to say.
    """
    known = _tokens_of(replaced)
    with transaction(restored):
        restored.execute("delete from sessions")
        (has_tokens,) = restored.execute("select exists (select 1 from tokens)").fetchone()
        if has_tokens:
            gone = [(row[-1], row[2]) for row in known if row[-1] is not None]
            restored.executemany("update tokens set revoked_at = coalesce(revoked_at, ?) where digest = ?", gone)
        else:
            # A store without tokens is open to every user of this machine.
            restored.executemany(_WRITE, known)


def _tokens_of(store: Path) -> list[tuple[object, ...]]:
    with suppress(sqlite3.DatabaseError):
        address = f"file:{quote(str(store.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            return db.execute(_READ).fetchall()
    return []


_STEP_PAGES: Final = 500
_BESIDE: Final = ("-wal", "-shm", "-journal")
_MAGIC: Final = b"SQLite format 3\0"
_MOST_FINDINGS: Final = 5


class Verified(Struct, frozen=True):
    """A copy that was read whole.

    version   of its schema
    newest    what this program needs
    pages     on its watch list
    findings  what is wrong with it, a sentence each
    """

    version: int
    newest: int
    pages: int
    findings: list[str]


def verify(path: str, busy: timedelta) -> Verified:
    """Read a copy whole, changing nothing; raises StoreError, StoreTooNew for what is no store of ours."""
    with translated(path), closing(_opened(path, busy)) as db:
        return _verify(db, path)


def _verify(db: SqliteSession, path: str) -> Verified:
    version, newest = version_of(db, path), migrations()[-1].number
    if version > newest:
        raise StoreTooNew(
            f"{path}: of version {version}, this program knows {newest}; update the program, then restore it"
        )
    if version == 0:
        raise StoreError(f"{path}: an empty database, no store; name another file")
    if version == newest:
        wrong = list(findings(db))
    else:
        # What must hold is known of this version only; of an older one, that the file is whole.
        told = [row[0] for row in db.execute("pragma integrity_check(10)")]
        wrong = [] if told == ["ok"] else told
        wrong += [f"table {row[0]} refers to rows that are gone" for row in db.execute("pragma foreign_key_check")][:5]
    (pages,) = db.execute("select count(*) from pages").fetchone()
    return Verified(version, newest, pages, wrong)


def _opened(path: str, busy: timedelta) -> SqliteSession:
    """Open a copy for reading; where no log lies beside it nothing is ever written, not even beside it."""
    with reached(path):
        with Path(path).open("rb") as file:
            head = file.read(100)
            size = file.seek(0, os.SEEK_END)
        has_log = size_of(f"{path}-wal") > 0
    if not head.startswith(_MAGIC):
        raise StoreError(f"{path}: no backup of a store; name another file")
    page_bytes = int.from_bytes(head[16:18], "big")
    page_bytes = 65_536 if page_bytes == 1 else page_bytes
    pages = int.from_bytes(head[28:32], "big")
    if not has_log and pages * page_bytes > size:
        raise StoreError(f"{path}: cut off, {size:,} of {pages * page_bytes:,} bytes are there; take another backup")
    mode = "mode=ro" if has_log else "mode=ro&immutable=1"
    return connect(f"file:{quote(str(Path(path).absolute()))}?{mode}", busy=busy, writes=False, uri=True)


class Restore:
    """One backup on its way into the place of a store: `run` on a thread, `progress` from anywhere.

    replace  a store that is there is moved aside; without, it is an error that there is one
    """

    def __init__(self, source: str, target: str, busy: timedelta, *, replace: bool) -> None:
        self._source, self._target, self._busy, self._replace = source, target, busy, replace
        self._part = f"{target}.{os.getpid()}.part"
        self._stop = Event()
        self.progress = (0, 0)
        """(database pages done, all)"""
        self.verified: Verified | None = None
        self.aside: str | None = None
        """Where the store that was there is now."""

    def give_up(self) -> None:
        """Let `run` end soon; nothing was changed by then."""
        self._stop.set()

    def run(self) -> None:
        """Verify, copy, migrate the copy, verify that, and give it the store's name. Raises StoreError."""
        refuse_network(self._target)
        with reached(self._target):
            is_there = size_of(self._target) > 0
            if is_there and Path(self._source).samefile(self._target):
                raise StoreError(f"{self._source}: this is the store itself; name a backup of it")
        if is_there and not self._replace:
            raise StoreError(f"{self._target}: there is a store already; give --replace, which keeps it aside")
        lock = EngineLock(self._target)
        try:
            self._sweep()
            self._copy()
            self._bring_up_to_date(is_there=is_there)
            if not self._stop.is_set():
                self._swap(is_there=is_there)
        finally:
            for ending in ("", *_BESIDE):
                Path(self._part + ending).unlink(missing_ok=True)
            lock.release(forget=not size_of(self._target))

    def _sweep(self) -> None:
        """Remove what a restoring left that was killed: under the lock there is no other one."""
        store = Path(self._target)
        for left in store.parent.glob(f"{escape(store.name)}.*.part*"):
            if re.fullmatch(r"\d+\.part(-\w+)?", left.name.removeprefix(f"{store.name}.")):
                left.unlink(missing_ok=True)

    def _copy(self) -> None:
        with translated(self._source), closing(_opened(self._source, self._busy)) as source:
            self.verified = _verify(source, self._source)
            _demand_sound(self.verified, self._source)
            with reached(self._target):
                Path(self._part).touch(0o600)
            with translated(self._target), closing(sqlite3.connect(self._part)) as part:
                source.backup(part, pages=_STEP_PAGES, progress=self._note)
                part.execute("pragma journal_mode = delete")

    def _note(self, _status: int, left: int, pages: int) -> None:
        self.progress = (pages - left, pages)
        if self._stop.is_set():
            raise StoreError(f"{self._target}: given up; nothing was changed")

    def _bring_up_to_date(self, *, is_there: bool) -> None:
        with translated(self._target), closing(connect(self._part, busy=self._busy, writes=True)) as db:
            for _ in apply_migrations(db, self._target):
                pass
            if is_there:
                keep_access(db, Path(self._target))
            _demand_sound(_verify(db, self._source), self._source)
        with reached(self._target), Path(self._part).open("rb") as part:
            os.fsync(part.fileno())

    def _swap(self, *, is_there: bool) -> None:
        """Put the copy in the store's place; its name leads to a whole store at any instant."""
        with reached(self._target):
            if is_there:
                self._set_aside()
            else:
                for ending in _BESIDE:
                    # A log without its store would be taken for that of the new one.
                    Path(self._target + ending).unlink(missing_ok=True)
            Path(self._part).replace(self._target)
            folder = os.open(Path(self._target).resolve().parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _set_aside(self) -> None:
        """Give the store that is there a second name, its log taken in; a damaged one is moved as it is."""
        aside = _free_name(f"{self._target}.replaced-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}")
        if not self._is_whole_in_itself():
            for ending in _BESIDE:
                with suppress(FileNotFoundError):
                    Path(self._target + ending).rename(aside + ending)
        try:
            os.link(self._target, aside)
        except OSError:  # a file system without links
            Path(self._target).rename(aside)
        self.aside = aside

    def _is_whole_in_itself(self) -> bool:
        """Take the log into the file; raises StoreError if another process has it open."""
        try:
            with closing(sqlite3.connect(self._target, timeout=self._busy.total_seconds())) as db:
                (mode,) = db.execute("pragma journal_mode = delete").fetchone()
        except sqlite3.OperationalError as exc:
            name = getattr(exc, "sqlite_errorname", "")
            if not name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                return False
            mode = "wal"
        except sqlite3.DatabaseError:
            return False
        if mode != "delete":
            raise StoreError(f"{self._target}: another process has this store open; end it, then restore")
        return True


def _demand_sound(verified: Verified, path: str) -> None:
    if verified.findings:
        told = "; ".join(verified.findings[:_MOST_FINDINGS])
        raise StoreError(f"{path}: the backup is damaged: {told}; take another one, nothing was changed")


def _free_name(name: str) -> str:
    return next(free for free in _names(name) if not Path(free).exists())


def _names(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1
