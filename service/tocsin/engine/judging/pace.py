"""How often a page changes, as its checks, its dates and its server say. Pure.

Changes are modelled as a Poisson process. Its rate is estimated as in J. Cho and H. Garcia-Molina, "Estimating
frequency of change", ACM Transactions on Internet Technology 3(3), 2003:

- Of a change between two checks, only its occurrence is known. For checks at equal intervals the paper's estimator with
  reduced bias is -log((n - X + 0.5) / (n + 0.5)) per interval, with n checks and X changes found. For checks at any
  times the most likely rate r is the one where the sum of t / (exp(r t) - 1), over the intervals t that ended with a
  change, equals the time of the others. Here the mean of these t replaces each of them, so that a few numbers per page
  are enough, and half of it is added to that time: with equal intervals this is the estimator above.
- Where the page declares the time of its last change, the paper counts one change, and the time since then as quiet
  (its estimator from last-modified dates). One likelihood holds both kinds of change.

The prior is the user's expectation: an unknown page changes once in `every`, with the weight of half a change. So no
rate is zero or infinite, which is what the paper corrects its estimators for when checks are few.

From rate to interval: checking in proportion to the rate is worse for freshness than equal intervals (the same authors,
"Effective page refresh policies for Web crawlers", ACM Transactions on Database Systems 28(4), 2003), and the optimum
for freshness gives up the pages that change most. Watchers want to hear of changes soon. A change waits half an
interval on average; for rates r and a fixed number of requests, the sum of r i / 2 over the intervals i is least for i
proportional to 1 / sqrt(r) (K. C. Sia, J. Cho, H.-K. Cho, "Efficient monitoring algorithm for fast news alerts", IEEE
Transactions on Knowledge and Data Engineering 19(7), 2007). `every` is the scale: a page that changes once in `every`
is checked once in `every`; one that changes four times as often, twice as often.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import expm1, log1p, sqrt
from typing import TYPE_CHECKING, Final

import msgspec

from tocsin.model import CheckOutcome, PageKnowledge
from tocsin.model.knowledge import ChangePace
from tocsin.spec.infrastructure.datetimes import read_http_date
from tocsin.spec.signals import SIGNALS
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
# Checks or seconds, whichever come first, after which evidence counts half: pages can calm down.
HALF_LIFE_S: Final = 60 * 86_400.0
# Weight of the user's expectation, in changes.
PRIOR_CHANGES: Final = 0.5
# Intervals that a page's own date counts for at its first check, at most.
LOOK_BACK: Final = 4
# Least age of a declared date, as a share of an interval: pages may declare the moment of each answer.
FINEST_AGE: Final = 1 / 8
# Fewer changes count as none: evidence that fades for years must not become too small to divide by.
_TRACE: Final = 1e-3
# Changes expected in an interval from which on finding one is no information.
_SATURATED: Final = 500.0
# Size of the last step relative to the rate; the remaining error is its square.
_ENOUGH: Final = 1e-2
_MOST_STEPS: Final = 30
_UNKNOWN: Final = ChangePace()
_CHANGES: Final = frozenset({CheckOutcome.MINOR, CheckOutcome.MAJOR})
_MODIFIED: Final = ("dc.modified", "dcterms.modified", "article:modified_time")
_BY_TRUST: Final = tuple(
    tuple(signal.name for signal in SIGNALS if signal.source == source and signal.is_date)
    for source in ("author", "list", "server")
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LONGEST_REMEMBERED: Final = 64
_NEVER_READ: Final = PageKnowledge("", {})
# What is longer counts as this; the caller clamps to far less.
LONGEST_S: Final = 10 * 365 * 86_400
_MOST_CHARS: Final = 4096
_MOST_DIGITS: Final = 12
_STALE: Final = frozenset({"no-cache", "no-store"})
_LIFETIMES: Final = frozenset({"max-age", "s-maxage"})


def note(
    pace: ChangePace | None,
    *,
    since: Instant | None,
    now: Instant,
    changed: bool,
    declared_at: Instant | None,
    every_s: float,
) -> ChangePace | None:
    """Add the evidence of a check.

    since        time of the previous check that received the page; None for the first one, of which only a declared
                 date counts, as if the page had been checked `LOOK_BACK` intervals before
    changed      the page differs from that check's
    declared_at  the page's own date of its last change; ignored if in the future or not moved by the change
    every_s      interval of a page of unknown pace
    """
    if since is None:
        if declared_at is None or declared_at > now:
            return pace
        since = now - round(LOOK_BACK * every_s * _SECOND)
        changed = declared_at > since
    span_s = (now - since) / _SECOND
    if span_s <= 0:  # The clock was set back.
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
    """Estimate the changes of a page per second; one in `every_s` for an unknown page."""
    known = _UNKNOWN if pace is None else pace
    dated, quiet_s = known.dated + PRIOR_CHANGES, known.quiet_s + PRIOR_CHANGES * every_s
    if known.found < _TRACE or known.found_s <= 0:
        return dated / quiet_s
    found_s = known.found_s
    mean_s = found_s / known.found
    quiet_s += mean_s / 2
    # The rate by either kind of change alone is a lower bound: from there Newton's method for
    # found_s / (exp(r mean_s) - 1) + dated / r = quiet_s rises to its one solution and never beyond.
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
    """Return the seconds between two checks of a page with this rate of changes, before any bounds."""
    return sqrt(every_s / rate)


# What a check adds to what is known of a page's pace, where the user asks for adaptive checking; pure.


def is_paced(policy: PageSettings) -> bool:
    """Tell whether a page's interval follows its changes; a cron expression has no interval."""
    return policy.adaptive and not policy.cron


