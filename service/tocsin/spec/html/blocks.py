"""A page's text in blocks, as its markup divides it: paragraphs, headings, list items, rows of tables.

The walk goes over the parser's own nodes, once, and what stands beside the content it takes a zone at a time: so it
costs less than the parsing did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import turbohtml

from tocsin.spec.html.zones import (
    ADVERTISEMENTS,
    ASKING,
    HEADINGS,
    KNOWN_NAMES,
    TELLING,
    Zone,
    name_zone,
    to_heading,
    zone_by_attributes,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

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
_LASTING: Final = CELL | ITEM
_PATH: Final = 0xFFFF_FFFF_FFFF

# How an element is walked: up to _LINK as part of the line it stands in; from _COUNT on its class is looked at, but for
# _PLAIN.
_INLINE, _COUNT, _LINK, _PLAIN, _NAMED, _ITEM, _LANDMARK, _HEADER, _ROW, _BREAK, _SKIP, _INPUT, _BUTTON = range(13)
_KINDS: Final[dict[str, int]] = {
    tag: kind
    for kind, tags in (
        (
            _SKIP,
            """script style noscript template head iframe object embed svg canvas audio video select option optgroup
            datalist textarea output meter progress map link meta title base selectedcontent""",
        ),
        (_BREAK, "br hr wbr"),
        (_PLAIN, "h1 h2 h3 h4 h5 h6 pre blockquote address figcaption caption summary legend"),
        (_ITEM, "p li dt dd td th"),
        (
            _NAMED,
            """div section main ul ol dl table tbody thead tfoot figure form fieldset center details hgroup article
            search body html frameset noframes""",
        ),
        (_LANDMARK, "nav aside footer dialog menu"),
        (_HEADER, "header"),
        (_ROW, "tr"),
        (_LINK, "a"),
        (_COUNT, "span ins"),
        (_INPUT, "input"),
        (_BUTTON, "button"),
    )
    for tag in tags.split()
}
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MARKS: Final[dict[str, int]] = (
    dict.fromkeys(_HEADINGS, HEADING) | dict.fromkeys(("dt", "dd", "caption"), CELL | ITEM) | {"li": ITEM}
)
_INSIDE: Final = frozenset({"article", "main", "section"})
_LONGEST_COUNT: Final = 60
_LONGEST_QUESTION: Final = 600
_LONGEST_CELL: Final = 120
_MOST_WRAPPED: Final = 2
_LINES: Final = frozenset({"br", "wbr", "input", "img"})
_IN_DATA: Final = _LINES | {"p", "div"}
_LONG_TEXT: Final = 2000
_NEVER_LONG: Final = frozenset({"nav", "footer", "header"})
_SKIPPED: Final = frozenset({Zone.COUNT, Zone.APART, Zone.TALK})
_LONGEST_LABEL: Final = 40
_PROSE: Final = 60
_MOST_LOOKED_AT: Final = 20_000_000
"""Letters that are looked at twice, since an element that is named like a zone may hold others: then none is one."""
_SPONSORED: Final = '[rel~="sponsored"]'


class _Closing(NamedTuple):
    """What is to be decided when an element ends.

    depth    of the element
    heading  the block that says that what follows is beside the content; -1: the element holds a button, -2: it asks
             for an address
    is_ad    it says that an advertisement follows
    more     how many elements further up may be decided upon instead
    """

    depth: int
    heading: int
    is_ad: bool
    more: int


_ADDRESS: Final = -2


class Blocks(NamedTuple):
    """Blocks in tree order: text as written, what it is (see the marks above), and a number for where it stands."""

    texts: list[str]
    marks: list[int]
    paths: list[int]

    def put(self, line: list[str], mark: int, linked: int, path: int) -> None:
        """Take a line, of which so many letters are links'."""
        text = "".join(line)
        line.clear()
        self.texts.append(text)
        self.paths.append(path)
        if linked and ":" in text and to_heading(text.partition(":")[0]) in HEADINGS:
            mark = OUTSIDE
        elif 2 * linked > len(text):
            mark |= LINKED
        self.marks.append(mark)

    def head(self, closing: list[_Closing], depth: int, text: str) -> None:
        """Look at what stands above other blocks: it may say that they are beside the content."""
        if closing and closing[-1].heading == len(self.texts) and closing[-1].depth == depth:
            return  # one of a row that holds no text stands for all
        heading = to_heading(text)
        is_ad = heading in ADVERTISEMENTS
        if is_ad or heading in HEADINGS:
            closing.append(_Closing(depth, len(self.texts), is_ad, 1))

    def close(self, closing: list[_Closing], depth: int, first: int) -> None:
        """Take out of the content what turned out to be beside it, now that its element ends.

        first  its first block
        """
        end = len(self.texts)
        below = end
        while closing and closing[-1].depth >= depth:
            each = closing.pop()
            if each.heading >= 0:
                if end - each.heading <= 1 and each.more and depth:  # it stands in an element of its own
                    closing.append(_Closing(depth - 1, each.heading, each.is_ad, 0))
                    return
                is_own = depth > 0 and each.heading == first
                if is_own and (not each.is_ad or self._count(first, end) <= _LONGEST_QUESTION):
                    self.marks[first:end] = [OUTSIDE] * (end - first)
                else:
                    self._put_outside(each.heading, below)
                below = each.heading
            elif depth and self._count(first, end) <= _LONGEST_QUESTION:
                said = " ".join(self.texts[first:end]).lower()
                if each.heading == _ADDRESS or any(word in said for word in ASKING):
                    self.marks[first:end] = [OUTSIDE] * (end - first)
                elif each.more:
                    closing.append(_Closing(depth - 1, -1, each.is_ad, each.more - 1))
                    return

    def _count(self, start: int, end: int) -> int:
        return sum([len(text) for text in self.texts[start:end]])

    def _put_outside(self, start: int, end: int) -> None:
        """Put a heading and what stands below it outside, up to another heading, or prose without links."""
        for index in range(start, end):
            mark = self.marks[index]
            if index > start and not mark & (LINKED | OUTSIDE):
                is_prose = not mark & ITEM and len(self.texts[index]) > _PROSE
                if is_prose or mark & HEADING:
                    return
            self.marks[index] = OUTSIDE


