"""Turns at a host: delays, holds, lines, and the politeness that its rules and robots.txt ask for."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import EagerClock, ManualClock, ScriptedFetcher, settle
from tocsin.engine.hosts.gates import LONGEST_CRAWL_DELAY_S, Gates, HostGate, Politeness, is_match, politeness_of
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.model import HopRequest, HopResponse
from tocsin.settings import FetchSettings, HostRule, HostSettings, PageSettings


@asynccontextmanager
async def turn(gates: Gates, host: str) -> AsyncIterator[None]:
    """One turn at a host's gate, given up at the end."""
    gate = await gates.enter(host)
    try:
        yield
    finally:
        gates.leave(gate)


class Visitor:
    """Asks for turns and writes down when each one began."""

    def __init__(self, gates: Gates, clock: ManualClock, group: asyncio.TaskGroup) -> None:
        self._gates, self._clock, self._group = gates, clock, group
        self.began: list[tuple[str, float]] = []
        self.leave = asyncio.Event()

    def ask(self, name: str, host: str = "a.example") -> asyncio.Task[None]:
        return self._group.create_task(self._visit(name, host), name=name)

    async def _visit(self, name: str, host: str) -> None:
        async with turn(self._gates, host):
            self.began.append((name, self._clock.monotonic() - 1000))
            await self.leave.wait()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def gates_of(
    clock: ManualClock, *, concurrency: int = 1, delay_s: float = 0.0, rules: dict[str, HostRule] | None = None
) -> Gates:
    settings = HostSettings(concurrency=concurrency, delay=timedelta(seconds=delay_s), rules=rules or {})
    return Gates(settings, clock)


async def test_a_host_is_asked_by_no_more_than_its_concurrency(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock, concurrency=2), clock, group)

        for name in "abc":
            visitor.ask(name)
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b"]
        visitor.leave.set()


async def test_turns_are_given_in_the_order_of_asking(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock), clock, group)
        visitor.leave.set()

        for name in "abcdefg":
            visitor.ask(name)
        await settle(100)

    assert [name for name, _ in visitor.began] == list("abcdefg")


async def test_the_delay_runs_from_one_start_to_the_next(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock, concurrency=3, delay_s=2.0), clock, group)

        for name in "abc":
            visitor.ask(name)
        await clock.advance(10)
        visitor.leave.set()

    assert visitor.began == [("a", 0.0), ("b", 2.0), ("c", 4.0)]


async def test_one_host_does_not_make_another_wait(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock, delay_s=60.0), clock, group)

        visitor.ask("a")
        visitor.ask("b", host="b.example")
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b"]
        visitor.leave.set()


async def test_a_hold_keeps_everybody_out_until_its_end(clock: ManualClock) -> None:
    gates = gates_of(clock)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        gates.hold("a.example", clock.monotonic() + 30)

        visitor.ask("a")
        await clock.advance(29)
        early = list(visitor.began)
        await clock.advance(2)

    assert early == []
    assert visitor.began == [("a", 30.0)]


async def test_a_hold_reaches_also_the_one_who_waits_for_the_delay_already(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=5.0)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        visitor.ask("a")
        visitor.ask("b")
        await settle()

        gates.hold("a.example", clock.monotonic() + 60)
        await clock.advance(61)

    assert visitor.began == [("a", 0.0), ("b", 60.0)]


def test_a_hold_is_clamped_by_the_longest_that_is_allowed(clock: ManualClock) -> None:
    gates = gates_of(clock, rules={"a.example": HostRule(retry_after_max=timedelta(minutes=5))})

    gates.hold("a.example", clock.monotonic() + 10**9)

    assert gates.held_s("a.example") == 300


def test_a_shorter_hold_does_not_end_a_longer_one(clock: ManualClock) -> None:
    gates = gates_of(clock)
    gates.hold("a.example", clock.monotonic() + 100)

    gates.hold("a.example", clock.monotonic() + 1)

    assert gates.held_s("a.example") == 100


