"""ONE PAGE THROUGH: ask, receive, assess, decide; what is to be written comes back as one value.

The way of a page: `scheduler` finds it due, `visit` makes a result of it, `writer` commits the result, and where
awareness is due `renders` and `delivery` take it from there.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tocsin.configuration import show_span
from tocsin.engine.assess import is_read_as_before
from tocsin.engine.conclude import clock_back
from tocsin.engine.containment import contained
from tocsin.engine.policies import asked_as
from tocsin.engine.receive import Disallowed, PageRequest, Received, Withdrawn
from tocsin.engine.retry import Postponed, TryPolicy, tries
from tocsin.errors import FetchError, FetchFailed
from tocsin.events import Happening
from tocsin.model import Attempt, FailureKind
from tocsin.spec.topper.policy import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.engine.conclude import Conclusions
    from tocsin.engine.gates import Gates
    from tocsin.engine.outage import OutageWatch
    from tocsin.engine.policies import Policies
    from tocsin.engine.receive import Receiver
    from tocsin.model import CheckResult, Instant, JsonObject, PageTask, Validators
    from tocsin.ports import Chance, Clock, Fetcher, Session, Telemetry
    from tocsin.settings import FetchSettings, PageSettings

OURS = frozenset({FailureKind.DNS, FailureKind.CONNECT})
"""The kinds of failure that everything shows at once when it is our own connection that fails."""

_OUTAGE_PAUSE_US = 60_000_000


class Tries:
    """Makes a page's set of requests again as T58 and the user say; checks and renderings share it."""

    def __init__(
        self, receiver: Receiver, fetcher: Fetcher, gates: Gates, settings: FetchSettings, clock: Clock, chance: Chance
    ) -> None:
        self._receiver, self._fetcher, self._gates = receiver, fetcher, gates
        self._settings, self._clock, self._chance = settings, clock, chance

    async def receive(
        self,
        request: PageRequest,
        attempts: list[Attempt],
        *,
        further: int,
        fresh: bool = False,
        retry_all: bool = False,
    ) -> Received:
        """Receive the page; each failed set is added to `attempts`, which may hold earlier ones.

        further    sets after the first
        fresh      over new connections (T60)
        retry_all  every failure is tried again: in awareness T58 knows no exception
        Raises the last FetchFailed or FetchRefused; Disallowed; Postponed where a pause is too long to wait for.
        """
        if fresh:
            async with self._fetcher.fresh() as session:
                return await self._receive(request, session, attempts, further, retry_all)
        return await self._receive(request, self._fetcher.shared(), attempts, further, retry_all)

    async def _receive(
        self,
        request: PageRequest,
        session: Session,
        attempts: list[Attempt],
        further: int,
        retry_all: bool,  # noqa: FBT001 - passed on
    ) -> Received:
        policy = TryPolicy(
            further=further,
            retry_refused=retry_all or request.policy.retry_refused,
            hold_s=self._settings.hold.total_seconds(),
            retry_after_max_s=self._gates.politeness(request.host).retry_after_max_s,
        )
        spent = len(attempts)
        # Nearly every page comes at the first try: only a failure is worth the machinery of the further ones.
        failures: list[FetchError] = []
        try:
            return await self._once(request, session, attempts)
        except FetchError as exc:
            failures.append(exc)
        async for attempt in tries(policy, self._clock, self._chance, spent=spent):
            with attempt:
                if failures:
                    raise failures.pop()
                return await self._once(request, session, attempts)
        raise AssertionError("tenacity ends with a result or an error")

    async def _once(self, request: PageRequest, session: Session, attempts: list[Attempt]) -> Received:
        """Make one set of requests; one that failed is added to the attempts."""
        began, start = self._clock.now(), self._clock.monotonic()
        try:
            return await self._receiver.receive(request, session)
        except FetchError as exc:
            elapsed_ms = round((self._clock.monotonic() - start) * 1000)
            attempts.append(Attempt(began, exc.kind, exc.status, exc.detail, elapsed_ms))
            raise


