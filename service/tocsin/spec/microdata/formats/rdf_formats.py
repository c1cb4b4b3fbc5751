"""Writes RDF as Turtle, N-Triples and JSON-LD with rdflib, which only this file imports.

The library gets nothing of a page but checked terms (`rdf`). Where it loses data or hangs on what a page can
state, its methods are replaced here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from types import MappingProxyType
from typing import Any, Final

from rdflib import BNode, Graph, URIRef
from rdflib import Literal as RdfLiteral
from rdflib.namespace import RDF as RDFLIB_RDF
from rdflib.plugins.serializers.jsonld import Converter
from rdflib.plugins.serializers.turtle import OBJECT, TurtleSerializer
from rdflib.plugins.shared.jsonld.context import Context
from rdflib.term import Identifier, Node

from tocsin.spec.microdata.formats.rdf import RDF, XSD, Blank, Iri, Literal, Term, Triple

_KNOWN: Final = MappingProxyType(
    {
        RDF: "rdf",
        XSD: "xsd",
        "http://www.w3.org/2002/07/owl#": "owl",
        "http://purl.org/dc/terms/": "dct",
        "http://creativecommons.org/ns#": "cc",
        "http://www.w3.org/1999/xhtml/vocab#": "xhv",
        "http://www.w3.org/1999/xhtml/microdata#": "md",
        "http://schema.org/": "schema",
        "https://schema.org/": "schema",
        "http://purl.org/vocab/frbr/core#": "frbr",
    }
)
_TYPE: Final = f"{RDF}type"
_MOST_PREFIXES: Final = 50
# Blank nodes are nested down to here; each level takes six calls on the stack.
_DEEPEST: Final = 12

# An IRI as a vocabulary and a local name that every format can write unescaped.
_SPLIT: Final = re.compile(r"(.*(?:[#/]|%23[^:]*:))([A-Za-z_][A-Za-z0-9_-]*(?:%[0-9A-F]{2}[A-Za-z0-9_-]*)*)", re.DOTALL)
_ESCAPE: Final = re.compile("%[0-9A-Fa-f]{2}")
_WORD: Final = re.compile("[A-Za-z][A-Za-z0-9]*")


def write_rdf(triples: Iterable[Triple], form: str, *, blank: str = "") -> str:
    """Write triples in a format, deterministically.

    form   "turtle", "ntriples" or "jsonld"
    blank  prefix of blank nodes, letters and digits; documents that are joined must differ in it
    """
    held = tuple(triples)
    prefixes = _find_prefixes(held)
    return _WRITERS[form](_to_graph(held, f"{blank}b"), prefixes)


def _to_graph(triples: Iterable[Triple], blank: str) -> Graph:
    graph = Graph(store="SimpleMemory", bind_namespaces="none")
    made: dict[Term, Identifier] = {}
    for subject, predicate, object_ in triples:
        nodes = []
        for term in (subject, predicate, object_):
            node = made.get(term)
            if node is None:
                node = made[term] = _to_node(term, blank)
            nodes.append(node)
        graph.store.add((nodes[0], nodes[1], nodes[2]), graph)
    return graph


def _to_node(term: Term, blank: str) -> Identifier:
    if isinstance(term, Iri):
        return URIRef(term.text)
    if isinstance(term, Blank):
        return BNode(f"{blank}{term.number}")
    literal = RdfLiteral(term.text, lang=term.language)
    if term.datatype is not None:
        # Set as in unpickling: the constructor would parse and normalise the value, and warn about invalid ones.
        literal.__setstate__((None, {"language": None, "datatype": URIRef(term.datatype)}))
    return literal


def _find_prefixes(triples: Sequence[Triple]) -> dict[str, str]:
    """Choose a prefix for each vocabulary of predicates, types and data types; returns prefixes by vocabulary."""
    named: dict[str, None] = {}
    schemes = set()
    for each in triples:
        if each.predicate.text != _TYPE:
            named[each.predicate.text] = None
        for term in each:
            if isinstance(term, Iri):
                schemes.add(term.text.partition(":")[0])
            elif isinstance(term, Literal) and term.datatype is not None:
                named[term.datatype] = None
        if isinstance(each.object, Iri) and each.predicate.text == _TYPE:
            named[each.object.text] = None
    found: dict[str, str] = {}
    # In JSON-LD, a prefix that is also a scheme of this page would change IRIs of that scheme.
    taken = schemes | {scheme.lower() for scheme in schemes}
    for iri in named:
        split = _SPLIT.fullmatch(iri)
        if split is None or split[1] in found or len(found) >= _MOST_PREFIXES or "://" not in split[1]:
            continue
        wanted = _KNOWN.get(split[1]) or _suggest(split[1])
        prefix = wanted
        number = 1
        while prefix in taken or (prefix != _KNOWN.get(split[1]) and prefix in _KNOWN.values()):
            number += 1
            prefix = f"{wanted}{number}"
        taken.add(prefix)
        found[split[1]] = prefix
    return found


def _suggest(vocabulary: str) -> str:
    host, _, path = vocabulary.partition("://")[2].partition("/")
    words = _WORD.findall(_ESCAPE.sub(" ", path)) or _WORD.findall(host)[:-1]
    return words[-1].lower() if words else "ns"


def _shorten(iri: str, prefixes: Mapping[str, str]) -> str | None:
    split = _SPLIT.fullmatch(iri)
    prefix = None if split is None else prefixes.get(split[1])
    return None if split is None or prefix is None else f"{prefix}:{split[2]}"


def _write_ntriples(graph: Graph, _: Mapping[str, str]) -> str:
    return graph.serialize(format="nt11", encoding="utf-8").decode()


def _write_turtle(graph: Graph, prefixes: Mapping[str, str]) -> str:
    stream = BytesIO()
    _Turtle(graph, prefixes).serialize(stream)
    return stream.getvalue().decode().strip("\n") + "\n"


def _write_jsonld(graph: Graph, prefixes: Mapping[str, str]) -> str:
    # `@type` allows IRIs only, but a page can give any value as a type.
    is_odd = any(not isinstance(value, URIRef) for value in graph.objects(None, RDFLIB_RDF.type))
    names = _Names(prefixes)
    converter = _JsonLd(names, use_native_types=False, use_rdf_type=is_odd)
    converter.use_native_types = False  # With a context, the library would rewrite numbers.
    context = {prefix: vocabulary for vocabulary, prefix in prefixes.items()}
    document = {"@context": context, "@graph": converter.from_graph(graph)}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


_WRITERS: Final[Mapping[str, Callable[[Graph, Mapping[str, str]], str]]] = MappingProxyType(
    {"turtle": _write_turtle, "ntriples": _write_ntriples, "jsonld": _write_jsonld}
)


class _Turtle(TurtleSerializer):
    """Turtle in the order of the page, with its prefixes."""

    def __init__(self, graph: Graph, prefixes: Mapping[str, str]) -> None:
        super().__init__(graph)
        self._prefixes = prefixes
        self._short: dict[Node, str | None] = {}

    def preprocess(self) -> None:
        super().preprocess()
        self.namespaces = {prefix: URIRef(vocabulary) for vocabulary, prefix in self._prefixes.items()}

    def orderSubjects(self) -> list[Any]:  # noqa: N802 - the library's name
        """Keep the page's order; nested blank nodes come last, in case that no subject contains them."""
        return sorted(self._subjects, key=lambda node: isinstance(node, BNode) and self._references[node] == 1)

    def sortProperties(self, properties: Mapping[Any, list[Any]]) -> list[Any]:  # noqa: N802 - the library's name
        """Keep the page's order, types first; the library's sorting raises on values that cannot be compared."""
        return sorted(properties, key=lambda predicate: predicate != RDFLIB_RDF.type)

    def get_pname(self, uri: Node, gen_prefix: bool = True) -> str | None:  # noqa: ARG002, FBT001, FBT002 - the library's
        if uri not in self._short:
            self._short[uri] = _shorten(uri, self._prefixes) if isinstance(uri, URIRef) else None
        return self._short[uri]

    def label(self, node: Node, position: int) -> str:
        """Write a term; the library would write nil as `()`, which is no predicate, and rewrite numbers."""
        if isinstance(node, RdfLiteral):
            if node.datatype is None:
                return node.n3()
            return f"{RdfLiteral(str(node)).n3()}^^{self.get_pname(node.datatype) or node.datatype.n3()}"
        if node == RDFLIB_RDF.type and position not in (0, OBJECT):
            return "a"
        return self.get_pname(node) or node.n3()

    def isValidList(self, l_: Node) -> bool:  # noqa: ARG002, N802 - the library's
        """Never write the list syntax: the library would follow a cyclic list forever."""
        return False

    def p_squared(self, node: Node, position: int, newline: bool = False) -> bool:  # noqa: FBT001, FBT002 - the library's
        """Nest a blank node, but not deeper than Python's stack allows."""
        return self.depth < _DEEPEST and super().p_squared(node, position, newline)