def pace_of(task: PageTask) -> ChangePace | None:
    """Return the pace that earlier checks found."""
    known = task.beside.known if task.beside is not None else None
    return known.pace if known is not None else None


def with_pace(occasion: Occasion, judged: Judgement, latest: PageState) -> PageKnowledge | None:
    """Return what is known of a page after a check, with its pace; None if unchanged.

    latest  the state just read
    """
    # An answer that is not kept (too soon, a suspect) is no evidence: the next check has the same state before it.
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
    """Tell whether something of the page changed; an equal state told again after a long time (T45) did not."""
    if judged.outcome not in _CHANGES:
        return False
    return bool(judged.comparison and judged.comparison.changed) or bool(judged.ruling and judged.ruling.speaking)


def find_declared(state: PageState, values: Mapping[str, str], now: Instant) -> Instant | None:
    """Return the declared time of a page's last change: its own, else that of lists, else its server's.

    values  of its signals, by name
    Of several dates the latest one that is not in the future counts.
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
    """Read a date, in UTC unless it names a zone; None for any other text."""
    value = to_value(text)
    if value is None or value[4:5] != "-":
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return ((read if read.tzinfo is not None else read.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


# Most dates of a page are those of its last check.
_remembered = lru_cache(maxsize=16_384)(_instant_of)


# What a server's headers say of how long an answer stays true; pure.


def fresh_for(headers: Iterable[tuple[str, str]]) -> int | None:
    """Return for how many more seconds a server declares its answer fresh; None if it does not.

    headers  of an answer, 304s included; names in lower case
    Source  RFC 9111, 4.2.1 to 4.2.3, 5.1 to 5.3. `immutable` gives no lifetime of its own (RFC 8246).
    """
    # Of contradicting or repeated values the shortest counts: doubt must not delay a check.
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
            # RFC 9111, 4.2.1: caches are encouraged to consider an invalid lifetime stale.
            lifetimes.append(_seconds(value) or 0)
    if lifetimes:
        return min(lifetimes)
    moments = [read_http_date(text) for text in expires]
    sent = [moment for text in dates if (moment := read_http_date(text)) is not None]
    if not moments or not sent:
        return 0
    return min(0 if moment is None else int((moment - max(sent)).total_seconds()) for moment in moments)


def _directives(text: str) -> Iterator[tuple[str, str]]:
    """Split Cache-Control into names in lower case and values without quotes; a comma within quotes does not split."""
    if len(text) > _MOST_CHARS:
        yield "no-cache", ""  # Such a header is an attack or a fault.
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
