"""ONE PAGE THROUGH: receive, assess, decide; everything to be written is returned as one value.

The way of a page: `scheduler` finds it due, `visit` makes its result, `writer` commits the result; where awareness is
due, `render_queue` and `delivery` continue.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from traceback import extract_tb
from types import TracebackType
from typing import Any, Protocol

from tocsin.configuration import show_span
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OURS, OutageWatch
from tocsin.engine.hosts.process_limits import LoopTime
from tocsin.engine.judging.assess import is_read_as_before
from tocsin.engine.judging.conclude import Conclusion, Conclusions, clock_back
from tocsin.engine.judging.judge import awaits_html
from tocsin.engine.judging.signals import must_be_read
from tocsin.engine.policies import Policies, asked_as, compares_pictures
from tocsin.engine.visiting.receive import NO_TIME, HandoffRequired, PageRequest, ReceiveResult, RequestSets
from tocsin.errors import (
    Disallowed,
    FetchError,
    FetchFailed,
    FetchRefused,
    Postponed,
    SettingsError,
    Shortage,
    TocsinError,
    Withdrawn,
    shortage_of,
)
from tocsin.events import Happening, kind_of
from tocsin.model import (
    REFUSED_SETTINGS,
    Attempt,
    CheckResult,
    FailureKind,
    Instant,
    JsonObject,
    PageTask,
    ReceivedPage,
    Validators,
)
from tocsin.ports import Clock, Session, Telemetry
from tocsin.ports.messages import CheckEnds, CheckHandoff, RequestProgress
from tocsin.settings import FetchSettings, PageSettings

# Pause of a check that an outage of our own connection postponed.
OUTAGE_PAUSE_US = 60_000_000
# Pause of a check that a shortage postponed; `hosts.shortage` stops checking for longer if it lasts.
SHORTAGE_PAUSE_US = 5_000_000


def contained(page_id: int | None, url: str, telemetry: Telemetry) -> Containment:
    """Turn an unexpected error into FetchRefused (crashed) of this page, and log its origin.

    page_id  None for a request on behalf of other pages
    Errors of Tocsin and cancellation pass through; a shortage of files or memory becomes `Shortage`.
    """
    return Containment(page_id, url, telemetry)


class Containment:
    """Implements `contained`; a class, since a generator costs three times as much, for every page."""

    __slots__ = ("_page_id", "_telemetry", "_url")

    def __init__(self, page_id: int | None, url: str, telemetry: Telemetry) -> None:
        self._page_id, self._url, self._telemetry = page_id, url, telemetry

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if exc is None or isinstance(exc, TocsinError) or not isinstance(exc, Exception):
            return
        if (shortage := shortage_of(exc)) is not None:
            raise shortage from exc
        # One page that trips a parser would otherwise end the service, again after every start.
        what = f"{type(exc).__name__}: {exc}"
        frames = [f"{frame.filename}:{frame.lineno}" for frame in extract_tb(trace)[-3:]]
        values = {"page_id": self._page_id, "url": self._url, "error": what, "where": frames}
        self._telemetry.emit(Happening("page.crashed", "error", values))
        raise FetchRefused(self._url, FailureKind.CRASHED, f"a fault of ours, please report it: {what}") from exc


class Handoff(Protocol):
    """Continues checks at hosts that another fetcher serves."""

    async def hand_off(self, handoff: CheckHandoff) -> RequestProgress | CheckResult | FetchRefused:
        """Continue a check at the host of another fetcher.

        Returns the result; FetchRefused if the page cannot be read; progress if it continues at yet another host.
        Raises as `Receiver.receive` does.
        """


class Visitor:
    """Checks pages, one call each.

    handoff    serves the hosts of other fetchers; None if there are none
    mark       receives the id of the page whose bytes are being read, and 0 afterwards
    loop_time  says when a page may be read
    """

    def __init__(
        self,
        tries: RequestSets,
        policies: Policies,
        conclusions: Conclusions,
        gates: Gates,
        outage: OutageWatch | None,
        settings: FetchSettings,
        clock: Clock,
        telemetry: Telemetry,
        *,
        handoff: Handoff | None = None,
        mark: Callable[[int], None] = lambda _page_id: None,
        loop_time: LoopTime | None = None,
    ) -> None:
        self._loop_time = loop_time or LoopTime()
        self._tries, self._policies, self._conclusions = tries, policies, conclusions
        self._gates, self._outage, self._settings = gates, outage, settings
        self._clock, self._telemetry, self._handoff, self._mark = clock, telemetry, handoff, mark
        self._wanted: dict[int, bool] = {}
        self._unasked: dict[int, Instant] = {}
        self._handed: Counter[int] = Counter()
        self._told_of_clock = False

    def expect(self, task: PageTask) -> None:
        """Announce a visit, which can be withdrawn from now on."""
        self._wanted.setdefault(task.page_id, True)
        self._unasked[task.page_id] = NO_TIME if task.order.due_at is None else task.order.due_at

    def waiting_since(self) -> Instant | None:
        """Return the earliest due time of expected pages without a request so far."""
        earliest = min(self._unasked.values(), default=NO_TIME)
        return None if earliest == NO_TIME else earliest

    def drop(self) -> list[int]:
        """Give up the expected pages without a request so far; returns their ids."""
        dropped = list(self._unasked)
        self._unasked.clear()
        self.withdraw(dropped)
        return dropped

    def withdraw(self, page_ids: Iterable[int]) -> None:
        """Make no further request for these pages, which are no longer watched (T62)."""
        for page_id in page_ids:
            if page_id in self._wanted:
                self._wanted[page_id] = False

    async def visit(self, task: PageTask, stand_aside: Callable[[], None] | None = None) -> CheckResult:
        """Check one page; every failure becomes a result, never an exception.

        stand_aside  called before waiting for anything but the page's own host
        """
        ends = await self.ends(task, stand_aside)
        is_outage = False
        if ends.in_outage is not None and self._outage is not None:
            if stand_aside is not None:
                stand_aside()
            is_outage = await _settled(self._outage)
        result = chosen(ends, is_outage=is_outage)
        tell(result, self._telemetry)
        return result

    async def ends(self, task: PageTask, stand_aside: Callable[[], None] | None = None) -> CheckEnds:
        """Check one page, and return its result with the one that counts during an outage; logs nothing."""
        self._wanted.setdefault(task.page_id, True)
        attempts, began = list(task.order.attempts), self._clock.now()
        in_outage = None
        try:
            policy = self._policies.of(task)
            conclude = self._conclusions.of(task, policy, began)
            if policy.mode == "off" or is_too_near(task, policy, began):
                return CheckEnds(_without_request(conclude, policy))
            conditions = _conditions(task, policy, self._settings.unconditional_every)
            with contained(task.page_id, task.url, self._telemetry):
                came = await self._receive(task, policy, conditions, attempts, began, stand_aside)
                # What need not be read takes no turn of the loop's time.
                has_body = isinstance(came, ReceivedPage) and not came.not_modified
                if has_body and not self._loop_time.begin_at_once():
                    await self._loop_time.begin()
                result = self._conclude(conclude, task, came, conditions, len(attempts), has_body=has_body)
        except SettingsError as exc:
            result = self._held(task, str(exc))
        except Withdrawn:
            result = conclude.withdrawn()
        except Disallowed as exc:
            result = conclude.disallowed(exc, gate_at=self._held_until(task.host))
        except Postponed as exc:
            gate_at = self._held_until(task.host)
            result = conclude.deferred(attempts, exc.not_before, gate_at=gate_at, waits_for=exc.why)
        except Shortage as exc:
            result = conclude.short(attempts, exc, self._clock.now() + SHORTAGE_PAUSE_US)
        except FetchError as exc:
            result = conclude.unreachable(attempts, exc, gate_at=self._held_until(task.host))
            # If our own connection fails, the page gets its tries back, and no question is asked (T57-T61).
            again_at = self._clock.now() + OUTAGE_PAUSE_US
            in_outage = conclude.deferred([], again_at, error=exc) if exc.kind in OURS else None
        finally:
            # A withdrawal concerns this visit only, not the next one of the page.
            del self._wanted[task.page_id]
            self._unasked.pop(task.page_id, None)
        if task.state is not None and task.state.last_at > began and not self._told_of_clock:
            self._tell_of_clock(task, began)
        return CheckEnds(result, in_outage)

    async def hand_off(self, handoff: CheckHandoff, session: Session) -> CheckResult | FetchRefused:
        """Continue a check that was redirected here; see `Handoff.hand_off`. Raises HandoffRequired, SettingsError."""
        task, policy = handoff.task, self._policies.of(handoff.task)
        conclude = self._conclusions.of(task, policy, handoff.began)
        self._wanted.setdefault(task.page_id, True)
        # If the fetcher that asked died, its successor asks again: there can be two.
        self._handed[task.page_id] += 1
        try:
            request = self._request(task, policy, handoff.conditions)
            came = await self._tries.receiver.receive(request, session, handoff.so_far)
            try:
                with contained(task.page_id, task.url, self._telemetry):
                    has_body = not came.not_modified
                    if has_body:
                        await self._loop_time.begin()
                    return self._conclude(conclude, task, came, handoff.conditions, handoff.tried, has_body=has_body)
            except FetchRefused as exc:
                return exc
        finally:
            self._handed[task.page_id] -= 1
            if not self._handed[task.page_id]:
                del self._handed[task.page_id], self._wanted[task.page_id]

    def _held(self, task: PageTask, why: str) -> CheckResult:
        """Conclude without a request: the page's settings cannot be used."""
        policy = self._policies.readable(task)
        conclude = self._conclusions.of(task, policy, self._clock.now())
        return conclude.off() if policy.mode == "off" else conclude.held(why)

    def _conclude(
        self,
        conclude: Conclusion,
        task: PageTask,
        came: ReceiveResult,
        conditions: Validators | None,
        tried: int,
        *,
        has_body: bool,
    ) -> CheckResult:
        """Assess a page in the process that has its bytes; `has_body` says that a turn of the loop time has begun."""
        self._mark(task.page_id)
        try:
            if isinstance(came, FetchRefused):
                raise came
            if isinstance(came, CheckResult):
                return came
            return conclude.received(came, self._clock.now(), conditional=conditions is not None, tried=tried)
        finally:
            self._mark(0)
            if has_body:
                self._loop_time.end()

    def _receive(
        self,
        task: PageTask,
        policy: PageSettings,
        conditions: Validators | None,
        attempts: list[Attempt],
        began: int,
        stand_aside: Callable[[], None] | None,
    ) -> Coroutine[Any, Any, ReceiveResult]:
        instruction = task.order.instruction
        fresh = instruction is not None and instruction.new_connections
        hand_off = partial(self._hand_over, task, conditions, began, attempts, fresh) if self._handoff else None
        request = self._request(task, policy, conditions, hand_off, stand_aside)
        if instruction is None:
            return self._tries.receive(request, attempts, further=policy.tries)
        # "Any number of times" (T60) knows no answer that would end it, but the page itself.
        is_again = instruction.kind == "again"
        further = instruction.times - 1 if is_again else 0
        return self._tries.receive(request, attempts, further=further, fresh=fresh, retry_all=is_again)

    def _request(
        self,
        task: PageTask,
        policy: PageSettings,
        conditions: Validators | None,
        hand_off: Callable[[RequestProgress], Awaitable[RequestProgress | CheckResult | FetchRefused]] | None = None,
        stand_aside: Callable[[], None] | None = None,
    ) -> PageRequest:
        return PageRequest(
            task.url,
            task.host,
            policy,
            conditions,
            task.secrets,
            wanted=self._wanted,
            page_id=task.page_id,
            unasked=self._unasked,
            hand_off=hand_off,
            stand_aside=stand_aside,
            takes_accepted=task.state is not None and policy.suspects == "hold",
            awaits_html=awaits_html(task, policy),
            in_browser=policy.fetch == "browser",
            compares_picture=policy.fetch == "browser" and compares_pictures(policy),
        )

    async def _hand_over(
        self,
        task: PageTask,
        conditions: Validators | None,
        began: int,
        attempts: list[Attempt],
        fresh: bool,  # noqa: FBT001 - bound ahead
        so_far: RequestProgress,
    ) -> RequestProgress | CheckResult | FetchRefused:
        """Continue at the fetcher that serves the next host."""
        if self._handoff is None:
            raise HandoffRequired(so_far)
        return await self._handoff.hand_off(CheckHandoff(so_far, task, conditions, began, len(attempts), fresh))

    def _held_until(self, host: str) -> Instant | None:
        """Return until when a host asked for no requests, None if it did not; the store keeps it over restarts."""
        held_s = self._gates.held_s(host)
        return self._clock.now() + round(held_s * 1_000_000) if held_s > 0 else None

    def _tell_of_clock(self, task: PageTask, now: Instant) -> None:
        """Warn once of a clock that was set back: until it catches up, every change comes too soon (T43)."""
        back = clock_back(task, now)
        if back is not None:
            self._told_of_clock = True
            mend = "set the clock; if it was ahead before, changes are told again once it has caught up"
            values: JsonObject = {"page_id": task.page_id, "url": task.url, "by": show_span(back), "mend": mend}
            self._telemetry.emit(Happening("clock.back", "warning", values))


