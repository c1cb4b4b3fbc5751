"""A page as RDF, as text 003 converts it: its title, links, meta data and quotations, and its items."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from string import ascii_lowercase, ascii_uppercase
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.languages import read_pragma_language
from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.tree import read_tree
from tocsin.spec.infrastructure import uri
from tocsin.spec.infrastructure.bases import Bases
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.items import read_items
from tocsin.spec.microdata.rdf_items import Items
from tocsin.spec.microdata.rdf_terms import (
    LONGEST_IRI,
    Blank,
    Iri,
    Statements,
    Triples,
    escape_short,
    statements_of,
    to_iri,
    to_literal,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.html.tree import Element, Tree
    from tocsin.spec.microdata.rdf_terms import Literal, Node
    from tocsin.spec.microdata.values import Microdata, Property

XHV: Final = "http://www.w3.org/1999/xhtml/vocab#"
MICRODATA: Final = "http://www.w3.org/1999/xhtml/microdata#"
_TITLE: Final = Iri("http://purl.org/dc/terms/title")
_SOURCE: Final = Iri("http://purl.org/dc/terms/source")
_ITEM: Final = Iri(f"{MICRODATA}item")

_WORK: Final = f"{MICRODATA}http://n.whatwg.org/work%23:"
_EQUIVALENT: Final = MappingProxyType(
    {
        f"{_WORK}work": Iri("http://www.w3.org/2002/07/owl#sameAs"),
        f"{_WORK}title": _TITLE,
        f"{_WORK}author": Iri("http://creativecommons.org/ns#attributionName"),
        f"{_WORK}license": Iri(f"{XHV}license"),
    }
)
"""What the predicates of a work say in words that others know (WK-02).

