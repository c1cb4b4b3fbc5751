"""A page as RDF, as text 003 converts it: its title, links, metadata, quotations and items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from types import MappingProxyType
from typing import Final, NamedTuple, NoReturn, TypeAlias

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.tree import Element, Tree, read_pragma_language, read_tree
from tocsin.spec.infrastructure.urls import SUB_DELIMS, UCSCHAR, UNRESERVED, Bases, is_absolute_url, percent
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.values import Item, Microdata, Property, ValueKind

# RDF as values: terms, triples, and a collection of them within limits.


RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"

# A page of 10,000 events and their places has 70,000. 200,000 would cost 400 MB and five seconds.
MOST_TRIPLES: Final = 100_000
# In all triples together: a text that many items share is written for each of them.
MOST_LETTERS: Final = 32 * 1024 * 1024
# Longer ones are left out: no name is that long, and readers would have to bear it.
LONGEST_IRI: Final = 8192
# A small page may repeat a text this much without being an attack.
_LEAST_LETTERS: Final = 1024 * 1024
# Letters of triples for a letter of the page: names may be short, and types long.
_TIMES: Final = 64
_MOST_LOOKED_AT: Final = 32 * 1024 * 1024
# The cost of each step in letters: a step that states nothing new takes time, too.
_STEP: Final = 16

# What the formats of RDF forbid in an IRI, and white space of any script, which readers take for its end.
_UNWRITABLE: Final = re.compile(r"""[\s\x00-\x1f<>"{}|^`\\\x7f-\x9f\ud800-\udfff]""")
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*+")
# RFC 5646, 4.4.1: 35 letters are enough for nearly all tags.
_LONGEST_LANGUAGE: Final = 100


class Iri(NamedTuple):
    """A URL as a name. Make it with `to_iri`, unless it is known to be writable."""

    text: str


# In place of a URL that is too long; triples with it are left out.
UNNAMED: Final = Iri("")


class Blank(NamedTuple):
    """A blank node: the nth of its graph, from 0."""

    number: int


class Literal(NamedTuple):
    """A text. Make it with `to_literal`, unless it is known to be writable.

    language  a well-formed tag; None if it is not known
    datatype  an IRI, then without a language; None for a plain text
    """

    text: str
    language: str | None = None
    datatype: str | None = None


class Triple(NamedTuple):
    """One statement."""

    subject: Node
    predicate: Iri
    object: Term


@dataclass(frozen=True, slots=True)
class Triples:
    """A page as RDF.

    triples   each once, in the order of the page
    problems  sentences for the page's reader: what was left out since there was too much
    """

    triples: tuple[Triple, ...]
    problems: tuple[str, ...] = ()


def to_iri(url: str) -> Iri:
    """Convert an absolute URL to an IRI that every format can write; returns UNNAMED beyond LONGEST_IRI."""
    escaped = escape_short(_UNWRITABLE, url)
    return UNNAMED if len(escaped) > LONGEST_IRI else Iri(escaped)


def escape_short(others: re.Pattern[str], text: str) -> str:
    """Percent-encode these letters of a text; one that is too long for an IRI stays as it is."""
    return text if len(text) > LONGEST_IRI else others.sub(percent, text)


def to_literal(text: str, language: str | None = None) -> Literal:
    """Convert any text to a plain literal.

    Characters that no format can write become U+FFFD; a language that is invalid in BCP 47 is dropped.
    """
    if language is not None and (len(language) > _LONGEST_LANGUAGE or not _LANGUAGE.fullmatch(language)):
        language = None
    return Literal(_NO_TEXT.sub("\ufffd", text), language)


