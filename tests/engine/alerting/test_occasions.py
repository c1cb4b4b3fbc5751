"""Quiet hours, occasions of digests and windows: local times, also where clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.configuration.week import MINUTES_OF_WEEK, is_all_week, parse_times
from tocsin.engine.alerting.occasions import DigestTimes, QuietHours, first_instant, window_of
from tocsin.model import EPOCH, Instant, to_rfc3339

# Changes of an hour, of half an hour and of two, at midnight, in the south; a day left out; and none.
ZONES = (
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "Africa/Cairo", "America/Santiago",
    "Asia/Beirut", "Pacific/Apia", "Asia/Kolkata", "UTC",
)  # fmt: skip
S = 1_000_000
MINUTE = 60 * S
DAY = 24 * 60 * MINUTE


def at(text: str) -> Instant:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


def clock_changes(zone: str, year: int) -> list[Instant]:
    """Find the hours before which the zone's clock changes."""
    start = at(f"{year}-01-01T00:00:00Z")
    hours = [start + hour * 60 * MINUTE for hour in range(366 * 24)]
    shifts = [(EPOCH + timedelta(microseconds=hour)).astimezone(ZoneInfo(zone)).utcoffset() for hour in hours]
    return [hours[place] for place in range(1, len(hours)) if shifts[place] != shifts[place - 1]]


CHANGES = {zone: clock_changes(zone, 2025) + clock_changes(zone, 2011) for zone in ZONES}
NEAR_CHANGES = st.sampled_from(ZONES).flatmap(
    lambda zone: st.tuples(
        st.just(zone),
        st.sampled_from(CHANGES[zone] or [at("2025-03-30T01:00:00Z")]).flatmap(
            lambda change: st.integers(change - 2 * DAY, change + 2 * DAY)
        ),
    )
)
MINUTES = st.integers(0, 24 * 60 - 1).map(lambda minute: f"{minute // 60:02}:{minute % 60:02}")
TIMES = st.tuples(MINUTES, MINUTES).filter(lambda times: times[0] != times[1]).map("-".join)
DAYS = st.sampled_from(["mon", "sat,sun", "fri-mon", "wed"])
ENTRIES = st.lists(TIMES | DAYS | st.tuples(DAYS, TIMES).map(" ".join), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("entries", "spans"),
    [
        (["mon"], ((0, 1440),)),
        (["mon-wed"], ((0, 4320),)),
        (["sat", "sun"], ((7200, 10080),)),
        (["sun-mon"], ((8640, 11520),)),
        (["mon 22:00-07:00"], ((1320, 1860),)),
        (["fri 18:00-24:00", "sat"], ((6840, 8640),)),
        (["sun 22:00-07:00", "mon 06:00-08:00"], ((9960, 10560),)),
        (["mon,wed 09:00-10:00"], ((540, 600), (3420, 3480))),
        (["MON  09:00-10:00"], ((540, 600),)),
    ],
)
def test_times_of_the_week_are_joined(entries: list[str], spans: tuple[tuple[int, int], ...]) -> None:
    assert parse_times(entries) == spans


@pytest.mark.parametrize("entry", ["", " ", "22:00", "7:00-8:00", "24:00-07:00", "08:00-24:30", "00:00-00:00", "day",
                                   "mon-", "mon tue", "22:00-07:00 mon", "mon-fri, sat", "25:00-07:00"])  # fmt: skip
def test_what_is_no_time_of_the_week_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match=r"^.*$") as caught:
        parse_times(["sat", entry])

    assert caught.value.args == (entry,)


