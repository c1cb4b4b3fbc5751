"""Keeping pages small, whatever those say that they tell of: what does not fit is left out. Pure.

See also `words.Room`, for the texts of one entry of a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tocsin.server.web.words import weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Item = TypeVar("Item")


def fitting(texts: Iterable[str], size: int, *, times: int = 1) -> list[str]:
    """Take as many texts, whole ones, as fit into so many bytes of HTML, each written so many times."""
    return fitting_by(texts, size, lambda text: times * weight(text))


def fitting_by(items: Iterable[Item], size: int, cost: Callable[[Item], int]) -> list[Item]:
    """Take as many things as fit into so many bytes, the first always where it fits by itself."""
    taken: list[Item] = []
    for item in items:
        size -= cost(item)
        if size < 0:
            break
        taken.append(item)
    return taken


def cut(text: str, size: int) -> str:
    """Cut a text, with its line ends, to so many bytes of HTML."""
    if weight(text) <= size:
        return text
    left, right = 0, len(text)
    while left < right:
        middle = (left + right + 1) // 2
        left, right = (middle, right) if weight(text[:middle]) <= size else (left, middle - 1)
    return text[:left]
