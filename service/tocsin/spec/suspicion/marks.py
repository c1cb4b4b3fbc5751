"""Marks in the code of a page that name the product that made it: `spec/words/marks.ini` lists and explains them."""

from __future__ import annotations

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


def find_mark(name: str, code: str) -> ProductMark | None:
    """Return the first mark of a list that the code contains."""
    return next((mark for mark in MARKS[name] if mark.needle in code), None)
