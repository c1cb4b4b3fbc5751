"""The spec's plain-text table as the store holds it (T30-T32)."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.knowledge.kept import STATES, declares
from tocsin.adapters.stores.sql.pages.edits import SQL as PAGES
from tocsin.adapters.stores.sql.pages.edits import insert_pages
from tocsin.adapters.stores.sql.pages.words import change_words, pages_named
from tocsin.adapters.stores.sql.role import STEP_ROWS, Role, ids, touch_all_hosts
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_fields, row_digest, write_fields
from tocsin.errors import HasStates
from tocsin.model import NewPage, TableRow
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant

SQL = queries("table")
_NAMED = 3


class TableRole(Role):
    """Implements ports.TableStore."""

    async def table_rows(self) -> AsyncIterator[TableRow]:
        return self._records()

    async def _records(self) -> AsyncIterator[TableRow]:
        async with self._database.apart(one_instant=True) as read:
            rows = await read(lambda db: iter(db.execute(SQL["rows"])))
            while some := await read(lambda _: list(islice(rows, STEP_ROWS))):
                for url, fields, stored_at, text, _ in some:
                    yield TableRow(url, read_fields(fields), stored_at, text)

    async def import_table(self, rows: Iterable[TableRow], now: Instant, *, replace: bool) -> int:
        return await self._edit(partial(_take_table, rows=rows, now=now, replace=replace))


def _take_table(db: SqlSession, *, rows: Iterable[TableRow], now: Instant, replace: bool) -> int:
    """Write records in steps; a record that is refused undoes all of them."""
    (last,) = db.execute(SQL["last_state"]).fetchone()
    stated, first = 0, list[str]()
    taken, left = 0, iter(rows)
    while step := list(islice(left, STEP_ROWS)):
        pages = _pages_of(db, step, now)
        for url, (page_id, state_id) in pages.items():
            if state_id is not None:
                db.execute(STATES["close_run"], {"page": page_id})
            if state_id is not None and state_id <= last:
                stated += 1
                first += [url] * (stated <= _NAMED)
                db.execute(SQL["delete_before"], {"page": page_id, "last": last})
        records = [_to_record(row, pages[row.url][0]) for row in step]
        db.executemany(SQL["insert_record"], records)
        shown = {record["page"]: record for record in records}.values()
        page_ids = list({pages[row.url][0] for row in step})
        before = pages_named(db, page_ids)
        db.executemany(SQL["show_last"], shown)
        change_words(db, before, pages_named(db, page_ids))
        db.execute(PAGES["note_edits"], {"ids": ids(page_ids)})
        db.executemany(SQL["open_last"], shown)
        taken += len(step)
    if stated and not replace:
        named = ", ".join(first) + (f" and {stated - _NAMED} more" if stated > _NAMED else "")
        raise HasStates(f"{named}: have states already; give --replace to put the table's in their place")
    touch_all_hosts(db)
    return taken


def _to_record(row: TableRow, page_id: int) -> dict[str, Any]:
    fields = write_fields(row.fields)
    return {
        "page": page_id,
        "at": row.stored_at,
        "fields": fields,
        "digest": row_digest(page_id, row.stored_at, fields),
        "text": row.text,
        "declares": declares(row.fields),
    }


def _pages_of(db: SqlSession, rows: list[TableRow], now: Instant) -> dict[str, tuple[int, int | None]]:
    """Give the id and latest state of each page of these records; those not watched yet are added."""
    urls = dict.fromkeys(row.url for row in rows)
    place = {"urls": ids(urls)}
    known = {url for url, _, _ in db.execute(SQL["pages_named"], place)}
    new = [watch_url(url) for url in urls if url not in known]
    if new:
        insert_pages(db, [NewPage(page.url, page.given, page.host, page.shard) for page in new], now, of=len(new))
    found = {url: (page_id, state_id) for url, page_id, state_id in db.execute(SQL["pages_named"], place)}
    return {url: found[url] for url in urls}
