"""In which line of a TOML file something stands: tomllib does not tell, and whoever has to mend it must know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HEADER: Final = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY: Final = re.compile(
    r"\s*((?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[A-Za-z0-9_-]+)(?:\s*\.\s*(?:\"[^\"]*\"|'[^']*'|[\w-]+))*)\s*="
)
_PART: Final = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
_FENCES: Final = ('"""', "'''")


_LONGEST_LINE: Final = 10_000
"""A longer line is no header or key that a person has to find; on endless ones the patterns above would take long."""

TomlPath: TypeAlias = "tuple[str | int, ...]"


class TomlLines:
    """Finds lines of one text; it is read once, however many are asked for."""

    def __init__(self, text: str) -> None:
        self._first: dict[TomlPath, int] = {}
        for line, here in _places(text):
            for length in range(len(here), 0, -1):
                if here[:length] in self._first:
                    break  # and so are all shorter ones
                self._first[here[:length]] = line

    def line_of(self, path: Sequence[str | int]) -> int:
        """Find the line of a path such as ("pages", 3, "every"); of the nearest thing above it where it is not found.

        Numbers count the tables of that name from 0. Tables within a line are found by the line that they begin in.
        """
        found = (self._first.get(tuple(path[:length])) for length in range(len(path), 0, -1))
        return next((line for line in found if line is not None), 1)


def _places(text: str) -> Iterator[tuple[int, tuple[str | int, ...]]]:
    """Yield each header and key with its line."""
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str | int, ...], int] = {}
    fence: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if fence is not None:
            fence = None if line.count(fence) % 2 else fence
            continue
        if len(line) > _LONGEST_LINE:
            fence = next((mark for mark in _FENCES if line.count(mark) % 2), None)
            continue
        header = _HEADER.match(line)
        if header is not None and header[1] == "[[":
            name = _parts(header[2])
            counts[name] = counts.get(name, -1) + 1
            table = (*name, counts[name])
            yield number, table
        elif header is not None:
            table = _inside(_parts(header[2]), counts)
            yield number, table
        elif (key := _KEY.match(line)) is not None:
            yield number, (*table, *_parts(key[1]))
        fence = next((mark for mark in _FENCES if line.count(mark) % 2), None)


def _inside(name: tuple[str | int, ...], counts: dict[tuple[str | int, ...], int]) -> tuple[str | int, ...]:
    """A table below the last one of an array belongs to that one."""
    for length in range(len(name), 0, -1):
        if name[:length] in counts:
            return (*name[:length], counts[name[:length]], *name[length:])
    return name


def _parts(text: str) -> tuple[str | int, ...]:
    return tuple(double or single or bare for double, single, bare in _PART.findall(text))
