"""A page's text in blocks, as its markup divides it: paragraphs, headings, list items, rows of tables.

The walk visits the parser's own nodes once, and takes text beside the content a zone at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import turbohtml

from tocsin.spec.html.whole import Whole
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

# Blocks as they are found, and the boxes among them: a heading or a button can put the text beside it outside.


HEADING: Final = 1
# A row of a table, or a definition: its figures are facts.
CELL: Final = 2
# In a list, a row or a card: its position among the others means little.
ITEM: Final = 4
# Most of its letters are a link's.
LINKED: Final = 8
# Beside the content: navigation, advertisements and other zones.
OUTSIDE: Final = 16

_LONGEST_QUESTION: Final = 600
_PROSE: Final = 60
# Letters of a line that is surely prose, where most of them are no link's.
_LONG_PROSE: Final = 80
# The prose of a box below the page is at most half of the prose above it; more than that is the page itself.
_FEW_OF: Final = 2


class Closing(NamedTuple):
    """A decision to make when an element ends.

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


ADDRESS: Final = -2


class Blocks(NamedTuple):
    """Blocks in tree order: the text as written, its marks (see above), and a number for its position."""

    texts: list[str]
    marks: list[int]
    paths: list[int]

    def add(self, text: str, mark: int, path: int) -> None:
        """Add a block."""
        self.texts.append(text)
        self.marks.append(mark)
        self.paths.append(path)

    def put(self, line: list[str], mark: int, linked: int, path: int) -> None:
        """Add a line as a block.

        linked  the number of its letters that are in links
        """
        text = "".join(line)
        line.clear()
        self.texts.append(text)
        self.paths.append(path)
        if linked and ":" in text and to_heading(text.partition(":")[0]) in HEADINGS:
            mark = OUTSIDE
        elif 2 * linked > len(text):
            mark |= LINKED
        self.marks.append(mark)

    def head(self, closing: list[Closing], depth: int, text: str) -> None:
        """Check whether a text above other blocks puts them beside the content."""
        if closing and closing[-1].heading == len(self.texts) and closing[-1].depth == depth:
            return  # one of a row that holds no text stands for all
        heading = to_heading(text)
        is_ad = heading in ADVERTISEMENTS
        if is_ad or heading in HEADINGS:
            closing.append(Closing(depth, len(self.texts), is_ad, 1))

    def close(self, closing: list[Closing], depth: int, first: int) -> None:
        """Mark blocks as outside that turned out to be beside the content, now that their element ends.

        first  its first block
        """
        end = len(self.texts)
        below = end
        while closing and closing[-1].depth >= depth:
            each = closing.pop()
            if each.heading >= 0:
                if end - each.heading <= 1 and each.more and depth:  # it stands in an element of its own
                    closing.append(Closing(depth - 1, each.heading, each.is_ad, 0))
                    return
                is_own = depth > 0 and each.heading == first
                if is_own and self._is_box(first, end, is_ad=each.is_ad):
                    self.marks[first:end] = [OUTSIDE] * (end - first)
                else:
                    self._put_outside(each.heading, below)
                below = each.heading
            elif depth and self._count(first, end) <= _LONGEST_QUESTION:
                said = " ".join(self.texts[first:end]).lower()
                if each.heading == ADDRESS or any(word in said for word in ASKING):
                    self.marks[first:end] = [OUTSIDE] * (end - first)
                elif each.more:
                    closing.append(Closing(depth - 1, -1, each.is_ad, each.more - 1))
                    return

    def _count(self, start: int, end: int) -> int:
        return sum([len(text) for text in self.texts[start:end]])

    def _is_box(self, first: int, end: int, *, is_ad: bool) -> bool:
        """Return whether a heading puts all of its element outside: a short one, or little prose beside that above."""
        if is_ad:
            return self._count(first, end) <= _LONGEST_QUESTION
        prose = self.count_prose(first, end)
        return prose <= _LONGEST_QUESTION or _FEW_OF * prose <= self.count_prose(0, first)

    def count_prose(self, start: int, end: int) -> int:
        """Count the letters of the lines that are prose, not a list of links or of names."""
        lines = zip(self.texts[start:end], self.marks[start:end], strict=True)
        return sum([len(text) for text, mark in lines if len(text) >= _LONG_PROSE and not mark & (LINKED | OUTSIDE)])

    def _put_outside(self, start: int, end: int) -> None:
        """Mark a heading and the blocks below it as outside, up to another heading, or prose without links."""
        for index in range(start, end):
            mark = self.marks[index]
            if index > start and not mark & (LINKED | OUTSIDE):
                is_prose = len(self.texts[index]) > (_LONG_PROSE if mark & ITEM else _PROSE)
                if is_prose or mark & HEADING:
                    return
            self.marks[index] = OUTSIDE


