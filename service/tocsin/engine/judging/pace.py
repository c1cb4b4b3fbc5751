"""How often a page changes, as its checks, its dates and its server say. Pure.

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

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import expm1, log1p, sqrt
from typing import TYPE_CHECKING, Final

import msgspec

from tocsin.model import CheckOutcome, PageKnowledge
from tocsin.model.knowledge import ChangePace
from tocsin.spec.links.http_dates import read_http_date
from tocsin.spec.signals import SOURCES
from tocsin.spec.signals.instants import to_value
from tocsin.spec.topper.state import TOPPER_FIELDS, tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.engine.judging.judge import Judgement, Occasion
    from tocsin.model import Instant, PageTask
    from tocsin.settings import PageSettings
    from tocsin.spec.topper.state import PageState


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
_UNKNOWN: Final = ChangePace()


def note(
    pace: ChangePace | None,
    *,
    since: Instant | None,
    now: Instant,
    changed: bool,
    declared_at: Instant | None,
    every_s: float,
) -> ChangePace | None:
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
    return ChangePace(before.checks * left + 1, found, found_s, dated, quiet_s)


def rate_of(pace: ChangePace | None, every_s: float) -> float:
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


# What a check adds to what is known of a page's pace, where the user asks for adaptive checking; pure.


_CHANGES: Final = frozenset({CheckOutcome.MINOR, CheckOutcome.MAJOR})
_MODIFIED: Final = ("dc.modified", "dcterms.modified", "article:modified_time")
_NO_DATES: Final = frozenset({"json-ld.version", "header.etag"})
_BY_TRUST: Final = tuple(
    tuple(name for name, its_source in SOURCES.items() if its_source == source and name not in _NO_DATES)
    for source in ("author", "list", "server")
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LONGEST_REMEMBERED: Final = 64
_NEVER_READ: Final = PageKnowledge("", {})


def is_paced(policy: PageSettings) -> bool:
    """Say whether a page's interval follows from its changes: a cron expression knows no interval."""
    return policy.adaptive and not policy.cron


def pace_of(task: PageTask) -> ChangePace | None:
    """Give what earlier checks found."""
    known = task.beside.known if task.beside is not None else None
    return known.pace if known is not None else None


def with_pace(occasion: Occasion, judged: Judgement, latest: PageState) -> PageKnowledge | None:
    """Give what is known of a page after a check, its pace included; None where that is as before.

    latest  what was read of its twelve fields
    A check whose answer is not kept (too soon, a suspect) says nothing: the next one has the same state before it.
    """
    task, policy = occasion.task, occasion.policy
    known = judged.followed.known
    if judged.state is None or not is_paced(policy):
        return known
    before = known or (task.beside.known if task.beside is not None else None) or _NEVER_READ
    at = judged.state.stored_at
    pace = note(
        before.pace,
        since=task.state.last_at if task.state is not None else None,
        now=at,
        changed=_is_changed(judged),
        declared_at=find_declared(latest, before.values, at),
        every_s=policy.every.total_seconds(),
    )
    return known if pace == before.pace else msgspec.structs.replace(before, pace=pace)


def _is_changed(judged: Judgement) -> bool:
    """Say whether something of the page changed: that an equal state is told again after a long time (T45) is none."""
    if judged.outcome not in _CHANGES:
        return False
    return bool(judged.comparison and judged.comparison.changed) or bool(judged.ruling and judged.ruling.speaking)


def find_declared(state: PageState, values: Mapping[str, str], now: Instant) -> Instant | None:
    """Find when a page was changed last, as it says itself; else as lists say that name it, else as its server does.

    values  of its signals, by name
    Of several dates the latest counts that is not to come.
    """
    own = [text for field in _MODIFIED if (text := state[field]) is not None]
    for field in TOPPER_FIELDS:
        own += tokens_of(state, field)
    for names, more in zip(_BY_TRUST, (own, (), ()), strict=True):
        latest = _latest((*more, *(text for name in names if (text := values.get(name)) is not None)), now)
        if latest is not None:
            return latest
    return None


