"""A page's text in blocks, as its markup divides it: paragraphs, headings, list items, rows of tables.

The walk goes over the parser's own nodes, once, and keeps nothing but text: it costs less than the parsing did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import turbohtml

from tocsin.spec.html.zones import Zone, name_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tocsin.spec.html.whole import Whole

HEADING: Final = 1
CELL: Final = 2
"""A row of a table, or a definition: figures are what it is about."""
ITEM: Final = 4
"""In a list, a row or a card: where it stands among the others says little."""
LINKED: Final = 8
"""Most of its letters are a link's."""
OUTSIDE: Final = 16
"""Beside the content: navigation, advertisements, whatever a zone says."""

_TEXT: Final = turbohtml.Text
_ELEMENT: Final = turbohtml.Element
_PATH: Final = 0xFFFF_FFFF_FFFF

# How an element is walked: 0 as part of the line it stands in.
_SKIP, _BREAK, _PLAIN, _LIST, _NAMED, _LANDMARK, _HEADER, _ROW, _LINK, _COUNT = range(1, 11)
_KINDS: Final[dict[str, int]] = (
    dict.fromkeys(
        "script style noscript template head iframe object embed svg canvas audio video select option optgroup "
        "datalist textarea button input output meter progress map link meta title base".split(),
        _SKIP,
    )
    | dict.fromkeys("br hr wbr".split(), _BREAK)
    | dict.fromkeys(
        "p h1 h2 h3 h4 h5 h6 pre blockquote address figcaption caption summary legend td th".split(), _PLAIN
    )
    | dict.fromkeys("li dt dd".split(), _LIST)
    | dict.fromkeys(
        "div section main ul ol dl table tbody thead tfoot figure form fieldset center details hgroup article search "
        "body html".split(),
        _NAMED,
    )
    | dict.fromkeys("nav aside footer dialog menu".split(), _LANDMARK)
    | {"header": _HEADER, "tr": _ROW, "a": _LINK, "span": _COUNT}
)
_MARKS: Final[dict[str, int]] = (
    dict.fromkeys("h1 h2 h3 h4 h5 h6".split(), HEADING)
    | dict.fromkeys("dt dd caption td th".split(), CELL | ITEM)
    | {"li": ITEM}
)
_IN_A_ROW: Final = ["table", "div", "p", "ul", "ol", "dl", "h1", "h2", "h3", "h4", "section", "article", "form"]
_NOT_SHOWN: Final = '[hidden],[role],[aria-hidden="true"],[aria-modal],[style*="display:none"],[style*="display: none"]'
_ROLES: Final = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog status timer log marquee menu menubar "
    "toolbar tooltip tablist".split()
)
_TELLING: Final = ["h1", "main"]


class Blocks(NamedTuple):
    """Blocks in tree order: text as written, what it is (see the marks above), and a number for where it stands."""

    texts: list[str]
    marks: list[int]
    paths: list[int]


def read_blocks(whole: Whole, without: Collection[Any] = (), *, landmarks: bool = True, names: bool = True) -> Blocks:
    """Read all text of a page that people see, and what is beside the content a zone at a time.

    without    elements that are left out
    landmarks  let elements and roles say what is beside the content
    names      let classes and ids say so
    """
    body = whole.document.find("body")
    return _walk([] if body is None else [body], without, landmarks=landmarks, names=names)


def read_blocks_of(nodes: Iterable[Any], without: Collection[Any] = ()) -> Blocks:
    """Read the text of some elements only, whatever zone they stand in, without that of others."""
    return _walk(nodes, without, landmarks=False, names=False)


def _walk(roots: Iterable[Any], without: Collection[Any], *, landmarks: bool, names: bool) -> Blocks:
    texts: list[str] = []
    marks: list[int] = []
    paths: list[int] = []
    for root in roots:
        if root not in without:
            _walk_one(root, without, texts, marks, paths, landmarks=landmarks, names=names)
    return Blocks(texts, marks, paths)


