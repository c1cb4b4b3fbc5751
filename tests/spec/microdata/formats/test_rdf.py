"""A page as RDF."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.graphs import FORMS, assert_same, parse, to_graph
from tocsin.spec.html.tree import read_tree
from tocsin.spec.microdata.formats import rdf
from tocsin.spec.microdata.formats.rdf import (
    RDF,
    XSD,
    Blank,
    Iri,
    Literal,
    Statements,
    Triple,
    Triples,
    read_triples,
    to_iri,
    to_literal,
    to_triples,
)
from tocsin.spec.microdata.formats.rdf_formats import write_rdf
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.values import Item

ADDRESS = "https://harbour.example/boats/tern.html"

HTML = "text/html; charset=utf-8"

PREFIXES = """
@prefix dct: <http://purl.org/dc/terms/> .
@prefix md: <http://www.w3.org/1999/xhtml/microdata#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xhv: <http://www.w3.org/1999/xhtml/vocab#> .
@prefix boat: <http://www.w3.org/1999/xhtml/microdata#https://ships.example/boat%23:> .
@prefix card: <http://www.w3.org/1999/xhtml/microdata#http://microformats.org/profile/hcard%23:> .
@prefix work: <http://www.w3.org/1999/xhtml/microdata#http://n.whatwg.org/work%23:> .
"""

BOAT = "itemscope itemtype=https://ships.example/boat"


def read(html: str, *, address: str | None = ADDRESS, base: str | None = None) -> Triples:
    return read_triples(f"<!DOCTYPE html>{html}".encode(), HTML, address=address, base=base)


def assert_states(html: str, turtle: str) -> None:
    """The page states this, in every format; <> is the page."""
    found = read(html).triples
    wanted = parse(PREFIXES + turtle, address=ADDRESS)
    for form in FORMS:
        assert_same(parse(write_rdf(found, form), form), wanted)


def bounded(html: str, *, most: int = 100_000, letters: int = 1_000_000) -> Triples:
    body = f"<!DOCTYPE html>{html}".encode()
    data = read_items(body, HTML, address=ADDRESS)
    return to_triples(read_tree(body, HTML), data, address=ADDRESS, statements=Statements(most, letters))


@pytest.mark.parametrize(
    ("html", "turtle"),
    [
        ("<html lang=nl><title>De Stern</title>", '<> dct:title "De Stern"@nl'),
        ("<title>one</title><body><svg><title>drawn</title></svg>", '<> dct:title "one"'),
        ("<html lang=''><title></title>", '<> dct:title ""'),
        ("<html lang='not one'><title>x</title>", '<> dct:title "x"'),
        ("<meta http-equiv=content-language content=da><title>x</title>", '<> dct:title "x"@da'),
        ("<meta http-equiv=content-language content=da><title lang=''>x</title>", '<> dct:title "x"'),
    ],
)
def test_RDF01_the_title_is_the_pages(html: str, turtle: str) -> None:
    assert_states(html, f"{turtle} .")


@pytest.mark.parametrize(
    ("html", "turtle"),
    [
        ("<a rel='NEXT next Next' href=b>", "<> xhv:next <b>"),
        ("<a rel='up UP index' href=b>", "<> xhv:index <b>"),
        ("<a rel=up href=b>", "<> xhv:up <b>"),
        ("<link rel='alternate home stylesheet' href=b>", "<> xhv:home <b>; xhv:ALTERNATE-STYLESHEET <b>"),
        ("<area rel='a#b' href=b>", "<> <http://www.w3.org/1999/xhtml/vocab#a%23b> <b>"),
        ("<a rel='http://E.org/Rel x:' href='//b'>", "<> <http://E.org/Rel> <https://b/>; <x:> <https://b/>"),
    ],
)
def test_RDF02_RDF03_links_state_their_relations(html: str, turtle: str) -> None:
    assert_states(html, f"{turtle} .")


@pytest.mark.parametrize(
    "html",
    [
        "<a href=b>",
        "<a rel=next>",
        "<a rel=next href='http://[x'>",
        "<a rel='1:x http://[x' href=b>",
        "<a rel='' href=b>",
    ],
)
def test_RDF02_RDF03_what_leads_nowhere_states_nothing(html: str) -> None:
    assert read(html).triples == ()


@pytest.mark.parametrize(
    ("html", "turtle"),
    [
        ("<meta name='Crew É' content='Ann' lang=de>", '<> <http://www.w3.org/1999/xhtml/vocab#crew%20É> "Ann"@de'),
        ("<meta name=dc:title content=T>", '<> <dc:title> "T"'),
        ("<meta http-equiv=content-language content=da><meta name=a content=T>", '<> xhv:a "T"@da'),
        ("<meta name='http://e.org/a b' content=''>", '<> <http://e.org/a%20b> ""'),
    ],
)
def test_RDF04_C12_meta_elements_state_their_contents(html: str, turtle: str) -> None:
    assert_states(html, f"{turtle} .")


@pytest.mark.parametrize("html", ["<meta name=a>", "<meta content=a>", "<meta name=1:a content=a>"])
def test_RDF04_other_meta_elements_state_nothing(html: str) -> None:
    assert read(html).triples == ()


def test_RDF05_quotations_state_their_sources() -> None:
    assert_states(
        "<q cite=log>x</q><blockquote cite=/chart></blockquote><q cite='http://[x'></q><ins cite=no></ins>",
        "<> dct:source <log>, </chart> .",
    )


def test_RDF06_RDF07_items_are_their_global_identifiers_or_have_no_name() -> None:
    assert_states("<p itemscope><p itemscope itemid=' #hull '>", "<> md:item [], <#hull> .")


@pytest.mark.parametrize(
    ("type_", "predicate"),
    [
        ("https://ships.example/boat", "https://ships.example/boat%23:name"),
        ("https://ships.example/boat#", "https://ships.example/boat%23:name"),
        ("https://ships.example/#boat", "https://ships.example/%23boat:name"),
        ("https://ships.example/#a:boat", "https://ships.example/%23a:boat%20name"),
        ("https://ships.example/%41%zz#b", "https://ships.example/%41%25zz%23b:name"),
        ("urn:boat", "urn:boat%23:name"),
    ],
)
def test_RDF08_RDF10_types_make_predicates(type_: str, predicate: str) -> None:
    found = read(f"<p itemscope itemtype='{type_}'><b itemprop=name>x</b>").triples

    assert (Iri(f"http://www.w3.org/1999/xhtml/microdata#{predicate}"), Literal("x")) in [each[1:] for each in found]


def test_RDF08_MD18_of_several_types_each_is_stated_and_the_first_makes_predicates() -> None:
    assert_states(
        "<p itemscope itemtype='cat https://ships.example/boat  urn:x'><b itemprop=name>Tern</b>",
        '<> md:item [ a <https://ships.example/boat>, <urn:x>; boat:name "Tern" ] .',
    )


def test_RDF09_items_without_a_type_are_spoken_of_by_the_way_to_them() -> None:
    assert_states(
        f"<div {BOAT}><div itemprop='crew é#%41' itemscope><div itemprop=mate itemscope><b itemprop=name>Ann</b>",
        "<> md:item [ a <https://ships.example/boat>; boat:crew _:c; "
        "<http://www.w3.org/1999/xhtml/microdata#https://ships.example/boat%23:é%23%2541> _:c ] ."
        '_:c boat:crew%20mate _:m . _:m boat:crew%20mate%20name "Ann" .'
        "_:c <http://www.w3.org/1999/xhtml/microdata#https://ships.example/boat%23:é%23%2541%20mate> _:m ."
        "_:m <http://www.w3.org/1999/xhtml/microdata#https://ships.example/boat%23:é%23%2541%20mate%20name> 'Ann' .",
    )


def test_RDF10_RDF11_names_that_are_urls_stand_by_themselves() -> None:
    assert_states(
        "<p itemscope><b itemprop='name http://e.org/p 1:x'>x</b>"
        f"<p {BOAT}><b itemprop='http://e.org/p 1:x dc:title'>y</b>",
        '<> md:item [ <http://e.org/p> "x" ],'
        ' [ a <https://ships.example/boat>; <http://e.org/p> "y"; <dc:title> "y" ] .',
    )


def test_RDF12_C21_urls_are_what_they_lead_to_and_other_values_texts() -> None:
    assert_states(
        f"<div {BOAT} lang=en><a itemprop=log href=log>x</a><img itemprop=log>"
        "<time itemprop=built datetime=1962>'62</time>",
        '<> md:item [ a <https://ships.example/boat>; boat:log <log>; boat:built "1962"@en ] .',
    )


def test_RDF14_shared_items_are_one_node_with_the_predicates_of_each_context() -> None:
    assert_states(
        f"<p {BOAT} itemref=a><p itemscope itemtype=http://microformats.org/profile/hcard itemref=a>"
        "<p id=a itemprop=adr itemscope><b itemprop=locality>Oban</b>",
        "<> md:item [ a <https://ships.example/boat>; boat:adr _:a ],"
        " [ a <http://microformats.org/profile/hcard>; card:adr _:a ] ."
        '_:a boat:adr%20locality "Oban"; card:adr%20locality "Oban" .',
    )


def test_WK02_C16_works_are_stated_in_words_that_others_know() -> None:
    assert_states(
        "<p itemscope itemtype=http://n.whatwg.org/work><img itemprop=work src=p><b itemprop=title>Pond</b>"
        "<b itemprop=author>Ann</b><a itemprop=license href=/l></a>",
        "<> md:item [ a <http://n.whatwg.org/work>; work:work <p>; owl:sameAs <p>; work:title 'Pond'; dct:title 'Pond';"
        " work:author 'Ann'; <http://creativecommons.org/ns#attributionName> 'Ann';"
        " work:license </l>; xhv:license </l> ] .",
    )


def test_C14_items_that_hold_each_other_are_stated_once() -> None:
    assert_states(
        f"<div id=a {BOAT} itemref=b></div><div id=b itemprop=tender {BOAT} itemref=c></div>"
        f"<div id=c itemprop=tows {BOAT} itemref=b></div>",
        "<> md:item [ a <https://ships.example/boat>; boat:tender _:b ] ."
        " _:b a <https://ships.example/boat>; boat:tows _:c ."
        " _:c a <https://ships.example/boat>; boat:tender _:b .",
    )


def test_C14_items_without_types_that_hold_each_other_are_gone_into_once_on_the_way() -> None:
    assert_states(
        f"<p {BOAT} itemref=b><p id=b itemprop=tender itemscope itemref=c><p id=c itemprop=tows itemscope itemref=b>",
        "<> md:item [ a <https://ships.example/boat>; boat:tender _:b ] ."
        " _:b boat:tender%20tows _:c . _:c boat:tender%20tows%20tender _:b .",
    )


def test_relative_urls_are_resolved_by_the_pages_base_or_the_one_given() -> None:
    html = "<base href=/b/><a rel=next href=x></a><p itemscope itemid=y>"

    own, given_one = read(html).triples, read(html, base="http://o.example/").triples

    assert [each.object for each in own] == [
        Iri("https://harbour.example/b/x"),
        Iri("https://harbour.example/b/y"),
    ]
    assert [each.object for each in given_one] == [Iri("http://o.example/x"), Iri("http://o.example/y")]


def test_a_page_of_unknown_address_has_no_name() -> None:
    found = read("<title>T</title><p itemscope>", address=None).triples

    assert [(each.subject, each.object) for each in found] == [(Blank(0), Literal("T")), (Blank(0), Blank(1))]


def test_what_a_page_says_ends_no_iri_and_no_text() -> None:
    hostile = 'http://e.org/> <urn:s> <urn:p> "x" . #'
    html = (
        f"<a rel='urn:p' href='{hostile}'></a><p itemscope itemtype='{hostile}' lang='en . <urn:a>'>"
        '<b itemprop="urn:<q>">""" . \\</b>'
    )
    found = read(html).triples

    for form in FORMS:
        graph = parse(write_rdf(found, form), form)
        assert_same(graph, to_graph(found))
        assert len(graph) == len(found) == 4


