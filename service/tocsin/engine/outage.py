"""Is it them, or is it us? Pure, over a given clock."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, TypeVar

from tocsin.model import FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import Instant
    from tocsin.ports import Clock

Host = TypeVar("Host")

WINDOW_S = 60.0
FEWEST_HOSTS = 3
SHARE = 0.95
FIRST_PROBE_S = 5.0
LONGEST_PROBE_S = 300.0
_OURS = frozenset({FailureKind.DNS, FailureKind.CONNECT})
# Kinds of failure that an answer came before: the way to the host stands.
_ANSWERED = frozenset(
    {
        FailureKind.STATUS,
        FailureKind.REDIRECT,
        FailureKind.TOO_LARGE,
        FailureKind.TOO_COMPLEX,
        FailureKind.DECODE,
        FailureKind.EMPTY,
    }
)


class OutageWatch:
    """Watches tries for the sign that it is our own connection that fails.

    An outage begins when of the tries of the last minute none succeeded, at least 95 % failed by DNS or connection,
    and these were of at least three hosts. It ends with the first success, and only so.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries: deque[tuple[float, str, bool]] = deque()
        self._ours: Counter[str] = Counter()
        self._probes = 0
        self._probe_at_s = 0.0
        self.has_answered = False
        """Whether any host has ever answered."""
        self.began_at: Instant | None = None
        """Since when, on the wall clock; None while there is no outage."""

    def note(self, host: str, ok: bool, kind: str | None = None) -> None:  # noqa: FBT001 - what became of it
        """Take note of one try: whether it brought an answer of any kind, and if not, the kind of failure."""
        if ok or kind in _ANSWERED:
            self._tries.clear()
            self._ours.clear()
            self.began_at = None
            self.has_answered = True
            return
        if kind == FailureKind.BLOCKED_ADDRESS:
            return  # nothing was sent
        now = self._clock.monotonic()
        is_ours = kind in _OURS
        self._tries.append((now, host, is_ours))
        if is_ours:
            self._ours[host] += 1
        while self._tries[0][0] < now - WINDOW_S:
            self._forget_oldest()
        if self.began_at is None and self._looks_like_ours():
            self.began_at = self._clock.now()
            self._probes = 0
            self._probe_at_s = now + FIRST_PROBE_S

    def resume(self, began_at: Instant) -> None:
        """Go on with an outage that was told of before a restart: the first probe is due at once."""
        self.began_at = began_at
        self._probes = 0
        self._probe_at_s = self._clock.monotonic()

    def is_outage(self) -> bool:
        """Say whether the fault is ours: nobody is to be asked, and checking pauses."""
        return self.began_at is not None

    def probe_in_s(self) -> float:
        """Give the seconds until the next probe; 0 if it is due."""
        return max(self._probe_at_s - self._clock.monotonic(), 0.0)

    def probe_host(self, hosts: Sequence[Host]) -> Host:
        """Choose the host of the probe that is made now, each time the next one, and plan the one after it.

        hosts  watched ones, named as the caller likes, at least one, in an order that stays
        """
        host = hosts[self._probes % len(hosts)]
        self._probes += 1
        pause = min(FIRST_PROBE_S * 2.0 ** min(self._probes, 10), LONGEST_PROBE_S)
        self._probe_at_s = self._clock.monotonic() + pause
        return host

    def _forget_oldest(self) -> None:
        _, host, is_ours = self._tries.popleft()
        if is_ours:
            self._ours[host] -= 1
            if not self._ours[host]:
                del self._ours[host]

    def _looks_like_ours(self) -> bool:
        # The count of hosts is looked at first: it is the cheap one, and few hosts are the usual case.
        return len(self._ours) >= FEWEST_HOSTS and self._ours.total() >= SHARE * len(self._tries)