Deviation: the text writes them as no algorithm of its own makes them, with `%3A%2F%2F`; meant are those that it makes
(C-16).
"""

_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_KEPT: Final = rf"{uri.UNRESERVED}{uri.SUB_DELIMS}:@/?{uri.UCSCHAR}"
_OTHERS: Final = re.compile(f"[^{_KEPT}]")
_OTHERS_BUT_ESCAPES: Final = re.compile(rf"(?!%[0-9A-Fa-f]{{2}})[^{_KEPT}]")


def read_triples(
    body: bytes, content_type: str | None, *, address: str | None, base: str | None = None, nosniff: bool = False
) -> Triples:
    """Convert a page to RDF, whatever its bytes are.

    content_type  the value of the first HTTP header, None if there was none
    address       the page's own URL after redirects, which is what is spoken of; None: a page without a name
    base          what relative URLs are resolved against, whatever the page says itself; None: its base, or its address
    nosniff       the server forbids to guess, see `is_nosniff`
    Raises TooComplex for a page that no parser may be given.
    """
    tree = read_tree(body, content_type, nosniff=nosniff)
    data = read_items(body, content_type, address=address, base=base, nosniff=nosniff)
    return to_triples(tree, data, address=address, base=base, statements=statements_of(body))


def to_triples(
    tree: Tree, data: Microdata, *, address: str | None, base: str | None = None, statements: Statements | None = None
) -> Triples:
    """Convert a page and its items to RDF: the same triples in the same order, each time.

    address, base  as in `read_triples`
    statements     where they are gathered, with bounds of their own; None: the bounds of `Statements`
    Source         text 003, converting to RDF (RDF-01 to RDF-15)
    """
    bases = Bases(tree.elements("base"), address, tree.encoding) if base is None else Bases((), base, tree.encoding)
    statements = statements or Statements()
    page: Node = Blank(0) if address is None else to_iri(address)
    with suppress(Statements.Enough):
        _state_page(tree, page, bases, statements)
        items = Items(_Text(), statements, first=0 if address is not None else 1)
        for item in data.items:
            statements.add(page, _ITEM, items.node(item))
            items.tell(item)
        items.tell_rest()
    made = statements.done()
    return Triples(made.triples, data.problems + made.problems)


def _state_page(tree: Tree, page: Node, bases: Bases, statements: Statements) -> None:
    default = read_pragma_language(tree.pragmas())

    def to_text(text: str, element: Element) -> Literal:
        return to_literal(text, default if element.language is None else element.language)

    title = next(tree.elements("title"), None)
    if title is not None:
        text = "".join(each for each in title.children if isinstance(each, str))
        statements.add(page, _TITLE, to_text(text, title))
    for element in tree.elements("a", "area", "link"):
        _state_link(element, page, bases, statements)
    for element in tree.elements("meta"):
        name, content = element.get("name"), element.get("content")
        if name is None or content is None:
            continue
        if ":" not in name:
            predicate = to_iri(XHV + escape_fragment(name.translate(_LOWER)))
        elif is_absolute_url(name):
            predicate = to_iri(name)
        else:
            continue
        statements.add(page, predicate, to_text(content, element))
    for element in tree.elements("blockquote", "q"):
        cite = element.get("cite")
        source = None if cite is None else bases.resolve(element, cite)
        if source is not None:
            statements.add(page, _SOURCE, to_iri(source))


def _state_link(element: Element, page: Node, bases: Bases, statements: Statements) -> None:
    rel, href = element.get("rel"), element.get("href")
    if rel is None or href is None:
        return
    target = bases.resolve(element, href)
    if target is None:
        return
    for token in _relations(rel):
        if ":" not in token:
            statements.add(page, to_iri(XHV + escape_fragment(token)), to_iri(target))
        elif is_absolute_url(token):
            statements.add(page, to_iri(token), to_iri(target))


def _relations(rel: str) -> Sequence[str]:
    """Give the tokens of a rel as the text has them in RDF (RDF-02)."""
    counts = Counter(token if ":" in token else token.translate(_LOWER) for token in split_tokens(rel))
    if counts["up"] > 1:
        del counts["up"]
    if counts["alternate"] and counts["stylesheet"]:
        del counts["alternate"], counts["stylesheet"]
        counts["ALTERNATE-STYLESHEET"] = 1
    return [token for token, count in counts.items() if count]


class _Text:
    """Predicates as text 003 makes them, of an item's type and the way to it. A context is its `type`, prepared."""

    def context(self, type_: str | None, outer: str, name: str) -> str:
        """Give a type ready for a name to follow; where there is none, that of the way here (RDF-08, RDF-09)."""
        if type_ is not None:
            return _prepare(type_)
        # Nothing is named by what is too long; nor is what stands in that.
        return _join(_prepare(outer), name) if outer and len(outer) + len(name) <= LONGEST_IRI else ""

    def predicates(self, context: str, name: str) -> Sequence[Iri] | None:
        """Give the predicate of a name, and what it is equivalent to (RDF-10, RDF-11, WK-02)."""
        if ":" in name:
            return [to_iri(name)] if is_absolute_url(name) else [] if context else None
        if not context:
            return None
        joined = escape_short(_OTHERS_BUT_ESCAPES, _join(context, name))
        predicate = to_iri(MICRODATA + joined)
        equivalent = _EQUIVALENT.get(predicate.text)
        return [predicate] if equivalent is None else [predicate, equivalent]

    def literal(self, each: Property, text: str) -> Literal:
        """Give a text as a plain literal, in the language of its element (RDF-12)."""
        return to_literal(text, each.language)


def _prepare(type_: str) -> str:
    if "#" not in type_:
        type_ += "#"
    return type_ if ":" in type_.partition("#")[2] else f"{type_}:"


def _join(type_: str, name: str) -> str:
    return f"{type_}{'' if type_.endswith(':') else '%20'}{escape_fragment(name)}"


def escape_fragment(text: str) -> str:
    """Escape what cannot stand in a fragment (RDF-13)."""
    return escape_short(_OTHERS, text)
