"""Alerts with their deliveries, and storms."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, TypeAlias

from fastapi import Query, Response
from msgspec import Meta
from pydantic import AwareDatetime, ConfigDict, Field

from tocsin.errors import UsageError
from tocsin.model import EPOCH, AlertQuery, BoundedCount, Instant
from tocsin.model.records.alerting import (
    Alert,
    Storm,
    StormPage,
    alert_of,
    storm_of,
    storm_page_of,
)
from tocsin.model.records.fields import Part, Record
from tocsin.model.records.service import JobStatus
from tocsin.server.actions import Act
from tocsin.server.api.jobs import LATER, finished
from tocsin.server.api.operations import (
    GroupFilter,
    GroupName,
    Input,
    NumberInPath,
    PartOf,
    UlidInBody,
    UlidInPath,
    make_router,
)
from tocsin.server.decisions import (
    mark_all_seen,
    mark_seen,
    missing,
    redeliver,
    redeliver_dead,
    release_storm,
)
from tocsin.server.jobs import Work
from tocsin.server.matching import MOST_VALUES, matcher_of, taking
from tocsin.server.parts import Given, Reading, Writing

router = make_router("alerts")
storms = make_router("storms")

_PLACE: Final = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


_Values: TypeAlias = Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=MOST_VALUES)] | None


class AlertList(PartOf):
    """Which alerts: `unseen` goes with `outcome`, `problems` or `group`.

    `kind`, `problems`, `group`, `page`, `dead` and `digest` stand alone.

    `since` and `until` go with all of them, and so do `basis` and what follows, as in routes. At most 1,000 alerts are
    looked at for a part then: it may be shorter than asked for, or empty, although the list goes on.
    """

    unseen: Annotated[bool, Field(description="not marked as seen yet")] = False
    outcome: Annotated[Literal["major", "minor"] | None, Field(description="with unseen: of the change")] = None
    kind: Annotated[str | None, Field(pattern=r"^[a-z-]{1,40}$", examples=["changed", "unreachable"])] = None
    problems: Annotated[
        bool, Field(description="what keeps pages from being checked: unreachable, disallowed, suspect, outage")
    ] = False
    group: GroupFilter | None = None
    page: Annotated[str | None, Field(pattern=r"^[1-9][0-9]{0,17}$", description="only of this page")] = None
    dead: Annotated[bool, Field(description="given up for at least one channel")] = False
    digest: Annotated[str | None, Field(pattern=r"^[1-9][0-9]{0,17}$", description="that are in this digest")] = None
    since: Annotated[AwareDatetime | None, Field(description="told then or later")] = None
    until: Annotated[AwareDatetime | None, Field(description="told before")] = None
    basis: Annotated[_Values, Field(description="declared, inferred or contradicted", examples=[["inferred"]])] = None
    host: Annotated[_Values, Field(description="patterns, as in routes", examples=[["*.example.org"]])] = None
    url: Annotated[_Values, Field(description="of the page; `*` is any text")] = None
    rule: Annotated[_Values, Field(description="that decided", examples=[["T44"]])] = None
    field: Annotated[_Values, Field(description="that changed", examples=[["topper-major"]])] = None
    words: Annotated[_Values, Field(description="whole words in title, added lines or the user's text")] = None


class Redelivery(Input):
    """To whom an alert is delivered again."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"channel": "ops"}, {}]})

    channel: Annotated[
        str | None, Field(min_length=1, max_length=63, description="only to this one, even if it is newer; else to all")
    ] = None


class SeenAlerts(Input):
    """Which alerts were seen."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"ids": ["01KAKQ4ZC8N2V3J5R7T9WXYZ00"]}]})

    ids: Annotated[list[UlidInBody], Field(min_length=1, max_length=1000)]
    seen: bool = True


class SeenList(Input):
    """Which list of alerts was seen, up to which position."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"up_to": 1200, "outcome": "minor"}]})

    up_to: Annotated[int, Field(ge=0, le=2**53, description="the `position` of the latest that was shown")]
    outcome: Literal["major", "minor"] | None = None
    group: GroupName | None = None


class DueDeliveries(Record, frozen=True):
    """How many deliveries are due again."""

    deliveries: int


class UnseenOfGroup(Record, frozen=True):
    """How many alerts of a group were not seen yet."""

    group: str
    unseen: Annotated[BoundedCount, Meta(description="counted up to 1,000")]


class MarkedAlerts(Record, frozen=True):
    """How many alerts were changed."""

    alerts: int


@router.get("/alerts", summary="List alerts", operation_id="list_alerts")
async def list_alerts(_: Reading, parts: Given, asked: Annotated[AlertList, Query()]) -> Part[Alert]:
    """List alerts with their deliveries, the latest first; `dead=true` lists dead letters."""
    query = AlertQuery(
        unseen=asked.unseen,
        outcome=asked.outcome,
        kind=asked.kind,
        problems=asked.problems,
        group=asked.group,
        page_id=None if asked.page is None else int(asked.page),
        dead=asked.dead,
        digest=None if asked.digest is None else int(asked.digest),
        since=_instant(asked.since),
        until=_instant(asked.until),
    )
    matcher = matcher_of({key: getattr(asked, key) for key in ("basis", "host", "url", "rule", "field", "words")})
    found = await parts.store.browse_alerts(query, cursor=asked.cursor, limit=asked.limit, takes=taking(matcher))
    return Part(items=[alert_of(row) for row in found.rows], next=found.next)


