"""When alerts may go: quiet hours, occasions of digests, windows of `at_most`. Pure; local times are of one zone.

A local time is the first instant at which the clock of the zone shows it or a later one. So in an hour that a clock
change repeats the earlier instant counts, and a time that it leaves out is the moment of the change.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from tocsin.configuration.convert import parse_span
from tocsin.engine.judging.cadence import occurrence_after
from tocsin.model import EPOCH, RateLimit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.model import Instant

_MICROSECOND: Final = timedelta(microseconds=1)
_MINUTE_US: Final = 60_000_000
_WEEK: Final = timedelta(weeks=1)
_SPANS_US: Final = {"minute": _MINUTE_US, "hour": 60 * _MINUTE_US}


def first_instant(local: datetime, zone: tzinfo) -> Instant:
    """Return the first instant at which the zone's clock shows this local time or a later one.

    local  without a time zone, in whole minutes
    """
    early, late = (_instant(local.replace(tzinfo=zone, fold=fold)) for fold in (1, 0))
    if _local(late, zone) == local:
        # Of a time that is shown twice, `fold` 0 is the first.
        return late
    # The clock leaves this time out: `fold` 0 is after its change, 1 before it.
    while late - early > _MINUTE_US:
        middle = early + (late - early) // _MINUTE_US // 2 * _MINUTE_US
        if _local(middle, zone) >= local:
            late = middle
        else:
            early = middle
    return late


def _instant(at: datetime) -> Instant:
    return (at.astimezone(UTC) - EPOCH) // _MICROSECOND


def _local(at: Instant, zone: tzinfo) -> datetime:
    return (EPOCH + timedelta(microseconds=at)).astimezone(zone).replace(tzinfo=None)


class QuietHours:
    """Times of the week at which nothing is sent.

    spans  of `parse_times`; not all of the week
    """

    def __init__(self, spans: Sequence[tuple[int, int]], time_zone: str) -> None:
        self._spans, self._zone = spans, ZoneInfo(time_zone)
        # From when to when the latest answer holds, and whether it is quiet then: many alerts ask in one night.
        self._known: tuple[Instant, Instant, bool] = (0, 0, False)

    def end_of(self, at: Instant) -> Instant | None:
        """Return when the quiet time around this instant ends, after it; None if it is not quiet then."""
        if not self._spans:
            return None
        start, end, is_quiet = self._known
        if not start <= at < end:
            start, end, is_quiet = self._known = self._around(at)
        return end if is_quiet else None

    def after(self, at: Instant) -> Instant:
        """Return this instant, or the end of the quiet time that it is in."""
        return self.end_of(at) or at

    def _around(self, at: Instant) -> tuple[Instant, Instant, bool]:
        spans = list(self._spans_near(at))
        quiet = next((span for span in spans if span[0] <= at < span[1]), None)
        if quiet is None:
            since = max((end for _, end in spans if end <= at), default=at)
            return since, min((start for start, _ in spans if start > at), default=at + 1), False
        start, end = quiet
        # A clock change may leave out the time between two spans.
        while (longer := next((ends for begins, ends in spans if begins <= end < ends), None)) is not None:
            end = longer
        return start, end, True

    def _spans_near(self, at: Instant) -> Iterator[tuple[Instant, Instant]]:
        today = _local(at, self._zone).replace(hour=0, minute=0, second=0, microsecond=0)
        monday = today - timedelta(days=today.weekday())
        # Of the week before, what reaches into this one; of the next week, what begins as this one ends.
        for week in (monday - _WEEK, monday, monday + _WEEK):
            for start, end in self._spans:
                # A clock change may leave a span out.
                begins, ends = (first_instant(week + timedelta(minutes=minute), self._zone) for minute in (start, end))
                if begins < ends:
                    yield begins, ends


class DigestTimes:
    """When a digest is due: at the occasions of a cron expression, or a time after its first alert.

    text  of the setting `digest`
    """

    def __init__(self, text: str, time_zone: str, quiet: QuietHours) -> None:
        self._zone, self._quiet = time_zone, quiet
        try:
            self._wait: Instant | None = parse_span(text) // _MICROSECOND
        except ValueError:
            self._wait = None
        self._cron = text

    @property
    def has_occasions(self) -> bool:
        """Whether it is due at fixed times."""
        return self._wait is None

    def after(self, at: Instant) -> Instant:
        """Return when the digest of an alert of this instant is due: after it, and not in quiet hours."""
        if self._wait is not None:
            return self._quiet.after(at + self._wait)
        return self._quiet.after(occurrence_after(at // _MINUTE_US, self._cron, self._zone))


def window_of(most: int, unit: str, at: Instant, time_zone: str) -> RateLimit:
    """Return the window of `at_most` that an instant is in.

    unit  "minute" and "hour" are those of UTC, "day" is from midnight to midnight of the zone
    """
    if unit in _SPANS_US:
        start = at - at % _SPANS_US[unit]
        return RateLimit(most, start, start + _SPANS_US[unit])
    zone = ZoneInfo(time_zone)
    day = _local(at, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    start, end = (first_instant(day + timedelta(days=days), zone) for days in (0, 1))
    if end <= at:
        # The clock was set back over midnight: the next day has begun before, although the clock shows this one.
        start, end = end, first_instant(day + timedelta(days=2), zone)
    return RateLimit(most, start, end)
