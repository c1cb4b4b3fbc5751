"""When a page is checked next. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import log2
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim

from tocsin.configuration import show_span
from tocsin.engine.judging.pace import interval_s, rate_of
from tocsin.errors import SettingsError
from tocsin.model import Instant, phase_of
from tocsin.model.knowledge import ChangePace
from tocsin.settings import PageSettings

CRON_SPREAD_US = 60_000_000
_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_SET_US: Final = 600_000_000
# Steps per doubling that adaptive intervals are rounded to, and grid points per interval.
_PLACES: Final = 4
_UNITS: Final = ((86_400, 48 * 3600, "d"), (3600, 2 * 3600, "h"), (60, 120, "m"))


def next_check(
    page_id: int,
    now: Instant,
    pages: PageSettings,
    *,
    time_zone: str = "UTC",
    stored_at: Instant | None = None,
    refresh_s: int | None = None,
    too_soon: bool = False,
    pace: ChangePace | None = None,
    fresh_s: int | None = None,
) -> tuple[Instant, str]:
    """Return when a page is due again, and the reason for people.

    now        start of the last set of requests that received the page, else of the check
    pages      the settings in force for the page
    time_zone  of cron expressions
    stored_at  when the latest state was stored: a declared refresh runs from there (T43)
    refresh_s  that the page declares
    too_soon   the last check came before that refresh was over, and the page is due exactly then
    pace       of its changes, for adaptive checking, and
    fresh_s    seconds that its server declares the answer fresh
    Never before `min_gap` from now (T21), nor before the refresh, up to `refresh_cap` (T43).
    """
    # T21: at the very end of the gap no request may be made yet.
    gap = now + _micros(pages.min_gap) + 1 if pages.min_gap else now
    fresh, counted_s = None, 0
    if stored_at is not None and refresh_s:
        counted_s = min(refresh_s, int(pages.refresh_cap.total_seconds()))
        # A state is stored seconds after its set began. If it seems much later, the clock was ahead, and now counts.
        fresh = (stored_at if stored_at - now < _LONGEST_SET_US else now) + counted_s * 1_000_000
    if too_soon and fresh is not None:
        return max(fresh, gap), f"the page's refresh of {counted_s} s was not over"
    if pages.cron:
        at, why = _next_of_cron(page_id, now, pages.cron, time_zone), f"cron {pages.cron}"
    elif pages.adaptive:
        at, why = _next_of_pace(page_id, now, pages, pace, fresh_s)
    else:
        at = _next_of_grid(page_id, now, _micros(pages.every))
        why = _every(pages.every)
    if at < gap:
        at, why = gap, f"not within {show_span(pages.min_gap)} of the last check"
    if fresh is not None and at < fresh:
        at, why = fresh, f"the page's refresh of {counted_s} s"
    return at, why


def interval_of(pages: PageSettings, now: Instant, *, time_zone: str = "UTC") -> timedelta:
    """Return the interval between checks; of a cron expression, between its next two occurrences.

    Adaptive pages count with `every`, as most of them are checked less often than that.
    """
    if not pages.cron:
        return pages.every
    first = occurrence_after(now // 60_000_000, pages.cron, time_zone)
    return (occurrence_after(first // 60_000_000, pages.cron, time_zone) - first) * _MICROSECOND


@lru_cache(maxsize=1024)
def _every(span: timedelta) -> str:
    return f"every {show_span(span)} (jittered)"


def _next_of_grid(page_id: int, now: Instant, every: int) -> Instant:
    """Return the page's last grid point that is at most an interval away.

    A page off its grid (after its first check, a manual check, a retry) returns to it by one shorter interval.
    """
    # From then on each interval is exactly `every`: a check that began late does not delay the next one.
    latest = now + every
    return latest - (latest - int(phase_of(page_id) * every)) % every


def _next_of_pace(
    page_id: int, now: Instant, pages: PageSettings, pace: ChangePace | None, fresh_s: int | None
) -> tuple[Instant, str]:
    """Return the next check of a page whose interval follows its changes, within the user's bounds.

    The interval is rounded to steps, and starts on a grid of a quarter of it, to which a page returns by one shorter
    interval. A lower bound is kept exactly.
    """
    # The grid keeps intervals equal while nothing new is learnt, and separates pages that an outage brought together.
    every, least, most = _bounds_of(pages.every, pages.every_min, pages.every_max)
    wish, said, held, shortest = every, "nothing known yet", "", least
    if pace is not None:
        rate = rate_of(pace, every / 1e6)
        steps = round(log2(interval_s(rate, every / 1e6) * 1e6 / every) * _PLACES)
        wish = round(every * 2.0 ** (steps / _PLACES))
        said = _found(pace, rate)
    if fresh_s is not None and wish < (fresh := min(fresh_s * 1_000_000, every)):
        wish, held, shortest = fresh, ", as its server says", max(fresh, least)
    if wish <= least:
        wish, held = least, ", not more often"
    elif wish >= most:
        wish, held = most, ", not less often"
    grid = max(wish // _PLACES, 1)
    latest = now + wish
    at = latest - (latest - int(phase_of(page_id) * grid)) % grid
    if at < now + shortest:
        at = latest
    return at, f"adaptive: {said}; every {_about(wish / 1e6)}{held}"


@lru_cache(maxsize=1024)
def _bounds_of(every: timedelta, least: timedelta, most: timedelta) -> tuple[int, int, int]:
    """Convert the bounds to microseconds; if two levels of settings contradict each other, the lower bound wins."""
    return _micros(every), _micros(least), _micros(max(least, most))


def _found(pace: ChangePace, rate: float) -> str:
    """Describe a page's changes, rounded so that many pages share the text."""
    checks, changes = max(round(pace.checks), 1), round(pace.found + pace.dated)
    often = f", about every {_about(1 / rate)}" if changes else ""
    return f"changed in {changes} of {checks} checks{often}"


def _about(span_s: float) -> str:
    """Write a span in whole numbers of one unit."""
    for unit_s, from_s, name in _UNITS:
        if span_s >= from_s:
            return f"{round(span_s / unit_s)}{name}"
    return f"{round(span_s)}s"


def _next_of_cron(page_id: int, now: Instant, text: str, time_zone: str) -> Instant:
    # Subtracted first and added afterwards, so that no occurrence is met twice or missed.
    jitter = int(phase_of(page_id) * CRON_SPREAD_US)
    return occurrence_after((now - jitter) // 60_000_000, text, time_zone) + jitter


@lru_cache(maxsize=4096)  # pages share their expressions, and many are checked in one minute
def occurrence_after(minute: int, text: str, time_zone: str) -> Instant:
    """Return a cron expression's first occurrence after a minute (from the epoch); occurrences have no seconds."""
    start = datetime.fromtimestamp(minute * 60, _zone(time_zone))
    # In an hour that the clock repeats cronsim also gives occasions of its first run, which are over.
    at = next(at for at in CronSim(text, start) if at.astimezone(UTC) > start.astimezone(UTC))
    return (at.astimezone(UTC) - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=16)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as exc:
        raise SettingsError(f'time_zone {name!r}: no such time zone; write one such as "Europe/Vienna"') from exc


def _micros(span: timedelta) -> int:
    return span // _MICROSECOND
