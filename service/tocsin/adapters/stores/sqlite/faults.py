"""What SQLite and the system say when they cannot go on, in words that name the place and the mend."""

from __future__ import annotations

import errno
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tocsin.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

# By the primary name of SQLite's result code; extended codes begin with it.
_MENDS = (
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "another process has kept it locked for too long; wait for it, or end it, and try again",
    ),
    (
        ("SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"),
        "it cannot be written; make the file and its folder writable for this user",
    ),
    (("SQLITE_NOTADB",), "this is not a database; name another file in store.url, or restore a backup"),
    (
        ("SQLITE_CORRUPT",),
        "the database is damaged; restore a backup (`tocsin store check` on a copy shows how far it goes)",
    ),
    (("SQLITE_FULL",), "the disk is full; free some space, nothing that was committed is lost"),
    (("SQLITE_IOERR",), "the disk cannot be read or written; see the system's log, and whether it is full"),
    (
        ("SQLITE_CANTOPEN",),
        "it cannot be opened; does the folder exist, may this user write there, and this process open more files?",
    ),
    (("SQLITE_NOMEM",), "there is not enough memory; free some and try again"),
)
_SYSTEM_MENDS = {
    errno.ENOSPC: "free some space, nothing that was committed is lost",
    errno.EDQUOT: "free some of this user's space, nothing that was committed is lost",
    errno.EMFILE: "raise the limit of open files of this process: ulimit -n, or LimitNOFILE= of a systemd unit",
    errno.ENFILE: "raise the limit of open files of the machine: fs.file-max",
    errno.EROFS: "name a file that can be written in store.url, or with --store",
}
_FAULT = "the program and this database do not agree; `tocsin store check` shows more, please report it"


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn the driver's errors into StoreError, naming the store and the mend."""
    try:
        yield
    except sqlite3.Error as exc:
        mend = _mend_of(exc)
        raise StoreError(f"{path}: {mend} (SQLite: {exc})", why=mend) from exc


@contextmanager
def reached(path: str) -> Iterator[None]:
    """Turn the system's errors about a file of the store into StoreError, naming the file and the mend."""
    try:
        yield
    except OSError as exc:
        mend = _SYSTEM_MENDS.get(
            exc.errno or 0, "make the folder writable for this user, or name another in store.url, or with --store"
        )
        raise StoreError(f"{path}: {exc.strerror}; {mend}", why=f"{exc.strerror}; {mend}") from exc


def _mend_of(exc: sqlite3.Error) -> str:
    name = getattr(exc, "sqlite_errorname", None) or ""
    return next((mend for codes, mend in _MENDS if name.startswith(codes)), _FAULT)
