"""The watch list's part of the port."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tocsin.adapters.stores.sql.knowledge.kept import changes_by_state
from tocsin.adapters.stores.sql.pages.edits import (
    SQL,
    WatchListEdit,
    demand_group,
    edit_step,
    follow_step,
    insert_pages,
    merge_into,
    remove,
)
from tocsin.adapters.stores.sql.pages.requests import SQL as REQUESTS
from tocsin.adapters.stores.sql.pages.requests import want_pages
from tocsin.adapters.stores.sql.role import Role, ids, touch_hosts
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    pack_outcome,
    read_fields,
    read_flags,
    read_object,
    read_pair,
    read_settings,
    unless_damaged,
    unpack_report,
    unpack_why,
)
from tocsin.errors import NotWatched
from tocsin.model import (
    DayMarks,
    DueTime,
    HistoryEntry,
    KeptLogin,
    LastChange,
    LastCheck,
    LatestState,
    PageFilter,
    PageRow,
    VerdictEntry,
)
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Cursor, SqlSession
    from tocsin.model import Instant, JsonObject, NewPage
    from tocsin.ports.pages import OnStep


class WatchRole(Role):
    """Implements ports.WatchList."""

    async def add_pages(
        self,
        pages: Sequence[NewPage],
        now: Instant,
        *,
        request: int | None = None,
        on_step: OnStep = unheard,
        ids: list[int | None] | None = None,
    ) -> list[int | None]:
        added: list[int | None] = []

        def insert(db: SqlSession, step: Sequence[NewPage]) -> int:
            inserted = insert_pages(db, step, now, of=len(pages) - len(added))
            added.extend(inserted)
            if ids is not None:
                ids.extend(inserted)
            if request is not None:
                _want_new(db, request, inserted)
            return len(step)

        pace = self._paces["add"]
        for step in pace.pieces(pages):
            await self._step(pace, partial(insert, step=step), on_step)
        return added

    async def page(self, url: str) -> PageRow | None:
        row = await self._read(lambda db: db.execute(SQL["page"], {"url": url}).fetchone())
        return to_page(row) if row else None

    async def pages(self, which: PageFilter, *, after_id: int = 0, limit: int = 1000) -> list[PageRow]:
        place = {"after": after_id, "limit": limit}
        rows = await self._read(lambda db: _filtered(db, "pages", which, place, _IN_ORDER).fetchall())
        return [to_page(row) for row in rows]

    async def count_pages(self, which: PageFilter) -> int:
        count: int = (await self._read(lambda db: _filtered(db, "count", which, {}).fetchone()))[0]
        return count

    async def page_ids(self, which: PageFilter, *, last_id: int, after_id: int = 0, limit: int = 1000) -> list[int]:
        place = {"after": after_id, "last": last_id, "limit": limit}
        return await self._read(lambda db: [row[0] for row in _filtered(db, "page_ids", which, place, _IN_ORDER)])

    async def last_page_id(self) -> int:
        last: int = (await self._read(lambda db: db.execute(SQL["last_id"]).fetchone()))[0]
        return last

    async def last_times(self) -> tuple[Instant | None, Instant | None]:
        times: tuple[Instant | None, Instant | None] = await self._read(
            lambda db: db.execute(SQL["last_times"]).fetchone()
        )
        return times

    async def remove_pages(
        self, page_ids: Sequence[int], *, if_revision: int | None = None, on_step: OnStep = unheard
    ) -> int:
        removed = 0
        pace = self._paces["remove"]
        for step in pace.pieces(page_ids):
            removed += await self._step(pace, partial(remove, page_ids=step, if_revision=if_revision), on_step)
        return removed

    async def edit_pages(
        self,
        page_ids: Sequence[int],
        now: Instant,
        *,
        settings: JsonObject,
        unset: Sequence[str],
        paused: bool | None,
        group: str | None,
        text: str | None,
        clear_text: bool,
        of: int | None = None,
        if_revision: int | None = None,
        on_step: OnStep = unheard,
    ) -> int:
        pages = of or len(page_ids)
        edit = WatchListEdit(settings, tuple(unset), paused, group, text, clear_text, pages, if_revision)
        pace, changed = self._paces["edit"], 0
        for step in pace.pieces(page_ids):
            changed += await self._step(pace, partial(edit_step, page_ids=step, edit=edit, now=now), on_step)
        return changed

    async def edit_group(
        self,
        name: str | None,
        now: Instant,
        *,
        settings: JsonObject,
        unset: Sequence[str],
        if_revision: int | None = None,
        on_step: OnStep = unheard,
    ) -> None:
        edit = WatchListEdit(settings, tuple(unset), if_revision=if_revision)
        await self._edit(partial(merge_into, name=name, edit=edit))
        if not edit.moves_schedule:
            return
        which, last, after, pace = PageFilter(group=name), await self.last_page_id(), 0, self._paces["follow"]
        # Found by reading, which blocks no writer: it may scan all pages for a few.
        while found := await self.page_ids(which, after_id=after, last_id=last, limit=pace.rows):
            await self._step(pace, partial(follow_step, page_ids=found, edit=edit, now=now), on_step)
            after = found[-1]

    async def remove_group(self, name: str, *, if_revision: int | None = None) -> bool:
        def remove_it(db: SqlSession) -> bool:
            demand_group(db, name, if_revision)
            is_gone = db.execute(SQL["remove_group"], {"name": name}).rowcount > 0
            if is_gone:
                # Its id may be given to another group: a running engine must not know it as this one.
                touch_hosts(db, ())
            return is_gone

        return await self._edit(remove_it)

    async def login(self, page_id: int) -> KeptLogin | None:
        row = await self._read(lambda db: db.execute(SQL["login"], {"page": page_id}).fetchone())
        return KeptLogin(*row) if row else None

    async def keep_login(self, page_id: int, login: KeptLogin) -> None:
        row = {"page": page_id, "cookies": login.cookies, "at": login.kept_at}
        await self._write(lambda db: db.execute(SQL["keep_login"], row), shared=True)

    async def forget_logins(self, page_ids: Sequence[int]) -> int:
        place = {"ids": ids(page_ids)}
        return await self._write(lambda db: db.execute(SQL["forget_logins"], place).rowcount, shared=True)

    async def groups(self) -> list[tuple[str, int, JsonObject]]:
        rows = await self._read(lambda db: db.execute(SQL["groups"]).fetchall())
        return [(name, pages, read_settings(settings)) for name, pages, settings in rows]

    async def history(self, url: str, *, limit: int) -> list[HistoryEntry]:
        def read(db: SqlSession) -> list[HistoryEntry]:
            if db.execute(SQL["page"], {"url": url}).fetchone() is None:
                raise NotWatched(f"{url}: not on the watch list; `tocsin watch add` adds it")
            states = db.execute(SQL["history"], {"url": url, "limit": limit}).fetchall()
            found = db.execute(SQL["verdicts"], {"url": url, "states": ids(row[0] for row in states)}).fetchall()
            verdicts: dict[int | None, list[VerdictEntry]] = {row[0]: [] for row in states}
            for verdict in map(to_verdict, found):
                verdicts[verdict.state_id].append(verdict)
            items = changes_by_state(db, url, [row[1] for row in states], are_all=len(states) < limit)
            return [
                HistoryEntry(
                    id=state_id,
                    first_at=first,
                    last_at=last,
                    storings=storings,
                    in_table=bool(in_table),
                    fields=read_fields(fields),
                    verdicts=tuple(verdicts[state_id]),
                    items=changes,
                )
                for (state_id, first, last, storings, in_table, fields), changes in zip(states, items, strict=True)
            ]

        return await self._read(read)


def _want_new(db: SqlSession, request: int, inserted: Sequence[int | None]) -> None:
    new = [page_id for page_id in inserted if page_id is not None]
    want_pages(db, request, db.execute(REQUESTS["these_pages"], {"ids": ids(new)}).fetchall())


_IN_ORDER: Final = " order by p.id limit :limit"


def _filtered(db: SqlSession, query: str, which: PageFilter, place: dict[str, Any], end: str = "") -> Cursor:
    """Run a query of pages with the conditions of a filter."""
    sql = queries("watchlist", db.dialect)
    conditions, named = _conditions(which, sql)
    return db.execute(f"{sql[query]}{conditions}{end}", {**place, **named})


def _conditions(which: PageFilter, sql: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """Write a filter as conditions and their values."""
    given: dict[str, Any] = {
        "urls": ids(which.urls) if which.urls is not None else None,
        "group": which.group,
        "host": which.host,
        "matching": which.matching,
        "outcome": pack_outcome(which.outcome),
        "paused": which.paused,
        "topper": which.topper or None,
        "with_own": which.with_own or None,
        "shells": which.shells or None,
    }
    named = {name: value for name, value in given.items() if value is not None}
    return "".join(f" and {sql[f'by_{name}']}" for name in named), named


def to_page(row: Sequence[Any]) -> PageRow:
    """Make a page of a row of the query `row`."""
    (
        page_id, url, given, host, group, paused, text, settings,
        next_at, next_why, checked_at, received_at, changed_at, outcome, report, fields, stored_at, question_id,
        secrets, flags, saved_bytes, title, change, short, day, days,
    ) = row  # fmt: skip
    return PageRow(
        id=page_id,
        url=url,
        given=given,
        host=host,
        group=group,
        paused=bool(paused),
        text=text,
        settings=read_settings(settings),
        due=DueTime(next_at, unpack_why(next_why)),
        last=LastCheck(
            checked_at, received_at, changed_at, unless_damaged(partial(unpack_report, url, outcome), report)
        ),
        state=LatestState(unless_damaged(read_fields, fields), stored_at),
        question_id=question_id,
        has_secrets=secrets is not None,
        secrets=unless_damaged(read_pair, secrets),
        flags=read_flags(flags),
        saved_bytes=saved_bytes,
        title=title,
        change=LastChange(change, short),
        days=DayMarks() if days is None else DayMarks(day, bytes(days)),
    )


def to_verdict(row: Sequence[Any]) -> VerdictEntry:
    """Make a verdict of a row of the queries `verdicts`."""
    verdict_id, page_id, at, outcome, reason, rule, basis, data, state_id, alert_id, storm_id = row
    said = read_object(data)
    return VerdictEntry(verdict_id, page_id, at, outcome, reason, rule, basis, said, state_id, alert_id, storm_id)
