"""Failed tries are counted, by who makes them and in all; whoever fails too often waits. Pure, over a given clock."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.ports import Clock

TRIES = 10
SPAN_S = 300.0
"""So many failures an address has in this time."""
TRIES_IN_ALL = 300
SPAN_IN_ALL_S = 60.0
MOST_ADDRESSES = 4096
MOST_KNOWN = 256
MOST_WRONG = 1024


class Throttle:
    """Says who has to wait before they may try again.

    Failures drain evenly: after each tenth of the span another try is free. The memory is bounded; who failed longest
    ago is forgotten first. A credential that was good lately is looked up whatever its neighbours do, so that nobody
    can lock out those who work. One wrong credential counts once, however often it comes: a program that was left with
    a revoked token does not guess. What fails in all holds up those only who failed themselves.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._in_all = (0.0, 0.0)
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._wrong: OrderedDict[tuple[str, bytes], None] = OrderedDict()

    def wait_s(self, who: str, digest: bytes) -> float:
        """Give the seconds for which this address may not try this credential; 0 if it may now."""
        if digest in self._known:
            return 0.0
        now = self._clock.monotonic()
        own = _left(self._failed.get(who, (0.0, now)), now, TRIES / SPAN_S)
        whole = _left(self._in_all, now, TRIES_IN_ALL / SPAN_IN_ALL_S) if own else 0.0
        return max(_over(own, TRIES, SPAN_S), _over(whole, TRIES_IN_ALL, SPAN_IN_ALL_S))

    def failed(self, who: str, digest: bytes) -> None:
        """Count a failure of this address, and forget that the credential was ever good."""
        now = self._clock.monotonic()
        self._known.pop(digest, None)
        if (who, digest) in self._wrong:
            self._wrong.move_to_end((who, digest))
            return
        self._wrong[who, digest] = None
        if len(self._wrong) > MOST_WRONG:
            self._wrong.popitem(last=False)
        self._failed[who] = (_left(self._failed.pop(who, (0.0, now)), now, TRIES / SPAN_S) + 1, now)
        self._in_all = (_left(self._in_all, now, TRIES_IN_ALL / SPAN_IN_ALL_S) + 1, now)
        if len(self._failed) > MOST_ADDRESSES:
            self._failed.popitem(last=False)

    def succeeded(self, digest: bytes) -> None:
        """Remember a credential that was good."""
        self._known.pop(digest, None)
        self._known[digest] = None
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def __len__(self) -> int:
        return len(self._failed)


def _left(failed: tuple[float, float], now: float, drain: float) -> float:
    count, at = failed
    return max(count - (now - at) * drain, 0.0)


def _over(count: float, most: int, span_s: float) -> float:
    return max(count - most + 1, 0.0) * span_s / most
