"""Lists of pages: each walks an index, or is short enough to be sorted."""

from __future__ import annotations

from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from tocsin.adapters.stores.sql.pages.edits import SQL as PAGES
from tocsin.adapters.stores.sql.pages.words import WordSearch, words_asked
from tocsin.adapters.stores.sql.role import first_since
from tocsin.adapters.stores.sql.statements import queries
from tocsin.errors import UsageError
from tocsin.model import MOST_SORTED, BoundedCount, PageSort, View

if TYPE_CHECKING:
    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant, PageQuery


Place: TypeAlias = tuple[Any, ...]
Part: TypeAlias = tuple[list[int], "Place | None"]

SQL = queries("browsing")

# So far lists are counted.
COUNTED: Final = 10_000

MOST_WORDS: Final = 16
_END: Final = 1 << 61
# Pages of one part of a list that has no index.
LOOKED_AT: Final = 2000


class PageWalk(Protocol):
    """A list of pages; `kinds` are the types of what its places have."""

    kinds: tuple[type, ...]

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages, and the place that it goes on from; None at its end."""

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """The same from its other end, up to this id, for what is done to all of them."""

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are."""


class AllPages:
    """All pages."""

    kinds: tuple[type, ...] = (int,)

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

    kinds: tuple[type, ...] = (int,)

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

    kinds: tuple[type, ...] = (int,)

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

    kinds: tuple[type, ...] = (int,)
    _before, _after = SQL["before"], SQL["after"]
    _keys: tuple[str, ...] = ("p.id",)

    def __init__(self, view: View, group: str | None, since: Instant = 0) -> None:
        self._view, self._group, self._since = view, group, since

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
            if self._group is None:
                return AllPages().count(db)
            row = db.execute(SQL["group_named"], {"name": self._group}).fetchone()
            return BoundedCount(row[1] if row is not None else 0)
        counting = f"select count(*) from ({self._each(db, '1')} limit :limit) few"  # noqa: S608 - parts of our own
        return _tally(db.execute(counting, {**self._values(db), "limit": COUNTED + 1}).fetchone()[0])

    def sorted_by(self, db: SqlSession, sort: PageSort) -> list[tuple[Any, int]]:
        """Give the value of each page that it is sorted by, and its id, of at most one page too many."""
        key = queries("browsing", db.dialect)[f"by_{sort.value}"]
        return db.execute(
            f"{self._each(db, f'{key}, p.id')} limit :limit", {**self._values(db), "limit": MOST_SORTED + 1}
        ).fetchall()

    def _each(self, db: SqlSession, columns: str) -> str:
        """Write a query of the list's pages in no order."""
        of_group = _view(db, self._view)
        if self._group is not None:
            return f"select {columns} from pages p {of_group}"  # noqa: S608 - as above
        # Groups first: each has its part of the index.
        joined = of_group.replace("where", "on true where g.pages > 0 and", 1).replace(":group", "g.id")
        return f"select {columns} from groups g {db.dialect.expand('then', ' pages p')} {joined}"  # noqa: S608 - as above

    def _values(self, db: SqlSession) -> dict[str, Any]:
        return {"since": self._since} | ({} if self._group is None else {"group": _group_id(db, self._group)})

    def _down(self, place: Place | None) -> dict[str, int]:
        return {"before": place[0] if place else _END}

    def _groups(self, db: SqlSession) -> list[int]:
        if self._group is None:
            return _ids(db, SQL["groups_with_pages"], {})
        found = _group_id(db, self._group)
        return [] if found is None else [found]

    def _merged(self, db: SqlSession, walk: str, values: dict[str, int], limit: int, *, falls: bool) -> Part:
        """Merge the parts of groups from a place on: those of the groups that come first there are enough."""
        values["since"] = self._since
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
    """Pages that have changed, at any time, since a time or before that; the latest change first."""

    kinds: tuple[type, ...] = (int, int)
    _before, _after = SQL["before_change"], SQL["after_change"]
    _keys = ("p.last_changed_at", "p.id")

    def _down(self, place: Place | None) -> dict[str, int]:
        at, page_id = place or (_END, _END)
        return {"at": at, "before": page_id}

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """From the oldest change on: a page that changes meanwhile is met again at its end, and none is left out."""
        at, page_id = place or (-_END, 0)
        found, goes_on = self._merged(db, self._after, {"at": at, "after": page_id}, limit, falls=False)
        return [page_id for page_id in found if page_id <= last_id], goes_on


