"""When requests to a host may start: its gate, its line, and the politeness that it is owed."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Literal

from msgspec import Struct

from tocsin.ports import Clock
from tocsin.settings import HostSettings

# Monotonic clocks may start anywhere: before any time that they show.
NEVER_S = float("-inf")
# The longest crawl delay that is obeyed.
LONGEST_CRAWL_DELAY_S = 30.0
# Sweeping fewer gates frees too little memory.
_FEWEST_TO_SWEEP = 1024


class Politeness(Struct, frozen=True, gc=False):
    """The politeness that one host is owed.

    concurrency        parallel requests
    delay_s            from the start of one request to the start of the next
    retry_after_max_s  longest Retry-After that is obeyed
    has_own_delay      the user set the delay for this very host, so its robots.txt does not lengthen it
    """

    concurrency: int
    delay_s: float
    retry_after_max_s: float
    robots: Literal["obey", "ignore"]
    has_own_delay: bool = False


def politeness_of(settings: HostSettings, host: str) -> Politeness:
    """Return the politeness by the most specific matching rule; what it leaves out is as for every host.

    A pattern is a host, or `*.` and a domain, which matches every host below that domain, or `*`.
    """
    rule = settings.rules.get(host.lower())
    if rule is None:
        matching = [pattern for pattern in settings.rules if is_match(pattern, host)]
        rule = settings.rules[max(matching, key=len)] if matching else None
    concurrency = rule.concurrency if rule and rule.concurrency is not None else settings.concurrency
    delay = rule.delay if rule and rule.delay is not None else settings.delay
    longest = rule.retry_after_max if rule and rule.retry_after_max is not None else settings.retry_after_max
    robots = rule.robots if rule and rule.robots is not None else settings.robots
    has_own_delay = rule is not None and rule.delay is not None
    return Politeness(concurrency, delay.total_seconds(), longest.total_seconds(), robots, has_own_delay)


def is_match(pattern: str, host: str) -> bool:
    """Tell whether a rule's pattern matches a host; case and a final dot are ignored."""
    pattern, host = pattern.lower().rstrip("."), host.lower().rstrip(".")
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern


class HostGate:
    """The state of one host: its requests under way, those that wait, and when the next one may start.

    Times are monotonic seconds.
    asked_s        time of the last request that a predecessor of this process may have made
    crawl_delay_s  longest crawl delay of its origins, 0 for none; None before any robots.txt was read
    line           waiting requests; only the first one waits for time or a free place, the others wait for it
    """

    __slots__ = (
        "_asked_s",
        "_crawl_delays_s",
        "busy",
        "crawl_delay_s",
        "freed",
        "held_until_s",
        "line",
        "next_at_s",
        "politeness",
    )

    def __init__(self, politeness: Politeness, asked_s: float = NEVER_S) -> None:
        self.politeness, self._asked_s = politeness, asked_s
        self.crawl_delay_s: float | None = None
        self._crawl_delays_s: dict[str, float] = {}
        self.busy = 0
        self.next_at_s = asked_s + self.delay_s
        self.held_until_s = NEVER_S
        self.line: deque[asyncio.Future[None]] = deque()
        self.freed: asyncio.Future[None] | None = None

    @property
    def delay_s(self) -> float:
        """The delay in force: that of the settings, or a longer crawl delay within its limit."""
        own_s = self.politeness.delay_s
        if self.politeness.has_own_delay:
            return own_s
        return max(own_s, min(self.crawl_delay_s or 0.0, LONGEST_CRAWL_DELAY_S))

    def slow_down(self, origin: str, crawl_delay_s: float | None) -> None:
        """Take over what an origin's robots.txt asks for; each port and scheme has its own, the host is one."""
        if not crawl_delay_s and self.crawl_delay_s == 0.0:
            return  # The usual case: no origin of this host asks for a delay.
        if crawl_delay_s:
            self._crawl_delays_s[origin] = crawl_delay_s
        else:
            self._crawl_delays_s.pop(origin, None)
        self.crawl_delay_s = max(self._crawl_delays_s.values(), default=0.0)
        self.next_at_s = max(self.next_at_s, self._asked_s + self.delay_s)

    def next_turn(self, now_s: float) -> float | None:
        """Return the seconds until a request may start; None if one under way has to end first."""
        if self.busy >= self.politeness.concurrency:
            return None
        return max(self.next_at_s - now_s, self.held_until_s - now_s, 0.0)

    def begin(self, now_s: float) -> None:
        """Start a request; the delay runs from here."""
        self.busy += 1
        self.next_at_s = now_s + self.delay_s

    def end(self) -> None:
        """End a request."""
        self.busy -= 1

    def hold(self, until_s: float, now_s: float) -> bool:
        """Start no request until then, within the limit of the settings; tells whether that is longer than before.

        A hold never shortens another.
        """
        until_s = min(until_s, now_s + self.politeness.retry_after_max_s)
        if until_s <= max(self.held_until_s, now_s):
            return False
        self.held_until_s = until_s
        return True

    def is_idle(self, now_s: float) -> bool:
        """Tell whether this host can be forgotten without loss."""
        return self.busy == 0 and self.next_at_s <= now_s and self.held_until_s <= now_s


