"""Digests: what waits, what was sent, what was refused."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Query
from pydantic import Field

from tocsin.errors import UsageError
from tocsin.model import BundleState
from tocsin.model.records.fields import Part
from tocsin.model.records.routing import DigestEntry, digest_of
from tocsin.server.api.operations import NumberInPath, PartOf, make_router, problems
from tocsin.server.notifications import demand_digest, give_up_digest, send_digest
from tocsin.server.parts import Given, Reading, Writing

router = make_router("digests")

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")


class DigestList(PartOf):
    """Which digests."""

    state: Annotated[
        BundleState | None,
        Field(description="open: alerts join it; sealed: it is being sent; accepted; dead: given up; null: all"),
    ] = None


@router.get("/digests", summary="List digests", operation_id="list_digests")
async def list_digests(_: Reading, parts: Given, asked: Annotated[DigestList, Query()]) -> Part[DigestEntry]:
    """List digests, newest first. `GET /alerts?digest=N` lists the alerts of one."""
    if asked.cursor is not None and not _NUMBER.fullmatch(asked.cursor):
        raise UsageError("cursor: invalid; pass the `next` value of the previous part, or leave it out")
    before = None if asked.cursor is None else int(asked.cursor)
    found = await parts.store.bundles(limit=asked.limit, before=before, state=asked.state)
    following = str(found[-1].id) if len(found) == asked.limit else None
    return Part(items=[digest_of(row) for row in found], next=following)


@router.get("/digests/{digest_id}", summary="Show a digest", operation_id="show_digest")
async def show_digest(_: Reading, parts: Given, digest_id: NumberInPath) -> DigestEntry:
    """Show a digest."""
    return digest_of(await demand_digest(parts, int(digest_id)))


@router.post(
    "/digests/{digest_id}/send",
    summary="Send a digest now or again",
    operation_id="send_digest",
    responses=problems(409),
)
async def send(caller: Writing, parts: Given, digest_id: NumberInPath) -> DigestEntry:
    """Send a digest that waits now; one that was accepted or given up is sent again, with the same content and id."""
    await send_digest(parts, caller, int(digest_id))
    return digest_of(await demand_digest(parts, int(digest_id)))


@router.post(
    "/digests/{digest_id}/give-up", summary="Give a digest up", operation_id="give_up_digest", responses=problems(409)
)
async def give_up(caller: Writing, parts: Given, digest_id: NumberInPath) -> DigestEntry:
    """Give up a digest that is not accepted yet: its alerts are dead letters, and can be sent later."""
    await give_up_digest(parts, caller, int(digest_id))
    return digest_of(await demand_digest(parts, int(digest_id)))