_TEXT: Final = turbohtml.Text
_ELEMENT: Final = turbohtml.Element
_LASTING: Final = CELL | ITEM
_PATH: Final = 0xFFFF_FFFF_FFFF

# How an element is walked: up to _LINK as part of its line; from _COUNT on by its class, but not headings and _PLAIN.
(
    _INLINE, _COUNT, _LINK, _HEAD, _PLAIN, _NAMED, _INSIDE, _ITEM, _LANDMARK, _HEADER, _ROW, _BREAK, _SKIP, _INPUT,
    _BUTTON,
) = range(15)  # fmt: skip
_KINDS: Final[dict[str, int]] = {
    tag: kind
    for kind, tags in (
        (
            _SKIP,
            """script style noscript template head iframe object embed svg canvas audio video select option optgroup
            datalist textarea output meter progress map link meta title base selectedcontent""",
        ),
        (_BREAK, "br hr wbr"),
        (_HEAD, "h1 h2 h3 h4 h5 h6"),
        (_PLAIN, "pre blockquote address figcaption caption summary legend"),
        (_ITEM, "p li dt dd td th"),
        (
            _NAMED,
            """div ul ol dl table tbody thead tfoot figure form fieldset center details hgroup search body html frameset
            noframes""",
        ),
        (_INSIDE, "article main section"),
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
_WHOLE: Final = frozenset({_HEAD, _ROW})
_UNNAMED: Final = frozenset({_INLINE, _HEAD, _PLAIN})
_MARKS: Final[dict[str, int]] = (
    dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), HEADING)
    | dict.fromkeys(("dt", "dd", "caption"), CELL | ITEM)
    | {"li": ITEM}
)
_LONGEST_COUNT: Final = 60
# Letters for a figure of a list of counts.
_FEW_LETTERS: Final = 6
_LONGEST_LABEL: Final = 40
_LONGEST_CELL: Final = 120
_MOST_WRAPPED: Final = 2
_MOST_PIECES: Final = 2
_LINES: Final = frozenset({"br", "wbr", "input", "img"})
_IN_DATA: Final = _LINES | {"p", "div"}
_LONG_TEXT: Final = 2000
_NEVER_LONG: Final = frozenset({"nav", "footer", "header"})
_SKIPPED: Final = frozenset({Zone.COUNT, Zone.APART, Zone.TALK, Zone.PLACE})
_MOST_BESIDE_MAIN: Final = 3
# Letters of a main element that is believed to be one, whatever is beside it.
_SURE_MAIN: Final = 2000
_NOT_OF_MAIN: Final = ("noscript", "nav", "header", "footer", "aside", "a")
_SPONSORED: Final = '[rel~="sponsored"]'
# Letters that are looked at twice, since an element that is named like a zone may hold others: then none is one.
_COST_OF_NODE: Final = 100
_LONG_PLACE: Final = 200
_MUCH_PROSE: Final = 3
_MOST_LOOKED_AT: Final = 20_000_000


def read_blocks(whole: Whole, without: Collection[Any] = (), *, landmarks: bool = True, names: bool = True) -> Blocks:
    """Read all visible text of a page; text beside the content a zone at a time.

    without    elements that are left out
    landmarks  elements and roles can put text beside the content
    names      classes and ids can, too
    """
    walk = _BlockWalk(without, landmarks=landmarks, names=names)
    body = whole.document.find("body")
    if body is None or body in without:
        return walk.blocks
    walk.holding = _find_holding(whole)
    walk.are_cards = len(whole.elements("article")) > 1
    main = _find_main(whole, without) if landmarks and names else []
    roots = main or [body]
    walk.go_through_all(roots)
    if main and walk.count_letters() < _SURE_MAIN and _holds_little(main[-1], body):
        roots = [body]
        walk.go_through_all(roots)
    if walk.takes_most():
        walk.taken = None
        walk.go_through_all(roots)
    return walk.blocks


def read_blocks_of(nodes: Iterable[Any], without: Collection[Any] = ()) -> Blocks:
    """Read the text of some elements only, in any zone, without that of others."""
    walk = _BlockWalk(without, landmarks=False, names=False)
    for node in _outermost(list(nodes), without):
        if node not in without:
            walk.go_through(node)
    return walk.blocks