def _walk_one(  # noqa: C901, PLR0912, PLR0915 - one loop: a call a node would cost more than all else
    root: Any,
    without: Collection[Any],
    texts: list[str],
    marks: list[int],
    paths: list[int],
    *,
    landmarks: bool,
    names: bool,
) -> None:
    kinds = _KINDS.get
    line: list[str] = []
    stack: list[Any] = []
    mark = _MARKS.get(root.tag, 0)
    path = 0
    inside = False  # an article, a section or the main element
    linked = 0  # letters of the line that are a link's
    in_link = False
    is_block = True
    ahead = iter(root.children)

    def flush() -> None:
        nonlocal linked
        text = "".join(line)
        line.clear()
        if not text.isspace():
            texts.append(text)
            marks.append(mark | LINKED if linked * 2 > len(text) else mark)
            paths.append(path)
        linked = 0

    while True:
        for node in ahead:
            kind_of = type(node)
            if kind_of is _TEXT:
                data = node.data
                if line or not data.isspace():
                    line.append(data)
                    if in_link:
                        linked += len(data)
                continue
            if kind_of is not _ELEMENT:
                continue
            tag = node.tag
            kind = kinds(tag, 0)
            if kind == _SKIP or (without and node in without):
                continue
            if kind == _BREAK:
                if line:
                    line.append("\n")
                continue
            block = True
            below = path
            if not kind or kind == _LINK:
                block = False
            elif kind == _COUNT:
                block = False
                if names and (name := node.attr("class")) and name_zone(name)[0] is Zone.COUNT:
                    continue
            elif kind != _PLAIN:
                zone = None
                name = node.attr("class")
                if name:
                    zone, number = name_zone(name)
                    below = (path * 31 + number) & _PATH
                if landmarks:
                    if kind == _LANDMARK:
                        zone = Zone.APART
                    elif kind == _HEADER:
                        zone = None if inside else Zone.HEAD
                    elif names:
                        if zone is None and (name := node.attr("id")):
                            zone = name_zone(name)[0]
                    else:
                        zone = None
                    if zone is None and node.matches(_NOT_SHOWN):
                        zone = _zone_by_attributes(node)
                    if zone is not None and _is_apart(node, zone):
                        if line:
                            flush()
                        texts.append(node.text)
                        marks.append(OUTSIDE)
                        paths.append(below)
                        continue
            if block and line:
                flush()
            if kind == _ROW and not node.find(_IN_A_ROW):
                texts.append("\t".join([cell.text for cell in node.children if type(cell) is _ELEMENT]))
                marks.append(CELL | ITEM)
                paths.append(below)
                continue
            stack.append((ahead, mark, path, inside, in_link, is_block))
            ahead = iter(node.children)
            path = below
            is_block = block
            if block:
                mark = _MARKS.get(tag, mark & (ITEM | CELL))
                inside = inside or tag in {"article", "main", "section"}
            elif kind == _LINK:
                in_link = True
            break
        else:
            if is_block and line:
                flush()
            if not stack:
                return
            ahead, mark, path, inside, in_link, is_block = stack.pop()


def _zone_by_attributes(node: Any) -> Zone | None:
    role = node.attr("role")
    if role is not None:
        role = role.strip().lower()
        if role == "banner":
            return Zone.HEAD
        if role in _ROLES:
            return Zone.APART
        if not node.matches('[hidden],[aria-hidden="true"],[aria-modal],[style*="display"]'):
            return None
    return None if node.attr("hidden") == "until-found" else Zone.APART


def _is_apart(node: Any, zone: Zone) -> bool:
    """Say whether an element is really beside the content: what holds the page's heading never is."""
    if node.find(_TELLING) is not None:
        return False
    if zone is Zone.LINKS or zone is Zone.HEAD:
        length = len(node.text)
        return zone is Zone.HEAD or 2 * sum(len(link.text) for link in node.find_all("a")) > length
    return zone is Zone.APART
