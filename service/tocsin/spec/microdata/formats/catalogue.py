"""The ways out of a page's data: each format, what it needs, the profiles it has, and one function that converts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from tocsin.errors import UsageError
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.microdata.formats import ALL
from tocsin.spec.microdata.formats.conversions import (
    EXPORT,
    LIVING,
    PRODUCT,
    TEXT,
    Asked,
    Converted,
    Received,
    items_of,
    write_atom,
    write_ical,
    write_jsonld,
    write_microdata,
    write_ntriples,
    write_turtle,
    write_vcard,
)
from tocsin.spec.microdata.values import HCARD, VEVENT, Microdata

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from tocsin.spec.microdata.formats.conversions import Given
    from tocsin.spec.microdata.values import Item


# Why a page gives nothing in a format: what was looked for, and what there is.


_MOST_TYPES: Final = 3
_LONGEST_TYPE: Final = 80


def tell_absence(form: str, made_of: tuple[str, str], data: Microdata | None) -> str:
    """Say that a page has nothing of the kind: `no events: ical is made of items of type …; this page has 1 …`.

    form     the format's name
    made_of  what it shows, and what that is read of, as `Format` has it
    data     the page's items; None where they are not what was looked for
    Types stand there as the page says them, but for white space and length.
    """
    sought, read_of = made_of
    held = "none" if data is None else _tell_items(data)
    return f"no {sought}: {form} is made of {read_of}; this page has {held}"


def _tell_items(data: Microdata) -> str:
    # An item without a type that is a value of another one is a part of that: a name, an address.
    top = set(data.items)
    counts = Counter(_type_of(each) for each in data.all if each in top or each.types)
    if not counts:
        return "no items"
    most = counts.most_common(_MOST_TYPES)
    told = [f"{number:,} {kind}" for kind, number in most]
    if others := counts.total() - sum(number for _, number in most):
        told.append(f"{others:,} of other types")
    return ", ".join(told)


def _type_of(item: Item) -> str:
    # A long text is not looked at whole to show a part.
    written = fold_space((item.type or "")[: 2 * _LONGEST_TYPE])
    return (written if len(written) <= _LONGEST_TYPE else f"{written[: _LONGEST_TYPE - 1]}…") or "without a type"


__all__ = (
    "ALL",
    "EXPORT",
    "FORMATS",
    "PRODUCT",
    "Converted",
    "Format",
    "Received",
    "convert",
    "find_format",
    "ways_out",
)


class Format(Struct, frozen=True):
    """A format that a page's data is taken away in.

    name           by which it is asked for
    label          for people, in a link
    media_type     as in a Content-Type header
    suffix         of a file's name, with its dot
    profiles       the first is taken where none is named
    made_of        what its documents show, and what that is read of, in words
    write          who writes it
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
    made_of: tuple[str, str]
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
            raise UsageError(f"{self.name} has no profile {name!r}; choose one of: {', '.join(self.profiles)}")
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
    asked = Asked(
        given,
        name,
        way.default if item is None else item,
        way.counted or ("item", "items"),
        now,
        last_modified,
        self_url,
        blank,
    )
    found = way.write(asked)
    if found.text is not None or found.found:
        return found
    data = items_of(asked) if way.of_items else None
    return replace(found, absence=tell_absence(form, way.made_of, data))


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


_STATEMENTS: Final = ("statements", "a page's title, links, meta elements and items")

_ALL_FORMATS: Final = (
    Format(
        "microdata",
        "Items",
        "application/microdata+json",
        ".json",
        (EXPORT, TEXT, LIVING),
        ("items", "elements with itemscope but no itemprop"),
        write_microdata,
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
        ("contacts", f"items of type {HCARD}"),
        write_vcard,
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
        ("events", f"items of type {VEVENT}"),
        write_ical,
        type=VEVENT,
        needs_address=True,
        needs_now=True,
        joins=True,
        counted=("event", "events"),
    ),
    Format(
        "turtle",
        "RDF as Turtle",
        "text/turtle; charset=utf-8",
        ".ttl",
        (EXPORT, TEXT),
        _STATEMENTS,
        write_turtle,
        whole=(EXPORT, TEXT),
        of_items=False,
        needs_address=True,
    ),
    Format(
        "ntriples",
        "RDF as N-Triples",
        "application/n-triples",
        ".nt",
        (EXPORT, TEXT),
        _STATEMENTS,
        write_ntriples,
        whole=(EXPORT, TEXT),
        of_items=False,
        needs_address=True,
        joins=True,
    ),
    Format(
        "jsonld",
        "RDF as JSON-LD",
        "application/ld+json",
        ".jsonld",
        (EXPORT, TEXT),
        _STATEMENTS,
        write_jsonld,
        whole=(EXPORT, TEXT),
        of_items=False,
        needs_address=True,
    ),
    Format(
        "atom",
        "Feed of its articles",
        "application/atom+xml; charset=utf-8",
        ".atom",
        (EXPORT, TEXT),
        ("articles", "article elements"),
        write_atom,
        whole=(EXPORT, TEXT),
        of_items=False,
        needs_address=True,
        needs_now=True,
    ),
)

FORMATS: Final[Mapping[str, Format]] = {each.name: each for each in _ALL_FORMATS}
"""Every format by its name."""
