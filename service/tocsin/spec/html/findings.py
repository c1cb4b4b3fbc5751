"""What a checker finds in a page."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """An error breaks a rule that an author must keep; a warning names what is unwise, obsolete, or has no effect."""

    ERROR = "error"
    WARNING = "warning"


class Found(NamedTuple):
    """One thing found, by its place in the page's text; sorts in the order of the text."""

    place: int
    rule: str
    level: Level
    message: str


class Finding(NamedTuple):
    """One thing found, as a person looks it up.

    line, column  from 1, the column in code points
    rule          the requirement that the page breaks
    """

    line: int
    column: int
    rule: str
    level: Level
    message: str
