"""What lists show of pages beside their rows, written with what found it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import CheckOutcome, DayMark, DayMarks, day_of

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def mark_days(db: SqlSession, found: Iterable[tuple[CheckResult, int | None, bytes | None]]) -> None:
    """Mark the days of changes and problems; a page that fails all day is written once a day.

    found  of each page one result, with the day and the days that its row has
    """
    days: list[Row] = []
    changes: list[Row] = []
    for result, day, packed in found:
        mark = _mark_of(result)
        if mark is None:
            continue
        before = _UNMARKED if day is None or packed is None else DayMarks(day, bytes(packed))
        after = before.with_mark(day_of(result.checked_at), mark)
        if result.verdict is not None and mark is not DayMark.PROBLEM:
            changes.append((result.page_id, after.day, after.packed, result.verdict.outcome))
        elif after != before:
            days.append((result.page_id, after.day, after.packed))
    if days:
        db.executemany(SQL["mark_days"], days)
    if changes:
        db.executemany(SQL["mark_change"], changes)


def _mark_of(result: CheckResult) -> DayMark | None:
    # What the verdict says is the change, as in `last_changed_at`.
    if result.verdict is not None:
        return _MARKS.get(result.verdict.outcome)
    mark = _MARKS.get(result.report.outcome)
    return mark if mark is DayMark.PROBLEM else None
