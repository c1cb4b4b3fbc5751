"""Noise: places of a page that change from check to check are muted, and unmuted when they stay quiet. Pure.

Only signals and the places that a content names (short blocks, figures, rotating boxes) can become noise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import msgspec
from xxhash import xxh3_64_intdigest

from tocsin.model import Instant, PageKnowledge, PageNoise, SignalContext
from tocsin.spec.signals.fingerprint import GONE, ContentPlace

# Changes within the last checks until a place is muted; those until then are told.
MUTED_AT: Final = 3
# The last checks that are looked at.
WINDOW: Final = 7
# Readings in a row without a change until a place is unmuted.
HEARD_AT: Final = WINDOW
# Time without a change until a place is unmuted, too: a page with equal bytes is not read, and quiet.
HEARD_AFTER_US: Final = 30 * 86_400_000_000
# Longest time between two checks that show together what changes by itself: after weeks, any text may be edited.
_LONGEST_US: Final = 8 * 86_400_000_000
# Pages of a host on which a place is muted until it is muted on all of them.
HOST_MUTES_AT: Final = 5
# Places remembered for one page; those quiet for longest are forgotten first.
MOST: Final = 64

_ALL: Final = 2**WINDOW - 1
_POSITIVE: Final = 2**63 - 1
_SIGNAL: Final = "signal "


def signal_place(name: str) -> ContentPlace:
    """Return the place that stands for a signal."""
    return ContentPlace(xxh3_64_intdigest(f"{_SIGNAL}{name}".encode()) & _POSITIVE, f"{_SIGNAL}{name}")


def muted_keys(beside: SignalContext | None, now: Instant | None = None) -> frozenset[int]:
    """Return the keys muted for a page: its own and its host's, without those that the user wants to hear.

    now  unmutes what was quiet for long by then; None unmutes nothing
    """
    if beside is None:
        return frozenset()
    noise = beside.known.noise if beside.known is not None else ()
    own = (each.key for each in noise if each.since is not None and not (now is not None and _is_long_quiet(each, now)))
    return frozenset((*own, *beside.host_muted)).difference(beside.heard)


def muted_signals(names: Iterable[str], keys: Collection[int]) -> frozenset[str]:
    """Return the muted ones among these signals."""
    return frozenset(name for name in names if signal_place(name).key in keys) if keys else frozenset()


def learn(
    before: PageKnowledge, differing: Iterable[ContentPlace], now: Instant, checked_before: Instant | None = None
) -> tuple[PageNoise, ...]:
    """Learn from a reading that was compared with the one before.

    before          what is known so far
    differing       places that differ, muted ones included
    checked_before  time of the check before this one; it counts as quiet where it did not read the page
    """
    here = {place.key: place for place in differing}
    # Each place remembers its last checks as bits, the latest one lowest.
    passed = 1 + _count_unread(before.learnt_at, now, checked_before)
    is_late = checked_before is not None and now - checked_before > _LONGEST_US
    learnt = [
        each
        for known in before.noise
        if (each := _go_on(known, here.pop(known.key, None), now, passed, is_late=is_late)) is not None
    ]
    learnt.extend(PageNoise(place.key, place.what, 1, at=now, recent=1) for place in here.values())
    if len(learnt) > MOST:
        learnt = sorted(learnt, key=lambda each: (each.since is None, each.quiet, -each.changes))[:MOST]
    return tuple(learnt)


def _count_unread(learnt_at: Instant, now: Instant, checked_before: Instant | None) -> int:
    """Estimate the checks since the last reading that found equal bytes, which write nothing."""
    if checked_before is None or checked_before <= learnt_at:
        return 0
    return min(WINDOW, max(1, round((now - learnt_at) / max(now - checked_before, 1)) - 1))


def _go_on(
    known: PageNoise, place: ContentPlace | None, now: Instant, passed: int, *, is_late: bool
) -> PageNoise | None:
    """Update a known place; None if it is forgotten.

    passed   checks since the last reading, this one included
    is_late  a long time has passed since the last check: only what changes each time is noise then
    """
    recent = known.recent << passed & _ALL
    if place is None:
        quiet = known.quiet + 1
        if not recent if known.since is None else quiet >= HEARD_AT or _is_long_quiet(known, now):
            return None
        return msgspec.structs.replace(known, quiet=quiet, recent=recent)
    # A place whose content is gone has no text of its own: the earlier words keep naming it.
    what = known.what if place.what.endswith(GONE) else place.what
    recent |= 1
    if is_late:
        # The lowest bits up to the first zero: the changes in a row.
        recent &= ~(recent + 1)
    if known.since is not None and not _is_long_quiet(known, now):
        return PageNoise(known.key, what, known.changes + 1, 0, known.since, now, recent)
    changes = recent.bit_count()
    return PageNoise(known.key, what, changes, 0, now if changes >= MUTED_AT else None, now, recent)


def _is_long_quiet(known: PageNoise, now: Instant) -> bool:
    return now - known.at > HEARD_AFTER_US
