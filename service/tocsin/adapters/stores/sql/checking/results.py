"""Writing a batch of results, inside a transaction."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import UNSET, Struct

from tocsin.adapters.stores.sql.attention.questions import SQL as ATTENTION
from tocsin.adapters.stores.sql.attention.questions import Questions, told_in
from tocsin.adapters.stores.sql.attention.storms import Storms, may_be_shared
from tocsin.adapters.stores.sql.knowledge.kept import (
    STATES,
    declares,
    is_bare,
    keep_items,
    keep_snapshots,
    remember_copies,
)
from tocsin.adapters.stores.sql.knowledge.knowledge import SQL as KNOWLEDGE
from tocsin.adapters.stores.sql.knowledge.knowledge import count_noise, write_known
from tocsin.adapters.stores.sql.knowledge.listings import keep_listings
from tocsin.adapters.stores.sql.knowledge.pictures import keep_picture
from tocsin.adapters.stores.sql.owed import publish, want_render
from tocsin.adapters.stores.sql.pages.requests import note_reports
from tocsin.adapters.stores.sql.pages.summaries import mark_days
from tocsin.adapters.stores.sql.role import held_parts, ids
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    BARE,
    DISALLOWED,
    LEARNT,
    NOFOLLOW,
    NOINDEX,
    NOT_HTML,
    OFF,
    OWED,
    SHELL,
    SHELLS_MOST,
    SHELLS_PLACE,
    SUSPECTED,
    pack_digest,
    pack_outcome,
    pack_report,
    pack_why,
    read_instruction,
    row_digest,
    ruled_of,
    to_json,
    to_json_or_null,
    write_fields,
)
from tocsin.model import NO_FLAGS, NOTHING_LEARNT, CheckOutcome, CommittedResults
from tocsin.spec.topper.compare import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.owed import Routes
    from tocsin.adapters.stores.sql.session import Row, SqlSession
    from tocsin.model import AlertDraft, CheckResult, Claim, Instant, NewState
    from tocsin.settings import SignalSettings

SQL = queries("work")
_UNCHANGED = CheckOutcome.UNCHANGED.value
_CHANGES = frozenset({"minor", "major"})

_host_of, _epoch_of = attrgetter("host_id"), attrgetter("order.epoch")
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
        and result.learnt.copies is None
        and result.order.instruction is None
        and result.recovery is None
        and not result.alerts
        and not result.render_owed
        and not result.rule_spent
        and result.due.at is not None
        and result.set_at is not None
    )


def note_same(db: SqlSession, results: Sequence[CheckResult]) -> bool:
    """Write checks that found all as it was, one row each.

    Returns False if a page is gone, is not as its check knew it, or was given an instruction meanwhile: then the
    transaction must be rolled back.
    """
    spared, equal = same_rows(results)
    noted = 0
    if spared:
        noted += db.executemany(SQL["note_same"], spared).rowcount
    if equal:
        noted += db.executemany(SQL["note_same_anew"], equal).rowcount
    return noted == len(results)


def same_rows(results: Sequence[CheckResult]) -> tuple[list[Row], list[Row]]:
    """Give the rows of `note_same` and of `note_same_anew`."""
    spared: list[Row] = []
    equal: list[Row] = []
    for result in results:
        state = result.state
        if state is not None and state.as_before:
            spared.append(_same_row(result, state))
        elif state is not None:
            equal.append((*_origin(state), *_same_row(result, state)))
    return spared, equal


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
    its, flags, learnt = result.learnt, result.flags, 0
    if its is not NOTHING_LEARNT:
        learnt = (0 if its.known is None else LEARNT) | (BARE if is_bare(its.items) else 0)
    if not (result.disallowed or result.suspected or (flags is not NO_FLAGS and flags != NO_FLAGS)):
        return learnt
    return (
        learnt
        | (DISALLOWED if result.disallowed else 0)
        | (NOT_HTML if flags.not_html else 0)
        | (NOINDEX if flags.noindex else 0)
        | (NOFOLLOW if flags.nofollow else 0)
        | (SUSPECTED if result.suspected else 0)
        | (SHELL if flags.is_shell else 0)
        | min(flags.shells, SHELLS_MOST) << SHELLS_PLACE
    )


def _same_row(result: CheckResult, state: NewState) -> Row:
    report, based_on, stored_at = result.report, result.based_on, state.stored_at
    return (
        result.due.at,
        _why(result.due.why),
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
        result.order.due_at,
    )


def _origin(state: NewState) -> Row:
    """The columns that belong to the answer that a state came with."""
    known = state.validators
    etag, modified, hop = (known.etag, known.last_modified, known.hop_url) if known is not None else (None, None, None)
    return etag, modified, hop, pack_digest(state.body_digest), state.body_bytes


_ON = frozenset(Mode) - {Mode.OFF}

_LOOK_AGAIN_US = 1_000_000  # by then the engine knows the new settings


class PageRowState(Struct):
    """The row of a page before its result is written."""

    id: int
    state_id: int | None
    stored_at: Instant | None
    storings: int
    question_id: int | None
    flags: int
    standing_answer_id: int | None
    rule_kind: str | None
    rule: str | None
    next_at: Instant | None
    next_why: str | None
    day: int | None
    days: bytes | None

    def was_told(self, result: CheckResult) -> bool:
        """Tell whether the check was told what the user has said of this page."""
        said = read_instruction(self.rule) if self.rule is not None else None
        return said == result.order.instruction

    @property
    def is_to_be_tried_again(self) -> bool:
        """Whether the user wants another try."""
        return self.rule is not None and read_instruction(self.rule).kind == "again"

    def waits_for_another(self, result: CheckResult) -> bool:
        """Tell whether the user said "again" while this check was under way: that one decides, not this one."""
        return self.is_to_be_tried_again and not self.was_told(result) and not result.received


Found: TypeAlias = tuple["CheckResult", PageRowState]


class PagesMoved(Exception):
    """A page of an unchanged result is not as its check knew it; nothing of this transaction may stay."""


class Batch(NamedTuple):
    """Results to be written in one transaction, of each page one.

    same    checks that found all as it was, and
    others  those that have more to say
    """

    results: Sequence[CheckResult]
    same: list[CheckResult]
    others: list[CheckResult]

    @classmethod
    def of(cls, results: Sequence[CheckResult]) -> Batch:
        """Sort results."""
        same = [result for result in results if is_same(result)]
        others = [] if len(same) == len(results) else [result for result in results if not is_same(result)]
        return cls(results, same, others)

    def to_compare(self) -> Batch:
        """Give the same batch with every result to be compared with its page's row first."""
        return Batch(self.results, [], list(self.results))

    @property
    def is_worth_a_flush(self) -> bool:
        """Whether a loss of power may not lose it: it holds more than checks that found nothing new."""
        return any(
            result.verdict or result.failure or result.alerts or result.recovery or result.render_owed
            for result in self.others
        )


