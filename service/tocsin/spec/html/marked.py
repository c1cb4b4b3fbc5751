"""The elements of a page that carry microdata, without a tree of the rest: what costs most is left to the parser.

HTML is read on the parser's own nodes; XHTML, which is rare, over `tree`, so that namespaces and `xml:base` count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final, Protocol, TypeVar

import turbohtml

from tocsin.spec.html.complexity import refuse_too_complex
from tocsin.spec.html.decoding import NOT_ASCII, decode
from tocsin.spec.html.document import empty_templates
from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.page import Kind, find_encoding, find_kind
from tocsin.spec.html.search import count
from tocsin.spec.html.tree import HTML, Element, read_pragma_language, read_tree

# The marks of a page are its elements that carry microdata: nodes of a parser or of a tree.


# Elements within each other, the innermost one included; almost all real pages have fewer.
SHALLOW: Final = 64

# Marks, for which it takes longer to see whether their page is shallow.
FEW: Final = 500

_TOO_DEEP: Final = ">".join(["*"] * (SHALLOW + 1))
_ITEM: Final = "[itemscope]"


class Lineage(Protocol):
    """The ancestors of each mark of a page; marks are named by their places in tree order."""

    @property
    def is_shallow(self) -> bool:
        """Return whether the page is known to be at most SHALLOW elements deep."""

    def above(self) -> Sequence[int]:
        """Return, for each mark, the place of the nearest mark above it; -1 for none."""

    def owners(self) -> Iterator[tuple[bool, int]]:
        """Return, for each mark, whether it is an item, and the place of the nearest item above it; -1 for none."""


class AnyLineage:
    """Of any page: each element above the marks is looked at once."""

    is_shallow = False

    def __init__(self, nodes: Sequence[Any], items: Collection[int]) -> None:
        """Begin.

        nodes  the marks, in tree order
        items  the places of those that are items
        """
        self._items = items
        self._above = _find_above(nodes)

    def above(self) -> Sequence[int]:
        """See `Lineage`."""
        return self._above

    def owners(self) -> Iterator[tuple[bool, int]]:
        """See `Lineage`."""
        # Of each place the nearest item at or above it; behind the last one that of no place, which -1 means.
        inner = [-1] * (len(self._above) + 1)
        for place, outer in enumerate(self._above):
            owner = inner[outer]
            is_item = place in self._items
            inner[place] = place if is_item else owner
            yield is_item, owner


class ShallowLineage:
    """For a shallow page where each itemscope makes an item: the parser looks at all ancestors of a mark."""

    is_shallow = True

    def __init__(self, nodes: Sequence[turbohtml.Element]) -> None:
        """Begin with the marks, in tree order."""
        self._nodes = nodes
        self._above: Sequence[int] | None = None

    def above(self) -> Sequence[int]:
        """See `Lineage`."""
        if self._above is None:
            self._above = _find_above(self._nodes)
        return self._above

    def owners(self) -> Iterator[tuple[bool, int]]:
        """See `Lineage`."""
        places: dict[turbohtml.Node | None, int] = {}
        for place, node in enumerate(self._nodes):
            nearest = node.closest(_ITEM)
            is_item = nearest is node  # the parser gives an element as the same object, as long as one holds it
            if is_item:
                places[node] = place
                nearest = None if node.parent is None else node.parent.closest(_ITEM)
            yield is_item, -1 if nearest is None else places[nearest]


class NoLineage:
    """Of a page that is not read."""

    is_shallow = True

    def above(self) -> Sequence[int]:
        """See `Lineage`."""
        return ()

    def owners(self) -> Iterator[tuple[bool, int]]:
        """See `Lineage`."""
        return repeat((False, -1), 0)


def find_lineage(document: turbohtml.Document, nodes: Sequence[turbohtml.Element], foreign: Collection[int]) -> Lineage:
    """Find the ancestors of the marks of a parsed page.

    foreign  the places of those that are no elements of HTML
    """
    if len(nodes) > FEW and not foreign and document.select_one(_TOO_DEEP) is None:
        return ShallowLineage(nodes)
    places = {node: place for place, node in enumerate(nodes)}
    items = {places[node] for node in document.select(_ITEM) if node in places}
    return AnyLineage(nodes, items.difference(foreign))


def _find_above(nodes: Sequence[Any]) -> list[int]:
    """Return, for each node, the place of the nearest other one above it, or -1."""
    places: dict[Any, int] = {None: -1}
    found: list[int] = []
    for place, node in enumerate(nodes):
        parent = node.parent
        above = places.get(parent)
        if above is None:
            path = []
            while parent not in places:
                path.append(parent)
                parent = parent.parent
            above = places[parent]
            for each in path:
                places[each] = above
        found.append(above)
        places[node] = place
    return found


# Of a page; those of 10,000 items with four properties each are a quarter of it.
MOST_MARKS: Final = 200_000

_MARKED: Final = "[itemscope],[itemprop],[lang]"
_OF_XML: Final = r"[xml\:lang]"
_FOREIGN: Final = ("svg", "math")
_NO_LINEAGE: Final = NoLineage()


class _Attributed(Protocol):
    def get(self, name: str) -> str | None: ...


AnyElement = TypeVar("AnyElement", bound=_Attributed)


class Mark(Protocol):
    """An element, as far as a reader of microdata asks."""

    @property
    def tag(self) -> str:
        """Its local name."""

    @property
    def text(self) -> str:
        """All text below it, as written."""

    def attr(self, name: str) -> str | None:
        """Return an attribute's value as written, "" if it has none; None without the attribute."""


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """A page, as far as microdata is concerned; the content of templates is not part of it.

    kind       how it was read; of another kind than HTML and XHTML nothing is
    encoding   its name, in lower case; None for another kind
    title      the text of its first title element, as written; None if there is none
    bases      the base elements with their ancestors, for `Bases`
    marks      in tree order: all elements with an itemscope or an itemprop, all that itemrefs lead to, and some others
    lineage    the ancestors of the marks; the elements of HTML with an itemscope are items
    languages  of each mark: the nearest `lang`, else what a pragma sets; None where neither or an empty one says it
    refers     whether any of them has an itemref
    foreign    places of marks that are no elements of HTML: no microdata
    elements   of each mark of XHTML its element in the tree, for its xml:base; empty for HTML, which has none
    is_cut     there are more marks than MOST_MARKS, which are left out
    problems   in words for the page's reader
    """

    kind: Kind
    encoding: str | None
    title: str | None = None
    bases: tuple[Element, ...] = ()
    marks: Sequence[Mark] = ()
    lineage: Lineage = _NO_LINEAGE
    languages: Sequence[str | None] = ()
    refers: bool = False
    foreign: frozenset[int] = frozenset()
    elements: Sequence[Element] = ()
    is_cut: bool = False
    problems: tuple[str, ...] = ()


