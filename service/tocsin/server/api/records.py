"""What was stored of a page: its states, verdicts and renderings, and how its items changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from fastapi import Query
from pydantic import Field

from tocsin.model import RenderingRow
from tocsin.server.access import Reading
from tocsin.server.api.given import NumberInPath, PartOf, make_router, number, problems
from tocsin.server.api.schemas.common import Model, Part, time_of, time_or_none
from tocsin.server.api.schemas.records import (
    FieldChange,
    ItemChange,
    Rendering,
    RenderingError,
    State,
    StateDifference,
    Verdict,
)
from tocsin.server.api.shapes import fields_of
from tocsin.server.decisions import demand_page, missing
from tocsin.server.kept_items import why_no_changes
from tocsin.server.parts import Given
from tocsin.spec.microdata.changes.words import tell_changes
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from tocsin.model import ItemChanges as ChangesKept
    from tocsin.model import RenderingEntry, StateEntry, VerdictEntry
    from tocsin.server.parts import Parts

router = make_router("records")


class ItemChanges(Part[ItemChange]):
    """A part of the list of how a page's items changed."""

    why: Annotated[str | None, Field(description="why there are none, in words; null where there are some")] = None


class Between(Model):
    """Which two states."""

    older: Annotated[str | None, Field(alias="from", pattern=r"^[1-9][0-9]{0,17}$", description="the one before")] = (
        None
    )
    newer: Annotated[str | None, Field(alias="to", pattern=r"^[1-9][0-9]{0,17}$", description="the latest")] = None


