"""The same pages for a year, checked adaptively, at one interval for the same number of requests, and by known rates.

Pages are made anew from their number and the seed whenever they are needed, so that memory holds one at a time, and any
number of processes gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from itertools import chain
from math import sqrt
from multiprocessing import get_context
from typing import Final

from msgspec import Struct, structs

from benchmarks.freshness.outcome import Outcome
from benchmarks.freshness.pages import make_page
from benchmarks.freshness.year import check_adaptively, check_regularly, first_check, settings_of

EVERY: Final = timedelta(hours=24)
ADAPTIVE: Final = "adaptive"
FIXED: Final = "fixed, same requests"
USUAL: Final = "fixed, 24h"
BOUNDED: Final = "adaptive, every_max 4d"
LONGEST: Final = timedelta(days=4)
KNOWN: Final = "rates known, same requests"
CURVE_H: Final = {ADAPTIVE: (12, 48, 96), FIXED: (6, 12, 24, 48, 96, 192)}
"""Intervals for the curve of what requests buy; they are tried on a tenth of the pages, as BOUNDED is."""
_PAGES_A_TASK: Final = 500


class Outcomes:
    """Outcomes by the kind of page and the way to choose times."""

    def __init__(self) -> None:
        self.by_kind: dict[tuple[str, str], Outcome] = {}

    def of(self, kind: str, way: str) -> Outcome:
        """Give one, new where it is not there."""
        return self.by_kind.setdefault((kind, way), Outcome())

    def merge(self, other: Outcomes) -> None:
        """Add those of other pages."""
        for (kind, way), outcome in other.by_kind.items():
            self.of(kind, way).merge(outcome)

    def all(self, way: str) -> Outcome:
        """Give what all kinds together came to."""
        whole = Outcome()
        for (_, its_way), outcome in self.by_kind.items():
            if its_way == way:
                whole.merge(outcome)
        return whole


class Found(Struct, frozen=True):
    """What pages came to, and how many changes a day each of them sees."""

    outcomes: Outcomes
    rates: list[float]


class Result(Struct, frozen=True):
    """What a simulation found.

    main    the ways that are compared
    kinds   the same for each kind of page, by (kind, way)
    curve   (way, outcome) for further intervals
    """

    pages: int
    days: int
    seed: int
    main: Mapping[str, Outcome]
    kinds: Mapping[tuple[str, str], Outcome]
    curve: Sequence[tuple[str, Outcome]]
    interval: timedelta


def simulate(pages: int, days: int, seed: int, *, processes: int = 1) -> Result:
    """Run it all; more processes change nothing but the time it takes."""
    context = ProcessPoolExecutor(processes, mp_context=get_context("spawn")) if processes > 1 else None
    with context or nullcontext() as pool:
        run = partial(_run, map if pool is None else pool.map)
        whole, tenth = range(1, pages + 1), range(1, max(pages // 10, 1) + 1)
        adaptive = run(partial(_adaptively, days=days, seed=seed, every=EVERY), whole)
        bounded = run(partial(_adaptively, days=days, seed=seed, every=EVERY, every_max=LONGEST), tenth)
        paced = adaptive.outcomes.all(ADAPTIVE)
        interval = timedelta(days=1 / paced.requests_a_day)
        scale = _scale_for(adaptive.rates, paced.requests_a_day)
        regular = run(partial(_compared, days=days, seed=seed, interval=interval, scale=scale), whole).outcomes
        curve = [(ADAPTIVE, paced)]
        for hours in CURVE_H[ADAPTIVE]:
            task = partial(_adaptively, days=days, seed=seed, every=timedelta(hours=hours))
            curve.append((ADAPTIVE, run(task, tenth).outcomes.all(ADAPTIVE)))
        for hours in CURVE_H[FIXED]:
            task = partial(_regularly, days=days, seed=seed, every=timedelta(hours=hours))
            curve.append((FIXED, run(task, tenth).outcomes.all(FIXED)))
    main = {ADAPTIVE: paced, **{way: regular.all(way) for way in (FIXED, KNOWN, USUAL)}}
    main[BOUNDED] = bounded.outcomes.all(ADAPTIVE)
    kinds = {**adaptive.outcomes.by_kind, **regular.by_kind}
    kinds.update({(kind, BOUNDED): outcome for (kind, _), outcome in bounded.outcomes.by_kind.items()})
    return Result(pages, days, seed, main, kinds, curve, interval)


def _run(
    spread: Callable[..., Iterable[tuple[Outcomes, list[float]]]],
    task: Callable[[range], tuple[Outcomes, list[float]]],
    numbers: range,
) -> Found:
    tasks = [numbers[at : at + _PAGES_A_TASK] for at in range(0, len(numbers), _PAGES_A_TASK)]
    merged, rates = Outcomes(), list[list[float]]()
    for outcomes, some in spread(task, tasks):
        merged.merge(outcomes)
        rates.append(some)
    return Found(merged, list(chain.from_iterable(rates)))


def _adaptively(
    numbers: range, *, days: int, seed: int, every: timedelta, every_max: timedelta | None = None
) -> tuple[Outcomes, list[float]]:
    found, rates = Outcomes(), []
    settings = settings_of(every, adaptive=True)
    if every_max is not None:
        settings = structs.replace(settings, every_max=every_max)
    for number in numbers:
        page = make_page(number, days, seed)
        rates.append(len(page.changes) / days)
        check_adaptively(page, settings, days, found.of(page.kind, ADAPTIVE))
    return found, rates


def _compared(
    numbers: range, *, days: int, seed: int, interval: timedelta, scale: float
) -> tuple[Outcomes, list[float]]:
    found = Outcomes()
    for number in numbers:
        page = make_page(number, days, seed)
        first = first_check(page, settings_of(EVERY, adaptive=False))
        best = timedelta(days=_best_days(len(page.changes) / days, scale))
        for way, every in ((FIXED, interval), (KNOWN, best), (USUAL, EVERY)):
            check_regularly(page, first, every, days, found.of(page.kind, way))
    return found, []


def _regularly(numbers: range, *, days: int, seed: int, every: timedelta) -> tuple[Outcomes, list[float]]:
    found = Outcomes()
    for number in numbers:
        page = make_page(number, days, seed)
        check_regularly(page, first_check(page, settings_of(every, adaptive=False)), every, days, found.of("", FIXED))
    return found, []


def _best_days(changes_a_day: float, scale: float) -> float:
    """Give the interval that makes the mean delay least where the rates are known, within the service's bounds."""
    bounds = settings_of(EVERY, adaptive=True)
    least, most = bounds.every_min / timedelta(days=1), bounds.every_max / timedelta(days=1)
    return min(max(scale / sqrt(changes_a_day), least), most) if changes_a_day else most


def _scale_for(rates: Sequence[float], requests_a_day: float) -> float:
    """Find the scale at which those intervals cost so many requests a page and day, by bisection."""
    low, high = 1e-6, 1e6
    for _ in range(60):
        scale = sqrt(low * high)
        if _cost(rates, scale) / len(rates) > requests_a_day:
            low = scale
        else:
            high = scale
    return sqrt(low * high)


def _cost(rates: Iterable[float], scale: float) -> float:
    return sum(1 / _best_days(rate, scale) for rate in rates)
