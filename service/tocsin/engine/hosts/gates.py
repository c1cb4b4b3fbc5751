"""The gates of all hosts: whatever asks a host for something takes its turn here, first come, first served."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from tocsin.ports import Clock
    from tocsin.settings import HostSettings


NEVER_S = float("-inf")
LONGEST_CRAWL_DELAY_S = 30.0
"""A site that asks for more is asked this seldom."""
_FEWEST_TO_SWEEP = 1024


class Politeness(Struct, frozen=True, gc=False):
    """What one host is owed.

    concurrency        requests at one time
    delay_s            from the start of one request to the start of the next
    retry_after_max_s  the longest that the host can keep us away
    robots             whether its robots.txt is obeyed
    has_own_delay      the user set the delay for this very host: its robots.txt does not lengthen it
    """

    concurrency: int
    delay_s: float
    retry_after_max_s: float
    robots: Literal["obey", "ignore"]
    has_own_delay: bool = False


def politeness_of(settings: HostSettings, host: str) -> Politeness:
    """Resolve what a host is owed: the most specific rule that matches it, else the settings for every host.

    A pattern is a host, or `*.` and a domain, which matches every host below that domain, or `*`. Only the most
    specific matching rule counts; what it leaves out is inherited from the settings for every host.
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
    """Say whether a rule's pattern covers a host; letter case and a final dot play no role."""
    pattern, host = pattern.lower().rstrip("."), host.lower().rstrip(".")
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern


class HostGate:
    """The state of one host: who is inside, and when the next may go in.

    Times are monotonic seconds.
    asked_s        when somebody else may last have asked it
    crawl_delay_s  the most that a robots.txt of it asks for, 0 for nothing; None: none was asked yet
    """

    __slots__ = ("_asked_s", "_crawl_delays_s", "busy", "crawl_delay_s", "held_until_s", "next_at_s", "politeness")

    def __init__(self, politeness: Politeness, asked_s: float = NEVER_S) -> None:
        self.politeness, self._asked_s = politeness, asked_s
        self.crawl_delay_s: float | None = None
        self._crawl_delays_s: dict[str, float] = {}
        self.busy = 0
        self.next_at_s = asked_s + self.delay_s
        self.held_until_s = NEVER_S

    @property
    def delay_s(self) -> float:
        """The delay in force: the settings', or the site's own wish where that is longer, within reason."""
        own_s = self.politeness.delay_s
        if self.politeness.has_own_delay:
            return own_s
        return max(own_s, min(self.crawl_delay_s or 0.0, LONGEST_CRAWL_DELAY_S))

    def slow_down(self, origin: str, crawl_delay_s: float | None) -> None:
        """Take over what an origin's robots.txt asks for; each port and scheme has its own, the host is one."""
        if not crawl_delay_s and self.crawl_delay_s == 0.0:
            return  # as nearly always: nobody at this host ever asked for anything
        if crawl_delay_s:
            self._crawl_delays_s[origin] = crawl_delay_s
        else:
            self._crawl_delays_s.pop(origin, None)
        self.crawl_delay_s = max(self._crawl_delays_s.values(), default=0.0)
        self.next_at_s = max(self.next_at_s, self._asked_s + self.delay_s)

    def next_turn(self, now_s: float) -> float | None:
        """Give the seconds until a request may start, 0 for at once; None: not before one inside has ended."""
        if self.busy >= self.politeness.concurrency:
            return None
        return max(self.next_at_s - now_s, self.held_until_s - now_s, 0.0)

    def begin(self, now_s: float) -> None:
        """Let one in; the delay runs from here."""
        self.busy += 1
        self.next_at_s = now_s + self.delay_s

    def end(self) -> None:
        """Let one out."""
        self.busy -= 1

    def hold(self, until_s: float, now_s: float) -> None:
        """Keep everybody out until then, at most as long as the settings allow; a hold never shortens another."""
        longest = now_s + self.politeness.retry_after_max_s
        self.held_until_s = max(self.held_until_s, min(until_s, longest))

    def is_idle(self, now_s: float) -> bool:
        """Say whether nothing would be lost by forgetting this host."""
        return self.busy == 0 and self.next_at_s <= now_s and self.held_until_s <= now_s


class Host(HostGate):
    """A gate and the line before it; only the first in line waits for time or for a place, the others for it."""

    __slots__ = ("freed", "line")

    def __init__(self, politeness: Politeness, asked_s: float = NEVER_S) -> None:
        super().__init__(politeness, asked_s)
        self.line: deque[asyncio.Future[None]] = deque()
        self.freed: asyncio.Future[None] | None = None


