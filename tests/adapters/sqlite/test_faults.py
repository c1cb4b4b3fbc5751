"""What SQLite says, in words that name the mend."""

from __future__ import annotations

import errno
import os
import sqlite3

import pytest

from tocsin.adapters.stores.sqlite.place import reached, translated
from tocsin.errors import StoreError


def fault(name: str) -> sqlite3.OperationalError:
    """An error as the driver raises it."""
    error = sqlite3.OperationalError("what SQLite says")
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("SQLITE_BUSY", "wait for it, or end it"),
        ("SQLITE_BUSY_SNAPSHOT", "wait for it, or end it"),
        ("SQLITE_READONLY_DIRECTORY", "writable for this user"),
        ("SQLITE_NOTADB", "name another file"),
        ("SQLITE_CORRUPT_INDEX", "restore a backup"),
        ("SQLITE_FULL", "free some space"),
        ("SQLITE_IOERR_WRITE", "see the system's log"),
        ("SQLITE_CANTOPEN", "does the folder exist"),
        ("SQLITE_NOMEM", "free some"),
        ("SQLITE_ERROR", "please report it"),
    ],
)
def test_each_fault_names_the_store_and_the_mend(name: str, mend: str) -> None:
    with pytest.raises(StoreError, match=mend) as raised, translated("/srv/tocsin.db"):
        raise fault(name)

    assert str(raised.value).startswith("/srv/tocsin.db: ")
    assert str(raised.value).endswith("(SQLite: what SQLite says)")


@pytest.mark.parametrize(
    ("number", "mend"),
    [
        (errno.ENOSPC, "No space left on device; free some space"),
        (errno.EDQUOT, "Disk quota exceeded; free some of this user's space"),
        (errno.EROFS, "Read-only file system; name a file that can be written"),
        (errno.EACCES, "Permission denied; make the folder writable"),
    ],
)
def test_each_fault_of_the_system_names_the_file_and_the_mend(number: int, mend: str) -> None:
    with pytest.raises(StoreError, match=f"^/srv/tocsin.db: {mend}"), reached("/srv/tocsin.db"):
        raise OSError(number, os.strerror(number))


def test_an_error_without_a_code_is_translated_too() -> None:
    with pytest.raises(StoreError, match="please report it"), translated("tocsin.db"):
        raise sqlite3.ProgrammingError("closed")


def test_errors_that_are_not_the_drivers_pass_through() -> None:
    with pytest.raises(ZeroDivisionError), translated("tocsin.db"):
        raise ZeroDivisionError
