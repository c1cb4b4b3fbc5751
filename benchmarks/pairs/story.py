"""What a page is about: its title and blocks, before any markup. Edits change it, noise never does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from benchmarks.pairs.language import Language

FIRST_DAY = date(2025, 2, 1)


class Block(NamedTuple):
    """A part of a story.

    kind  p, h2, list, table, quote, code, facts, price, headlines or post
    rows  p, quote: one row of sentences; list: a row of sentences an item; table: a row of cells a row, the first one
          of headings; code: a row a line; facts: a row of term and value; headlines: a row of headline and teaser;
          post: one row, who wrote it and sentences
    """

    kind: str
    rows: tuple[tuple[str, ...], ...]


class Story(NamedTuple):
    """All that somebody wrote for a page.

    modified  as the page declares it, where it does
    """

    title: str
    blocks: tuple[Block, ...]
    author: str
    published: date
    modified: date


def texts(story: Story) -> list[str]:
    """Give every string of a story that its page shows."""
    return [story.title, *(text for block in story.blocks for row in block.rows for text in row)]


def write(kind: str, language: Language, by: Random) -> Story:
    """Write a story of a kind, see `KINDS`."""
    published = FIRST_DAY + timedelta(days=by.randrange(300))
    blocks = KINDS[kind](language, by)
    return Story(language.say("headings", by), tuple(blocks), language.say("person", by), published, published)


def paragraph(language: Language, by: Random) -> Block:
    """Write a paragraph."""
    return Block("p", (language.sentences(by.randrange(2, 6), by),))


def heading(language: Language, by: Random) -> Block:
    """Write a heading."""
    return Block("h2", ((language.say("headings", by),),))


def item(language: Language, by: Random) -> tuple[str, ...]:
    """Write an item of a list."""
    return language.sentences(1, by)


def cells(language: Language, by: Random, columns: int) -> tuple[str, ...]:
    """Write a row of a table: a name, times or numbers."""
    times = (f"{by.randrange(5, 23):02d}:{by.randrange(60):02d}" for _ in range(columns - 2))
    return (f"{language.say('place', by)} {by.randrange(1, 99)}", *times, language.price(by))


def headline(language: Language, by: Random) -> tuple[str, str]:
    """Write a headline and its teaser."""
    return language.say("headings", by), language.say("sentences", by)


def post(language: Language, by: Random) -> Block:
    """Write a post of a forum."""
    return Block("post", ((language.say("person", by), *language.sentences(by.randrange(1, 6), by)),))


def _prose(language: Language, by: Random, paragraphs: int, per_heading: int) -> list[Block]:
    blocks = []
    for place in range(paragraphs):
        if place and place % per_heading == 0:
            blocks.append(heading(language, by))
        blocks.append(paragraph(language, by))
    return blocks


def _list(language: Language, by: Random) -> Block:
    return Block("list", tuple(item(language, by) for _ in range(by.randrange(3, 9))))


def _table(language: Language, by: Random, rows: int) -> Block:
    columns = by.randrange(4, 8)
    top = tuple(language.all("topics")[:columns])
    return Block("table", (top, *(cells(language, by, columns) for _ in range(rows))))


def _article(language: Language, by: Random) -> list[Block]:
    blocks = _prose(language, by, by.randrange(7, 18), 4)
    blocks.insert(3, Block("quote", (language.sentences(1, by),)))
    blocks.insert(by.randrange(2, len(blocks)), _list(language, by))
    return blocks


def _product(language: Language, by: Random) -> list[Block]:
    facts = Block("facts", tuple((topic, language.say("headings", by)) for topic in language.all("topics")[:6]))
    price = Block("price", ((language.price(by),),))
    return [price, *_prose(language, by, by.randrange(3, 6), 9), _list(language, by), facts]


def _terms(language: Language, by: Random) -> list[Block]:
    blocks = []
    for _ in range(by.randrange(10, 20)):
        blocks += [heading(language, by), *(paragraph(language, by) for _ in range(by.randrange(1, 4)))]
    return [*blocks, _list(language, by)]


def _docs(language: Language, by: Random) -> list[Block]:
    blocks = _prose(language, by, by.randrange(8, 14), 2)
    for place in (2, 5, 9):
        lines = (f"{chr(97 + by.randrange(26))}{by.randrange(99)} = call({by.randrange(999)})" for _ in range(4))
        blocks.insert(place, Block("code", tuple((line,) for line in lines)))
    return [*blocks, _list(language, by), _table(language, by, 5)]


def _timetable(language: Language, by: Random) -> list[Block]:
    return [paragraph(language, by), _table(language, by, by.randrange(25, 70)), paragraph(language, by)]


def _front(language: Language, by: Random) -> list[Block]:
    blocks = []
    for topic in language.all("topics")[: by.randrange(4, 8)]:
        lines = tuple(headline(language, by) for _ in range(by.randrange(4, 9)))
        blocks += [Block("h2", ((topic,),)), Block("headlines", lines)]
    return blocks


def _forum(language: Language, by: Random) -> list[Block]:
    return [post(language, by) for _ in range(by.randrange(8, 20))]


def _notice(language: Language, by: Random) -> list[Block]:
    facts = Block("facts", tuple((topic, language.say("headings", by)) for topic in language.all("topics")[:4]))
    return [*_prose(language, by, by.randrange(4, 8), 2), _list(language, by), facts, paragraph(language, by)]


def _long(language: Language, by: Random) -> list[Block]:
    return [*_prose(language, by, by.randrange(25, 40), 5), _list(language, by)]


KINDS: dict[str, Callable[[Language, Random], list[Block]]] = {
    "article": _article,
    "product": _product,
    "terms": _terms,
    "docs": _docs,
    "timetable": _timetable,
    "front": _front,
    "forum": _forum,
    "notice": _notice,
    "long": _long,
}