# Shared items make a graph whose tree is exponential; CVE-2003-1564, the billion laughs, is the like in XML.
LAUGHS = f"<div {BOAT} itemref=l0></div>" + "".join(
    f"<div id=l{n} itemprop='a b c' itemscope itemref=l{n + 1}></div>" for n in range(60)
)


def test_RDF14_contexts_without_end_are_cut_and_said_to_be() -> None:
    found = bounded(LAUGHS, most=500)

    assert len(found.triples) == 500
    assert found.problems[-1].startswith("the page states more than 500 triples;")


def test_a_text_that_many_items_share_is_cut_and_said_to_be() -> None:
    html = f"<p id=x itemprop=log>{'x' * 10_000}</p>" + f"<p {BOAT} itemref=x></p>" * 1000

    found = bounded(html, letters=100_000)

    assert sum(len(str(each.object[0])) for each in found.triples) < 100_000
    assert "100,000 letters" in found.problems[-1]


def test_names_that_state_nothing_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdf, "_MOST_LOOKED_AT", 20_000)
    html = "<p id=x itemprop=a>x</p>" + "<p itemscope itemref=x></p>" * 1000

    assert "the same too often" in bounded(html).problems[-1]


def test_RDF14_what_is_stated_a_thousand_times_takes_the_room_of_once() -> None:
    boat = f"<p {BOAT} itemid=urn:tern itemref=x></p>"
    html = f"<p id=x><b itemprop=log>{'x' * 100}</b><b itemprop=port>y</b></p>"

    assert bounded(html + boat * 1000, most=4, letters=1000) == bounded(html + boat)


