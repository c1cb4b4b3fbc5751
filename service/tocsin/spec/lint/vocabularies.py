"""What an author must keep of contacts, events and licensed works, the vocabularies of text 003."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.lint.page import shown
from tocsin.spec.lint.vocabulary import Fault, find_card_faults, find_event_faults
from tocsin.spec.microdata.values import HCARD, VEVENT, WORK, Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.spec.lint.microdata import PlacedItems
    from tocsin.spec.lint.page import WrittenPage
    from tocsin.spec.microdata.values import Property


# What is wrong with items of a vocabulary, told where it stands in the page.


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


# What an author must keep of contacts, a vocabulary of text 003 (VC-01 to VC-08).


def check_hcards(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge contacts: their names, ways to reach them, dates and types."""
    return tell_faults(page, placed, HCARD, find_card_faults)


# What an author must keep of events, a vocabulary of text 003 (IC-01 to IC-05).


def check_vevents(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge events: when they are, how often each property stands, and what its values are."""
    return tell_faults(page, placed, VEVENT, find_event_faults)


# What an author must keep of licensed works, the vocabulary of text 003 (WK-01).


_NAMES: Final = ("work", "title", "author", "license")


def check_works(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge works: one work, at most one title, and what the values are."""
    return tell_faults(page, placed, WORK, _find_work_faults)


def _find_work_faults(work: Item) -> Iterator[Fault]:
    if not work.named("work"):
        unsaid = 'this work does not say what it is; write an element with itemprop="work" and its URL'
        yield Fault(work, "WK-01", None, unsaid)
    known: set[str] = set()
    for each in work.properties:
        for name in each.names:
            problem = _against_value(name, each)
            if name in known and name in {"work", "title"}:
                problem = f"a work has one {name}; leave the others out"
            if name not in _NAMES and ":" not in name:
                problem = f"{shown(name)} is no property of a work, which are {', '.join(_NAMES)}; write one of them"
            if problem is not None:
                yield Fault(each, "WK-01", None, problem)
            known.add(name)


def _against_value(name: str, each: Property) -> str | None:
    if name in {"work", "license"} and not (each.text and is_absolute_url(each.text)):
        return f"the {name} of a work is a URL; write it into the href of an a element, or the src of an img"
    if name == "title" and each.item is not None:
        return "the title of a work is text, and this is an item; take itemscope out"
    if name == "author" and each.item is not None and HCARD not in each.item.types:
        return f'the author of a work is text or a contact; write itemtype="{HCARD}"'
    return None
