"""What people do to a story: one function for each kind of edit; None where there is no place for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from benchmarks.pairs.language import Language
from benchmarks.pairs.story import KINDS, Block, Story, cells, heading, headline, item, paragraph, post

PLACES = ("beginning", "middle", "end")
_PROSE = frozenset({"p", "quote", "list", "post"})
_NUMBER = re.compile(r"[0-9]+")


class Spot(NamedTuple):
    """Where and with what an edit is made.

    place  beginning, middle or end
    """

    language: Language
    by: Random
    place: str

    def pick(self, count: int) -> int:
        """Choose one of so many things: near the beginning, about the middle, or near the end."""
        third = max(count // 3, 1)
        if self.place == "beginning":
            return self.by.randrange(min(third, count))
        if self.place == "end":
            return count - 1 - self.by.randrange(min(third, count))
        return min(third + self.by.randrange(third), count - 1)


def _of_kind(story: Story, *kinds: str) -> list[int]:
    return [place for place, block in enumerate(story.blocks) if block.kind in kinds]


def _chosen(story: Story, spot: Spot, *kinds: str) -> int | None:
    fit = _of_kind(story, *kinds)
    return fit[spot.pick(len(fit))] if fit else None


def _with(story: Story, place: int, *blocks: Block, instead_of: int = 1) -> Story:
    """Put blocks at a place, instead of so many that stand there."""
    return story._replace(blocks=(*story.blocks[:place], *blocks, *story.blocks[place + instead_of :]))


def _rows(story: Story, place: int, rows: list[tuple[str, ...]]) -> Story:
    return _with(story, place, story.blocks[place]._replace(rows=tuple(rows)))


def _change_row(story: Story, place: int, row: int, new: tuple[str, ...]) -> Story:
    rows = list(story.blocks[place].rows)
    rows[row] = new
    return _rows(story, place, rows)


def _first_sentence(block: Block) -> int:
    """Where the sentences of a row begin: a post's first string is who wrote it."""
    return 1 if block.kind == "post" else 0


def word(story: Story, spot: Spot) -> Story | None:
    """Exchange one word of a sentence."""
    place = _chosen(story, spot, *_PROSE)
    if place is None:
        return None
    block = story.blocks[place]
    row = spot.pick(len(block.rows))
    sentences = list(block.rows[row])
    which = spot.by.randrange(_first_sentence(block), len(sentences))
    nouns = spot.language.all("n")
    old = next((noun for noun in nouns if noun in sentences[which]), None)
    if old is None:
        return None
    new = spot.by.choice([noun for noun in nouns if noun not in sentences[which] and noun not in old])
    sentences[which] = sentences[which].replace(old, new, 1)
    return _change_row(story, place, row, tuple(sentences))


def number(story: Story, spot: Spot) -> Story | None:
    """Correct one number of a sentence."""
    fit = [
        (place, row, which)
        for place in _of_kind(story, *_PROSE)
        for row, strings in enumerate(story.blocks[place].rows)
        for which, string in enumerate(strings)
        if _NUMBER.search(string)
    ]
    if not fit:
        return None
    place, row, which = fit[spot.pick(len(fit))]
    strings = list(story.blocks[place].rows[row])
    strings[which] = _NUMBER.sub(lambda found: str(int(found[0]) + spot.by.randrange(1, 9)), strings[which], count=1)
    return _change_row(story, place, row, tuple(strings))


def price(story: Story, spot: Spot) -> Story | None:
    """Change the price of a product."""
    place = _chosen(story, spot, "price")
    return None if place is None else _change_row(story, place, 0, (spot.language.price(spot.by),))


def cell(story: Story, spot: Spot) -> Story | None:
    """Change one cell of a table."""
    place = _chosen(story, spot, "table")
    if place is None:
        return None
    rows = story.blocks[place].rows
    row = 1 + spot.pick(len(rows) - 1)
    new = cells(spot.language, spot.by, len(rows[row]))
    column = spot.by.randrange(1, len(new))
    return _change_row(story, place, row, (*rows[row][:column], new[column], *rows[row][column + 1 :]))


