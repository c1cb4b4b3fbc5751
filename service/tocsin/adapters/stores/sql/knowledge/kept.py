"""What is kept of a page: its states, the copies that it names, its items, its texts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.knowledge.pictures import (
    drop_pictures,
    find_prunable_pictures,
    fit_pictures,
    forget_pictures,
    picture_bytes,
)
from tocsin.adapters.stores.sql.role import LAST, Role, bounded, ids, take_turn
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import BARE, pack_digest, read_object, row_digest, to_json, to_us, write_fields
from tocsin.model import ItemChangeEntry, KnownCopy, PageItems, Slice, SnapshotRow
from tocsin.spec.microdata.reading.packing import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import CopyLink, FieldValues, Instant, JsonObject, NewState, Snapshot


# Storing states and taking them out of the table, inside a transaction.


STATES = queries("states")


def declares(fields: FieldValues) -> bool:
    """Tell whether a state has a topper element (T53): the last three of the twelve fields."""
    _, _, _, _, _, _, _, _, _, topper, major, minor = fields
    return topper is not None or major is not None or minor is not None


def store_state(db: SqlSession, page_id: int, state: NewState, *, stored_at: Instant | None) -> int:
    """Begin a new run of equal states with this one; returns its id.

    stored_at  the page's last storing so far: time never goes back for one page
    """
    at = max(state.stored_at, stored_at or state.stored_at)
    db.execute(STATES["close_run"], {"page": page_id})
    fields = write_fields(state.fields)
    row = {"page": page_id, "at": at, "fields": fields, "digest": row_digest(page_id, at, fields)}
    state_id: int = db.execute(STATES["open_run"], row).fetchone()[0]
    db.execute(
        STATES["show_run"],
        {"page": page_id, "state": state_id, "at": at, "declares": declares(state.fields), **origin(state)},
    )
    return state_id


def store_equal(db: SqlSession, page_id: int, state: NewState) -> None:
    """Store the page's latest state once more."""
    db.execute(STATES["run_on"], {"page": page_id, "at": state.stored_at, **origin(state)})


def origin(state: NewState) -> JsonObject:
    """Give the columns that belong to the answer that a state came with."""
    validators = state.validators
    return {
        "etag": validators.etag if validators else None,
        "last_modified": validators.last_modified if validators else None,
        "hop": validators.hop_url if validators else None,
        "digest": pack_digest(state.body_digest),
        "body_bytes": state.body_bytes,
    }


def retire_records(db: SqlSession, page_id: int, *, history: bool) -> None:
    """Take every record of a page but the most recent out of the table (T70).

    history  keep them beside it; else they are deleted
    """
    db.execute(STATES["retire_older" if history else "delete_older"], {"page": page_id})
    db.execute(STATES["retire_storings"], {"page": page_id})


# Copies that pages name: remembered, and offered for the pages that they are of, inside a transaction.


COPIES = queries("copies")
# Several pages may name one copy, which is offered once.
_READ_FOR_EACH = 10


def remember_copies(db: SqlSession, page_id: int, copies: Sequence[CopyLink], at: Instant) -> None:
    """Let these be all the copies that a page names."""
    db.execute(COPIES["forget"], {"page": page_id})
    if copies:
        rows = [
            {
                "page": page_id,
                "target": copy.target,
                "url": copy.url,
                "datetime": copy.datetime,
                "made_at": copy.made_at,
                "rel": copy.rel,
                "kind": copy.kind,
                "at": at,
            }
            for copy in copies
        ]
        db.executemany(COPIES["remember"], rows)


def copies_of(db: SqlSession, url: str, *, most: int) -> tuple[KnownCopy, ...]:
    """Return the known copies of a page, each once, the newest first."""
    rows = db.execute(COPIES["of_page"], {"url": url, "limit": _READ_FOR_EACH * most})
    return tuple(_each_once(rows, most))


def copies_of_question(
    db: SqlSession, question: int, first_page_id: int | None, *, most: int, most_of_page: int
) -> list[KnownCopy]:
    """Return the known copies of the pages of a question: those of its sample page come first."""
    place = {"question": question, "first": first_page_id, "limit": _READ_FOR_EACH * most}
    return list(_each_once(db.execute(COPIES["of_question"], place), most_of_page))[:most]


def _each_once(rows: Iterable[Sequence[str]], most_of_page: int) -> Iterator[KnownCopy]:
    seen: set[tuple[str, str]] = set()
    offered: Counter[str] = Counter()
    for row in rows:
        copy = KnownCopy(*row)
        if (copy.of, copy.url) not in seen and offered[copy.of] < most_of_page:
            seen.add((copy.of, copy.url))
            offered[copy.of] += 1
            yield copy