class Terms(NamedTuple):
    """The settings that results are written by.

    gather_us  how long a new question gathers failures
    storms     when verdicts that pages share are told once
    mode       the configuration's, if it is known
    shown      pages that are due before this wait
    routes     where alerts go
    """

    gather_us: int
    storms: SignalSettings
    mode: str | None
    shown: Instant
    routes: Routes


def write_results(db: SqlSession, claim: Claim, batch: Batch, terms: Terms) -> CommittedResults:
    """Write what checks found, but for those whose parts were lost; raises PagesMoved."""
    batch, refused = _fenced(db, claim, batch)
    hosts = hosts_of(batch.results)
    if batch.same and not note_same(db, batch.same):
        raise PagesMoved
    others = batch.others
    # Of two results of one page the first is written before the second is compared with it.
    are_distinct = len({result.page_id for result in others}) == len(others)
    written = list(batch.same)
    drafts: list[AlertDraft] = []
    for part in [others] if are_distinct else [[result] for result in others]:
        written += _write_others(db, part, terms, drafts)
    _write_beside_rows(db, written)
    publish(db, drafts, terms.routes)
    return CommittedResults(due_of_hosts(db, hosts, terms.shown), refused)


def parts_of(claim: Claim, results: Sequence[CheckResult]) -> set[tuple[int, int]]:
    """Give the parts that the pages of these results were read under, with their epochs."""
    epochs = claim.epochs
    if len(epochs) == 1:
        return {(0, epoch or epochs[0]) for epoch in set(map(_epoch_of, results))}
    return {(order.part, order.epoch or epochs[order.part]) for order in (result.order for result in results)}


