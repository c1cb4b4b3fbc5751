"""Telling failing hosts from an outage of our own connection. Pure, over a given clock."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable

from tocsin.model import FailureKind, Instant
from tocsin.ports import Clock

# Older tries say nothing about the connection of now.
WINDOW_S = 60.0
SILENCE_S = 60.0
# One or two hosts often fail together, on one server.
FEWEST_HOSTS = 3
SHARE = 0.95
# Probes at growing pauses: a short outage ends quickly, a long one costs few requests.
FIRST_PROBE_S = 5.0
LONGEST_PROBE_S = 300.0
# Hosts that are remembered to fail by themselves; those that failed first are forgotten first.
MOST_DEAD = 10_000
# Kinds of failure that all hosts show at once if our own connection fails.
OURS = frozenset({FailureKind.DNS, FailureKind.CONNECT})
# Kinds of failure that include an answer: the connection to the host works.
_ANSWERED = frozenset(
    {
        FailureKind.STATUS,
        FailureKind.REDIRECT,
        FailureKind.TOO_LARGE,
        FailureKind.TOO_COMPLEX,
        FailureKind.DECODE,
        FailureKind.EMPTY,
        FailureKind.STEP,
    }
)


class OutageWatch:
    """Watches tries for signs that our own connection fails.

    A doubt arises when, since the last answer and within a minute, at least 95 % of the tries failed by DNS or
    connection, at three or more hosts. A host that failed while others answered is no evidence until it answers again.
    Any answer settles the doubt: the hosts fail. Otherwise `settle` declares an outage after the hosts that answered
    last were tried (see `probing`). Only an answer ends an outage.

    During a doubt, results that depend on it are held back (`hold`).
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries: deque[tuple[float, str, bool]] = deque()
        self._failing: Counter[str] = Counter()
        self._dead: OrderedDict[str, None] = OrderedDict()
        self._held: list[Callable[[bool], None]] = []
        self._is_ending = False
        self._probes = 0
        self._probe_at_s = 0.0
        # Before the first answer, silence counts from the start.
        self._answered_s = clock.monotonic()
        self._doubted_at: Instant | None = None
        self.has_answered = False
        """Whether any host has ever answered."""
        self.began_at: Instant | None = None
        """Since when, on the wall clock; None while there is no outage."""

    def note(self, host: str, ok: bool, kind: str | None = None) -> None:  # noqa: FBT001 - what became of it
        """Take note of one try: an answer of any kind, or the kind of failure."""
        if ok or kind in _ANSWERED:
            self._answered(host)
            return
        if kind == FailureKind.BLOCKED_ADDRESS or host in self._dead:
            return  # Nothing was sent, or the host fails by itself.
        now_s = self._clock.monotonic()
        is_ours = kind in OURS
        self._tries.append((now_s, host, is_ours))
        if is_ours:
            self._failing[host] += 1
        if self.in_doubt:
            return  # Failures during a doubt are kept until it is settled.
        while self._tries[0][0] < now_s - WINDOW_S:
            self._forget_oldest()
        if self.began_at is None and self._looks_like_ours():
            self._doubted_at = self._clock.now()

    def hold(self, give: Callable[[bool], None]) -> None:
        """Call `give` when it is known whether this is an outage; at once without a doubt."""
        if self.in_doubt and not self._is_ending:
            self._held.append(give)
        else:
            give(self.in_doubt or self.is_outage())

    def settle(self, *, is_outage: bool) -> None:
        """Settle the doubt, if there is one."""
        if self._doubted_at is None:
            return
        if is_outage:
            self.began_at = self._doubted_at
            self._probes = 0
            self._probe_at_s = self._clock.monotonic() + FIRST_PROBE_S
        else:
            self._blame_them()
            self._forget_all()
        self._doubted_at = None
        self._give(is_outage=is_outage)

    def stop_holding(self) -> None:
        """Release held and future results as in an outage: the engine stops before the doubt is settled."""
        # In doubt for the page: it keeps its tries, and is checked again soon.
        self._is_ending = True
        self._give(is_outage=True)

    def resume(self, began_at: Instant) -> None:
        """Continue an outage from before a restart; the first probe is due at once."""
        self.began_at = began_at
        self._probes = 0
        self._probe_at_s = self._clock.monotonic()

    def is_outage(self) -> bool:
        """Tell whether our own connection fails; then only probes are requested."""
        return self.began_at is not None

    @property
    def in_doubt(self) -> bool:
        """Whether our own connection may fail, which is not settled yet."""
        return self._doubted_at is not None

    @property
    def held(self) -> int:
        """Number of results that wait for the doubt to be settled."""
        return len(self._held)

    def silent_s(self) -> float:
        """Return the seconds since the last answer of any host, or since the start."""
        return self._clock.monotonic() - self._answered_s

    def is_failing(self, host: str) -> bool:
        """Tell whether this host failed by DNS or connection within the last minute, without any answer since."""
        return host in self._failing

    def is_dead(self, host: str) -> bool:
        """Tell whether this host failed while others answered, and has not answered since."""
        return host in self._dead

    def probe_in_s(self) -> float:
        """Return the seconds until the next probe of an outage, 0 if it is due."""
        return max(self._probe_at_s - self._clock.monotonic(), 0.0)

    def next_probe(self) -> int:
        """Return the number of the probe that is due, from 0, and plan the next one after a growing pause."""
        number = self._probes
        self._probes += 1
        pause_s = min(FIRST_PROBE_S * 2.0 ** min(self._probes, 10), LONGEST_PROBE_S)
        self._probe_at_s = self._clock.monotonic() + pause_s
        return number

    def _answered(self, host: str) -> None:
        self._answered_s = self._clock.monotonic()
        self.has_answered = True
        if self._dead:
            self._dead.pop(host, None)
        if self._tries:
            if self.began_at is None:
                self._blame_them()
                self._dead.pop(host, None)
            self._forget_all()
        self.began_at = None
        if self._doubted_at is not None:
            self._doubted_at = None
            self._give(is_outage=False)

    def _blame_them(self) -> None:
        """Remember which hosts failed while our connection worked."""
        for host in self._failing:
            self._dead[host] = None
        while len(self._dead) > MOST_DEAD:
            self._dead.popitem(last=False)

    def _give(self, *, is_outage: bool) -> None:
        held, self._held = self._held, []
        for give in held:
            give(is_outage)

    def _forget_all(self) -> None:
        self._tries.clear()
        self._failing.clear()

    def _forget_oldest(self) -> None:
        _, host, is_ours = self._tries.popleft()
        if is_ours:
            self._failing[host] -= 1
            if not self._failing[host]:
                del self._failing[host]

    def _looks_like_ours(self) -> bool:
        # The number of hosts is checked first: it is cheap, and usually too small.
        return len(self._failing) >= FEWEST_HOSTS and self._failing.total() >= SHARE * len(self._tries)
