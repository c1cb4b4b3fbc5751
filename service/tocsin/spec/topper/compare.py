"""Comparing two states of a page: what changed, how much it matters, and by which rule."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from tocsin.spec.topper.dates import Interval, parse_token
from tocsin.spec.topper.state import EMPTY, FIELDS, TOPPER_FIELDS, Dates, PageState, read_dates, tokens_of


class Outcome(StrEnum):
    """The result of a comparison."""

    FIRST = "first"
    UNCHANGED = "unchanged"
    TOO_SOON = "too-soon"
    MINOR = "minor"
    MAJOR = "major"


class Reason(StrEnum):
    """Why a change is the kind of change that it is."""

    TOPPER_MAJOR = "topper-major"
    DURATION = "duration"
    MINOR_COUNT = "minor-count"
    OTHER = "other"


class Thresholds(Struct, frozen=True, gc=False):
    """Settings of the user for comparing.

    durational   from this time on, two equal states are a major change (T45)
    minor        from this number of new minor changes on, one more is major (T46); at least 1
    refresh_cap  no page's refresh counts for longer (T43)
    """

    durational: timedelta = timedelta(days=80)
    minor: int = 3
    refresh_cap: timedelta = timedelta(days=7)


DEFAULT_THRESHOLDS = Thresholds()
NO_DATES = Dates((), ())


class Comparison(Struct, frozen=True, gc=False):
    """A verdict and what led to it.

    reason       None unless there is a change
    rule         the requirement that decided
    changed      the fields that differ, in the order of a state
    minor_count  new minor changes in the latest state (T48)
    new_dates    dates of the latest state that the one before did not have
    """

    outcome: Outcome
    reason: Reason | None
    rule: str
    changed: tuple[str, ...] = ()
    minor_count: int = 0
    new_dates: Dates = NO_DATES


def compare(
    before: PageState | None, latest: PageState, elapsed: timedelta, thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Comparison:
    """Judge the change from one stored state to the next.

    before   None if the page has no earlier record
    elapsed  between the two storings; not positive if the clock went back
    Source   awareness spec 2.2.3 (T40-T48), T09, in this project's order.
    """
    changed: tuple[str, ...] = ()
    new_dates = NO_DATES
    if before is None:
        outcome, reason, rule = Outcome.FIRST, None, "T40"
        new_dates = _new_dates(EMPTY, latest)
    elif before == latest:
        outcome, reason, rule = _judge_equal(elapsed, thresholds)
    else:
        changed, new_dates = changed_fields(before, latest), _new_dates(before, latest)
        outcome, reason, rule = _judge_different(before, latest, new_dates, elapsed, thresholds)
    return Comparison(outcome, reason, rule, changed, count_minor_changes(latest), new_dates)


def changed_fields(before: PageState, latest: PageState) -> tuple[str, ...]:
    """Return the fields whose canonical values differ, in the order of a state (T42)."""
    pairs = zip(FIELDS, before.values, latest.values, strict=True)
    return tuple([field for field, old, new in pairs if old != new])


def count_minor_changes(latest: PageState) -> int:
    """Count the minor changes since the latest major one.

    latest  the state just stored; its topper fields are canonical (unique tokens, one space apart)
    Returns the number of tokens in `topper` and `topper-minor` that are not earlier than the major change
            that starts last; all of them if there is none.
    Source  awareness spec 2.2.3, last paragraph (T48).
    """
    minor = [interval for field in ("topper", "topper-minor") for interval in _intervals(tokens_of(latest, field))]
    major = _intervals(tokens_of(latest, "topper-major"))
    if not major:
        return len(minor)
    last_major = max(interval.start for interval in major)
    return sum(interval.end > last_major for interval in minor)


def _judge_equal(elapsed: timedelta, thresholds: Thresholds) -> tuple[Outcome, Reason | None, str]:
    # Step 2 precedes step 3: T45 would never fire after T42.
    if elapsed >= thresholds.durational:
        return Outcome.MAJOR, Reason.DURATION, "T45"
    return Outcome.UNCHANGED, None, "T42"


def _judge_different(
    before: PageState, latest: PageState, new_dates: Dates, elapsed: timedelta, thresholds: Thresholds
) -> tuple[Outcome, Reason | None, str]:
    refresh = min(timedelta(seconds=latest.refresh_s or 0), thresholds.refresh_cap)
    if elapsed <= timedelta(0) or elapsed < refresh:
        return Outcome.TOO_SOON, None, "T43"
    if before["topper-major"] != latest["topper-major"]:
        return Outcome.MAJOR, Reason.TOPPER_MAJOR, "T44"
    if _is_among_major(new_dates.minor, latest):
        return Outcome.MAJOR, Reason.TOPPER_MAJOR, "T09"
    if _is_among_minor(before, latest) and count_minor_changes(latest) >= max(1, thresholds.minor):
        return Outcome.MAJOR, Reason.MINOR_COUNT, "T46"
    return Outcome.MINOR, Reason.OTHER, "T47"


def _is_among_major(new_minor: tuple[str, ...], latest: PageState) -> bool:
    if not new_minor:
        return False
    return not set(_intervals(new_minor)).isdisjoint(_intervals(tokens_of(latest, "topper-major")))


def _is_among_minor(before: PageState, latest: PageState) -> bool:
    if before["topper-minor"] != latest["topper-minor"]:
        return True
    return before["topper"] != latest["topper"] and bool(tokens_of(latest, "topper"))


def _new_dates(before: PageState, latest: PageState) -> Dates:
    if all(before[field] == latest[field] for field in TOPPER_FIELDS):
        return NO_DATES
    old, new = read_dates(before), read_dates(latest)
    major, minor = frozenset(old.major), frozenset(old.minor)
    return Dates(
        major=tuple([token for token in new.major if token not in major]),
        minor=tuple([token for token in new.minor if token not in minor]),
    )


def _intervals(tokens: tuple[str, ...]) -> list[Interval]:
    return [interval for token in tokens if (interval := parse_token(token)) is not None]


class Mode(StrEnum):
    """Whether a page is the subject of awareness: by the user's word, by the page's own, or not."""

    ON = "on"
    AUTO = "auto"
    OFF = "off"


class Tell(StrEnum):
    """Which changes the user wants to be made aware of (T54)."""

    ANY = "any"
    MAJOR = "major"


def is_stored(mode: Mode, answer_subject: bool, latest_subject: bool) -> bool:  # noqa: FBT001 - three facts, one table
    """Return whether an answer's state is stored and compared.

    answer_subject  whether the answer has a topper field left (`PageState.is_subject`)
    latest_subject  whether the latest stored state has one: losing them is told, once
    Source          awareness spec 2.2.1, 2.2.2 (T20, T50, T51).
    """
    if mode is Mode.AUTO:
        return answer_subject or latest_subject
    return mode is Mode.ON


def is_awareness_due(outcome: Outcome, tell: Tell) -> bool:
    """Return whether the user is to be made aware of what a comparison found (T54)."""
    return outcome is Outcome.MAJOR or (outcome is Outcome.MINOR and tell is Tell.ANY)
