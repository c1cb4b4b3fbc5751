from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import TooComplex
from tocsin.spec.html.page import Kind
from tocsin.spec.html.tree import HTML, MATHML, SVG, Element, Tree, find_elements, read_tree

XHTML = "application/xhtml+xml"
TOP = '<html xmlns="http://www.w3.org/1999/xhtml">'


def tree_of(markup: str) -> Tree:
    return read_tree(f"<!DOCTYPE html>{markup}".encode(), "text/html; charset=utf-8")


def xhtml_of(markup: str) -> Tree:
    return read_tree(f"{TOP}{markup}</html>".encode(), XHTML)


def the(tree: Tree, tag: str) -> Element:
    (element,) = tree.elements(tag)
    return element


def outline(tree: Tree) -> list[tuple[str, str | None, str]]:
    return [(each.tag, each.parent.tag if each.parent else None, each.text()) for each in tree.elements()]


def test_CI15_tree_order_is_depth_first() -> None:
    tree = tree_of("<body><ul><li><b>1</b></ul><i>2</i>")

    assert [element.tag for element in tree.elements()] == ["html", "head", "body", "ul", "li", "b", "i"]


def test_elements_are_asked_for_by_name() -> None:
    tree = tree_of("<p><a id=1>x</a><svg><a id=2></a></svg><area id=3>")

    assert [element.get("id") for element in tree.elements("a", "area")] == ["1", "3"]


def test_an_element_knows_its_place() -> None:
    link = the(tree_of("<p><b><a href=x>y</a></b>"), "a")

    assert [above.tag for above in link.above()] == ["b", "p", "body", "html"]
    assert link.attributes == {"href": "x"}
    assert (link.get("href"), link.get("rel")) == ("x", None)


def test_values_are_as_written() -> None:
    link = the(tree_of("<a rel=' next \t PREV ' class='b  a' hidden title='&eacute;'>"), "a")

    assert link.attributes == {"rel": " next \t PREV ", "class": "b  a", "hidden": "", "title": "\u00e9"}


def test_html_mends_what_is_broken() -> None:
    tree = tree_of("<title>t<a></title><table><a href=1>x<a href=2>y")

    assert outline(tree)[3:] == [("body", "html", "xy"), ("a", "body", "x"), ("a", "body", "y"), ("table", "body", "")]


def test_text_is_whole_and_in_order() -> None:
    assert the(tree_of("<p>a<b>b<!-- no --></b>c<i></i>d"), "p").text() == "abcd"
    assert the(xhtml_of("<p>a<b>b<!-- no --></b>c<?no no?>d<![CDATA[<e>]]></p>"), "p").text() == "abcd<e>"


def test_text_and_elements_are_children_in_tree_order() -> None:
    children = the(tree_of("<p>a<b>b</b>c"), "p").children

    assert [child if isinstance(child, str) else child.tag for child in children] == ["a", "b", "c"]


@pytest.mark.parametrize("read", [tree_of, xhtml_of])
def test_a_template_keeps_its_content(read: Callable[[str], Tree]) -> None:
    tree = read("<body><template><a>x</a><template></template><b></b>y</template><i>z</i></body>")

    assert [element.tag for element in tree.elements()][-3:] == ["body", "template", "i"]
    assert the(tree, "body").text() == "z"


def test_CI05_scripts_are_not_run() -> None:
    tree = tree_of("<body><noscript><a href=x></a></noscript><script>document.write('<a>')</script>")

    assert len(list(tree.elements("a"))) == 1


def test_namespaces_are_told_apart() -> None:
    tree = tree_of("<svg><a></a></svg><math><mi></mi></math>")

    assert [each.namespace for each in tree.elements()][3:] == [SVG, SVG, MATHML, MATHML]
    assert not next(each for each in tree.elements() if each.tag == "a").is_html("a")


def test_an_xhtml_element_of_another_namespace_is_not_htmls() -> None:
    tree = xhtml_of('<x:a xmlns:x="urn:x"/><a xmlns=""/><a/>')

    assert [(each.tag, each.namespace) for each in tree.elements()][1:] == [("a", "urn:x"), ("a", ""), ("a", HTML)]


def test_LM26_the_nearest_language_counts() -> None:
    tree = tree_of("<html lang=en><p lang=fr><b>x</b><i lang=''>y</i></p><q>z</q>")

    assert {each.tag: each.language for each in tree.elements("p", "b", "i", "q")} == {
        "p": "fr",
        "b": "fr",
        "i": "",
        "q": "en",
    }


def test_LM26_a_page_may_tell_no_language() -> None:
    assert the(tree_of("<p>x"), "p").language is None


def test_xml_lang_counts_in_xml_alone() -> None:
    assert the(xhtml_of("<p xml:lang='de' lang='fr'/>"), "p").language == "de"
    assert the(tree_of("<p xml:lang=de lang=fr>"), "p").language == "fr"


def test_URL06_an_element_knows_what_bases_it() -> None:
    tree = xhtml_of("<div xml:base='/a/'><p><b xml:base='b/'/></p></div><i/>")

    assert the(tree, "p").based is the(tree, "div")
    assert the(tree, "b").based is the(tree, "b")
    assert the(tree, "i").based is None
    assert the(tree_of("<p xml:base=/a/>"), "p").based is None