def _latest(texts: Iterable[str], now: Instant) -> Instant | None:
    moments = (_remembered(text) if len(text) <= _LONGEST_REMEMBERED else None for text in texts)
    return max((moment for moment in moments if moment is not None and moment <= now), default=None)


def _instant_of(text: str) -> Instant | None:
    """Read a date, in UTC where it names no zone; None for any other text."""
    value = to_value(text)
    if value is None or value[4:5] != "-":
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return ((read if read.tzinfo is not None else read.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


# A page's dates are mostly those of its last check; no date is longer.
_remembered = lru_cache(maxsize=16_384)(_instant_of)


# What a server's headers say of how long an answer stays true; pure.


LONGEST_S: Final = 10 * 365 * 86_400
"""What is longer counts as this; the caller clamps to far less."""
_MOST_CHARS: Final = 4096
_MOST_DIGITS: Final = 12
_STALE: Final = frozenset({"no-cache", "no-store"})
_LIFETIMES: Final = frozenset({"max-age", "s-maxage"})


def fresh_for(headers: Iterable[tuple[str, str]]) -> int | None:
    """Tell for how many more seconds a server wants its answer to be taken as it is; None where it says nothing.

    headers  of an answer, 304s included; names in lower case
    Of a lifetime for browsers and one for caches on the way the shorter one counts, and so it is with whatever is said
    twice: nobody is kept from a check by a doubt. `immutable` says something of the time within a lifetime only
    (RFC 8246), and none by itself.
    Source  RFC 9111, 4.2.1 to 4.2.3, 5.1 to 5.3.
    """
    control: list[str] = []
    ages: list[str] = []
    expires: list[str] = []
    dates: list[str] = []
    kept = {"cache-control": control, "age": ages, "expires": expires, "date": dates}
    for name, value in headers:
        if name in kept:
            kept[name].append(value)
    if not control and not expires:
        return None
    lifetime_s = _lifetime_of(control, expires, dates)
    left_s = lifetime_s - max((_seconds(age) or 0 for age in ages), default=0)
    return min(left_s, LONGEST_S) if left_s > 0 else None


def _lifetime_of(control: Sequence[str], expires: Sequence[str], dates: Sequence[str]) -> int:
    lifetimes = []
    for name, value in _directives(",".join(control)):
        if name in _STALE:
            return 0
        if name in _LIFETIMES:
            # A lifetime that cannot be read means none, which is what caches are told to make of it.
            lifetimes.append(_seconds(value) or 0)
    if lifetimes:
        return min(lifetimes)
    moments = [read_http_date(text) for text in expires]
    sent = [moment for text in dates if (moment := read_http_date(text)) is not None]
    if not moments or not sent:
        return 0
    return min(0 if moment is None else int((moment - max(sent)).total_seconds()) for moment in moments)


def _directives(text: str) -> Iterator[tuple[str, str]]:
    """Split Cache-Control into names in lower case and values without their quotes; no comma within quotes splits."""
    if len(text) > _MOST_CHARS:
        yield "no-cache", ""  # nobody sends so many directives to be understood
        return
    for part in _parts(text):
        name, _, value = part.partition("=")
        yield name.strip(" \t").lower(), value.strip(" \t").strip('"')


def _parts(text: str) -> Iterator[str]:
    if '"' not in text:
        yield from text.split(",")
        return
    start, at, quoted = 0, 0, False
    while at < len(text):
        if text[at] == "\\" and quoted:
            at += 1
        elif text[at] == '"':
            quoted = not quoted
        elif text[at] == "," and not quoted:
            yield text[start:at]
            start = at + 1
        at += 1
    yield text[start:]


def _seconds(text: str) -> int | None:
    digits = text.strip(" \t")
    if not (digits.isascii() and digits.isdigit()):
        return None
    return int(digits) if len(digits) <= _MOST_DIGITS else LONGEST_S
