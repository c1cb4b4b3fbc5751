"""A page's markup, read with all that a copy of it needs: comments and what templates hold, too.

To who walks through it, it is the same tree as any other: what is besides has no children, and no name that HTML knows.
"""

from __future__ import annotations

from typing import Any, Final

import turbohtml

from tocsin.errors import TooComplex
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.encoding import find_encoding
from tocsin.spec.html.page import Kind, find_kind
from tocsin.spec.html.tree import HTML, MATHML, MOST_NODES, SVG, TOO_MANY, Element, Tree, parse_html, read_tree

_NAMESPACES: Final = {
    turbohtml.Namespace.HTML: HTML,
    turbohtml.Namespace.SVG: SVG,
    turbohtml.Namespace.MATHML: MATHML,
}


class Aside(Element):
    """What is no element: a comment or the like.

    markup  that it is written as
    """

    __slots__ = ("markup",)

    def __init__(self, markup: str, parent: Element | None) -> None:
        """Stand below a parent."""
        super().__init__("#aside", "", {}, parent)
        self.markup = markup


class Template(Element):
    """A template element; what it holds is not the page's, and not among its children.

    content  what it holds; above it, there is nothing
    """

    __slots__ = ("content",)

    def __init__(self, tag: str, namespace: str, attributes: dict[str, str], parent: Element | None) -> None:
        """Hold nothing yet."""
        super().__init__(tag, namespace, attributes, parent)
        self.content = Element("#content", "", {}, None)


def read_markup(body: bytes, content_type: str | None, *, nosniff: bool = False) -> Tree:
    """Parse a page whole, as `read_tree` does, and keep the comments and the templates' content of HTML.

    Deviation: of XHTML both are left out; nobody sees them.
    Raises TooComplex for a page that no parser may be given.
    """
    kind, problems = find_kind(body, content_type, nosniff=nosniff)
    if kind is not Kind.HTML:
        return read_tree(body, content_type, nosniff=nosniff)
    encoding = find_encoding(body, content_type)
    return Tree(kind, encoding, _read_html(decode(body, encoding)), problems)


def _read_html(text: str) -> Element | None:
    document = parse_html(text)
    root = Element("#document", "", {}, None)
    # What is open: a fragment stands for the content of the template above it.
    path: list[tuple[turbohtml.Node, Element]] = [(document, root)]
    for count, node in enumerate(document.descendants):
        if count > MOST_NODES:
            raise TooComplex(TOO_MANY)
        while path[-1][0] is not node.parent:
            path.pop()
        parent = path[-1][1]
        if isinstance(node, turbohtml.Text):
            parent.children.append(node.data)
        elif isinstance(node, turbohtml.Element):
            element = _to_element(node, None if parent is root else parent)
            parent.children.append(element)
            path.append((node, element))
        elif isinstance(node, turbohtml.DocumentFragment) and isinstance(parent, Template):
            path.append((node, parent.content))
        elif aside := _to_markup(node):
            parent.children.append(Aside(aside, parent))
    return next((node for node in root.children if type(node) is Element), None)


def _to_element(node: turbohtml.Element, parent: Element | None) -> Element:
    # By name, since the mapping splits the values that are lists of tokens.
    attributes = {name: node.attr(name) or "" for name in node.attrs}
    make = Template if node.tag == "template" and node.namespace is turbohtml.Namespace.HTML else Element
    return make(node.tag, _NAMESPACES[node.namespace], attributes, parent)


def _to_markup(node: Any) -> str:
    if isinstance(node, turbohtml.Comment):
        return f"<!--{node.data}-->"
    if isinstance(node, turbohtml.ProcessingInstruction):
        return f"<?{node.target} {node.data}>"
    return ""
