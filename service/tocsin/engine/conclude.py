"""What follows from a check: each of its ends as one `CheckResult`, ready to be written. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from tocsin.configuration import show_span
from tocsin.engine.alerts import changed_data
from tocsin.engine.assess import Assessment, assess, decide, thresholds_of
from tocsin.engine.cadence import next_check
from tocsin.model import Attempt, CheckOutcome, CheckReport, CheckResult, Failure, NewState, Validators, VerdictRow
from tocsin.spec.topper.compare import Comparison, Outcome
from tocsin.spec.topper.policy import Mode, Tell, is_awareness_due, is_stored
from tocsin.spec.topper.state import PageState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.engine.alerts import Alerts
    from tocsin.engine.receive import Disallowed, Received
    from tocsin.errors import FetchError
    from tocsin.model import AlertDraft, Instant, PageTask
    from tocsin.settings import PageSettings

DECLARED = "declared"
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


class Conclusions:
    """Makes conclusions for the pages of one instance."""

    def __init__(self, alerts: Alerts, *, time_zone: str) -> None:
        self.alerts, self.time_zone = alerts, time_zone

    def of(self, task: PageTask, policy: PageSettings, began: Instant) -> Conclusion:
        """Begin the conclusion of one check."""
        return Conclusion(Occasion(task, policy, began), self.alerts, self.time_zone)


class Conclusion:
    """The ends that one check can have."""

    def __init__(self, occasion: Occasion, alerts: Alerts, time_zone: str) -> None:
        self._task, self._policy, self._began = occasion
        self._alerts, self._time_zone = alerts, time_zone

    def off(self) -> CheckResult:
        """The page is off: no request is made until somebody turns it on."""
        return self._result(
            CheckReport(self._task.url, CheckOutcome.SKIPPED, problem="off"), (None, "off"), keeps_rule=True
        )

    def withdrawn(self) -> CheckResult:
        """The page was taken off the list, or paused, before its request was made (T62)."""
        report = CheckReport(self._task.url, CheckOutcome.SKIPPED, problem="paused")
        return self._result(report, self._next_without_request(), keeps_rule=True)

    def skipped(self) -> CheckResult:
        """The page's last set was a moment ago: no request is made (T21)."""
        report = CheckReport(
            self._task.url, CheckOutcome.SKIPPED, problem=f"checked within {show_span(self._policy.min_gap)}"
        )
        return self._result(report, self._next_without_request(), keeps_rule=True)

    def disallowed(self, refusal: Disallowed) -> CheckResult:
        """robots.txt forbids the page: told once, and checked again when it no longer does."""
        task = self._task
        at, why = self._next()
        if refusal.retry_at is not None:
            at, why = min(at, refusal.retry_at), "robots.txt could not be had"
        alerts: tuple[AlertDraft, ...] = ()
        if not task.disallowed:
            alerts = (
                self._alerts.disallowed_event(
                    task, self._began, robots_url=refusal.robots_url, rule=refusal.rule, next_try=at
                ),
            )
        report = CheckReport(task.url, CheckOutcome.DISALLOWED, rule=refusal.rule, problem=str(refusal), next_try=at)
        return self._result(report, (at, why), alerts=alerts, disallowed=True)

    def deferred(
        self,
        attempts: Sequence[Attempt],
        not_before: Instant,
        *,
        error: FetchError | None = None,
        gate_at: Instant | None = None,
    ) -> CheckResult:
        """Tries remain, but not now: a long Retry-After, or our own outage.

        error    how our outage showed itself
        gate_at  until when the host wants to be left alone
        """
        shown = (error.kind, error.detail) if error else (attempts[-1].kind, attempts[-1].message) if attempts else None
        report = CheckReport(
            self._task.url,
            CheckOutcome.DEFERRED,
            status=attempts[-1].status if attempts else None,
            attempts=len(attempts),
            next_try=not_before,
            error=shown,
        )
        why = "held: our own connection failed" if error else "held: the host asked to wait"
        return self._result(
            report, (not_before, why), held_attempts=tuple(attempts), keeps_rule=True, host_gate_at=gate_at
        )

    def unreachable(self, attempts: Sequence[Attempt], error: FetchError) -> CheckResult:
        """The page could not be received after its tries: the user is asked, unless a rule says what to do (T60)."""
        at, why = self._next()
        if not attempts:
            # It came, but no parser may be given it: that try failed, too.
            attempts = (Attempt(self._began, error.kind, error.status, error.detail, 0),)
        report = CheckReport(
            self._task.url,
            CheckOutcome.UNREACHABLE,
            status=error.status,
            attempts=len(attempts),
            next_try=at,
            error=(error.kind, error.detail),
        )
        waits_for_major = self._task.instruction is not None and self._task.instruction.kind == "until-major"
        failure = Failure(cause_of(error), tuple(attempts), "check", silent=waits_for_major)
        return self._result(report, (at, why), failure=failure)

    def received(self, received: Received, now: Instant, *, conditional: bool, tried: int) -> CheckResult:
        """Assess a page that was received, compare it with the state before, and decide what follows.

        now          the moment of assessing: what a state is stored under
        conditional  it was asked for with its validators
        tried        sets of requests that failed before
        Raises FetchRefused (too-complex).
        """
        task = self._task
        assessment = assess_received(task, received)
        judged = self._judge(received, assessment, now)
        waits_for_major = task.instruction is not None and task.instruction.kind == "until-major"
        is_major = judged.outcome is CheckOutcome.MAJOR
        owed = task.owed and (is_major or not waits_for_major)
        recovery = None
        if task.question_id is not None and not owed:
            recovery = self._alerts.recovered_event(task, task.question_id, now)
        stored_at = judged.state.stored_at if judged.state else None
        report = self._report(received, assessment, judged, tried, clock_back(task, now))
        return self._result(
            report,
            self._next(
                stored_at,
                assessment.state,
                too_soon=judged.outcome is CheckOutcome.TOO_SOON,
                since=received.started_at,
            ),
            set_at=received.started_at,
            conditional_run=task.conditional_run + 1 if conditional else 0,
            state=judged.state,
            verdict=judged.verdict,
            alerts=judged.alerts,
            received=True,
            disallowed=False,
            recovery=recovery,
            render_owed=owed,
            not_html=not assessment.is_html,
            keeps_rule=waits_for_major and not is_major,
        )

    def _judge(self, received: Received, assessment: Assessment, now: Instant) -> Judged:
        task, policy, latest, before = self._task, self._policy, assessment.state, self._task.state
        if not assessment.is_html and before is not None and not task.not_html:
            # HTML that becomes something else is told, once, and not silently compared.
            event = self._alerts.suspect_event(
                task, now, evidence=assessment.problem or "", content_type=received.response.header("content-type")
            )
            return Judged(CheckOutcome.SUSPECT, alerts=(event,))
        was_subject = before is not None and PageState(before.fields).is_subject
        if not is_stored(Mode(policy.mode), answer_subject=latest.is_subject, latest_subject=was_subject):
            return Judged(CheckOutcome.NOT_SUBJECT)
        stored_at = max(now, before.last_at) if before is not None else now
        comparison = decide(before, latest, stored_at, policy)
        outcome = CheckOutcome(comparison.outcome.value)
        if comparison.outcome is Outcome.FIRST or before is None:
            return Judged(outcome, comparison, new_state(task, received, assessment, stored_at))
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
            told = () if is_silent else (self._alerts.too_soon_event(task, data, stored_at),)
            return Judged(outcome, comparison, alerts=told)
        state = new_state(task, received, assessment, stored_at)
        if comparison.outcome is Outcome.UNCHANGED:
            told = () if is_silent else (self._alerts.unchanged_event(task, data, stored_at),)
            return Judged(outcome, comparison, state, alerts=told)
        verdict = VerdictRow(
            at=stored_at,
            outcome=comparison.outcome.value,
            reason=comparison.reason.value if comparison.reason else None,
            rule=comparison.rule,
            basis=DECLARED,
            data=data,
            awareness=self._is_awareness_due(comparison.outcome),
        )
        return Judged(outcome, comparison, state, verdict)

    def _is_awareness_due(self, outcome: Outcome) -> bool:
        instruction = self._task.instruction
        if instruction is not None and instruction.kind == "until-major" and outcome is not Outcome.MAJOR:
            return False
        return is_awareness_due(outcome, Tell(self._policy.tell))

    def _report(
        self, received: Received, assessment: Assessment, judged: Judged, tried: int, back: timedelta | None
    ) -> CheckReport:
        comparison = judged.comparison
        problems = [assessment.problem] if assessment.problem else []
        if received.moved_to is not None:
            problems.append(f"moved permanently to {received.moved_to}")
        if back is not None:
            problems.append(f"the clock was set back by {show_span(back)}: no time has passed until it catches up")
        return CheckReport(
            url=self._task.url,
            outcome=judged.outcome,
            changed=comparison.changed if comparison else (),
            reason=comparison.reason.value if comparison and comparison.reason else None,
            rule=comparison.rule if comparison else None,
            basis=DECLARED if comparison else None,
            declares=assessment.state.declares,
            status=received.response.status,
            final_url=received.final_url,
            attempts=tried + 1,
            bytes=received.wire_bytes,
            elapsed_ms=received.elapsed_ms,
            not_modified=received.not_modified,
            problem="; ".join(problems) or None,
        )

    def _next(
        self,
        stored_at: Instant | None = None,
        latest: PageState | None = None,
        *,
        too_soon: bool = False,
        since: Instant | None = None,
    ) -> tuple[Instant, str]:
        before = self._task.state
        if stored_at is None and before is not None:
            stored_at = before.last_at
        if latest is None and before is not None:
            latest = PageState(before.fields)
        return next_check(
            self._task.page_id,
            self._began if since is None else since,
            self._policy,
            time_zone=self._time_zone,
            stored_at=stored_at,
            refresh_s=latest.refresh_s if latest else None,
            too_soon=too_soon,
        )

    def _next_without_request(self) -> tuple[Instant, str]:
        """When a page is due that no request was made for: an `again` still stands, as soon as it may be (T21, T60)."""
        task, instruction = self._task, self._task.instruction
        if instruction is None or instruction.kind != "again":
            return self._next()
        earliest = self._began
        if task.last_set_at is not None and task.last_set_at <= self._began:
            earliest = max(earliest, task.last_set_at + round(self._policy.min_gap.total_seconds() * 1_000_000) + 1)
        return max(earliest, instruction.at or 0), "held: again as soon as it may be"

    def _result(
        self,
        report: CheckReport,
        next_at: tuple[Instant | None, str],
        *,
        set_at: Instant | None = None,
        conditional_run: int | None = None,
        state: NewState | None = None,
        verdict: VerdictRow | None = None,
        failure: Failure | None = None,
        held_attempts: tuple[Attempt, ...] = (),
        alerts: tuple[AlertDraft, ...] = (),
        received: bool = False,
        recovery: AlertDraft | None = None,
        render_owed: bool = False,
        disallowed: bool | None = None,
        not_html: bool | None = None,
        keeps_rule: bool = False,
        host_gate_at: Instant | None = None,
    ) -> CheckResult:
        task = self._task
        instruction = task.instruction
        return CheckResult(
            page_id=task.page_id,
            host_id=task.host_id,
            request_id=task.request_id,
            report=report,
            checked_at=self._began,
            set_at=set_at,
            next_at=next_at[0],
            next_why=next_at[1],
            conditional_run=task.conditional_run if conditional_run is None else conditional_run,
            state=state,
            verdict=verdict,
            failure=failure,
            held_attempts=held_attempts,
            alerts=alerts,
            received=received,
            recovery=recovery,
            render_owed=render_owed,
            # A check that did not come so far leaves it as it was: it is told once.
            disallowed=task.disallowed if disallowed is None else disallowed,
            not_html=task.not_html if not_html is None else not_html,
            host_gate_at=host_gate_at,
            instruction=instruction,
            based_on=task.state.last_at if task.state is not None else None,
            # `again` is used up by any occasion that was not put off; `until-major` by its major change alone.
            rule_spent=instruction is not None and not keeps_rule and (instruction.kind == "again" or received),
        )