def read_blocks(whole: Whole, without: Collection[Any] = (), *, landmarks: bool = True, names: bool = True) -> Blocks:
    """Read all text of a page that people see, and what is beside the content a zone at a time.

    without    elements that are left out
    landmarks  let elements and roles say what is beside the content
    names      let classes and ids say so
    """
    blocks = Blocks([], [], [])
    body = whole.document.find("body")
    if body is None or body in without:
        return blocks
    holding = _holding(whole)
    are_cards = len(whole.document.find_all("article")) > 1
    roots = _find_main(whole, without) if landmarks and names else []
    for root in roots or [body]:
        _walk(root, without, holding, blocks, landmarks=landmarks, names=names, are_cards=are_cards)
    return blocks


def _find_main(whole: Whole, without: Collection[Any]) -> list[Any]:
    """Find the main element, and headings of the page that stand outside of it; nothing where it is not the one.

    None of them stands within another: what holds another one holds its text, too.
    """
    mains = [node for node in whole.document.find_all("main") if node not in without]
    if len(mains) != 1:
        return []
    return [node for node in _outermost([*whole.document.find_all("h1"), *mains], without) if node not in without]


def read_blocks_of(nodes: Iterable[Any], without: Collection[Any] = ()) -> Blocks:
    """Read the text of some elements only, whatever zone they stand in, without that of others."""
    blocks = Blocks([], [], [])
    for node in _outermost(list(nodes), without):
        if node not in without:
            _walk(node, without, (), blocks, landmarks=False, names=False, are_cards=False)
    return blocks


