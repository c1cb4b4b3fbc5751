"""Checks asked for by hand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.role import LAST, STEP_ROWS, Role, ids, take_turn, touch_hosts
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_report, to_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.adapters.stores.sql.role import Pace
    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import CheckReport, CheckResult, Instant

SQL = queries("requests")


class RequestRole(Role):
    """Implements what ports.WorkStore says of requests."""

    async def open_request(self, now: Instant) -> int:
        request: int = await self._write(lambda db: db.execute(SQL["insert"], {"now": now}).fetchone()[0])
        return request

    async def request_check(
        self, page_ids: Sequence[int] | AsyncIterator[Sequence[int]] | None, now: Instant, *, request: int | None = None
    ) -> int:
        if request is None:
            request = await self.open_request(now)
        is_whole = False
        try:
            await self._want(request, page_ids)
            is_whole = True
        finally:
            if not is_whole:
                # No client would follow the pages that were requested so far.
                await self.drop_request(request)
        return request

    async def _want(self, request: int, page_ids: Sequence[int] | AsyncIterator[Sequence[int]] | None) -> None:
        pace, after = self._paces["want"], 0
        if page_ids is None:
            while last := await self._want_some(request, "next_pages", pace.rows, after=after, limit=pace.rows):
                after = last
        elif isinstance(page_ids, Sequence):
            for piece in pace.pieces(page_ids):
                await self._want_some(request, "these_pages", len(piece), ids=ids(piece))
        else:
            async for some in page_ids:
                await self._want(request, some)

    async def _want_some(self, request: int, query: str, rows: int, **place: Any) -> int:
        """Want one step's pages; returns the last one's id, 0 if there was none."""
        step = partial(_want_step, request=request, query=SQL[query], place=place)
        return await self._in_turn(self._paces["want"], rows, step)

    async def drop_request(self, request_id: int) -> None:
        pace = self._paces["drop"]
        while await self._drop_some(pace, request_id):
            pass

    async def _drop_some(self, pace: Pace, request_id: int) -> int:
        place = {"request": request_id, "limit": pace.rows}
        return await self._in_turn(pace, pace.rows, lambda db: db.execute(SQL["drop"], place).rowcount)

    async def request_progress(self, request_id: int) -> tuple[int, int]:
        row = await self._read(lambda db: db.execute(SQL["progress"], {"request": request_id}).fetchone())
        return (row[0], row[1]) if row else (0, 0)

    async def forgo_reports(self, request_id: int) -> None:
        place = {"request": request_id, "limit": STEP_ROWS}
        await self._write(lambda db: db.execute(SQL["forgo"], place).close(), shared=True)
        while await self._write(lambda db: db.execute(SQL["forget_reports"], place).rowcount, shared=True):
            pass

    async def request_reports(
        self, request_id: int, *, after: int, limit: int | None = None
    ) -> list[tuple[int, CheckReport]]:
        place = {"request": request_id, "after": after, "limit": LAST if limit is None else limit}
        rows = await self._read(lambda db: db.execute(SQL["reports"], place).fetchall())
        return [(position, read_report(report)) for position, report in rows]


def _want_step(db: SqlSession, *, request: int, query: str, place: dict[str, Any]) -> int:
    """Want one step's pages; returns the last one's id, 0 if there was none."""
    rows = db.execute(query, place).fetchall()
    want_pages(db, request, rows)
    return max((row[0] for row in rows), default=0)


def want_pages(db: SqlSession, request: int, rows: Sequence[tuple[int, int, int | None]]) -> None:
    """Let a request want these pages: (id, host, the request that wants it so far) each."""
    db.execute(SQL["want"], {"request": request, "ids": ids(row[0] for row in rows)})
    db.execute(SQL["grow"], {"request": request, "count": len(rows)})
    give_up(db, [row[2] for row in rows])
    touch_hosts(db, {row[1] for row in rows})


def give_up(db: SqlSession, requests: Sequence[int | None]) -> None:
    """Let requests forget pages that they will not get: one entry for each page."""
    counts = Counter(request for request in requests if request is not None)
    db.executemany(SQL["shrink"], [{"request": request, "count": count} for request, count in counts.items()])


def note_reports(db: SqlSession, results: Sequence[CheckResult]) -> None:
    """Write the reports that requests wait for, in order of completion."""
    if results:
        take_turn(db)
    by_request: dict[int, list[CheckResult]] = defaultdict(list)
    for result in results:
        if result.order.request_id is not None:
            by_request[result.order.request_id].append(result)
    for request, wanted in by_request.items():
        _note(db, request, wanted)


def _note(db: SqlSession, request: int, wanted: Sequence[CheckResult]) -> None:
    # Only pages that this request still wants: a newer one may have taken them over.
    place = {"request": request, "ids": ids(result.page_id for result in wanted)}
    left = {row[0] for row in db.execute(SQL["done"], place).fetchall()}
    reports: list[str] = []
    for result in wanted:
        if result.page_id in left:
            left.remove(result.page_id)
            reports.append(to_json(result.report))
    done = db.execute(SQL["count_done"], {"request": request, "count": len(reports)}).fetchone()
    if done is None or not done[1]:
        return
    first = done[0] - len(reports) + 1
    db.executemany(SQL["report"], [(request, position, report) for position, report in enumerate(reports, first)])
