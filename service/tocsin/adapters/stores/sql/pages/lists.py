"""Lists of pages for people, and the records of one page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.pages.edits import SQL as PAGES
from tocsin.adapters.stores.sql.pages.walks import SQL, ChangedList, list_of
from tocsin.adapters.stores.sql.pages.watchlist import to_page, to_verdict
from tocsin.adapters.stores.sql.pages.words import SQL as WORDS
from tocsin.adapters.stores.sql.pages.words import keep_titles
from tocsin.adapters.stores.sql.role import LAST, Role, bounded, ids
from tocsin.adapters.stores.sql.values import read_fields, read_object, read_settings
from tocsin.model import ChangeMark, GroupRow, RenderingEntry, Slice, StateEntry, VerdictEntry
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import BoundedCount, Instant, PageQuery, PageRow


T = TypeVar("T")


class BrowseRole(Role):
    """Implements what ports.BrowseStore says of pages and groups."""

    async def browse_pages(self, query: PageQuery, *, cursor: str | None = None, limit: int = 50) -> Slice[PageRow]:
        pages = list_of(query)
        cursors = _cursors_of(query, pages.kinds)
        place = cursors.read(cursor)

        def read(db: SqlSession) -> Slice[PageRow]:
            found, goes_on = pages.before(db, place, limit)
            rows = {row[0]: row for row in db.execute(PAGES["rows"], {"ids": ids(found)})}
            shown = tuple(to_page(rows[page_id]) for page_id in found if page_id in rows)
            return Slice(shown, None if goes_on is None else cursors.write(goes_on))

        return await self._view(read)

    async def tally_pages(self, query: PageQuery) -> BoundedCount:
        return await self._view(list_of(query).count)

    async def browse_ids(
        self, query: PageQuery, *, cursor: str | None = None, limit: int = 1000, last_id: int
    ) -> Slice[int]:
        pages = list_of(replace(query, sort=None))
        cursors = _cursors_of(query, (int, int) if isinstance(pages, ChangedList) else (int,), "ids")
        place = cursors.read(cursor)
        found, goes_on = await self._view(lambda db: pages.after(db, place, bounded(last_id), limit))
        return Slice(tuple(found), None if goes_on is None else cursors.write(goes_on))

    async def keep_titles(self) -> int:
        pace, kept = self._paces["titles"], 0
        while await self._read(lambda db: db.execute(WORDS["retitled"], {"limit": 1}).fetchone()) is not None:
            kept += await self._step(pace, partial(keep_titles, most=pace.rows), unheard)
        return kept

    async def page_by_id(self, page_id: int) -> PageRow | None:
        place = {"page": bounded(page_id)}
        row = await self._view(lambda db: db.execute(PAGES["row_of"], place).fetchone())
        return to_page(row) if row is not None else None

    async def pages_by_id(self, page_ids: Sequence[int]) -> list[PageRow]:
        named = {"ids": ids(bounded(each) for each in page_ids)}
        rows = await self._view(lambda db: db.execute(PAGES["rows"], named).fetchall())
        return sorted(map(to_page, rows), key=lambda page: page.id)

    async def page_revision(self, page_id: int) -> int | None:
        place = {"page": bounded(page_id)}
        row = await self._view(lambda db: db.execute(SQL["revision_of_page"], place).fetchone())
        return row[0] if row is not None else None

    async def group_rows(self) -> list[GroupRow]:
        rows = await self._view(lambda db: db.execute(SQL["group_rows"]).fetchall())
        return [GroupRow(name, pages, read_settings(settings), revision) for name, pages, settings, revision in rows]

    async def revision_for_all(self) -> int:
        revision: int = (await self._view(lambda db: db.execute(SQL["revision_for_all"]).fetchone()))[0]
        return revision

    async def states_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[StateEntry]:
        return await self._records_of("states", page_id, cursor, limit, _to_state)

    async def state(self, page_id: int, state_id: int) -> StateEntry | None:
        place = {"page": bounded(page_id), "state": bounded(state_id)}
        row = await self._view(lambda db: db.execute(SQL["state"], place).fetchone())
        return _to_state(row) if row is not None else None

    async def state_before(self, page_id: int, state_id: int) -> StateEntry | None:
        place = {"page": bounded(page_id), "before": bounded(state_id), "limit": 1}
        row = await self._view(lambda db: db.execute(SQL["states"], place).fetchone())
        return _to_state(row) if row is not None else None

    async def verdicts_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[VerdictEntry]:
        return await self._records_of("verdicts", page_id, cursor, limit, to_verdict)

    async def change_marks(self, page_id: int, since: Instant, *, limit: int) -> list[ChangeMark]:
        values = {"page": bounded(page_id), "since": bounded(since), "limit": limit}
        rows = await self._view(lambda db: db.execute(SQL["change_marks"], values).fetchall())
        return [ChangeMark(*row) for row in rows]

    async def verdict(self, verdict_id: int) -> VerdictEntry | None:
        place = {"verdict": bounded(verdict_id)}
        row = await self._view(lambda db: db.execute(SQL["verdict"], place).fetchone())
        return to_verdict(row) if row is not None else None

    async def renderings_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[RenderingEntry]:
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


def _cursors_of(query: PageQuery, kinds: tuple[type, ...], *more: str) -> Cursors:
    # `since` may grow from one part to the next: the list is the same.
    return Cursors(kinds, "pages", query.view.value, query.group, query.host, query.words, query.sort, *more)


def _to_state(row: Sequence[Any]) -> StateEntry:
    state_id, first_at, last_at, storings, in_table, fields = row
    return StateEntry(state_id, first_at, last_at, storings, bool(in_table), read_fields(fields))


def _to_rendering(row: Sequence[Any]) -> RenderingEntry:
    rendering_id, started_at, rendering, items = row
    return RenderingEntry(
        rendering_id, started_at, read_object(rendering), read_object(items) if items is not None else None
    )
