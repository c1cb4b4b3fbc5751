"""When a host may be asked again: pure, over a given time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from tocsin.settings import HostSettings

NEVER_S = float("-inf")
LONGEST_CRAWL_DELAY_S = 30.0
"""A site that asks for more is asked this seldom."""


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
