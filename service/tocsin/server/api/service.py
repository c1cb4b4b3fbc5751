"""What the service is, does and did."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Query
from pydantic import Field

from tocsin.server.access import Reading
from tocsin.server.api.given import make_router
from tocsin.server.api.schemas.common import Model, count_of, time_of, time_or_none
from tocsin.server.api.schemas.service import About, Activity, Fetcher, Live, Span
from tocsin.server.parts import Given

router = make_router("service")

_HOUR = timedelta(hours=1) // timedelta(microseconds=1)


class Since(Model):
    """How far back."""

    hours: Annotated[int, Field(ge=1, le=24 * 31)] = 24


@router.get("/service", summary="Say what answers here", operation_id="about")
async def about(caller: Reading, parts: Given) -> About:
    """Say which service and version this is, and which token asks: the first request of a new client."""
    settings, live = parts.service.settings(), parts.service.live()
    return About(
        name=settings.instance.name,
        version=live.version,
        now=time_of(parts.clock.now()),
        started_at=time_of(live.started_at),
        time_zone=settings.instance.time_zone,
        who=caller.who,
        scope=caller.scope,
    )


@router.get("/live", summary="Say what the service does now", operation_id="live")
async def show_live(_: Reading, parts: Given) -> Live:
    """Say what the service is doing at this moment: fetchers, render queue, questions, outage."""
    live = parts.service.live()
    return Live(
        in_flight=live.in_flight,
        checks=live.checks,
        fetchers=[
            Fetcher(
                number=fetcher.number,
                pid=fetcher.pid,
                ready=fetcher.is_ready,
                in_flight=fetcher.in_flight,
                checks=fetcher.checks,
                restarts=fetcher.restarts,
            )
            for fetcher in live.fetchers
        ],
        renders_limit=live.renders_limit,
        renders_resume_at=live.renders_resume_at,
        rendering=live.rendering,
        waiting_renders=count_of(await parts.store.tally_renders()),
        open_questions=count_of(await parts.store.tally_questions()),
        outage_since=time_or_none(live.outage_since),
    )


@router.get("/activity", summary="Say what happened", operation_id="activity")
async def show_activity(_: Reading, parts: Given, asked: Annotated[Since, Query()]) -> Activity:
    """Say what happened in the last hours, in spans of five minutes."""
    rows = await parts.store.activity(parts.clock.now() - asked.hours * _HOUR)
    return Activity(
        items=[
            Span(
                at=time_of(row.at),
                outcomes=row.outcomes,
                alerts=row.alerts,
                rendered=row.rendered,
                wire_bytes=row.wire_bytes,
                saved_bytes=row.saved_bytes,
            )
            for row in rows
        ]
    )