class _Names(Context):
    """Shortens IRIs by our prefixes; the library would shorten at the first #."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__({prefix: vocabulary for vocabulary, prefix in prefixes.items()})
        self._short = prefixes

    def shrink_iri(self, iri: str) -> str:
        return _shorten(str(iri), self._short) or str(iri)

    def to_symbol(self, iri: str) -> str:
        return self.shrink_iri(iri)


class _JsonLd(Converter):
    """JSON-LD as a flat list of nodes in the order of the page."""

    def from_graph(self, graph: Graph) -> list[Any]:
        """Convert each subject by itself; the library's recursion is as deep as the page."""
        nodes: dict[Any, Any] = {}
        for subject in graph.subjects(unique=True):
            self.process_subject(graph, subject, nodes)  # type: ignore[arg-type] # no subject is a literal
        return list(nodes.values())

    def to_raw_value(self, graph: Graph, s: Any, o: Any, nodemap: dict[str, Any]) -> Any:
        """Write a value; the library would nest blank nodes, and lose an empty text before another value."""
        if isinstance(o, BNode):
            return {"@id": o.n3()}
        value = super().to_raw_value(graph, s, o, nodemap)
        return {"@value": ""} if value == "" else value

    def to_collection(self, graph: Graph, l_: Any) -> None:
        """Never write a list: the library would lose the rest of an incomplete or branching one."""