async def test_who_is_cancelled_in_the_line_holds_nobody_up(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock), clock, group)
        visitor.ask("a")
        first, second = visitor.ask("b"), visitor.ask("c")
        visitor.ask("d")
        await settle()

        first.cancel()
        second.cancel()
        await settle()
        visitor.leave.set()

    assert [name for name, _ in visitor.began] == ["a", "d"]


async def test_who_is_cancelled_inside_gives_the_place_up(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock), clock, group)
        inside = visitor.ask("a")
        visitor.ask("b")
        await settle()

        inside.cancel()
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b"]
        visitor.leave.set()


async def test_the_wait_is_told_with_those_who_stand_in_line(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=4.0)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        for name in "abc":
            visitor.ask(name)
        await settle()

        wait_s = gates.wait_s("a.example")
        await clock.advance(20)

    assert wait_s == 4.0 + 2 * 4.0
    assert gates.wait_s("never.asked.example") == 0.0


async def test_hosts_that_nobody_waits_for_are_forgotten(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)

    for number in range(5000):
        async with turn(gates, f"h{number}.example"):
            pass
        await clock.advance(0.01)

    assert len(gates) <= 1100


async def test_a_host_that_asked_to_be_left_alone_is_not_forgotten(clock: ManualClock) -> None:
    gates = gates_of(clock)
    gates.hold("a.example", clock.monotonic() + 1000)

    for number in range(5000):
        async with turn(gates, f"h{number}.example"):
            pass

    assert gates.held_s("a.example") == 1000


async def test_other_settings_hold_at_once_for_hosts_in_use(clock: ManualClock) -> None:
    gates = gates_of(clock)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        for name in "abc":
            visitor.ask(name)
        await settle()

        gates.configure(HostSettings(concurrency=3, delay=timedelta(0)))
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b", "c"]
        visitor.leave.set()


async def test_turns_without_delay_do_not_touch_the_clock_s_sleep(clock: ManualClock) -> None:
    gates = gates_of(clock, concurrency=4)

    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        for number in range(200):
            visitor.ask(str(number), host=f"h{number % 50}.example")

    assert len(visitor.began) == 200
    assert clock.sleepers == 0


STEP = st.tuples(st.sampled_from(["ask", "ask", "ask", "cancel", "leave", "pass", "hold"]), st.integers(0, 5))


class Crowd:
    """Visitors of one host who come, give up and leave as a list of steps says; notes what they saw of each other."""

    def __init__(self, concurrency: int, delay_s: float) -> None:
        self.clock = ManualClock()
        self.gates = gates_of(self.clock, concurrency=concurrency, delay_s=delay_s)
        self.inside = 0
        self.most_inside = 0
        self.starts: list[float] = []
        self.leaving: list[asyncio.Event] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def visit(self) -> None:
        async with turn(self.gates, "a.example"):
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            self.starts.append(self.clock.monotonic())
            leave = asyncio.Event()
            self.leaving.append(leave)
            try:
                await leave.wait()
            finally:
                self.inside -= 1

    async def act(self, steps: list[tuple[str, int]]) -> None:
        async with asyncio.TaskGroup() as group:
            for kind, number in steps:
                if kind == "ask":
                    self.tasks.append(group.create_task(self.visit()))
                elif kind == "cancel" and self.tasks:
                    self.tasks[number % len(self.tasks)].cancel()
                elif kind == "leave" and self.leaving:
                    self.leaving[number % len(self.leaving)].set()
                elif kind == "pass":
                    await self.clock.advance(number)
                elif kind == "hold":
                    self.gates.hold("a.example", self.clock.monotonic() + number)
                if number % 2:
                    await settle(3)
            while not all(task.done() for task in self.tasks):
                for leave in self.leaving:
                    leave.set()
                await self.clock.advance(10)


