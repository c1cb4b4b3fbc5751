"""What differs between two texts of a page that are kept."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from tocsin.server.access.rights import Reading
from tocsin.server.decisions import demand_page
from tocsin.server.parts import Given, Parts
from tocsin.server.web.comparing import Texts, compare_kept
from tocsin.server.web.page import frame_of
from tocsin.server.web.rendering import page
from tocsin.spec.signals.texts import unpack_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import PageRow, SnapshotRow

router = APIRouter(include_in_schema=False)

_OFFERED: Final = 50


@router.get("/pages/{page_id:int}/text")
async def show(
    request: Request,
    _caller: Reading,
    parts: Given,
    page_id: int,
    older: Annotated[int | None, Query()] = None,
    newer: Annotated[int | None, Query()] = None,
) -> Response:
    """Show the difference of two texts; by default of the last two."""
    row = await demand_page(parts, page_id)
    kept = await parts.store.snapshots(row.url, limit=_OFFERED)
    pair = _choose(kept, older, newer)
    return await page(
        request,
        "page_text.html",
        **await frame_of(parts, row),
        part="text",
        kept=kept,
        pair=pair,
        texts=await _compare(parts, pair) if pair is not None else None,
        why=_why_none(parts, row, kept),
    )


def _choose(
    kept: Sequence[SnapshotRow], older: int | None, newer: int | None
) -> tuple[SnapshotRow, SnapshotRow] | None:
    """Choose two texts by their ids, newest first; None where there are no two."""
    places = {row.id: place for place, row in enumerate(kept)}
    new = places.get(newer, 0) if newer is not None else 0
    old = places.get(older, new + 1) if older is not None else new + 1
    new, old = min(new, old), max(new, old)
    if old == new or old >= len(kept):
        return (kept[1], kept[0]) if len(kept) > 1 else None
    return kept[old], kept[new]


async def _compare(parts: Parts, pair: tuple[SnapshotRow, SnapshotRow]) -> Texts | None:
    """Compare them on a thread: long texts take a while, and nobody else shall wait. None: forgotten meanwhile."""
    packed = [await parts.store.snapshot_text(row.id) for row in pair]
    if None in packed:
        return None
    older, newer = [unpack_text(text) for text in packed if text is not None]
    return await asyncio.to_thread(compare_kept, older, newer)


def _why_none(parts: Parts, row: PageRow, kept: Sequence[SnapshotRow]) -> str:
    """Say why there are no two texts of a page, and the mend."""
    per_page = parts.service.settings().snapshots.per_page
    if row.noindex:
        return "None of its text is kept: the page asks not to be indexed (noindex)."
    if per_page < 2:  # noqa: PLR2004 - a difference has two sides
        return f"Too few of its texts are kept: snapshots.per_page is {per_page}; set it to 2 or more."
    if kept:
        return "There is only one text of it: it has not changed since."
    if row.stored_at is None:
        return "Nothing of it is stored yet; ask for a check."
    return (
        "None of its text is kept yet: that begins when it is next read whole "
        "(never where it says noarchive, has mode auto or signals none, or is no HTML)."
    )
