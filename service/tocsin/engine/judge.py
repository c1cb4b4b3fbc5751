"""What an answer comes to: the page's state, how it compares, and what is stored and told of that. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from tocsin.engine.alerts import changed_data
from tocsin.engine.assess import Assessment, assess, decide, thresholds_of
from tocsin.engine.validators import validators_of
from tocsin.model import CheckOutcome, NewState, VerdictRow
from tocsin.spec.topper.compare import Comparison, Outcome
from tocsin.spec.topper.policy import Mode, Tell, is_awareness_due, is_stored
from tocsin.spec.topper.state import PageState

if TYPE_CHECKING:
    from tocsin.engine.alerts import Alerts
    from tocsin.engine.receive import Received
    from tocsin.model import AlertDraft, Instant, PageTask
    from tocsin.settings import PageSettings

DECLARED = "declared"
_SAME = Comparison(Outcome.UNCHANGED, None, "T42")
_MICROSECOND = timedelta(microseconds=1)
_REPORTED_ON_REQUEST = frozenset({CheckOutcome.UNCHANGED, CheckOutcome.TOO_SOON})


class Occasion(NamedTuple):
    """One check of one page: what was asked, under which settings, and when it began."""

    task: PageTask
    policy: PageSettings
    began: Instant


class Judged(Struct, frozen=True):
    """What an answer came to: nothing of it is set where nothing is stored."""

    outcome: CheckOutcome
    comparison: Comparison | None = None
    state: NewState | None = None
    verdict: VerdictRow | None = None
    alerts: tuple[AlertDraft, ...] = ()


def assess_received(task: PageTask, received: Received) -> Assessment:
    """Assess an answer; a 304 stands for the state that its validators belong to (T45 still applies to it).

    Raises FetchRefused (too-complex) for a page that no parser may be given.
    """
    if received.not_modified and task.state is not None:
        return Assessment(PageState(task.state.fields), not task.not_html, None, task.body_digest or "")
    response = received.response
    return assess(
        received.final_url,
        response.body,
        response.header("content-type"),
        task.state,
        task.body_digest,
        headers=response.headers,
        asked_as=received.asked_as,
    )


def judge(occasion: Occasion, received: Received, assessment: Assessment, now: Instant, alerts: Alerts) -> Judged:
    """Compare what was received with the state before, and decide what is stored and told (T40 to T47).

    now  the moment of assessing: what a state is stored under
    """
    if _is_plainly_unchanged(occasion, assessment, now):
        return Judged(CheckOutcome.UNCHANGED, _SAME, _new_state(occasion.task, received, assessment, now))
    return _judge_closely(occasion, received, assessment, now, alerts)


def _judge_closely(
    occasion: Occasion, received: Received, assessment: Assessment, now: Instant, alerts: Alerts
) -> Judged:
    task, policy, _ = occasion
    latest, before = assessment.state, task.state
    if not assessment.is_html and before is not None and not task.not_html:
        # HTML that becomes something else is told, once, and not silently compared.
        content_type = received.response.header("content-type")
        event = alerts.suspect_event(task, now, evidence=assessment.problem or "", content_type=content_type)
        return Judged(CheckOutcome.SUSPECT, alerts=(event,))
    was_subject = before is not None and PageState(before.fields).is_subject
    if not is_stored(Mode(policy.mode), answer_subject=latest.is_subject, latest_subject=was_subject):
        return Judged(CheckOutcome.NOT_SUBJECT)
    stored_at = max(now, before.last_at) if before is not None else now
    comparison = decide(before, latest, stored_at, policy)
    outcome = CheckOutcome(comparison.outcome.value)
    if comparison.outcome is Outcome.FIRST or before is None:
        return Judged(outcome, comparison, _new_state(task, received, assessment, stored_at))
    # Most checks find nothing new, and few are asked to say so: then nobody reads these words.
    is_silent = outcome in _REPORTED_ON_REQUEST and outcome not in policy.report
    data = (
        {}
        if is_silent
        else changed_data(
            page=task,
            comparison=comparison,
            before=before,
            latest=latest.values,
            stored_at=stored_at,
            elapsed_s=(stored_at - before.last_at) // 1_000_000,
            thresholds=thresholds_of(policy),
            basis=DECLARED,
        )
    )
    if comparison.outcome is Outcome.TOO_SOON:
        # The record is not kept: the next comparison is again with the state before it.
        told = () if is_silent else (alerts.too_soon_event(task, data, stored_at),)
        return Judged(outcome, comparison, alerts=told)
    state = _new_state(task, received, assessment, stored_at)
    if comparison.outcome is Outcome.UNCHANGED:
        told = () if is_silent else (alerts.unchanged_event(task, data, stored_at),)
        return Judged(outcome, comparison, state, alerts=told)
    verdict = VerdictRow(
        at=stored_at,
        outcome=comparison.outcome.value,
        reason=comparison.reason.value if comparison.reason else None,
        rule=comparison.rule,
        basis=DECLARED,
        data=data,
        awareness=_is_awareness_due(occasion, comparison.outcome),
    )
    return Judged(outcome, comparison, state, verdict)


def _is_plainly_unchanged(occasion: Occasion, assessment: Assessment, now: Instant) -> bool:
    """Tell whether a comparison would find nothing (T42, T45), and nobody wants its words: so it is nearly always."""
    task, policy, _ = occasion
    before = task.state
    return (
        before is not None
        and 0 <= now - before.last_at < policy.durational_threshold // _MICROSECOND
        and before.fields == assessment.state.values
        and (assessment.is_html or task.not_html)
        and policy.mode == "on"
        and CheckOutcome.UNCHANGED not in policy.report
    )


def _is_awareness_due(occasion: Occasion, outcome: Outcome) -> bool:
    instruction = occasion.task.instruction
    if instruction is not None and instruction.kind == "until-major" and outcome is not Outcome.MAJOR:
        return False
    return is_awareness_due(outcome, Tell(occasion.policy.tell))


def _new_state(task: PageTask, received: Received, assessment: Assessment, stored_at: Instant) -> NewState:
    """The storing of a state; its validators are the answer's, or those that a 304 confirmed."""
    before, digest = task.state, assessment.digest or None
    equal = before is not None and before.fields == assessment.state.values
    if received.not_modified:
        return NewState(stored_at, assessment.state.values, equal, task.validators, digest, as_before=equal)
    validators, body_bytes = validators_of(received.response), received.response.wire_bytes
    known = (task.validators, task.body_digest, task.body_bytes)
    as_before = equal and known == (validators, digest, body_bytes)
    return NewState(stored_at, assessment.state.values, equal, validators, digest, body_bytes, as_before)