@given(st.lists(STEP, max_size=40), st.integers(1, 3), st.sampled_from([0.0, 1.0, 3.0]))
def test_whoever_comes_and_goes_the_gate_stays_polite_and_serves_everybody(
    steps: list[tuple[str, int]], concurrency: int, delay_s: float
) -> None:
    crowd = Crowd(concurrency, delay_s)

    asyncio.run(crowd.act(steps))

    assert crowd.most_inside <= concurrency
    assert all(later - earlier >= delay_s for earlier, later in pairwise(crowd.starts))
    assert len(crowd.starts) + sum(task.cancelled() for task in crowd.tasks) >= len(crowd.tasks)
    assert crowd.inside == 0


A_ORIGIN = "https://a.example"


async def starts_of(gates: Gates, clock: ManualClock, *, seconds: float, visitors: int = 3) -> list[float]:
    """When visitors of one host get in, in seconds from now, while this much time passes."""
    now_s, starts = clock.monotonic(), []

    async def visit() -> None:
        gate = await gates.enter("a.example")
        starts.append(clock.monotonic() - now_s)
        gates.leave(gate)

    async with asyncio.TaskGroup() as group:
        for _ in range(visitors):
            group.create_task(visit())
        await clock.advance(seconds)
    return starts


@pytest.mark.parametrize(
    ("asked_s", "starts"),
    [(5.0, [0, 5, 10]), (0.1, [0, 1, 2]), (None, [0, 1, 2]), (1e9, [0, 30, 60])],
    ids=["longer than ours", "shorter than ours", "nothing", "without end"],
)
async def test_a_crawl_delay_lengthens_the_delay_within_reason(
    clock: ManualClock, asked_s: float | None, starts: list[float]
) -> None:
    gates = gates_of(clock, delay_s=1.0)

    gates.slow_down("a.example", A_ORIGIN, asked_s)

    assert await starts_of(gates, clock, seconds=100) == starts


async def test_the_user_s_delay_for_a_host_stands_above_its_crawl_delay(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=9.0, rules={"a.example": HostRule(delay=timedelta(seconds=2))})

    gates.slow_down("a.example", A_ORIGIN, 20.0)

    assert await starts_of(gates, clock, seconds=100) == [0, 2, 4]


async def test_a_rule_without_a_delay_leaves_the_crawl_delay_in_force(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0, rules={"a.example": HostRule(concurrency=1)})

    gates.slow_down("a.example", A_ORIGIN, 20.0)

    assert await starts_of(gates, clock, seconds=100) == [0, 20, 40]


async def test_a_crawl_delay_that_is_taken_back_ends(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)
    gates.slow_down("a.example", A_ORIGIN, 20.0)

    gates.slow_down("a.example", A_ORIGIN, None)

    assert await starts_of(gates, clock, seconds=100) == [0, 1, 2]


async def test_of_what_the_origins_of_a_host_ask_for_the_longest_is_in_force(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)

    for other, asked_s in ((A_ORIGIN, 10.0), ("http://a.example", None), (f"{A_ORIGIN}:8443", 3.0)):
        gates.slow_down("a.example", other, asked_s)
    assert await starts_of(gates, clock, seconds=100) == [0, 10, 20]

    gates.slow_down("a.example", A_ORIGIN, None)
    assert await starts_of(gates, clock, seconds=100) == [0, 3, 6]


async def test_a_crawl_delay_slows_down_nobody_else(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)

    gates.slow_down("b.example", "https://b.example", 20.0)

    assert await starts_of(gates, clock, seconds=100) == [0, 1, 2]


async def test_the_wait_is_told_by_the_crawl_delay(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)
    gates.slow_down("a.example", A_ORIGIN, 10.0)
    gates.leave(await gates.enter("a.example"))

    assert gates.wait_s("a.example") == 10.0


@pytest.mark.parametrize(
    ("delay_s", "crawl_delay_s", "pages"),
    [(0.0, 0.0, 64), (1.0, 0.0, 15), (1.0, 5.0, 3), (1.0, 10.0, 2), (1.0, 20.0, 1), (1.0, None, 1), (0.1, 0.0, 64)],
)
def test_as_many_come_at_once_as_the_delay_in_force_lets_in(
    clock: ManualClock, delay_s: float, crawl_delay_s: float | None, pages: int
) -> None:
    gates = gates_of(clock, concurrency=2, delay_s=delay_s)

    if crawl_delay_s is not None:
        gates.slow_down("a.example", A_ORIGIN, crawl_delay_s)

    assert gates.at_once("a.example", 15.0, 64) == pages


