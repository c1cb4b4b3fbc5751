from __future__ import annotations

import pytest

from tests.spec.links.reading import PAGE, XHTML, bases_of, tree_of
from tocsin.spec.html.tree import read_tree
from tocsin.spec.infrastructure.urls import Bases


def base_of(markup: str, address: str | None = PAGE) -> str | None:
    return bases_of(tree_of(markup), address).document


def test_LM11_without_a_base_element_it_is_the_pages_url() -> None:
    assert base_of("<p>x") == PAGE


def test_LM10_the_base_element_gives_it() -> None:
    assert base_of("<base href=http://www.example.com/intro.html>") == "http://www.example.com/intro.html"


def test_URL07_the_first_with_an_href_counts_and_is_resolved() -> None:
    assert base_of("<base target=x><base href='/c/'><base href='/d/'>") == "http://e.org/c/"


@pytest.mark.parametrize("href", ["http://a%zz/", "data:x", "javascript:x", ""])
def test_URL07_one_that_leads_nowhere_leaves_the_pages_url(href: str) -> None:
    assert base_of(f"<base href='{href}'><base href=/d/>") == PAGE


@pytest.mark.parametrize("markup", ["<body><base href=/c/>", "<head></head><body><p><base href=/c/>"])
def test_URL07_a_base_outside_the_head_does_not_count(markup: str) -> None:
    assert base_of(markup) == PAGE


def test_a_page_of_unknown_url_has_the_base_that_it_names() -> None:
    assert base_of("<base href=http://a.example/x/>", None) == "http://a.example/x/"
    assert base_of("<base href=/x/>", None) is None
    assert base_of("<p>x", None) is None


def test_without_a_base_only_what_is_absolute_leads_anywhere() -> None:
    tree = tree_of("<p>")
    bases = bases_of(tree, None)
    assert tree.root is not None

    assert bases.resolve(tree.root, "a") is None
    assert bases.resolve(tree.root, "http://a.example") == "http://a.example/"


def test_URL06_xml_base_counts_from_the_outside_in() -> None:
    tree = tree_of(
        "<head><base href='/top/'/></head><body xml:base='b/'><p xml:base='c/'><a href='x'/></p>"
        "<q xml:base='http://[/'><b xml:base='d/'/></q></body>",
        XHTML,
    )
    bases = bases_of(tree)

    assert {each.tag: bases.of(each) for each in tree.elements("head", "body", "p", "a", "q", "b")} == {
        "head": "http://e.org/top/",
        "body": "http://e.org/top/b/",
        "p": "http://e.org/top/b/c/",
        "a": "http://e.org/top/b/c/",
        "q": "http://e.org/top/b/",
        "b": "http://e.org/top/b/d/",
    }


def test_URL08_a_query_is_written_in_the_pages_encoding() -> None:
    page = "<!DOCTYPE html><meta charset=iso-8859-2><a href='/?\u0161'>".encode("iso-8859-2")
    tree = read_tree(page, None)
    bases = Bases(tree.elements(), PAGE, tree.encoding)
    (link,) = tree.elements("a")

    assert bases.resolve(link, link.attributes["href"]) == "http://e.org/?%B9"


def test_a_base_that_is_too_long_for_a_url_is_none() -> None:
    assert base_of(f"<base href='/{'x' * 9000}/'>") == PAGE
    tree = tree_of(f"<p xml:base='/{'x' * 9000}/'/>", XHTML)
    (element,) = tree.elements("p")

    assert bases_of(tree).of(element) == PAGE


def test_a_reference_that_nobody_could_follow_is_not_resolved() -> None:
    tree = tree_of("<p>")
    assert tree.root is not None

    assert bases_of(tree).resolve(tree.root, "x" * 70_000) is None