# Microdata of pages: kept with what found it, read to say what changed, and to be taken away.


ITEMS = queries("items")

# The most changes of a page's items that are shown with its states: each may take 32 KiB.
MOST_CHANGES = 1000


def keep_items(db: SqlSession, page_id: int, items: PageItems, *, leaves_row: bool = True) -> None:
    """Keep the items of a page in place of those before, inside a transaction.

    leaves_row  else the page's flags say all that there is to say, see `is_bare`
    Items without any bytes say that none of the page may be kept: what was, goes, and how they changed with them.
    """
    if not items.packed:
        db.execute(ITEMS["forget"], {"page": page_id})
        db.execute(ITEMS["forget_changes"], {"page": page_id})
        db.execute(ITEMS["forget_bare"], {"page": page_id, "bare": BARE})
        return
    if not leaves_row:
        db.execute(ITEMS["forget"], {"page": page_id})
        return
    row = {
        "page": page_id,
        "at": items.at,
        "count": items.count,
        "is_cut": items.is_cut,
        "digest": items.digest,
        "packed": items.packed,
    }
    db.execute(ITEMS["keep"], row)


def is_bare(items: PageItems | None) -> bool:
    """Say whether a check read a page that has no items: its flags say so, and it has no row."""
    return items is not None and bool(items.packed) and not items.count and not items.is_cut


def keep_changes(db: SqlSession, page_id: int, rendering_id: int, at: Instant, changes: JsonObject) -> None:
    """Keep how the items of a page changed, with the rendering that found it, inside a transaction."""
    row = {"rendering": rendering_id, "page": page_id, "at": at, "changes": to_json(changes)}
    db.execute(ITEMS["keep_changes"], row)


def changes_by_state(
    db: SqlSession, url: str, begins: Sequence[Instant], *, are_all: bool
) -> list[tuple[ItemChangeEntry, ...]]:
    """Sort the latest changes of a page's items by the state that was the latest then, each from the oldest on.

    begins   when the states were stored first, the newest first
    are_all  they are all that are kept: the last of them has what is from before it, too
    """
    if not begins:
        return []
    found: list[list[ItemChangeEntry]] = [[] for _ in begins]
    since = -LAST if are_all else begins[-1]
    rows = db.execute(ITEMS["history"], {"url": url, "since": since, "limit": MOST_CHANGES}).fetchall()
    for change in map(to_changes, reversed(rows)):
        place = next((place for place, begin in enumerate(begins) if begin <= change.at), -1)
        found[place].append(change)
    return [tuple(changes) for changes in found]


