"""Blocks as they are found, and the boxes among them: what a heading or a button says of what stands beside it."""

from __future__ import annotations

from typing import Final, NamedTuple

from tocsin.spec.html.zones import ADVERTISEMENTS, ASKING, HEADINGS, to_heading

HEADING: Final = 1
CELL: Final = 2
"""A row of a table, or a definition: figures are what it is about."""
ITEM: Final = 4
"""In a list, a row or a card: where it stands among the others says little."""
LINKED: Final = 8
"""Most of its letters are a link's."""
OUTSIDE: Final = 16
"""Beside the content: navigation, advertisements, whatever a zone says."""

_LONGEST_QUESTION: Final = 600
_PROSE: Final = 60


class Closing(NamedTuple):
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


ADDRESS: Final = -2


class Blocks(NamedTuple):
    """Blocks in tree order: text as written, what it is (see the marks above), and a number for where it stands."""

    texts: list[str]
    marks: list[int]
    paths: list[int]

    def add(self, text: str, mark: int, path: int) -> None:
        """Take a block as it is."""
        self.texts.append(text)
        self.marks.append(mark)
        self.paths.append(path)

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

    def head(self, closing: list[Closing], depth: int, text: str) -> None:
        """Look at what stands above other blocks: it may say that they are beside the content."""
        if closing and closing[-1].heading == len(self.texts) and closing[-1].depth == depth:
            return  # one of a row that holds no text stands for all
        heading = to_heading(text)
        is_ad = heading in ADVERTISEMENTS
        if is_ad or heading in HEADINGS:
            closing.append(Closing(depth, len(self.texts), is_ad, 1))

    def close(self, closing: list[Closing], depth: int, first: int) -> None:
        """Take out of the content what turned out to be beside it, now that its element ends.

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
                if is_own and (not each.is_ad or self._count(first, end) <= _LONGEST_QUESTION):
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

    def _put_outside(self, start: int, end: int) -> None:
        """Put a heading and what stands below it outside, up to another heading, or prose without links."""
        for index in range(start, end):
            mark = self.marks[index]
            if index > start and not mark & (LINKED | OUTSIDE):
                is_prose = not mark & ITEM and len(self.texts[index]) > _PROSE
                if is_prose or mark & HEADING:
                    return
            self.marks[index] = OUTSIDE
