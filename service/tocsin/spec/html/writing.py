"""Parts of a page written as markup again: HTML as the standard serialises it, or XML. Nothing here recurses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import turbohtml

from tocsin.errors import TooComplex
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.page import Kind, find_encoding, find_kind
from tocsin.spec.html.tree import HTML, MATHML, MOST_NODES, SVG, TOO_MANY, Element, Tree, parse_html, read_tree

_NAMESPACES: Final = {
    turbohtml.Namespace.HTML: HTML,
    turbohtml.Namespace.SVG: SVG,
    turbohtml.Namespace.MATHML: MATHML,
}


class Aside(Element):
    """A comment or another node that is not an element.

    markup  that it is written as
    """

    __slots__ = ("markup",)

    def __init__(self, markup: str, parent: Element | None) -> None:
        """Make a node below a parent."""
        super().__init__("#aside", "", {}, parent)
        self.markup = markup


class Template(Element):
    """A template element; its content is not part of the page, and not among its children.

    content  a fragment without a parent
    """

    __slots__ = ("content",)

    def __init__(self, tag: str, namespace: str, attributes: dict[str, str], parent: Element | None) -> None:
        """Make an empty template."""
        super().__init__(tag, namespace, attributes, parent)
        self.content = Element("#content", "", {}, None)


def read_markup(body: bytes, content_type: str | None, *, nosniff: bool = False) -> Tree:
    """Parse a page whole, as `read_tree` does, and keep the comments and the templates' content of HTML.

    Deviation: both are left out of XHTML, where they are not visible.
    Raises TooComplex for a page that is too complex to parse.
    """
    kind, problems = find_kind(body, content_type, nosniff=nosniff)
    if kind is not Kind.HTML:
        return read_tree(body, content_type, nosniff=nosniff)
    encoding = find_encoding(body, content_type)
    return Tree(kind, encoding, _read_html(decode(body, encoding)), problems)


def _read_html(text: str) -> Element | None:
    document = parse_html(text)
    root = Element("#document", "", {}, None)
    # The open elements: a fragment represents the content of the template above it.
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


_VOID: Final = frozenset(
    {
        *("area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen"),
        *("link", "meta", "param", "source", "track", "wbr"),
    }
)
# Whose text is written as it is. Scripting is off: that of noscript is text like any other.
_RAW: Final = frozenset({"iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp"})
# HTML drops a line feed right after their start tags.
_DROPS_FEED: Final = frozenset({"listing", "pre", "textarea"})
_TEXT: Final = str.maketrans({"&": "&amp;", "\xa0": "&nbsp;", "<": "&lt;", ">": "&gt;"})
_VALUE: Final = str.maketrans({"&": "&amp;", "\xa0": "&nbsp;", '"': "&quot;"})

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_XML: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_XML_TEXT: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


def is_xml(text: str) -> bool:
    """Return whether XML 1.0 can hold all characters of the text (production 2)."""
    return _NO_XML.search(text) is None


def xml_text(text: str) -> str:
    """Write text for a place between tags of XML; characters that it cannot hold become U+FFFD."""
    return _NO_XML.sub("\ufffd", text).translate(_XML_TEXT)


def xml_value(text: str) -> str:
    """Write text for a quoted attribute of XML; characters that it cannot hold become U+FFFD."""
    return _NO_XML.sub("\ufffd", text).translate(_XML)


def write_html(
    nodes: Iterable[Element | str], without: Collection[Element] = (), *, letters: int | None = None
) -> str | None:
    """Write nodes as HTML, one after the other, scripting off.

    without  elements that are left out, with all that they hold
    letters  how many the result may have; None if that is longer, or for any number
    Source   HTML, serialising HTML fragments, as it was when text 003 was written: `<` and `>` stay as they are in
             values, and a line feed that begins a pre, textarea or listing element is doubled, so that it stays one.
    """
    found: list[str] = []
    size = 0
    open_: list[tuple[Iterator[Element | str], str, bool]] = []
    ahead, end, is_raw = iter(nodes), "", False
    while True:
        for node in ahead:
            if isinstance(node, str):
                found.append(node if is_raw else node.translate(_TEXT))
            elif isinstance(node, Aside):
                found.append(node.markup)
            elif node in without:
                continue
            else:
                found.append(_html_tag(node, without))
                is_html = node.namespace == HTML
                if not (is_html and node.tag in _VOID):
                    open_.append((ahead, end, is_raw))
                    inside = node.content.children if isinstance(node, Template) else node.children
                    ahead, end, is_raw = iter(inside), f"</{node.tag}>", is_html and node.tag in _RAW
                    size += len(found[-1]) + len(end)
                    break
            size += len(found[-1])
            if letters is not None and size > letters:
                return None
        else:
            found.append(end)
            if not open_:
                return "".join(found)
            ahead, end, is_raw = open_.pop()


def _html_tag(element: Element, without: Collection[Element]) -> str:
    attributes = element.attributes
    values = [f' {name}="{value.translate(_VALUE)}"' for name, value in attributes.items()] if attributes else ()
    return f"<{element.tag}{''.join(values)}>{_first_feed(element, without)}"


def _first_feed(element: Element, without: Collection[Element]) -> str:
    if element.tag not in _DROPS_FEED or element.namespace != HTML:
        return ""
    first = next((node for node in element.children if node not in without), "")
    return "\n" if isinstance(first, str) and first.startswith("\n") else ""


def write_xml(
    nodes: Iterable[Element | str],
    without: Collection[Element] = (),
    *,
    namespace: str = HTML,
    letters: int | None = None,
) -> str | None:
    """Write nodes as XML, one after the other, for a place below an element whose default namespace is known.

    without    elements that are left out, with all that they hold
    namespace  that default namespace
    letters    how many the result may have; None if that is longer, or for any number
    Deviation: prefixes are not the page's own, so prefixed names within values are not declared.
    """
    found: list[str] = []
    size = 0
    open_: list[tuple[Iterator[Element | str], str, str]] = []
    ahead, end, default = iter(nodes), "", namespace
    while True:
        for node in ahead:
            if isinstance(node, str):
                found.append(xml_text(node))
            elif node in without:
                continue
            else:
                found.append(_xml_tag(node, default))
                if node.children:
                    open_.append((ahead, end, default))
                    ahead, end, default = iter(node.children), f"</{node.tag}>", node.namespace
                    size += len(found[-1]) + len(end)
                    break
            size += len(found[-1])
            if letters is not None and size > letters:
                return None
        else:
            found.append(end)
            if not open_:
                return "".join(found)
            ahead, end, default = open_.pop()


def _xml_tag(element: Element, default: str) -> str:
    parts = [f"<{element.tag}"]
    if element.namespace != default:
        parts.append(f' xmlns="{xml_value(element.namespace)}"')
    prefixes: dict[str, str] = {}
    for name, value in element.attributes.items():
        space, brace, local = name.rpartition("}")
        if brace:
            prefix = prefixes.get(space)
            if prefix is None:
                prefix = prefixes[space] = f"n{len(prefixes) + 1}"
                parts.append(f' xmlns:{prefix}="{xml_value(space[1:])}"')
            local = f"{prefix}:{local}"
        parts.append(f' {local}="{xml_value(value)}"')
    parts.append(">" if element.children else "/>")
    return "".join(parts)
