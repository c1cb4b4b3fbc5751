"""Pages whose changes are known for a whole year: which kinds there are, and how often each changes.

The rates of most follow what studies of the web found. J. Cho and H. Garcia-Molina ("The evolution of the web and
implications for an incremental crawler", VLDB 2000) visited 720,000 pages daily for four months: some 23 % had changed
at nearly every visit, some 30 % never, and the others spread evenly over the orders of magnitude between. Mean times
between changes that are log-normal, with a median of 16 days and a standard deviation of 3.8 in natural logarithms,
have these shares. That the changes of one page come as a Poisson process is what that study found, and B. Brewington
and G. Cybenko, "How dynamic is the web?" (WWW9, 2000). Beside them stands what is no such process at all: there
estimators for one are at their weakest.
"""

from __future__ import annotations

from math import exp, log
from random import Random
from typing import Final, NamedTuple

S: Final = 1_000_000
HOUR: Final = 3600 * S
DAY: Final = 24 * HOUR
START: Final = 20_000 * DAY
"""When every year begins."""
_MEDIAN_DAYS: Final = 16.0
_SIGMA: Final = 3.8
_SHORTEST_DAYS: Final = 0.5
"""Pages that change faster count as these: daily visits say no more, and that is mostly noise, which is no change."""

KINDS: Final = (
    ("at any time", 0.60, "with a rate of its own"),
    ("news", 0.08, "three to eight times a day between 6 and 22 h, at weekends a third as often"),
    ("weekly", 0.06, "once a week, within an hour of the same time"),
    ("bursts", 0.08, "in bursts of two days with four changes a day, twenty to sixty days apart"),
    ("falls asleep", 0.04, "once a day on average, and from some day on never again"),
    ("wakes up", 0.04, "never, and from some day on once a day on average"),
    ("still", 0.10, "never"),
)
RATES: Final = (
    (1.0, "at any time, within a day"),
    (7.0, "at any time, within a week"),
    (30.0, "at any time, within a month"),
    (120.0, "at any time, within four months"),
    (float("inf"), "at any time, more seldom"),
)
"""By the mean time between two changes of a page, in days."""
DATES: Final = (
    ("none", 0.50, "declares none"),
    ("true", 0.43, "declares when it changed last"),
    ("stuck", 0.03, "declares its first date for ever"),
    ("now", 0.02, "declares the moment of each answer"),
    ("shifted", 0.015, "declares it some hours off, as with a wrong time zone"),
    ("ahead", 0.005, "declares a date a year ahead"),
)


class Page(NamedTuple):
    """A page's year.

    kind     a key of KINDS; with a rate of its own, a class of RATES
    changes  all instants at which it becomes another one, in order, since its year began
    before   when it changed last before that
    dates    what it declares: a key of DATES
    shift    how far its date is off
    """

    number: int
    kind: str
    changes: list[int]
    before: int
    dates: str
    shift: int

    def declared_at(self, now: int, last: int) -> int | None:
        """Tell what date the page declares; last is when it really changed last."""
        if self.dates == "true":
            return last
        return {
            "none": None,
            "stuck": self.before,
            "now": now,
            "shifted": last + self.shift,
            "ahead": now + 365 * DAY,
        }[self.dates]


def make_page(number: int, days: int, seed: int) -> Page:
    """Make a page; the same number and seed make the same page."""
    random = Random(f"{seed} {number}")  # noqa: S311 - nothing is to be kept secret
    kind = _pick(random, KINDS)
    end = START + days * DAY
    before = START - round(random.expovariate(1 / 60) * DAY)
    if kind == "at any time":
        mean = max(exp(random.gauss(log(_MEDIAN_DAYS), _SIGMA)), _SHORTEST_DAYS)
        changes = _poisson(random, START, end, mean * DAY)
        before = START - round(min(random.expovariate(1 / mean), 3650) * DAY)
        kind = next(name for longest, name in RATES if mean <= longest)
    elif kind == "news":
        changes = _news(random, days)
    elif kind == "weekly":
        first = START + random.randrange(7 * DAY)
        changes = [at for week in range(days // 7 + 1) if (at := first + week * 7 * DAY + random.randrange(HOUR)) < end]
    elif kind == "bursts":
        changes = _bursts(random, end)
    elif kind == "falls asleep":
        changes = _poisson(random, START, START + random.randrange(days * DAY), DAY)
    elif kind == "wakes up":
        changes = _poisson(random, START + random.randrange(days * DAY), end, DAY)
    else:
        changes = []
    shift = random.choice((-9, -5, -2, -1, 1, 2, 5, 8)) * HOUR
    return Page(number, kind, changes, before, _pick(random, DATES), shift)


def _pick(random: Random, shares: tuple[tuple[str, float, str], ...]) -> str:
    place = random.random()
    for name, share, _ in shares:
        place -= share
        if place < 0:
            return name
    return shares[-1][0]


def _poisson(random: Random, start: int, end: int, mean: float) -> list[int]:
    found, at, draw, rate = [], float(start), random.expovariate, 1 / mean
    while (at := at + draw(rate)) < end:
        found.append(int(at))
    return found


def _news(random: Random, days: int) -> list[int]:
    a_day, zone = random.randint(3, 8), random.randrange(24) * HOUR
    found = []
    for day in range(days):
        count = a_day if day % 7 < 5 else max(a_day // 3, 1)
        found += [START + day * DAY + zone + 6 * HOUR + random.randrange(16 * HOUR) for _ in range(count)]
    end = START + days * DAY
    return sorted(at for at in found if at < end)


def _bursts(random: Random, end: int) -> list[int]:
    found: list[int] = []
    at = START + random.randrange(40 * DAY)
    while at < end:
        found += _poisson(random, at, min(at + 2 * DAY, end), DAY / 4)
        at += random.randint(20, 60) * DAY
    return found
