"""Writing a batch of results, inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct

from tocsin.adapters.stores.sqlite.claims import require
from tocsin.adapters.stores.sqlite.codec import read_instruction, to_json, to_json_or_null
from tocsin.adapters.stores.sqlite.copies import remember_copies
from tocsin.adapters.stores.sqlite.outbox import publish
from tocsin.adapters.stores.sqlite.packing import pack_report, pack_why
from tocsin.adapters.stores.sqlite.queries import queries
from tocsin.adapters.stores.sqlite.questions import SQL as ATTENTION
from tocsin.adapters.stores.sqlite.questions import Questions, told_in
from tocsin.adapters.stores.sqlite.renders import want_render
from tocsin.adapters.stores.sqlite.requests import note_reports
from tocsin.adapters.stores.sqlite.role import ids
from tocsin.adapters.stores.sqlite.states import SQL as STATES
from tocsin.adapters.stores.sqlite.states import origin, store_state
from tocsin.adapters.stores.sqlite.tasks import DISALLOWED, NOFOLLOW, NOINDEX, NOT_HTML, OWED
from tocsin.model import CheckOutcome

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from tocsin.model import AlertDraft, CheckResult, Claim, Instant

SQL = queries("work")
OFF = "off"
"""Why a page that is off is not due."""

_CHANGES = frozenset({"minor", "major"})
_LOOK_AGAIN_US = 1_000_000  # by then the engine knows the new settings


class Standing(Struct):
    """What a page's row says before its result is written."""

    id: int
    state_id: int | None
    stored_at: Instant | None
    question_id: int | None
    flags: int
    rule_id: int | None
    rule_kind: str | None
    rule: str | None
    next_at: Instant | None
    next_why: str | None

    def was_told(self, result: CheckResult) -> bool:
        """Tell whether the check was told what the user has said of this page."""
        said = read_instruction(self.rule) if self.rule is not None else None
        return said == result.instruction

    @property
    def is_to_be_tried_again(self) -> bool:
        """Whether the user wants another try."""
        return self.rule is not None and read_instruction(self.rule).kind == "again"

    def waits_for_another(self, result: CheckResult) -> bool:
        """Tell whether the user said "again" while this check was under way: that one decides, not this one."""
        return self.is_to_be_tried_again and not self.was_told(result) and not result.received


def is_worth_a_flush(results: Sequence[CheckResult]) -> bool:
    """Tell whether a loss of power may not lose this batch: it holds more than checks that found nothing new."""
    return any(
        result.verdict or result.failure or result.alerts or result.recovery or result.render_owed for result in results
    )


def write_results(
    db: sqlite3.Connection, claim: Claim, results: Sequence[CheckResult], *, gather_us: int, mode: str | None
) -> dict[int, Instant | None]:
    """Write what checks found; returns when each host of the batch is due next. Raises StaleClaim.

    mode  the configuration's, if it is known
    """
    require(db, claim)
    rows = db.execute(SQL["standing"], {"ids": ids(result.page_id for result in results)})
    standing = {row[0]: Standing(*row) for row in rows}
    # A page that was removed meanwhile leaves no trace.
    known = [(result, standing[result.page_id]) for result in results if result.page_id in standing]
    found = [(result, page) for result, page in known if not _is_outdated(result, page)]
    _note_checks(db, found, _turned_on(db, found, mode))
    _store_what_is_new(db, found, Questions(db, gather_us))
    note_reports(db, [result for result, page in found if result.request_id is not None])
    gates = [{"id": result.host_id, "gate_at": result.host_gate_at} for result, _ in found if result.host_gate_at]
    if gates:
        db.executemany(SQL["gate_hosts"], gates)
    return due_of_hosts(db, {result.host_id for result in results})


def _is_outdated(result: CheckResult, page: Standing) -> bool:
    """Tell whether the page was stored anew since it was read for this check: its comparison would be wrong."""
    return result.state is not None and result.based_on is not UNSET and result.based_on != page.stored_at


def _turned_on(db: sqlite3.Connection, found: list[tuple[CheckResult, Standing]], mode: str | None) -> set[int]:
    """Find the pages that their checks leave off, while the user has turned them on meanwhile."""
    off = [page.id for result, page in found if result.next_at is None and result.next_why == OFF]
    if not off:
        return set()
    modes = db.execute(SQL["modes"], {"ids": ids(off), "mode": mode})
    return {page_id for page_id, in_force in modes if in_force not in (None, OFF)}


def due_of_hosts(db: sqlite3.Connection, hosts: set[int]) -> dict[int, Instant | None]:
    """Tell when each of these hosts is due next."""
    return {**dict.fromkeys(hosts), **dict(db.execute(SQL["due_of_hosts"], {"hosts": ids(hosts)}))}


