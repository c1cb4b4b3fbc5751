"""The names of properties, and whether their values stand where readers look for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url, is_valid_url
from tocsin.spec.lint.page import shown
from tocsin.spec.microdata.values import Item, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage

RESERVED: Final = "http://www.w3.org/1999/xhtml/microdata#"
"""What no type and no name begins with: the names that they get in RDF do."""

# Of a URL without //, the schemes that people write; before any other colon stands a prefix, most likely.
_PLAIN_SCHEME: Final = re.compile(r"(?:data|doi|geo|info|mailto|sms|tag|tel|urn|uuid):", re.IGNORECASE)
_LONGEST: Final = 2000
"""Letters of a text that may be a URL or a date."""
_OF_TEXT: Final = frozenset({Kind.TEXT, Kind.TIME})


def check_itemprop(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    """Judge the names in an itemprop, whatever item it belongs to (MD-08)."""
    known: set[str] = set()
    for place, token in page.tokens(element, "itemprop"):
        problem = _against_url(token)
        if token in known:
            message = f"{shown(token)} stands here twice, and counts once; remove one"
            yield Found(place, "TOK-02", Level.ERROR, message)
        elif problem is not None:
            yield Found(place, "MD-08", Level.ERROR, problem)
        known.add(token)
    if not known:
        message = "an itemprop without a name adds nothing; write the name of a property, or leave it out"
        yield Found(page.place_in(element, "itemprop"), "MD-08", Level.ERROR, message)


def _against_url(name: str) -> str | None:
    if name.startswith(RESERVED):
        return f"{shown(name)} is not for names: those of RDF begin so; write the name that the vocabulary gives it"
    if ":" in name and not _is_url(name):
        return f"{shown(name)} holds a colon and is no absolute URL; write that, or a word without one"
    return None


def _is_url(text: str) -> bool:
    return ("://" in text or _PLAIN_SCHEME.match(text) is not None) and is_absolute_url(text)


def check_names(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge the names of properties of items that no vocabulary is known for (MD-08)."""
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
                    yield Found(place, "MD-08", Level.ERROR, message)


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
    """Judge whether URLs and dates stand where readers look for them (MD-11); those of many are told once a page.

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
            if each.kind is Kind.TEXT:
                dates.append((element, value))
            elif element.get("datetime") is None:
                bare.append((element, value))
        elif each.kind is Kind.TEXT and _is_url(value) and is_valid_url(value, page.encoding):
            urls.append((element, value))
    for found, problem, mend in (
        (
            urls,
            "is a URL, but as a value here only text",
            "into the href of an a or link element, or the src of an img",
        ),
        (dates, "is a date, but as a value here only text", "into the datetime of a time element"),
        (bare, "is a date, but stands in its time element as text", "into the datetime of that, where readers look"),
    ):
        if found:
            element, value = found[0]
            others = f" (as are {len(found) - 1} more)" if len(found) > 1 else ""
            message = f"{shown(value)} {problem}{others}; write it {mend}"
            yield Found(page.place_in(element, "itemprop"), "MD-11", Level.WARNING, message)
