"""What a host is owed, and when it may be asked again."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.engine.hosts.gates import HostGate, Politeness, is_match, politeness_of
from tocsin.settings import HostRule, HostSettings


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