class LookThrough:
    """Pages of a group, or all, that meet a condition which no index has. A part looks at a fixed number of pages."""

    kinds: tuple[type, ...] = (int,)

    def __init__(self, condition: str, group: str | None) -> None:
        self._condition, self._group = condition, group

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages, the page added last first; see `PageWalk`."""
        return self._some(db, "before", limit, {"before": place[0] if place else _END})

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int, **values: int) -> Part:
        """The same from its other end."""
        return self._some(db, "after", limit, {**values, "after": place[0] if place else 0, "last": last_id})

    def _some(self, db: SqlSession, walk: str, limit: int, values: dict[str, Any]) -> Part:
        sql = queries("browsing", db.dialect)
        columns = f"p.id, {sql[self._condition]}"
        if self._group is None:
            walking = sql[f"all_{walk}"].replace("p.id", columns, 1)
        else:
            walking = f"select {columns} from pages p {sql['in_all']} {sql[walk]}"  # noqa: S608 - as above
            values["group"] = _group_id(db, self._group)
        rows = db.execute(walking, {**values, "limit": LOOKED_AT}).fetchall()
        found = [page_id for page_id, is_met in rows if is_met]
        if len(found) > limit:
            return found[:limit], (found[limit - 1],)
        return found, (rows[-1][0],) if len(rows) == LOOKED_AT else None


class OrderedWalk(Protocol):
    """A list of pages in an order of its own."""

    kinds: tuple[type, ...]

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""


class SortedWalk:
    """All pages, or those of a group, in the order of an index; those that it has not follow, the latest first.

    whole  the same pages in their own order: for what is done to all, and to count them
    """

    def __init__(self, ordered: OrderedWalk, others: LookThrough | None, whole: PageWalk) -> None:
        self._ordered, self._others, self._whole = ordered, others, whole
        # 0 and a place of the ordered ones, or 1, nothing, and an id of the others.
        self.kinds: tuple[type, ...] = (int, *ordered.kinds)
        self._nothing = tuple(kind() for kind in ordered.kinds[:-1])

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""
        found: list[int] = []
        at: Place | None = None
        if place is None or place[0] == 0:
            found, goes_on = self._ordered.before(db, place[1:] if place else None, limit)
            if goes_on is not None or self._others is None:
                return found, None if goes_on is None else (0, *goes_on)
            at = (self._start(db),)
        else:
            at = place[-1:]
        if len(found) < limit:
            more, at = self._others.before(db, at, limit - len(found)) if self._others else ([], None)
            found = found + more
        return found, None if at is None else (1, *self._nothing, *at)

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """What is done to all of them is done in the order of ids."""
        return self._whole.after(db, place, last_id, limit)

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are."""
        return self._whole.count(db)

    def _start(self, _db: SqlSession) -> int:
        return _END


class QuietList(SortedWalk):
    """Pages that have not changed since a time, and were added before it."""

    def __init__(self, group: str | None, since: Instant) -> None:
        self._group, self._since = group, since
        self._changed = ChangedList(View.QUIET, group, since)
        super().__init__(self._changed, LookThrough("never_changed", group), _whole(group))

    def after(self, db: SqlSession, place: Place | None, last_id: int, limit: int) -> Part:
        """The same in the order of ids."""
        quiet = LookThrough("is_quiet", self._group)
        return quiet.after(
            db, place[-1:] if place else None, min(last_id, self._start(db) - 1), limit, since=self._since
        )

    def count(self, db: SqlSession) -> BoundedCount:
        """Tell how many there are, by how many there are not, where these can be counted."""
        recent = ViewList(View.RECENT, self._group, self._since).count(db)
        place: dict[str, Any] = {"after": self._start(db) - 1, "since": self._since, "limit": LOOKED_AT + 1}
        if self._group is not None:
            place["group"] = _group_id(db, self._group)
        query = SQL["added_since" if self._group is None else "added_since_to_group"]
        added = db.execute(query, place).fetchone()[0]
        if recent.is_exact and added <= LOOKED_AT:
            return BoundedCount(max(self._whole.count(db).number - recent.number - added, 0))
        return BoundedCount(self._changed.count(db).number, is_exact=False)

    def _start(self, db: SqlSession) -> int:
        """Find the first page that was not added before."""
        return first_since(db, SQL["page_after"], self._since, db.execute(PAGES["last_id"]).fetchone()[0])


