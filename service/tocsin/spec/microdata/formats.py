"""The ways out of a page's data: each format, what it needs, the profiles it has, and one function that converts.

Who writes a format is imported when the first page is converted into it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeVar, cast

from msgspec import Struct

from tocsin.errors import UsageError
from tocsin.spec.microdata.names import ALL
from tocsin.spec.microdata.values import HCARD, VEVENT, Microdata

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import TypeAlias

    from tocsin.spec.microdata.lines import Written

__all__ = (
    "ALL",
    "EXPORT",
    "FORMATS",
    "LIVING",
    "NOTE",
    "PRODUCT",
    "TEXT",
    "Asked",
    "Converted",
    "Format",
    "Received",
    "convert",
    "find_format",
    "ways_out",
)

EXPORT: Final = "export"
"""What today's readers take."""
TEXT: Final = "text"
"""The text to the letter."""
LIVING: Final = "living"
"""As today's HTML has it."""
NOTE: Final = "note"
"""Of RDF: what the W3C's note Microdata to RDF says."""

_Known = TypeVar("_Known")

PRODUCT: Final = "-//Tocsin//Tocsin//EN"
"""What made a calendar; without a version, so that an upgrade changes no calendar."""


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
    now            when it is converted, aware
    last_modified  when the page's server says that it was written, aware
    self_url       where the result will be had
    blank          what names of things without one begin with, in RDF
    """

    given: Given
    profile: str
    item: int | Literal["all"] = ALL
    now: datetime | None = None
    last_modified: datetime | None = None
    self_url: str | None = None
    blank: str = ""


class Converted(Struct, frozen=True, gc=False):
    """A page's data in a format.

    text      the document, as it is to be written, line ends too; None where the page has nothing of the kind
    problems  in words for its reader: what was left out, since there was too much of it
    found     how many of the kind the page has, of what `Format.counted` names; 0 where that names nothing
    """

    text: str | None
    problems: tuple[str, ...] = ()
    found: int = 0


class Format(Struct, frozen=True):
    """A format that a page's data is taken away in.

    label          for people, in a link
    media_type     as in a Content-Type header
    suffix         of a file's name, with its dot
    profiles       the first is taken where none is named
    whole          profiles that need the whole page; for the others its items are enough
    of_items       a page without items has nothing in it
    type           it is made of items of this type only; None: of all
    needs_address  nothing can be written without the page's own URL
    needs_now      nor without the time
    joins          documents of several pages, one after the other, are one document of this format
    counted        what `item` counts, in words, one and more of them; None where no single one can be had
    default        which item is given where none is named
    """

    name: str
    label: str
    media_type: str
    suffix: str
    profiles: tuple[str, ...]
    write: Callable[[Asked], Converted]
    whole: tuple[str, ...] = ()
    of_items: bool = True
    type: str | None = None
    needs_address: bool = False
    needs_now: bool = False
    joins: bool = False
    counted: tuple[str, str] | None = None
    default: int | Literal["all"] = ALL

    def profile(self, name: str | None) -> str:
        """Give a profile by its name; None stands for the first.

        Raises UsageError for one that this format does not have.
        """
        if name is None:
            return self.profiles[0]
        if name not in self.profiles:
            raise UsageError(f"{self.name} has no profile {name!r}; it has: {', '.join(self.profiles)}")
        return name


def convert(
    form: str,
    given: Given,
    *,
    profile: str | None = None,
    item: int | Literal["all"] | None = None,
    now: datetime | None = None,
    last_modified: datetime | None = None,
    self_url: str | None = None,
    blank: str = "",
) -> Converted:
    """Convert a page's data into a format, whatever the page's bytes are; nothing is fetched.

    form           a name in FORMATS
    given          the page, or its items where they are enough
    profile        None: the format's first
    item           the number of one item, from 1, where the format counts some; ALL: every one; None: its default
    now            aware; needed where `Format.needs_now`
    last_modified  of the page, aware, as its server says
    self_url       where the document will be had, for formats that say so
    blank          what names of things without one begin with, in RDF, letters and digits; documents that are put
                   together (`Format.joins`) must differ
    Raises UsageError for what the format cannot do, and where it lacks something; TooComplex for a page that no parser
    may be given.
    """
    way = find_format(form)
    name = way.profile(profile)
    if item is not None and item != ALL and way.counted is None:
        raise UsageError(f"{form} gives the whole page; leave the item out")
    if item != ALL and item is not None and item < 1:
        raise UsageError(f"no item {item}: items are counted from 1")
    if isinstance(given, Microdata) and name in way.whole:
        raise UsageError(f"{form} needs the page itself, its items are not enough")
    if way.needs_address and given.address is None:
        raise UsageError(f"{form} needs the page's own URL; say where it is")
    if way.needs_now and now is None:
        raise UsageError(f"{form} needs the time; give it as now")
    return way.write(Asked(given, name, way.default if item is None else item, now, last_modified, self_url, blank))


def find_format(name: str) -> Format:
    """Give a format by its name.

    Raises UsageError for an unknown one.
    """
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}; there are: {', '.join(FORMATS)}")
    return FORMATS[name]


def ways_out(data: Microdata) -> tuple[str, ...]:
    """Name the formats that these items give something in, in the order of FORMATS."""
    types = {name for each in data.all for name in each.types}
    return tuple(
        name for name, way in FORMATS.items() if data.items and way.of_items and (way.type is None or way.type in types)
    )


def _items(asked: Asked) -> Microdata:
    """Read the items of what was given, unless they are."""
    page = asked.given
    if isinstance(page, Microdata):
        return page
    from tocsin.spec.microdata.items import read_items  # noqa: PLC0415 - who has items needs no reader

    living = asked.profile == LIVING
    return read_items(
        page.body, page.content_type, address=page.address, base=page.base, nosniff=page.nosniff, living=living
    )


def _microdata(asked: Asked) -> Converted:
    from tocsin.spec.microdata.to_json import to_object, to_text  # noqa: PLC0415 - only who asks for a format loads its writer

    data = _items(asked)
    if not data.items:
        return Converted(None, data.problems)
    found = len(data.items)
    if asked.item != ALL:
        if asked.item > found:
            return _of_items(data, None, asked, "microdata", found)
        data = replace(data, items=(data.items[asked.item - 1],))
    written = to_object(data, living=asked.profile == LIVING)
    cut = ("too much for one document: the rest is left out",) if "cut" in written and not data.is_cut else ()
    return Converted(to_text(written), data.problems + cut, found)


def _vcard(asked: Asked) -> Converted:
    from tocsin.spec.microdata.to_vcard import count_cards, write_cards  # noqa: PLC0415 - the same

    data = _items(asked)
    found = count_cards(data)
    which = None if asked.item == ALL else asked.item
    written = write_cards(data, profile=asked.profile, which=which)
    return _of_items(data, written, asked, "vcard", found)


def _ical(asked: Asked) -> Converted:
    from tocsin.spec.microdata.to_icalendar import find_events, write_calendar  # noqa: PLC0415 - the same

    data = _items(asked)
    found = len(find_events(data))
    which = None if asked.item == ALL else asked.item
    written = write_calendar(data, profile=asked.profile, now=_known(asked.now), product=PRODUCT, which=which)
    return _of_items(data, written, asked, "ical", found)


def _of_items(data: Microdata, written: Written | None, asked: Asked, form: str, found: int) -> Converted:
    text, problems = (None, ()) if written is None else written
    if text is None and found and asked.item != ALL:
        one, many = FORMATS[form].counted or ("item", "items")
        problems += (f"no {one} {asked.item}: the page has {found} {one if found == 1 else many}",)
    return Converted(text, data.problems + problems, found)


def _atom(asked: Asked) -> Converted:
    from tocsin.spec.microdata.to_atom import to_atom  # noqa: PLC0415 - the same

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


def _turtle(asked: Asked) -> Converted:
    return _rdf(asked, "turtle")


def _ntriples(asked: Asked) -> Converted:
    return _rdf(asked, "ntriples")


def _jsonld(asked: Asked) -> Converted:
    return _rdf(asked, "jsonld")


def _rdf(asked: Asked, form: str) -> Converted:
    from tocsin.spec.microdata.rdf_formats import write_rdf  # noqa: PLC0415 - its library takes a tenth of a second

    if asked.profile == NOTE:
        from tocsin.spec.microdata.rdf_note import read_note_triples as read  # noqa: PLC0415 - the same
    else:
        from tocsin.spec.microdata.to_rdf import read_triples as read  # noqa: PLC0415 - the same
    page = _page_of(asked)
    found = read(page.body, page.content_type, address=page.address, base=page.base, nosniff=page.nosniff)
    return Converted(write_rdf(found.triples, form, blank=asked.blank) if found.triples else None, found.problems)


def _page_of(asked: Asked) -> Received:
    """Give the page; `convert` has seen to it that there is one."""
    return cast("Received", asked.given)


def _known(value: _Known | None) -> _Known:
    """Give what `convert` has seen to be there."""
    return cast("_Known", value)


_ALL_FORMATS: Final = (
    Format(
        "microdata",
        "Items (JSON)",
        "application/microdata+json",
        ".json",
        (EXPORT, TEXT, LIVING),
        _microdata,
        whole=(LIVING,),
        joins=True,
        counted=("item", "items"),
    ),
    Format(
        "vcard",
        "Contacts",
        "text/vcard; charset=utf-8",
        ".vcf",
        (EXPORT, TEXT),
        _vcard,
        type=HCARD,
        joins=True,
        counted=("contact", "contacts"),
        default=1,
    ),
    Format(
        "ical",
        "Calendar",
        "text/calendar; charset=utf-8",
        ".ics",
        (EXPORT, TEXT),
        _ical,
        type=VEVENT,
        needs_address=True,
        needs_now=True,
        joins=True,
        counted=("event", "events"),
    ),
    Format(
        "turtle",
        "RDF (Turtle)",
        "text/turtle; charset=utf-8",
        ".ttl",
        (EXPORT, TEXT, NOTE),
        _turtle,
        whole=(EXPORT, TEXT, NOTE),
        of_items=False,
        needs_address=True,
    ),
    Format(
        "ntriples",
        "RDF (N-Triples)",
        "application/n-triples",
        ".nt",
        (EXPORT, TEXT, NOTE),
        _ntriples,
        whole=(EXPORT, TEXT, NOTE),
        of_items=False,
        needs_address=True,
        joins=True,
    ),
    Format(
        "jsonld",
        "RDF (JSON-LD)",
        "application/ld+json",
        ".jsonld",
        (EXPORT, TEXT, NOTE),
        _jsonld,
        whole=(EXPORT, TEXT, NOTE),
        of_items=False,
        needs_address=True,
    ),
    Format(
        "atom",
        "Feed of its articles (Atom)",
        "application/atom+xml; charset=utf-8",
        ".atom",
        (EXPORT, TEXT),
        _atom,
        whole=(EXPORT, TEXT),
        of_items=False,
        needs_address=True,
        needs_now=True,
    ),
)

FORMATS: Final[Mapping[str, Format]] = {each.name: each for each in _ALL_FORMATS}
"""Every format by its name."""

if TYPE_CHECKING:
    Given: TypeAlias = Received | Microdata
