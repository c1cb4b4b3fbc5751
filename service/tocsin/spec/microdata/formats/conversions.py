"""Who writes each format: what was asked for in, a document out. A writer is imported when it is asked for first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeVar, cast

import msgspec
from msgspec import Struct

from tocsin.spec.microdata.formats import ALL
from tocsin.spec.microdata.values import Microdata

if TYPE_CHECKING:
    from datetime import datetime
    from typing import TypeAlias

    from tocsin.spec.microdata.formats.content_lines import Written

PRODUCT: Final = "-//Tocsin//Tocsin//EN"
"""What made a calendar; without a version, so that an upgrade changes no calendar."""

EXPORT: Final = "export"
"""What today's readers take."""
TEXT: Final = "text"
"""The text to the letter."""
LIVING: Final = "living"
"""As today's HTML has it."""

_Known = TypeVar("_Known")


class Received(Struct, frozen=True, gc=False):
    """A page as it was received.

    address  its own URL after redirects; None if it is not known
    base     what its relative URLs are resolved against, whatever it says itself; None: its base element, or address
    nosniff  its answer says that its type is to be taken as it stands
    """

    body: bytes
    content_type: str | None = None
    address: str | None = None
    base: str | None = None
    nosniff: bool = False


class Asked(Struct, frozen=True):
    """What is to be converted, and how.

    item           the number of one item of the kind, from 1; ALL: every one
    counted        what it counts, in words, one and more of them
    now            when it is converted, aware
    last_modified  when the page's server says that it was written, aware
    self_url       where the result will be had
    blank          what names of things without one begin with, in RDF
    """

    given: Given
    profile: str
    item: int | Literal["all"] = ALL
    counted: tuple[str, str] = ("item", "items")
    now: datetime | None = None
    last_modified: datetime | None = None
    self_url: str | None = None
    blank: str = ""


class Converted(Struct, frozen=True, gc=False):
    """A page's data in a format.

    text      the document, as it is to be written, line ends too; None where the page has nothing of the kind
    problems  in words for its reader: what was left out, and why
    found     how many of the kind the page has, of what `Format.counted` names; 0 where that names nothing
    absence   what was looked for and what the page has instead, in words, where it has nothing of the kind
    empty     the document of nothing, where there is no text and the format has one: who subscribed to a page's events
              keeps the subscription in a week without any
    """

    text: str | None
    problems: tuple[str, ...] = ()
    found: int = 0
    absence: str | None = None
    empty: str | None = None


def items_of(asked: Asked) -> Microdata:
    """Read the items of what was given, unless they are. Raises TooComplex."""
    page = asked.given
    if isinstance(page, Microdata):
        return page
    from tocsin.spec.microdata.reading.items import read_items  # noqa: PLC0415 - who has items needs no reader

    living = asked.profile == LIVING
    return read_items(
        page.body, page.content_type, address=page.address, base=page.base, nosniff=page.nosniff, living=living
    )


def write_microdata(asked: Asked) -> Converted:
    """Write the items of a page as JSON (JS-01)."""
    from tocsin.spec.microdata.formats.items_json import to_text, write_items  # noqa: PLC0415 - only who asks for a format loads its writer

    data = items_of(asked)
    if not data.items:
        return Converted(None, data.problems, empty='{"items": []}\n' if asked.item == ALL else None)
    found = len(data.items)
    if asked.item != ALL:
        if asked.item > found:
            return _of_items(data, None, asked, found)
        data = replace(data, items=(data.items[asked.item - 1],))
    written, problems = write_items(data, living=asked.profile == LIVING)
    return Converted(to_text(written), data.problems + problems, found)


def write_vcard(asked: Asked) -> Converted:
    """Write a contact of a page, or all of them, as vCard (VC-09)."""
    from tocsin.spec.microdata.formats.vcard import find_cards, write_cards  # noqa: PLC0415 - the same

    data = items_of(asked)
    found = len(find_cards(data))
    which = None if asked.item == ALL else asked.item
    written = write_cards(data, profile=asked.profile, which=which)
    return _of_items(data, written, asked, found)


def write_ical(asked: Asked) -> Converted:
    """Write the events of a page as a calendar (IC-07)."""
    from tocsin.spec.microdata.formats import icalendar  # noqa: PLC0415 - the same

    data = items_of(asked)
    found, now = len(icalendar.find_events(data)), _known(asked.now)
    which = None if asked.item == ALL else asked.item
    written = icalendar.write_calendar(data, profile=asked.profile, now=now, product=PRODUCT, which=which)
    converted = _of_items(data, written, asked, found)
    if converted.text is not None or which is not None or asked.profile != EXPORT:
        return converted
    return msgspec.structs.replace(converted, empty=icalendar.write_empty_calendar(data, now=now, product=PRODUCT))


def _of_items(data: Microdata, written: Written | None, asked: Asked, found: int) -> Converted:
    text, problems = (None, ()) if written is None else written
    if text is None and asked.item != ALL and 0 < found < asked.item:
        one, many = asked.counted
        problems += (f"no {one} {asked.item}: the page has {found} {one if found == 1 else many}",)
    return Converted(text, data.problems + problems, found)


def write_atom(asked: Asked) -> Converted:
    """Write the articles of a page as a feed (AT-01)."""
    from tocsin.spec.microdata.formats.atom import to_atom  # noqa: PLC0415 - the same

    page = _page_of(asked)
    feed = to_atom(
        page.body,
        page.content_type,
        address=_known(page.address),
        now=_known(asked.now),
        last_modified=asked.last_modified,
        self_url=asked.self_url,
        nosniff=page.nosniff,
        base=page.base,
        profile="text" if asked.profile == TEXT else "export",
    )
    return Converted(feed.text, feed.problems)


def write_turtle(asked: Asked) -> Converted:
    """Write all that a page says as Turtle (RDF-15)."""
    return _rdf(asked, "turtle")


def write_ntriples(asked: Asked) -> Converted:
    """Write all that a page says as N-Triples (RDF-15)."""
    return _rdf(asked, "ntriples")


def write_jsonld(asked: Asked) -> Converted:
    """Write all that a page says as JSON-LD."""
    return _rdf(asked, "jsonld")


def _rdf(asked: Asked, form: str) -> Converted:
    from tocsin.spec.microdata.formats.rdf import read_triples  # noqa: PLC0415 - the same
    from tocsin.spec.microdata.formats.rdf_formats import write_rdf  # noqa: PLC0415 - its library takes a tenth of a second

    page = _page_of(asked)
    found = read_triples(page.body, page.content_type, address=page.address, base=page.base, nosniff=page.nosniff)
    if not found.triples:
        return Converted(None, found.problems, empty="[]\n" if form == "jsonld" else "")
    return Converted(write_rdf(found.triples, form, blank=asked.blank), found.problems)


def _page_of(asked: Asked) -> Received:
    """Give the page; `convert` has seen to it that there is one."""
    return cast("Received", asked.given)


def _known(value: _Known | None) -> _Known:
    """Give what `convert` has seen to be there."""
    return cast("_Known", value)


if TYPE_CHECKING:
    Given: TypeAlias = Received | Microdata
