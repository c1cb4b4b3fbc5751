"""The checker's rules for microdata and its vocabularies (text 003): attributes, items, contacts, events, works."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tocsin.spec.html.microsyntax import SPACE, is_valid_boolean, split_tokens
from tocsin.spec.html.positions import MICRODATA, FindingLevel, Found, PlacedElement, read_marked_places
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url, is_valid_url
from tocsin.spec.lint.page import WrittenPage, shown
from tocsin.spec.lint.vocabulary import Fault, find_card_faults, find_event_faults
from tocsin.spec.microdata.reading.items import Crawl, ItemsOfMarks
from tocsin.spec.microdata.values import HCARD, VEVENT, WORK, Item, Microdata, Property, ValueKind

# The items of a page as the checker's rules see them: each with its place in the page's text.


# Where a page of unknown address stands: whether a relative URL resolves, any address tells.
_ANYWHERE: Final = "https://page.invalid/"


@dataclass(frozen=True, slots=True)
class PlacedItems:
    """A page's items, and the place of each. `WrittenPage` tells the places of an element's attributes.

    data      a URL in it is "" only where it is missing, or leads nowhere from any page
    elements  of each item and property, by itself
    stray     elements with an itemprop that adds no property to any item
    """

    data: Microdata
    elements: Mapping[Item | Property, PlacedElement]
    stray: Sequence[PlacedElement]


def place_items(page: WrittenPage) -> PlacedItems | None:
    """Read the items of a page with their places; None if nothing in it is marked as microdata.

    Raises TooComplex for a page that is too complex to parse.
    """
    if all(MICRODATA.isdisjoint(element.values) for element in page.places.elements):
        return None
    marked, placed = read_marked_places(page.body, page.content_type, encoding=page.encoding, places=page.places)
    crawl = Crawl(marked)
    read = ItemsOfMarks(marked, crawl, address=_ANYWHERE)
    elements: dict[Item | Property, PlacedElement] = {item: placed[place] for place, item in read.items.items()}
    elements.update({each: placed[place] for place, each in read.properties.items() if each is not None})
    stray = [
        placed[place]
        for place, written in enumerate(crawl.written)
        if written is not None and place not in read.properties
    ]
    return PlacedItems(read.data, elements, () if read.data.is_cut else stray)


# Whether each item and each property is used, none twice by the same item, and no item within itself (text 003).


def check_crawl(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge whether an item reaches each of its properties once, and not itself (MD-13)."""
    for item in placed.data.all:
        if item.errors:
            element = placed.elements[item]
            how_often = "once" if item.errors == 1 else f"{item.errors} times"
            message = (
                f"itemref {shown(element.get('itemref') or '')} leads {how_often} to what the item has anyway, or to "
                "the item itself; name only elements outside of it, each once"
            )
            yield Found(page.place_in(element, "itemref"), "MD-13", FindingLevel.ERROR, message)


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
        yield Found(page.place_in(element, "itemref"), "MD-12", FindingLevel.WARNING, message)


def _name(element: PlacedElement) -> str:
    """Return a name for an item that is a property: its ID, else its itemprop."""
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
        yield Found(page.place_in(element, "itemprop"), "MD-15", FindingLevel.ERROR, message)
    if placed.data.is_cut:  # an item may be one of those that were left out
        return
    stray = {element.span for element in placed.stray}
    for item in _find_unused(placed):
        element = placed.elements[item]
        if element.span not in stray:
            message = "only items that are themselves unused have this one; let an item without itemprop refer to them"
            yield Found(page.place_in(element, "itemscope"), "MD-15", FindingLevel.ERROR, message)


def _find_unused(placed: PlacedItems) -> Iterator[Item]:
    used = set(placed.data.items)
    ahead = list(used)
    while ahead:
        for inner in _held_by(ahead.pop()):
            if inner not in used:
                used.add(inner)
                ahead.append(inner)
    return (item for item in placed.data.all if item not in used)


# The names of properties, and whether their values stand where readers look for them.


# What no type and no name begins with: the names that they get in RDF do.
RESERVED: Final = "http://www.w3.org/1999/xhtml/microdata#"

# Of a URL without //, the schemes that people write; before any other colon stands a prefix, most likely.
_PLAIN_SCHEME: Final = re.compile(r"(?:data|doi|geo|info|mailto|sms|tag|tel|urn|uuid):", re.IGNORECASE)
# Letters of a text that may be a URL or a date.
_LONGEST: Final = 2000
_OF_TEXT: Final = frozenset({ValueKind.TEXT, ValueKind.TIME})