def _outermost(nodes: list[Any], without: Collection[Any]) -> Iterator[Any]:
    """Leave out the elements that are within others of them, or within what is left out; each is climbed once."""
    known: dict[Any, bool] = dict.fromkeys(without, True) | dict.fromkeys(nodes, True)
    for node in nodes:
        path: list[Any] = []
        above = node.parent
        while above is not None and above not in known:
            path.append(above)
            above = above.parent
        is_inside = above is not None and known[above]
        known.update(dict.fromkeys(path, is_inside))
        if not is_inside:
            yield node


def _holding(whole: Whole) -> Collection[Any]:
    """Find what holds the page's headings, or its main element: it is never beside the content."""
    found: set[Any] = set()
    for tag in ("main", "h1"):
        for node in whole.document.find_all(tag):
            above: Any = node
            while above is not None and above not in found:
                found.add(above)
                above = above.parent
    return found


def _walk(  # noqa: C901, PLR0912, PLR0915 - one loop: a call a node would cost more than all else
    root: Any,
    without: Collection[Any],
    holding: Collection[Any],
    blocks: Blocks,
    *,
    landmarks: bool,
    names: bool,
    are_cards: bool,
) -> None:
    texts, marks, paths = blocks
    put = blocks.put
    kinds = _KINDS.get
    known = KNOWN_NAMES.get
    line: list[str] = []
    stack: list[Any] = []
    mark = _MARKS.get(root.tag, 0)
    path = linked = start = spent = 0
    text = ""
    closing: list[_Closing] = []
    inside = in_link = False
    is_block = True
    ahead = iter(root.children)
    while True:
        for node in ahead:
            what = type(node)
            if what is _TEXT:
                data = node.data
                if line or not data.isspace():
                    line.append(data)
                    if in_link:
                        linked += len(data)
                continue
            if what is not _ELEMENT:
                continue
            tag = node.tag
            kind = kinds(tag, 0)
            if kind >= _BREAK:
                if kind == _BREAK:
                    if line:
                        line.append("\n")
                elif kind >= _INPUT and names:
                    _ask(node, kind, closing, len(stack))
                continue
            if not kind and "-" in tag:
                kind = _NAMED
            if without and node in without:
                continue
            below = path
            if kind and kind != _PLAIN:
                zone = None
                if name := node.attr("class"):
                    zone, number = known(name) or name_zone(name)
                    below = (path * 31 + number) & _PATH
                if kind <= _LINK:
                    if (
                        names
                        and (zone in _SKIPPED or (kind == _LINK and node.matches(_SPONSORED)))
                        and node not in holding
                    ):
                        continue
                elif landmarks:
                    if kind == _LANDMARK:
                        zone = None if _is_noted(node, zone) else Zone.APART
                    elif kind == _HEADER:
                        zone = Zone.LINKS if inside else Zone.HEAD
                    elif not names or (kind == _ITEM and zone is Zone.LINKS):
                        zone = None
                    if zone is None and node.matches(TELLING):
                        zone = zone_by_attributes(node, names=names)
                    if zone is not None and node not in holding and spent < _MOST_LOOKED_AT:
                        text = node.text
                        spent += len(text)
                    else:
                        zone = None
                    if zone is not None and _is_apart(node, text, zone, tag):
                        if line:
                            put(line, mark, linked, path)
                            linked = 0
                        texts.append(text)
                        marks.append(OUTSIDE)
                        paths.append(below)
                        continue
            children = node.children
            is_single = len(children) == 1 and type(children[0]) is _TEXT
            if kind < _PLAIN:
                if is_single:
                    data = children[0].data
                    line.append(data)
                    if in_link or kind == _LINK:
                        linked += len(data)
                    continue
                stack.append((ahead, mark, path, inside, in_link, is_block, start))
                in_link = in_link or kind == _LINK
                is_block = False
            else:
                if line:
                    if names and start == len(texts) and len(line) <= 2 and len(line[0]) <= _LONGEST_LABEL:
                        blocks.head(closing, len(stack), line[0])
                    put(line, mark, linked, path)
                    linked = 0
                if names and kind == _PLAIN and tag in _HEADINGS and spent < _MOST_LOOKED_AT:
                    text = node.text
                    spent += len(text)
                    blocks.head(closing, len(stack), text)
                if is_single:
                    data = children[0].data
                    if not data.isspace():
                        if names and start == len(texts) and kind != _PLAIN and len(data) <= _LONGEST_LABEL:
                            blocks.head(closing, len(stack), data)
                        own = _MARKS.get(tag, mark & _LASTING)
                        texts.append(data)
                        marks.append(own | LINKED if in_link else own)
                        paths.append(below)
                    continue
                if kind == _ROW and _is_plain_row(children):
                    cells = [_text_of(cell) for cell in children if type(cell) is _ELEMENT]
                    texts.append("\t".join(cells))
                    marks.append(CELL | ITEM if sum([not cell.isspace() for cell in cells if cell]) > 1 else 0)
                    paths.append(below)
                    continue
                stack.append((ahead, mark, path, inside, in_link, is_block, start))
                mark = _MARKS.get(tag, mark & _LASTING)
                is_block = True
                if kind == _NAMED and tag in _INSIDE:
                    inside = True
                    if tag == "article" and are_cards:
                        mark |= ITEM
                start = len(texts)
            path = below
            ahead = iter(children)
            break
        else:
            if line and is_block:
                if names and start == len(texts) and len(line) <= 2 and len(line[0]) <= _LONGEST_LABEL:
                    blocks.head(closing, len(stack), line[0])
                put(line, mark, linked, path)
                linked = 0
            if closing and closing[-1].depth >= len(stack):
                blocks.close(closing, len(stack), start)
            if not stack:
                return
            ahead, mark, path, inside, in_link, is_block, start = stack.pop()


