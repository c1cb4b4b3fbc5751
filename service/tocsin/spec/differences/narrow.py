"""The part of two texts that differs, without what both begin and end with: cheaper to find than a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def narrow(before: str, latest: str, most: int) -> tuple[str, str, bool]:
    """Take off the lines that both begin and end with, and of the rest what is beyond so many letters each.

    Returns both, and whether anything was beyond.
    """
    shorter = min(len(before), len(latest))
    same = _most(shorter, lambda length: before[:length] == latest[:length])
    start = before.rfind("\n", 0, same) + 1
    tail = _most(shorter - start, lambda length: before[len(before) - length :] == latest[len(latest) - length :])
    if not all(_is_line_start(text, len(text) - tail) for text in (before, latest)):
        begin = before.find("\n", len(before) - tail) + 1
        tail = len(before) - begin if begin else 0
    before, latest = before[start : len(before) - tail], latest[start : len(latest) - tail]
    return before[:most], latest[:most], max(len(before), len(latest)) > most


def _is_line_start(text: str, place: int) -> bool:
    return place == 0 or text[place - 1] == "\n"


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """Find the greatest number up to a limit for which it holds, as it does for all smaller ones."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low
