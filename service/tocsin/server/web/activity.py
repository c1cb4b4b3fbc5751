"""*Activity*: is all well, and what did the service do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import inf
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.model import (
    ActivityRow,
    AlertQuery,
    ChannelState,
    Instant,
    LiveState,
    PageQuery,
    View,
    as_configured,
)
from tocsin.server.actions import Act
from tocsin.server.decisions import missing, redeliver_dead
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.web.log import read_log
from tocsin.server.web.rendering import ask, go_on, in_time, language_of, page, together
from tocsin.server.web.telling import tell
from tocsin.settings import Scope

# Drawings for the web pages: the activity of a day as bars, the versions of a page as a timeline. Pure.
#
# A chart has one SVG path per series; CSS classes give the colours, so that dark mode has its own.


# A day.
SPANS: Final = 48
SPAN_US: Final = 30 * 60 * 1_000_000  # A day in half hours, which is legible on a telephone.

# Units of the drawing; the page scales it.
WIDTH: Final = 480
HEIGHT: Final = 100
_GAP: Final = 1
_LEAST: Final = 2.0  # The height of the smallest value, so that it stays visible.

AS_BEFORE: Final = ("unchanged", "too-soon")
NOT_RECEIVED: Final = ("unreachable", "deferred", "disallowed", "suspect")
LEFT_OUT: Final = ("skipped", "not-subject")

# A check that begins later than this after its time is late, as one of many pages at once is not.
_LATE_S: Final = 60.0
_MOST: Final = 0.99


class ActivityBar(Struct, frozen=True):
    """The activity within one bar, from `at` on."""

    at: Instant
    outcomes: dict[str, int]
    alerts: int = 0
    rendered: int = 0
    wire_bytes: int = 0
    saved_bytes: int = 0

    def of(self, *outcomes: str) -> int:
        """The number of checks with one of these outcomes."""
        return sum(self.outcomes.get(name, 0) for name in outcomes)

    @property
    def checks(self) -> int:
        """The number of checks."""
        return sum(self.outcomes.values())


class Plot(Struct, frozen=True):
    """Checks as stacked bars.

    same, minor, major, bad  a path each
    top                      the value of the upper line
    labels                   (share of the width in percent, time) each
    """

    same: str
    minor: str
    major: str
    bad: str
    top: int
    most: int
    least: int
    labels: tuple[tuple[float, Instant], ...]


def gather(
    rows: Iterable[ActivityRow], now: Instant, *, spans: int = SPANS, span_us: int = SPAN_US
) -> list[ActivityBar]:
    """Sum the rows of five minutes into spans; the last one is in progress.

    Returns exactly `spans` of them, oldest first; rows outside are left out.
    """
    # Spans begin at whole half hours, not at `now`: bars stay in their places while the page is reloaded.
    first = now // span_us - spans + 1
    sums: list[dict[str, int]] = [{} for _ in range(spans)]
    others = [[0, 0, 0, 0] for _ in range(spans)]
    for row in rows:
        place = row.at // span_us - first
        if 0 <= place < spans:
            for outcome, number in row.outcomes.items():
                sums[place][outcome] = sums[place].get(outcome, 0) + number
            for index, number in enumerate((row.alerts, row.rendered, row.wire_bytes, row.saved_bytes)):
                others[place][index] += number
    return [ActivityBar((first + place) * span_us, sums[place], *others[place]) for place in range(spans)]


def coarser(spans: Sequence[ActivityBar], of: int) -> list[ActivityBar]:
    """Join this many neighbouring spans, counted from the latest."""
    # From the latest backwards; what is left over at the old end is no whole hour, and is dropped.
    begins = range(len(spans) % of, len(spans), of)
    return [join_spans(spans[begin : begin + of]) for begin in begins]


def join_spans(spans: Sequence[ActivityBar]) -> ActivityBar:
    """Sum neighbouring spans."""
    outcomes: dict[str, int] = {}
    for span in spans:
        for name, number in span.outcomes.items():
            outcomes[name] = outcomes.get(name, 0) + number
    return ActivityBar(
        spans[0].at,
        outcomes,
        sum(span.alerts for span in spans),
        sum(span.rendered for span in spans),
        sum(span.wire_bytes for span in spans),
        sum(span.saved_bytes for span in spans),
    )


class Punctuality(Struct, frozen=True):
    """How punctual checks and alerts were.

    checks     that had a due time
    on_time    of these, begun at most `_LATE_S` after it
    delay_s    99 % of them began within this time; None where that is more than two hours, or there were none
    delivered  alerts, once for each channel
    late       of these, later than 10 s
    """

    checks: int
    on_time: int
    delay_s: float | None
    delivered: int
    late: int


def punctuality(rows: Iterable[ActivityRow]) -> Punctuality:
    """Sum up how punctual checks and alerts were."""
    delays = Counter[float]()
    delivered = late = 0
    for row in rows:
        for bound, number in row.delays.items():
            delays[int(bound) / 1000 if bound else inf] += number
        delivered, late = delivered + row.delivered, late + row.late
    checks, counted, delay_s = delays.total(), 0, None
    for bound_s in sorted(delays):
        counted += delays[bound_s]
        if counted >= _MOST * checks:
            delay_s = bound_s if bound_s < inf else None
            break
    on_time = sum(number for bound_s, number in delays.items() if bound_s <= _LATE_S)
    return Punctuality(checks, on_time, delay_s, delivered, late)


def plot(spans: Sequence[ActivityBar]) -> Plot:
    """Draw the checks of each span by what they found."""
    values = [
        [span.of(*AS_BEFORE, *LEFT_OUT, "first") for span in spans],
        [span.of("minor") for span in spans],
        [span.of("major") for span in spans],
        [span.of(*NOT_RECEIVED) for span in spans],
    ]
    checks = [span.checks for span in spans]
    top = _ceiling(max(checks, default=0))
    labels = tuple((100 * place / len(spans), spans[place].at) for place in range(0, len(spans), len(spans) // 4))
    same, minor, major, bad = stack(values, top)
    return Plot(same, minor, major, bad, top, max(checks, default=0), min(checks, default=0), labels)


def _ceiling(number: int) -> int:
    """Round up to an even number of one or two digits and zeros, which the lines of a drawing can have."""
    step: int = 10 ** max(len(str(number)) - 2, 0) * 2
    return max(-(-number // step) * step, 2)


def stack(values: Sequence[Sequence[int]], most: int) -> list[str]:
    """Make the path of each series, `WIDTH` by `HEIGHT`, with stacked bars.

    values  per series, from the bottom up, one per bar
    most    the value of the highest bar
    """
    number = len(values[0]) if values else 0
    paths: list[list[str]] = [[] for _ in values]
    step = WIDTH / number if number else WIDTH
    for place in range(number):
        column = [series[place] for series in values]
        heights = _heights(column, most)
        top = float(HEIGHT)
        for path, height in zip(paths, heights, strict=True):
            if height:
                top -= height
                left, wide, high = _short(place * step), _short(step - _GAP), _short(height)
                path.append(f"M{left} {_short(top)}h{wide}v{high}h-{wide}z")
    return ["".join(path) for path in paths]


def _heights(column: Sequence[int], most: int) -> list[float]:
    if not any(column):
        return [0.0 for _ in column]
    heights = [max(HEIGHT * value / most, _LEAST) if value > 0 else 0.0 for value in column]
    # Small values were raised to be seen: the column may now be too high, and is scaled back as a whole.
    excess = sum(heights) / HEIGHT
    return [height / excess for height in heights] if excess > 1 else heights


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


router = APIRouter(include_in_schema=False)

HOUR_US: Final = 3600 * 1_000_000
# Bars of each view, and the time of one.
_SPANS: Final = {"hour": (12, HOUR_US // 12), "day": (SPANS, SPAN_US), "week": (56, 3 * HOUR_US)}
_LOGGED: Final = 12
# A figure that takes longer is left out.
COUNTING_S: Final = 1.0
# The latest ones; the rest has a page of its own.
_JOBS: Final = 8
_ALL_JOBS: Final = 50
_PART: Final = 30


@router.get("/activity")
async def activity(
    request: Request, caller: Reading, parts: Given, work: Work, span: Literal["hour", "day", "week"] = "day"
) -> Response:
    """Show the activity of an hour, a day or a week."""
    now, live = parts.clock.now(), parts.service.live()
    number, span_us = _SPANS[span]
    rows = await parts.store.activity(now - number * span_us)
    spans = gather(rows, now, spans=number, span_us=span_us)
    problems, renders, questions = await together(
        [
            in_time(parts.store.tally_pages(PageQuery(view=View.PROBLEMS)), COUNTING_S),
            parts.store.tally_renders(),
            parts.store.tally_questions(),
        ]
    )
    channels = await _channels(parts)
    may_audit = caller.may(Scope.ADMIN)
    return await page(
        request,
        "activity.html",
        live=live,
        span=span,
        hours=number * span_us // HOUR_US,
        plot=plot(spans),
        sums=join_spans(spans),
        punctual=punctuality(rows),
        table=coarser(spans, max(number // 24, 1)),
        problems=problems,
        renders=renders,
        questions=questions,
        worries=find_worries(live, channels),
        channels=channels,
        waiting=sum(each.waiting for each in channels),
        gathered=sum(each.gathered for each in channels),
        jobs=await work.latest(_JOBS),
        log=await read_log(parts, (await parts.store.audit(limit=_LOGGED)).rows) if may_audit else None,
        is_alone=len(await parts.store.nodes()) <= 1,
    )


def find_worries(live: LiveState, channels: Sequence[ChannelState]) -> list[tuple[str, dict[str, object]]]:
    """Say what is not well, the worst first: keys of texts with their values."""
    found: list[tuple[str, dict[str, object]]] = []
    if not live.has_lease:
        found.append(("waits", {}))
    if live.unwritten.for_s > _LATE_S:
        found.append(("unwritten", {"why": live.unwritten.why}))
    if live.outage_since is not None:
        found.append(("outage", {}))
    if live.shortage.error is not None:
        found.append(("shortage", {"why": live.shortage.error}))
    if not any(fetcher.is_ready for fetcher in live.fetchers):
        found.append(("fetchers", {}))
    if live.late_s > _LATE_S:
        found.append(("late", {"late_s": live.late_s}))
    if failing := [each.name for each in channels if each.disabled or each.failures]:
        found.append(("channels", {"n": len(failing), "names": ", ".join(failing[:5])}))
    if live.crowded.total:
        found.append(("crowded", {"n": live.crowded.total}))
    return found


@router.get("/activity/jobs")
async def jobs(request: Request, _caller: Reading, work: Work) -> Response:
    """List the latest jobs."""
    return await page(request, "jobs.html", jobs=await work.latest(_ALL_JOBS))


@router.get("/activity/dead")
async def dead(
    request: Request, _caller: Reading, parts: Given, cursor: Annotated[str | None, Query(max_length=200)] = None
) -> Response:
    """List alerts that could not be delivered in time."""
    found = await parts.store.browse_alerts(AlertQuery(dead=True), cursor=cursor, limit=_PART)
    following = f"/activity/dead?{urlencode({'cursor': found.next})}" if found.next else None
    return await page(
        request,
        "dead.html",
        rows=[
            (tell(row, language_of(request)), [each for each in row.by_channel() if each[1] == "dead"])
            for row in found.rows
        ],
        tally=await parts.store.tally_alerts(AlertQuery(dead=True)),
        following=following,
        first="/activity/dead" if cursor else None,
        channels=[(state.name, state.dead) for state in await _channels(parts) if state.dead],
    )


@router.post("/activity/dead/replay")
async def replay(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    channel: Annotated[str, Form()] = "",
    confirmed: Annotated[str, Form()] = "",
) -> Response:
    """Queue dead letters again, of one channel or of all."""
    if channel:
        _demand_channel(parts, channel)
    number = await parts.store.count_dead(channel or None)
    if not number:
        return go_on(request, "/activity", "no_dead", kind="warn")
    if not confirmed:
        return await ask(
            request,
            "replay_to" if channel else "replay",
            "/activity/dead/replay",
            back="/activity/dead",
            section="activity",
            values={"channel": channel},
            n=number,
            channel=channel,
        )
    job = await redeliver_dead(parts, Act(work, caller), channel=channel or None)
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        return go_on(request, "/activity", "replaying", more=(f"/jobs/{row.id}", "progress"))
    return go_on(request, "/activity", "replayed", n=row.done)


async def _channels(parts: Parts) -> list[ChannelState]:
    """Read the state of each channel, from the periodic figures: to count deliveries takes long."""
    figures = parts.service.live().figures
    states = []
    for name, settings in parts.service.settings().channels.items():
        known = figures.channels.get(name) if figures is not None else None
        # The figures are some seconds old; of a channel with trouble, the state of now and its reason are read.
        if known is None or known.is_failing or known.is_disabled:
            state = await parts.store.channel_state(name)
        else:
            state = ChannelState(name, waiting=known.waiting, dead=known.dead)
        states.append(as_configured(state, settings))
    return states


def _demand_channel(parts: Parts, name: str) -> None:
    known = parts.service.settings().channels
    if name not in known:
        raise missing("channel", name, f"the configured ones: {', '.join(sorted(known)) or 'none'}")
