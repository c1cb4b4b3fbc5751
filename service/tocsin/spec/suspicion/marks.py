"""Marks in the code of a page that name the product that made it: `spec/words/marks.ini` lists and explains them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tocsin.spec.words import read_lists, split_phrases


class ProductMark(NamedTuple):
    """A mark and the product that leaves it.

    needle  in lower case, as `PageView.code` writes attributes and scripts; or a header as "name: value"
    """

    needle: str
    product: str


# The marks of each list, in the order of the file.
MARKS: Final = {
    name: tuple(
        ProductMark(mark.replace("\\n", "\n").replace("\\s", " "), product)
        for product, text in entries.items()
        for mark in split_phrases(text)
    )
    for name, entries in read_lists("marks").items()
}

# How an attribute begins in the code, and where a page may write a mark in other bytes: as a character reference, or in
# another attribute.
_NAME = re.compile(r"^(?:[a-z]+\.)?(?:action|class|href|id|name|src)=")
_ELSEWHERE = re.compile(r"[&<>\"'\n\s]+")


def _to_needle(mark: str) -> bytes:
    """Return the longest piece of a mark that the bytes of a page contain if its code does."""
    pieces = [_NAME.sub("", piece) for piece in _ELSEWHERE.split(mark)]
    return max(pieces, key=len).encode()


# What the bytes of a page contain, in lower case, if its code has a mark of a list.
NEEDLES: Final = {name: tuple({_to_needle(mark.needle): None for mark in marks}) for name, marks in MARKS.items()}


def find_mark(name: str, code: str) -> ProductMark | None:
    """Return the first mark of a list that the code contains."""
    return next((mark for mark in MARKS[name] if mark.needle in code), None)
