"""A page's items as RDF, as the W3C's note converts them."""

from __future__ import annotations

import pytest

from tests.spec.microdata.graphs import FORMS, assert_same, parse
from tocsin.spec.microdata.items import read_items
from tocsin.spec.microdata.rdf_formats import write_rdf
from tocsin.spec.microdata.rdf_note import read_note_triples, to_note_triples
from tocsin.spec.microdata.rdf_terms import XSD, Iri, Literal, Statements, Triples

ADDRESS = "https://harbour.example/boats/tern.html"
HTML = "text/html; charset=utf-8"
PREFIXES = """
@prefix ship: <https://ships.example/> .
@prefix schema: <http://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
BOAT = "itemscope itemtype=https://ships.example/Boat"


def read(html: str, *, address: str | None = ADDRESS, base: str | None = None) -> Triples:
    return read_note_triples(f"<!DOCTYPE html>{html}".encode(), HTML, address=address, base=base)


def assert_states(html: str, turtle: str) -> None:
    """The page states this, in every format; <> is the page."""
    found = read(html).triples
    wanted = parse(PREFIXES + turtle, address=ADDRESS)
    for form in FORMS:
        assert_same(parse(write_rdf(found, form), form), wanted)


def literal_of(element: str) -> Literal:
    """The value of a property."""
    value = read(f"<html lang=nl><p itemscope>{element}").triples[0].object
    assert isinstance(value, Literal)
    return value


def predicate_of(type_: str, name: str = "name") -> str:
    return read(f"<p itemscope itemtype='{type_}'><b itemprop='{name}'>x</b>").triples[-1].predicate.text


@pytest.mark.parametrize(
    ("type_", "predicate"),
    [
        ("https://ships.example/Boat", "https://ships.example/name"),
        ("https://ships.example/v1/", "https://ships.example/v1/name"),
        ("https://ships.example/v1#Boat", "https://ships.example/v1#name"),
        ("https://ships.example/v1#a/Boat", "https://ships.example/v1#name"),
        ("https://ships.example/v1/Boat?of=a/b", "https://ships.example/v1/name"),
        ("https://ships.example", "https://ships.example#name"),
        ("urn:boat", "urn:boat#name"),
        ("http://schema.org/Boat/Sailing", "http://schema.org/name"),
        ("http://microformats.org/profile/hcard", "http://microformats.org/profile/hcard#name"),
    ],
)
def test_a_predicate_is_of_the_types_vocabulary(type_: str, predicate: str) -> None:
    assert predicate_of(type_) == predicate


def test_a_name_is_escaped_and_one_that_is_a_url_stands_by_itself() -> None:
    assert predicate_of("https://ships.example/Boat", "a#é<") == "https://ships.example/a%23é%3C"
    assert predicate_of("https://ships.example/Boat", "http://e.org/p") == "http://e.org/p"


def test_each_type_is_stated_and_items_without_one_speak_as_those_that_hold_them() -> None:
    assert_states(
        f"<div {BOAT}><div itemprop=crew itemscope><b itemprop=name lang=en>Ann</b></div></div>"
        "<p itemscope itemtype='cat https://ships.example/Boat urn:x' itemid=#b><b itemprop=name>Tern</b>",
        '[ a ship:Boat; ship:crew [ ship:name "Ann"@en ] ] . <#b> a ship:Boat, <urn:x>; ship:name "Tern" .',
    )


def test_without_any_type_a_name_is_a_part_of_the_page() -> None:
    html = "<base href=/b/x#y><p itemscope><b itemprop=name>Tern</b>"

    assert_states(html, '[ <https://harbour.example/b/x#name> "Tern" ] .')
    assert [each.predicate for each in read(html, base="http://o.example/#z").triples] == [
        Iri("http://o.example/#name")
    ]
    assert read("<p itemscope><b itemprop=name>Tern</b>", address=None).triples == ()


def test_a_page_states_nothing_but_its_items() -> None:
    assert read("<title>T</title><a rel=next href=x></a><meta name=a content=b>").triples == ()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_additional_type_is_a_type(scheme: str) -> None:
    assert_states(
        f"<p itemscope itemtype={scheme}://schema.org/Boat><link itemprop=additionalType href=urn:x>",
        f"[ a <{scheme}://schema.org/Boat>, <urn:x>; <{scheme}://schema.org/additionalType> <urn:x> ] .",
    )


def test_another_registry_says_what_names_state_besides() -> None:
    body = f"<p {BOAT}><b itemprop=name>Tern</b>".encode()
    registry = {"https://ships.example/": {"name": ["urn:label", "urn:title"]}}

    found = to_note_triples(read_items(body, HTML, address=ADDRESS, living=True), base=ADDRESS, registry=registry)

    assert [each.predicate.text for each in found.triples[1:]] == [
        "https://ships.example/name",
        "urn:label",
        "urn:title",
    ]


@pytest.mark.parametrize(
    ("value", "datatype"),
    [
        ("2026-02-28", "date"),
        ("12026-02-28", "date"),
        ("23:59:59.5", "time"),
        ("00:00:00Z", "time"),
        ("00:00:00-14:00", "time"),
        ("2026-02-28T10:00:00", "dateTime"),
        ("2026-02-28T10:00:00.25+01:30", "dateTime"),
        ("2026-02", "gYearMonth"),
        ("2026", "gYear"),
        ("P1Y2M3DT4H5M6.7S", "duration"),
        ("PT0S", "duration"),
    ],
)
def test_a_time_has_its_type_and_no_language(value: str, datatype: str) -> None:
    assert literal_of(f"<time itemprop=a datetime='{value}'>") == Literal(value, None, f"{XSD}{datatype}")


@pytest.mark.parametrize(
    "value",
    [
        *("2026-02-30", "0000-01-01", "24:00:00", "10:00", "00:00:00+14:01", "2026-02-28 10:00:00", "2026-13", "026"),
        *("P", "PT", "P1DT", "P1W", "1h", " 2026", "2026-W01", "02-28", "P" + "1" * 100 + "D", "soon"),
    ],
)
def test_a_time_that_its_type_does_not_know_is_a_text(value: str) -> None:
    assert literal_of(f"<time itemprop=a datetime='{value}'>") == Literal(value, "nl")


def test_a_time_is_read_from_its_text_too() -> None:
    assert literal_of("<time itemprop=a>2026-02-28</time>").datatype == f"{XSD}date"


@pytest.mark.parametrize(
    ("value", "datatype"), [("1", "integer"), ("-007", "integer"), ("1.5", "double"), ("-.5e+3", "double")]
)
def test_a_number_has_its_type(value: str, datatype: str) -> None:
    assert literal_of(f"<data itemprop=a value='{value}'>one</data>") == Literal(value, None, f"{XSD}{datatype}")
    assert literal_of(f"<meter itemprop=a value='{value}'>one</meter>").datatype == f"{XSD}{datatype}"


@pytest.mark.parametrize("value", ["", "one", "1.", "+1", "1e", "NaN", "1 ", "1" * 101])
def test_data_that_is_no_number_is_a_text_of_no_language(value: str) -> None:
    assert literal_of(f"<data itemprop=a value='{value}'>one</data>") == Literal(value)


def test_a_number_in_another_element_is_a_text() -> None:
    assert literal_of("<b itemprop=a>12</b>") == Literal("12", "nl")


def test_what_is_too_much_is_cut_and_said_to_be() -> None:
    data = read_items(f"<p {BOAT}><b itemprop='a b c'>x</b>".encode(), HTML, address=ADDRESS, living=True)

    found = to_note_triples(data, base=ADDRESS, statements=Statements(2))

    assert len(found.triples) == 2
    assert "2 triples" in found.problems[-1]