class HostOrder:
    """All pages by their hosts."""

    kinds: tuple[type, ...] = (str, int)

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""
        name, after = place or ("", 0)
        found: list[tuple[str, int]] = []
        for host_id, host in db.execute(SQL["hosts_from"], {"name": name, "limit": limit + 2}).fetchall():
            values = {"host": host_id, "after": after if host == name else 0, "last": _END}
            of_host = _ids(db, SQL["host_after"], {**values, "limit": limit + 1 - len(found)})
            found += [(host, page_id) for page_id in of_host]
            if len(found) > limit:
                break
        return [page_id for _, page_id in found[:limit]], found[limit - 1] if len(found) > limit else None


class TitleOrder:
    """Pages that have a title, in its order."""

    kinds: tuple[type, ...] = (str, int)

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""
        key, after = place or ("", 0)
        query = queries("browsing", db.dialect)["titles_after"]
        rows = db.execute(query, {"key": key, "after": after, "limit": limit + 1}).fetchall()
        return [row[1] for row in rows[:limit]], tuple(rows[limit - 1]) if len(rows) > limit else None


class ShortOrder:
    """A list that is short enough to be sorted each time; raises UsageError for a longer one."""

    def __init__(self, pages: ViewList, sort: PageSort) -> None:
        self._pages, self._sort = pages, sort
        # Whether it has no value, the value, the id.
        self.kinds: tuple[type, ...] = (int, str if sort in (PageSort.TITLE, PageSort.HOST) else int, int)

    def before(self, db: SqlSession, place: Place | None, limit: int) -> Part:
        """Give the ids of its next pages; see `PageWalk`."""
        rows = self._pages.sorted_by(db, self._sort)
        if len(rows) > MOST_SORTED:
            raise UsageError(
                f"sort: this list has more than {MOST_SORTED:,} pages; sort all pages by changed_at, title or "
                "host, pages of a group by changed_at, or leave `sort` out"
            )
        nothing = self.kinds[1]()
        falls = self._sort == PageSort.CHANGED
        # Of equal values the page added last comes first, as in other lists.
        places = sorted(
            (key is None, nothing if key is None else -key if falls else key, -page_id) for key, page_id in rows
        )
        left = [each for each in places if place is None or each > place][: limit + 1]
        goes_on = left[limit - 1] if len(left) > limit else None
        return [-each[-1] for each in left[:limit]], None if goes_on is None else (int(goes_on[0]), *goes_on[1:])


def _whole(group: str | None) -> PageWalk:
    return AllPages() if group is None else ViewList(View.ALL, group)


def _group_id(db: SqlSession, group: str) -> int | None:
    row = db.execute(SQL["group_named"], {"name": group}).fetchone()
    return row[0] if row is not None else None


def list_of(query: PageQuery) -> PageWalk:
    """Find the list that a query asks for; raises UsageError for what is not offered."""
    is_view = query.view != View.ALL or query.group is not None
    is_sorted = query.sort is not None and not is_view
    if sum((is_view or is_sorted, query.host is not None, query.words is not None)) > 1:
        raise UsageError(
            "pages: `host` and `words` each stand alone, and `view` and `sort` go with `group` only; leave one of them "
            "out"
        )
    if query.words is not None:
        return WordList(query.words)
    if query.host is not None:
        return HostList(query.host)
    pages = _view_of(query)
    if query.sort is None or (query.sort == PageSort.CHANGED and isinstance(pages, ChangedList | QuietList)):
        return pages
    return _sorted(query, query.sort, pages)


def _view_of(query: PageQuery) -> PageWalk:
    match query.view:
        case View.ALL:
            return _whole(query.group)
        case View.CHANGED | View.RECENT:
            return ChangedList(query.view, query.group, query.since)
        case View.QUIET:
            return QuietList(query.group, query.since)
        case _:
            return ViewList(query.view, query.group)


def _sorted(query: PageQuery, sort: PageSort, pages: PageWalk) -> PageWalk:
    group = query.group
    if query.view == View.QUIET:
        raise UsageError("sort: quiet pages are sorted by changed_at only; leave `sort` out")
    if query.view == View.ALL:
        if sort == PageSort.CHANGED:
            return SortedWalk(ChangedList(View.CHANGED, group), LookThrough("never_changed", group), pages)
        if sort == PageSort.TITLE and group is None:
            return SortedWalk(TitleOrder(), LookThrough("is_untitled", None), pages)
        if sort == PageSort.HOST and group is None:
            return SortedWalk(HostOrder(), None, pages)
    return SortedWalk(ShortOrder(ViewList(query.view, group, query.since), sort), None, pages)


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