def _fenced(db: SqlSession, claim: Claim, batch: Batch) -> tuple[Batch, int]:
    """Leave out the results of parts that another node took since their pages were read; returns how many these are.

    The others stay ours until the transaction ends.
    """
    epochs, read = claim.epochs, parts_of(claim, batch.results)
    held = held_parts(db, {part for part, _ in read})
    lost = {under for under in read if under not in held}
    if not lost:
        return batch, 0

    def is_ours(result: CheckResult) -> bool:
        order = result.order
        return (order.part, order.epoch or epochs[order.part]) not in lost

    kept = [[result for result in results if is_ours(result)] for results in batch]
    return Batch(*kept), len(batch.results) - len(kept[0])


def _write_others(
    db: SqlSession, results: Sequence[CheckResult], terms: Terms, drafts: list[AlertDraft]
) -> list[CheckResult]:
    """Write results after a look at their pages; returns those that were.

    drafts  gets the alerts that are to be published
    """
    if not results:
        return []
    rows = db.execute(SQL["standing"], {"ids": ids(result.page_id for result in results)})
    standing = {row[0]: PageRowState(*row) for row in rows}
    # A page that was removed meanwhile leaves no trace.
    known = [(result, standing[result.page_id]) for result in results if result.page_id in standing]
    found = [(result, page) for result, page in known if not _is_outdated(result, page)]
    _note_checks(db, found, _turned_on(db, found, terms.mode))
    _write_verdicts(db, found, terms.storms)
    mark_days(db, [(result, page.day, page.days) for result, page in found])
    drafts += _settle_the_rest(db, found, Questions(db, terms.gather_us))
    return [result for result, _ in found]


def _is_outdated(result: CheckResult, page: PageRowState) -> bool:
    """Tell whether the page was stored anew since it was read for this check: its comparison would be wrong."""
    return result.state is not None and result.based_on is not UNSET and result.based_on != page.stored_at


def _turned_on(db: SqlSession, found: Sequence[Found], mode: str | None) -> set[int]:
    """Find the pages that their checks leave off, while the user has turned them on meanwhile."""
    off = [page.id for result, page in found if result.due.at is None and result.due.why == OFF]
    if not off:
        return set()
    modes = db.execute(SQL["modes"], {"ids": ids(off), "mode": mode})
    # A word that is no mode is refused, so that the next level's holds: it turns nothing on.
    return {page_id for page_id, in_force in modes if in_force in _ON}


def hosts_of(results: Sequence[CheckResult]) -> set[int]:
    """Give the hosts of these results."""
    return set(map(_host_of, results))


def due_of_hosts(db: SqlSession, hosts: set[int], shown: Instant) -> dict[int, Instant | None]:
    """Tell when each of these hosts is due next, but for what was due before `shown`."""
    return dict(db.execute(SQL["due_of_hosts"], {"hosts": ids(hosts), "shown": shown}).fetchall())


