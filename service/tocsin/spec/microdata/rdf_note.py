"""A page's items as RDF, as the W3C's note "Microdata to RDF, Second Edition" converts them.

Its predicates are a vocabulary's own: the type up to its last `#` or `/`, and the name. Only items are converted.
Deviation: `itemprop-reverse`, which the note has as an experiment, is not read; microdata itself does not know it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.tree import read_tree
from tocsin.spec.infrastructure import uri
from tocsin.spec.infrastructure.bases import Bases
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.items import read_items
from tocsin.spec.microdata.rdf_items import TYPE, Items
from tocsin.spec.microdata.rdf_terms import XSD, Literal, Statements, Triples, statements_of, to_iri, to_literal
from tocsin.spec.microdata.to_rdf import escape_fragment
from tocsin.spec.microdata.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from tocsin.spec.microdata.rdf_terms import Iri
    from tocsin.spec.microdata.values import Microdata, Property

    Registry: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]

_SCHEMA: Final = MappingProxyType({"additionalType": (TYPE.text,)})
REGISTRY: Final[Registry] = MappingProxyType(
    {
        "http://schema.org/": _SCHEMA,
        # Deviation: the note's registry does not know that this vocabulary has two addresses.
        "https://schema.org/": _SCHEMA,
        "http://microformats.org/profile/hcard": MappingProxyType({}),
    }
)
"""What vocabularies begin with, and of each the names that state something more: that predicate too."""

_YEAR: Final = r"(?:[1-9][0-9]{4,}|[0-9]{4})"
_ZONE: Final = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_LONGEST: Final = 100
"""A number or a moment with more letters than that is none."""
_TIMES: Final = (
    ("date", re.compile(rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}")),
    ("time", re.compile(f"{_CLOCK}{_ZONE}?")),
    ("dateTime", re.compile(rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}T{_CLOCK}{_ZONE}?")),
    ("gYearMonth", re.compile(rf"{_YEAR}-(?:0[1-9]|1[0-2])")),
    ("gYear", re.compile(_YEAR)),
    (
        "duration",
        re.compile(
            r"P(?=[0-9T])(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?"
            r"(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?"
        ),
    ),
)
_NUMBERS: Final = (
    ("integer", re.compile("-?[0-9]+")),
    ("double", re.compile(r"-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")),
)


def read_note_triples(
    body: bytes, content_type: str | None, *, address: str | None, base: str | None = None, nosniff: bool = False
) -> Triples:
    """Convert a page's items to RDF as the note does, whatever the page's bytes are.

    content_type  the value of the first HTTP header, None if there was none
    address       the page's own URL after redirects; None if it is not known
    base          what relative URLs are resolved against, whatever the page says itself; None: its base, or its address
    nosniff       the server forbids to guess, see `is_nosniff`
    Raises TooComplex for a page that no parser may be given.
    """
    data = read_items(body, content_type, address=address, base=base, nosniff=nosniff, living=True)
    if base is None and data.items:
        tree = read_tree(body, content_type, nosniff=nosniff)
        base = Bases(tree.elements("base"), address, tree.encoding).document
    return to_note_triples(data, base=base, statements=statements_of(body))


def to_note_triples(
    data: Microdata, *, base: str | None, registry: Registry = REGISTRY, statements: Statements | None = None
) -> Triples:
    """Convert items to RDF as the note does: the same triples in the same order, each time.

    data        as living HTML has its values
    base        the document's, which makes the predicates of items without a type; None: they have none
    statements  where they are gathered, with bounds of their own; None: the bounds of `Statements`
    Source      Microdata to RDF, Second Edition, W3C Interest Group Note of 16 December 2014, section 5
    """
    statements = statements or Statements()
    items = Items(_Note(base, registry), statements)
    with suppress(Statements.Enough):
        for item in data.items:
            items.tell(item)
        items.tell_rest()
    made = statements.done()
    return Triples(made.triples, data.problems + made.problems)


class _Note:
    """Predicates as the note makes them. A context is the item's type, or that of the nearest item above with one."""

    def __init__(self, base: str | None, registry: Registry) -> None:
        self._base = None if base is None else f"{base.partition('#')[0]}#"
        self._registry = registry

    def context(self, type_: str | None, outer: str, name: str) -> str:  # noqa: ARG002 - other schemes need the name
        """Give the type, which an item without one has from the item that holds it."""
        return outer if type_ is None else type_

    def predicates(self, context: str, name: str) -> Sequence[Iri]:
        """Give the predicate of a name, then what the registry has for it besides."""
        if is_absolute_url(name):
            return [to_iri(name)]
        if not context:
            return [] if self._base is None else [to_iri(self._base + escape_fragment(name))]
        vocabulary = next((each for each in self._registry if context.startswith(each)), None)
        more: Sequence[str] = ()
        if vocabulary is None:
            vocabulary = _find_vocabulary(context)
        else:
            more = self._registry[vocabulary].get(name, ())
        mark = "" if vocabulary.endswith(("#", "/")) else "#"
        return [to_iri(f"{vocabulary}{mark}{escape_fragment(name)}"), *map(to_iri, more)]

    def literal(self, each: Property, text: str) -> Literal:
        """Give a time or a number with its type, anything else in the language of its element."""
        datatype = None
        if each.kind is Kind.TIME:
            datatype = _find_time(text)
        elif each.kind is Kind.NUMBER:
            datatype = _find_form(text, _NUMBERS)
            if datatype is None:
                return to_literal(text)
        return to_literal(text, each.language) if datatype is None else Literal(text, None, XSD + datatype)


def _find_vocabulary(type_: str) -> str:
    """Take away what follows the last # or / of a type, if that is in its path or after it."""
    parts = uri.split_reference(type_)
    if parts.fragment is not None:
        return f"{type_.partition('#')[0]}#"
    start = f"{parts.scheme}:" + ("" if parts.authority is None else f"//{parts.authority}")
    folder, slash, _ = parts.path.rpartition("/")
    return f"{start}{folder}/" if slash else start + parts.path


def _find_form(text: str, forms: Sequence[tuple[str, re.Pattern[str]]]) -> str | None:
    if len(text) > _LONGEST:
        return None
    return next((name for name, form in forms if form.fullmatch(text)), None)


def _find_time(text: str) -> str | None:
    form = _find_form(text, _TIMES)
    if form == "date":
        return form if is_valid_date(text) else None
    if form in ("time", "dateTime"):
        moment = text if form == "dateTime" else f"2000-01-01T{text}"
        is_local = not moment.endswith("Z") and moment[-6] not in "+-"
        return form if is_valid_global(f"{moment}Z" if is_local else moment) else None
    return form
