"""The formats of RDF, read by other programs."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.graphs import FORMS, assert_same, parse, to_graph
from tocsin.spec.microdata.formats.rdf_formats import write_rdf
from tocsin.spec.microdata.formats.rdf_terms import RDF, XSD, Blank, Iri, Literal, Triple, to_iri, to_literal

PAGE = Iri("http://e.org/page")

NAME = Iri("http://schema.org/name")

_hostile = st.text(
    st.characters() | st.sampled_from(list("<>\"{}|^`\\ \n\r\t\x00\xa0\u2028\ud800#/:%@_.-'é")), max_size=12
)

_vocabulary = st.sampled_from(
    [
        f"{RDF}first",
        f"{RDF}rest",
        f"{RDF}nil",
        f"{RDF}type",
        RDF,
        "http://schema.org/name",
        "http://schema.org/",
        "dct:x",
    ]
)

_iris = st.builds(
    lambda scheme, rest: to_iri(scheme + rest), st.sampled_from(["http://e.org/", "urn:a", "x:"]), _hostile
)

_predicates = _vocabulary.map(to_iri) | _iris

_blanks = st.integers(0, 3).map(Blank)

_literals = st.builds(to_literal, _hostile, st.sampled_from([None, "", "en", "EN-gb", "a b", "en_US", '"', "é"]))

_typed = st.sampled_from(
    [Literal(f"{RDF}nil"), Literal("007", None, f"{XSD}integer"), Literal("1e400", None, f"{XSD}double")]
)

_triples = st.lists(
    st.builds(Triple, _iris | _blanks | _predicates, _predicates, _iris | _blanks | _predicates | _literals | _typed),
    unique=True,
    max_size=8,
)


@pytest.mark.parametrize("form", FORMS)
@given(_triples)
def test_RDF15_what_is_written_is_read_back_as_the_same_graph(form: str, triples: list[Triple]) -> None:
    assert_same(parse(write_rdf(triples, form), form), to_graph(triples))


def test_the_same_triples_give_the_same_bytes_in_every_process() -> None:
    program = (
        "from tocsin.spec.microdata.formats.rdf_formats import write_rdf\n"
        "from tocsin.spec.microdata.formats.rdf_terms import Blank, Iri, Literal, Triple\n"
        "made = [Triple(Blank(n), Iri(f'http://e.org/{p}'), Literal(str(n * p))) for n in range(9) for p in range(9)]\n"
        f"for form in {list(FORMS)}: print(write_rdf(made, form))"
    )

    def run(seed: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout

    assert run("1") == run("2")


def test_RDF15_turtle_keeps_the_order_of_the_page_and_names_its_vocabularies() -> None:
    event = "http://www.w3.org/1999/xhtml/microdata#http://microformats.org/profile/hcalendar%23vevent:"
    triples = [
        Triple(PAGE, Iri("http://purl.org/dc/terms/title"), Literal("Regatta", "en")),
        Triple(Blank(0), Iri(f"{RDF}type"), Iri("http://microformats.org/profile/hcalendar#vevent")),
        Triple(Blank(0), Iri(f"{event}summary"), Literal("Regatta")),
        Triple(Blank(0), Iri(f"{event}contact%20name"), Literal("Ann")),
        Triple(PAGE, Iri("http://www.w3.org/1999/xhtml/microdata#item"), Blank(0)),
    ]

    assert write_rdf(triples, "turtle") == (
        "@prefix dct: <http://purl.org/dc/terms/> .\n"
        "@prefix hcalendar: <http://microformats.org/profile/hcalendar#> .\n"
        "@prefix md: <http://www.w3.org/1999/xhtml/microdata#> .\n"
        f"@prefix vevent: <{event}> .\n"
        "\n"
        '<http://e.org/page> dct:title "Regatta"@en ;\n'
        "    md:item [ a hcalendar:vevent ;\n"
        '            vevent:summary "Regatta" ;\n'
        '            vevent:contact%20name "Ann" ] .\n'
    )


def test_RDF15_ntriples_are_one_line_each() -> None:
    triples = [Triple(PAGE, NAME, Literal('two\nlines "quoted"')), Triple(PAGE, NAME, Blank(3))]

    assert write_rdf(triples, "ntriples", blank="p2") == (
        '<http://e.org/page> <http://schema.org/name> "two\\nlines \\"quoted\\"" .\n'
        "<http://e.org/page> <http://schema.org/name> _:p2b3 .\n"
    )


def test_RDF15_json_has_the_prefixes_as_its_context() -> None:
    triples = [
        Triple(Blank(0), Iri(f"{RDF}type"), Iri("http://schema.org/Person")),
        Triple(Blank(0), NAME, Literal("")),
        Triple(Blank(0), NAME, Literal("Ann", "en")),
    ]

    assert json.loads(write_rdf(triples, "jsonld")) == {
        "@context": {"schema": "http://schema.org/"},
        "@graph": [
            {
                "@id": "_:b0",
                "@type": "schema:Person",
                "schema:name": [{"@value": ""}, {"@value": "Ann", "@language": "en"}],
            }
        ],
    }


@pytest.mark.parametrize("form", FORMS)
def test_nothing_stated_is_an_empty_graph(form: str) -> None:
    assert len(parse(write_rdf([], form), form)) == 0


def test_a_prefix_is_never_the_scheme_of_an_iri_of_the_page() -> None:
    triples = [Triple(PAGE, Iri("http://e.org/tel/home"), Iri("tel:home"))]

    assert json.loads(write_rdf(triples, "jsonld"))["@context"] == {"tel2": "http://e.org/tel/"}
    assert_same(parse(write_rdf(triples, "jsonld"), "jsonld"), to_graph(triples))


def test_two_vocabularies_of_one_name_have_two_prefixes() -> None:
    triples = [Triple(PAGE, NAME, PAGE), Triple(PAGE, Iri("https://schema.org/name"), PAGE)]

    found = json.loads(write_rdf(triples, "jsonld"))["@context"]

    assert found == {"schema": "http://schema.org/", "schema2": "https://schema.org/"}


@pytest.mark.parametrize("form", FORMS)
def test_a_chain_of_thousands_of_nodes_is_written(form: str) -> None:
    triples = [Triple(Blank(n), NAME, Blank(n + 1)) for n in range(3000)]

    found = parse(write_rdf(triples, form), form)

    assert len(found) == len(triples)


@pytest.mark.parametrize("form", FORMS)
def test_a_list_that_leads_back_to_itself_is_written(form: str) -> None:
    triples = [
        Triple(PAGE, NAME, Blank(0)),
        Triple(Blank(0), Iri(f"{RDF}first"), Literal("x")),
        Triple(Blank(0), Iri(f"{RDF}rest"), Blank(0)),
    ]

    assert_same(parse(write_rdf(triples, form), form), to_graph(triples))


@pytest.mark.parametrize("form", FORMS)
def test_values_that_are_not_of_their_type_are_not_logged(form: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        text = write_rdf([Triple(PAGE, NAME, Literal("2026-02-30", None, f"{XSD}date"))], form)

    assert "2026-02-30" in text
    assert caplog.records == []


@given(_hostile)
def test_an_iri_holds_nothing_that_could_end_it(rest: str) -> None:
    assert re.search('[\\s\x00-\x20<>"{}|^`\\\\\x7f-\x9f\ud800-\udfff]', to_iri(f"http://e.org/{rest}").text) is None


@pytest.mark.parametrize("language", ["", "a b", "en_US", '"', "en-", "é", "1", "x" * 9, "en" + "-a" * 60])
def test_a_language_that_is_none_is_unknown(language: str) -> None:
    assert to_literal("text", language) == Literal("text")


def test_a_text_keeps_its_language_as_written() -> None:
    assert to_literal("text", "de-CH-1996") == Literal("text", "de-CH-1996")