def _sentences(story: Story, spot: Spot, do: Callable[[list[str], int], list[str]], fewest: int = 1) -> Story | None:
    fit = [
        (place, row)
        for place in _of_kind(story, "p", "post")
        for row, strings in enumerate(story.blocks[place].rows)
        if len(strings) - _first_sentence(story.blocks[place]) >= fewest
    ]
    if not fit:
        return None
    place, row = fit[spot.pick(len(fit))]
    block = story.blocks[place]
    strings = list(block.rows[row])
    changed = do(strings, spot.by.randrange(_first_sentence(block), len(strings)))
    return _change_row(story, place, row, tuple(changed))


def sentence_added(story: Story, spot: Spot) -> Story | None:
    """Put a sentence into a paragraph."""
    (new,) = spot.language.sentences(1, spot.by)
    return _sentences(story, spot, lambda strings, which: [*strings[:which], new, *strings[which:]])


def sentence_removed(story: Story, spot: Spot) -> Story | None:
    """Strike a sentence out of a paragraph."""
    return _sentences(story, spot, lambda strings, which: [*strings[:which], *strings[which + 1 :]], fewest=2)


def sentence_rewritten(story: Story, spot: Spot) -> Story | None:
    """Write one sentence of a paragraph anew."""
    (new,) = spot.language.sentences(1, spot.by)
    return _sentences(story, spot, lambda strings, which: [*strings[:which], new, *strings[which + 1 :]])


def title(story: Story, spot: Spot) -> Story | None:
    """Give the page another title."""
    return story._replace(title=spot.language.say("headings", spot.by))


def heading_changed(story: Story, spot: Spot) -> Story | None:
    """Write a heading anew."""
    place = _chosen(story, spot, "h2")
    return None if place is None else _with(story, place, heading(spot.language, spot.by))


def _row_edit(story: Story, spot: Spot, kind: str, new: tuple[str, ...] | None, *, instead: bool) -> Story | None:
    """Put a row into a block of a kind, instead of another or beside it; None takes one out."""
    place = _chosen(story, spot, kind)
    if place is None:
        return None
    rows = list(story.blocks[place].rows)
    first = 1 if kind == "table" else 0
    row = first + spot.pick(len(rows) - first)
    if new is None and len(rows) - first < 2:
        return None
    rows[row : row + (1 if instead else 0)] = [] if new is None else [new]
    return _rows(story, place, rows)


def item_added(story: Story, spot: Spot) -> Story | None:
    """Add an item to a list."""
    return _row_edit(story, spot, "list", item(spot.language, spot.by), instead=False)


def item_removed(story: Story, spot: Spot) -> Story | None:
    """Take an item out of a list."""
    return _row_edit(story, spot, "list", None, instead=True)


def item_changed(story: Story, spot: Spot) -> Story | None:
    """Write an item of a list anew."""
    return _row_edit(story, spot, "list", item(spot.language, spot.by), instead=True)


def row_added(story: Story, spot: Spot) -> Story | None:
    """Add a row to a table."""
    place = _chosen(story, spot, "table")
    columns = 0 if place is None else len(story.blocks[place].rows[0])
    return _row_edit(story, spot, "table", cells(spot.language, spot.by, columns), instead=False)


def row_removed(story: Story, spot: Spot) -> Story | None:
    """Take a row out of a table."""
    return _row_edit(story, spot, "table", None, instead=True)


def fact_changed(story: Story, spot: Spot) -> Story | None:
    """Say something else in a list of facts."""
    place = _chosen(story, spot, "facts")
    if place is None:
        return None
    rows = story.blocks[place].rows
    row = spot.pick(len(rows))
    return _change_row(story, place, row, (rows[row][0], spot.language.say("headings", spot.by)))