def _find_main(whole: Whole, without: Collection[Any]) -> list[Any]:
    """Find the main element, and headings of the page outside of it; nothing where there are several main elements.

    None of them is within another, since the outer one includes the text of the inner one.
    """
    mains = [node for node in whole.elements("main") if node not in without]
    if len(mains) != 1:
        return []
    return [node for node in _outermost([*whole.elements("h1"), *mains], without) if node not in without]


def _holds_little(main: Any, body: Any) -> bool:
    """Return whether a main element has less than a third of the page's text that is no link and no navigation."""
    own = _count_letters(main)
    rest, least = _count_letters(body) - own, max((_MOST_BESIDE_MAIN - 1) * own, _LONG_PLACE)
    # One within another is subtracted twice: in doubt, the element is believed.
    for tag in _NOT_OF_MAIN:
        if rest <= least:
            return False
        rest -= sum([_count_letters(node) for node in body.find_all(tag) if node.closest("main") is None])
    return rest > least


def _count_letters(node: Any) -> int:
    text: str = node.text
    # Without splitting, which takes ten times as long.
    return len(text) - text.count(" ") - text.count("\n") - text.count("\t")


def _find_holding(whole: Whole) -> Collection[Any]:
    """Find what holds the page's headings, or its main element: it is never beside the content."""
    found: set[Any] = set()
    for tag in ("main", "h1"):
        for node in whole.elements(tag):
            above: Any = node
            while above is not None and above not in found:
                found.add(above)
                above = above.parent
    return found


def _outermost(nodes: list[Any], without: Collection[Any]) -> Iterator[Any]:
    """Leave out elements within others of them, or within excluded ones; each ancestor is visited once."""
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