def chosen(ends: CheckEnds, *, is_outage: bool) -> CheckResult:
    """Choose the result of a check: the usual one, or that of an outage (T61)."""
    return ends.in_outage if is_outage and ends.in_outage is not None else ends.result


async def _settled(outage: OutageWatch) -> bool:
    """Wait until a doubt about our own connection is settled; returns whether it fails."""
    answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def give(is_outage: bool) -> None:  # noqa: FBT001 - as `hold` gives it
        if not answer.done():
            answer.set_result(is_outage)

    outage.hold(give)
    return await answer


def put_off(conclude: Conclusion, url: str, now: Instant) -> CheckResult:
    """Conclude without a request: our own connection fails, and the user waits for an answer."""
    error = FetchFailed(url, FailureKind.CONNECT, "our own connection fails; no request was made")
    return conclude.deferred([], now + OUTAGE_PAUSE_US, error=error)


def tell(result: CheckResult, telemetry: Telemetry) -> None:
    """Log what is worth a line."""
    if result.verdict is not None:
        verdict = result.verdict
        values = _named(result) | {"reason": verdict.reason, "rule": verdict.rule, "basis": verdict.basis}
        if result.report.signals:
            values["signals"] = list(result.report.signals)
        telemetry.emit(Happening(f"page.{result.verdict.outcome}", "info", values))
    elif result.failure is not None:
        values = _named(result) | {"cause": result.failure.cause, "tries": len(result.failure.attempts)}
        telemetry.emit(Happening("page.unreachable", "warning", values))
    elif result.report.error is not None and result.report.error[0] == REFUSED_SETTINGS:
        telemetry.emit(Happening("page.held", "warning", _named(result) | {"error": result.report.error[1]}))
    elif result.alerts:
        alert = result.alerts[-1]
        values = _named(result) | {"summary": alert.summary}
        if result.suspected:
            values["evidence"] = result.report.problem
        telemetry.emit(Happening(f"page.{kind_of(alert.type)}", "warning" if result.suspected else "info", values))
    elif result.report.problem is not None:
        telemetry.emit(Happening("page.odd", "debug", _named(result) | {"problem": result.report.problem}))


def _without_request(conclude: Conclusion, policy: PageSettings) -> CheckResult:
    return conclude.off() if policy.mode == "off" else conclude.skipped()


def _named(result: CheckResult) -> JsonObject:
    return {"page_id": result.page_id, "url": result.report.url}


def is_too_near(task: PageTask, policy: PageSettings, now: int) -> bool:
    """Tell whether the page was received so recently that no request may be made (T21)."""
    if task.last.set_at is None or not policy.min_gap:
        return False
    return 0 <= now - task.last.set_at <= round(policy.min_gap.total_seconds() * 1_000_000)


def _conditions(task: PageTask, policy: PageSettings, unconditional_every: int) -> Validators | None:
    """The page's validators, but for an unconditional request now and then, and where a 304 would prove nothing.

    That is so when the page is asked for otherwise than when its state was read, when it is read otherwise, when its
    signals were never read, and when it failed: some servers fail at the conditions. A browser has no conditions.
    """
    if task.state is None or task.last.conditional_run >= unconditional_every or task.order.question_id is not None:
        return None
    if policy.fetch == "browser" or must_be_read(policy, task.beside, task.state.fields):
        return None
    return task.last.validators if is_read_as_before(task.last.body_digest, asked_as(policy, task.secrets)) else None
