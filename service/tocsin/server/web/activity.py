"""*Activity*: the work of the service, now and over a day; channels, fetchers and jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.model import ActivityRow, AlertQuery, ChannelState, Instant, StateEntry, VerdictEntry, as_configured
from tocsin.server.actions import Act
from tocsin.server.decisions import missing, redeliver_dead
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.web.formatting import absolute, count
from tocsin.server.web.rendering import go_on, page
from tocsin.server.web.telling import tell

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


class Series(Struct, frozen=True):
    """One colour of a chart.

    tone   the CSS class of the colour
    path   of its bars
    total  of its values
    """

    name: str
    tone: str
    path: str
    total: int


class Chart(Struct, frozen=True):
    """Stacked bars.

    most   the highest bar
    total  of all bars
    """

    key: str
    title: str
    series: tuple[Series, ...]
    most: int
    total: int
    is_bytes: bool = False


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
    return [_joined(spans[begin : begin + of]) for begin in begins]


def _joined(spans: Sequence[ActivityBar]) -> ActivityBar:
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


def charts(spans: Sequence[ActivityBar]) -> list[Chart]:
    """Draw a day; each chart has its own scale, since changes are rare compared with checks."""
    return [
        _draw(
            "checks",
            "Checks",
            spans,
            (
                ("unchanged", "calm", lambda span: span.of(*AS_BEFORE)),
                ("first check", "new", lambda span: span.of("first")),
                ("changed", "major", lambda span: span.of("minor", "major")),
                ("unreachable", "bad", lambda span: span.of(*NOT_RECEIVED)),
                ("not requested", "faint", lambda span: span.of(*LEFT_OUT)),
            ),
        ),
        _draw(
            "changes",
            "Changes",
            spans,
            (
                ("minor", "minor", lambda span: span.of("minor")),
                ("major", "major", lambda span: span.of("major")),
            ),
        ),
        _draw(
            "missing",
            "Unreachable",
            spans,
            (
                ("unreachable", "bad", lambda span: span.of("unreachable")),
                ("put off", "minor", lambda span: span.of("deferred")),
                ("forbidden", "faint", lambda span: span.of("disallowed")),
                ("held back", "new", lambda span: span.of("suspect")),
            ),
        ),
        _draw("alerts", "Alerts", spans, (("alerts", "calm", lambda span: span.alerts),)),
        _draw("rendered", "Pages rendered", spans, (("rendered", "calm", lambda span: span.rendered),)),
        _draw(
            "bytes",
            "Bytes",
            spans,
            (
                ("received", "calm", lambda span: span.wire_bytes),
                ("saved", "faint", lambda span: span.saved_bytes),
            ),
            is_bytes=True,
        ),
    ]


def _draw(
    key: str,
    title: str,
    spans: Sequence[ActivityBar],
    series: Sequence[tuple[str, str, Callable[[ActivityBar], int]]],
    *,
    is_bytes: bool = False,
) -> Chart:
    """Draw one chart; a series is (name, tone, value of a span)."""
    values = [[count(span) for span in spans] for _, _, count in series]
    bars = [sum(column) for column in zip(*values, strict=True)] if values else []
    most = max(bars, default=0)
    paths = stack(values, most)
    drawn = [
        Series(name, tone, path, sum(numbers))
        for (name, tone, _), path, numbers in zip(series, paths, values, strict=True)
    ]
    return Chart(key, title, tuple(drawn), most, sum(bars), is_bytes)


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


_THINNEST: Final = 0.4  # The least width of a version, in percent.
_ROOM: Final = 0.03  # The share of the width that is left free at the end.


class StateRun(Struct, frozen=True):
    """A version of the declared fields; positions in percent."""

    x: float
    width: float
    label: str
    is_other: bool


class ChangeMark(Struct, frozen=True):
    """A change; its position in percent."""

    x: float
    outcome: str
    label: str
    verdict_id: int


class Timeline(Struct, frozen=True):
    """A timeline; `said` describes it in words."""

    spans: tuple[StateRun, ...]
    marks: tuple[ChangeMark, ...]
    now_x: float
    begin: str
    end: str
    said: str


def draw_timeline(
    states: Sequence[StateEntry],
    verdicts: Sequence[VerdictEntry],
    checked_at: Instant | None,
    *,
    now: Instant,
    zone: tzinfo,
) -> Timeline | None:
    """Draw a timeline; None without any state.

    states, verdicts  newest first
    checked_at        the latest version lasts at least until the last check
    """
    if not states:
        return None
    # A clock that was set back leaves states from the future.
    begin = min(states[-1].first_at, now)
    length = max(now - begin, 1)
    scale = 100 / (length * (1 + _ROOM))

    def place(at: Instant) -> float:
        return round(min(max((at - begin) * scale, 0.0), 100.0), 2)

    spans = []
    for number, state in enumerate(reversed(states)):
        # A version lasts until the next one; the label says when it was stored last.
        following = states[len(states) - 2 - number].first_at if number < len(states) - 1 else None
        last = following if following is not None else max(state.last_at, checked_at or 0)
        x = place(state.first_at)
        stored = f"stored {count(state.storings, 'time')}, last {absolute(state.last_at, zone)}"
        label = f"{absolute(state.first_at, zone)} to {absolute(last, zone)}; {stored}"
        spans.append(StateRun(x, round(max(place(last) - x, _THINNEST), 2), label, bool(number % 2)))
    told = [verdict for verdict in reversed(verdicts) if verdict.outcome in ("major", "minor") and verdict.at >= begin]
    marks = tuple(
        ChangeMark(place(each.at), each.outcome, f"{each.outcome} change, {absolute(each.at, zone)}", each.id)
        for each in told
    )
    return Timeline(
        tuple(spans), marks, place(now), absolute(begin, zone), absolute(now, zone), _said(states, told, zone)
    )


def _said(states: Sequence[StateEntry], told: Sequence[VerdictEntry], zone: tzinfo) -> str:
    majors = sum(verdict.outcome == "major" for verdict in told)
    found = f"{count(majors, 'major change')}, {count(len(told) - majors, 'minor change')}"
    since = f"since {absolute(states[-1].first_at, zone)}"
    return f"{count(len(states), 'version')} {since}, stored {count(sum(s.storings for s in states), 'time')}: {found}."


router = APIRouter(include_in_schema=False)

_HALF_HOURS_AN_HOUR: Final = 2
# The latest ones; the rest has a page of its own.
_JOBS: Final = 8
_ALL_JOBS: Final = 50
_PART: Final = 30


@router.get("/activity")
async def activity(request: Request, _caller: Reading, parts: Given, work: Work) -> Response:
    """Show the activity."""
    now, live = parts.clock.now(), parts.service.live()
    rows = await parts.store.activity(now - SPANS * SPAN_US)
    spans = gather(rows, now)
    return await page(
        request,
        "activity.html",
        live=live,
        waiting=await parts.store.tally_renders(),
        charts=charts(spans),
        hours=coarser(spans, _HALF_HOURS_AN_HOUR),
        noted=len(rows),
        channels=await _channels(parts),
        jobs=await work.latest(_JOBS),
        settings=parts.service.settings(),
    )


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
        rows=[(tell(row), [each for each in row.by_channel() if each[1] == "dead"]) for row in found.rows],
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
        return go_on(request, "/activity", "There are no dead letters any more.", kind="warn")
    if not confirmed:
        return await page(
            request,
            "confirm.html",
            section="activity",
            title="Deliver dead letters again",
            question=f"Give {count(number, 'alert')} to {channel or 'their channels'} again?",
            detail="They are sent with the same ids as before, oldest first.",
            path="/activity/dead/replay",
            values={"channel": channel},
            verb=f"Deliver {count(number, 'alert')} again",
            back="/activity/dead",
            danger=False,
        )
    job = await redeliver_dead(parts, Act(work, caller), channel=channel or None)
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        more = (f"/jobs/{row.id}", "See the progress")
        return go_on(request, "/activity", "Dead letters are being queued again.", more=more)
    return go_on(request, "/activity", f"{count(row.done, 'alert')} queued again.")


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
