"""The contact vocabulary: what is wrong with an hcard item, for whoever wrote it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.microdata.values import HCARD
from tocsin.spec.microdata.vocabulary import Fault, find_repeated, find_unknown, is_text, is_url, must_be, must_be_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tocsin.spec.microdata.values import Item, Property
    from tocsin.spec.microdata.vocabulary import Check

NAME_PARTS: Final = ("family-name", "given-name", "additional-name", "honorific-prefix", "honorific-suffix")
"""Of a name, as vCard orders them (VC-12)."""
ADDRESS_LISTS: Final = ("post-office-box", "extended-address", "street-address")
"""Parts of an address of which there may be many, as vCard orders them (VC-13)."""
ADDRESS_PARTS: Final = ("locality", "region", "postal-code", "country-name")
"""Those behind them, of which there is one each."""
CLASSES: Final = ("public", "private", "confidential")
NO_POSITION: Final = "is no position; write latitude and longitude, such as 34.052339;-118.410623"
NO_MOMENT: Final = "is no date and time with a zone; write such as 2026-11-21T08:20:00Z"

_TZ = re.compile(r"[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]")
_GEO = re.compile(r"[+-]?[0-9]++(?:\.[0-9]++)?;[+-]?[0-9]++(?:\.[0-9]++)?")
_POLE, _DATE_LINE = 90, 180
_LONGEST_POSITION = 40
_A_CONTACT = "a contact"
_ADDRESS: Final = ("type", *ADDRESS_LISTS, *ADDRESS_PARTS)
_ORGANISATION: Final = ("organization-name", "organization-unit")
_ADDRESS_TYPES: Final = ("dom", "intl", "postal", "parcel", "home", "work", "pref")
_TYPES: Final = {
    "adr": _ADDRESS_TYPES,
    "label": _ADDRESS_TYPES,
    "tel": (
        *("home", "msg", "work", "voice", "fax", "cell", "video", "pager", "bbs", "modem", "car", "isdn", "pcs"),
        "pref",
    ),
    "email": ("internet", "x400", "pref"),
    "impp": ("personal", "business", "home", "work", "mobile", "pref"),
}
"""The type strings of each kind (VC-04)."""


def is_valid_tz(text: str) -> bool:
    """Say whether the text is a time zone of the vocabulary, such as +01:00 (VC-06)."""
    return _TZ.fullmatch(text) is not None


def is_valid_geo(text: str) -> bool:
    """Say whether the text is a position of the vocabulary: latitude and longitude, such as 34.05;-118.4 (VC-07)."""
    return _GEO.fullmatch(text) is not None


def is_on_earth(text: str) -> bool:
    """Say whether the text is a position that programs can show.

    Source  RFC 5545, 3.8.1.6: latitudes to 90 degrees, longitudes to 180; who writes more letters means no place
    """
    if len(text) > _LONGEST_POSITION or not is_valid_geo(text):
        return False
    latitude, longitude = map(float, text.split(";"))
    return abs(latitude) <= _POLE and abs(longitude) <= _DATE_LINE


def find_card_faults(card: Item) -> Iterator[Fault]:
    """Find what an author must mend of a contact (VC-01 to VC-08, VC-14, VC-15), and what no vCard can say (VC-22)."""
    for name in ("fn", "n"):
        if not card.named(name):
            problem = f"{name} missing: no vCard of this contact conforms; write an element with itemprop={name}"
            yield Fault(card, "VC-01", None, problem)
    yield from find_repeated(card, {"fn", "n"}, "VC-01", _A_CONTACT)
    yield from find_repeated(card, {"bday"}, "VC-08", _A_CONTACT)
    yield from find_unknown(card, _PROPERTIES, "VC-01", _A_CONTACT)
    for each in card.properties:
        for name in each.names:
            if name in _PROPERTIES:
                yield from _PROPERTIES[name](each, name)
            elif ":" in name:
                yield Fault(each, "VC-22", name, "is a name that no vCard can hold; an exported one is without it")
    for kind in _TYPES:
        yield from _find_preferred(card, kind)


def _find_preferred(card: Item, kind: str) -> Iterator[Fault]:
    preferred = [each for each in card.named(kind) if each.item is not None and "pref" in _texts(each.item, "type")]
    for each in preferred[1:]:
        yield Fault(each, "VC-04", None, f"a contact prefers one {kind}; leave the type pref of the others out")


def _texts(item: Item, name: str) -> list[str]:
    return [each.text for each in item.named(name) if each.text is not None]


def _check_text(each: Property, name: str) -> Iterator[Fault]:
    return must_be_text(each, "VC-01", name)


def _check_name(each: Property, _: str) -> Iterator[Fault]:
    if each.item is None:
        problem = (
            f"n is an item of the parts of a name; write itemscope, and within it such as itemprop={NAME_PARTS[0]}"
        )
        yield Fault(each, "VC-01", None, problem)
        return
    yield from _check_parts(each.item, NAME_PARTS, "VC-02", "a name")


def _check_parts(item: Item, names: Collection[str], rule: str, what: str) -> Iterator[Fault]:
    """Judge an item of which each part is a text."""
    yield from find_unknown(item, names, rule, what)
    for part in item.properties:
        for name in part.names:
            if name in names:
                yield from must_be_text(part, rule, name)


def _check_address(each: Property, _: str) -> Iterator[Fault]:
    if each.item is None:
        problem = "adr is an item of the parts of an address; write itemscope, or itemprop=label for an address as text"
        yield Fault(each, "VC-03", None, problem)
        return
    yield from find_repeated(each.item, ADDRESS_PARTS, "VC-03", "an address")
    yield from _check_parts(each.item, _ADDRESS, "VC-03", "an address")
    yield from _find_wrong_types(each.item, "adr")


def _check_way(each: Property, kind: str) -> Iterator[Fault]:
    """Judge a way to reach somebody: its value alone, or beside types in an item (VC-05)."""
    if each.item is None:
        yield from _check_way_value(each, kind, kind)
        return
    values = each.item.named("value")
    if len(values) != 1:
        yield Fault(each, "VC-05", None, f"{kind} as an item has one value, and this has {len(values)}; write one")
    yield from find_unknown(each.item, ("type", "value"), "VC-05", f"an item of {kind}")
    for value in values:
        yield from _check_way_value(value, kind, "value")
    yield from _find_wrong_types(each.item, kind)


def _check_way_value(each: Property, kind: str, name: str) -> Iterator[Fault]:
    if kind != "impp":
        yield from must_be_text(each, "VC-05", name)
    elif not is_url(each):
        yield Fault(each, "VC-05", each.text, "is no absolute URL; write such as xmpp:ann@chat.example into an href")


def _find_wrong_types(item: Item, kind: str) -> Iterator[Fault]:
    known: set[str] = set()
    for each in item.named("type"):
        text = each.text
        if text not in _TYPES[kind]:
            problem = f"is no type of {kind}; write one of: {', '.join(_TYPES[kind])}; in lower case"
            yield Fault(each, "VC-04", text or "", problem)
        elif text in known:
            yield Fault(each, "VC-04", text, "stands here twice; leave one out")
        known.add(text or "")


def _check_url(each: Property, name: str) -> Iterator[Fault]:
    if not is_url(each):
        yield Fault(each, "VC-08", each.text or "", f"is no absolute URL; write the {name} into an href or src")


def _check_organisation(each: Property, _: str) -> Iterator[Fault]:
    if each.item is None:
        yield from must_be_text(each, "VC-14", "org")
        return
    count = len(each.item.named("organization-name"))
    if count != 1:
        problem = f"org as an item has one organization-name, and this has {count}; write one"
        yield Fault(each, "VC-14", None, problem)
    yield from _check_parts(each.item, _ORGANISATION, "VC-14", "an organisation")


def _check_agent(each: Property, _: str) -> Iterator[Fault]:
    if each.item is not None and HCARD not in each.item.types:
        problem = f"an agent is text, a URL or a contact; write itemtype={HCARD}"
        yield Fault(each, "VC-15", None, problem)
    elif each.item is None and not is_text(each) and not is_url(each):
        yield Fault(each, "VC-15", each.text, "is no absolute URL; write one, or the agent's name as text")


_PROPERTIES: Final[dict[str, Check]] = {
    "fn": _check_text,
    "n": _check_name,
    "nickname": _check_text,
    "photo": _check_url,
    "bday": must_be("VC-08", is_valid_date, "is no date; write such as 1970-01-31"),
    "adr": _check_address,
    "label": _check_way,
    "tel": _check_way,
    "email": _check_way,
    "mailer": _check_text,
    "tz": must_be("VC-06", is_valid_tz, "is no time zone; write such as +01:00"),
    "geo": must_be("VC-07", is_valid_geo, NO_POSITION),
    "title": _check_text,
    "role": _check_text,
    "logo": _check_url,
    "agent": _check_agent,
    "org": _check_organisation,
    "categories": _check_text,
    "note": _check_text,
    "rev": must_be("VC-08", is_valid_global, NO_MOMENT),
    "sort-string": _check_text,
    "sound": _check_url,
    "url": _check_url,
    "class": must_be("VC-08", CLASSES.__contains__, f"is no class; write one of: {', '.join(CLASSES)}"),
    "impp": _check_way,
}
"""The properties of a contact, in the text's order."""
