"""What follows where the wall clock is set: it is told, and nothing waits until the clock has caught up.

Pauses are measured by the monotonic clock. But what must outlive the process is a row with a wall-clock time: when each
page is due, until when a host is left alone, when a question is announced. A clock that is set back puts them all off.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from tocsin.configuration import show_span
from tocsin.engine.judging.cadence import next_check
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import NewDueTime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.engine.hosts.lease import Lease
    from tocsin.engine.policies import Policies
    from tocsin.model import Instant, JsonObject, PageSchedule
    from tocsin.ports import Clock, Telemetry, WorkStore
    from tocsin.ports.checking import OnSpread
    from tocsin.settings import HostSettings, PageSettings

LOOK_S: Final = 0.5
LEAST_STEP_US: Final = 1_000_000
"""What changes less is how a time service usually keeps a clock right; nothing waits noticeably longer for it."""
AGAIN_S: Final = 2.0
"""When what the store could not do is tried again."""
SETTLED_S: Final = 300.0
"""By then the results of checks that began before the step are written; their pages are looked at once more."""
WHY: Final = "the clock was set back"


class ClockWatch:
    """Compares the wall clock with the monotonic one, and mends what a step back has put off.

    on_back    is told at once that the clock was set back
    on_spread  is told when hosts are due by then
    """

    def __init__(
        self,
        store: WorkStore,
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

    def configure(self, hosts: HostSettings) -> None:
        """Go on with other settings of hosts; those of pages are taken from the policies."""
        self._hosts = hosts

    async def run(self) -> None:
        """Mend what a clock that was ahead before this launch has put off; then watch the clock, until cancelled."""
        await self.mend()
        while True:
            await self._clock.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Compare the clocks, and mend what is to be mended."""
        offset_us = self._offset()
        # Compared with the look before: slow corrections are no step, however long the service runs.
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

    def _offset(self) -> int:
        return self._clock.now() - round(self._clock.monotonic() * 1_000_000)

    async def mend(self, back_us: int = 0) -> None:
        """Pull in what waits too long; a store that fails is asked again until it does not.

        back_us  by how much the clock was set back, as far as that is known
        """
        back, is_begun = timedelta(microseconds=back_us), False
        while True:
            now = self._clock.now()
            try:
                # The scheduler does so, too, but perhaps later.
                await self._policies.load(self._store)
                if not is_begun:
                    # Once: pauses would be shortened twice.
                    await self._store.pull_in_waits(now, back=back, longest=self._longest_pause())
                    is_begun = True
                moved = await self._store.pull_in(
                    self._lease.claim,
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
        """Give other due times to those of these pages that are due too late."""
        longest_us = self._longest_pause() // timedelta(microseconds=1)
        found = []
        for page in pages:
            at = _latest_due(page, self._policies.readable(page), now, longest_us, self._time_zone)
            if at < page.next_at:
                found.append(NewDueTime(page.page_id, page.next_at, at, page.next_why if _is_held(page) else WHY))
        return found


def _latest_due(page: PageSchedule, policy: PageSettings, now: Instant, longest_us: int, time_zone: str) -> Instant:
    """Tell when a page is due at the latest: a check that is to come counts as one of now."""
    is_ahead = page.checked_at > now
    if _is_held(page) or page.next_why == "first check" or page.next_why.startswith("the page's refresh"):
        # Planned for its own reason: what is left of the wait is what it was, and no more than it can be.
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
