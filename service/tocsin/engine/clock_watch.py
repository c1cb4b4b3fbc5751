"""Steps of the wall clock: they are logged, and after a step back nothing waits until the clock has caught up.

Pauses are measured by the monotonic clock. But rows that outlive the process hold wall-clock times: due times of pages,
pauses of hosts, announcements of questions. Setting the clock back delays them all.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from tocsin.configuration import show_span
from tocsin.engine.hosts.lease import AHEAD_S
from tocsin.engine.judging.cadence import next_check
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import NewDueTime
from tocsin.ports import NodeStore, WorkStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tocsin.engine.hosts.lease import Lease
    from tocsin.engine.policies import Policies
    from tocsin.model import Instant, JsonObject, PageSchedule
    from tocsin.ports import Clock, Telemetry
    from tocsin.ports.checking import OnSpread
    from tocsin.settings import HostSettings, PageSettings

LOOK_S: Final = 0.5
# Smaller steps are usual corrections by a time service, and delay nothing noticeably.
LEAST_STEP_US: Final = 1_000_000
# Pause before a failed step is repeated.
AGAIN_S: Final = 2.0
# Time until results of checks that began before the step are written; then their pages are replanned, too.
SETTLED_S: Final = 300.0
WHY: Final = "the clock was set back"


class PlanningStore(WorkStore, NodeStore, Protocol):
    """The part of the store that the clock watch needs."""


class ClockWatch:
    """Compares the wall clock with the monotonic one, and replans what a step back has delayed.

    It does the same for parts that are taken over while a node says that its clock is ahead; implements `PartUser`.

    on_back    called at once when the clock was set back
    on_spread  receives the new due times of hosts
    """

    def __init__(
        self,
        store: PlanningStore,
        lease: Lease,
        policies: Policies,
        hosts: HostSettings,
        clock: Clock,
        telemetry: Telemetry,
        *,
        time_zone: str,
        on_back: Callable[[], None],
        on_spread: OnSpread,
    ) -> None:
        self._store, self._lease, self._policies, self._hosts = store, lease, policies, hosts
        self._clock, self._telemetry, self._time_zone = clock, telemetry, time_zone
        self._on_back, self._on_spread = on_back, on_spread
        self._offset_us = self._offset()
        self._again_s = float("inf")
        self._taken: set[int] = set()
        lease.serve(self)

    def parts_in_hand(self) -> set[int]:
        """Return no part: nothing waits for it."""
        return set()

    def on_taken(self, parts: Collection[int]) -> None:
        """Look at the due times of these parts."""
        self._taken.update(parts)

    def on_lost(self, parts: Collection[int]) -> None:
        """Leave the due times of these parts to their node."""
        self._taken.difference_update(parts)

    def configure(self, hosts: HostSettings) -> None:
        """Apply other settings of hosts; those of pages come from the policies."""
        self._hosts = hosts

    async def run(self) -> None:
        """Replan what a clock that was ahead before the start has delayed; then watch the clock, until cancelled."""
        await self.mend()
        while True:
            await self._clock.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Compare the clocks, and replan after a step back."""
        offset_us = self._offset()
        # Compared with the last look, so that slow corrections never add up to a step.
        step_us, self._offset_us = offset_us - self._offset_us, offset_us
        if step_us >= LEAST_STEP_US:
            values: JsonObject = {"by": _show(step_us)}
            self._telemetry.emit(Happening("clock.forward", "warning", values))
        elif step_us <= -LEAST_STEP_US:
            values = {"by": _show(-step_us), "mend": "checks are planned anew; see that a time service keeps the clock"}
            self._telemetry.emit(Happening("clock.stepped_back", "warning", values))
            self._on_back()
            await self.mend(-step_us)
            self._again_s = self._clock.monotonic() + SETTLED_S
        elif self._clock.monotonic() >= self._again_s:
            self._again_s = float("inf")
            await self.mend()
        elif self._taken:
            await self._mend_taken()

    async def _mend_taken(self) -> None:
        """Replan parts that were taken over, if a node with a clock that is ahead may have planned them."""
        taken, self._taken = self._taken, set()
        try:
            is_ahead = any(AHEAD_S in node.said for node in await self._store.nodes())
        except StoreError:
            self._taken |= taken
            return
        if is_ahead:
            await self.mend(parts=taken)

    def _offset(self) -> int:
        return self._clock.now() - round(self._clock.monotonic() * 1_000_000)

    async def mend(self, back_us: int = 0, *, parts: Collection[int] | None = None) -> None:
        """Shorten waits that are too long, and repeat until the store works.

        back_us  size of the step back, 0 if unknown
        parts    whose pages are planned anew; None: all that this node has
        """
        back, is_begun = timedelta(microseconds=back_us), False
        while True:
            now = self._clock.now()
            try:
                # The scheduler loads them, too, but perhaps later.
                await self._policies.load(self._store)
                claim = self._lease.claim if parts is None else self._lease.claim.only(parts)
                if not is_begun:
                    # Only once, or pauses would be shortened twice.
                    await self._store.pull_in_waits(claim, now, back=back, longest=self._longest_pause())
                    is_begun = True
                moved = await self._store.pull_in(
                    claim,
                    now,
                    every=self._policies.base.every,
                    plan=partial(self.replan, now=now),
                    on_spread=self._on_spread,
                )
            except StoreError as exc:
                self._telemetry.emit(Happening("clock.unmended", "error", {"error": str(exc)}))
                await self._clock.sleep(AGAIN_S)
            else:
                break
        if moved:
            self._telemetry.emit(Happening("clock.replanned", "info", {"pages": moved}))

    def _longest_pause(self) -> timedelta:
        of_rules = (rule.retry_after_max for rule in self._hosts.rules.values())
        return max(self._hosts.retry_after_max, *(span for span in of_rules if span is not None), timedelta(0))

    def replan(self, pages: Sequence[PageSchedule], now: Instant) -> list[NewDueTime]:
        """Return new due times for those of these pages that are due too late."""
        longest_us = self._longest_pause() // timedelta(microseconds=1)
        found = []
        for page in pages:
            at = _latest_due(page, self._policies.readable(page), now, longest_us, self._time_zone)
            if at < page.next_at:
                found.append(NewDueTime(page.page_id, page.next_at, at, page.next_why if _is_held(page) else WHY))
        return found


def _latest_due(page: PageSchedule, policy: PageSettings, now: Instant, longest_us: int, time_zone: str) -> Instant:
    """Return the latest valid due time of a page; a last check in the future counts as one of now."""
    is_ahead = page.checked_at > now
    if _is_held(page) or page.next_why == "first check" or page.next_why.startswith("the page's refresh"):
        # The wait has a reason of its own: its length is kept, up to its longest possible value.
        if not _is_held(page):
            longest_us = policy.refresh_cap // timedelta(microseconds=1)
        wait_us = page.next_at - page.checked_at if is_ahead else longest_us
        return now + max(min(wait_us, longest_us), 0)
    if not is_ahead and policy.cron:
        return page.next_at
    if not is_ahead and policy.adaptive:
        return now + max(policy.every_min, policy.every_max) // timedelta(microseconds=1)
    at, _ = next_check(page.page_id, now, policy, time_zone=time_zone)
    return at


def _is_held(page: PageSchedule) -> bool:
    return page.next_why.startswith("held:")


def _show(span_us: int) -> str:
    return show_span(timedelta(seconds=round(span_us / 1_000_000)))