class Gates:
    """The gates of all hosts: every request takes its turn here, first come, first served.

    asked_s  monotonic time until which a predecessor of this process may have made requests; delays run from there
    Idle gates are forgotten, so memory is bounded by the hosts in use.
    """

    def __init__(self, settings: HostSettings, clock: Clock, *, asked_s: float | None = None) -> None:
        self._settings, self._usual = settings, politeness_of(settings, "")
        self._clock = clock
        self._asked_s = NEVER_S if asked_s is None else asked_s
        self._hosts: dict[str, HostGate] = {}
        self._sweep_at = _FEWEST_TO_SWEEP

    def hold(self, host: str, until_s: float) -> bool:
        """Make no request to a host until this monotonic time, at most its `retry_after_max` from now.

        Tells whether that is longer than before.
        """
        return self._host(host).hold(until_s, self._clock.monotonic())

    def slow_down(self, host: str, origin: str, crawl_delay_s: float | None) -> None:
        """Obey the crawl delay of an origin of a host, up to `LONGEST_CRAWL_DELAY_S`; None for none.

        The longest one of its origins counts, from the next request on.
        """
        self._host(host).slow_down(origin, crawl_delay_s)

    def wait_s(self, host: str) -> float:
        """Return the least seconds until the turn of a new request, behind those that wait."""
        gate = self._hosts.get(host)
        if gate is None:
            return 0.0
        now = self._clock.monotonic()
        until = max(gate.next_at_s, gate.held_until_s, now)
        return until - now + len(gate.line) * gate.delay_s

    def held_s(self, host: str) -> float:
        """Return for how many more seconds a host asked for no requests."""
        gate = self._hosts.get(host)
        return max(gate.held_until_s - self._clock.monotonic(), 0.0) if gate else 0.0

    def held(self) -> dict[str, float]:
        """Return the monotonic times until which hosts asked for no requests."""
        now = self._clock.monotonic()
        return {host: gate.held_until_s for host, gate in self._hosts.items() if gate.held_until_s > now}

    def politeness(self, host: str) -> Politeness:
        """Return the politeness of a host by the settings."""
        gate = self._hosts.get(host)
        return gate.politeness if gate else self._politeness_of(host)

    def at_once(self, host: str, within_s: float, most: int) -> int:
        """Return how many requests of a host, at least 1, get their turn within this time."""
        # The first request finds out the crawl delay of the site: until then there is only one.
        gate = self._hosts.get(host) or HostGate(self._politeness_of(host))
        politeness = gate.politeness
        if gate.delay_s and gate.crawl_delay_s is None and politeness.robots == "obey" and not politeness.has_own_delay:
            return 1
        return _fitting(gate, within_s, most)

    def most_at_once(self, within_s: float, most: int) -> int:
        """Return `at_once` for a host without a rule of its own and with a known crawl delay."""
        return _fitting(HostGate(self._usual), within_s, most)

    def configure(self, settings: HostSettings) -> None:
        """Apply other settings, also to requests that wait already."""
        self._settings, self._usual = settings, politeness_of(settings, "")
        for host, gate in self._hosts.items():
            gate.politeness = self._politeness_of(host)
            _wake(gate)

    def __len__(self) -> int:
        return len(self._hosts)

    def enter_at_once(self, host: str) -> HostGate | None:
        """Take a turn if the gate is free; `leave` must follow."""
        gate, now = self._host(host), self._clock.monotonic()
        if gate.line or gate.next_turn(now) != 0.0:
            return None
        gate.begin(now)
        return gate

    async def enter(self, host: str) -> HostGate:
        """Wait for a turn and take it; `leave` must follow."""
        entered = self.enter_at_once(host)
        if entered is not None:
            return entered
        gate = self._host(host)
        await self._stand_in_line(gate)
        gate.begin(self._clock.monotonic())
        return gate

    def leave(self, gate: HostGate) -> None:
        """End a turn."""
        gate.end()
        _wake(gate)

    async def _stand_in_line(self, gate: HostGate) -> None:
        place = asyncio.get_running_loop().create_future()
        gate.line.append(place)
        try:
            if gate.line[0] is not place:
                await place
            while (wait_s := gate.next_turn(self._clock.monotonic())) != 0.0:
                if wait_s is None:
                    gate.freed = asyncio.get_running_loop().create_future()
                    await gate.freed
                else:
                    await self._clock.sleep(wait_s)
        finally:
            was_first = gate.line[0] is place
            gate.line.remove(place)
            if was_first and gate.line and not gate.line[0].done():
                # There is no await between this and `begin`, so the next waiter finds this request counted.
                gate.line[0].set_result(None)

    def _host(self, host: str) -> HostGate:
        gate = self._hosts.get(host)
        if gate is None:
            if len(self._hosts) >= self._sweep_at:
                self._forget_idle()
            gate = self._hosts[host] = HostGate(self._politeness_of(host), self._asked_s)
        return gate

    def _politeness_of(self, host: str) -> Politeness:
        # Hosts come and go by the thousand: without rules they share one value.
        return politeness_of(self._settings, host) if self._settings.rules else self._usual

    def _forget_idle(self) -> None:
        now = self._clock.monotonic()
        self._hosts = {host: gate for host, gate in self._hosts.items() if gate.line or not gate.is_idle(now)}
        # The next sweep is due when the number has doubled, so that its cost per new host is constant.
        self._sweep_at = max(_FEWEST_TO_SWEEP, 2 * len(self._hosts))


def _fitting(gate: HostGate, within_s: float, most: int) -> int:
    concurrency = gate.politeness.concurrency
    if not gate.delay_s:
        return max(most, 2 * concurrency)
    within = min(int(within_s / gate.delay_s), most)
    # With a long delay, further requests would only wait in line.
    return max(concurrency, within) if within else 1


def _wake(gate: HostGate) -> None:
    if gate.freed is not None and not gate.freed.done():
        gate.freed.set_result(None)
        gate.freed = None