class Gates:
    """Lets requests through to their hosts, fairly and politely.

    Hosts that nobody waits for and that need not be waited for are forgotten, so memory is bounded by the hosts in use.
    asked_s  when (monotonic) somebody whose place this takes may last have asked any of them: delays count from there
    """

    def __init__(self, settings: HostSettings, clock: Clock, *, asked_s: float | None = None) -> None:
        self._settings, self._usual = settings, politeness_of(settings, "")
        self._clock = clock
        self._asked_s = NEVER_S if asked_s is None else asked_s
        self._hosts: dict[str, Host] = {}
        self._sweep_at = _FEWEST_TO_SWEEP

    def hold(self, host: str, until_s: float) -> None:
        """Leave a host alone until this monotonic time, at most its `retry_after_max` from now."""
        self._host(host).hold(until_s, self._clock.monotonic())

    def slow_down(self, host: str, origin: str, crawl_delay_s: float | None) -> None:
        """Take over what the robots.txt of a host's origin asks to be left between requests, None for nothing.

        The longest of its origins holds from the next request on, between one start and the next; see
        `LONGEST_CRAWL_DELAY_S`.
        """
        self._host(host).slow_down(origin, crawl_delay_s)

    def wait_s(self, host: str) -> float:
        """Tell how long the next turn would take at least, in seconds, counting those who wait already."""
        gate = self._hosts.get(host)
        if gate is None:
            return 0.0
        now = self._clock.monotonic()
        until = max(gate.next_at_s, gate.held_until_s, now)
        return until - now + len(gate.line) * gate.delay_s

    def held_s(self, host: str) -> float:
        """Tell how long the host asked to be left alone from now, in seconds."""
        gate = self._hosts.get(host)
        return max(gate.held_until_s - self._clock.monotonic(), 0.0) if gate else 0.0

    def held(self) -> dict[str, float]:
        """Until which monotonic time hosts asked to be left alone, those that still do."""
        now = self._clock.monotonic()
        return {host: gate.held_until_s for host, gate in self._hosts.items() if gate.held_until_s > now}

    def politeness(self, host: str) -> Politeness:
        """What the settings say for this host."""
        gate = self._hosts.get(host)
        return gate.politeness if gate else self._politeness_of(host)

    def at_once(self, host: str, within_s: float, most: int) -> int:
        """Tell how many may come to this host together, so that the last one's turn comes within this time.

        At least one, which then finds out how long the site wants to be left between requests.
        """
        gate = self._hosts.get(host) or Host(self._politeness_of(host))
        politeness = gate.politeness
        if gate.delay_s and gate.crawl_delay_s is None and politeness.robots == "obey" and not politeness.has_own_delay:
            return 1
        return _fitting(gate, within_s, most)

    def most_at_once(self, within_s: float, most: int) -> int:
        """Tell how many that can be at any host without a rule of its own, once its site was asked what it wants."""
        return _fitting(HostGate(self._usual), within_s, most)

    def configure(self, settings: HostSettings) -> None:
        """Go on with other settings; who waits already waits by them, too."""
        self._settings, self._usual = settings, politeness_of(settings, "")
        for host, gate in self._hosts.items():
            gate.politeness = self._politeness_of(host)
            _wake(gate)

    def __len__(self) -> int:
        return len(self._hosts)

    def enter_at_once(self, host: str) -> Host | None:
        """Take a turn if there is one now; `leave` must follow."""
        gate, now = self._host(host), self._clock.monotonic()
        if gate.line or gate.next_turn(now) != 0.0:
            return None
        gate.begin(now)
        return gate

    async def enter(self, host: str) -> Host:
        """Wait for a turn and take it; `leave` must follow."""
        entered = self.enter_at_once(host)
        if entered is not None:
            return entered
        gate = self._host(host)
        await self._stand_in_line(gate)
        gate.begin(self._clock.monotonic())
        return gate

    def leave(self, gate: Host) -> None:
        """Give the place up."""
        gate.end()
        _wake(gate)

    async def _stand_in_line(self, gate: Host) -> None:
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
                # No await lies between this and `begin`, so the next one sees this one inside.
                gate.line[0].set_result(None)

    def _host(self, host: str) -> Host:
        gate = self._hosts.get(host)
        if gate is None:
            if len(self._hosts) >= self._sweep_at:
                self._forget_idle()
            gate = self._hosts[host] = Host(self._politeness_of(host), self._asked_s)
        return gate

    def _politeness_of(self, host: str) -> Politeness:
        # Without rules every host is owed the same: hosts come and go by the thousand.
        return politeness_of(self._settings, host) if self._settings.rules else self._usual

    def _forget_idle(self) -> None:
        now = self._clock.monotonic()
        self._hosts = {host: gate for host, gate in self._hosts.items() if gate.line or not gate.is_idle(now)}
        # The next sweep waits until as many have come again, so that each host pays for one look.
        self._sweep_at = max(_FEWEST_TO_SWEEP, 2 * len(self._hosts))


def _fitting(gate: HostGate, within_s: float, most: int) -> int:
    concurrency = gate.politeness.concurrency
    if not gate.delay_s:
        return max(most, 2 * concurrency)
    within = min(int(within_s / gate.delay_s), most)
    # Where the pause is long, more than one would only stand in line.
    return max(concurrency, within) if within else 1


def _wake(gate: Host) -> None:
    if gate.freed is not None and not gate.freed.done():
        gate.freed.set_result(None)
        gate.freed = None
