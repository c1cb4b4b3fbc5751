"""*Activity*: the work of the service, now and over a day; channels, fetchers and jobs."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.configuration import mask
from tocsin.errors import DeliveryError, UsageError
from tocsin.model import AlertQuery, ChannelState, Instant, as_configured
from tocsin.server.access.rights import Reading, Writing
from tocsin.server.actions import Act
from tocsin.server.decisions import redeliver_dead, try_channel
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.parts import Given, Parts
from tocsin.server.problems import Problem
from tocsin.server.web.charts import SPAN_US, SPANS, charts, coarser, gather
from tocsin.server.web.formatting import count
from tocsin.server.web.notices import go_on
from tocsin.server.web.rendering import page
from tocsin.server.web.telling import tell
from tocsin.settings import ChannelSettings

router = APIRouter(include_in_schema=False)

_HALF_HOURS_AN_HOUR: Final = 2
_JOBS: Final = 8
_ALL_JOBS: Final = 50
_PART: Final = 30


class ChannelLine(Struct, frozen=True):
    """A channel with its status.

    to         its URL or file, secrets masked
    oldest_at  the time of its oldest waiting alert
    """

    state: ChannelState
    kind: str
    to: str
    oldest_at: Instant | None = None


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


@router.post("/activity/channels/{name}/test")
async def test_channel(request: Request, caller: Writing, parts: Given, name: str) -> Response:
    """Send a test event to a channel; success enables a disabled channel."""
    try:
        await try_channel(parts, caller, name)
    except (DeliveryError, UsageError) as exc:
        return go_on(request, "/activity#channels", f"{name} rejected the test alert: {exc}", kind="loud")
    return go_on(request, "/activity#channels", f"{name} accepted the test alert.")


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
        rows=[(tell(row), [each for each in row.deliveries if each[1] == "dead"]) for row in found.rows],
        tally=await parts.store.tally_alerts(AlertQuery(dead=True)),
        following=following,
        first="/activity/dead" if cursor else None,
        channels=[line for line in await _channels(parts) if line.state.dead],
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


async def _channels(parts: Parts) -> list[ChannelLine]:
    """Read the state of each channel, from the periodic figures: to count deliveries takes long."""
    figures = parts.service.live().figures
    lines = []
    for name, settings in parts.service.settings().channels.items():
        known = figures.channels.get(name) if figures is not None else None
        if known is None or known.is_failing or known.is_disabled:
            state = await parts.store.channel_state(name)
        else:
            state = ChannelState(name, waiting=known.waiting, dead=known.dead)
        oldest_at = known.oldest_at if known is not None else None
        lines.append(ChannelLine(as_configured(state, settings), settings.type, _address(name, settings), oldest_at))
    return lines


def _address(name: str, settings: ChannelSettings) -> str:
    return str(mask(("channels", name, "url"), settings.url) or settings.path or "")


def _demand_channel(parts: Parts, name: str) -> None:
    known = parts.service.settings().channels
    if name not in known:
        raise Problem(
            404,
            "no-such-channel",
            "There is no such channel",
            f"{name[:80]!r} is not configured",
            mend=f"there are: {', '.join(sorted(known)) or 'none'}",
        )