def _note_checks(db: SqlSession, found: Sequence[Found], turned_on: set[int]) -> None:
    """Write one row of each page: its schedule and last check, and the storing of its state; and new states."""
    plain: list[Row] = []
    skipped: list[Row] = []
    equal: list[Row] = []
    new: list[tuple[CheckResult, NewState, PageRowState, Row]] = []
    for result, page in found:
        row = check_row(result, *_schedule_of(result, page, turned_on))
        state = result.state
        if state is None:
            (skipped if result.report.outcome == CheckOutcome.SKIPPED else plain).append((*row, page.id))
        elif state.equal and page.state_id is not None:
            equal.append((*row, *state_row(state, state.stored_at), page.id))
        else:
            new.append((result, state, page, row))
    if plain:
        db.executemany(SQL["note_check"], plain)
    if skipped:
        db.executemany(SQL["note_skipped"], skipped)
    if equal:
        db.executemany(SQL["note_equal"], equal)
    if new:
        _store_new(db, new)


def _schedule_of(
    result: CheckResult, page: PageRowState, turned_on: set[int]
) -> tuple[Instant | None, str | None, str | None]:
    """When a page is due next, why, and the tries that go on then: as its check says, or as the user said meanwhile."""
    if page.rule_kind == "never":
        # The user said so while the check was under way, or asked for this one by hand.
        return None, f"never (standing answer {page.standing_answer_id})", attempts_of(result)
    if page.rule is not None and page.waits_for_another(result):
        return page.next_at, page.next_why, None
    if page.id in turned_on:
        return result.checked_at + _LOOK_AGAIN_US, "on again", attempts_of(result)
    return result.due.at, result.due.why, attempts_of(result)


def _store_new(db: SqlSession, new: Sequence[tuple[CheckResult, NewState, PageRowState, Row]]) -> None:
    """Begin a run of equal states for each of these, and end the one before."""
    opened: list[Row] = []
    closed: list[Row] = []
    shown: list[Row] = []
    state_ids = db.execute(STATES["next_ids"], {"count": len(new)}).fetchall()
    for (_, state, page, row), (state_id,) in zip(new, state_ids, strict=True):
        if page.state_id is not None:
            closed.append((page.stored_at, page.storings, page.state_id))
        # Time never goes back for one page.
        page.stored_at = max(state.stored_at, page.stored_at or state.stored_at)
        page.state_id = state_id
        fields = write_fields(state.fields)
        # Not by the function that SQL knows: a call from SQL back into Python costs more than the digest.
        digest = row_digest(page.id, page.stored_at, fields)
        opened.append((state_id, page.id, page.stored_at, fields, digest))
        shown.append((*row, *state_row(state, page.stored_at), int(declares(state.fields)), state_id, page.id))
    db.executemany(STATES["open_runs"], opened)
    db.executemany(STATES["close_runs"], closed)
    db.executemany(SQL["note_new"], shown)


def _write_verdicts(db: SqlSession, found: Sequence[Found], settings: SignalSettings) -> None:
    """Write what comparisons found, and let pages wait for their awareness where it is due."""
    rows: list[Row] = []
    storms = Storms(db, settings)
    for result, page in found:
        said = result.verdict
        if said is None:
            continue
        # `data` is the event of the alert without its rendering: a state that is pruned, or changes again meanwhile,
        # cannot falsify an alert that is still owed.
        data, at, outcome, reason, rule, basis = (
            to_json(said.data),
            said.at,
            said.outcome,
            said.reason,
            said.rule,
            said.basis,
        )
        if may_be_shared(result, settings):
            storms.take(result, said, (page.id, page.state_id, at, outcome, reason, rule, basis, data))
            continue
        digest = row_digest(page.id, at, outcome, reason, rule, basis, data)
        rows.append((page.id, page.state_id, at, outcome, reason, rule, basis, data, int(said.awareness), digest))
        if said.awareness:
            want_render(db, page.id, since=at, major=outcome == "major")
    if rows:
        db.executemany(STATES["insert_verdict"], rows)