def read_marked(body: bytes, content_type: str | None, *, nosniff: bool = False) -> MarkedPage:
    """Read the elements of a page that carry microdata, scripting off; any bytes are accepted.

    content_type  the value of the first HTTP header, None if there was none
    nosniff       the server forbids to guess, see `is_nosniff`
    Raises TooComplex for a page that is too complex to parse.
    """
    kind, problems = find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.OTHER:
        return MarkedPage(kind, None, problems=problems)
    if kind is Kind.XHTML:
        return _read_xhtml(body, content_type, nosniff=nosniff)
    encoding = find_encoding(body, content_type)
    return mark_html(_parse(body, encoding), encoding, problems)


def mark_html(document: turbohtml.Document, encoding: str, problems: tuple[str, ...] = ()) -> MarkedPage:
    """Find the marks of a parsed page; they are the parser's own nodes. Its templates are emptied."""
    empty_templates(document)
    has_foreign = any(document.find(tag) is not None for tag in _FOREIGN)
    referring = document.select("[itemref]")
    found = _find_marks(document, f"{_MARKED},{_OF_XML}" if has_foreign else _MARKED, referring)
    nodes = found[:MOST_MARKS]
    foreign = frozenset(place for place, node in enumerate(nodes) if not _is_html(node)) if has_foreign else frozenset()
    lineage = find_lineage(document, nodes, foreign)
    return MarkedPage(
        kind=Kind.HTML,
        encoding=encoding,
        title=_title_of(document),
        bases=_bases_of(document),
        marks=nodes,
        lineage=lineage,
        languages=_find_languages(document, nodes, lineage, foreign),
        refers=bool(referring),
        foreign=foreign,
        is_cut=len(found) > len(nodes),
        problems=problems,
    )


def _parse(body: bytes, encoding: str) -> turbohtml.Document:
    text = decode(body, encoding)
    # In most encodings, the bytes of other letters never look like ASCII, so the undecoded bytes can be searched.
    markup = text.encode("utf-8", "replace") if encoding in NOT_ASCII else body
    refuse_too_complex(markup, count(markup, b"<"))
    return turbohtml.parse(text, positions=False)