def clock_back(task: PageTask, now: Instant) -> timedelta | None:
    """By how many whole seconds the clock stands before the page's last storing; None where it does not."""
    back_s = (task.state.last_at - now) // 1_000_000 if task.state is not None else 0
    return timedelta(seconds=back_s) if back_s > 0 else None


def cause_of(error: FetchError) -> str:
    """What questions are gathered by: the kind of failure, and for a status which one."""
    return f"{error.kind} {error.status}" if error.kind == "status" and error.status is not None else str(error.kind)


def assess_received(task: PageTask, received: Received) -> Assessment:
    """Assess an answer; a 304 stands for the state that its validators belong to (T45 still applies to it)."""
    if received.not_modified and task.state is not None:
        return Assessment(PageState(task.state.fields), not task.not_html, None, task.body_digest or "")
    response = received.response
    return assess(received.final_url, response.body, response.header("content-type"), task.state, task.body_digest)


def new_state(task: PageTask, received: Received, assessment: Assessment, stored_at: Instant) -> NewState:
    """The storing of a state; its validators are the answer's, or those that a 304 confirmed."""
    before = task.state
    equal = before is not None and before.fields == assessment.state.values
    validators = task.validators if received.not_modified else validators_of(received)
    return NewState(stored_at, assessment.state.values, equal, validators, assessment.digest or None)


def validators_of(received: Received) -> Validators | None:
    """The validators of an answer, exactly as its last hop wrote them; what is not ASCII might not be given back so."""
    etag, modified = (_verbatim(received.response.header(name)) for name in ("etag", "last-modified"))
    return Validators(etag, modified, received.final_url) if etag or modified else None


def _verbatim(value: str | None) -> str | None:
    return value if value and value.isascii() else None
