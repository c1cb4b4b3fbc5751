"""Whether each item and each property is used, none twice by the same item, and no item within itself (text 003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement
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


def check_rings(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge whether items hold each other (MD-12).

    The text drops the inner one and counts no error; today's standard forbids it.
    """
    for held, holder, referring in _find_rings(placed):
        element = placed.elements[referring]
        message = (
            f"{_name(placed.elements[held])} and {_name(placed.elements[holder])} hold each other, so readers leave "
            "one of them out somewhere; let itemref lead one way only"
        )
        yield Found(page.place_in(element, "itemref"), "MD-12", Level.WARNING, message)


def _name(element: PlacedElement) -> str:
    """Name an item that is a property: by its ID, else by its itemprop."""
    return shown(element.get("id") or element.get("itemprop") or "")


def _find_rings(placed: PlacedItems) -> Iterator[tuple[Item, Item, Item]]:
    """Find items that lead back to one that they are in: that one, the item, and the last on the way with an itemref.

    Each item is gone through once, and closes one ring at most.
    """
    known: set[Item] = set()
    closing: set[Item] = set()
    for start in placed.data.all:
        # What is open: each item with those that it still holds, and the last one at or above it that has an itemref.
        way = {} if start in known else {start: (_held_by(start), start)}
        while way:
            item = next(reversed(way))
            held_by_it, referring = way[item]
            for held in held_by_it:
                if held in way and item not in closing:
                    closing.add(item)
                    yield held, item, referring
                elif held not in way and held not in known:
                    has_itemref = placed.elements[held].get("itemref") is not None
                    way[held] = _held_by(held), held if has_itemref else referring
                    break
            else:
                known.add(item)
                del way[item]


def _held_by(item: Item) -> Iterator[Item]:
    return (each.item for each in item.properties if each.item is not None)


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
        for inner in _held_by(ahead.pop()):
            if inner not in used:
                used.add(inner)
                ahead.append(inner)
    return (item for item in placed.data.all if item not in used)