LONG = "x{" * 5000


@pytest.mark.parametrize(
    "html",
    [
        f"<p itemscope itemtype='urn:{LONG}'>",
        f"<p itemscope><a itemprop=urn:x href='{LONG}'>x</a>",
        f"<p {BOAT}><b itemprop='{LONG}'>x</b>",
        f"<p {BOAT}><b itemprop='{LONG}' itemscope><i itemprop=x>y</i></b>",
        f"<p {BOAT}><b itemprop=urn:x itemscope itemid='urn:{LONG}'>x</b>",
        f"<a rel=next href='{LONG}'>x</a>",
        f"<a rel='{LONG}' href=x>x</a>",
        f"<meta name='{LONG}' content=x>",
        f"<q cite='{LONG}'>x</q>",
    ],
)
def test_what_is_too_long_for_a_name_is_left_out_and_said_to_be(html: str) -> None:
    found = read_triples(f"<!DOCTYPE html>{html}".encode(), HTML, address=ADDRESS)
    texts = [str(each) for triple in found.triples for term in triple for each in term]

    assert max(map(len, texts), default=0) <= rdf.LONGEST_IRI
    assert "" not in texts
    assert found.problems == ("names of more than 8,192 letters are left out, and what they name",)


def test_where_nothing_is_left_out_nothing_is_said() -> None:
    assert read(f"<title>Tern</title><p {BOAT}><b itemprop=name>Tern</b>").problems == ()