class Visitor:
    """Takes pages through their checks, one call a page; holds no state of theirs."""

    def __init__(
        self,
        tries: Tries,
        policies: Policies,
        conclusions: Conclusions,
        gates: Gates,
        outage: OutageWatch,
        settings: FetchSettings,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._tries, self._policies, self._conclusions = tries, policies, conclusions
        self._gates, self._outage, self._settings = gates, outage, settings
        self._clock, self._telemetry = clock, telemetry
        self._wanted: set[int] = set()
        self._told_of_clock = False

    def put_off(self, task: PageTask) -> CheckResult:
        """Make no request: it is our own connection that fails, and nobody waits here for its return."""
        conclude = self._conclusions.of(task, self._policies.of(task), self._clock.now())
        error = FetchFailed(task.url, FailureKind.CONNECT, "our own connection fails; nothing was asked")
        return conclude.deferred([], self._clock.now() + _OUTAGE_PAUSE_US, error=error)

    def withdraw(self, page_ids: Iterable[int]) -> None:
        """Make no further request for these pages in the visits under way: they are no longer watched (T62)."""
        self._wanted.difference_update(page_ids)

    async def visit(self, task: PageTask) -> CheckResult:
        """Check one page; whatever happens to it becomes a result, never an exception."""
        policy, began = self._policies.of(task), self._clock.now()
        conclude = self._conclusions.of(task, policy, began)
        if Mode(policy.mode) is Mode.OFF:
            return conclude.off()
        if _is_too_near(task, policy, began):
            return conclude.skipped()
        # A visit that has ended is not to be withdrawn any more: its page's next one is another occasion.
        self._wanted.add(task.page_id)
        attempts = list(task.attempts)
        conditions = _conditions(task, policy, self._settings.unconditional_every)
        try:
            with contained(task.url, self._telemetry):
                received = await self._receive(task, policy, conditions, attempts)
                result = conclude.received(
                    received, self._clock.now(), conditional=conditions is not None, tried=len(attempts)
                )
        except Withdrawn:
            result = conclude.withdrawn()
        except Disallowed as exc:
            result = conclude.disallowed(exc)
        except Postponed as exc:
            result = conclude.deferred(attempts, exc.not_before, gate_at=self._held_until(task.host))
        except FetchError as exc:
            if exc.kind in OURS and self._outage.is_outage():
                # It is our own connection: the page's tries are given back to it, and nobody is asked (T57-T61).
                result = conclude.deferred([], self._clock.now() + _OUTAGE_PAUSE_US, error=exc)
            else:
                result = conclude.unreachable(attempts, exc)
        finally:
            self._wanted.discard(task.page_id)
        self._tell(task, result)
        return result

    async def _receive(
        self, task: PageTask, policy: PageSettings, conditions: Validators | None, attempts: list[Attempt]
    ) -> Received:
        wanted = partial(self._is_wanted, task.page_id)
        request = PageRequest(task.url, task.host, policy, conditions, task.secrets, is_wanted=wanted)
        instruction = task.instruction
        if instruction is None:
            return await self._tries.receive(request, attempts, further=policy.tries)
        # "Any number of times" (T60) knows no answer that would end it, but the page itself.
        is_again = instruction.kind == "again"
        further = instruction.times - 1 if is_again else 0
        fresh = instruction.new_connections
        return await self._tries.receive(request, attempts, further=further, fresh=fresh, retry_all=is_again)

    async def _is_wanted(self, page_id: int) -> bool:
        return page_id in self._wanted

    def _held_until(self, host: str) -> Instant | None:
        """When a host that asked to be left alone may be asked again, None if it did not ask; it outlives us."""
        held_s = self._gates.held_s(host)
        return self._clock.now() + round(held_s * 1_000_000) if held_s > 0 else None

    def _tell(self, task: PageTask, result: CheckResult) -> None:
        self._tell_of_clock(task)
        if result.verdict is not None:
            values: JsonObject = {"url": task.url, "reason": result.verdict.reason, "rule": result.verdict.rule}
            self._telemetry.emit(Happening(f"page.{result.verdict.outcome}", "info", values))
        elif result.failure is not None:
            values = {"url": task.url, "cause": result.failure.cause, "tries": len(result.failure.attempts)}
            self._telemetry.emit(Happening("page.unreachable", "warning", values))
        elif result.report.problem is not None:
            self._telemetry.emit(Happening("page.odd", "debug", {"url": task.url, "problem": result.report.problem}))

    def _tell_of_clock(self, task: PageTask) -> None:
        """Warn once of a clock that was set back: until it catches up, every change comes too soon (T43)."""
        back = clock_back(task, self._clock.now())
        if back is not None and not self._told_of_clock:
            self._told_of_clock = True
            mend = "set the clock; if it was ahead before, changes are told again once it has caught up"
            values: JsonObject = {"url": task.url, "by": show_span(back), "mend": mend}
            self._telemetry.emit(Happening("clock.back", "warning", values))


def _is_too_near(task: PageTask, policy: PageSettings, now: int) -> bool:
    """Say whether the last set that received the page is so near that no request may be made (T21)."""
    gap_us = round(policy.min_gap.total_seconds() * 1_000_000)
    return bool(gap_us) and task.last_set_at is not None and 0 <= now - task.last_set_at <= gap_us


def _conditions(task: PageTask, policy: PageSettings, unconditional_every: int) -> Validators | None:
    """The page's validators, but for an unconditional request now and then, and where a 304 would prove nothing.

    That is so when the page is asked for otherwise than when its state was read, when it is read otherwise, and when
    it failed: some servers fail at the conditions.
    """
    if task.state is None or task.conditional_run >= unconditional_every or task.question_id is not None:
        return None
    return task.validators if is_read_as_before(task.body_digest, asked_as(policy, task.secrets)) else None
