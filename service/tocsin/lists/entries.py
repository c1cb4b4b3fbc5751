"""What a list says, one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

CHANGEDETECTION: Final = "changedetection"
DISTILL: Final = "distill"
"""Programs whose exports are read."""

GROUP_LETTERS: Final = 63
"""The longest name of a group; tags and folders of others are cut to it."""

LEFT_OUT: Final = "left out"
"""A kind of Named: something that another program sets for its pages, and that has no counterpart here."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One page of a list, as it stands there.

    line      from 1; of an XML list the line of its element, of JSON and archives the number of the page
    url       not judged yet
    group     None where the list names none
    text      the user's own words, or None
    settings  text by key of PageSettings, not judged yet
    paused    it is listed, and not asked for
    """

    line: int
    url: str
    group: str | None = None
    text: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that cannot be taken."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Named:
    """Something that the list names and that is none of its pages: a sitemap of an index, a column nobody knows.

    nearest  what was perhaps meant, or None
    """

    line: int
    kind: str
    name: str
    nearest: str | None = None

    @property
    def told(self) -> str:
        """What becomes of it, in words."""
        if self.kind == "sitemap":
            return f"a sitemap, which is not fetched: {self.name}"
        if self.kind == LEFT_OUT:
            return f"{self.name}: there is no counterpart here; left out"
        meant = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        return f"no setting is called {self.name!r}; this {self.kind} is left out{meant}"


Item: TypeAlias = Entry | Refused | Named