def test_an_item_whose_name_is_too_long_is_one_without_a_name() -> None:
    (_, typed, said) = read(f"<p {BOAT} itemid='urn:{LONG}'><b itemprop=port>x</b>").triples

    assert typed.subject == said.subject == Blank(0)


def test_a_small_page_states_no_millions_of_letters() -> None:
    type_ = "itemtype=urn:" + "x" * 8000
    body = f"<p itemscope {type_}>{'<b itemprop=%d>y</b>' * 1000}" % tuple(range(1000))

    found = read_triples(body.encode(), HTML, address=ADDRESS)

    assert sum(len(each.predicate.text) for each in found.triples) < 2**20 + 64 * len(body)
    assert found.problems


def test_items_inside_one_another_by_the_thousand_are_stated() -> None:
    depth = 400  # a parser gives up on deeper pages
    html = f"<div {BOAT}>" + f"<div itemprop=in {BOAT}>" * depth

    assert len(read(html).triples) == 1 + 2 * (depth + 1) - 1


@given(
    st.binary(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                b"<p itemscope itemtype=urn:x itemref='a b'>",
                b"<p id=a itemprop='u v' itemscope itemref='a b'>",
                b"<b id=b itemprop='urn:\xff\"'>\xe9",
                b"<div itemscope itemid='x:\\ '>",
                b"<a rel='up x:>' href='\x01>'>",
                b"<meta name=a: content=\x00>",
                b"<html lang='\"'>",
                b"<base href='?'>",
                b"<title>",
                b"<q cite=x>",
                b"</p>",
            ]
        )
    ).map(b"".join)
)
def test_any_bytes_give_a_graph_that_is_read_back(body: bytes) -> None:
    found = read_triples(body, HTML, address=ADDRESS)

    assert_same(parse(write_rdf(found.triples, "turtle")), to_graph(found.triples))