def check_itemprop(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    """Judge the names in an itemprop of any item (MD-08)."""
    known: set[str] = set()
    for place, token in page.tokens(element, "itemprop"):
        problem = _against_url(token)
        if token in known:
            message = f"{shown(token)} is here twice, and counts once; remove one"
            yield Found(place, "TOK-02", FindingLevel.ERROR, message)
        elif problem is not None:
            yield Found(place, "MD-08", FindingLevel.ERROR, problem)
        known.add(token)
    if not known:
        message = "an itemprop without a name adds nothing; write the name of a property, or leave it out"
        yield Found(page.place_in(element, "itemprop"), "MD-08", FindingLevel.ERROR, message)


def _against_url(name: str) -> str | None:
    if name.startswith(RESERVED):
        return f"{shown(name)} is not for names: those of RDF begin so; write the name that the vocabulary gives it"
    if ":" in name and not _is_url(name):
        return f"{shown(name)} holds a colon and is no absolute URL; write that, or a word without one"
    return None


def _is_url(text: str) -> bool:
    return ("://" in text or _PLAIN_SCHEME.match(text) is not None) and is_absolute_url(text)


def check_names(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge the names of properties of items without a known vocabulary (MD-08)."""
    typed = _find_typed(placed)
    told = set()
    for item in placed.data.all:
        for each in item.properties if item not in typed else ():
            element = placed.elements[each]
            if each in told or not any("." in name and ":" not in name for name in each.names):
                continue
            told.add(each)
            for place, token in page.tokens(element, "itemprop"):
                if "." in token and ":" not in token:
                    message = f"{shown(token)} is a name with a point, of an item without a type; write a plain word"
                    yield Found(place, "MD-08", FindingLevel.ERROR, message)


def _find_typed(placed: PlacedItems) -> set[Item]:
    """Find the items with a type, and those that are values of them, at whatever distance."""
    found = {item for item in placed.data.all if item.type is not None}
    ahead = list(found)
    while ahead:
        for each in ahead.pop().properties:
            inner = each.item
            if inner is not None and inner not in found:
                found.add(inner)
                ahead.append(inner)
    return found


def check_values(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge whether URLs and dates are where readers look for them (MD-11); many are reported once a page.

    A date that is the text of a time element is the value, but the text wants it in datetime.
    Deviation: a time of the day is told only with its date: 10:20 may be a score.
    """
    urls: list[tuple[PlacedElement, str]] = []
    dates: list[tuple[PlacedElement, str]] = []
    bare: list[tuple[PlacedElement, str]] = []
    for each, element in placed.elements.items():
        if isinstance(each, Item) or each.kind not in _OF_TEXT or len(each.text or "") > _LONGEST:
            continue
        value = (each.text or "").strip(SPACE)
        if is_valid_date(value) or is_valid_global(value):
            if each.kind is ValueKind.TEXT:
                dates.append((element, value))
            elif element.get("datetime") is None:
                bare.append((element, value))
        elif each.kind is ValueKind.TEXT and _is_url(value) and is_valid_url(value, page.encoding):
            urls.append((element, value))
    for found, problem, mend in (
        (
            urls,
            "is a URL, but as a value here only text",
            "into the href of an a or link element, or the src of an img",
        ),
        (dates, "is a date, but as a value here only text", "into the datetime of a time element"),
        (bare, "is a date, but is the text of its time element", "into the datetime of that, where readers look"),
    ):
        if found:
            element, value = found[0]
            others = f" (as are {len(found) - 1} more)" if len(found) > 1 else ""
            message = f"{shown(value)} {problem}{others}; write it {mend}"
            yield Found(page.place_in(element, "itemprop"), "MD-11", FindingLevel.WARNING, message)


# The most properties that are examined for one vocabulary, nested items included: with itemref, many items can share
# the same thousand properties.
_MOST_PROPERTIES: Final = 100_000
_UNWISE: Final = frozenset({"VC-22"})


def tell_faults(
    page: WrittenPage, placed: PlacedItems, type_: str, find_faults: Callable[[Item], Iterator[Fault]]
) -> Iterator[Found]:
    """Report the faults of each item of a type."""
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
            yield Found(
                place, fault.rule, FindingLevel.WARNING if fault.rule in _UNWISE else FindingLevel.ERROR, message
            )


# What an author must keep of contacts, a vocabulary of text 003 (VC-01 to VC-08).


def check_hcards(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge contacts: their names, ways to reach them, dates and types."""
    return tell_faults(page, placed, HCARD, find_card_faults)


# What an author must keep of events, a vocabulary of text 003 (IC-01 to IC-05).


def check_vevents(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge events: their times, the number of each property, and its values."""
    return tell_faults(page, placed, VEVENT, find_event_faults)


# What an author must keep of licensed works, the vocabulary of text 003 (WK-01).


_NAMES: Final = ("work", "title", "author", "license")


def check_works(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge works: one work, at most one title, and the values."""
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


# The vocabularies of the text whose items have no global identifiers.
_WITHOUT_IDS: Final = frozenset({WORK})
_ITEM_ATTRIBUTES: Final = MICRODATA - {"itemprop"}
_OF_ITEMS: Final = (
    ("itemtype", "MD-02", "has no type"),
    ("itemid", "MD-06", "has no identifier"),
    ("itemref", "MD-07", "has no properties elsewhere"),
)
_CHECKS: Final[tuple[Callable[[WrittenPage, PlacedItems], Iterator[Found]], ...]] = (
    check_names,
    check_values,
    check_crawl,
    check_rings,
    check_use,
    check_works,
    check_hcards,
    check_vevents,
)


def check_microdata(page: WrittenPage) -> Iterator[Found]:
    """Judge microdata (MD-01..MD-15, and the vocabularies of the text)."""
    placed = place_items(page)
    if placed is None:
        return
    identifiers = {element.values["id"] for element in page.places.elements if element.values.get("id")}
    right_types, right_names = set[str](), set[str]()
    for element in page.places.elements:
        if ":" in element.tag:  # elsewhere these attributes say nothing
            continue
        if not _ITEM_ATTRIBUTES.isdisjoint(element.values):
            yield from _check_attributes(page, element, identifiers, right_types)
        if (names := element.get("itemprop")) is not None:
            yield from _unless_right(names, right_names, check_itemprop(page, element))
    for check in _CHECKS:
        yield from check(page, placed)


def _unless_right(written: str, right: set[str], judged: Iterator[Found]) -> Iterator[Found]:
    """Return what is wrong with a value; a value that was found right before is not judged again.

    right   values with which nothing is wrong wherever they stand; grows
    judged  its faults, found lazily
    """
    if written in right:
        return
    found = tuple(judged)
    if not found:
        right.add(written)
    yield from found


def _check_attributes(
    page: WrittenPage, element: PlacedElement, identifiers: set[str], right_types: set[str]
) -> Iterator[Found]:
    scope = element.get("itemscope")
    if scope is None:
        for attribute, rule, what in _OF_ITEMS:
            if element.get(attribute) is not None:
                message = (
                    f"without itemscope this makes no item, which {what}; write itemscope, or leave {attribute} out"
                )
                yield Found(page.place_in(element, attribute), rule, FindingLevel.ERROR, message)
        return
    if not is_valid_boolean("itemscope", scope):
        message = f"itemscope is true whatever its value is, and {shown(scope)} has no effect; write the bare word"
        yield Found(page.place_in(element, "itemscope"), "MD-01", FindingLevel.ERROR, message)
    if (type_ := element.get("itemtype")) is not None:
        yield from _unless_right(type_, right_types, _check_type(page, element, type_))
    if (identifier := element.get("itemid")) is not None:
        yield from _check_identifier(page, element, identifier)
    if element.get("itemref") is not None:
        yield from _check_references(page, element, identifiers)


def _check_type(page: WrittenPage, element: PlacedElement, written: str) -> Iterator[Found]:
    place = page.place_in(element, "itemtype")
    types = split_tokens(written)
    for each in types:
        if each.startswith(RESERVED):
            message = f"{shown(each)} is not for types: names of RDF begin so; write the URL of the vocabulary itself"
        elif not is_absolute_url(each):
            message = f"{shown(each)} is no absolute URL, so it names no type; write such as https://schema.org/Event"
        elif not is_valid_url(each, page.encoding):
            message = f"{shown(each)} is no valid URL; write it percent-encoded, letter by letter as others write it"
        else:
            continue
        yield Found(place, "MD-03", FindingLevel.ERROR, message)
    if not types:
        message = "an empty itemtype is none; write the URL of a type, or leave it out"
        yield Found(place, "MD-03", FindingLevel.ERROR, message)
    elif len(types) > 1:
        message = "only readers of today know several types of one item; write one, if all readers are to know it"
        yield Found(place, "MD-18", FindingLevel.WARNING, message)
    elif written != types[0]:
        message = f"white space around {shown(types[0])} is part of the type to older readers; leave it out"
        yield Found(place, "MD-03", FindingLevel.ERROR, message)


def _check_identifier(page: WrittenPage, element: PlacedElement, written: str) -> Iterator[Found]:
    place = page.place_in(element, "itemid")
    url = written.strip(SPACE)
    if not is_valid_url(url, page.encoding):
        message = f"{shown(url)} is no valid URL, so it identifies nothing; mend it, or leave it out"
        yield Found(place, "MD-05", FindingLevel.ERROR, message)
    types = split_tokens(element.get("itemtype") or "")
    if not types:
        message = "an item without a type has no identifier; write its itemtype, or leave itemid out"
        yield Found(place, "MD-06", FindingLevel.ERROR, message)
    elif not _WITHOUT_IDS.isdisjoint(types):
        message = f"items of type {shown(types[0])} have no identifiers; leave itemid out"
        yield Found(place, "MD-06", FindingLevel.ERROR, message)


def _check_references(page: WrittenPage, element: PlacedElement, identifiers: set[str]) -> Iterator[Found]:
    known: set[str] = set()
    for place, token in page.tokens(element, "itemref"):
        if token in known:
            message = f"{shown(token)} is here twice, and its properties count once; remove one"
            yield Found(place, "TOK-02", FindingLevel.ERROR, message)
        elif token not in identifiers:
            message = f"the page has no element with the id {shown(token)}; write it as that does, letter by letter"
            yield Found(place, "MD-07", FindingLevel.ERROR, message)
        known.add(token)


# What is wrong with items of a vocabulary, told where it stands in the page.