@router.get("/alerts/unseen", summary="Count unseen alerts by group", operation_id="count_unseen")
async def count_unseen(_: Reading, parts: Given) -> Part[UnseenOfGroup]:
    """Count the unseen alerts of each group that has any."""
    counts = await parts.store.unseen_by_group()
    return Part(items=[UnseenOfGroup(group=group, unseen=counts[group]) for group in sorted(counts)], next=None)


@router.get("/alerts/{alert_id}", summary="Show an alert", operation_id="show_alert")
async def show_alert(_: Reading, parts: Given, alert_id: UlidInPath) -> Alert:
    """Show an alert: its event as channels receive it, and its deliveries."""
    row = await parts.store.alert(alert_id)
    if row is None:
        raise missing("alert", alert_id, "GET /api/v1/alerts")
    return alert_of(row)


@router.post("/alerts/{alert_id}/redeliver", summary="Deliver an alert again", operation_id="redeliver")
async def redeliver_one(
    caller: Writing, parts: Given, jobs: Work, alert_id: UlidInPath, wanted: Redelivery
) -> DueDeliveries:
    """Deliver an alert again, with the same id, also to channels that accepted it."""
    return DueDeliveries(deliveries=await redeliver(parts, Act(jobs, caller), alert_id, channel=wanted.channel))


@router.post("/alerts/seen", summary="Mark alerts as seen", operation_id="mark_seen")
async def seen(caller: Writing, parts: Given, jobs: Work, wanted: SeenAlerts) -> MarkedAlerts:
    """Mark these alerts as seen or unseen."""
    return MarkedAlerts(alerts=await mark_seen(parts, Act(jobs, caller), wanted.ids, seen=wanted.seen))


@router.post(
    "/alerts/all-seen", summary="Mark all alerts of a list as seen", operation_id="mark_all_seen", responses=LATER
)
async def all_seen(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: SeenList) -> JobStatus:
    """Mark all alerts up to a position as seen; later ones stay as they are."""
    query = AlertQuery(unseen=True, outcome=wanted.outcome) if wanted.group is None else AlertQuery(group=wanted.group)
    if wanted.group is not None and wanted.outcome is not None:
        raise UsageError("group and outcome do not go together; leave one of them out")
    return await finished(await mark_all_seen(parts, Act(jobs, caller), query, up_to=wanted.up_to), response)


@router.post(
    "/alerts/redeliver-dead", summary="Deliver dead letters again", operation_id="redeliver_dead", responses=LATER
)
async def redeliver_all(caller: Writing, parts: Given, jobs: Work, response: Response, wanted: Redelivery) -> JobStatus:
    """Deliver all dead letters again, of one channel or of all."""
    return await finished(await redeliver_dead(parts, Act(jobs, caller), channel=wanted.channel), response)


# Storms -----------------------------------------------------------------------------------------------------------


@storms.get("/storms", summary="List storms", operation_id="list_storms")
async def list_storms(_: Reading, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[Storm]:
    """List changes that many pages of a host shared and that were reported once; newest first."""
    before = None if asked.cursor is None else _read_cursor(asked.cursor)[0]
    found = await parts.store.storms(limit=asked.limit, before=before)
    following = f"{found[-1].id}-0" if len(found) == asked.limit else None
    return Part(items=[storm_of(row) for row in found], next=following)


@storms.get("/storms/{storm_id}", summary="Show a storm", operation_id="show_storm")
async def show_storm(_: Reading, parts: Given, storm_id: NumberInPath) -> Storm:
    """Show a storm."""
    row = await parts.store.storm(int(storm_id))
    if row is None:
        raise missing("storm", storm_id, "GET /api/v1/storms")
    return storm_of(row)


@storms.get("/storms/{storm_id}/pages", summary="List the pages of a storm", operation_id="list_storm")
async def list_storm(
    _: Reading, parts: Given, storm_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[StormPage]:
    """List the pages of a storm, and whether each had an alert of its own."""
    number = int(storm_id)
    if await parts.store.storm(number) is None:
        raise missing("storm", storm_id, "GET /api/v1/storms")
    after = (0, 0) if asked.cursor is None else _read_cursor(asked.cursor)
    found = await parts.store.storm_verdicts(number, after=after, limit=asked.limit)
    following = f"{found[-1].page_id}-{found[-1].id}" if len(found) == asked.limit else None
    return Part(items=[storm_page_of(number, row) for row in found], next=following)


@storms.post(
    "/storms/{storm_id}/release", summary="Alert of each page of a storm", operation_id="release_storm", responses=LATER
)
async def release(caller: Writing, parts: Given, jobs: Work, response: Response, storm_id: NumberInPath) -> JobStatus:
    """Give each page of a storm an alert of its own after all."""
    return await finished(await release_storm(parts, Act(jobs, caller), int(storm_id)), response)


def _instant(at: datetime | None) -> Instant | None:
    return None if at is None else (at - EPOCH) // timedelta(microseconds=1)


def _read_cursor(cursor: str) -> tuple[int, int]:
    found = _PLACE.fullmatch(cursor)
    if found is None:
        raise UsageError("cursor: invalid; pass the `next` value of the previous part, or leave it out")
    return int(found[1]), int(found[2])
