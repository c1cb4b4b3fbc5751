"""Lists of pages and the records of one page, for people; their part of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tocsin.adapters.stores.sql.codec import read_fields, read_object, read_settings
from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.pages.lists import SQL, list_of
from tocsin.adapters.stores.sql.pages.pages import SQL as PAGES
from tocsin.adapters.stores.sql.pages.watchlist import to_page
from tocsin.adapters.stores.sql.role import LAST, Role, bounded, ids
from tocsin.model import GroupRow, RenderingEntry, Slice, StateEntry, VerdictEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import BoundedCount, PageQuery, PageRow

T = TypeVar("T")


class BrowseRole(Role):
    """Implements what ports.BrowseStore says of pages and groups."""

    async def browse_pages(self, query: PageQuery, *, cursor: str | None = None, limit: int = 50) -> Slice[PageRow]:
        """Pages of a list, in its order."""
        pages = list_of(query)
        cursors = _cursors_of(query, pages.size)
        place = cursors.read(cursor)

        def read(db: Session) -> Slice[PageRow]:
            found, goes_on = pages.before(db, place, limit)
            rows = {row[0]: row for row in db.execute(PAGES["rows"], {"ids": ids(found)})}
            shown = tuple(to_page(rows[page_id]) for page_id in found if page_id in rows)
            return Slice(shown, None if goes_on is None else cursors.write(goes_on))

        return await self._view(read)

    async def tally_pages(self, query: PageQuery) -> BoundedCount:
        """How many a list has."""
        return await self._view(list_of(query).count)

    async def browse_ids(
        self, query: PageQuery, *, cursor: str | None = None, limit: int = 1000, last_id: int
    ) -> Slice[int]:
        """The ids of a list's pages up to `last_id`, for what is done to all of them."""
        pages = list_of(query)
        cursors = _cursors_of(query, pages.size, "ids")
        place = cursors.read(cursor)
        found, goes_on = await self._view(lambda db: pages.after(db, place, bounded(last_id), limit))
        return Slice(tuple(found), None if goes_on is None else cursors.write(goes_on))

    async def page_by_id(self, page_id: int) -> PageRow | None:
        """One page."""
        place = {"page": bounded(page_id)}
        row = await self._view(lambda db: db.execute(PAGES["row_of"], place).fetchone())
        return to_page(row) if row is not None else None

    async def pages_by_id(self, page_ids: Sequence[int]) -> list[PageRow]:
        """Those of these pages that there are, in order of id."""
        named = {"ids": ids(bounded(each) for each in page_ids)}
        rows = await self._view(lambda db: db.execute(PAGES["rows"], named).fetchall())
        return sorted(map(to_page, rows), key=lambda page: page.id)

    async def page_revision(self, page_id: int) -> int | None:
        """A number that grows with each edit of the page by somebody."""
        place = {"page": bounded(page_id)}
        row = await self._view(lambda db: db.execute(SQL["revision_of_page"], place).fetchone())
        return row[0] if row is not None else None

    async def group_rows(self) -> list[GroupRow]:
        """All groups, by name, with how many pages each has."""
        rows = await self._view(lambda db: db.execute(SQL["group_rows"]).fetchall())
        return [GroupRow(name, pages, read_settings(settings), revision) for name, pages, settings, revision in rows]

    async def revision_for_all(self) -> int:
        """A number that grows with each edit of what is set for all pages."""
        revision: int = (await self._view(lambda db: db.execute(SQL["revision_for_all"]).fetchone()))[0]
        return revision

    async def states_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[StateEntry]:
        """States of a page, newest first."""
        return await self._records_of("states", page_id, cursor, limit, _to_state)

    async def state(self, page_id: int, state_id: int) -> StateEntry | None:
        """One state of a page."""
        place = {"page": bounded(page_id), "state": bounded(state_id)}
        row = await self._view(lambda db: db.execute(SQL["state"], place).fetchone())
        return _to_state(row) if row is not None else None

    async def state_before(self, page_id: int, state_id: int) -> StateEntry | None:
        """The state of a page that stands before one in its list."""
        place = {"page": bounded(page_id), "before": bounded(state_id), "limit": 1}
        row = await self._view(lambda db: db.execute(SQL["states"], place).fetchone())
        return _to_state(row) if row is not None else None

    async def verdicts_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[VerdictEntry]:
        """Verdicts on a page, newest first."""
        return await self._records_of("verdicts", page_id, cursor, limit, _to_verdict)

    async def verdict(self, verdict_id: int) -> VerdictEntry | None:
        """One verdict."""
        place = {"verdict": bounded(verdict_id)}
        row = await self._view(lambda db: db.execute(SQL["verdict"], place).fetchone())
        return _to_verdict(row) if row is not None else None

    async def renderings_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[RenderingEntry]:
        """Renderings of a page, newest first."""
        return await self._records_of("renderings", page_id, cursor, limit, _to_rendering)

    async def _records_of(
        self, query: str, page_id: int, cursor: str | None, limit: int, entry: Callable[[Sequence[Any]], T]
    ) -> Slice[T]:
        """Read a part of the records of a page, by their ids down."""
        cursors = Cursors(1, query, bounded(page_id))
        (before,) = cursors.read(cursor) or (LAST,)
        values = {"page": bounded(page_id), "before": before, "limit": limit + 1}
        rows = await self._view(lambda db: db.execute(SQL[query], values).fetchall())
        goes_on = cursors.write((rows[limit - 1][0],)) if len(rows) > limit else None
        return Slice(tuple(entry(row) for row in rows[:limit]), goes_on)


def _cursors_of(query: PageQuery, size: int, *more: str) -> Cursors:
    return Cursors(size, "pages", query.view.value, query.group, query.host, query.words, *more)


def _to_state(row: Sequence[Any]) -> StateEntry:
    state_id, first_at, last_at, storings, in_table, fields = row
    return StateEntry(state_id, first_at, last_at, storings, bool(in_table), read_fields(fields))


def _to_rendering(row: Sequence[Any]) -> RenderingEntry:
    rendering_id, started_at, rendering, items = row
    return RenderingEntry(
        rendering_id, started_at, read_object(rendering), read_object(items) if items is not None else None
    )


def _to_verdict(row: Sequence[Any]) -> VerdictEntry:
    verdict_id, page_id, at, outcome, reason, rule, basis, data, state_id, alert_id, storm_id = row
    said = read_object(data)
    return VerdictEntry(verdict_id, page_id, at, outcome, reason, rule, basis, said, state_id, alert_id, storm_id)
