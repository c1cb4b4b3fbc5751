"""A page as RDF, as text 003 converts it: its title, links, meta data and quotations, and its items."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from string import ascii_lowercase, ascii_uppercase
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.tree import read_pragma_language, read_tree
from tocsin.spec.infrastructure.urls import SUB_DELIMS, UCSCHAR, UNRESERVED, Bases, is_absolute_url
from tocsin.spec.microdata.formats.rdf_terms import (
    LONGEST_IRI,
    RDF,
    UNNAMED,
    Blank,
    Iri,
    Statements,
    Triples,
    escape_short,
    statements_of,
    to_iri,
    to_literal,
)
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.values import Item, ValueKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.html.tree import Element, Tree
    from tocsin.spec.microdata.formats.rdf_terms import Literal, Node, Term
    from tocsin.spec.microdata.values import Microdata, Property


TYPE: Final = Iri(f"{RDF}type")
_OPEN: Final = 64
"""Counted for each item of a way that is remembered, as letters; it takes as many bytes."""


class Items:
    """Items on their way into RDF, each of them one node.

    A context is the type, prepared, that names are relative to: an item's own, or for one without a type that of the
    item around it, joined with the property's name; "" if there is none.
    """

    def __init__(self, statements: Statements, *, first: int = 0) -> None:
        """Start with no item told.

        first  the number of the first blank node
        """
        self._statements = statements
        self._first = first
        self._blanks = 0
        self._nodes: dict[Item, Node] = {}
        self._terms: dict[Property, Term | None] = {}
        self._tops: list[Item] = []
        self._told: set[tuple[Item, str]] = set()
        self._held_back: set[tuple[Item, str]] = set()
        self._open: set[Item] = set()
        self._ways: set[tuple[Item, str, frozenset[Item]]] | None = None
        self._predicates: dict[tuple[str, str], Sequence[Iri] | None] = {}
        self._types: dict[str | None, tuple[str, ...]] = {None: ()}

    def node(self, item: Item) -> Node:
        """Give the node that an item is: its global identifier, or a blank one (RDF-07)."""
        node = self._nodes.get(item)
        if node is None:
            if item.id is not None and is_absolute_url(item.id):
                node = to_iri(item.id)
            if node == UNNAMED:
                self._statements.leave_out()
            if node is None or node == UNNAMED:
                node = Blank(self._first + self._blanks)
                self._blanks += 1
            self._nodes[item] = node
        return node

    def tell(self, item: Item) -> None:
        """State all that a top-level item states, and those that it holds.

        Shared items keep their node and get predicates for each context (RDF-14); none is gone into twice on one way
        down (C-14), nor a second time in the same context, since that would state the same.
        Raises Enough where it goes on for too long.
        """
        self._tops.append(item)
        self._go_into(item)

    def tell_rest(self) -> None:
        """State what was held back on the way on which an item was told first, but is not on another way to it.

        Only where items hold each other of which some have no type: those are told in as many contexts as there are
        ways to them. All are gone again, each item once for each set of items that are open above it.
        To do this in time that does not double with each item is as hard as to find a way through all of them: where
        all names are `a`, and there is such a way, it makes a predicate with as many `a` as there are items; without
        one nothing does. So it is done as far as `Statements` has room.
        Raises Enough where it goes on for too long.
        """
        if self._held_back <= self._told:
            return
        self._ways = set()
        for item in self._tops:
            self._go_into(item)

    def _go_into(self, item: Item) -> None:
        # A stack of our own: the depth is the page's.
        ways = [self._describe(item, self._context(item, "", ""))]
        while ways:
            inner = next(ways[-1], None)
            if inner is None:
                ways.pop()
            else:
                ways.append(self._describe(*inner))

    def _describe(self, item: Item, context: str) -> Iterator[tuple[Item, str]]:
        """State an item in a context; yields the items to be stated before it goes on, each in its context."""
        self._statements.spend(len(context))
        self._told.add((item, context))
        self._open.add(item)
        node = self.node(item)
        for type_ in self._types_of(item):
            self._statements.add(node, TYPE, to_iri(type_))
        for each in item.properties:
            for name in each.names:
                self._statements.spend()
                predicates = self._find_predicates(context, name)
                if predicates is None:
                    continue
                value = self._term(each)
                if value is not None:
                    for predicate in predicates:
                        self._statements.add(node, predicate, value)
                if each.item is not None:
                    inner = each.item, self._context(each.item, context, name)
                    if each.item in self._open:
                        self._held_back.add(inner)
                    elif self._is_new(*inner):
                        yield inner
        self._open.discard(item)

    def _is_new(self, item: Item, context: str) -> bool:
        """Say whether something may be stated by going into an item, from where we are, that is not stated yet."""
        if self._ways is None:
            return (item, context) not in self._told
        self._statements.spend(_OPEN * len(self._open))
        way = item, context, frozenset(self._open)
        is_new = way not in self._ways
        self._ways.add(way)
        return is_new

    def _term(self, each: Property) -> Term | None:
        if each not in self._terms:
            self._terms[each] = self._make_term(each)
        return self._terms[each]

    def _make_term(self, each: Property) -> Term | None:
        if each.item is not None:
            return self.node(each.item)
        text = each.text or ""
        if each.kind is ValueKind.URL:
            # C-21: an empty value names nothing.
            return to_iri(text) if is_absolute_url(text) else None
        return to_literal(text, each.language)  # RDF-12

    def _context(self, item: Item, outer: str, name: str) -> str:
        self._statements.spend(len(outer))
        types = self._types_of(item)
        return _context_of(types[0] if types else None, outer, name)

    def _types_of(self, item: Item) -> tuple[str, ...]:
        found = self._types.get(item.type)
        if found is None:
            found = self._types[item.type] = tuple(each for each in item.types if is_absolute_url(each))
        return found

    def _find_predicates(self, context: str, name: str) -> Sequence[Iri] | None:
        key = (context, name)
        if key not in self._predicates:
            self._statements.spend(len(context) + len(name))
            self._predicates[key] = _predicates_of(context, name)
        return self._predicates[key]


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
_KEPT: Final = rf"{UNRESERVED}{SUB_DELIMS}:@/?{UCSCHAR}"
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
    Raises TooComplex for a page that is too complex to parse.
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
        items = Items(statements, first=0 if address is not None else 1)
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


def _context_of(type_: str | None, outer: str, name: str) -> str:
    """Give a type ready for a name to follow; without a type, that of the way here (RDF-08, RDF-09).

    type_  the first of the item's types that is an absolute URL; None if it has none
    outer  the context of the item that holds it; "" for a top-level item
    name   that of the property that it is the value of; "" for a top-level item
    """
    if type_ is not None:
        return _prepare(type_)
    # A name that is too long gives no predicate; neither do the items below it.
    return _join(_prepare(outer), name) if outer and len(outer) + len(name) <= LONGEST_IRI else ""


def _predicates_of(context: str, name: str) -> Sequence[Iri] | None:
    """Give the predicate of a name, and its equivalent (RDF-10, RDF-11, WK-02); None: its value is not looked at."""
    if ":" in name:
        return [to_iri(name)] if is_absolute_url(name) else [] if context else None
    if not context:
        return None
    joined = escape_short(_OTHERS_BUT_ESCAPES, _join(context, name))
    predicate = to_iri(MICRODATA + joined)
    equivalent = _EQUIVALENT.get(predicate.text)
    return [predicate] if equivalent is None else [predicate, equivalent]


def _prepare(type_: str) -> str:
    if "#" not in type_:
        type_ += "#"
    return type_ if ":" in type_.partition("#")[2] else f"{type_}:"


def _join(type_: str, name: str) -> str:
    return f"{type_}{'' if type_.endswith(':') else '%20'}{escape_fragment(name)}"


def escape_fragment(text: str) -> str:
    """Escape what cannot stand in a fragment (RDF-13)."""
    return escape_short(_OTHERS, text)