@given(ENTRIES)
def test_spans_of_the_week_are_disjoint_and_in_order(entries: list[str]) -> None:
    spans = parse_times(entries)

    assert all(start < end for start, end in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    assert is_all_week(spans) or spans[-1][1] - MINUTES_OF_WEEK < spans[0][0]


@pytest.mark.parametrize(
    ("zone", "quiet", "now", "due"),
    [
        ("UTC", ["22:00-07:00"], "2026-11-22T21:59:59Z", None),
        ("UTC", ["22:00-07:00"], "2026-11-22T22:00:00Z", "2026-11-23T07:00:00Z"),
        ("UTC", ["22:00-07:00"], "2026-11-23T07:00:00Z", None),
        ("Europe/Berlin", ["22:00-07:00", "sat", "sun"], "2026-11-20T21:30:00Z", "2026-11-23T06:00:00Z"),
        # 02:30 is left out on 29 March: quiet ends, and begins, when the clock passes it.
        ("Europe/Berlin", ["22:00-02:30"], "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", ["02:30-07:00"], "2026-03-29T00:59:59Z", None),
        ("Europe/Berlin", ["02:30-07:00"], "2026-03-29T01:00:00Z", "2026-03-29T05:00:00Z"),
        # 02:30 is shown twice on 25 October: the earlier one counts, both for an end and for a beginning.
        ("Europe/Berlin", ["22:00-02:30"], "2026-10-25T00:29:00Z", "2026-10-25T00:30:00Z"),
        ("Europe/Berlin", ["22:00-02:30"], "2026-10-25T01:15:00Z", None),
        ("Europe/Berlin", ["02:30-07:00"], "2026-10-25T00:29:00Z", None),
        ("Europe/Berlin", ["02:30-07:00"], "2026-10-25T01:15:00Z", "2026-10-25T06:00:00Z"),
        # All of the free time between two quiet times is left out.
        ("Europe/Berlin", ["22:00-02:10", "02:20-07:00"], "2026-03-29T00:00:00Z", "2026-03-29T05:00:00Z"),
        # A whole day is left out: Friday, 30 December 2011.
        ("Pacific/Apia", ["fri"], "2011-12-30T09:00:00Z", None),
        ("Pacific/Apia", ["thu 20:00-12:00"], "2011-12-30T08:00:00Z", "2011-12-30T10:00:00Z"),
    ],
)
def test_quiet_hours_end_at_local_times(zone: str, quiet: list[str], now: str, due: str | None) -> None:
    end = QuietHours(parse_times(quiet), zone).end_of(at(now))

    assert (to_rfc3339(end, digits=0) if end is not None else None) == due


@given(NEAR_CHANGES, ENTRIES, st.lists(st.integers(0, 3 * DAY), max_size=5))
def test_quiet_hours_move_nothing_to_an_earlier_time_and_end_within_a_week(
    place: tuple[str, Instant], entries: list[str], later: list[int]
) -> None:
    spans = parse_times(entries)
    if is_all_week(spans):
        return
    zone, now = place
    quiet = QuietHours(spans, zone)
    for moment in (now, *(now + each for each in later), now):
        due = quiet.after(moment)
        assert moment <= due <= moment + 9 * DAY
        assert quiet.end_of(due) is None
        # What was asked before changes no answer.
        assert due == QuietHours(spans, zone).after(moment)


@given(NEAR_CHANGES, st.integers(0, 24 * 60 - 1))
def test_a_local_time_is_the_first_instant_at_which_the_clock_has_reached_it(
    place: tuple[str, Instant], minute: int
) -> None:
    zone = ZoneInfo(place[0])
    day = (EPOCH + timedelta(microseconds=place[1])).astimezone(zone).replace(hour=0, minute=0, second=0, tzinfo=None)
    local = day.replace(microsecond=0) + timedelta(minutes=minute)

    found = first_instant(local, zone)

    def shown(instant: Instant) -> datetime:
        return (EPOCH + timedelta(microseconds=instant)).astimezone(zone).replace(tzinfo=None)

    assert shown(found) >= local
    assert shown(found - MINUTE) < local


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("cron", ["0 7 * * *", "30 2 * * *", "0 0 * * mon-fri", "*/30 * * * *", "15 1,2,3 * * *"])
def test_a_digest_has_an_occasion_each_day_also_where_the_clock_changes(zone: str, cron: str) -> None:
    times = DigestTimes(cron, zone, QuietHours((), zone))
    for change in CHANGES[zone]:
        now = change - 3 * DAY
        days = set()
        while now < change + 3 * DAY:
            due = times.after(now)
            # Never the same one twice, and none that another start would give instead.
            assert now < due <= now + 4 * DAY
            assert times.after((now + due) // 2) == due
            days.add((EPOCH + timedelta(microseconds=due)).astimezone(ZoneInfo(zone)).date())
            now = due
        first, last = min(days), max(days)
        expected = {first + timedelta(days=number) for number in range((last - first).days + 1)}
        if zone == "Pacific/Apia":
            # Friday, 30 December 2011 is left out, so its midnight is that of Saturday.
            expected -= {datetime(2011, 12, 30, tzinfo=UTC).date()}
            days -= {datetime(2011, 12, 31, tzinfo=UTC).date()}
            expected -= {datetime(2011, 12, 31, tzinfo=UTC).date()}
        assert days == {day for day in expected if "fri" not in cron or day.weekday() < 5}


def test_a_digest_by_duration_is_due_that_long_after_its_first_alert_and_not_in_quiet_hours() -> None:
    quiet = QuietHours(parse_times(["22:00-07:00"]), "UTC")
    times = DigestTimes("1h", "UTC", quiet)

    assert times.after(at("2026-11-22T20:30:00Z")) == at("2026-11-22T21:30:00Z")
    assert times.after(at("2026-11-22T21:30:00Z")) == at("2026-11-23T07:00:00Z")
    assert not times.has_occasions


def test_occasions_in_quiet_hours_are_one_after_them() -> None:
    times = DigestTimes("0 */2 * * *", "UTC", QuietHours(parse_times(["22:00-07:00"]), "UTC"))

    assert times.after(at("2026-11-22T20:30:00Z")) == at("2026-11-23T07:00:00Z")
    assert times.after(at("2026-11-23T07:00:00Z")) == at("2026-11-23T08:00:00Z")


@pytest.mark.parametrize(
    ("unit", "zone", "now", "start", "end"),
    [
        ("minute", "UTC", "2026-11-22T10:10:59Z", "2026-11-22T10:10:00Z", "2026-11-22T10:11:00Z"),
        ("hour", "UTC", "2026-11-22T10:10:59Z", "2026-11-22T10:00:00Z", "2026-11-22T11:00:00Z"),
        ("day", "Europe/Berlin", "2026-03-29T10:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("day", "Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
    ],
)
def test_a_window_is_a_minute_an_hour_or_a_local_day(unit: str, zone: str, now: str, start: str, end: str) -> None:
    window = window_of(20, unit, at(now), zone)

    assert (window.most, to_rfc3339(window.start, digits=0), to_rfc3339(window.end, digits=0)) == (20, start, end)


@given(NEAR_CHANGES, st.sampled_from(["minute", "hour", "day"]))
def test_an_instant_is_in_its_window_and_windows_follow_one_another(place: tuple[str, Instant], unit: str) -> None:
    zone, now = place
    window = window_of(1, unit, now, zone)

    assert window.start <= now < window.end
    assert window_of(1, unit, window.end, zone).start == window.end
    assert window_of(1, unit, window.start, zone) == window
