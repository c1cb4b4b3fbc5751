"""A year of checks of one page: by the service's own adaptive schedule, or at regular intervals."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import timedelta

from benchmarks.freshness.outcome import Outcome
from benchmarks.freshness.pages import DAY, START, Page
from tocsin.engine.judging.cadence import next_check
from tocsin.engine.judging.pace import note
from tocsin.model.knowledge import ChangePace
from tocsin.settings import PageSettings


def settings_of(every: timedelta, *, adaptive: bool) -> PageSettings:
    """Give what the service would be told; the bounds of adaptive checking are its defaults."""
    return PageSettings(every=every, adaptive=adaptive)


def check_adaptively(page: Page, pages: PageSettings, days: int, outcome: Outcome) -> None:
    """Check a page when `next_check` says so, as long as the year lasts."""
    changes, end, every_s = page.changes, START + days * DAY, pages.every.total_seconds()
    first = now = first_check(page, pages)
    gaps: list[tuple[int, list[int]]] = []
    pace: ChangePace | None = None
    since: int | None = None
    seen = bisect_right(changes, now)
    requests = 0
    while now < end:
        requests += 1
        known = bisect_right(changes, now, seen)
        if known > seen:
            gaps.append((now, changes[seen:known]))
        last = changes[known - 1] if known else page.before
        declared_at = page.declared_at(now, last)
        pace = note(pace, since=since, now=now, changed=known > seen, declared_at=declared_at, every_s=every_s)
        since, seen = now, known
        now, _ = next_check(page.number, now, pages, pace=pace)
    if seen < len(changes):
        gaps.append((end, changes[seen:]))
    outcome.add(gaps, requests=requests, watched_us=end - first)


def check_regularly(page: Page, first: int, every: timedelta, days: int, outcome: Outcome) -> None:
    """Check a page at one interval: `next_check` keeps it exactly, once the page has come to its place.

    first  when its first check is; the same for all that are compared
    """
    interval, end = every // timedelta(microseconds=1), START + days * DAY
    gaps = _regular_gaps(page.changes, first, interval, end)
    outcome.add(gaps, requests=-((first - end) // interval), watched_us=end - first)


def _regular_gaps(changes: list[int], first: int, interval: int, end: int) -> Iterator[tuple[int, list[int]]]:
    place = bisect_right(changes, first)
    while place < len(changes):
        at = min(changes[place] + (first - changes[place]) % interval, end)
        until = bisect_right(changes, at, place)
        yield at, changes[place:until]
        place = until


def first_check(page: Page, pages: PageSettings) -> int:
    """Give the time of a page's first check: in its own place in the first interval."""
    at, _ = next_check(page.number, START, settings_of(pages.every, adaptive=False))
    return at
