"""What is wrong with items of a vocabulary, told where it stands in the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.lint.page import shown
from tocsin.spec.microdata.values import Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage
    from tocsin.spec.microdata.vocabulary import Fault

_MOST_PROPERTIES: Final = 100_000
"""So many of a vocabulary's items are looked at: by itemref, the same thousand may be those of each of many items."""
_UNWISE: Final = frozenset({"VC-22"})


def tell_faults(
    page: WrittenPage, placed: PlacedItems, type_: str, find_faults: Callable[[Item], Iterator[Fault]]
) -> Iterator[Found]:
    """Tell what is wrong with each item of a type."""
    seen = 0
    for item in placed.data.all:
        if type_ not in item.types:
            continue
        seen += len(item.properties)
        if seen > _MOST_PROPERTIES:
            return
        for fault in find_faults(item):
            attribute = "itemtype" if isinstance(fault.at, Item) else "itemprop"
            place = page.place_in(placed.elements[fault.at], attribute)
            message = fault.problem if fault.value is None else f"{shown(fault.value)} {fault.problem}"
            yield Found(place, fault.rule, Level.WARNING if fault.rule in _UNWISE else Level.ERROR, message)