class Statements:
    """A collection of triples within limits."""

    class Enough(Exception):
        """There is no room for another triple."""

    def __init__(self, most: int = MOST_TRIPLES, letters: int = MOST_LETTERS) -> None:
        """Start without triples.

        most     triples
        letters  in all of them together
        """
        self._most = most
        self._letters = self._left = letters
        self._to_look_at = _MOST_LOOKED_AT
        self._found: dict[Triple, None] = {}
        self._is_short_of_names = False
        self._cut: str | None = None

    def add(self, subject: Node, predicate: Iri, object_: Term) -> None:
        """Add a triple, unless it is there; one with a name that is too long is left out.

        Raises Enough if there is no room for it.
        """
        self.spend()
        triple = Triple(subject, predicate, object_)
        if UNNAMED in triple:
            self.leave_out()
        elif triple not in self._found:
            self._left -= len(str(subject[0])) + len(predicate.text) + len(str(object_[0])) + _STEP
            if len(self._found) >= self._most:
                self._end(f"the page states more than {self._most:,} triples")
            if self._left < 0:
                self._end(f"what the page states has more than {self._letters:,} letters")
            self._found[triple] = None

    def leave_out(self) -> None:
        """Note that a name is too long, and is left out."""
        self._is_short_of_names = True

    def spend(self, letters: int = 0) -> None:
        """Count a step of work and the letters that it looked at; raises Enough if there were too many."""
        self._to_look_at -= letters + _STEP
        if self._to_look_at < 0:
            self._end("the page states the same too often")

    def _end(self, reason: str) -> NoReturn:
        self._cut = reason
        raise self.Enough

    def done(self) -> Triples:
        """Return all triples, with what was left out."""
        problems = []
        if self._is_short_of_names:
            problems.append(f"names of more than {LONGEST_IRI:,} letters are left out, and what they name")
        if self._cut is not None:
            problems.append(f"{self._cut}; what is beyond that is left out")
        return Triples(tuple(self._found), tuple(problems))


def statements_of(body: bytes) -> Statements:
    """Return a collection with the limits for a page of this length."""
    return Statements(letters=min(_LEAST_LETTERS + _TIMES * len(body), MOST_LETTERS))


Node: TypeAlias = Iri | Blank
Term: TypeAlias = Iri | Blank | Literal


TYPE: Final = Iri(f"{RDF}type")
# The cost, in letters, of each item of a remembered path, which takes as many bytes.
_OPEN: Final = 64


