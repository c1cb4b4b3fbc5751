"""Whether each item and each property is used, and none of them twice by the same item (text 003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage
    from tocsin.spec.microdata.values import Item


def check_crawl(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge whether an item reaches each of its properties once, and not itself (MD-13)."""
    for item in placed.data.all:
        if item.errors:
            element = placed.elements[item]
            how_often = "once" if item.errors == 1 else f"{item.errors} times"
            message = (
                f"itemref {shown(element.get('itemref') or '')} leads {how_often} to what the item has anyway, or to "
                "the item itself; let it name only what stands elsewhere, each element once"
            )
            yield Found(page.place_in(element, "itemref"), "MD-13", Level.ERROR, message)


def check_use(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge whether each property belongs to an item, and each item to the page (MD-15)."""
    for element in placed.stray:
        message = (
            f"{shown(element.get('itemprop') or '')} is the property of no item; put it into one, or let an item's "
            "itemref name it"
        )
        yield Found(page.place_in(element, "itemprop"), "MD-15", Level.ERROR, message)
    if placed.data.is_cut:  # an item may be one of those that were left out
        return
    stray = {element.span for element in placed.stray}
    for item in _find_unused(placed):
        element = placed.elements[item]
        if element.span not in stray:
            message = "only items that are themselves unused have this one; let an item without itemprop refer to them"
            yield Found(page.place_in(element, "itemscope"), "MD-15", Level.ERROR, message)


def _find_unused(placed: PlacedItems) -> Iterator[Item]:
    used = set(placed.data.items)
    ahead = list(used)
    while ahead:
        for each in ahead.pop().properties:
            inner = each.item
            if inner is not None and inner not in used:
                used.add(inner)
                ahead.append(inner)
    return (item for item in placed.data.all if item not in used)