def test_CI10_an_unknown_entity_is_empty_text() -> None:
    page = f'<!DOCTYPE html [<!ENTITY a "aaaa">]>{TOP}<p>x&a;y<b/>&a;z&a;&a;w</p></html>'

    assert the(read_tree(page.encode(), XHTML), "p").text() == "xyzw"


def test_an_xhtml_page_that_is_not_well_formed_is_read_up_to_there() -> None:
    tree = read_tree(f"{TOP}<p>a<b>b</i>".encode(), XHTML)

    assert [each.tag for each in tree.elements()] == ["html", "p", "b"]
    assert the(tree, "p").text() == "ab"
    assert tree.problems[0].startswith("not well-formed XML")


def test_of_what_is_no_page_nothing_is_read() -> None:
    tree = read_tree(b"%PDF-1.4 <p>", None)

    assert (tree.kind, tree.encoding, tree.root) == (Kind.OTHER, None, None)
    assert tree.problems == ("not HTML: a PDF document",)
    assert list(tree.elements()) == []


def test_where_guessing_is_forbidden_nothing_is_guessed() -> None:
    assert read_tree(b"<p>x", None).root is not None
    assert read_tree(b"<p>x", None, nosniff=True).root is None


def test_the_encoding_is_found_as_for_states() -> None:
    page = "<!DOCTYPE html><meta charset=koi8-r><p>\u0444".encode("koi8-r")

    tree = read_tree(page, None)

    assert (tree.encoding, the(tree, "p").text()) == ("koi8-r", "\u0444")


def test_a_label_is_folded_and_cut() -> None:
    element = the(tree_of(f"<p> a\n <b>b</b> {'x' * 400}"), "p")

    assert element.label().startswith("a b xxx")
    assert len(element.label()) == 300
    assert element.label(letters=5) == "a b\u2026"
    assert the(tree_of("<p>" + "<b></b>" * 50 + "late"), "p").label(nodes=40) == ""


def test_depth_costs_nothing() -> None:
    deep = "<div>" * 100_000 + "<a href=x>y"

    assert [link.get("href") for link in tree_of(deep).elements("a")] == ["x"]


def test_a_page_of_too_many_elements_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.spec.html.tree.MOST_NODES", 10)

    assert list(tree_of("<p>x" * 3).elements("p"))
    with pytest.raises(TooComplex, match="more than 10"):
        tree_of("<p>x" * 5)


def test_a_page_of_too_many_tags_is_refused_before_it_costs_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.spec.html.tree.MOST_NODES", 10)
    monkeypatch.delattr("tocsin.spec.html.tree.refuse_too_complex")

    with pytest.raises(TooComplex):
        tree_of("</b>" * 30)


def test_what_no_parser_may_be_given_is_refused() -> None:
    with pytest.raises(TooComplex):
        tree_of("<html a>" * 20_000)


PIECES = ["<p>", "</p>", "<a href=x rel='next'>", "</a>", "<table>", "<template>", "</template>", "<svg>", "</svg>"]
PIECES += ["text", "&amp;", "<b lang=fr>", "</b>", "<select>", "<option>", "\0", "\r\n", "<!--", "-->", "<base href=/>"]


def found_in(body: bytes, content_type: str | None = None, **options: bool) -> list[Element]:
    return list(
        find_elements(body, content_type, ("a", "b"), lambda tag, get: tag == "b" or bool(get("rel")), **options)
    )


def test_elements_are_found_without_a_tree() -> None:
    (link, bold) = found_in(b"<!DOCTYPE html><p lang=fr><a rel=x href=y><i><b>z</b></i></a><a href=z></a>")

    assert (link.tag, link.attributes, link.language) == ("a", {"rel": "x", "href": "y"}, "fr")
    assert [each.tag for each in bold.above()] == ["i", "a", "p", "body", "html"]
    assert list(bold.above())[1] is link


def test_elements_are_found_only_in_pages_that_may_be_parsed() -> None:
    assert found_in(b"%PDF-1.4 <b>") == []
    assert len(found_in(b"<p><b>")) == 1
    assert found_in(b"<p><b>", nosniff=True) == []
    with pytest.raises(TooComplex):
        found_in(b"<html a>" * 20_000 + b"<b>")


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.sampled_from([None, "text/html", XHTML]))
def test_finding_finds_what_the_tree_has(markup: str, content_type: str | None) -> None:
    body = f"<html xmlns='{HTML}'>{markup}".encode()

    def facts(each: Element) -> tuple[object, ...]:
        return each.tag, each.attributes, each.language, [above.tag for above in each.above()]

    expected = [each for each in read_tree(body, content_type).elements("a", "b") if each.tag == "b" or each.get("rel")]
    assert [facts(each) for each in found_in(body, content_type)] == [facts(each) for each in expected]


@given(st.binary(max_size=300), st.sampled_from([None, "text/html", "text/html; charset=utf-16", XHTML]))
def test_no_bytes_raise(body: bytes, content_type: str | None) -> None:
    tree = read_tree(body, content_type)

    assert all(each.parent is None or each in each.parent.children for each in tree.elements())


@given(st.randoms(use_true_random=False))
def test_no_mangled_page_raises(chance: random.Random) -> None:
    page = bytearray(f"<!DOCTYPE html>{TOP}<head><base href='/'/></head><body>{''.join(PIECES)}</body></html>".encode())
    for _ in range(8):
        page[chance.randrange(len(page))] = chance.randrange(256)

    for content_type in ("text/html", XHTML):
        assert read_tree(bytes(page), content_type).kind is not Kind.OTHER