MICRODATA = "http://www.w3.org/1999/xhtml/microdata#"

CARD = "itemscope itemtype=http://microformats.org/profile/hcard"


def test_RDF14_C14_an_item_that_one_way_could_not_go_into_is_told_on_another() -> None:
    assert_states(
        f"<p {BOAT} itemref='b c'><p id=b itemprop=tender itemscope itemref='c n'><p id=n itemprop=name>Tern"
        f"<p id=c itemprop=owner {CARD} itemref=b>",
        "<> md:item [ a <https://ships.example/boat>; boat:tender _:b; boat:owner _:c ] ."
        " _:b boat:tender%20name 'Tern'; boat:tender%20owner _:c; card:tender%20name 'Tern'; card:tender%20owner _:c ."
        " _:c a <http://microformats.org/profile/hcard>; card:tender _:b .",
    )


def test_C14_too_many_paths_through_items_are_reported() -> None:
    all_of_them = " ".join(f"i{n}" for n in range(14))
    html = f"<p {BOAT} itemref='{all_of_them}'>" + "".join(
        f"<p id=i{n} itemprop=a itemscope itemref='{all_of_them}'>" for n in range(14)
    )

    found = read(html)

    assert "the page states the same too often" in found.problems[-1]
    assert len({each.predicate for each in found.triples}) == 17  # of each number of steps, md:item, and the type's


SHAPES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "a b"]), st.booleans(), st.lists(st.integers(0, 4), max_size=3)),
    min_size=5,
    max_size=5,
)


@given(SHAPES, st.lists(st.integers(0, 4), max_size=3))
def test_RDF14_C14_every_way_that_goes_into_no_item_twice_is_told(
    shapes: list[tuple[str, bool, list[int]]], first: list[int]
) -> None:
    def refer(numbers: list[int]) -> str:
        return f"itemref='{' '.join(f'i{n}' for n in numbers)}'"

    html = f"<p itemscope itemtype=urn:t:top itemid=urn:top {refer(first)}>" + "".join(
        f"<p id=i{n} itemprop='{names}' itemscope {f'itemtype=urn:t:{n}' if is_typed else ''} itemid=urn:i:{n}"
        f" {refer(numbers)}>"
        for n, (names, is_typed, numbers) in enumerate(shapes)
    )
    data = read_items(f"<!DOCTYPE html>{html}".encode(), HTML, address=ADDRESS)

    found = read(html).triples

    of_items = [each for each in found if each.predicate.text.startswith(f"{MICRODATA}urn:")]
    assert {tuple(part[0] for part in each) for each in of_items} == {
        told for item in data.items for told in _tell(item, "", (item,))
    }


def _tell(item: Item, outer: str, way: tuple[Item, ...]) -> Iterator[tuple[str, str, str]]:
    """Go every way, as the text does, but into no item that is on it already."""
    context = outer if item.type is None else f"{item.type}%23:"
    for each in item.properties:
        for name in each.names:
            assert item.id is not None
            assert each.item is not None
            assert each.item.id is not None
            joined = context + ("" if context.endswith(":") else "%20") + name
            yield item.id, MICRODATA + joined, each.item.id
            if each.item not in way:
                yield from _tell(each.item, joined, (*way, each.item))


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
        "from tocsin.spec.microdata.formats.rdf import Blank, Iri, Literal, Triple\n"
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