@router.get(
    "/pages/{page_id}/states", summary="List the states of a page", operation_id="list_states", responses=problems(404)
)
async def list_states(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[State]:
    """List states, newest first; each is a run of equal storings."""
    page = await demand_page(parts, number(page_id))
    found = await parts.store.states_of(page.id, cursor=asked.cursor, limit=asked.limit)
    return Part[State](items=[state_of(entry) for entry in found.rows], next=found.next)


@router.get(
    "/pages/{page_id}/states/difference",
    summary="Compare two states field by field",
    operation_id="compare_states",
    responses=problems(404),
)
async def compare_states(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[Between, Query()]
) -> StateDifference:
    """Compare two states of a page; without `from` and `to` the latest with the one before."""
    page = await demand_page(parts, number(page_id))
    newer = await _state(parts, page.id, asked.newer, before=None)
    older = await _state(parts, page.id, asked.older, before=newer)
    pairs = list(zip(FIELDS, older.fields, newer.fields, strict=True))
    changes = [
        FieldChange(field=name, previous=previous, latest=latest, changed=previous != latest)
        for name, previous, latest in pairs
    ]
    return StateDifference.model_validate(
        {
            "from": state_of(older),
            "to": state_of(newer),
            "changed": [change.field for change in changes if change.changed],
            "fields": changes,
        }
    )


@router.get(
    "/pages/{page_id}/verdicts",
    summary="List the verdicts on a page",
    operation_id="list_verdicts",
    responses=problems(404),
)
async def list_verdicts(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[Verdict]:
    """List what each comparison found, newest first, with its reasons and how it came about."""
    page = await demand_page(parts, number(page_id))
    found = await parts.store.verdicts_of(page.id, cursor=asked.cursor, limit=asked.limit)
    return Part[Verdict](items=[verdict_of(entry) for entry in found.rows], next=found.next)


@router.get("/verdicts/{verdict_id}", summary="Show a verdict", operation_id="show_verdict", responses=problems(404))
async def show_verdict(_: Reading, parts: Given, verdict_id: NumberInPath) -> Verdict:
    """Show a verdict, with its reasons and how it came about."""
    entry = await parts.store.verdict(number(verdict_id))
    if entry is None:
        raise missing("verdict", verdict_id, "GET /api/v1/pages/{id}/verdicts")
    return verdict_of(entry)


@router.get(
    "/pages/{page_id}/renderings",
    summary="List the renderings of a page",
    operation_id="list_renderings",
    responses=problems(404),
)
async def list_renderings(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> Part[Rendering]:
    """List what receiving the page whole brought, newest first."""
    page = await demand_page(parts, number(page_id))
    found = await parts.store.renderings_of(page.id, cursor=asked.cursor, limit=asked.limit)
    return Part[Rendering](items=[rendering_of(entry) for entry in found.rows], next=found.next)


@router.get(
    "/pages/{page_id}/items/changes",
    summary="List how a page's items changed",
    operation_id="list_item_changes",
    responses=problems(404),
)
async def list_item_changes(
    _: Reading, parts: Given, page_id: NumberInPath, asked: Annotated[PartOf, Query()]
) -> ItemChanges:
    """List how the page's items (events, contacts and the like) changed from rendering to rendering, newest first."""
    page = await demand_page(parts, number(page_id))
    found = await parts.store.item_changes(page.id, cursor=asked.cursor, limit=asked.limit)
    why = None
    if not found.rows and asked.cursor is None:
        keeps = parts.service.settings().items.keep
        why = why_no_changes(page, await parts.store.items_before(page.id), keeps=keeps)
    return ItemChanges(items=[item_change_of(entry) for entry in found.rows], next=found.next, why=why)


def state_of(entry: StateEntry) -> State:
    """Show a state."""
    return State(
        id=str(entry.id),
        stored_at=time_of(entry.first_at),
        last_stored_at=time_of(entry.last_at),
        storings=entry.storings,
        in_table=entry.in_table,
        fields=fields_of(entry.fields),
    )


def verdict_of(entry: VerdictEntry) -> Verdict:
    """Show a verdict."""
    return Verdict(
        id=str(entry.id),
        page=str(entry.page_id),
        at=time_of(entry.at),
        outcome=entry.outcome,
        reason=entry.reason,
        rule=entry.rule,
        basis=entry.basis,
        changes=entry.data.get("changes") or [],
        signals=entry.data.get("signals") or [],
        trace=entry.data.get("trace") or [],
        data=entry.data,
        state=None if entry.state_id is None else str(entry.state_id),
        alert=entry.alert_id,
        storm=None if entry.storm_id is None else str(entry.storm_id),
    )


def rendering_of(entry: RenderingEntry) -> Rendering:
    """Show a rendering."""
    row = msgspec.convert(entry.rendering, RenderingRow)
    error = None
    if row.error is not None:
        kind, status, message = row.error
        error = RenderingError(kind=kind, status=status, message=message)
    return Rendering(
        id=str(entry.id),
        started_at=time_of(entry.started_at),
        received_at=time_or_none(row.received),
        kind=row.kind,
        status=row.status,
        final_url=row.final_url,
        content_type=row.content_type,
        title=row.title,
        bytes=row.bytes,
        digest=row.digest,
        same_state=row.same_state,
        error=error,
        items=entry.items,
    )


def item_change_of(entry: ChangesKept) -> ItemChange:
    """Show how items changed."""
    return ItemChange.model_validate(
        {
            **entry.changes,
            "rendering": str(entry.rendering_id),
            "at": time_of(entry.at),
            "told": list(tell_changes(entry.changes)),
        }
    )


async def _state(parts: Parts, page_id: int, wanted: str | None, *, before: StateEntry | None) -> StateEntry:
    """Find a state of a page by its id; without one the latest, or the one before another."""
    if wanted is not None:
        found = await parts.store.state(page_id, number(wanted))
    elif before is not None:
        found = await parts.store.state_before(page_id, before.id)
    else:
        found = next(iter((await parts.store.states_of(page_id, limit=1)).rows), None)
    if found is None:
        named = wanted if wanted is not None else "before the latest" if before is not None else "at all"
        raise missing("state", named, f"GET /api/v1/pages/{page_id}/states")
    return found
