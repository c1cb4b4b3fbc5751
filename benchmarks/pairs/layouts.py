"""The kinds of page there are, and how one is rendered for a visit."""

from __future__ import annotations

import re
from typing import NamedTuple

from benchmarks.pairs.frames import FRAMES, charset_of
from benchmarks.pairs.story import Story
from benchmarks.pairs.visit import Visit

_BETWEEN = re.compile(r"<(/?[\w-]+)([^<>]*)>\n\s*(?=<(/?[\w-]+))")
_INLINE = re.compile(r"/?(?:a|b|button|cite|em|font|i|iframe|img|input|ins|script|small|span|strong|svg|time)")
_PRE = re.compile(r"(<pre.*?</pre>)", re.DOTALL)


class Layout(NamedTuple):
    """A kind of page.

    what   it is, for people
    story  a name of `story.KINDS`
    frame  a name of `frames.FRAMES`
    skins  of the sites that have such pages
    """

    what: str
    story: str
    frame: str
    skins: tuple[str, ...]


LAYOUTS: dict[str, Layout] = {
    "article": Layout(
        "an article of a newspaper",
        "article",
        "modern",
        ("wordpress", "drupal", "bootstrap", "tailwind", "bem", "hashed"),
    ),
    "blog": Layout("a blog with a sidebar", "article", "modern", ("wordpress", "bootstrap", "tailwind")),
    "shop": Layout("a product of a shop", "product", "modern", ("shop", "bootstrap", "tailwind", "hashed")),
    "terms": Layout("terms of service", "terms", "modern", ("wordpress", "bootstrap", "tailwind", "hashed", "shop")),
    "docs": Layout("documentation with code", "docs", "modern", ("docs", "tailwind")),
    "wiki": Layout("a page of a wiki", "long", "modern", ("wiki",)),
    "timetable": Layout("a timetable or table of data", "timetable", "modern", ("gov", "bootstrap", "bem", "drupal")),
    "front": Layout(
        "a front page, a list of headlines", "front", "modern", ("wordpress", "drupal", "bem", "tailwind", "hashed")
    ),
    "forum": Layout("a thread of a forum", "forum", "modern", ("forum",)),
    "notice": Layout("a notice of an authority", "notice", "modern", ("gov", "drupal")),
    "plain": Layout("an article without main and article elements", "article", "modern", ("bem", "hashed", "bare")),
    "app": Layout("a rendered page of a single-page application", "article", "app", ("hashed", "tailwind")),
    "old": Layout("an old page laid out with tables", "article", "old", ("bare",)),
    "minimal": Layout("a page written by hand", "long", "minimal", ("bare",)),
}


UNSEEN: dict[str, tuple[str, ...]] = {
    "article": ("joomla", "typo3", "ghost", "emotion"),
    "blog": ("ghost", "joomla"),
    "shop": ("magento", "emotion"),
    "terms": ("joomla", "typo3", "magento", "emotion"),
    "docs": ("ghost", "typo3"),
    "wiki": ("joomla", "emotion"),
    "timetable": ("typo3", "joomla"),
    "front": ("ghost", "typo3", "joomla", "emotion"),
    "forum": ("discourse",),
    "notice": ("typo3", "joomla"),
    "plain": ("emotion",),
    "app": ("emotion",),
}
"""Sites that nobody looked at while the comparing of contents was written, by layout."""


def render(visit: Visit, story: Story) -> bytes:
    """Give a page as it comes on a visit."""
    markup = FRAMES[LAYOUTS[visit.page.layout].frame](visit, story)
    way = visit.by("white-space").randrange(3)
    if way:
        pieces = _PRE.split(markup)
        minify = _minified if way == 1 else _indented
        markup = "".join(piece if piece.startswith("<pre") else _BETWEEN.sub(minify, piece) for piece in pieces)
    return markup.encode(charset_of(visit), "xmlcharrefreplace")


def _minified(found: re.Match[str]) -> str:
    """Leave no white space between blocks, and a space where people would see that it is gone."""
    before, attributes, after = found.groups()
    is_seen = _INLINE.fullmatch(before) and _INLINE.fullmatch(after)
    return f"<{before}{attributes}>{' ' if is_seen else ''}"


def _indented(found: re.Match[str]) -> str:
    return f"<{found[1]}{found[2]}>\n\n    "
