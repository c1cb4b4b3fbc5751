"""How often a page changes, and how often it is worth a request; pure.

Changes are taken to come as a Poisson process. Its rate is estimated as in J. Cho and H. Garcia-Molina, "Estimating
frequency of change", ACM Transactions on Internet Technology 3(3), 2003:

- Of a change that came somewhere between two checks, only that it came is known. For checks at equal intervals the
  paper's estimator with reduced bias is -log((n - X + 0.5) / (n + 0.5)) an interval, with n checks and X changes found.
  For checks at any times the most likely rate r is the one where the sum of t / (exp(r t) - 1), over the intervals t
  that ended with a change, is the time of the others. Here the mean of these t stands for each, so that a few numbers
  for a page are enough, and half of it is added to that time: with equal intervals this is the estimator above.
- Where the page declares when it changed last, the paper counts one change, and the time since then as quiet (its
  estimator from last-modified dates). Both kinds of change stand in one likelihood.

It is weighed with what the user expects: that a page nobody knows changes once in `every`, as if half a change had been
seen. So no rate is ever zero or infinite, which is what the paper corrects its estimators for where checks are few.

From rate to interval: asking in proportion to the rate is worse for freshness than asking all alike (the same authors,
"Effective page refresh policies for Web crawlers", ACM Transactions on Database Systems 28(4), 2003), and what is best
for freshness gives up the pages that change most. Who watches wants something else: to hear of a change soon. A change
waits half an interval on average; with rates r, and intervals i that cost so many requests in all, the sum of r i / 2
is least where i goes with 1 / sqrt(r) (K. C. Sia, J. Cho, H.-K. Cho, "Efficient monitoring algorithm for fast news
alerts", IEEE Transactions on Knowledge and Data Engineering 19(7), 2007). `every` gives the scale: a page that changes
once in `every` is checked once in `every`; one that changes four times as often, twice as often.
"""

from __future__ import annotations

from math import expm1, log1p, sqrt
from typing import TYPE_CHECKING, Final

from tocsin.model.signals import Pace

if TYPE_CHECKING:
    from tocsin.model import Instant

_SECOND: Final = 1_000_000
HALF_LIFE_CHECKS: Final = 20
HALF_LIFE_S: Final = 60 * 86_400.0
"""After so many checks or seconds, whichever come first, evidence counts half: a page that falls asleep is noticed."""
PRIOR_CHANGES: Final = 0.5
"""Weight of what the user expects, in changes."""
LOOK_BACK: Final = 4
"""At its first check a page's own date speaks for so many of its intervals at most."""
FINEST_AGE: Final = 1 / 8
"""Of an interval: no declared date counts as nearer. Pages that declare the moment of each answer would get no end."""
_TRACE: Final = 1e-3
"""Fewer changes than this are none: what fades for years must not end in numbers too small to divide by."""
_SATURATED: Final = 500.0
"""Where so many changes are expected in an interval, that one was found says nothing."""
_ENOUGH: Final = 1e-2
"""The last step relative to the rate; the error left is its square."""
_MOST_STEPS: Final = 30
_UNKNOWN: Final = Pace()


def note(
    pace: Pace | None,
    *,
    since: Instant | None,
    now: Instant,
    changed: bool,
    declared_at: Instant | None,
    every_s: float,
) -> Pace | None:
    """Add what a check found; a check that says nothing adds nothing.

    since        the check before that received the page; None: this is the first, and only its date can say something,
                 as if it had been checked `LOOK_BACK` intervals before
    changed      it is another page than at that check
    declared_at  when the page itself says it changed last; a date that is to come, or that did not move when the page
                 changed, says nothing
    every_s      how often the page is checked while nobody knows it
    """
    if since is None:
        if declared_at is None or declared_at > now:
            return pace
        since = now - round(LOOK_BACK * every_s * _SECOND)
        changed = declared_at > since
    span_s = (now - since) / _SECOND
    if span_s <= 0:  # the clock was set back
        return pace
    before = _UNKNOWN if pace is None else pace
    left = 0.5 ** max(1 / HALF_LIFE_CHECKS, span_s / HALF_LIFE_S)
    found, found_s, dated, quiet_s = (
        before.found * left,
        before.found_s * left,
        before.dated * left,
        before.quiet_s * left,
    )
    if not changed:
        quiet_s += span_s
    elif declared_at is not None and since < declared_at <= now:
        dated += 1
        quiet_s += max((now - declared_at) / _SECOND, span_s * FINEST_AGE)
    else:
        found += 1
        found_s += span_s
    return Pace(before.checks * left + 1, found, found_s, dated, quiet_s)


def rate_of(pace: Pace | None, every_s: float) -> float:
    """Estimate how many changes a second a page sees; once in `every_s` where nothing is known of it."""
    known = _UNKNOWN if pace is None else pace
    dated, quiet_s = known.dated + PRIOR_CHANGES, known.quiet_s + PRIOR_CHANGES * every_s
    if known.found < _TRACE or known.found_s <= 0:
        return dated / quiet_s
    found_s = known.found_s
    mean_s = found_s / known.found
    quiet_s += mean_s / 2
    # Each kind of change alone makes less than both together: from below, the steps of Newton's method for
    # found_s / (exp(r mean_s) - 1) + dated / r = quiet_s lead up to its one solution and never beyond.
    found = max(dated / quiet_s, log1p(found_s / quiet_s) / mean_s)
    for _ in range(_MOST_STEPS):
        if found * mean_s > _SATURATED:
            break
        grown = expm1(found * mean_s)
        excess = found_s / grown + dated / found - quiet_s
        step = excess / (found_s * mean_s * (grown + 1) / (grown * grown) + dated / (found * found))
        found += step
        if step <= found * _ENOUGH:
            break
    return found


def interval_s(rate: float, every_s: float) -> float:
    """Tell how many seconds should lie between two checks of a page that changes so often, before any bounds."""
    return sqrt(every_s / rate)
