"""What was pasted into the box, read line by line: what will be added, and what cannot be. Pure."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from tocsin.lists.pages import check_group
from tocsin.lists.taking import Reader, Tally

if TYPE_CHECKING:
    from tocsin.model import JsonObject, NewPage

MOST_AT_ONCE: Final = 1000
"""Longer lists are brought as a file, which is read step by step."""
MOST_NAMED: Final = 20


class Pasted(Struct, frozen=True):
    """What was pasted.

    pages    those that can be added, each URL once
    wrong    what cannot be, a text each that begins with the number of the line; at most MOST_NAMED of them
    refused  how many lines those are in all
    twice    lines that name a page named before
    """

    pages: tuple[NewPage, ...]
    wrong: tuple[str, ...]
    refused: int
    twice: int

    @property
    def is_too_much(self) -> bool:
        """Whether this is for a file."""
        return len(self.pages) > MOST_AT_ONCE


def read_pasted(text: str, group: str, settings: JsonObject) -> Pasted:
    """Read a URL a line. Raises UsageError for a group that cannot be."""
    tally = Tally()
    wrong: list[str] = []

    def say(what: str) -> None:
        if len(wrong) < MOST_NAMED:
            wrong.append(what.removeprefix("pasted:"))

    reader = Reader("pasted", "list", check_group(group or "main"), tally=tally, say=say)
    found: dict[str, NewPage] = {}
    twice = 0
    for page in reader.pages(io.BytesIO(text.encode("utf-8", "surrogatepass"))):
        if page.url in found:
            twice += 1
        elif len(found) <= MOST_AT_ONCE:
            found[page.url] = page
    pages = tuple(_with(page, settings) for page in found.values())
    return Pasted(pages, tuple(f"line {line}" for line in wrong), tally.refused, twice)


def _with(page: NewPage, settings: JsonObject) -> NewPage:
    return replace(page, settings={**settings, **(page.settings or {})} or None)