def _find_marks(
    document: turbohtml.Document, selector: str, referring: Sequence[turbohtml.Element]
) -> list[turbohtml.Element]:
    """Find what a selector marks, and the first element of each ID that an itemref names."""
    if not referring:
        return document.select(selector)
    wanted = {token for node in referring for token in split_tokens(node.attr("itemref") or "")}
    unwanted = set()
    for node in document.select("[id]"):
        name = node.attr("id")
        if name in wanted:
            wanted.discard(name)
        elif not node.matches(selector):
            unwanted.add(node)
    found = document.select(f"{selector},[id]")
    return [node for node in found if node not in unwanted] if unwanted else found


def _find_languages(
    document: turbohtml.Document, nodes: Sequence[turbohtml.Element], lineage: Lineage, foreign: frozenset[int]
) -> list[str | None]:
    """Return the language of each mark: its own, else that of the nearest mark above it, else the page's default."""
    default = read_pragma_language(
        (each.attr("http-equiv"), each.attr("content")) for each in document.select("meta[http-equiv]")
    )
    saying = document.select("[lang]")
    if not foreign and (not saying or saying == [document.root]):  # most pages: one for all
        return [(saying[0].attr("lang") or None) if saying else default] * len(nodes)
    found: list[str | None] = []
    for place, (node, outer) in enumerate(zip(nodes, lineage.above(), strict=True)):
        said = node.attr("xml:lang" if place in foreign else "lang")
        if said is not None:
            found.append(said)
        else:
            found.append(default if outer < 0 else found[outer])
    return [each or None for each in found]


def _is_html(node: turbohtml.Element) -> bool:
    return node.namespace is turbohtml.Namespace.HTML


def _title_of(document: turbohtml.Document) -> str | None:
    title = next(filter(_is_html, document.find_all("title")), None)
    return None if title is None else title.text


def _bases_of(document: turbohtml.Document) -> tuple[Element, ...]:
    """Return the base elements of the head that may count, each as an element in one."""
    for node in document.find_all("base"):
        href, parent = node.attr("href"), node.parent
        if href is not None and isinstance(parent, turbohtml.Element) and parent.tag == "head" and _is_html(node):
            return (Element("base", HTML, {"href": href}, Element("head", HTML, {}, None)),)
    return ()


class _InTree:
    """An element of a tree as a mark."""

    __slots__ = ("_element", "attr", "tag")

    def __init__(self, element: Element) -> None:
        self._element = element
        self.tag = element.tag
        self.attr = element.get

    @property
    def text(self) -> str:
        return self._element.text()


def choose_marks(elements: Sequence[AnyElement], is_html: Callable[[AnyElement], bool]) -> list[AnyElement]:
    """Choose the marks among all elements of a page, both in tree order."""
    wanted: set[str] = set()
    for element in elements:
        if element.get("itemscope") is not None and is_html(element):
            wanted.update(split_tokens(element.get("itemref") or ""))
    found = []
    for element in elements:
        name = element.get("id")
        is_target = name in wanted
        if name is not None and is_target:
            wanted.discard(name)
        is_marked = element.get("itemscope") is not None or element.get("itemprop") is not None
        if is_target or (is_marked and is_html(element)):
            found.append(element)
    return found


def _read_xhtml(body: bytes, content_type: str | None, *, nosniff: bool) -> MarkedPage:
    tree = read_tree(body, content_type, nosniff=nosniff)
    chosen = choose_marks(tuple(tree.elements()), Element.is_html)
    found = chosen[:MOST_MARKS]
    items = {place for place, each in enumerate(found) if each.is_html() and each.get("itemscope") is not None}
    title = next(tree.elements("title"), None)
    default = read_pragma_language(tree.pragmas())
    return MarkedPage(
        kind=tree.kind,
        encoding=tree.encoding,
        title=None if title is None else title.text(),
        bases=tuple(tree.elements("base")),
        marks=[_InTree(element) for element in found],
        lineage=AnyLineage(found, items),
        languages=[(default if element.language is None else element.language) or None for element in found],
        refers=any(element.get("itemref") is not None for element in found),
        foreign=frozenset(place for place, element in enumerate(found) if not element.is_html()),
        elements=found,
        is_cut=len(chosen) > len(found),
        problems=tree.problems,
    )
