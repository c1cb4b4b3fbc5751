"""What a year of checks came to: how fresh what is known was, how late changes were noticed, and what that cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from benchmarks.freshness.pages import DAY, HOUR, S

_BIN: Final = 300 * S


class Outcome:
    """Sums over pages for one way to choose times.

    delays  of changes, as a histogram of five minutes a bin; a change that a later one hid before any check waits for
            the check that finds that one
    """

    def __init__(self) -> None:
        self.pages = self.requests = self.changes = self.noticed = 0
        self.watched_us = self.stale_us = self.delay_us = 0
        self.delays: Counter[int] = Counter()

    def add(self, gaps: Iterable[tuple[int, list[int]]], *, requests: int, watched_us: int) -> None:
        """Add a page.

        gaps  for each check that found a change: its time, and the changes since the check before it
        """
        self.pages += 1
        self.requests += requests
        self.watched_us += watched_us
        delays = self.delays
        for at, changes in gaps:
            self.noticed += 1
            self.changes += len(changes)
            self.stale_us += at - changes[0]
            self.delay_us += at * len(changes) - sum(changes)
            for changed_at in changes:
                delays[(at - changed_at) // _BIN] += 1

    def merge(self, other: Outcome) -> None:
        """Add what another outcome says of other pages."""
        for key in ("pages", "requests", "changes", "noticed", "watched_us", "stale_us", "delay_us"):
            setattr(self, key, getattr(self, key) + getattr(other, key))
        self.delays.update(other.delays)

    @property
    def freshness(self) -> float:
        """The share of time in which what was known of a page was what the page was, on average over pages."""
        return 1 - self.stale_us / max(self.watched_us, 1)

    @property
    def mean_delay_h(self) -> float:
        """From a change to the check that noticed it or a later one."""
        return self.delay_us / max(self.changes, 1) / HOUR

    @property
    def missed(self) -> float:
        """The share of changes that were hidden by a later one before any check."""
        return 1 - self.noticed / max(self.changes, 1)

    @property
    def requests_a_day(self) -> float:
        """Per page."""
        return self.requests / max(self.watched_us, 1) * DAY

    def quantile_h(self, share: float) -> float:
        """Within which time this share of changes was noticed."""
        return next((hours for hours, seen in self.noticed_within() if seen >= share), 0.0)

    def noticed_within(self) -> Iterator[tuple[float, float]]:
        """Pairs of (hours, share of changes that were noticed by then)."""
        seen = 0
        for place in sorted(self.delays):
            seen += self.delays[place]
            yield (place + 0.5) * _BIN / HOUR, seen / self.changes
