"""Verdicts that pages of a host share becoming a storm, inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tocsin.adapters.stores.sql.awareness.renders import want_render
from tocsin.adapters.stores.sql.codec import to_json
from tocsin.adapters.stores.sql.packing import row_digest
from tocsin.adapters.stores.sql.role import ids
from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import queries

if TYPE_CHECKING:
    from tocsin.adapters.stores.sql.checking.noting import Row
    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import CheckResult, Instant, VerdictRow
    from tocsin.settings import SignalSettings

SQL = queries("storms")

LEAST_US: Final = 24 * 3_600_000_000
"""A change counts so long at least, and over two rounds of its page."""

_ROUNDS: Final = 2


def may_be_shared(result: CheckResult, settings: SignalSettings) -> bool:
    """Tell whether an alert of this check's verdict may give way to one of a storm.

    Only where the state is as it was: what is told of a page's states stays an unbroken chain.
    """
    said = result.verdict
    return (
        settings.storm_pages > 0
        and said is not None
        and said.storm_key is not None
        and said.awareness
        and result.state is not None
        and result.state.equal
    )


class Storms:
    """Takes verdicts into storms.

    settings  how many pages make one, and how long they are gathered before anybody is told
    """

    def __init__(self, db: Session, settings: SignalSettings) -> None:
        self._db, self._most = db, settings.storm_pages
        self._gather_us = to_us(settings.gather)
        # By host and key: on so many pages at most was the same seen. Who gathers many does not count them each time.
        self._seen: dict[tuple[int, bytes | None], int] = {}

    def take(self, result: CheckResult, said: VerdictRow, row: Row) -> None:
        """Write a verdict that other pages may share, and let its page be rendered unless they do.

        row  of the verdict, up to its data
        """
        place = {"host": result.host_id, "key": said.storm_key, "at": said.at, "page": result.page_id}
        until = said.at + _counts_us(result)
        storm_id, is_released = self._running(place) or (self._open(place, said, until), False)
        is_due = storm_id is None or is_released
        (verdict_id,) = self._db.execute(
            SQL["insert_verdict"], (*row, is_due, storm_id, row_digest(row[0], *row[2:]))
        ).fetchone()
        if is_due:
            want_render(self._db, result.page_id, since=said.at, major=said.outcome == "major")
        if storm_id is None:
            self._db.execute(SQL["see"], {**place, "until": until, "verdict": verdict_id})
            self._seen[result.host_id, said.storm_key] += 1
        else:
            self._db.execute(SQL["go_on"], {"storm": storm_id, "until": until})

    def _running(self, place: dict[str, Any]) -> tuple[int, bool] | None:
        found: tuple[int, bool] | None = self._db.execute(SQL["running"], place).fetchone()
        return found

    def _open(self, place: dict[str, Any], said: VerdictRow, until: Instant) -> int | None:
        """Open a storm if this verdict makes enough of them, with those before; returns its id."""
        what = place["host"], said.storm_key
        if what not in self._seen:
            (self._seen[what],) = self._db.execute(SQL["count_seen"], {**place, "limit": self._most}).fetchone()
        if self._seen[what] + 1 < self._most:
            return None
        others = [row[0] for row in self._db.execute(SQL["seen_elsewhere"], {**place, "limit": self._most})]
        self._seen[what] = len(others)
        if len(others) + 1 < self._most:
            return None
        storm = {
            **place,
            "outcome": said.outcome,
            "basis": said.basis,
            "until": until,
            "announce_at": said.at + self._gather_us,
        }
        storm_id: int = self._db.execute(SQL["open"], storm).fetchone()[0]
        self._db.execute(SQL["gather"], {"storm": storm_id, "verdicts": ids(others)})
        # What was rendered already, or is just now, has its alert.
        folded = [row[0] for row in self._db.execute(SQL["fold"], {"storm": storm_id}).fetchall()]
        self._db.execute(SQL["close_jobs"], {"pages": to_json(folded)})
        self._db.execute(SQL["forget_seen"], place)
        del self._seen[what]
        return storm_id


def _counts_us(result: CheckResult) -> int:
    """Tell how long a change counts: pages of a host that are checked less often meet it later."""
    round_us = result.next_at - result.checked_at if result.next_at is not None else 0
    return max(LEAST_US, _ROUNDS * round_us)
