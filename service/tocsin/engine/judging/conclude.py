"""Every end of a check as one `CheckResult`, ready to be written. Pure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tocsin.configuration import show_span
from tocsin.engine.judging.cadence import next_check
from tocsin.engine.judging.contents import learn
from tocsin.engine.judging.judge import Occasion, assess_received, judge
from tocsin.engine.judging.pace import fresh_for, pace_of, with_pace
from tocsin.model import (
    KEEPS_ALL,
    NOTHING_LEARNT,
    REFUSED_SETTINGS,
    SHELLS_TOLD,
    SHORTAGE,
    Attempt,
    CheckOutcome,
    CheckReport,
    CheckResult,
    DueTime,
    Failure,
    LearntContents,
    PageFlags,
)
from tocsin.settings import PageSettings
from tocsin.spec.robots import robots_url
from tocsin.spec.signals import RULED
from tocsin.spec.signals.weigh import PICTURE, heeds, parse_rules
from tocsin.spec.topper.state import PageState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.engine.judging.assess import Assessment
    from tocsin.engine.judging.events import EventWriter
    from tocsin.engine.judging.judge import Judgement
    from tocsin.errors import Disallowed, FetchError, Shortage
    from tocsin.model import (
        AlertDraft,
        Instant,
        Instruction,
        KeptContents,
        NewState,
        PageKnowledge,
        PageTask,
        ReceivedPage,
        VerdictRow,
    )

# Longest time until a page is tried again whose settings cannot be used.
LOOK_AGAIN: Final = timedelta(hours=1)
_NO_PICTURES: Final = (
    "its rules about its picture say nothing, since checks by HTTP see none; read it in a browser: "
    "tocsin watch set URL --fetch browser"
)
# A gate and a pause of the same Retry-After are read from the clock one after the other.
_SAME_US: Final = 1_000_000


class Conclusions:
    """Makes conclusions for the pages of one instance.

    keeps  which contents of pages may be kept
    """

    def __init__(self, alerts: EventWriter, *, time_zone: str, keeps: KeptContents = KEEPS_ALL) -> None:
        self.alerts, self.time_zone, self.keeps = alerts, time_zone, keeps

    def of(self, task: PageTask, policy: PageSettings, began: Instant) -> Conclusion:
        """Begin the conclusion of one check."""
        return Conclusion(Occasion(task, policy, began, self.keeps), self.alerts, self.time_zone)


class Conclusion:
    """The ends that one check can have."""

    def __init__(self, occasion: Occasion, alerts: EventWriter, time_zone: str) -> None:
        self._occasion = occasion
        self._task, self._policy, self._began = occasion.task, occasion.policy, occasion.began
        self._alerts, self._time_zone = alerts, time_zone

    def off(self) -> CheckResult:
        """The page is off: no request is made until the user turns it on."""
        return self._result(
            CheckReport(self._task.url, CheckOutcome.SKIPPED, problem="off"), DueTime(None, "off"), keeps_rule=True
        )

    def withdrawn(self) -> CheckResult:
        """The page was removed or paused before its request was made (T62)."""
        report = CheckReport(self._task.url, CheckOutcome.SKIPPED, problem="paused")
        return self._result(report, self._next_without_request(), keeps_rule=True)

    def skipped(self) -> CheckResult:
        """The page was received a moment ago: no request is made (T21)."""
        problem = f"received less than {show_span(self._policy.min_gap)} ago (min_gap)"
        report = CheckReport(self._task.url, CheckOutcome.SKIPPED, problem=problem, next_try=self._gap_ends_at())
        return self._result(report, self._next_without_request(), keeps_rule=True)

    def held(self, why: str) -> CheckResult:
        """The store holds settings of the page that cannot be used: no request is made, and nothing is lost.

        why  the fault, with its mend
        """
        # The user may mend the settings at any time, so the page is tried again within an hour.
        every = min(self._policy.every, LOOK_AGAIN)
        at, _ = next_check(self._task.page_id, self._began, PageSettings(every=every, min_gap=timedelta(0)))
        error = (REFUSED_SETTINGS, why)
        report = CheckReport(self._task.url, CheckOutcome.DEFERRED, next_try=at, error=error)
        due = DueTime(at, "its settings cannot be used; see: tocsin doctor")
        return self._result(report, due, held_attempts=self._task.order.attempts, keeps_rule=True)

    def disallowed(self, refusal: Disallowed, *, gate_at: Instant | None = None) -> CheckResult:
        """robots.txt forbids the page; this is told once. `gate_at` as in `deferred`."""
        task = self._task
        due = self._next()
        if refusal.retry_at is not None:
            due = DueTime(min(due.at or refusal.retry_at, refusal.retry_at), "robots.txt could not be had")
        alerts: tuple[AlertDraft, ...] = ()
        if not task.disallowed:
            of = robots_url(refusal.url) or refusal.url
            told = self._alerts.disallowed_event(task, self._began, robots_url=of, rule=refusal.rule, next_try=due.at)
            alerts = (told,)
        report = CheckReport(
            task.url, CheckOutcome.DISALLOWED, rule=refusal.rule, problem=str(refusal), next_try=due.at
        )
        # No request was made, so an instruction to try again is not used up (T60).
        return self._result(report, due, alerts=alerts, disallowed=True, keeps_rule=True, host_gate_at=gate_at)

    def deferred(
        self,
        attempts: Sequence[Attempt],
        not_before: Instant,
        *,
        error: FetchError | None = None,
        gate_at: Instant | None = None,
        waits_for: str = "the host asked to wait",
    ) -> CheckResult:
        """Tries remain, but later: after a long Retry-After, or an outage of our own connection.

        error    the failure that showed the outage
        gate_at  the host asked for no requests until then
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
        why = "held: our own connection failed" if error else f"held: {waits_for}"
        due_at = self._task.order.due_at
        if due_at is not None and gate_at is not None and gate_at >= not_before - _SAME_US:
            # The gate holds the whole host: a later due time would only put this page behind the host's others.
            due = DueTime(min(due_at, not_before), why)
        else:
            due = DueTime(not_before, why)
        return self._result(report, due, held_attempts=tuple(attempts), keeps_rule=True, host_gate_at=gate_at)

    def short(self, attempts: Sequence[Attempt], shortage: Shortage, not_before: Instant) -> CheckResult:
        """This machine ran short of a resource: the page keeps its tries, and is due again soon."""
        report = CheckReport(
            self._task.url, CheckOutcome.DEFERRED, next_try=not_before, error=(SHORTAGE, str(shortage))
        )
        due = DueTime(not_before, f"held: this machine is short of {shortage.what}")
        return self._result(report, due, held_attempts=tuple(attempts), keeps_rule=True)

    def unreachable(
        self, attempts: Sequence[Attempt], error: FetchError, *, gate_at: Instant | None = None
    ) -> CheckResult:
        """All tries failed: the user is asked, unless a rule says what to do (T60). `gate_at` as in `deferred`."""
        due = self._next()
        if not attempts:
            # The page was received, but is too complex to parse: that try failed, too.
            attempts = (Attempt(self._began, error.kind, error.status, error.detail, 0),)
        report = CheckReport(
            self._task.url,
            CheckOutcome.UNREACHABLE,
            status=error.status,
            attempts=len(attempts),
            next_try=due.at,
            error=(error.kind, error.detail),
        )
        instruction = self._task.order.instruction
        waits_for_major = instruction is not None and instruction.kind == "until-major"
        failure = Failure(cause_of(error), tuple(attempts), "check", silent=waits_for_major)
        return self._result(report, due, failure=failure, host_gate_at=gate_at)

    def received(self, received: ReceivedPage, now: Instant, *, conditional: bool, tried: int) -> CheckResult:
        """Assess a page that was received, compare it with the state before, and decide what follows.

        now          of the assessment: the time that a state is stored with
        conditional  the request carried the page's validators
        tried        sets of requests that failed before
        Raises FetchRefused: too-complex, or the status of an answer that is neither the page nor a suspect.
        """
        task = self._task
        assessment = assess_received(task, received, self._policy)
        judged = judge(self._occasion, received, assessment, now, self._alerts)
        waits_for_major = task.order.instruction is not None and task.order.instruction.kind == "until-major"
        is_major = judged.outcome is CheckOutcome.MAJOR
        owed = task.owed and (is_major or not waits_for_major)
        recovery = None
        if task.order.question_id is not None and not owed:
            recovery = self._alerts.recovered_event(task, task.order.question_id, now)
        stored_at = judged.state.stored_at if judged.state else None
        is_suspect = judged.outcome is CheckOutcome.SUSPECT
        is_paced = self._policy.adaptive
        known = with_pace(self._occasion, judged, assessment.state) if is_paced else judged.followed.known
        report = self._report(received, assessment, judged, tried, clock_back(task, now))
        flags, alerts = _flags_of(task, assessment, judged, self._policy), judged.alerts
        if flags.shells == SHELLS_TOLD > task.flags.shells:
            alerts = (*alerts, self._alerts.needs_browser_event(task, now))
        return self._result(
            report,
            self._next(
                stored_at,
                None if is_suspect else assessment.state,
                too_soon=judged.outcome is CheckOutcome.TOO_SOON,
                since=received.started_at,
                known=known,
                fresh_s=fresh_for(received.response.headers) if is_paced and not is_suspect else None,
            ),
            set_at=received.started_at,
            conditional_run=task.last.conditional_run + 1 if conditional else 0,
            state=judged.state,
            verdict=judged.verdict,
            alerts=alerts,
            received=True,
            disallowed=False,
            recovery=recovery,
            render_owed=owed,
            flags=flags,
            keeps_rule=waits_for_major and not is_major,
            suspected=is_suspect,
            learnt=learn(self._occasion, received, assessment, judged, known, now),
        )

    def _report(
        self, received: ReceivedPage, assessment: Assessment, judged: Judgement, tried: int, back: timedelta | None
    ) -> CheckReport:
        comparison, ruling = judged.comparison, judged.ruling
        problems = [assessment.problem] if assessment.problem else []
        if assessment.suspicion is not None:
            problems.insert(0, assessment.suspicion)
        if received.seen is not None and received.seen.problem is not None:
            problems.append(received.seen.problem)
        elif self._policy.fetch != "browser" and heeds(PICTURE, parse_rules(self._policy.signal_rules, RULED)):
            problems.append(_NO_PICTURES)
        if received.moved_to is not None:
            problems.append(f"moved permanently to {received.moved_to}")
        if back is not None:
            problems.append(f"the clock was set back by {show_span(back)}: no time has passed until it catches up")
        # Positional, as in `_result`.
        return CheckReport(
            self._task.url,
            judged.outcome,
            comparison.changed if comparison else (),
            ruling.reason if ruling else None,
            ruling.rule if ruling else None,
            ruling.basis if ruling else None,
            assessment.state.declares,
            status=received.response.status,
            final_url=received.final_url,
            attempts=tried + 1,
            bytes=received.wire_bytes,
            elapsed_ms=received.elapsed_ms,
            not_modified=received.not_modified,
            problem="; ".join(problems) or None,
            saved_bytes=self._task.last.body_bytes if received.not_modified else 0,
            signals=ruling.speaking if ruling and ruling.heard else (),
            witness=ruling.witness if ruling else None,
        )

    def _next(
        self,
        stored_at: Instant | None = None,
        latest: PageState | None = None,
        *,
        too_soon: bool = False,
        since: Instant | None = None,
        known: PageKnowledge | None = None,
        fresh_s: int | None = None,
    ) -> DueTime:
        before = self._task.state
        if stored_at is None and before is not None:
            stored_at = before.last_at
        if latest is None and before is not None:
            latest = PageState(before.fields)
        at, why = next_check(
            self._task.page_id,
            self._began if since is None else since,
            self._policy,
            time_zone=self._time_zone,
            stored_at=stored_at,
            refresh_s=latest.refresh_s if latest else None,
            too_soon=too_soon,
            pace=(known.pace if known is not None else pace_of(self._task)) if self._policy.adaptive else None,
            fresh_s=fresh_s,
        )
        return DueTime(at, why)

    def _next_without_request(self) -> DueTime:
        """Tell when a page without a request is due: an instruction to try again stays in force (T21, T60)."""
        instruction = self._task.order.instruction
        if instruction is None or instruction.kind != "again":
            return self._next()
        return DueTime(max(self._gap_ends_at(), instruction.at or 0), "held: tried again when min_gap is over")

    def _gap_ends_at(self) -> Instant:
        """Return the earliest time for the page's next request (T21)."""
        last = self._task.last.set_at
        if last is None or last > self._began:
            return self._began
        return max(self._began, last + round(self._policy.min_gap.total_seconds() * 1_000_000) + 1)

    def _result(
        self,
        report: CheckReport,
        due: DueTime,
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
        flags: PageFlags | None = None,
        keeps_rule: bool = False,
        host_gate_at: Instant | None = None,
        suspected: bool | None = None,
        learnt: LearntContents = NOTHING_LEARNT,
    ) -> CheckResult:
        task = self._task
        # Positional: for more than fifteen keywords Python builds a dict first, which takes six times as long.
        return CheckResult(
            task.page_id,
            task.host_id,
            report,
            self._began,
            set_at,
            due,
            task.order,
            task.last.conditional_run if conditional_run is None else conditional_run,
            task.flags if flags is None else flags,
            state,
            verdict,
            failure,
            held_attempts,
            alerts,
            received,
            recovery,
            render_owed,
            learnt,
            # A check that did not get this far leaves these two alone, because each is told once.
            task.disallowed if disallowed is None else disallowed,
            task.suspected if suspected is None else suspected,
            not keeps_rule and _is_spent(task.order.instruction, received=received),
            host_gate_at,
            task.state.last_at if task.state is not None else None,
        )


