"""The formats that a page's data is converted to: what each needs, its profiles, and the function that writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace as with_fields
from datetime import datetime
from typing import Final, Literal, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from tocsin.errors import UsageError
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.microdata.formats import ALL
from tocsin.spec.microdata.formats.content_lines import Written
from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata

# Named by each calendar; without a version, so that an upgrade changes no calendar.
PRODUCT: Final = "-//Tocsin//Tocsin//EN"

# The profile that today's readers accept.
EXPORT: Final = "export"
# The profile that follows the text to the letter.
TEXT: Final = "text"
# The profile of today's HTML.
LIVING: Final = "living"

_MOST_TYPES: Final = 3
_LONGEST_TYPE: Final = 80

_T = TypeVar("_T")


class PageSource(Struct, frozen=True, gc=False):
    """A page as it was received.

    address  its own URL after redirects; None if it is not known
    base     resolves its relative URLs, whatever the page says; None: its base element, or the address
    nosniff  the answer forbids guessing its type
    """

    body: bytes
    content_type: str | None = None
    address: str | None = None
    base: str | None = None
    nosniff: bool = False


_Source: TypeAlias = PageSource | Microdata
_ItemNumber: TypeAlias = int | Literal["all"]


class _Request(Struct, frozen=True):
    """What a writer is given: see `convert`, which fills in the defaults of the format."""

    source: _Source
    profile: str
    item: _ItemNumber
    counted: tuple[str, str]
    now: datetime | None
    last_modified: datetime | None
    blank: str


class Converted(Struct, frozen=True, gc=False):
    """A page's data in a format.

    text      the document with its line ends; None if the page has nothing of the kind
    problems  sentences for its reader: what was left out, and why
    found     how many of `Format.counted` the page has; 0 where nothing is counted
    absence   what was looked for and what the page has instead, if it has nothing of the kind
    empty     the document of nothing, if there is no text and the format has one: a subscription to a page's events
              survives a week without any
    """

    text: str | None
    problems: tuple[str, ...] = ()
    found: int = 0
    absence: str | None = None
    empty: str | None = None


class Format(Struct, frozen=True, kw_only=True):
    """A format that a page's data is converted to.

    name           in URLs and on the command line
    label          for people, in a link
    media_type     as in a Content-Type header
    suffix         of a file's name, with its dot
    profiles       the first is the default
    made_of        what its documents show, and what that is read from
    write          the function that writes it
    whole          profiles that need the whole page; for the others its items are enough
    of_items       a page without items has nothing in it
    type           only items of this type are written; None: all
    needs_address  it cannot be written without the page's own URL
    needs_now      nor without the time
    joins          documents of several pages, one after the other, are one document
    counted        what `item` counts, singular and plural; None if single items cannot be chosen
    default        the item that is written if none is chosen
    """

    name: str
    label: str
    media_type: str
    suffix: str
    made_of: tuple[str, str]
    write: Callable[[_Request], Converted]
    profiles: tuple[str, ...] = (EXPORT, TEXT)
    whole: tuple[str, ...] = ()
    of_items: bool = True
    type: str | None = None
    needs_address: bool = False
    needs_now: bool = False
    joins: bool = False
    counted: tuple[str, str] | None = None
    default: _ItemNumber = ALL

    def profile(self, name: str | None) -> str:
        """Return a profile by its name; None stands for the first.

        Raises UsageError for one that this format does not have.
        """
        if name is None:
            return self.profiles[0]
        if name not in self.profiles:
            raise UsageError(f"{self.name} has no profile {name!r}; choose one of: {', '.join(self.profiles)}")
        return name


def convert(
    form: str,
    source: _Source,
    *,
    profile: str | None = None,
    item: _ItemNumber | None = None,
    now: datetime | None = None,
    last_modified: datetime | None = None,
    blank: str = "",
) -> Converted:
    """Convert a page's data to a format; nothing is fetched.

    form           a name in FORMATS
    source         the page, or its items where they are enough
    profile        None: the format's first
    item           the number of one item, from 1, where the format counts them; ALL: every one; None: the default
    now            aware; needed where `Format.needs_now`
    last_modified  of the page, aware, as its server says
    blank          prefix of RDF's blank nodes, letters and digits; documents that are joined must differ in it
    Raises UsageError for what the format cannot do, or if it lacks something; TooComplex for a page that no parser may
    be given.
    """
    chosen = find_format(form)
    name = chosen.profile(profile)
    if item is not None and item != ALL and chosen.counted is None:
        raise UsageError(f"{form} converts the whole page; leave the item out")
    if item != ALL and item is not None and item < 1:
        raise UsageError(f"no item {item}: items are counted from 1")
    if isinstance(source, Microdata) and name in chosen.whole:
        raise UsageError(f"{form} needs the page itself; its items are not enough")
    if chosen.needs_address and source.address is None:
        raise UsageError(f"{form} needs the page's own URL; name it")
    if chosen.needs_now and now is None:
        raise UsageError(f"{form} needs the time; pass now")
    item = chosen.default if item is None else item
    counted = chosen.counted or ("item", "items")
    request = _Request(source, name, item, counted, now, last_modified, blank)
    found = chosen.write(request)
    if found.text is not None or found.found:
        return found
    return replace(found, absence=_tell_absence(chosen, _items_of(request) if chosen.of_items else None))


def find_format(name: str) -> Format:
    """Return a format by its name; raises UsageError for an unknown one."""
    if name not in FORMATS:
        raise UsageError(f"no format {name!r}; there are: {', '.join(FORMATS)}")
    return FORMATS[name]


def available_formats(data: Microdata) -> tuple[str, ...]:
    """Name the formats in which these items give a document, in the order of FORMATS."""
    types = {name for each in data.all for name in each.types}
    return tuple(
        name
        for name, each in FORMATS.items()
        if data.items and each.of_items and (each.type is None or each.type in types)
    )


def _tell_absence(form: Format, data: Microdata | None) -> str:
    """Say what a page lacks and has: `no events: ical is made of items of type …; this page has 1 …`."""
    sought, read_of = form.made_of
    held = "none" if data is None else _tell_items(data)
    return f"no {sought}: {form.name} is made of {read_of}; this page has {held}"


def _tell_items(data: Microdata) -> str:
    # An item without a type that is the value of another one is a part of that: a name, an address.
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
    # Cut first: folding the white space of a long text would take long.
    written = fold_space((item.type or "")[: 2 * _LONGEST_TYPE])
    return (written if len(written) <= _LONGEST_TYPE else f"{written[: _LONGEST_TYPE - 1]}…") or "without a type"


# The writers. Each imports its module when it is called first: rdflib alone takes a tenth of a second.


def _items_of(request: _Request) -> Microdata:
    page = request.source
    if isinstance(page, Microdata):
        return page
    from tocsin.spec.microdata.reading.items import read_items  # noqa: PLC0415 - not needed for items that were read

    return read_items(
        page.body,
        page.content_type,
        address=page.address,
        base=page.base,
        nosniff=page.nosniff,
        living=request.profile == LIVING,
    )


def _write_microdata(request: _Request) -> Converted:
    """Write the items of a page as JSON (JS-01)."""
    from tocsin.spec.microdata.formats.items_json import to_text, write_items  # noqa: PLC0415 - see above

    data = _items_of(request)
    if not data.items:
        return Converted(None, data.problems, empty='{"items": []}\n' if request.item == ALL else None)
    found = len(data.items)
    if request.item != ALL:
        if request.item > found:
            return _with_missing_item(data, None, request, found)
        data = with_fields(data, items=(data.items[request.item - 1],))
    written, problems = write_items(data, living=request.profile == LIVING)
    return Converted(to_text(written), data.problems + problems, found)


def _write_vcard(request: _Request) -> Converted:
    """Write a contact of a page, or all of them, as vCard (VC-09)."""
    from tocsin.spec.microdata.formats.vcard import find_cards, write_cards  # noqa: PLC0415 - see above

    data = _items_of(request)
    which = None if request.item == ALL else request.item
    written = write_cards(data, profile=request.profile, which=which)
    return _with_missing_item(data, written, request, len(find_cards(data)))


def _write_ical(request: _Request) -> Converted:
    """Write the events of a page as a calendar (IC-07)."""
    from tocsin.spec.microdata.formats import icalendar  # noqa: PLC0415 - see above

    data = _items_of(request)
    now = _present(request.now)
    which = None if request.item == ALL else request.item
    written = icalendar.write_calendar(data, profile=request.profile, now=now, product=PRODUCT, which=which)
    converted = _with_missing_item(data, written, request, len(icalendar.find_events(data)))
    if converted.text is not None or which is not None or request.profile != EXPORT:
        return converted
    return replace(converted, empty=icalendar.write_empty_calendar(data, now=now, product=PRODUCT))


def _with_missing_item(data: Microdata, written: Written | None, request: _Request, found: int) -> Converted:
    text, problems = (None, ()) if written is None else written
    if text is None and request.item != ALL and 0 < found < request.item:
        one, many = request.counted
        problems += (f"no {one} {request.item}: the page has {found} {one if found == 1 else many}",)
    return Converted(text, data.problems + problems, found)


def _write_atom(request: _Request) -> Converted:
    """Write the articles of a page as a feed (AT-01)."""
    from tocsin.spec.microdata.formats.atom import to_atom  # noqa: PLC0415 - see above

    page = cast("PageSource", request.source)
    feed = to_atom(
        page.body,
        page.content_type,
        address=_present(page.address),
        now=_present(request.now),
        last_modified=request.last_modified,
        nosniff=page.nosniff,
        base=page.base,
        profile="text" if request.profile == TEXT else "export",
    )
    return Converted(feed.text, feed.problems)


def _rdf_writer(form: str) -> Callable[[_Request], Converted]:
    """Return the function that writes all that a page says in a format of RDF (RDF-15)."""

    def write(request: _Request) -> Converted:
        from tocsin.spec.microdata.formats.rdf import read_triples  # noqa: PLC0415 - see above
        from tocsin.spec.microdata.formats.rdf_formats import write_rdf  # noqa: PLC0415 - see above

        page = cast("PageSource", request.source)
        found = read_triples(page.body, page.content_type, address=page.address, base=page.base, nosniff=page.nosniff)
        if not found.triples:
            return Converted(None, found.problems, empty="[]\n" if form == "jsonld" else "")
        return Converted(write_rdf(found.triples, form, blank=request.blank), found.problems)

    return write


def _present(value: _T | None) -> _T:
    """Return what `convert` has checked to be there."""
    return cast("_T", value)


def _rdf_format(name: str, label: str, media_type: str, suffix: str, *, joins: bool = False) -> Format:
    return Format(
        name=name,
        label=label,
        media_type=media_type,
        suffix=suffix,
        made_of=("statements", "a page's title, links, meta elements and items"),
        write=_rdf_writer(name),
        whole=(EXPORT, TEXT),
        of_items=False,
        needs_address=True,
        joins=joins,
    )


_ALL_FORMATS: Final = (
    Format(
        name="microdata",
        label="Items",
        media_type="application/microdata+json",
        suffix=".json",
        made_of=("items", "elements with itemscope but no itemprop"),
        write=_write_microdata,
        profiles=(EXPORT, TEXT, LIVING),
        whole=(LIVING,),
        joins=True,
        counted=("item", "items"),
    ),
    Format(
        name="vcard",
        label="Contacts",
        media_type="text/vcard; charset=utf-8",
        suffix=".vcf",
        made_of=("contacts", f"items of type {HCARD}"),
        write=_write_vcard,
        type=HCARD,
        joins=True,
        counted=("contact", "contacts"),
        default=1,
    ),
    Format(
        name="ical",
        label="Calendar",
        media_type="text/calendar; charset=utf-8",
        suffix=".ics",
        made_of=("events", f"items of type {VEVENT}"),
        write=_write_ical,
        type=VEVENT,
        needs_address=True,
        needs_now=True,
        joins=True,
        counted=("event", "events"),
    ),
    _rdf_format("turtle", "RDF as Turtle", "text/turtle; charset=utf-8", ".ttl"),
    _rdf_format("ntriples", "RDF as N-Triples", "application/n-triples", ".nt", joins=True),
    _rdf_format("jsonld", "RDF as JSON-LD", "application/ld+json", ".jsonld"),
    Format(
        name="atom",
        label="Feed of its articles",
        media_type="application/atom+xml; charset=utf-8",
        suffix=".atom",
        made_of=("articles", "article elements"),
        write=_write_atom,
        whole=(EXPORT, TEXT),
        of_items=False,
        needs_address=True,
        needs_now=True,
    ),
)

# Every format by its name.
FORMATS: Final[Mapping[str, Format]] = {each.name: each for each in _ALL_FORMATS}
