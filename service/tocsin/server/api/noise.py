"""Signals of a page, and what is muted of them, on it or on all pages of its host."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from tocsin.model import SignalContext
from tocsin.server.access import Reading, Writing, audit
from tocsin.server.api.given import NumberInPath, Once, make_router, number, problems
from tocsin.server.api.schemas.common import time_of, time_or_none
from tocsin.server.api.schemas.noise import Hearing, HostNoise, Noise, NoiseOfHost, Signals
from tocsin.server.decisions import demand_page
from tocsin.server.parts import Given

router = make_router("records")

Host = Annotated[str, Path(min_length=1, max_length=253, examples=["example.org"])]


@router.get(
    "/pages/{page_id}/signals", summary="Show a page's signals", operation_id="show_signals", responses=problems(404)
)
async def show_signals(_: Reading, parts: Given, page_id: NumberInPath) -> Signals:
    """Show what was read of a page beside its twelve fields, and what is muted because it changes all the time."""
    page = await demand_page(parts, number(page_id))
    learnt = await parts.store.learnt(page.url)
    beside = learnt[1] if learnt is not None else SignalContext()
    known = beside.known
    return Signals(
        values=known.values if known is not None else {},
        listed=beside.listed,
        noise=[
            Noise(
                key=str(each.key),
                what=each.what,
                changes=each.changes,
                quiet=each.quiet,
                muted_at=time_or_none(each.since),
                heard=each.key in beside.heard,
            )
            for each in (known.noise if known is not None else ())
        ],
        heard=[str(key) for key in beside.heard],
        muted_on_host=[str(key) for key in beside.host_muted],
    )


@router.post(
    "/pages/{page_id}/noise",
    status_code=204,
    summary="Hear of places of a page, or mute them",
    operation_id="hear_page",
    responses=problems(404),
    dependencies=Once,
)
async def hear_page(caller: Writing, parts: Given, page_id: NumberInPath, wanted: Hearing) -> None:
    """Hear of these places of a page, muted or not; or let them be muted again as they are learnt."""
    page = await demand_page(parts, number(page_id))
    await parts.store.hear(page.id, [int(key) for key in wanted.keys], muted=not wanted.heard)
    await audit(parts, caller, "page.hear", page=page_id, keys=list(wanted.keys), heard=wanted.heard)


@router.get("/hosts/{host}/noise", summary="List what is muted on a host", operation_id="list_noise")
async def list_noise(_: Reading, parts: Given, host: Host) -> NoiseOfHost:
    """List what changes from check to check on pages of a host, what is muted on all of them first."""
    return NoiseOfHost(
        items=[
            HostNoise(
                key=str(each.key),
                what=each.what,
                pages=[str(page_id) for page_id in each.pages],
                muted_at=time_of(each.muted_at) if each.muted_at is not None else None,
                heard=each.heard,
            )
            for each in await parts.store.noise_of_host(host)
        ]
    )


@router.post(
    "/hosts/{host}/noise",
    status_code=204,
    summary="Hear of places on a whole host, or mute them",
    operation_id="hear_host",
    dependencies=Once,
)
async def hear_host(caller: Writing, parts: Given, host: Host, wanted: Hearing) -> None:
    """Hear of these places on all pages of a host; or let them be muted again. Unknown ones are left out."""
    await parts.store.hear_host(host, [int(key) for key in wanted.keys], muted=not wanted.heard)
    await audit(parts, caller, "host.hear", host=host, keys=list(wanted.keys), heard=wanted.heard)
