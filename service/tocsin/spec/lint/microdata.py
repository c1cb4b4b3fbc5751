"""What an author must keep of microdata (text 003): the attributes, and the items that they make together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.layout import MICRODATA
from tocsin.spec.html.microsyntax import SPACE, split_tokens
from tocsin.spec.infrastructure.keywords import is_valid_boolean
from tocsin.spec.infrastructure.urls import is_absolute_url, is_valid_url
from tocsin.spec.lint.hcard import check_hcards
from tocsin.spec.lint.microdata_crawl import check_crawl, check_rings, check_use
from tocsin.spec.lint.microdata_items import place_items
from tocsin.spec.lint.microdata_names import RESERVED, check_itemprop, check_names, check_values
from tocsin.spec.lint.microdata_works import check_works
from tocsin.spec.lint.page import shown
from tocsin.spec.lint.vevent import check_vevents
from tocsin.spec.microdata.values import WORK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage

_WITHOUT_IDS: Final = frozenset({WORK})
"""The vocabularies of the text whose items have no global identifiers."""
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
    """Give what is wrong with a value; nothing is looked for where it is known to be right.

    right   values with which nothing is wrong wherever they stand; grows
    judged  what is found as soon as somebody asks
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
                yield Found(page.place_in(element, attribute), rule, Level.ERROR, message)
        return
    if not is_valid_boolean("itemscope", scope):
        message = f"itemscope is true by standing here, whatever {shown(scope)} is to say; write it bare"
        yield Found(page.place_in(element, "itemscope"), "MD-01", Level.ERROR, message)
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
        yield Found(place, "MD-03", Level.ERROR, message)
    if not types:
        message = "an empty itemtype is none; write the URL of a type, or leave it out"
        yield Found(place, "MD-03", Level.ERROR, message)
    elif len(types) > 1:
        message = "only readers of today know several types of one item; write one, if all readers are to know it"
        yield Found(place, "MD-18", Level.WARNING, message)
    elif written != types[0]:
        message = f"white space around {shown(types[0])} is part of the type to older readers; leave it out"
        yield Found(place, "MD-03", Level.ERROR, message)


def _check_identifier(page: WrittenPage, element: PlacedElement, written: str) -> Iterator[Found]:
    place = page.place_in(element, "itemid")
    url = written.strip(SPACE)
    if not is_valid_url(url, page.encoding):
        message = f"{shown(url)} is no valid URL, so it identifies nothing; mend it, or leave it out"
        yield Found(place, "MD-05", Level.ERROR, message)
    types = split_tokens(element.get("itemtype") or "")
    if not types:
        message = "an item without a type has no identifier; write its itemtype, or leave itemid out"
        yield Found(place, "MD-06", Level.ERROR, message)
    elif not _WITHOUT_IDS.isdisjoint(types):
        message = f"items of type {shown(types[0])} have no identifiers; leave itemid out"
        yield Found(place, "MD-06", Level.ERROR, message)


def _check_references(page: WrittenPage, element: PlacedElement, identifiers: set[str]) -> Iterator[Found]:
    known: set[str] = set()
    for place, token in page.tokens(element, "itemref"):
        if token in known:
            message = f"{shown(token)} stands here twice, and its properties count once; remove one"
            yield Found(place, "TOK-02", Level.ERROR, message)
        elif token not in identifiers:
            message = f"the page has no element with the id {shown(token)}; write it as that does, letter by letter"
            yield Found(place, "MD-07", Level.ERROR, message)
        known.add(token)