def headline_added(story: Story, spot: Spot) -> Story | None:
    """Put a headline with its teaser on the page."""
    return _row_edit(story, spot, "headlines", headline(spot.language, spot.by), instead=False)


def headline_replaced(story: Story, spot: Spot) -> Story | None:
    """Put a headline with its teaser in the place of another."""
    return _row_edit(story, spot, "headlines", headline(spot.language, spot.by), instead=True)


def post_added(story: Story, spot: Spot) -> Story | None:
    """Answer in a thread, at its end."""
    return (
        _with(story, len(story.blocks), post(spot.language, spot.by), instead_of=0) if _of_kind(story, "post") else None
    )


def paragraph_added(story: Story, spot: Spot) -> Story | None:
    """Put a paragraph between two others."""
    place = _chosen(story, spot, "p")
    return None if place is None else _with(story, place, paragraph(spot.language, spot.by), instead_of=0)


def paragraph_removed(story: Story, spot: Spot) -> Story | None:
    """Strike a paragraph out."""
    place = _chosen(story, spot, "p")
    return None if place is None or len(_of_kind(story, "p")) < 2 else _with(story, place)


def paragraph_rewritten(story: Story, spot: Spot) -> Story | None:
    """Write a paragraph anew."""
    place = _chosen(story, spot, "p")
    return None if place is None else _with(story, place, paragraph(spot.language, spot.by))


def section_added(story: Story, spot: Spot) -> Story | None:
    """Add a heading with some paragraphs."""
    place = _chosen(story, spot, "p")
    new = (heading(spot.language, spot.by), *(paragraph(spot.language, spot.by) for _ in range(3)))
    return None if place is None else _with(story, place, *new, instead_of=0)


def half_rewritten(story: Story, spot: Spot) -> Story | None:
    """Write every second paragraph anew."""
    changed = story
    for place in _of_kind(story, "p")[::2]:
        changed = _with(changed, place, paragraph(spot.language, spot.by))
    return None if changed == story else changed


def everything(story: Story, spot: Spot) -> Story | None:
    """Put something else on the page altogether."""
    kind = "front" if _of_kind(story, "headlines") else "forum" if _of_kind(story, "post") else "article"
    blocks = tuple(KINDS[kind](spot.language, spot.by))
    return story._replace(title=spot.language.say("headings", spot.by), blocks=blocks)


class Edit(NamedTuple):
    """A kind of edit.

    size  word, number, sentence, paragraph or large; the first two are less than a sentence
    """

    size: str
    do: Callable[[Story, Spot], Story | None]


EDITS: dict[str, Edit] = {
    "word": Edit("word", word),
    "number": Edit("number", number),
    "price": Edit("number", price),
    "cell": Edit("number", cell),
    "sentence-added": Edit("sentence", sentence_added),
    "sentence-removed": Edit("sentence", sentence_removed),
    "sentence-rewritten": Edit("sentence", sentence_rewritten),
    "title": Edit("sentence", title),
    "heading": Edit("sentence", heading_changed),
    "item-added": Edit("sentence", item_added),
    "item-removed": Edit("sentence", item_removed),
    "item-changed": Edit("sentence", item_changed),
    "row-added": Edit("sentence", row_added),
    "row-removed": Edit("sentence", row_removed),
    "fact-changed": Edit("sentence", fact_changed),
    "headline-added": Edit("sentence", headline_added),
    "headline-replaced": Edit("sentence", headline_replaced),
    "post-added": Edit("paragraph", post_added),
    "paragraph-added": Edit("paragraph", paragraph_added),
    "paragraph-removed": Edit("paragraph", paragraph_removed),
    "paragraph-rewritten": Edit("paragraph", paragraph_rewritten),
    "section-added": Edit("large", section_added),
    "half-rewritten": Edit("large", half_rewritten),
    "everything": Edit("large", everything),
}