def _settle_the_rest(db: SqlSession, found: Sequence[Found], questions: Questions) -> list[AlertDraft]:
    """Write copies, renderings that are owed, questions and spent rules, page by page: few have any; returns alerts."""
    drafts: list[AlertDraft] = []
    for result, page in found:
        if result.learnt.copies is not None:
            remember_copies(db, page.id, result.learnt.copies, result.checked_at)
        drafts.extend(result.alerts)
        # The user may have forgiven it while the check was under way.
        is_owed = result.render_owed and bool(page.flags & OWED)
        if is_owed:
            want_render(db, page.id, since=result.checked_at, owed=True)
        if page.rule is not None or result.rule_spent:
            if page.waits_for_another(result):
                continue
            if (result.rule_spent and page.was_told(result)) or (result.received and page.is_to_be_tried_again):
                _spend_rule(db, page)
        if not is_owed:
            drafts.extend(_settle_question(result, page, questions))
    return drafts


def _settle_question(result: CheckResult, page: PageRowState, questions: Questions) -> list[AlertDraft]:
    """Take the page into a question, or out of the one that it is in; returns the alerts about that."""
    if result.failure is not None:
        questions.fail(page.id, result.host_id, result.failure, result.checked_at, joined=page.question_id)
    elif result.received and page.question_id is not None:
        received_at = result.recovery.at if result.recovery is not None else result.checked_at
        left = questions.leave(page.id, page.question_id, received_at)
        if left.asked and result.recovery is not None:
            return [told_in(result.recovery, left)]
    elif result.report.outcome == CheckOutcome.DISALLOWED and page.question_id is not None:
        # robots.txt is the answer: the user need not be asked.
        questions.leave(page.id, page.question_id, result.checked_at)
    return []


def _spend_rule(db: SqlSession, page: PageRowState) -> None:
    db.execute(ATTENTION["spend_rule"], {"page": page.id})
    if page.standing_answer_id is not None:
        db.execute(ATTENTION["forget_met_standing_answer"], {"page": page.id, "rule": page.standing_answer_id})
        page.standing_answer_id = page.rule_kind = None


def beside_rows(results: Sequence[CheckResult]) -> list[CheckResult]:
    """Find the few results that may have something to write beside the rows of their pages."""
    return [
        result
        for result in results
        if result.learnt is not NOTHING_LEARNT or result.host_gate_at or result.order.request_id is not None
    ]


def _write_beside_rows(db: SqlSession, written: Sequence[CheckResult]) -> None:
    """Write what these checks, whose pages were written, found beside the rows of pages."""
    found = beside_rows(written)
    if not found:
        return
    _remember(db, [result for result in found if result.learnt != NOTHING_LEARNT])
    gates = [{"id": result.host_id, "gate_at": result.host_gate_at} for result in found if result.host_gate_at]
    if gates:
        db.executemany(SQL["gate_hosts"], gates)
    # What all nodes share comes last, so that they wait shortly for each other.
    keep_snapshots(db, [(result.page_id, kept) for result in found if (kept := result.learnt.snapshot) is not None])
    note_reports(db, [result for result in found if result.order.request_id is not None])


def _remember(db: SqlSession, found: Sequence[CheckResult]) -> None:
    """Write what these checks learnt beside states: one more row for each that has any."""
    if not found:
        return
    learnt = [(result.page_id, result.learnt) for result in found]
    known = [(page_id, write_known(its.known)) for page_id, its in learnt if its.known is not None]
    if known:
        db.executemany(KNOWLEDGE["know"], known)
    titles = [(page_id, its.title) for page_id, its in learnt if its.title is not None]
    if titles:
        db.executemany(KNOWLEDGE["note_title"], titles)
    count_noise(db, found)
    keep_listings(db, [result for result in found if result.learnt.listing is not None])
    for page_id, its in learnt:
        if its.items is not None:
            keep_items(db, page_id, its.items, leaves_row=not is_bare(its.items))
    for result in found:
        if (kept := result.learnt.picture) is not None:
            at = result.state.stored_at if result.state is not None else result.checked_at
            keep_picture(db, result.page_id, at, kept, by_check=True)