@pytest.mark.parametrize(("delay_s", "pages"), [(0.0, 64), (1.0, 15), (20.0, 1)])
def test_a_host_that_was_not_asked_yet_says_nothing_of_how_many_others_let_in(
    clock: ManualClock, delay_s: float, pages: int
) -> None:
    gates = gates_of(clock, concurrency=2, delay_s=delay_s)

    assert gates.most_at_once(15.0, 64) == pages


@pytest.mark.parametrize("rule", [HostRule(delay=timedelta(seconds=1)), HostRule(robots="ignore")])
def test_where_robots_txt_has_no_say_in_the_delay_nobody_waits_for_it(clock: ManualClock, rule: HostRule) -> None:
    gates = gates_of(clock, delay_s=1.0, rules={"a.example": rule})

    assert gates.at_once("a.example", 15.0, 64) == 15


HOST, ORIGIN = "a.example", "https://a.example"


def gates_replaced(clock: ManualClock, delay_s: float) -> Gates:
    return Gates(HostSettings(delay=timedelta(seconds=delay_s)), clock, asked_s=clock.monotonic())


async def test_a_host_is_not_asked_within_its_delay_of_the_end_of_who_was_there_before() -> None:
    clock = ManualClock()
    gates = gates_replaced(clock, 10)
    await clock.advance(9)

    assert gates.enter_at_once(HOST) is None
    await clock.advance(1)
    assert gates.enter_at_once(HOST) is not None


async def test_a_delay_that_is_learned_only_now_counts_from_there_too() -> None:
    clock = ManualClock()
    gates = gates_replaced(clock, 0)
    await clock.advance(5)

    gates.slow_down(HOST, ORIGIN, 20.0)

    assert gates.wait_s(HOST) == pytest.approx(15.0)


@given(delay_s=st.floats(0, 60), crawl_delay_s=st.floats(0, 60), later_s=st.floats(0, 120))
async def test_nobody_waits_longer_than_the_delay_for_who_was_there_before(
    delay_s: float, crawl_delay_s: float, later_s: float
) -> None:
    clock = ManualClock()
    gates = gates_replaced(clock, delay_s)
    await clock.advance(later_s)
    gates.slow_down(HOST, ORIGIN, crawl_delay_s)

    longest = max(delay_s, min(crawl_delay_s, LONGEST_CRAWL_DELAY_S))
    assert gates.wait_s(HOST) == pytest.approx(max(longest - later_s, 0.0), abs=1e-5)


def gate(*, concurrency: int = 2, delay_s: float = 1.0) -> HostGate:
    return HostGate(Politeness(concurrency, delay_s, 3600.0, "obey"))


@pytest.mark.parametrize(
    ("pattern", "host", "matches"),
    [
        ("*.example.org", "a.example.org", True),
        ("*.example.org", "a.b.example.org", True),
        ("*.example.org", "example.org", False),
        ("*.example.org", "badexample.org", False),
        ("example.org", "example.org", True),
        ("Example.ORG", "example.org", True),
        ("example.org", "example.org.", True),
        ("*", "anything.example", True),
    ],
)
def test_a_pattern_covers_the_hosts_below_its_domain(pattern: str, host: str, matches: bool) -> None:  # noqa: FBT001 - a table
    assert is_match(pattern, host) is matches


def test_the_most_specific_rule_decides() -> None:
    rules = {
        "*": HostRule(concurrency=3),
        "*.example.org": HostRule(concurrency=4),
        "*.news.example.org": HostRule(concurrency=5),
        "a.news.example.org": HostRule(concurrency=6),
    }
    settings = HostSettings(rules=rules)

    found = [
        politeness_of(settings, host).concurrency
        for host in ("x.example", "a.example.org", "b.news.example.org", "a.news.example.org")
    ]

    assert found == [3, 4, 5, 6]


