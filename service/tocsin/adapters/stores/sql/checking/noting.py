"""What a check writes into its page's row: the values of one statement, in the order of its parameters.

Tuples, because binding by name would cost as much as all else together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import UNSET

from tocsin.adapters.stores.sql.codec import to_json_or_null
from tocsin.adapters.stores.sql.knowledge.items import is_bare
from tocsin.adapters.stores.sql.packing import pack_digest, pack_outcome, pack_report, pack_why, ruled_of
from tocsin.adapters.stores.sql.pages.tasks import (
    BARE,
    DISALLOWED,
    LEARNT,
    NOFOLLOW,
    NOINDEX,
    NOT_HTML,
    SUSPECTED,
)
from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import CheckOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import CheckResult, Instant, NewState

    Row: TypeAlias = tuple[Any, ...]

SQL = queries("work")
_UNCHANGED = CheckOutcome.UNCHANGED.value
_CHANGES = frozenset({"minor", "major"})

_SAME = pack_outcome(_UNCHANGED)
_SAME_RULED = ruled_of(_UNCHANGED)
_why = lru_cache(maxsize=1024)(pack_why)


def is_same(result: CheckResult) -> bool:
    """Tell whether a check found all as it was, so that a row which it expects can be written unread."""
    state = result.state
    return (
        state is not None
        and state.equal
        and result.report.outcome == _UNCHANGED
        and type(result.based_on) is int
        and result.received
        and result.verdict is None
        and result.copies is None
        and result.instruction is None
        and result.recovery is None
        and not result.alerts
        and not result.render_owed
        and not result.rule_spent
        and result.next_at is not None
        and result.set_at is not None
    )


def note_same(db: Session, results: Sequence[CheckResult]) -> bool:
    """Write checks that found all as it was, one row each.

    Says so where a page is not there, not as its check knew it, or has become somebody's concern meanwhile: what was
    written then must be taken back.
    """
    spared: list[Row] = []
    equal: list[Row] = []
    for result in results:
        state = result.state
        if state is None:
            return False
        if state.as_before:
            spared.append(_same_row(result, state))
        else:
            equal.append((*_origin(state), *_same_row(result, state)))
    noted = 0
    if spared:
        noted += db.executemany(SQL["note_same"], spared).rowcount
    if equal:
        noted += db.executemany(SQL["note_same_anew"], equal).rowcount
    return noted == len(results)


def check_row(result: CheckResult, next_at: Instant | None, next_why: str | None, attempts: str | None) -> Row:
    """What every check writes but its page's id, where the schedule may be another one than it asked for."""
    report = result.report
    return (
        next_at,
        _why(next_why) if next_why is not None else None,
        result.checked_at,
        result.set_at,
        pack_report(report),
        pack_outcome(report.outcome),
        result.conditional_run,
        flags_of(result),
        report.saved_bytes,
        result.checked_at if result.verdict and result.verdict.outcome in _CHANGES else None,
        attempts,
    )


def attempts_of(result: CheckResult) -> str | None:
    """The tries that go on later, as the row holds them."""
    return to_json_or_null(result.held_attempts)


def state_row(state: NewState, stored_at: Instant) -> Row:
    """What the storing of a state writes beside."""
    return (stored_at, *_origin(state))


def flags_of(result: CheckResult) -> int:
    """Give the bits of a page that its check decides: all but that of a rendering which is owed.

    What is known beside its state is never forgotten, so that its bit is only ever set; so is that it had no items,
    but for a page that wants none kept.
    """
    learnt = (0 if result.known is None else LEARNT) | (BARE if is_bare(result.items) else 0)
    if not (result.disallowed or result.not_html or result.noindex or result.nofollow or result.suspected):
        return learnt
    return (
        learnt
        | (DISALLOWED if result.disallowed else 0)
        | (NOT_HTML if result.not_html else 0)
        | (NOINDEX if result.noindex else 0)
        | (NOFOLLOW if result.nofollow else 0)
        | (SUSPECTED if result.suspected else 0)
    )


def _same_row(result: CheckResult, state: NewState) -> Row:
    report, based_on, stored_at = result.report, result.based_on, state.stored_at
    return (
        result.next_at,
        _why(result.next_why),
        result.checked_at,
        result.set_at,
        pack_report(report, _SAME_RULED),
        _SAME,
        result.conditional_run,
        flags_of(result),
        report.saved_bytes,
        # Time never goes back for one page.
        stored_at if based_on is UNSET or based_on is None or based_on < stored_at else based_on,
        result.page_id,
        based_on,
    )


def _origin(state: NewState) -> Row:
    """The columns that belong to the answer that a state came with."""
    known = state.validators
    etag, modified, hop = (known.etag, known.last_modified, known.hop_url) if known is not None else (None, None, None)
    return etag, modified, hop, pack_digest(state.body_digest), state.body_bytes