class _BlockWalk:
    """A walk through a page's elements.

    holding    elements that are never beside the content
    are_cards  there is more than one article, so that each is one of a list
    closing    decisions to make when an element ends
    line       the text of the block that is being read, in pieces, and how many of its letters are
    linked     links'
    spent      letters that were looked at twice
    taken      elements that are beside the content only because a name says where they are; None: no name says so
    """

    def __init__(self, without: Collection[Any], *, landmarks: bool, names: bool) -> None:
        self.blocks = Blocks([], [], [])
        self.without, self.landmarks, self.names = without, landmarks, names
        self.holding: Collection[Any] = ()
        self.are_cards = False
        self.closing: list[Closing] = []
        self.line: list[str] = []
        self.linked = self.spent = 0
        self.taken: list[Any] | None = []

    def go_through_all(self, roots: list[Any]) -> None:
        """Read these elements, and forget what was read before."""
        self.blocks = Blocks([], [], [])
        if self.taken is not None:
            self.taken = []
        for root in roots:
            self.go_through(root)

    def count_letters(self) -> int:
        """Count the letters that are not beside the content."""
        blocks = zip(self.blocks.texts, self.blocks.marks, strict=True)
        return sum([len(text) for text, mark in blocks if not mark & OUTSIDE])

    def takes_most(self) -> bool:
        """Return whether names that say where an element is took more prose away than they left."""
        if not self.taken or self.count_letters() >= sum([len(node.text) for node in self.taken]):
            return False
        left = self.blocks.count_prose(0, len(self.blocks.texts))
        prose = 0
        for node in self.taken:
            if prose > left or self.spent >= _MOST_LOOKED_AT:
                break
            prose += self._count_prose(node)[0]
        return prose > left

    def go_through(self, root: Any) -> None:  # noqa: C901, PLR0912, PLR0915 - one loop: calls cost
        blocks, line, take, without = self.blocks, self.line, self._take_whole, self.without
        stack: list[Any] = []
        mark, path, start = _MARKS.get(root.tag, 0), 0, len(blocks.texts)
        ahead, inside, in_link, is_block = iter(root.children), False, False, True
        while True:
            for node in ahead:
                if type(node) is _TEXT:
                    data = node.data  # made anew whenever it is asked for
                    if line or not data.isspace():
                        line.append(data)
                        self.linked += len(data) if in_link else 0
                    continue
                if type(node) is not _ELEMENT:
                    continue
                tag = node.tag
                kind = _KINDS.get(tag, 0) or (_NAMED if "-" in tag else 0)
                if kind >= _BREAK or (without and node in without):
                    self._pass_by(node, kind, len(stack))
                    continue
                zone, number = None, 0
                if kind not in _UNNAMED:
                    if name := node.attr("class"):
                        zone, number = KNOWN_NAMES.get(name) or name_zone(name)
                    if kind <= _LINK:
                        if self.names and self._is_skipped(node, kind, zone):
                            continue
                    elif self.landmarks and (zone or kind >= _LANDMARK or node.matches(TELLING)):  # noqa: SIM102 - too long
                        if (text := self._find_apart(node, kind, tag, zone, inside=inside)) is not None:
                            if line:
                                self._end_line(mark, path, start, len(stack))
                            blocks.add(text, OUTSIDE, (path * 31 + number) & _PATH)
                            continue
                children = node.children
                single = children[0].data if len(children) == 1 and type(children[0]) is _TEXT else None
                if kind < _HEAD:
                    if single is not None:
                        line.append(single)
                        self.linked += len(single) if in_link or kind == _LINK else 0
                        continue
                    stack.append((ahead, mark, path, inside, in_link, is_block, start))
                    in_link, is_block = in_link or kind == _LINK, False
                else:
                    if line:
                        self._end_line(mark, path, start, len(stack))
                    own, below = _MARKS.get(tag, mark & _LASTING), (path * 31 + number) & _PATH
                    is_whole = single is not None or kind in _WHOLE
                    if is_whole and take(node, kind, single, own | in_link * LINKED, below, start, len(stack)):
                        continue
                    stack.append((ahead, mark, path, inside, in_link, is_block, start))
                    mark = own | ITEM if self.are_cards and tag == "article" else own
                    path, start, is_block, inside = below, len(blocks.texts), True, inside or kind == _INSIDE
                ahead = iter(children)
                break
            else:
                if is_block and (line or self.closing):
                    self._end_block(mark, path, start, len(stack))
                if not stack:
                    return
                ahead, mark, path, inside, in_link, is_block, start = stack.pop()

    def _end_block(self, mark: int, path: int, start: int, depth: int) -> None:
        """Add its last line, and make the decisions that are due at its end."""
        if self.line:
            self._end_line(mark, path, start, depth)
        if self.closing and self.closing[-1].depth >= depth:
            self.blocks.close(self.closing, depth, start)

    def _end_line(self, mark: int, path: int, start: int, depth: int) -> None:
        """Add a line that is not empty as a block."""
        if self.names and start == len(self.blocks.texts) and len(self.line) <= _MOST_PIECES:
            self._look_at_label(self.line[0], depth)
        self.blocks.put(self.line, mark, self.linked, path)
        self.linked = 0

    def _pass_by(self, node: Any, kind: int, depth: int) -> None:
        """Leave an element out, but keep what it reveals about others."""
        if kind == _BREAK and self.line:
            self.line.append("\n")
        elif kind >= _INPUT and self.names:
            self._ask(node, kind, depth)

    def _look_at_label(self, text: str, depth: int) -> None:
        if len(text) <= _LONGEST_LABEL:
            self.blocks.head(self.closing, depth, text)

    def _take_whole(
        self, node: Any, kind: int, single: str | None, mark: int, path: int, start: int, depth: int
    ) -> bool:
        """Add an element with a single text, or a row of a table, as a block."""
        blocks = self.blocks
        if kind == _HEAD and self.names and self.spent < _MOST_LOOKED_AT:
            text = node.text
            self.spent += len(text)
            blocks.head(self.closing, depth, text)
        if single is not None:
            if not single.isspace():
                if kind != _HEAD and start == len(blocks.texts) and self.names:
                    self._look_at_label(single, depth)
                blocks.add(single, mark, path)
            return True
        if kind == _ROW and _is_plain_row(node.children):
            cells = [_text_of(cell) for cell in node.children if type(cell) is _ELEMENT]
            is_data = sum([not cell.isspace() for cell in cells if cell]) > 1
            blocks.add("\t".join(cells), CELL | ITEM if is_data else 0, path)
            return True
        return False

    def _find_apart(self, node: Any, kind: int, tag: str, zone: Zone | None, *, inside: bool) -> str | None:
        """Return the text of an element that is beside the content; None for another one."""
        if kind == _LANDMARK:
            zone = None if _is_noted(node, zone) else Zone.APART
        elif kind == _HEADER:
            zone = Zone.LINKS if inside else Zone.HEAD
        elif not self.names or (kind == _ITEM and zone is Zone.LINKS):
            zone = None
        if zone is None:
            if not node.matches(TELLING):
                return None
            zone = zone_by_attributes(node, names=self.names)
        if zone is None or node in self.holding or self.spent >= _MOST_LOOKED_AT:
            return None
        text: str = node.text
        self.spent += len(text)
        if zone is Zone.PLACE:
            if self.taken is None or (len(text) >= _LONG_PLACE and self._holds_prose(node)):
                return None
            self.taken.append(node)
        return text if _is_apart(node, text, zone, tag) else None

    def _holds_prose(self, node: Any) -> bool:
        """Return whether much of an element's text is prose, so that its name says nothing about it."""
        if _count_letters(node) - sum([_count_letters(link) for link in node.find_all("a")]) < _LONG_PLACE:
            return False
        prose, letters = self._count_prose(node)
        return prose >= _LONG_PLACE and _MUCH_PROSE * prose > letters

    def _count_prose(self, node: Any) -> tuple[int, int]:
        """Count the letters of an element's prose, and of all its text."""
        # Places within places are walked once each: their elements are what that costs.
        self.spent += _COST_OF_NODE * sum([1 for _ in node.descendants])
        walk = _BlockWalk(self.without, landmarks=False, names=False)
        walk.go_through(node)
        texts = walk.blocks.texts
        letters = sum([len(text) for text in texts])
        return walk.blocks.count_prose(0, len(texts)), letters

    def _is_skipped(self, node: Any, kind: int, zone: Zone | None) -> bool:
        """Return whether a part of a line is left out: a counter, a button, a link that was paid for."""
        if zone in _SKIPPED or (kind == _LINK and node.matches(_SPONSORED)):
            return node not in self.holding
        return False

    def _ask(self, node: Any, kind: int, depth: int) -> None:
        """Note that an element holds a button, or asks for an address: it may be a question to the reader."""
        if self.closing and self.closing[-1].depth == depth:
            return
        if kind == _INPUT:
            if node.attr("type") == "email":
                self.closing.append(Closing(depth, ADDRESS, is_ad=False, more=0))
        elif not self.closing:
            self.closing.append(Closing(depth, -1, is_ad=False, more=2))


