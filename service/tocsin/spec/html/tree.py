"""A page's whole tree, the same for HTML and XHTML.

The content of a template is not the page's and is left out. Nothing here recurses: a page's depth costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import turbohtml

from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import refuse_too_complex
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.document import empty_templates
from tocsin.spec.html.microsyntax import SPACE, fold_space, lower_ascii, split_tokens
from tocsin.spec.html.page import Kind, find_encoding, find_kind, find_xml_encoding
from tocsin.spec.html.xhtml import parse_xml


def read_pragma_language(metas: Iterable[tuple[str | None, str | None]]) -> str | None:
    """Return the language that a page's pragmas set; None if they set none.

    metas  the http-equiv and the content of each meta element, in tree order
    A list of several languages tells none; of several pragmas that tell one the last counts.
    Source  text 001, language (LM-26); HTML, the content-language pragma
    """
    found = None
    for http_equiv, content in metas:
        if content and http_equiv is not None and lower_ascii(http_equiv.strip(SPACE)) == "content-language":
            languages = [] if "," in content else split_tokens(content)
            found = languages[0] if languages else found
    return found


HTML: Final = "http://www.w3.org/1999/xhtml"
SVG: Final = "http://www.w3.org/2000/svg"
MATHML: Final = "http://www.w3.org/1998/Math/MathML"

_XML: Final = "{http://www.w3.org/XML/1998/namespace}"
_NAMESPACES: Final = {
    turbohtml.Namespace.HTML: HTML,
    turbohtml.Namespace.SVG: SVG,
    turbohtml.Namespace.MATHML: MATHML,
}
_NO_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType({})
# An element costs about 300 bytes; a page of 10 MiB that is meant to be read has a tenth of these.
MOST_NODES: Final = 1_000_000
TOO_MANY: Final = f"more than {MOST_NODES} elements and texts; split the page"


class Element:
    """An element of a page.

    tag         its local name; in lower case where the page is HTML, but for some of SVG
    namespace   HTML, SVG, MATHML or another URL; "" for none
    attributes  by name as the parser gives it, `xml:` before those of XML's own namespace, values as written
    parent      None for the root
    children    elements and text in tree order
    language    the nearest `lang` or `xml:lang`; "" if it says "unknown", None if there is none
    based       itself or the nearest element above it with an `xml:base`; None if there is none
    """

    __slots__ = ("attributes", "based", "children", "language", "namespace", "parent", "tag")

    def __init__(
        self, tag: str, namespace: str, attributes: Mapping[str, str], parent: Element | None, *, is_xml: bool = False
    ) -> None:
        """Make an element that refers to its parent, but is not among its children yet."""
        self.tag = tag
        self.namespace = namespace
        self.attributes = attributes
        self.parent = parent
        self.children: list[Element | str] = []
        language: str | None = attributes.get("xml:lang") if is_xml or namespace != HTML else None
        if language is None and namespace == HTML:
            language = attributes.get("lang")
        if language is None and parent is not None:
            language = parent.language
        self.language: str | None = language
        self.based: Element | None = self if is_xml and "xml:base" in attributes else parent and parent.based

    def __repr__(self) -> str:
        """Show the start tag's name."""
        return f"<{self.tag}>"

    def get(self, name: str) -> str | None:
        """Return an attribute's value as written, "" if it has none; None without the attribute."""
        return self.attributes.get(name)

    def is_html(self, *tags: str) -> bool:
        """Return whether this is an element of HTML, and of one of these names if there are any."""
        return self.namespace == HTML and (not tags or self.tag in tags)

    def above(self) -> Iterator[Element]:
        """Iterate from the parent up to the root."""
        element = self.parent
        while element is not None:
            yield element
            element = element.parent

    def below(self) -> Iterator[Element | str]:
        """Iterate over all nodes below this element, in tree order."""
        ahead = self.children[::-1]
        while ahead:
            node = ahead.pop()
            yield node
            if isinstance(node, Element):
                ahead.extend(reversed(node.children))

    def elements(self, *tags: str) -> Iterator[Element]:
        """Iterate over the elements below this one, in tree order; only HTML's of these names, if any are given."""
        for node in self.below():
            if isinstance(node, Element) and (not tags or node.is_html(*tags)):
                yield node

    def text(self) -> str:
        """Join all text below this element, as written."""
        return "".join(node for node in self.below() if isinstance(node, str))

    def label(self, *, letters: int = 300, nodes: int = 2000) -> str:
        """Join the text below this element, white space folded; cut where it goes on too long to be a label."""
        found: list[str] = []
        length = 0
        for count, node in enumerate(self.below()):
            if isinstance(node, str):
                found.append(node[: 4 * letters])
                length += len(found[-1])
            if count >= nodes or length >= 4 * letters:
                break
        label = fold_space("".join(found))
        return label if len(label) <= letters else label[: letters - 1].rstrip(" ") + "…"


