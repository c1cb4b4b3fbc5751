"""What is wrong with items of a vocabulary, told where it stands in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.lint.page import shown
from tocsin.spec.microdata.values import Item
from tocsin.spec.microdata.vocabulary import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage

_MOST_PROPERTIES: Final = 100_000
"""So many of a vocabulary's items, and of those in them, are looked at: by itemref, the same thousand may be those of
each of many items, or of an address that each of them has."""
_UNWISE: Final = frozenset({"VC-22"})


def tell_faults(
    page: WrittenPage, placed: PlacedItems, type_: str, find_faults: Callable[[Item], Iterator[Fault]]
) -> Iterator[Found]:
    """Tell what is wrong with each item of a type."""
    seen, told = 0, set[Fault]()
    for item in placed.data.all:
        if type_ not in item.types:
            continue
        seen += len(item.properties) + sum(len(each.item.properties) for each in item.properties if each.item)
        if seen > _MOST_PROPERTIES:
            return
        for fault in find_faults(item):
            if fault in told:
                # Of what several items hold, which stands in one place.
                continue
            told.add(fault)
            attribute = "itemtype" if isinstance(fault.at, Item) else "itemprop"
            place = page.place_in(placed.elements[fault.at], attribute)
            message = fault.problem if fault.value is None else f"{shown(fault.value)} {fault.problem}"
            yield Found(place, fault.rule, Level.WARNING if fault.rule in _UNWISE else Level.ERROR, message)
