"""Alerts, their deliveries and dead letters, storms, and the channels that are given them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import Path, Query, Response
from pydantic import Field

from tocsin.configuration import mask
from tocsin.errors import UsageError
from tocsin.model import AlertQuery, as_configured
from tocsin.server.access import Reading, Writing
from tocsin.server.actions import Act
from tocsin.server.api.given import NumberInPath, Once, PartOf, UlidInPath, make_router, number, problems
from tocsin.server.api.imports import told
from tocsin.server.api.schemas.alerts import (
    Alert,
    Alerts,
    AllSeen,
    Channel,
    Channels,
    Delivery,
    Marked,
    Redelivered,
    Redelivery,
    Seen,
    Storm,
    StormPage,
)
from tocsin.server.api.schemas.common import Job, Part, time_of, time_or_none
from tocsin.server.decisions import (
    mark_all_seen,
    mark_seen,
    missing,
    redeliver,
    redeliver_dead,
    release_storm,
    try_channel,
)
from tocsin.server.jobs import Work
from tocsin.server.parts import Given

if TYPE_CHECKING:
    from tocsin.model import AlertRow, StormRow

router = make_router("alerts")
storms = make_router("storms")
channels = make_router("channels")

_LATER: Final[dict[int | str, dict[str, Any]]] = {
    202: {"model": Job, "description": "It takes longer; Location says where its progress is."}
}
_PLACE: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


class AlertList(PartOf):
    """Which alerts: `unseen` goes with `outcome`, each other one stands alone."""

    unseen: Annotated[bool, Field(description="nobody has marked them as seen")] = False
    outcome: Annotated[Literal["major", "minor"] | None, Field(description="of the change")] = None
    kind: Annotated[str | None, Field(pattern=r"^[a-z-]{1,40}$", examples=["changed", "unreachable"])] = None
    group: Annotated[str | None, Field(min_length=1, max_length=63)] = None
    page: Annotated[str | None, Field(pattern=r"^[1-9][0-9]{0,17}$", description="only of this page")] = None
    dead: Annotated[bool, Field(description="a channel did not take it in time")] = False


@router.get("/alerts", summary="List alerts", operation_id="list_alerts")
async def list_alerts(_: Reading, parts: Given, asked: Annotated[AlertList, Query()]) -> Alerts:
    """List alerts, the latest first, and how their deliveries stand; `dead=true` lists dead letters."""
    query = AlertQuery(
        unseen=asked.unseen,
        outcome=asked.outcome,
        kind=asked.kind,
        group=asked.group,
        page_id=None if asked.page is None else number(asked.page),
        dead=asked.dead,
    )
    found = await parts.store.browse_alerts(query, cursor=asked.cursor, limit=asked.limit)
    return Alerts(items=[alert_of(row) for row in found.rows], next=found.next)


@router.get("/alerts/{alert_id}", summary="Show an alert", operation_id="show_alert", responses=problems(404))
async def show_alert(_: Reading, parts: Given, alert_id: UlidInPath) -> Alert:
    """Show an alert whole: its event as the channels are given it, and its deliveries."""
    row = await parts.store.alert(alert_id)
    if row is None:
        raise missing("alert", alert_id, "GET /api/v1/alerts")
    return alert_of(row)


@router.post(
    "/alerts/{alert_id}/redeliver",
    summary="Deliver an alert again",
    operation_id="redeliver",
    responses=problems(404),
    dependencies=Once,
)
async def redeliver_one(
    caller: Writing, parts: Given, jobs: Work, alert_id: UlidInPath, wanted: Redelivery
) -> Redelivered:
    """Deliver an alert again, to channels that accepted it, too: they get the same id once more."""
    return Redelivered(deliveries=await redeliver(parts, Act(jobs, caller), alert_id, channel=wanted.channel))


@router.post("/alerts/seen", summary="Mark alerts as seen", operation_id="mark_seen", dependencies=Once)
async def seen(caller: Writing, parts: Given, jobs: Work, wanted: Seen) -> Marked:
    """Mark these alerts as seen, or as not."""
    return Marked(alerts=await mark_seen(parts, Act(jobs, caller), wanted.ids, seen=wanted.seen))


@router.post(
    "/alerts/all-seen",
    summary="Mark all alerts of a list as seen",
    operation_id="mark_all_seen",
    response_model=Job,
    responses=_LATER,
    dependencies=Once,
)
async def all_seen(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: AllSeen) -> Job:
    """Mark all alerts up to a position as seen: those that came since then stay as they are."""
    query = AlertQuery(unseen=True, outcome=wanted.outcome) if wanted.group is None else AlertQuery(group=wanted.group)
    if wanted.group is not None and wanted.outcome is not None:
        raise UsageError("group and outcome do not go together; leave one of them out")
    return await told(await mark_all_seen(parts, Act(jobs, caller), query, up_to=wanted.up_to), response)


@router.post(
    "/alerts/redeliver-dead",
    summary="Deliver dead letters again",
    operation_id="redeliver_dead",
    response_model=Job,
    responses=_LATER,
    dependencies=Once,
)
async def redeliver_all(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: Redelivery) -> Job:
    """Deliver all dead letters again, of one channel or of all."""
    return await told(await redeliver_dead(parts, Act(jobs, caller), channel=wanted.channel), response)


def alert_of(row: AlertRow) -> Alert:
    """Show an alert."""
    data = row.event.get("data") or {}
    return Alert(
        id=row.id,
        position=row.position,
        type=row.type,
        page=None if row.page_id is None else str(row.page_id),
        url=row.url,
        at=time_of(row.created_at),
        outcome=data.get("outcome"),
        seen_at=time_or_none(row.seen_at),
        deliveries=[
            Delivery(channel=channel, state=state, tries=tries, error=error)
            for channel, state, tries, error in row.deliveries
        ],
        event=row.event,
    )


# Storms -----------------------------------------------------------------------------------------------------------


@storms.get("/storms", summary="List storms", operation_id="list_storms")
async def list_storms(_: Reading, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[Storm]:
    """List changes that many pages of a host shared, so that they were told once; newest first."""
    before = _before(asked.cursor)
    found = await parts.store.storms(limit=asked.limit, before=before)
    following = f"{found[-1].id}-0" if len(found) == asked.limit else None
    return Part[Storm](items=[storm_of(row) for row in found], next=following)


@storms.get("/storms/{storm_id}", summary="Show a storm", operation_id="show_storm", responses=problems(404))
async def show_storm(_: Reading, parts: Given, storm_id: NumberInPath) -> Storm:
    """Show a storm."""
    row = await parts.store.storm(number(storm_id))
    if row is None:
        raise missing("storm", storm_id, "GET /api/v1/storms")
    return storm_of(row)


@storms.get(
    "/storms/{storm_id}/pages", summary="List the pages of a storm", operation_id="list_storm", responses=problems(404)
)
async def list_storm(
    _: Reading, parts: Given, storm_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[StormPage]:
    """List the pages of a storm, and whether each was told."""
    await show_storm(_, parts, storm_id)
    after = _after(asked.cursor)
    found = await parts.store.storm_verdicts(number(storm_id), after=after, limit=asked.limit)
    items = [
        StormPage(
            page=str(row.page_id),
            url=row.url,
            verdict=str(row.id),
            at=time_of(row.at),
            outcome=row.outcome,
            alert=row.alert_id,
            withheld=row.withheld,
        )
        for row in found
    ]
    following = f"{found[-1].page_id}-{found[-1].id}" if len(found) == asked.limit else None
    return Part[StormPage](items=items, next=following)


@storms.post(
    "/storms/{storm_id}/release",
    summary="Tell a storm page by page",
    operation_id="release_storm",
    response_model=Job,
    responses={**_LATER, **problems(404)},
    dependencies=Once,
)
async def release(caller: Writing, parts: Given, jobs: Work, response: Response, storm_id: NumberInPath) -> Job:
    """Give each page of a storm an alert of its own after all."""
    return await told(await release_storm(parts, Act(jobs, caller), number(storm_id)), response)


def storm_of(row: StormRow) -> Storm:
    """Show a storm."""
    return Storm(
        id=str(row.id),
        host=row.host,
        pages=row.pages,
        sample=list(row.sample),
        outcome=row.outcome,
        basis=row.basis,
        excerpt=row.excerpt,
        first_at=time_of(row.first_at),
        latest_at=time_of(row.latest_at),
        told_at=time_or_none(row.announced_at),
        released_at=time_or_none(row.released_at),
    )


def _before(cursor: str | None) -> int | None:
    return None if cursor is None else _after(cursor)[0]


def _after(cursor: str | None) -> tuple[int, int]:
    if cursor is None:
        return 0, 0
    found = _PLACE.fullmatch(cursor)
    if found is None:
        raise UsageError("cursor: this is none; give `next` of the part before, or leave it out")
    return int(found[1]), int(found[2])


# Channels ------------------------------------------------------------------------------------------------------------


@channels.get("/channels", summary="List channels", operation_id="list_channels")
async def list_channels(_: Reading, parts: Given) -> Channels:
    """List the channels of the configuration, and how each stands; secrets are masked."""
    items = []
    for name, settings in sorted(parts.service.settings().channels.items()):
        state = as_configured(await parts.store.channel_state(name), settings)
        items.append(
            Channel(
                name=name,
                type=settings.type,
                url=mask(("channels", name, "url"), settings.url),
                path=settings.path,
                failures=state.failures,
                next_try_at=time_or_none(state.next_at),
                disabled=state.disabled,
                error=state.error,
                waiting=state.waiting,
                dead=state.dead,
                accepted=state.accepted,
            )
        )
    return Channels(items=items)


@channels.post(
    "/channels/{name}/test",
    status_code=204,
    summary="Try a channel",
    operation_id="test_channel",
    responses=problems(404, 502),
    dependencies=Once,
)
async def test_channel(
    caller: Writing, parts: Given, name: Annotated[str, Path(min_length=1, max_length=63, examples=["ops"])]
) -> None:
    """Give a channel a test event; one that was disabled and takes it is enabled again."""
    await try_channel(parts, caller, name)
