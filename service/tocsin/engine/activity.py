"""What a running engine counts of its work, and the record of it that survives restarts."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct

from tocsin.errors import DeliveryError, StoreError
from tocsin.events import Happening
from tocsin.model import ActivityRow, SerializedEvent
from tocsin.ports.care import FigureStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tocsin.model import CheckResult, Instant, StoreFigures
    from tocsin.ports import Channel, Clock, Telemetry


CHECK_MS: Final = (50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000)
"""The bounds by which the duration of checks is told."""
COMMIT_MS: Final = (5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000)
"""The same of batches on their way into the store."""
_RESULTS: Final = {"channel": "failed", "alert": "refused", "gone": "gone", "ours": "ours"}
SPAN_US: Final = 300_000_000
"""What one row of activity tells of."""
LOOK_S: Final = 15.0
"""How often the store's figures are read."""
NOTE_US: Final = 60_000_000
"""How often what was counted is noted, at least: so much is lost by a kill."""
KEPT: Final = timedelta(days=90)
_PRUNE_US: Final = 3_600_000_000


class Histogram:
    """How often something took how long.

    bounds  milliseconds, growing
    counts  of what took no longer than the bound at the same place; the last of what took longer than all
    """

    __slots__ = ("bounds", "counts", "total_ms")

    def __init__(self, bounds: tuple[int, ...]) -> None:
        self.bounds, self.counts, self.total_ms = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, took_ms: float) -> None:
        """Count one."""
        self.counts[bisect_left(self.bounds, took_ms)] += 1
        self.total_ms += took_ms


class EngineCounts:
    """Everything that was counted since the start; numbers only grow, but for `streams`.

    Implements `ports.Telemetry`, as some of it is known from happenings alone.
    outcomes    checks that were written, by outcome
    renderings  by what became of them: given, failed
    deliveries  by channel and result: accepted, refused (that alert), failed (the channel), gone, ours (a shortage)
    problems    happenings that are warnings or errors, by level
    answers     of the HTTP edge, by class of status ("2xx"); "none": the request broke off before
    streams     readers of /events now
    """

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.renderings: Counter[str] = Counter()
        self.deliveries: Counter[tuple[str, str]] = Counter()
        self.problems: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.checks_took, self.commits_took = Histogram(CHECK_MS), Histogram(COMMIT_MS)
        self.wire_bytes = self.saved_bytes = self.not_modified = 0
        self.fetcher_restarts = self.store_failures = self.clock_steps_back = 0
        self.streams = 0

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

    def emit(self, happening: Happening) -> None:
        """Count what happened, where it counts."""
        if happening.level in {"warning", "error"}:
            self.problems[happening.level] += 1
        count = _KNOWN.get(happening.name)
        if count is not None:
            count(self, happening.values)


class CountedChannel:
    """A channel whose answers are counted; implements `ports.Channel`.

    on_shortage  is told of what this machine was short of when the channel was to be given something
    """

    def __init__(
        self, channel: Channel, counts: EngineCounts, on_shortage: Callable[[str], None] = lambda _error: None
    ) -> None:
        self.name, self.at_once, self._channel, self._counts = channel.name, channel.at_once, channel, counts
        self._on_shortage = on_shortage

    async def deliver(self, event: SerializedEvent) -> None:
        """Give it the event."""
        try:
            await self._channel.deliver(event)
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


def _committed(counts: EngineCounts, values: dict[str, Any]) -> None:
    counts.commits_took.add(values["took_ms"])


def _rendered(result: str) -> Callable[[EngineCounts, dict[str, Any]], None]:
    def count(counts: EngineCounts, _values: dict[str, Any]) -> None:
        counts.renderings[result] += 1

    return count


def _one_more(name: str, by: int = 1) -> Callable[[EngineCounts, dict[str, Any]], None]:
    def count(counts: EngineCounts, _values: dict[str, Any]) -> None:
        setattr(counts, name, getattr(counts, name) + by)

    return count


_KNOWN: Final[dict[str, Callable[[EngineCounts, dict[str, Any]], None]]] = {
    "clock.stepped_back": _one_more("clock_steps_back"),
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
    """What is needed of the store."""

    async def note_activity(self, row: ActivityRow) -> None:
        """See `ports.BrowseStore`."""

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        """See `ports.BrowseStore`."""


class _CountsAt(Struct, frozen=True):
    """How far the counts had come when something was last noted."""

    at: Instant
    outcomes: Counter[str]
    alerts: int = 0
    rendered: int = 0
    wire_bytes: int = 0
    saved_bytes: int = 0


class ActivityRecorder:
    """Reads the store's figures now and then, and notes what was done, one row a minute at most.

    counts   what is counted since the start
    figures  as last read; None before the first time, and where the store cannot say
    alerts   published since the start, by type and outcome
    """

    def __init__(self, store: ActivityStore, counts: EngineCounts, clock: Clock, telemetry: Telemetry) -> None:
        self._store, self._counts, self._clock, self._telemetry = store, counts, clock, telemetry
        self.figures: StoreFigures | None = None
        self.alerts: dict[tuple[str, str], int] = {}
        self._mark = self._here(clock.now())
        self._pruned_at: Instant | None = None
        self._failing = set[str]()

    async def run(self) -> None:
        """Look and note, until cancelled."""
        while True:
            await self._trying("look", self.look)
            now = self._clock.now()
            # A row is closed with its five minutes, so that nothing of them is told of the next.
            to_end_s = (SPAN_US - now % SPAN_US) / 1_000_000
            await self._clock.sleep(min(LOOK_S, to_end_s))
            now = self._clock.now()
            if now - self._mark.at >= NOTE_US or now // SPAN_US != self._mark.at // SPAN_US:
                await self._trying("note", self.note)

    async def look(self) -> None:
        """Read the store's figures."""
        after = self.figures.position if self.figures is not None else None
        found = await self._store.figures(self._clock.now(), after=after)
        for kind, number in found.alerts.items():
            self.alerts[kind] = self.alerts.get(kind, 0) + number
        self.figures = found

    async def note(self) -> None:
        """Note what was done since the last time, in the row in which that began; nothing is noted of nothing."""
        before, here = self._mark, self._here(self._clock.now())
        row = ActivityRow(
            at=before.at - before.at % SPAN_US,
            outcomes=dict(here.outcomes - before.outcomes),
            alerts=here.alerts - before.alerts,
            rendered=here.rendered - before.rendered,
            wire_bytes=here.wire_bytes - before.wire_bytes,
            saved_bytes=here.saved_bytes - before.saved_bytes,
        )
        if row != ActivityRow(row.at, {}):
            await self._store.note_activity(row)
        # What could not be written is still owed, and written with the next.
        self._mark = here
        if self._pruned_at is None or here.at - self._pruned_at >= _PRUNE_US:
            await self._store.prune_activity(here.at, keep=KEPT)
            self._pruned_at = here.at

    async def finish(self) -> None:
        """Note the rest."""
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
        )

    async def _trying(self, name: str, step: Callable[[], Awaitable[None]]) -> None:
        """Do it; a store that cannot do this step is told of once, until it can again."""
        try:
            await step()
        except StoreError as exc:
            if name not in self._failing:
                self._telemetry.emit(Happening("activity.failed", "warning", {"step": name, "error": str(exc)}))
            self._failing.add(name)
        else:
            self._failing.discard(name)
