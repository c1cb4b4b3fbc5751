"""Lists of pages for people, and the records of one page."""

from __future__ import annotations

from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.pages.edits import SQL as PAGES
from tocsin.adapters.stores.sql.pages.watchlist import to_page, to_verdict
from tocsin.adapters.stores.sql.pages.words import WordSearch, words_asked
from tocsin.adapters.stores.sql.role import LAST, Role, bounded, ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_fields, read_object, read_settings
from tocsin.errors import UsageError
from tocsin.model import BoundedCount, GroupRow, PageQuery, RenderingEntry, Slice, StateEntry, VerdictEntry, View

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import PageQuery, PageRow


Place: TypeAlias = tuple[int, ...]
Part: TypeAlias = tuple[list[int], "Place | None"]

SQL = queries("browsing")

# So far lists are counted.
COUNTED: Final = 10_000

MOST_WORDS: Final = 16
_END: Final = 1 << 61


class PageWalk(Protocol):
    """A list of pages; `size` is how many integers its places have."""

    size: int

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages, and the place that it goes on from; None at its end."""

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """The same from its other end, up to this id, for what is done to all of them."""

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are."""


def list_of(query: PageQuery) -> PageWalk:
    """Find the list that a query asks for; raises UsageError for what is not offered."""
    is_view = query.view != View.ALL or query.group is not None
    if sum((is_view, query.host is not None, query.words is not None)) > 1:
        raise UsageError(
            "pages: `host` and `words` each stand alone, and `view` goes with `group` only; leave one of them out"
        )
    if query.words is not None:
        return WordList(query.words)
    if query.host is not None:
        return HostList(query.host)
    if query.view == View.CHANGED:
        return ChangedList(query.group)
    return ViewList(query.view, query.group) if is_view else AllPages()


class AllPages:
    """All pages."""

    size = 1

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""
        return _part(_ids(db, SQL["all_before"], {"before": place[0] if place else _END, "limit": limit + 1}), limit)

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """The same from its other end."""
        values = {"after": place[0] if place else 0, "last": last_id, "limit": limit + 1}
        return _part(_ids(db, SQL["all_after"], values), limit)

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are."""
        return BoundedCount(db.execute(SQL["count_all"]).fetchone()[0])


class HostList:
    """Pages of one host."""

    size = 1

    def __init__(self, host: str) -> None:
        self._host = host

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""
        values = {"host": self._id(db), "before": place[0] if place else _END, "limit": limit + 1}
        return _part(_ids(db, SQL["host_before"], values), limit)

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """The same from its other end."""
        values = {"host": self._id(db), "after": place[0] if place else 0, "last": last_id, "limit": limit + 1}
        return _part(_ids(db, SQL["host_after"], values), limit)

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are."""
        values = {"host": self._id(db), "before": _END, "limit": COUNTED + 1}
        return _tally(len(_ids(db, SQL["host_before"], values)))

    def _id(self, db: SqlSession) -> int | None:
        row = db.execute(SQL["host_named"], {"host": self._host}).fetchone()
        return row[0] if row is not None else None


class WordList:
    """Pages found by words."""

    size = 1

    def __init__(self, text: str) -> None:
        self._words = words_asked(text)
        if not self._words:
            raise UsageError("words: no letter and no digit to look for; give the beginning of a word")
        if len(self._words) > MOST_WORDS:
            raise UsageError(f"words: {len(self._words)} of them; give at most {MOST_WORDS}")

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; fewer than asked for, and a place, where to look on would take too long."""
        found, goes_on = WordSearch(db, self._words).before(place[0] if place else _END, limit)
        return found, None if goes_on is None else (goes_on,)

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """The same from its other end."""
        found, goes_on = WordSearch(db, self._words).after(place[0] if place else 0, limit)
        kept = [page_id for page_id in found if page_id <= last_id]
        ends = goes_on is None or goes_on > last_id or len(kept) < len(found)
        return kept, None if ends or goes_on is None else (goes_on,)

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are."""
        return BoundedCount(*WordSearch(db, self._words).count(COUNTED))


