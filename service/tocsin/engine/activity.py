"""What a running engine counts of its work, and the record of it that survives restarts."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from msgspec import Struct

from tocsin.engine.hosts.duties import Duty, SoleDuty
from tocsin.errors import DeliveryError, StoreError
from tocsin.events import Happening
from tocsin.model import LATE_ALERT_S, ActivityRow, CrowdedHosts, Findings
from tocsin.ports.care import FigureStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tocsin.model import CheckResult, Instant, NamedLease, StoreFigures
    from tocsin.ports import Channel, Clock, Notification, Telemetry


# Upper bounds of the buckets for durations of checks, in milliseconds.
CHECK_MS: Final = (50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000)
# The same for how late checks begin; as ActivityRow.delays names them.
DELAY_MS: Final = (100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000, 1_800_000, 7_200_000)
_DELAYS: Final = (*map(str, DELAY_MS), "")
# The same for commits of batches.
COMMIT_MS: Final = (5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000)
_RESULTS: Final = {"channel": "failed", "alert": "refused", "gone": "gone", "ours": "ours"}
# Time that one row of activity covers.
SPAN_US: Final = 300_000_000
# Interval of reading the store's figures.
LOOK_S: Final = 15.0
# Longest interval of writing the counters: a kill loses this much.
NOTE_US: Final = 60_000_000
KEPT: Final = timedelta(days=90)
# Rows are pruned by age, so once an hour is enough.
_PRUNE_US: Final = 3_600_000_000


class Histogram:
    """A histogram of durations.

    bounds  upper bounds of the buckets in milliseconds, ascending
    counts  one per bucket, and one for longer durations
    """

    __slots__ = ("bounds", "counts", "total_ms")

    def __init__(self, bounds: tuple[int, ...]) -> None:
        self.bounds, self.counts, self.total_ms = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, took_ms: float) -> None:
        """Count one duration."""
        self.counts[bisect_left(self.bounds, took_ms)] += 1
        self.total_ms += took_ms


class EngineCounts:
    """Counters since the start; all but `streams` only grow.

    Implements `ports.Telemetry`, since some events are known from happenings alone.
    outcomes    checks that were written, by outcome
    renderings  given or failed
    began_late  checks, by how long after their due times they began
    deliveries  by channel and result: accepted, refused (that alert), failed (the channel), gone, ours (a shortage)
    problems    happenings that are warnings or errors, by level
    late        deliveries that were accepted later than `LATE_ALERT_S` after they were due
    answers     of the HTTP edge, by class of status ("2xx"); "none": the request broke off before
    streams     readers of /events now
    browser_visits  by what became of them: read, withheld (robots.txt, the host's gate, the user), missing (there was
                no browser), or the kind of failure
    """

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.renderings: Counter[str] = Counter()
        self.deliveries: Counter[tuple[str, str]] = Counter()
        self.problems: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.checks_took, self.commits_took = Histogram(CHECK_MS), Histogram(COMMIT_MS)
        self.began_late = Histogram(DELAY_MS)
        self.wire_bytes = self.saved_bytes = self.not_modified = 0
        self.fetcher_restarts = self.store_failures = self.clock_steps_back = self.egress_refusals = 0
        self.refused_results = self.streams = self.late = self.browser_refusals = 0
        self.browser_visits: Counter[str] = Counter()
        self.visits_took, self.visits_waited = Histogram(CHECK_MS), Histogram(CHECK_MS)

    def committed(self, results: Sequence[CheckResult]) -> None:
        """Count a batch that was written."""
        outcomes, bounds, counts = self.outcomes, self.checks_took.bounds, self.checks_took.counts
        reports = [result.report for result in results]
        outcomes.update([report.outcome for report in reports])
        took = [report.elapsed_ms for report in reports]
        for took_ms in took:
            counts[bisect_left(bounds, took_ms)] += 1
        self.checks_took.total_ms += sum(took)
        self.wire_bytes += sum([report.bytes for report in reports])
        self.saved_bytes += sum([report.saved_bytes for report in reports])
        self.not_modified += sum([report.not_modified for report in reports])
        bounds, counts = self.began_late.bounds, self.began_late.counts
        for result in results:
            if (due_at := result.order.due_at) is not None:
                counts[bisect_left(bounds, (result.checked_at - due_at) / 1000)] += 1

    def accepted(self, late_s: float) -> None:
        """Count a delivery that a channel accepted so long after it was due."""
        self.late += late_s > LATE_ALERT_S

    def emit(self, happening: Happening) -> None:
        """Count a happening, if there is a counter for it."""
        if happening.level in {"warning", "error"}:
            self.problems[happening.level] += 1
        count = _KNOWN.get(happening.name)
        if count is not None:
            count(self, happening.values)


class CountedChannel:
    """A channel whose answers are counted; implements `ports.Channel`.

    on_shortage  receives the resource that this machine was short of during a delivery
    """

    def __init__(
        self, channel: Channel, counts: EngineCounts, on_shortage: Callable[[str], None] = lambda _error: None
    ) -> None:
        self.name, self.at_once, self.takes_messages = channel.name, channel.at_once, channel.takes_messages
        self._channel, self._counts = channel, counts
        self._on_shortage = on_shortage

    async def deliver(self, notification: Notification) -> None:
        """Give it the alert."""
        try:
            await self._channel.deliver(notification)
        except DeliveryError as exc:
            self._counts.deliveries[self.name, _RESULTS.get(exc.blames, "failed")] += 1
            if exc.blames == "ours":
                self._on_shortage(exc.detail)
            raise
        self._counts.deliveries[self.name, "accepted"] += 1

    async def close(self) -> None:
        """Let go of connections and files."""
        await self._channel.close()


def _answered(counts: EngineCounts, values: dict[str, Any]) -> None:
    status = values["status"]
    counts.answers["none" if status is None else f"{status // 100}xx"] += 1


def _visited(counts: EngineCounts, values: dict[str, Any]) -> None:
    counts.browser_visits[values["result"]] += 1
    counts.visits_took.add(values["took_ms"])
    counts.visits_waited.add(values["waited_ms"])


def _browser_refused(counts: EngineCounts, values: dict[str, Any]) -> None:
    counts.browser_refusals += values["times"]


def _committed(counts: EngineCounts, values: dict[str, Any]) -> None:
    counts.commits_took.add(values["took_ms"])


def _rendered(result: str) -> Callable[[EngineCounts, dict[str, Any]], None]:
    def count(counts: EngineCounts, _values: dict[str, Any]) -> None:
        counts.renderings[result] += 1

    return count


def _refused(counts: EngineCounts, values: dict[str, Any]) -> None:
    counts.refused_results += values["results"]


def _one_more(name: str, by: int = 1) -> Callable[[EngineCounts, dict[str, Any]], None]:
    def count(counts: EngineCounts, _values: dict[str, Any]) -> None:
        setattr(counts, name, getattr(counts, name) + by)

    return count


_KNOWN: Final[dict[str, Callable[[EngineCounts, dict[str, Any]], None]]] = {
    "browser.refused": _browser_refused,
    "browser.visited": _visited,
    "claim.lost": _refused,
    "clock.stepped_back": _one_more("clock_steps_back"),
    "egress.refused": _one_more("egress_refusals"),
    "fetcher.replaced": _one_more("fetcher_restarts"),
    "http.answered": _answered,
    "page.rendered": _rendered("given"),
    "page.unrendered": _rendered("failed"),
    "results.committed": _committed,
    "store.failed": _one_more("store_failures"),
    "stream.closed": _one_more("streams", -1),
    "stream.opened": _one_more("streams"),
}


class ActivityStore(FigureStore, Protocol):
    """The part of the store that recording activity needs."""

    def under(self, lease: NamedLease | None) -> Self:
        """See `ports.Store`."""

    async def note_activity(self, row: ActivityRow) -> None:
        """See `ports.BrowseStore`."""

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        """See `ports.BrowseStore`."""


class _CountsAt(Struct, frozen=True):
    """The counters at the time of the last row."""

    at: Instant
    outcomes: Counter[str]
    alerts: int = 0
    rendered: int = 0
    wire_bytes: int = 0
    saved_bytes: int = 0
    delays: Counter[str] = Counter()
    delivered: int = 0
    late: int = 0


class ActivityRecorder:
    """Reads the store's figures in the background, and writes the engine's activity, at most one row a minute.

    counts   counters since the start
    figures  of the store, as last read; None before the first time
    crowded  hosts, as the leader found them
    alerts   published since the start while this node led, by type and outcome
    leads    of several nodes one counts what is in the store, for all; the others read what it found
    """

    def __init__(
        self,
        store: ActivityStore,
        counts: EngineCounts,
        clock: Clock,
        telemetry: Telemetry,
        *,
        leads: Duty | None = None,
        crowded: Callable[[], CrowdedHosts] = CrowdedHosts,
    ) -> None:
        self._store, self._counts, self._clock, self._telemetry = store, counts, clock, telemetry
        self._leads: Duty = leads or SoleDuty()
        self._crowded = crowded
        self.figures: StoreFigures | None = None
        self.crowded = CrowdedHosts()
        self.alerts: dict[tuple[str, str], int] = {}
        self._mark = self._here(clock.now())
        self._pruned_at: Instant | None = None
        self._failing = set[str]()

    async def run(self) -> None:
        """Look and note, until cancelled."""
        while True:
            await self._trying("look", self.look)
            now = self._clock.now()
            # Each row ends with its five minutes, so that its counts are not attributed to the next.
            to_end_s = (SPAN_US - now % SPAN_US) / 1_000_000
            await self._clock.sleep(min(LOOK_S, to_end_s))
            now = self._clock.now()
            if now - self._mark.at >= NOTE_US or now // SPAN_US != self._mark.at // SPAN_US:
                await self._trying("note", self.note)

    async def look(self) -> None:
        """Read the store's figures."""
        if not self._leads.is_held:
            if (kept := await self._store.findings()) is not None:
                self.figures, self.crowded = kept.figures, kept.crowded
            return
        after = self.figures.position if self.figures is not None else None
        found = await self._store.figures(self._clock.now(), after=after)
        for kind, number in found.alerts.items():
            self.alerts[kind] = self.alerts.get(kind, 0) + number
        self.figures, self.crowded = found, self._crowded()
        if (lease := self._leads.lease) is not None:
            await self._store.under(lease).keep_findings(Findings(found, self.crowded))

    async def note(self) -> None:
        """Write the activity since the last time to the row in which it began; an idle engine writes nothing."""
        before, here = self._mark, self._here(self._clock.now())
        row = ActivityRow(
            at=before.at - before.at % SPAN_US,
            outcomes=dict(here.outcomes - before.outcomes),
            alerts=here.alerts - before.alerts,
            rendered=here.rendered - before.rendered,
            wire_bytes=here.wire_bytes - before.wire_bytes,
            saved_bytes=here.saved_bytes - before.saved_bytes,
            delays=dict(here.delays - before.delays),
            delivered=here.delivered - before.delivered,
            late=here.late - before.late,
        )
        if row != ActivityRow(row.at, {}):
            await self._store.note_activity(row)
        # Not reached when writing failed: those counts are written with the next row.
        self._mark = here
        if self._pruned_at is None or here.at - self._pruned_at >= _PRUNE_US:
            await self._store.prune_activity(here.at, keep=KEPT)
            self._pruned_at = here.at

    async def finish(self) -> None:
        """Write the remaining activity."""
        await self._trying("look", self.look)
        await self._trying("note", self.note)

    def _here(self, now: Instant) -> _CountsAt:
        counts = self._counts
        return _CountsAt(
            at=now,
            outcomes=counts.outcomes.copy(),
            alerts=sum(self.alerts.values()),
            rendered=counts.renderings.total(),
            wire_bytes=counts.wire_bytes,
            saved_bytes=counts.saved_bytes,
            delays=Counter(dict(zip(_DELAYS, counts.began_late.counts, strict=True))),
            delivered=sum(number for (_, result), number in counts.deliveries.items() if result == "accepted"),
            late=counts.late,
        )

    async def _trying(self, name: str, step: Callable[[], Awaitable[None]]) -> None:
        """Run a step; its failure is logged once, until it works again."""
        try:
            await step()
        except StoreError as exc:
            if name not in self._failing:
                self._telemetry.emit(Happening("activity.failed", "warning", {"step": name, "error": str(exc)}))
            self._failing.add(name)
        else:
            self._failing.discard(name)
