"""Items as RDF: the walk through them, which is the same however their predicates are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.rdf_terms import RDF, UNNAMED, Blank, Iri, to_iri
from tocsin.spec.microdata.values import Item, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.microdata.rdf_terms import Literal, Node, Statements, Term
    from tocsin.spec.microdata.values import Property

TYPE: Final = Iri(f"{RDF}type")
_OPEN: Final = 64
"""Counted for each item of a way that is remembered, as letters; it takes as many bytes."""


class Scheme(Protocol):
    """How names become predicates, and texts literals.

    A context is what names mean something by: a text that a type, or the way to an item without one, makes; "" if
    there is none.
    """

    def context(self, type_: str | None, outer: str, name: str) -> str:
        """Give the context of an item.

        type_  the first of its types that is an absolute URL; None if it has none
        outer  the context of the item that holds it; "" for a top-level item
        name   that of the property that it is the value of; "" for a top-level item
        """

    def predicates(self, context: str, name: str) -> Sequence[Iri] | None:
        """Give the predicates that a name stands for; None where what it names is not even looked at."""

    def literal(self, each: Property, text: str) -> Literal:
        """Give a property's text as a literal."""


class Items:
    """Items on their way into RDF, each of them one node."""

    def __init__(self, scheme: Scheme, statements: Statements, *, first: int = 0) -> None:
        """Start with no item told.

        first  the number of the first blank node
        """
        self._scheme = scheme
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
        if each.kind is Kind.URL:
            # C-21: an empty value names nothing.
            return to_iri(text) if is_absolute_url(text) else None
        return self._scheme.literal(each, text)

    def _context(self, item: Item, outer: str, name: str) -> str:
        self._statements.spend(len(outer))
        types = self._types_of(item)
        return self._scheme.context(types[0] if types else None, outer, name)

    def _types_of(self, item: Item) -> tuple[str, ...]:
        found = self._types.get(item.type)
        if found is None:
            found = self._types[item.type] = tuple(each for each in item.types if is_absolute_url(each))
        return found

    def _find_predicates(self, context: str, name: str) -> Sequence[Iri] | None:
        key = (context, name)
        if key not in self._predicates:
            self._statements.spend(len(context) + len(name))
            self._predicates[key] = self._scheme.predicates(context, name)
        return self._predicates[key]
