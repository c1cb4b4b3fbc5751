"""What feeds and sitemaps say of other pages: kept whole with their check, taken over a step at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tocsin.adapters.stores.sql.knowledge.knowledge import read_listed
from tocsin.adapters.stores.sql.role import Role, ids, touch_hosts
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import spread_at, to_json, window_us

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import CheckResult, Instant

SQL = queries("listings")
LEARNT = queries("learnt")

# The most entries that are kept of one listing.
MOST_ENTRIES: Final = 50_000

# Checks of pages that a listing reports as changed are spread over this time at most.
LONGEST_US: Final = 5 * 60 * 1_000_000

Entries = tuple[tuple[str, str], ...]

write_entries = msgspec.msgpack.Encoder().encode
_read_entries: Final = msgspec.msgpack.Decoder(Entries).decode


class ListingTask(msgspec.Struct, frozen=True):
    """A listing that is to be taken over, or whose page is gone.

    is_gone  what its page said is to be forgotten
    """

    page_id: int
    name: str
    at: Instant
    is_gone: bool
    entries: Entries


class ListingNews(msgspec.Struct, frozen=True):
    """What a listing says of one page.

    listed      all that is said of the page then
    is_changed  this listing has said something else of it before
    """

    page_id: int
    listed: str
    is_changed: bool


class ListingRole(Role):
    """Implements what ports.SignalStore says of feeds and sitemaps."""

    async def take_listings(self, now: Instant) -> int:
        heard = 0
        while (task := await self._read(next_task)) is not None:
            heard += await (self._forget_source(task) if task.is_gone else self._take_over(task, now))
        return heard

    async def _take_over(self, task: ListingTask, now: Instant) -> int:
        pace, news = self._paces["list"], 0
        for piece in pace.pieces(task.entries):
            # Looked for beside the writer, who is needed for what is new alone.
            heard = await self._read(partial(compare, task=task, entries=piece))
            if heard:
                step = partial(take_over, task=task, heard=heard, now=now)
                news += await self._in_turn(pace, len(heard), step)
        await self._write(partial(finish, task=task))
        return news

    async def _forget_source(self, task: ListingTask) -> int:
        pace, after = self._paces["unlist"], 0
        while True:
            step = partial(forget_some, task=task, after=after, limit=pace.rows)
            after = await self._in_turn(pace, pace.rows, step)
            if not after:
                return 0


def keep_listings(db: SqlSession, results: Sequence[CheckResult]) -> None:
    """Keep what these checks read in feeds and sitemaps, each in place of what its page said before."""
    rows = [
        (result.page_id, listing.name, result.checked_at, write_entries(listing.entries[:MOST_ENTRIES]))
        for result in results
        if (listing := result.learnt.listing) is not None
    ]
    if rows:
        db.executemany(SQL["keep"], rows)


def next_task(db: SqlSession) -> ListingTask | None:
    """Give the listing that is to be taken over next."""
    row = db.execute(SQL["next"]).fetchone()
    if row is None:
        return None
    page_id, name, at, entries, is_gone = row
    return ListingTask(page_id, name, at, bool(is_gone), _entries_of(entries))


def _entries_of(packed: bytes | None) -> Entries:
    """Read the entries of a listing, of each page the first one: feeds begin with what is newest."""
    try:
        entries = _read_entries(packed) if packed is not None else ()
    except msgspec.DecodeError:
        return ()
    return tuple(dict(reversed(entries)).items())


def compare(db: SqlSession, task: ListingTask, entries: Sequence[tuple[str, str]]) -> list[ListingNews]:
    """Find the watched pages of which this part of a listing says something else than it said before."""
    source, found = str(task.page_id), []
    for page_id, value, listed in db.execute(SQL["pages_of"], {"entries": to_json(entries), "source": task.page_id}):
        said = read_listed(listed)
        by_source = said.get(task.name, {})
        before = by_source.get(source)
        if before != value:
            after = to_json({**said, task.name: {**by_source, source: value}})
            found.append(ListingNews(page_id, after, before is not None))
    return found


def take_over(db: SqlSession, task: ListingTask, heard: Sequence[ListingNews], now: Instant) -> int:
    """Write what a listing says of these pages, and let those be checked soon of which it said something else before.

    Returns how many pages that were.
    """
    rows = [{"page": each.page_id, "listed": each.listed} for each in heard]
    db.executemany(SQL["list"], rows)
    db.executemany(LEARNT["note_learnt"], rows)
    changed = [each.page_id for each in heard if each.is_changed]
    if changed:
        window = window_us(len(changed), LONGEST_US)
        why = f"its {task.name} says that it changed"
        due = [{"page": page_id, "at": spread_at(page_id, now, window), "why": why} for page_id in changed]
        db.executemany(SQL["hurry"], due)
        touch_hosts(db, {row[0] for row in db.execute(SQL["hosts_of"], {"pages": ids(changed)})})
    return len(heard)


def finish(db: SqlSession, task: ListingTask) -> None:
    """Say that a listing was taken over, unless a newer one came meanwhile."""
    db.execute(SQL["finish"], {"page": task.page_id, "at": task.at})


def forget_some(db: SqlSession, task: ListingTask, *, after: int, limit: int) -> int:
    """Forget what a page that is gone said of some of those that are listed; returns the last one's id, or 0."""
    source, rows = str(task.page_id), db.execute(SQL["listed"], {"after": after, "limit": limit}).fetchall()
    changes: list[dict[str, Any]] = []
    for page_id, listed in rows:
        said = read_listed(listed)
        left = {name: rest for name, by in said.items() if (rest := {k: v for k, v in by.items() if k != source})}
        if left != said:
            changes.append({"page": page_id, "listed": to_json(left) if left else None})
    db.executemany(SQL["relist"], changes)
    if len(rows) < limit:
        db.execute(SQL["forget"], {"page": task.page_id})
        return 0
    last: int = rows[-1][0]
    return last
