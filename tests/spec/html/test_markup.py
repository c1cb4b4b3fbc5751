from __future__ import annotations

import pytest

from tocsin.errors import TooComplex
from tocsin.spec.html.page import Kind
from tocsin.spec.html.tree import Element, Tree, read_tree
from tocsin.spec.html.writing import Template, read_markup, write_html


def markup_of(html: str) -> Tree:
    return read_markup(f"<!DOCTYPE html><body>{html}".encode(), "text/html; charset=utf-8")


def body_of(html: str) -> Element:
    (body,) = markup_of(html).elements("body")
    return body


def test_who_walks_through_it_meets_what_any_tree_has() -> None:
    page = b"<!DOCTYPE html><p>a<!--b--><template><p>c</template><svg><title>d</title></svg><i>e"

    found, plain = (read(page, "text/html") for read in (read_markup, read_tree))

    assert [each.tag for each in found.elements() if each.namespace] == [each.tag for each in plain.elements()]
    assert (body_of("<p>a<!--b-->").text(), body_of("<template>c</template>").text()) == ("a", "")


def test_what_a_template_holds_is_beside_its_children() -> None:
    (template,) = body_of("<template><p>a</p></template>").children

    assert isinstance(template, Template)
    assert (template.children, write_html(template.content.children)) == ([], "<p>a</p>")


def test_an_element_of_a_template_has_no_page_above_it() -> None:
    (template,) = body_of("<template><p>a</p></template>").children

    assert isinstance(template, Template)
    (paragraph,) = template.content.elements("p")
    assert [above.tag for above in paragraph.above()] == ["#content"]


def test_a_comment_before_the_page_is_not_its_root() -> None:
    root = read_markup(b"<!--a--><!DOCTYPE html><!--b--><p>c", "text/html").root

    assert root is not None
    assert (root.tag, root.parent) == ("html", None)


def test_xhtml_is_read_as_xml() -> None:
    tree = read_markup(b'<html xmlns="http://www.w3.org/1999/xhtml"><!--a--><P/></html>', "application/xhtml+xml")

    assert (tree.kind, [each.tag for each in tree.elements()]) == (Kind.XHTML, ["html", "P"])


def test_what_is_no_page_has_no_root() -> None:
    tree = read_markup(b"%PDF-1.7", "application/pdf")

    assert (tree.root, tree.problems) == (None, ("not HTML: its server calls it application/pdf",))


@pytest.mark.parametrize("page", [b"<" * 2_000_001, b"<html a>" * 5000])
def test_CI08_what_no_parser_may_be_given_is_refused(page: bytes) -> None:
    with pytest.raises(TooComplex):
        read_markup(page, "text/html")