@dataclass(frozen=True, slots=True)
class Tree:
    """A page, parsed whole.

    kind      how it was read; of another kind than HTML and XHTML nothing is
    encoding  the name of its encoding, in lower case; None for another kind
    root      None if it has no element
    problems  in words for the page's reader
    """

    kind: Kind
    encoding: str | None
    root: Element | None
    problems: tuple[str, ...] = ()

    def elements(self, *tags: str) -> Iterator[Element]:
        """Iterate over all elements in tree order (CI-15); only HTML's of these names, if any are given."""
        if self.root is None:
            return
        if not tags or self.root.is_html(*tags):
            yield self.root
        yield from self.root.elements(*tags)

    def pragmas(self) -> Iterator[tuple[str | None, str | None]]:
        """Return the http-equiv and the content of each meta element, None where it has none."""
        return ((each.get("http-equiv"), each.get("content")) for each in self.elements("meta"))


def read_tree(body: bytes, content_type: str | None, *, nosniff: bool = False) -> Tree:
    """Parse a page whole by its kind and encoding, scripting off; any bytes are accepted.

    content_type  the value of the first HTTP header, None if there was none
    nosniff       the server forbids to guess, see `is_nosniff`
    Raises TooComplex for a page that is too complex to parse.
    """
    kind, problems = find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.OTHER:
        return Tree(kind, None, None, problems)
    encoding = _find_encoding(kind, body, content_type)
    root: Element | None = None
    found: list[str] = []
    for parent, node in _nodes(body, kind, encoding, found.extend):
        if parent is not None:
            parent.children.append(node)
        elif root is None and isinstance(node, Element):
            root = node
    return Tree(kind, encoding, root, problems + tuple(found))


def find_elements(
    body: bytes,
    content_type: str | None,
    tags: Collection[str],
    having: Callable[[str, Callable[[str], str | None]], bool],
    *,
    nosniff: bool = False,
) -> Iterator[Element]:
    """Find elements of HTML in tree order; they know their ancestors, and have no children.

    Costs a fraction of a tree: only the elements found and their ancestors are made.
    tags    their names
    having  is given the name and a function from attributes to their values, and says whether the element is meant
    Raises TooComplex for a page that is too complex to parse.
    """
    kind, _ = find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.HTML:
        lifted: dict[turbohtml.Element, Element] = {}
        document = parse_html(decode(body, find_encoding(body, content_type)))
        empty_templates(document)
        for node in document.iter_elements(tags):
            if node.namespace is turbohtml.Namespace.HTML and having(node.tag, node.attr):
                yield _lift(node, lifted)
    elif kind is Kind.XHTML:
        for _, each in _nodes(body, kind, find_xml_encoding(body, content_type), lambda _: None):
            if isinstance(each, Element) and each.is_html(*tags) and having(each.tag, each.get):
                yield each