class _ItemStatements:
    """States items in RDF; each of them is one node.

    A context is the prepared type to which names are relative: the item's own, or without one, that of the item around
    it, joined with the property's name; "" if there is none.
    """

    def __init__(self, statements: Statements, *, first: int = 0) -> None:
        """Start without items.

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
        """Return the node of an item: its global identifier, or a blank node (RDF-07)."""
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
        """State a top-level item and the items within it.

        Shared items keep their node and get predicates for each context (RDF-14). No item is entered twice on one path
        (C-14), nor twice in one context, where it would state the same.
        Raises Enough if it takes too long.
        """
        self._tops.append(item)
        self._go_into(item)

    def tell_rest(self) -> None:
        """State what `tell` skipped since an item was open, but what another path to that item states.

        This happens only where items contain each other and some have no type: those have a context for each path to
        them. All paths are walked again, each item once for each set of open items above it.
        Raises Enough if it takes too long.
        """
        # No algorithm does this in polynomial time: if all names are `a`, a predicate of as many `a` as there are items
        # exists only if a path leads through all items. So the limits of `Statements` end the search.
        if self._held_back <= self._told:
            return
        self._ways = set()
        for item in self._tops:
            self._go_into(item)

    def _go_into(self, item: Item) -> None:
        # A stack of our own, since the page decides the depth.
        ways = [self._describe(item, self._context(item, "", ""))]
        while ways:
            inner = next(ways[-1], None)
            if inner is None:
                ways.pop()
            else:
                ways.append(self._describe(*inner))

    def _describe(self, item: Item, context: str) -> Iterator[tuple[Item, str]]:
        """State an item in a context; yields the items that are stated before it goes on, each with its context."""
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
        """Say whether entering an item on the current path may state something new."""
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
            # C-21: an empty value is no name.
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

# Deviation: the text writes these with `%3A%2F%2F`; ours are what its own algorithm makes (C-16).
_WORK: Final = f"{MICRODATA}http://n.whatwg.org/work%23:"
# Predicates of a work, and their equivalents in known vocabularies (WK-02).
_EQUIVALENT: Final = MappingProxyType(
    {
        f"{_WORK}work": Iri("http://www.w3.org/2002/07/owl#sameAs"),
        f"{_WORK}title": _TITLE,
        f"{_WORK}author": Iri("http://creativecommons.org/ns#attributionName"),
        f"{_WORK}license": Iri(f"{XHV}license"),
    }
)

_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_KEPT: Final = rf"{UNRESERVED}{SUB_DELIMS}:@/?{UCSCHAR}"
_OTHERS: Final = re.compile(f"[^{_KEPT}]")
_OTHERS_BUT_ESCAPES: Final = re.compile(rf"(?!%[0-9A-Fa-f]{{2}})[^{_KEPT}]")


def read_triples(
    body: bytes, content_type: str | None, *, address: str | None, base: str | None = None, nosniff: bool = False
) -> Triples:
    """Convert a page to RDF.

    content_type  the value of the first HTTP header, None if there was none
    address       the page's own URL after redirects, the subject of its statements; None: a blank node
    base          resolves relative URLs, whatever the page says; None: its base element, or its address
    nosniff       the server forbids guessing the type, see `is_nosniff`
    Raises TooComplex for a page that is too complex to parse.
    """
    tree = read_tree(body, content_type, nosniff=nosniff)
    data = read_items(body, content_type, address=address, base=base, nosniff=nosniff)
    return to_triples(tree, data, address=address, base=base, statements=statements_of(body))


def to_triples(
    tree: Tree, data: Microdata, *, address: str | None, base: str | None = None, statements: Statements | None = None
) -> Triples:
    """Convert a page and its items to RDF, deterministically.

    address, base  as in `read_triples`
    statements     collects the triples within its limits; None: the default limits
    Source         text 003, converting to RDF (RDF-01 to RDF-15)
    """
    bases = Bases(tree.elements("base"), address, tree.encoding) if base is None else Bases((), base, tree.encoding)
    statements = statements or Statements()
    page: Node = Blank(0) if address is None else to_iri(address)
    with suppress(Statements.Enough):
        _state_page(tree, page, bases, statements)
        items = _ItemStatements(statements, first=0 if address is not None else 1)
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
    """Return the tokens of a rel as the text has them in RDF (RDF-02)."""
    counts = Counter(token if ":" in token else token.translate(_LOWER) for token in split_tokens(rel))
    if counts["up"] > 1:
        del counts["up"]
    if counts["alternate"] and counts["stylesheet"]:
        del counts["alternate"], counts["stylesheet"]
        counts["ALTERNATE-STYLESHEET"] = 1
    return [token for token, count in counts.items() if count]


def _context_of(type_: str | None, outer: str, name: str) -> str:
    """Return the context of an item: its prepared type, or without one, the context of its path (RDF-08, RDF-09).

    type_  the item's first type that is an absolute URL; None without one
    outer  the context of the item around it; "" for a top-level item
    name   of the property whose value it is; "" for a top-level item
    """
    if type_ is not None:
        return _prepare(type_)
    # A name that is too long makes no predicate, and neither do items below it.
    return _join(_prepare(outer), name) if outer and len(outer) + len(name) <= LONGEST_IRI else ""


def _predicates_of(context: str, name: str) -> Sequence[Iri] | None:
    """Return the predicate of a name, and its equivalent (RDF-10, RDF-11, WK-02); None: the value is skipped."""
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
    """Escape what a fragment cannot contain (RDF-13)."""
    return escape_short(_OTHERS, text)
