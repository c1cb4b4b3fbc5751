"""The items of a list: pages, lines that are refused, and notices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

CHANGEDETECTION: Final = "changedetection"
# Programs whose exports can be read.
DISTILL: Final = "distill"

# The longest name of a group; tags and folders of other programs are cut to it.
GROUP_LETTERS: Final = 63

# A kind of ListNotice: something that another program sets for its pages, and that has no counterpart here.
LEFT_OUT: Final = "left out"


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One page of a list, as the list has it.

    line      from 1; in XML the line of its element, in JSON and archives the number of the page
    url       not checked yet
    group     None if the list names none
    text      the user's own text, or None
    settings  text by key of PageSettings, not checked yet
    paused    listed, but not requested
    """

    line: int
    url: str
    group: str | None = None
    text: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    paused: bool = False


@dataclass(frozen=True, slots=True)
class RefusedLine:
    """A line that cannot be imported."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ListNotice:
    """Something in a list that is not a page: a sitemap of an index, an unknown column, a setting that is left out.

    nearest  what was probably meant, or None
    """

    line: int
    kind: str
    name: str
    nearest: str | None = None

    @property
    def told(self) -> str:
        """What happens to it, in words."""
        if self.kind == "sitemap":
            return f"a sitemap, which is not fetched: {self.name}"
        if self.kind == LEFT_OUT:
            return f"{self.name}: no counterpart here; left out"
        meant = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        return f"no setting is called {self.name!r}; this {self.kind} is left out{meant}"


ListItem: TypeAlias = ListEntry | RefusedLine | ListNotice
