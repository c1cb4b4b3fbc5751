"""What kind of thing schema.org's types are: whether they are a page, what it is about, or beside it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

ARTICLE: Final = 0
PAGE: Final = 1
WORK: Final = 2
BESIDE: Final = 3
"""An author, a picture, a way back: nothing whose date is the page's."""

_ENDINGS: Final = (("article", ARTICLE), ("posting", ARTICLE), ("report", ARTICLE), ("page", PAGE))
_ARTICLES: Final = frozenset({"review", "criticreview", "userreview"})
_WORKS: Final = frozenset(
    {
        "apireference", "answer", "blog", "book", "claimreview", "course", "creativework", "dataset", "event",
        "exhibitionevent", "howto", "legislation", "liveblog", "mobileapplication", "movie", "musicalbum",
        "musicevent", "podcastepisode", "product", "productgroup", "question", "recipe", "softwareapplication",
        "softwaresourcecode", "tvepisode", "tvseries", "vacationrental", "videogame", "webapplication", "website",
    }
)  # fmt: skip
_LONGEST_NAME: Final = 100
_BEFORE_NAME: Final = re.compile(r".*[/#:]", re.DOTALL)


def kind_of(types: Iterable[object]) -> int:
    """Say what a thing of these types is: the first kind of `ARTICLE`, `PAGE`, `WORK`, `BESIDE` that one of them is.

    types  short names or full URLs, in any case
    """
    return min((_kind(name[-_LONGEST_NAME:]) for name in types if isinstance(name, str)), default=BESIDE)


def name_of(word: str) -> str:
    """Give the short name of a type or property that may be written as a full URL, or with a prefix."""
    return _BEFORE_NAME.sub("", word[-_LONGEST_NAME:].strip())


@lru_cache(maxsize=512)
def _kind(name: str) -> int:
    short = name_of(name).lower()
    if short in _ARTICLES:
        return ARTICLE
    for ending, kind in _ENDINGS:
        if short.endswith(ending):
            return kind
    return WORK if short in _WORKS else BESIDE
