"""Microdata of pages: kept with what found it, read to say what changed, and to be taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.role import LAST, Role, bounded
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import BARE, read_object, to_json
from tocsin.model import ItemChangeEntry, PageItems, Slice
from tocsin.spec.microdata.reading.packing import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant, JsonObject

SQL = queries("items")

# The most changes of a page's items that are shown with its states: each may take 32 KiB.
MOST_CHANGES = 1000


def keep_items(db: SqlSession, page_id: int, items: PageItems, *, leaves_row: bool = True) -> None:
    """Keep the items of a page in place of those before, inside a transaction.

    leaves_row  else the page's flags say all that there is to say, see `is_bare`
    Items without any bytes say that none of the page may be kept: what was, goes, and how they changed with them.
    """
    if not items.packed:
        db.execute(SQL["forget"], {"page": page_id})
        db.execute(SQL["forget_changes"], {"page": page_id})
        db.execute(SQL["forget_bare"], {"page": page_id, "bare": BARE})
        return
    if not leaves_row:
        db.execute(SQL["forget"], {"page": page_id})
        return
    row = {
        "page": page_id,
        "at": items.at,
        "count": items.count,
        "is_cut": items.is_cut,
        "digest": items.digest,
        "packed": items.packed,
    }
    db.execute(SQL["keep"], row)


def is_bare(items: PageItems | None) -> bool:
    """Say whether a check read a page that has no items: its flags say so, and it has no row."""
    return items is not None and bool(items.packed) and not items.count and not items.is_cut


def keep_changes(db: SqlSession, page_id: int, rendering_id: int, at: Instant, changes: JsonObject) -> None:
    """Keep how the items of a page changed, with the rendering that found it, inside a transaction."""
    row = {"rendering": rendering_id, "page": page_id, "at": at, "changes": to_json(changes)}
    db.execute(SQL["keep_changes"], row)


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
    rows = db.execute(SQL["history"], {"url": url, "since": since, "limit": MOST_CHANGES}).fetchall()
    for change in map(to_changes, reversed(rows)):
        place = next((place for place, begin in enumerate(begins) if begin <= change.at), -1)
        found[place].append(change)
    return [tuple(changes) for changes in found]


class ItemRole(Role):
    """Implements ports.ItemStore."""

    async def latest_items(self, page_id: int) -> PageItems | None:
        place = {"page": bounded(page_id)}
        row = await self._read(lambda db: db.execute(SQL["latest"], place).fetchone())
        return _to_items(row) if row is not None else None

    async def items_before(self, page_id: int) -> PageItems | None:
        place = {"page": bounded(page_id), "bare": BARE}

        def read(db: SqlSession) -> PageItems | None:
            row = db.execute(SQL["latest"], place).fetchone()
            if row is not None:
                return _to_items(row)
            bare = db.execute(SQL["bare_since"], place).fetchone()
            return PageItems(bare[0], NOTHING.digest, NOTHING.packed, 0) if bare is not None else None

        return await self._read(read)

    async def item_changes(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[ItemChangeEntry]:
        cursors = Cursors(1, "items", bounded(page_id))
        (before,) = cursors.read(cursor) or (LAST,)
        place = {"page": bounded(page_id), "before": before, "limit": limit + 1}
        rows = await self._view(lambda db: db.execute(SQL["changes"], place).fetchall())
        goes_on = cursors.write((rows[limit - 1][0],)) if len(rows) > limit else None
        return Slice(tuple(to_changes(row) for row in rows[:limit]), goes_on)


def to_changes(row: Sequence[Any]) -> ItemChangeEntry:
    """Make of a row (id of the rendering, when, what) how items changed."""
    rendering_id, at, changes = row
    return ItemChangeEntry(at, read_object(changes), rendering_id)


def _to_items(row: Sequence[Any]) -> PageItems:
    at, digest, packed, count, is_cut, first_at = row
    return PageItems(at, digest, packed, count, bool(is_cut), first_at)
