"""Pages of links for tests, read as a page at a URL is."""

from __future__ import annotations

from collections.abc import Mapping

from tocsin.spec.html.tree import Tree, read_tree
from tocsin.spec.infrastructure.urls import Bases
from tocsin.spec.links.links import PageLink, read_links
from tocsin.spec.links.relations import LinkType

PAGE = "http://e.org/dir/page.html"
XHTML = "application/xhtml+xml"


def tree_of(markup: str, content_type: str = "text/html; charset=utf-8") -> Tree:
    """The tree of a page of HTML, or of the content of an html element of XHTML."""
    if content_type == XHTML:
        return read_tree(f'<html xmlns="http://www.w3.org/1999/xhtml">{markup}</html>'.encode(), XHTML)
    return read_tree(f"<!DOCTYPE html>{markup}".encode(), content_type)


def bases_of(tree: Tree, address: str | None = PAGE) -> Bases:
    return Bases(tree.elements(), address, tree.encoding)


def links_of(
    markup: str, types: Mapping[str, LinkType] | None = None, *, address: str | None = PAGE, language: str | None = None
) -> list[PageLink]:
    """The links of a page of HTML."""
    tree = tree_of(markup)
    known = {} if types is None else {"types": types}
    return list(read_links(tree, bases_of(tree, address), language=language, **known))