def _note_checks(db: sqlite3.Connection, found: list[tuple[CheckResult, Standing]], turned_on: set[int]) -> None:
    """Write one row of each page: its schedule and last check, and the storing of an unchanged state."""
    plain: list[dict[str, Any]] = []
    equal: list[dict[str, Any]] = []
    for result, page in found:
        row = {
            "id": result.page_id,
            "next_at": result.next_at,
            "next_why": pack_why(result.next_why),
            "checked_at": result.checked_at,
            "set_at": result.set_at,
            "report": pack_report(result.report),
            "outcome": result.report.outcome,
            "changed_at": result.checked_at if result.verdict and result.verdict.outcome in _CHANGES else None,
            "conditional_run": result.conditional_run,
            "attempts": to_json_or_null(result.held_attempts),
            "flags": _flags_of(result),
            "saved_bytes": result.report.saved_bytes,
        }
        if page.rule_kind == "never":
            # The user said so while the check was under way, or asked for this one by hand.
            row["next_at"], row["next_why"] = None, f"never (rule {page.rule_id})"
        elif page.waits_for_another(result):
            row["next_at"], row["next_why"], row["attempts"] = page.next_at, page.next_why, None
        elif page.id in turned_on:
            row["next_at"], row["next_why"] = result.checked_at + _LOOK_AGAIN_US, "on again"
        state = result.state
        if state is not None and state.equal and page.state_id is not None:
            equal.append({**row, "stored_at": state.stored_at, **origin(state)})
        else:
            plain.append(row)
    if plain:
        db.executemany(SQL["note_check"], plain)
    if equal:
        db.executemany(SQL["note_equal"], equal)


def _flags_of(result: CheckResult) -> int:
    """Give the bits of a page that its check decides: all but that of a rendering which is owed."""
    return (
        (DISALLOWED if result.disallowed else 0)
        | (NOT_HTML if result.not_html else 0)
        | (NOINDEX if result.noindex else 0)
        | (NOFOLLOW if result.nofollow else 0)
    )


def _store_what_is_new(db: sqlite3.Connection, found: list[tuple[CheckResult, Standing]], questions: Questions) -> None:
    """Write new states, verdicts, questions and alerts, page by page: few pages have any."""
    drafts: list[AlertDraft] = []
    for result, page in found:
        state = result.state
        if state is not None and not (state.equal and page.state_id is not None):
            page.state_id = store_state(db, page.id, state, stored_at=page.stored_at)
            page.stored_at = max(state.stored_at, page.stored_at or 0)
        if result.copies is not None:
            remember_copies(db, page.id, result.copies, result.checked_at)
        if result.verdict is not None:
            _write_verdict(db, result, page)
        drafts.extend(result.alerts)
        # The user may have forgiven it while the check was under way.
        is_owed = result.render_owed and bool(page.flags & OWED)
        if is_owed:
            want_render(db, page.id, since=result.checked_at, owed=True)
        if page.waits_for_another(result):
            continue
        if (result.rule_spent and page.was_told(result)) or (result.received and page.is_to_be_tried_again):
            _spend_rule(db, page)
        if not is_owed:
            drafts.extend(_settle_question(result, page, questions))
    publish(db, drafts)


def _settle_question(result: CheckResult, page: Standing, questions: Questions) -> list[AlertDraft]:
    """Take the page into a question, or out of the one that it is in; returns what is to be told of that."""
    if result.failure is not None:
        questions.fail(page.id, result.host_id, result.failure, result.checked_at, joined=page.question_id)
    elif result.received and page.question_id is not None:
        received_at = result.recovery.at if result.recovery is not None else result.checked_at
        left = questions.leave(page.id, page.question_id, received_at)
        if left.asked and result.recovery is not None:
            return [told_in(result.recovery, left)]
    elif result.report.outcome == CheckOutcome.DISALLOWED and page.question_id is not None:
        # robots.txt has answered for it: nobody needs to be asked.
        questions.leave(page.id, page.question_id, result.checked_at)
    return []


def _write_verdict(db: sqlite3.Connection, result: CheckResult, page: Standing) -> None:
    verdict = result.verdict
    if verdict is None:
        return
    db.execute(
        STATES["insert_verdict"],
        {
            "page": page.id,
            "state": page.state_id,
            "at": verdict.at,
            "outcome": verdict.outcome,
            "reason": verdict.reason,
            "rule": verdict.rule,
            "basis": verdict.basis,
            "data": to_json(verdict.data),
            "awareness": verdict.awareness,
        },
    )
    if verdict.awareness:
        want_render(db, page.id, since=verdict.at, major=verdict.outcome == "major")


def _spend_rule(db: sqlite3.Connection, page: Standing) -> None:
    db.execute(ATTENTION["spend_rule"], {"page": page.id})
    if page.rule_id is not None:
        db.execute(ATTENTION["forget_met_rule"], {"page": page.id, "rule": page.rule_id})
        page.rule_id = page.rule_kind = None