class ViewList:
    """Pages of a view, of a group or of all: each group has its part of the view's index, and a list merges them."""

    size = 1
    _before, _after = SQL["before"], SQL["after"]
    _keys: tuple[str, ...] = ("p.id",)

    def __init__(self, view: View, group: str | None) -> None:
        self._view, self._group = view, group

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""
        return self._merged(db, self._before, self._down(place), limit, falls=True)

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """The same from its other end."""
        values = {"after": place[0] if place else 0, "last": last_id}
        return self._merged(db, self._after, values, limit, falls=False)

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are: of all pages, and of a group's, that is known."""
        if self._view == View.ALL:
            row = db.execute(SQL["group_named"], {"name": self._group}).fetchone()
            return BoundedCount(row[1] if row is not None else 0)
        counting = f"select count(*) from (select 1 from pages p {_view(db, self._view)} limit :limit) few"  # noqa: S608 - parts of our own
        number = 0
        for group in self._groups(db):
            number += db.execute(counting, {"group": group, "limit": COUNTED + 1 - number}).fetchone()[0]
            if number > COUNTED:
                break
        return _tally(number)

    def _down(self, place: Place | None) -> dict[str, int]:
        return {"before": place[0] if place else _END}

    def _groups(self, db: SqlSession) -> list[int]:
        if self._group is None:
            return _ids(db, SQL["groups_with_pages"], {})
        row = db.execute(SQL["group_named"], {"name": self._group}).fetchone()
        return [row[0]] if row is not None else []

    def _merged(self, db: SqlSession, walk: str, values: dict[str, int], limit: int, *, falls: bool) -> Part:
        """Merge the parts of groups from a place on: those of the groups that come first there are enough."""
        keys = ", ".join(self._keys)
        walking = f"select {keys} from pages p {_view(db, self._view)} {walk}"  # noqa: S608 - as above
        groups = self._groups(db)
        if len(groups) > 1:
            heads = ", ".join(f"({_first(walking, keys, key)}) as head{n}" for n, key in enumerate(self._keys))
            way = "desc nulls last" if falls else "nulls last"
            order = ", ".join(f"head{n} {way}" for n in range(len(self._keys)))
            leading = f"select g.id, {heads} from groups g where g.pages > 0 order by {order} limit :most"  # noqa: S608 - as above
            groups = [
                row[0] for row in db.execute(leading, {**values, "limit": 1, "most": limit + 1}) if row[1] is not None
            ]
        # Each is read only as far as the list goes.
        parts = [db.execute(walking, {**values, "group": group, "limit": limit + 1}) for group in groups]
        rows = list(islice(merge(*parts, reverse=falls), limit + 1))
        for part in parts:
            part.close()
        return [row[-1] for row in rows[:limit]], tuple(rows[limit - 1]) if len(rows) > limit else None


class ChangedList(ViewList):
    """Pages that have changed, the latest change first."""

    size = 2
    _before, _after = SQL["before_change"], SQL["after_change"]
    _keys = ("p.last_changed_at", "p.id")

    def __init__(self, group: str | None) -> None:
        super().__init__(View.CHANGED, group)

    def _down(self, place: Place | None) -> dict[str, int]:
        at, page_id = place or (_END, _END)
        return {"at": at, "before": page_id}

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """From the oldest change on: a page that changes meanwhile is met again at its end, and none is left out."""
        at, page_id = place or (-_END, 0)
        found, goes_on = self._merged(db, self._after, {"at": at, "after": page_id}, limit, falls=False)
        return [page_id for page_id in found if page_id <= last_id], goes_on


def _view(db: SqlSession, view: View) -> str:
    """Give the index and the condition of a list, in the words of this database."""
    return queries("browsing", db.dialect)[f"in_{view.value}"]


def _first(walking: str, keys: str, key: str) -> str:
    return walking.replace(f"select {keys} ", f"select {key} ", 1).replace(":group", "g.id")


def _ids(db: SqlSession, query: str, values: dict[str, Any]) -> list[int]:
    return [row[0] for row in db.execute(query, values)]


def _part(found: list[int], limit: int) -> Part:
    return found[:limit], (found[limit - 1],) if len(found) > limit else None


def _tally(number: int) -> BoundedCount:
    return BoundedCount(min(number, COUNTED), is_exact=number <= COUNTED)


T = TypeVar("T")


class BrowseRole(Role):
    """Implements what ports.BrowseStore says of pages and groups."""

    async def browse_pages(self, query: PageQuery, *, cursor: str | None = None, limit: int = 50) -> Slice[PageRow]:
        pages = list_of(query)
        cursors = _cursors_of(query, pages.size)
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
        pages = list_of(query)
        cursors = _cursors_of(query, pages.size, "ids")
        place = cursors.read(cursor)
        found, goes_on = await self._view(lambda db: pages.after(db, place, bounded(last_id), limit))
        return Slice(tuple(found), None if goes_on is None else cursors.write(goes_on))

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