def _is_plain_row(children: Sequence[Any]) -> bool:
    """Return whether a row holds data: lines only, or one or two short texts a cell however they are wrapped."""
    for cell in children:
        if type(cell) is not _ELEMENT:
            continue
        wrapped = [node.tag for node in cell.children if type(node) is _ELEMENT and _KINDS.get(node.tag, 0) >= _HEAD]
        if not _IN_DATA.issuperset(wrapped):
            return False
        if len(cell.text) > _LONGEST_CELL and wrapped and not _LINES.issuperset(wrapped):
            return False
        if len(wrapped) > _MOST_WRAPPED and not _LINES.issuperset(wrapped):
            return False
    return True


def _is_noted(node: Any, zone: Zone | None) -> bool:
    """Return whether an aside or a footer is part of the content after all."""
    if zone is Zone.NOTE or node.attr("role") == "note":
        return True
    parent = node.parent
    return node.tag == "footer" and type(parent) is _ELEMENT and parent.tag == "blockquote"


def _text_of(cell: Any) -> str:
    text: str = cell.text
    return " ".join(cell.stripped_strings) if len(cell) > 1 else text


def _is_apart(node: Any, text: str, zone: Zone, tag: str) -> bool:
    """Return whether an element is really beside the content.

    Navigation is where most of its text is links'; and what holds a long text is the content, whatever it is called,
    but for what readers write.
    """
    if zone is Zone.NOTE:
        return False
    if zone is Zone.TALK:
        return True
    length = len(text)
    if zone is Zone.COUNT:
        return len(text.strip()) <= _LONGEST_COUNT or (length <= _LONG_TEXT and _are_counts(text))
    if zone is Zone.LINKS:
        links = "".join([link.text for link in node.find_all("a")])
        return 2 * len("".join(links.split())) > len("".join(text.split()))
    if length <= _LONG_TEXT or tag in _NEVER_LONG:
        return True
    return sum([len(part.text) for part in node.find_all("p")]) <= _LONG_TEXT


def _are_counts(text: str) -> bool:
    """Return whether a text is a list of figures and few words, such as a counter by days, weeks and months."""
    letters, figures = sum([sign.isalpha() for sign in text]), sum([sign.isdecimal() for sign in text])
    return letters <= _LONGEST_COUNT and _FEW_LETTERS * figures >= letters