def test_what_a_rule_leaves_out_is_inherited() -> None:
    settings = HostSettings(delay=timedelta(seconds=7), rules={"a.example": HostRule(robots="ignore")})

    assert politeness_of(settings, "a.example") == Politeness(2, 7.0, 86_400.0, "ignore")


def test_a_full_host_waits_for_somebody_to_leave() -> None:
    full = gate(concurrency=1, delay_s=0.0)
    full.begin(0.0)

    assert full.next_turn(100.0) is None


def test_a_free_host_that_was_never_asked_is_open_at_once() -> None:
    assert gate().next_turn(0.0) == 0.0


@given(st.lists(st.floats(0, 100), min_size=1, max_size=30), st.floats(0, 10))
def test_two_starts_are_never_nearer_than_the_delay(arrivals: list[float], delay_s: float) -> None:
    host = gate(concurrency=100, delay_s=delay_s)
    starts: list[float] = []
    for arrival in sorted(arrivals):
        wait = host.next_turn(max(arrival, starts[-1] if starts else 0.0))
        assert wait is not None
        start = max(arrival, starts[-1] if starts else 0.0) + wait
        host.begin(start)
        starts.append(start)

    assert all(later - earlier >= delay_s - 1e-9 for earlier, later in pairwise(starts))


DELAYED_HOST = "a.example"

PAGE = f"https://{DELAYED_HOST}/news"


class Site:
    """A receiver over a site with a robots.txt; notes when each page was asked for."""

    def __init__(self, robots: str, rule: HostRule | None = None) -> None:
        self.clock, self.web = EagerClock(), ScriptedFetcher()
        rules = {DELAYED_HOST: rule} if rule else {}
        gates = Gates(HostSettings(delay=timedelta(seconds=1), rules=rules), self.clock)
        outage, in_flight = OutageWatch(self.clock), RequestSlots(1)
        cache = RobotsCache(self._get, None, self.clock)
        self.receiver = Receiver(gates, cache, outage, in_flight, FetchSettings(), self.clock)
        self.web.page(f"https://{DELAYED_HOST}/robots.txt", robots)
        self.web.page(PAGE, "<p>news")

    async def _get(self, request: HopRequest) -> HopResponse:
        return await self.receiver.hop(request, self.web)

    async def pauses(self) -> list[float]:
        """The seconds between the starts of three requests for the page."""
        starts = []
        for _ in range(3):
            await self.receiver.receive(PageRequest(PAGE, DELAYED_HOST, PageSettings()), self.web)
            starts.append(self.clock.monotonic())
        return [later - earlier for earlier, later in itertools.pairwise(starts)]


@pytest.mark.parametrize(
    ("robots", "pause_s"),
    [
        ("User-agent: *\nCrawl-delay: 12", 12),
        ("User-agent: tocsin\nCrawl-delay: 7\n\nUser-agent: *\nCrawl-delay: 12", 7),
        ("User-agent: other\nCrawl-delay: 12", 1),
        ("User-agent: *\nCrawl-delay: 0", 1),
        ("User-agent: *\nCrawl-delay: 86400", 30),
    ],
)
async def test_the_crawl_delay_of_our_record_lies_between_two_requests(robots: str, pause_s: float) -> None:
    assert await Site(robots).pauses() == [pause_s, pause_s]


async def test_where_the_user_set_a_delay_for_the_host_that_one_holds() -> None:
    site = Site("User-agent: *\nCrawl-delay: 12", HostRule(delay=timedelta(seconds=3)))

    assert await site.pauses() == [3, 3]


async def test_where_robots_txt_is_ignored_so_is_its_delay() -> None:
    site = Site("User-agent: *\nCrawl-delay: 12", HostRule(robots="ignore"))

    assert await site.pauses() == [1, 1]
    assert site.web.asked(f"https://{DELAYED_HOST}/robots.txt") == 0