def _ask(node: Any, kind: int, closing: list[_Closing], depth: int) -> None:
    """Note that an element holds a button, or asks for an address: it may be a question to the reader."""
    if closing and closing[-1].depth == depth:
        return
    if kind == _INPUT:
        if node.attr("type") == "email":
            closing.append(_Closing(depth, _ADDRESS, is_ad=False, more=0))
    elif not closing:
        closing.append(_Closing(depth, -1, is_ad=False, more=2))


def _is_plain_row(children: list[Any]) -> bool:
    """Say whether a row holds data: lines only, or one or two short texts a cell however they are wrapped."""
    for cell in children:
        if type(cell) is not _ELEMENT:
            continue
        wrapped = [node.tag for node in cell.children if type(node) is _ELEMENT and _KINDS.get(node.tag, 0) >= _PLAIN]
        if not _IN_DATA.issuperset(wrapped):
            return False
        if len(cell.text) > _LONGEST_CELL and wrapped and not _LINES.issuperset(wrapped):
            return False
        if len(wrapped) > _MOST_WRAPPED and not _LINES.issuperset(wrapped):
            return False
    return True


def _is_noted(node: Any, zone: Zone | None) -> bool:
    """Say whether what is called an aside or a footer is part of the content after all."""
    if zone is Zone.NOTE or node.attr("role") == "note":
        return True
    parent = node.parent
    return node.tag == "footer" and type(parent) is _ELEMENT and parent.tag == "blockquote"


def _text_of(cell: Any) -> str:
    text: str = cell.text
    return " ".join(cell.stripped_strings) if len(cell) > 1 else text


def _is_apart(node: Any, text: str, zone: Zone, tag: str) -> bool:
    """Say whether an element is really beside the content.

    Navigation is where most of its text is links'; and what holds a long text is the content, whatever it is called,
    but for what readers write.
    """
    if zone is Zone.NOTE:
        return False
    if zone is Zone.TALK:
        return True
    length = len(text)
    if zone is Zone.COUNT:
        return len(text.strip()) <= _LONGEST_COUNT
    if zone is Zone.LINKS:
        links = "".join([link.text for link in node.find_all("a")])
        return 2 * len("".join(links.split())) > len("".join(text.split()))
    if length <= _LONG_TEXT or tag in _NEVER_LONG:
        return True
    return sum([len(part.text) for part in node.find_all("p")]) <= _LONG_TEXT
