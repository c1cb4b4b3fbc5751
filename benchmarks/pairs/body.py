"""The markup of a story's blocks, with what stands between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TypeAlias

from benchmarks.pairs import surroundings
from benchmarks.pairs.language import chance
from benchmarks.pairs.story import Block, Story
from benchmarks.pairs.visit import Visit

Rows: TypeAlias = Sequence[Sequence[str]]

_WITHOUT_ADS = frozenset({"terms", "docs", "wiki", "timetable", "notice"})
_MARKED_UP = 0.2


def to_markup(sentence: str) -> str:
    """Write a sentence with the links and emphasis that it has: the same sentence is always written alike."""
    by = chance("markup", sentence)
    words = sentence.split(" ")
    if len(words) < 5 or by.random() > _MARKED_UP:
        return escape(sentence)
    place = by.randrange(1, len(words) - 2)
    before, chosen, after = words[:place], words[place : place + 2], words[place + 2 :]
    inner = escape(" ".join(chosen))
    marked = by.choice(
        (f'<a href="/{by.randrange(9999)}">{inner}</a>', f"<em>{inner}</em>", f"<strong>{inner}</strong>")
    )
    return " ".join([*map(escape, before), marked, *map(escape, after)])


def _prose(sentences: Sequence[str]) -> str:
    return " ".join(map(to_markup, sentences))


def _heading(rows: Rows, own: str) -> str:
    return f"<h2{own}>{' '.join(rows[0])}</h2>\n"


def _quote(rows: Rows, own: str) -> str:
    return f"<blockquote{own}><p>{' '.join(rows[0])}</p></blockquote>\n"


def _list(rows: Rows, own: str) -> str:
    items = "\n".join(f"<li>{' '.join(row)}</li>" for row in rows)
    return f"<ul{own}>\n{items}\n</ul>\n"


def _facts(rows: Rows, own: str) -> str:
    facts = "\n".join(f"<dt>{term}</dt>\n<dd>{value}</dd>" for term, value in rows)
    return f"<dl{own}>\n{facts}\n</dl>\n"


def _code(rows: Rows, own: str) -> str:
    lines = "\n".join(row[0] for row in rows)
    return f"<pre{own}><code>{lines}</code></pre>\n"


def _table(rows: Rows, own: str) -> str:
    top = "".join(f"<th>{cell}</th>" for cell in rows[0])
    lines = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[1:])
    return f"<table{own}>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{lines}\n</tbody>\n</table>\n"


_PLAIN: dict[str, Callable[[Rows, str], str]] = {
    "h2": _heading,
    "quote": _quote,
    "list": _list,
    "facts": _facts,
    "code": _code,
    "table": _table,
}
"""Blocks that look the same on every visit, but for the attributes of their outermost element."""


class Body:
    """Writes blocks as one visit sees them."""

    def __init__(self, visit: Visit) -> None:
        """Take the visit."""
        self._visit = visit
        self._has_ids = visit.page.skin in {"hashed", "shop", "tailwind"}

    def write(self, story: Story) -> str:
        """Write all blocks, with what is put between them."""
        blocks = [self._block(block, place) for place, block in enumerate(story.blocks)]
        for place, extra in sorted(self._extras(len(blocks)), reverse=True):
            blocks.insert(place, extra)
        return "".join(blocks)

    def _extras(self, blocks: int) -> list[tuple[int, str]]:
        """What is put between blocks, and before which."""
        visit = self._visit
        by = visit.by("ad-places")
        places = sorted(by.randrange(1, max(blocks, 2)) for _ in range(4))
        found = []
        if visit.page.layout not in _WITHOUT_ADS:
            ads = [surroundings.ad_text, surroundings.ad_box, surroundings.ad_ins, surroundings.ad_frame]
            count = 3 if by.random() < 0.8 else 2
            chosen = visit.fixed("ads").sample(ads, 3)
            found = [(place, make(visit)) for place, make in zip(places, chosen[:count], strict=False)]
        if visit.page.layout in {"article", "blog", "plain", "app"} and visit.has("inline related", 0.6):
            found.append((visit.fixed("inline place").randrange(1, 4), surroundings.inline_related(visit)))
        return found

    def _attributes(self, place: int) -> str:
        return f' data-block-key="{self._visit.token("ids", place, 8)}"' if self._has_ids else ""

    def _block(self, block: Block, place: int) -> str:
        own = self._attributes(place)
        if block.kind == "p":
            return self._paragraph(block, own)
        if block.kind == "headlines":
            return "".join(self._teaser(*row) for row in block.rows)
        if block.kind == "post":
            return self._post(block.rows[0], place)
        if block.kind == "price":
            return f"{self._visit.skin.part('price', f'<span>{escape(block.rows[0][0])}</span>')}\n"
        return _PLAIN[block.kind]([[to_markup(text) for text in row] for row in block.rows], own)

    def _paragraph(self, block: Block, own: str) -> str:
        by = chance("figure", block.rows[0][0])
        text = f"<p{own}>{_prose(block.rows[0])}</p>\n"
        if by.random() < 0.8:
            return text
        name = by.randrange(10**6)
        token = self._visit.token("assets", name)
        image = f'<img src="/img/{name}.jpg?t={token}" srcset="/img/{name}-2.jpg?t={token} 2x" alt="" loading="lazy">'
        return f"{text}<figure>{image}</figure>\n"

    def _teaser(self, headline: str, teaser: str) -> str:
        visit, number = self._visit, chance(headline).randrange(10**6)
        counted = f" <span>{visit.say('comments', 'comment-count')}</span>" if visit.has("teaser counts", 0.5) else ""
        return visit.skin.block(
            "teaser",
            f'<h3><a href="/{number}">{escape(headline)}</a></h3>\n<p>{escape(teaser)}</p>\n'
            f"<time>{visit.say('ago', 'ago')}</time>{counted}",
        )

    def _post(self, row: tuple[str, ...], place: int) -> str:
        visit = self._visit
        profile = visit.skin.part("bio", f"<b>{escape(row[0])}</b> <span>{visit.say('views', 'views')}</span>")
        top = f"<p><a href='#p{place}'>#{place}</a> <time>{visit.say('ago', 'ago')}</time></p>"
        return visit.skin.block("post", f'{profile}\n{top}\n<div class="content">{_prose(row[1:])}</div>')
