"""Judge an answer: compare the page's state, and decide what is stored and told. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from msgspec import Struct

from tocsin.engine.judging.assess import Assessment, assess, decide, thresholds_of
from tocsin.engine.judging.events import EventWriter, changed_data
from tocsin.engine.judging.noise import muted_keys
from tocsin.engine.judging.reading import ReadingContext
from tocsin.engine.judging.signals import (
    NO_SIGNALS,
    OverallVerdict,
    SignalsResult,
    combine_verdict,
    has_news,
    weigh_signals,
    with_witness,
)
from tocsin.errors import FetchRefused
from tocsin.model import (
    ACCEPTED,
    KEEPS_ALL,
    AlertDraft,
    CheckOutcome,
    FailureKind,
    FieldValues,
    Instant,
    JsonObject,
    KeptContents,
    NewState,
    PageTask,
    ReceivedPage,
    SeenPicture,
    StoredState,
    VerdictRow,
    validators_of,
)
from tocsin.settings import PageSettings
from tocsin.spec.signals.weigh import CONTRADICTED, INFERRED
from tocsin.spec.topper.compare import Comparison, Mode, Outcome, Tell, is_awareness_due, is_stored
from tocsin.spec.topper.state import EMPTY, PageState

_SAME = Comparison(Outcome.UNCHANGED, None, "T42")
_SAME_RULING = combine_verdict(_SAME)
_SAME_SILENT = combine_verdict(_SAME, declares=False)
_MICROSECOND = timedelta(microseconds=1)
_REPORTED_ON_REQUEST = frozenset({CheckOutcome.UNCHANGED, CheckOutcome.TOO_SOON})
_TOLD = frozenset({Outcome.MAJOR, Outcome.MINOR})
_OUTCOMES: Final = {outcome: CheckOutcome(outcome.value) for outcome in Outcome}


class Occasion(Struct, frozen=True, gc=False):
    """One check of one page, with the settings in force.

    keeps  which contents of pages may be kept
    """

    task: PageTask
    policy: PageSettings
    began: Instant
    keeps: KeptContents = KEEPS_ALL


class Judgement(Struct, frozen=True):
    """The judgement of an answer.

    comparison  by the specification; None if nothing was compared
    state       to be stored; None if nothing is stored
    ruling      the verdict of fields and signals together; None if nothing was compared
    followed    the result of weighing the signals
    """

    outcome: CheckOutcome
    comparison: Comparison | None = None
    state: NewState | None = None
    verdict: VerdictRow | None = None
    alerts: tuple[AlertDraft, ...] = ()
    ruling: OverallVerdict | None = None
    followed: SignalsResult = NO_SIGNALS


def assess_received(task: PageTask, received: ReceivedPage, policy: PageSettings) -> Assessment:
    """Assess an answer; a 304 confirms the state that its validators belong to (T45 still applies).

    Raises FetchRefused: too-complex for a page that is too complex to parse, status for a 202 that is no suspect.
    """
    if received.not_modified and task.state is not None:
        return Assessment(PageState(task.state.fields), is_from_html(task), None, task.last.body_digest or "")
    response = received.response
    assessment = assess(
        received.final_url,
        response.body,
        response.header("content-type"),
        task.state,
        task.last.body_digest,
        headers=response.headers,
        asked_as=received.asked_as,
        wanted=ReadingContext(
            policy,
            task.beside,
            task.url,
            response.status,
            received.asked_as,
            received.started_at,
            own_ignore="ignore" in (task.settings or ()),
        ),
    )
    if response.status == ACCEPTED and assessment.suspicion is None:
        raise FetchRefused(received.final_url, FailureKind.STATUS, "answered 202", status=ACCEPTED)
    return assessment


def judge(
    occasion: Occasion, received: ReceivedPage, assessment: Assessment, now: Instant, alerts: EventWriter
) -> Judgement:
    """Compare an answer with the stored state, and decide what is stored and told (T40 to T47).

    now  of the assessment: the time that a state is stored with
    """
    if received.seen is None and _is_plainly_unchanged(occasion, assessment, now):
        state = _new_state(occasion.task, received, assessment, now)
        is_silent = assessment.state.values == EMPTY.values
        return Judgement(CheckOutcome.UNCHANGED, _SAME, state, ruling=_SAME_SILENT if is_silent else _SAME_RULING)
    return _judge_closely(occasion, received, assessment, now, alerts)


def _judge_closely(
    occasion: Occasion, received: ReceivedPage, assessment: Assessment, now: Instant, alerts: EventWriter
) -> Judgement:
    task, policy = occasion.task, occasion.policy
    latest, before = assessment.state, task.state
    if before is not None and (evidence := evidence_against(assessment, task, policy)) is not None:
        # Checks hold the state until the page is back; only the first one alerts, even if another kind replaces it.
        content_type = received.response.header("content-type")
        told = (
            () if task.suspected else (alerts.suspect_event(task, now, evidence=evidence, content_type=content_type),)
        )
        return Judgement(CheckOutcome.SUSPECT, alerts=told)
    if policy.mode != "on":
        was_subject = before is not None and PageState(before.fields).is_subject
        if not is_stored(Mode(policy.mode), answer_subject=latest.is_subject, latest_subject=was_subject):
            return Judgement(CheckOutcome.NOT_SUBJECT)
    stored_at = max(now, before.last_at) if before is not None else now
    comparison = decide(before, latest, stored_at, policy)
    followed = NO_SIGNALS
    # Most pages declare topper fields: their signals are not read, now or before.
    has_signals = assessment.readings is not None or task.beside is not None
    if has_signals and comparison.outcome is not Outcome.TOO_SOON:
        followed = _follow(occasion, assessment, stored_at, received.seen)
    ruling = combine_verdict(comparison, followed.weighed, followed.change, declares=latest.values != EMPTY.values)
    if ruling.basis == CONTRADICTED:
        ruling = with_witness(ruling, task, latest, muted_keys(task.beside, stored_at))
    outcome = _OUTCOMES[ruling.outcome]
    state = _new_state(task, received, assessment, stored_at)
    if comparison.outcome is Outcome.FIRST or before is None:
        return Judgement(outcome, comparison, state, ruling=ruling, followed=followed)
    # Most checks find nothing new, and few pages ask for a report of that: their event data would not be used.
    is_silent = outcome in _REPORTED_ON_REQUEST and outcome not in policy.report
    data = {} if is_silent else _data_of(occasion, before, latest, stored_at, comparison, ruling)
    if comparison.outcome is Outcome.TOO_SOON:
        # T43: the record is not kept; the next comparison is with the state before it.
        told = () if is_silent else (alerts.too_soon_event(task, data, stored_at),)
        return Judgement(outcome, comparison, alerts=told, ruling=ruling)
    if ruling.outcome not in _TOLD:
        told = () if is_silent else (alerts.unchanged_event(task, data, stored_at),)
        return Judgement(outcome, comparison, state, alerts=told, ruling=ruling, followed=followed)
    verdict = VerdictRow(
        at=stored_at,
        outcome=ruling.outcome.value,
        reason=ruling.reason,
        rule=ruling.rule,
        basis=ruling.basis or INFERRED,
        data=data,
        awareness=_is_awareness_due(occasion, ruling.outcome),
        storm_key=followed.storm_key if comparison.outcome is Outcome.UNCHANGED else None,
    )
    return Judgement(outcome, comparison, state, verdict, ruling=ruling, followed=followed)


def evidence_against(assessment: Assessment, task: PageTask, policy: PageSettings) -> str | None:
    """Return the evidence that an answer is not the watched page; None without any, or if the user accepts suspects."""
    if policy.suspects == "accept":
        return None
    if assessment.suspicion is not None:
        return assessment.suspicion
    return assessment.problem or "" if not assessment.is_html and awaits_html(task, policy) else None


def awaits_html(task: PageTask, policy: PageSettings) -> bool:
    """Tell whether an answer that is not HTML will be held as a suspect."""
    return policy.suspects != "accept" and is_from_html(task)


def is_from_html(task: PageTask) -> bool:
    """Tell whether the stored state was read from HTML; an answer of another kind is then not the page."""
    state = task.state
    if state is None:
        return False
    # The usual case first: a call with names costs time for each page.
    return state.fields != EMPTY.values or was_html(
        state.fields, not_html=task.flags.not_html, is_received=task.last.set_at is not None
    )


def was_html(fields: FieldValues, *, not_html: bool, is_received: bool) -> bool:
    """Tell whether a stored state was read from HTML or XHTML.

    is_received  the page was received since it was added; the flag of an imported state says nothing
    """
    # Only HTML can declare fields.
    return fields != EMPTY.values or (is_received and not not_html)


def _follow(occasion: Occasion, assessment: Assessment, stored_at: Instant, seen: SeenPicture | None) -> SignalsResult:
    said = assessment.directives
    may_keep = occasion.keeps.texts and said is not None and said.index and said.archive
    return weigh_signals(
        occasion.task,
        occasion.policy,
        assessment.state,
        assessment.readings,
        assessment.change,
        stored_at,
        may_keep=may_keep,
        picture=seen.share if seen is not None else None,
    )


def _data_of(
    occasion: Occasion,
    before: StoredState,
    latest: PageState,
    stored_at: Instant,
    comparison: Comparison,
    ruling: OverallVerdict,
) -> JsonObject:
    return changed_data(
        page=occasion.task,
        comparison=comparison,
        before=before,
        latest=latest.values,
        stored_at=stored_at,
        elapsed_s=(stored_at - before.last_at) // 1_000_000,
        thresholds=thresholds_of(occasion.policy),
        ruling=ruling,
        in_browser=occasion.policy.fetch == "browser",
    )


def _is_plainly_unchanged(occasion: Occasion, assessment: Assessment, now: Instant) -> bool:
    """Tell quickly whether the comparison is bound to find nothing (T42, T45), as for nearly every check."""
    task, policy = occasion.task, occasion.policy
    before = task.state
    return (
        before is not None
        and 0 <= now - before.last_at < policy.durational_threshold // _MICROSECOND
        and before.fields == assessment.state.values
        and (assessment.is_html or not is_from_html(task))
        and assessment.readings is None
        and assessment.suspicion is None
        and policy.mode == "on"
        and CheckOutcome.UNCHANGED not in policy.report
        and not (task.beside is not None and has_news(task, policy))
    )


def _is_awareness_due(occasion: Occasion, outcome: Outcome) -> bool:
    instruction = occasion.task.order.instruction
    if instruction is not None and instruction.kind == "until-major" and outcome is not Outcome.MAJOR:
        return False
    return is_awareness_due(outcome, Tell(occasion.policy.tell))


def _new_state(task: PageTask, received: ReceivedPage, assessment: Assessment, stored_at: Instant) -> NewState:
    """Make the state to store; its validators are the answer's, or those that a 304 confirmed."""
    before, digest = task.state, assessment.digest or None
    equal = before is not None and before.fields == assessment.state.values
    if received.not_modified:
        return NewState(stored_at, assessment.state.values, equal, task.last.validators, digest, as_before=equal)
    validators, body_bytes = validators_of(received.response), received.response.wire_bytes
    known = (task.last.validators, task.last.body_digest, task.last.body_bytes)
    as_before = equal and known == (validators, digest, body_bytes)
    return NewState(stored_at, assessment.state.values, equal, validators, digest, body_bytes, as_before)
