"""What changes from check to check is learnt as noise, and muted; what has become quiet is heard again. Pure.

Learnt is only from what may be noise at all: signals, and the places that a content names (short blocks, figures, boxes
that rotate).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from xxhash import xxh3_64_intdigest

from tocsin.model import PageNoise
from tocsin.spec.signals.fingerprint import GONE, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from tocsin.model import Instant, SignalContext

MUTED_AT: Final = 3
"""So many checks in a row must find it changed; the first two are told, if they are more than noise."""
HEARD_AT: Final = 5
"""After so many readings in a row without a change, a muted place is heard again."""
HEARD_AFTER_US: Final = 30 * 86_400_000_000
"""After so long without a change, too: a page that is not read, because its bytes are the same, is quiet."""
HOST_MUTES_AT: Final = 5
"""What is muted on so many pages of a host is muted on all of them."""
MOST: Final = 64
"""Places that are remembered of one page; the longest quiet ones are forgotten first."""

_POSITIVE: Final = 2**63 - 1
_SIGNAL: Final = "signal "


def signal_place(name: str) -> Place:
    """Give the place that a signal is learnt by."""
    return Place(xxh3_64_intdigest(f"{_SIGNAL}{name}".encode()) & _POSITIVE, f"{_SIGNAL}{name}")


def muted_keys(beside: SignalContext | None, now: Instant | None = None) -> frozenset[int]:
    """Give the keys of all that is muted for a page: its own, and its host's, but for what the user wants to hear.

    now  what has not changed for long by then is heard; None: whatever its age
    """
    if beside is None:
        return frozenset()
    noise = beside.known.noise if beside.known is not None else ()
    own = (each.key for each in noise if each.since is not None and not (now is not None and _is_long_quiet(each, now)))
    return frozenset((*own, *beside.host_muted)).difference(beside.heard)


def muted_signals(names: Iterable[str], keys: Collection[int]) -> frozenset[str]:
    """Give the signals among these that are muted."""
    return frozenset(name for name in names if signal_place(name).key in keys) if keys else frozenset()


def learn(
    noise: tuple[PageNoise, ...], differing: Iterable[Place], now: Instant, checked_before: Instant | None = None
) -> tuple[PageNoise, ...]:
    """Learn from one reading of a page that could be compared with the one before.

    noise           learnt so far
    differing       the places that differ from the reading before, muted ones too
    checked_before  the check before this one: where its bytes were the same it was not read, and found all quiet
    """
    here = {place.key: place for place in differing}
    learnt = [
        each for known in noise if (each := _go_on(known, here.pop(known.key, None), now, checked_before)) is not None
    ]
    learnt.extend(PageNoise(place.key, place.what, 1, at=now) for place in here.values())
    if len(learnt) > MOST:
        learnt = sorted(learnt, key=lambda each: (each.since is None, each.quiet, -each.changes))[:MOST]
    return tuple(learnt)


def _go_on(known: PageNoise, place: Place | None, now: Instant, checked_before: Instant | None) -> PageNoise | None:
    """Go on with what is known of a place; None: it is forgotten."""
    if place is None:
        quiet = known.quiet + 1
        if known.since is None or quiet >= HEARD_AT or _is_long_quiet(known, now):
            return None
        return msgspec.structs.replace(known, quiet=quiet)
    # What is gone has no words of its own: those that stood there are kept.
    what = known.what if place.what.endswith(GONE) else place.what
    is_in_a_row = checked_before is None or known.at >= checked_before
    if not is_in_a_row and (known.since is None or _is_long_quiet(known, now)):
        return PageNoise(known.key, what, 1, at=now)
    changes = known.changes + 1
    since = known.since if known.since is not None else now if changes >= MUTED_AT else None
    return PageNoise(known.key, what, changes, 0, since, now)


def _is_long_quiet(known: PageNoise, now: Instant) -> bool:
    return now - known.at > HEARD_AFTER_US
