"""What lists show of pages beside their rows, written with what found it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import to_json
from tocsin.model import CheckOutcome, DayMark, DayMarks, day_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Row, SqlSession
    from tocsin.model import CheckResult

SQL = queries("summaries")
_MARKS: Final[dict[str, DayMark]] = {
    CheckOutcome.MAJOR: DayMark.MAJOR,
    CheckOutcome.MINOR: DayMark.MINOR,
    CheckOutcome.UNREACHABLE: DayMark.PROBLEM,
    CheckOutcome.DISALLOWED: DayMark.PROBLEM,
    CheckOutcome.SUSPECT: DayMark.PROBLEM,
}
_UNMARKED: Final = DayMarks()


def mark_days(db: SqlSession, results: Sequence[CheckResult]) -> None:
    """Mark the days of changes and problems; a page that fails all day is written once a day."""
    telling = [(result, mark) for result in results if (mark := _mark_of(result)) is not None]
    if not telling:
        return
    rows = db.execute(SQL["marks"], {"ids": to_json(sorted({result.page_id for result, _ in telling}))})
    known = {page_id: DayMarks(day, bytes(days)) for page_id, day, days in rows if days is not None}
    days: dict[int, Row] = {}
    changes: dict[int, Row] = {}
    for result, mark in telling:
        page_id = result.page_id
        before = known.get(page_id, _UNMARKED)
        after = known[page_id] = before.with_mark(day_of(result.checked_at), mark)
        if result.verdict is not None and mark is not DayMark.PROBLEM:
            changes[page_id] = (page_id, after.day, after.packed, result.verdict.outcome)
        elif page_id in changes:
            changes[page_id] = (page_id, after.day, after.packed, changes[page_id][-1])
        elif after != before:
            days[page_id] = (page_id, after.day, after.packed)
    if days:
        db.executemany(SQL["mark_days"], list(days.values()))
    if changes:
        db.executemany(SQL["mark_change"], list(changes.values()))


def _mark_of(result: CheckResult) -> DayMark | None:
    # What the verdict says is the change, as in `last_changed_at`.
    if result.verdict is not None:
        return _MARKS.get(result.verdict.outcome)
    mark = _MARKS.get(result.report.outcome)
    return mark if mark is DayMark.PROBLEM else None
