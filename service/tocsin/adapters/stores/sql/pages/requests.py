"""Checks asked for by hand, inside a transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.codec import to_json
from tocsin.adapters.stores.sql.role import ids, touch_hosts
from tocsin.adapters.stores.sql.statements import queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import CheckResult

SQL = queries("requests")


def want_pages(db: Session, request: int, rows: Sequence[tuple[int, int, int | None]]) -> None:
    """Let a request want these pages: (id, host, the request that wants it so far) each."""
    db.execute(SQL["want"], {"request": request, "ids": ids(row[0] for row in rows)})
    db.execute(SQL["grow"], {"request": request, "count": len(rows)})
    give_up(db, [row[2] for row in rows])
    touch_hosts(db, {row[1] for row in rows})


def give_up(db: Session, requests: Sequence[int | None]) -> None:
    """Let requests forget pages that they will not get: one entry for each page."""
    counts = Counter(request for request in requests if request is not None)
    db.executemany(SQL["shrink"], [{"request": request, "count": count} for request, count in counts.items()])


def note_reports(db: Session, results: Sequence[CheckResult]) -> None:
    """Write the reports that requests wait for, in order of completion."""
    by_request: dict[int, list[CheckResult]] = defaultdict(list)
    for result in results:
        if result.request_id is not None:
            by_request[result.request_id].append(result)
    for request, wanted in by_request.items():
        _note(db, request, wanted)


def _note(db: Session, request: int, wanted: Sequence[CheckResult]) -> None:
    # Only pages that this request still wants: a newer one may have taken them over.
    place = {"request": request, "ids": ids(result.page_id for result in wanted)}
    left = {row[0] for row in db.execute(SQL["done"], place).fetchall()}
    reports: list[str] = []
    for result in wanted:
        if result.page_id in left:
            left.remove(result.page_id)
            reports.append(to_json(result.report))
    done = db.execute(SQL["count_done"], {"request": request, "count": len(reports)}).fetchone()
    if done is None:
        return
    first = done[0] - len(reports) + 1
    db.executemany(SQL["report"], [(request, position, report) for position, report in enumerate(reports, first)])