def _is_spent(instruction: Instruction | None, *, received: bool) -> bool:
    """Tell whether an instruction is used up: `again` by any check that was not put off, others by a page."""
    return instruction is not None and (instruction.kind == "again" or received)


def _flags_of(task: PageTask, assessment: Assessment, judged: Judgement, policy: PageSettings) -> PageFlags:
    """Give the flags of a page that was received: they are kept with the state that they came with (LM-45, LM-46)."""
    before, is_suspect = task.flags, judged.outcome is CheckOutcome.SUSPECT
    # An answer that is not stored does not change what the page says of the stored state.
    said = None if is_suspect or judged.outcome is CheckOutcome.TOO_SOON else assessment.directives
    # A page that is unchanged is not looked at: a shell is one still.
    is_shell = before.is_shell if is_suspect or assessment.is_shell is None else assessment.is_shell
    return PageFlags(
        before.noindex if said is None else not said.index,
        before.nofollow if said is None else not said.follow,
        before.not_html if judged.state is None and task.state is not None else not assessment.is_html,
        is_shell,
        before.shells if is_suspect else _shells_in_a_row(before, policy) if is_shell else 0,
    )


def _shells_in_a_row(before: PageFlags, policy: PageSettings) -> int:
    return min(before.shells + 1, SHELLS_TOLD) if policy.fetch == "auto" else 0


def clock_back(task: PageTask, now: Instant) -> timedelta | None:
    """Return how far, in whole seconds, the clock is behind the page's last storing; None if it is not."""
    back_s = (task.state.last_at - now) // 1_000_000 if task.state is not None else 0
    return timedelta(seconds=back_s) if back_s > 0 else None


def cause_of(error: FetchError) -> str:
    """Name the cause that questions are gathered by: the kind of failure, with the status if that is the kind."""
    return f"{error.kind} {error.status}" if error.kind == "status" and error.status is not None else str(error.kind)
