"""Triples as graphs that can be compared, whatever their blank nodes are called."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import rdflib
from rdflib.compare import isomorphic

from tocsin.spec.microdata.formats.rdf import Blank, Iri, Term, Triple

FORMS = {"turtle": "turtle", "ntriples": "nt", "jsonld": "json-ld"}
"""Ours, and what a reader calls them."""


def parse(text: str, form: str = "turtle", address: str | None = None) -> rdflib.Graph:
    """Read a document as another program does."""
    with warnings.catch_warnings():
        # The library's reader of JSON-LD uses what the library itself calls deprecated.
        warnings.filterwarnings("ignore", "ConjunctiveGraph is deprecated", DeprecationWarning)
        return rdflib.Graph().parse(data=text, format=FORMS[form], publicID=address)


def to_graph(triples: Iterable[Triple]) -> rdflib.Graph:
    """A graph made of triples without writing them."""
    graph = rdflib.Graph()
    for each in triples:
        subject, predicate, object_ = map(_to_node, each)
        graph.add((subject, predicate, object_))
    return graph


def assert_same(found: rdflib.Graph, wanted: rdflib.Graph) -> None:
    """Compare graphs up to the names of blank nodes; say what differs."""
    if not isomorphic(found, wanted):
        raise AssertionError(f"found\n{found.serialize(format='nt')}\nwanted\n{wanted.serialize(format='nt')}")


def _to_node(term: Term) -> rdflib.term.IdentifiedNode | rdflib.Literal:
    if isinstance(term, Iri):
        return rdflib.URIRef(term.text)
    if isinstance(term, Blank):
        return rdflib.BNode(f"n{term.number}")
    return rdflib.Literal(term.text, lang=term.language, datatype=term.datatype)