def _lift(node: turbohtml.Element, lifted: dict[turbohtml.Element, Element]) -> Element:
    """Make an Element of a node and of its ancestors.

    lifted  the elements made so far, by their nodes
    """
    climbed = []
    above: turbohtml.Node | None = node
    while isinstance(above, turbohtml.Element) and above not in lifted:
        climbed.append(above)
        above = above.parent
    element = lifted[above] if isinstance(above, turbohtml.Element) else None
    for each in reversed(climbed):
        element = lifted[each] = _from_turbohtml(each, element)
    return lifted[node]


def _find_encoding(kind: Kind, body: bytes, content_type: str | None) -> str:
    return (find_xml_encoding if kind is Kind.XHTML else find_encoding)(body, content_type)


def _nodes(
    body: bytes, kind: Kind, encoding: str, tell: Callable[[tuple[str, ...]], None]
) -> Iterator[tuple[Element | None, Element | str]]:
    """Iterate over elements and texts in tree order, each with its parent.

    tell  takes the problems of the page
    """
    pairs = _html_nodes(decode(body, encoding)) if kind is Kind.HTML else _xml_nodes(body, encoding, tell)
    for count, pair in enumerate(pairs):
        if count > MOST_NODES:
            raise TooComplex(TOO_MANY)
        yield pair


def parse_html(text: str) -> turbohtml.Document:
    """Parse a page of HTML whole, scripting off.

    Raises TooComplex for a page that is too complex to parse.
    """
    markup = text.encode()
    tags = markup.count(b"<")
    if tags > 2 * MOST_NODES:  # before they cost anything
        raise TooComplex(TOO_MANY)
    refuse_too_complex(markup, tags)
    return turbohtml.parse(text, positions=False)


def _html_nodes(text: str) -> Iterator[tuple[Element | None, Element | str]]:
    document = parse_html(text)
    empty_templates(document)
    path: list[tuple[turbohtml.Node, Element | None]] = [(document, None)]  # the open elements
    for node in document.descendants:
        while path[-1][0] is not node.parent:
            path.pop()
        parent = path[-1][1]
        if isinstance(node, turbohtml.Element):
            element = _from_turbohtml(node, parent)
            path.append((node, element))
            yield parent, element
        elif isinstance(node, turbohtml.Text) and parent is not None:
            yield parent, node.data


def _from_turbohtml(node: turbohtml.Element, parent: Element | None) -> Element:
    names = node.attrs
    # By name, since the mapping splits the values that are lists of tokens.
    attributes = {name: node.attr(name) or "" for name in names} if names else _NO_ATTRIBUTES
    return Element(node.tag, _NAMESPACES[node.namespace], attributes, parent)


def _xml_nodes(
    body: bytes, encoding: str, tell: Callable[[tuple[str, ...]], None]
) -> Iterator[tuple[Element | None, Element | str]]:
    events, stop = parse_xml(body, encoding)
    tell(() if stop is None else (str(stop),))
    parents: list[Element | None] = [None]
    hidden = 0  # how many templates are open
    for event, node in events:
        if event == "start":
            element = _from_lxml(node, parents[-1])
            if not hidden:
                yield parents[-1], element
            parents.append(element)
            hidden += element.is_html("template")
            texts = _texts(node.text, node[0] if len(node) else None)
        else:
            left = parents.pop()
            hidden -= left is not None and left.is_html("template")
            texts = _texts(node.tail, node.getnext())
        if parents[-1] is not None and not hidden:
            yield from ((parents[-1], text) for text in texts)


def _texts(text: str | None, following: Any) -> Iterator[str]:
    """Gather the text up to the next element; entities, which stay unknown, are empty text (CI-10)."""
    if text:
        yield text
    while following is not None and not isinstance(following.tag, str):
        if following.tail:
            yield following.tail
        following = following.getnext()


def _from_lxml(node: Any, parent: Element | None) -> Element:
    namespace, _, tag = node.tag.rpartition("}")
    attributes = {name.replace(_XML, "xml:"): value for name, value in node.attrib.items()}
    return Element(tag, namespace[1:], attributes or _NO_ATTRIBUTES, parent, is_xml=True)
