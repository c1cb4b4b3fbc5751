"""Who is let in after a restoring: a backup brings back pages, not people who were sent away since."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from tocsin.adapters.stores.sqlite.connection import transaction

if TYPE_CHECKING:
    from pathlib import Path

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
            # A store without any would let in whoever is on this machine.
            restored.executemany(_WRITE, known)


def _tokens_of(store: Path) -> list[tuple[object, ...]]:
    with suppress(sqlite3.DatabaseError):
        address = f"file:{quote(str(store.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            return db.execute(_READ).fetchall()
    return []
