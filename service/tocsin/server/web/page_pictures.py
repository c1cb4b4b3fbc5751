"""Pictures of a page as a browser drew it: one beside the one before, with what differs marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from tocsin.model import AlertRow, PictureRow
from tocsin.server.parts import Parts

# What a part of a picture shows: as high as the picture is wide, from a little above the first difference.
_ABOVE: Final = 160
# In the box to choose from.
OFFERED: Final = 50

_Box: TypeAlias = tuple[int, int, int, int]


class PicturePair(Struct, frozen=True):
    """A picture and the one before.

    before   None where it is the first, or the one before is no longer kept
    boxes    that differ in the latest, and
    removed  rows of the one before that are gone
    share    that differs, in percent; None: they were not compared
    view     first row and number of rows that are shown of the latest, and
    view_before  of the one before
    """

    latest: PictureRow
    before: PictureRow | None
    boxes: Sequence[_Box]
    removed: Sequence[_Box]
    share: float | None
    view: tuple[int, int]
    view_before: tuple[int, int]


def pair_of(kept: Sequence[PictureRow], chosen: int | None, *, whole: bool) -> PicturePair | None:
    """Choose a picture, else the latest one, and what it was compared with; None without any.

    whole  show all of both, not only the part around the first difference
    """
    latest = next((each for each in kept if chosen is None or each.id == chosen), None)
    if latest is None:
        return None
    before = next((each for each in kept if each.id < latest.id and each.digest == latest.before), None)
    found = latest.difference if before is not None else None
    boxes, removed = (found.boxes, found.removed) if found is not None else ((), ())
    share = None
    if found is not None:
        share = max(found.share * 100, 0.1) if found.share else 0.0
    return PicturePair(
        latest,
        before,
        boxes,
        removed,
        share,
        _view(latest, boxes, removed, whole=whole),
        _view(before or latest, removed, boxes, whole=whole),
    )


def _view(row: PictureRow, own: Sequence[_Box], others: Sequence[_Box], *, whole: bool) -> tuple[int, int]:
    if whole:
        return 0, row.height
    first = min((top for _, top, _, _ in (*own, *others)), default=0)
    height = min(row.height, row.width)
    return min(max(first - _ABOVE, 0), row.height - height), height


async def pair_told(parts: Parts, alert: AlertRow) -> PicturePair | None:
    """Read the picture that an alert names, and the one before; None where it names none, or it is no longer kept."""
    shot = (alert.event["data"].get("rendering") or {}).get("screenshot")
    if shot is None or alert.page_id is None:
        return None
    kept = await parts.store.pictures_of(alert.page_id, limit=OFFERED)
    named = next((each.id for each in kept if shot["digest"] == f"sha256:{each.digest}"), None)
    return pair_of(kept, named, whole=False) if named is not None else None


async def latest_pair(parts: Parts, page_id: int) -> PicturePair | None:
    """Read the pictures of a page, as its overview shows them."""
    return pair_of(await parts.store.pictures_of(page_id, limit=OFFERED), None, whole=False)