class ItemRole(Role):
    """Implements ports.ItemStore."""

    async def latest_items(self, page_id: int) -> PageItems | None:
        place = {"page": bounded(page_id)}
        row = await self._read(lambda db: db.execute(ITEMS["latest"], place).fetchone())
        return _to_items(row) if row is not None else None

    async def items_before(self, page_id: int) -> PageItems | None:
        place = {"page": bounded(page_id), "bare": BARE}

        def read(db: SqlSession) -> PageItems | None:
            row = db.execute(ITEMS["latest"], place).fetchone()
            if row is not None:
                return _to_items(row)
            bare = db.execute(ITEMS["bare_since"], place).fetchone()
            return PageItems(bare[0], NOTHING.digest, NOTHING.packed, 0) if bare is not None else None

        return await self._read(read)

    async def item_changes(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[ItemChangeEntry]:
        cursors = Cursors(1, "items", bounded(page_id))
        (before,) = cursors.read(cursor) or (LAST,)
        place = {"page": bounded(page_id), "before": before, "limit": limit + 1}
        rows = await self._view(lambda db: db.execute(ITEMS["changes"], place).fetchall())
        goes_on = cursors.write((rows[limit - 1][0],)) if len(rows) > limit else None
        return Slice(tuple(to_changes(row) for row in rows[:limit]), goes_on)


def to_changes(row: Sequence[Any]) -> ItemChangeEntry:
    """Make of a row (id of the rendering, when, what) how items changed."""
    rendering_id, at, changes = row
    return ItemChangeEntry(at, read_object(changes), rendering_id)


def _to_items(row: Sequence[Any]) -> PageItems:
    at, digest, packed, count, is_cut, first_at = row
    return PageItems(at, digest, packed, count, bool(is_cut), first_at)


# Texts of pages: kept with the results of checks, read to show differences, and forgotten.


SNAPSHOTS = queries("snapshots")


def keep_snapshots(db: SqlSession, rows: Sequence[tuple[int, Snapshot]]) -> None:
    """Keep texts of pages, inside a transaction: the page's id and its text each.

    A text that its page has already is not repeated. One without any bytes says that none of its page may be kept.
    """
    if rows:
        take_turn(db)
    for page_id, kept in rows:
        place = {"page": page_id, "at": kept.at, "digest": kept.digest, "packed": kept.packed}
        if not kept.packed:
            db.execute(SNAPSHOTS["forget_page"], place)
            forget_pictures(db, page_id)
            continue
        last = db.execute(SNAPSHOTS["last_digest"], place).fetchone()
        if last is None or last[0] != kept.digest:
            db.execute(SNAPSHOTS["keep_text"], place)
            db.execute(SNAPSHOTS["keep"], place)


class SnapshotRole(Role):
    """Implements ports.SnapshotStore, and what ports.RenderStore asks of texts."""

    async def snapshots(self, url: str, *, limit: int) -> list[SnapshotRow]:
        rows = await self._read(lambda db: db.execute(SNAPSHOTS["of_page"], {"url": url, "limit": limit}).fetchall())
        return [SnapshotRow(*row) for row in rows]

    async def snapshot_text(self, snapshot_id: int) -> bytes | None:
        row = await self._read(lambda db: db.execute(SNAPSHOTS["text_of"], {"id": snapshot_id}).fetchone())
        return row[0] if row is not None else None

    async def latest_text(self, page_id: int) -> bytes | None:
        row = await self._read(lambda db: db.execute(SNAPSHOTS["latest_of"], {"page": page_id}).fetchone())
        return row[0] if row is not None else None

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        rows = await self._read(lambda db: db.execute(SNAPSHOTS["around"], {"page": page_id, "at": at}).fetchall())
        if len(rows) < 2 or rows[0][0] != at:  # noqa: PLR2004 - two texts make a difference
            return None
        (_, latest), (_, before) = rows
        return before, latest

    async def prune_snapshots(self, now: Instant, *, keep: timedelta, per_page: int, limit: int) -> int:
        place = {"before": now - to_us(keep), "per_page": per_page, "limit": limit}
        # All pages are gone through while others may write.
        found = await self._read(lambda db: find_prunable(db, place))
        if found:
            return await self._write(lambda db: _drop(db, found))
        pictures = await self._read(lambda db: find_prunable_pictures(db, place))
        return await self._write(lambda db: drop_pictures(db, pictures)) if pictures else 0

    async def limit_texts(self, total: int) -> None:
        await self._write(lambda db: db.execute(SNAPSHOTS["limit"], {"total": total}))

    async def texts_are_short(self) -> bool:
        return await self._read(are_texts_short)

    async def fit_snapshots(self, *, total: int, limit: int) -> int:
        # Pictures get what texts leave: texts are small, and show more of what changed.
        texts, pictures = await self._read(lambda db: (_total(db), picture_bytes(db)))
        if pictures and texts + pictures > total:
            return await self._write(lambda db: fit_pictures(db, room=total - texts, limit=limit))
        return await self._write(lambda db: fit(db, total=total, limit=limit)) if texts > total else 0


def are_texts_short(db: SqlSession) -> bool:
    """Tell whether there is no room for first texts of pages."""
    return bool(db.execute(SNAPSHOTS["is_short"]).fetchone()[0])


def find_prunable(db: SqlSession, place: dict[str, int]) -> list[int]:
    """Find snapshots that are too old, or too many of their page: at most `limit` of them.

    place  limit; before, an instant; per_page
    """
    pages = [row[0] for row in db.execute(SNAPSHOTS["crowded"], place)]
    return [row[0] for row in db.execute(SNAPSHOTS["prunable"], {**place, "pages": ids(pages)})] if pages else []


def fit(db: SqlSession, *, total: int, limit: int) -> int:
    """Forget the oldest texts, inside a transaction, until all fit; returns how many went."""
    oldest = [row[0] for row in db.execute(SNAPSHOTS["oldest"], {"limit": limit})]
    # One after the other: a text that others have, too, makes no room.
    for forgotten, snapshot_id in enumerate(oldest):
        if _total(db) <= total:
            return forgotten
        _drop(db, [snapshot_id])
    return len(oldest)


def _drop(db: SqlSession, found: Sequence[int]) -> int:
    return db.execute(SNAPSHOTS["drop"], {"ids": ids(found)}).rowcount


def _total(db: SqlSession) -> int:
    total: int = db.execute(SNAPSHOTS["total"]).fetchone()[0]
    return total
