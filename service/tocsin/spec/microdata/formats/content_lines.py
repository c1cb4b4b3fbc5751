"""Content lines, as vCard and iCalendar have them in common: escaping, folding, and how much of them there may be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.urls import is_absolute_url

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from tocsin.spec.microdata.values import Item, Property

    Fold: TypeAlias = Callable[[str], str]

MOST_LETTERS: Final = 8 * 2**20
"""So long a file may become, about; what is beyond is left out, and said to be."""

_FEW = 8
"""So many properties are named of which something was left out."""
_LOOK = 16
"""A property that is looked at takes the time of so many letters."""
_FIRST_LINE, _NEXT_LINE = 75, 74
_ESCAPED = re.compile(r"\r\n|[\\,;\r\n]")
_ESCAPED_BUT_SEMICOLONS = re.compile(r"\r\n|[\\,\r\n]")
_UPPER = str.maketrans({chr(at): chr(at - 32) for at in range(ord("a"), ord("z") + 1)})
_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_KEPT = "\t\n\r"
_CONTROLS = [chr(at) for at in (*range(0x20), *range(0x7F, 0xA0)) if chr(at) not in _KEPT + _BREAKS]
_CLEANED = str.maketrans({**dict.fromkeys(_CONTROLS, ""), **dict.fromkeys(_BREAKS, "\n")})
_KEPT_BACK = re.compile("(?:blob|data|file|jar|javascript|smb|vbscript|view-source):", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
# What no name is longer than in practice: a longer one would be folded, which few readers expect of names.
_NAME = re.compile(r"[A-Za-z0-9-]{1,60}")


class Written(NamedTuple):
    """A file.

    text      None where the page has nothing of the kind
    problems  in words for its reader: what was left out, and why
    """

    text: str | None
    problems: tuple[str, ...] = ()


class Budget:
    """How much may still be written, in letters; a property that is looked at counts as some, written or not.

    A page whose items share their properties has many times more to write than it has bytes.
    """

    def __init__(self, letters: int = MOST_LETTERS) -> None:
        self._left = letters

    def spend(self, letters: int) -> bool:
        """Take so much of it; say whether there was as much. Once there was not, there never is."""
        self._left = self._left - letters if letters <= self._left else -1
        return not self.is_spent

    def look(self, properties: int = 1) -> bool:
        """Take what it costs to look at so many properties."""
        return self.spend(properties * _LOOK)

    @property
    def is_spent(self) -> bool:
        """Whether something did not fit."""
        return self._left < 0


class Sheet:
    """Lines as they are written; sheets of one file share its budget.

    fold  how long lines are broken: `fold_octets` or `fold_letters`
    """

    def __init__(self, budget: Budget, fold: Fold) -> None:
        self.budget = budget
        self._fold = fold
        self._lines: list[str] = []

    def frame(self, name: str, value: str) -> None:
        """Add a line that nothing is complete without, whatever the budget; the value as it stands in the file."""
        self._lines.append(write_line(name, value, fold=self._fold))

    def add(self, name: str, value: str, parameters: Iterable[tuple[str, str]] = ()) -> None:
        """Add a line, unless the budget is spent; the value as it stands in the file."""
        if self.budget.spend(len(name) + len(value) + 3):
            self._lines.append(write_line(name, value, parameters, fold=self._fold))

    def demand(self, name: str, value: str, parameters: Iterable[tuple[str, str]] = ()) -> None:
        """Add a line as `add` does, but even where the budget is spent."""
        self.budget.spend(len(name) + len(value) + 3)
        self._lines.append(write_line(name, value, parameters, fold=self._fold))

    @property
    def text(self) -> str:
        """All lines."""
        return "".join(self._lines)


def each_line(item: Item, budget: Budget) -> Iterator[tuple[str, Property]]:
    """Give each name of each property of an item: what may become a line (VC-11), while there is a budget."""
    for each in item.properties:
        for name in each.names:
            if not budget.look():
                return
            yield name, each


def tell_cut(budget: Budget, what: str, untold: int) -> tuple[str, ...]:
    """Say what of a file was left out, if its budget did not last.

    what    the file is of: contact, event
    untold  so many of them were not begun
    """
    if not budget.is_spent:
        return ()
    more = f", and {untold} {what if untold == 1 else f'{what}s'}" if untold else ""
    return (f"too much for one file: properties of one {what}{more} are left out",)


def tell_unfit(unfit: Counter[str], of: str) -> tuple[str, ...]:
    """Say of which properties values were left out: `values that calendars do not take are left out: organizer (2)`.

    unfit  their names, as lines begin with them, and how many values of each
    of     what does not take them, such as calendars
    """
    names = sorted(name for name, count in unfit.items() if count)
    if not names:
        return ()
    said = [f"{name.lower()} ({unfit[name]:,})" if unfit[name] > 1 else name.lower() for name in names[:_FEW]]
    if len(names) > _FEW:
        said.append(f"and {len(names) - _FEW:,} more")
    return (f"values that {of} do not take are left out: {', '.join(said)}",)


def write_line(name: str, value: str, parameters: Iterable[tuple[str, str]] = (), *, fold: Fold) -> str:
    """Write one line, folded, with its end.

    value   as it stands in the file, escaped where it must be
    Source  text 003, adding a vCard or iCalendar line (VC-19, IC-12). Deviation: a lone surrogate, which is no text and
            which no encoding can write, becomes a replacement character.
    """
    line = f"{name.translate(_UPPER)}{''.join(f';{each}={chosen}' for each, chosen in parameters)}:{value}"
    return fold(line if line.isascii() else _SURROGATE.sub("\ufffd", line))


def fold_octets(line: str) -> str:
    """Fold a line so that none is longer than 75 octets in UTF-8, and no letter is in two lines; with its end.

    Source  RFC 5545, 3.1; RFC 2426, 2.6
    """
    if line.isascii():
        return fold_letters(line)
    octets = line.encode()
    parts: list[bytes] = []
    start, longest = 0, _FIRST_LINE
    while len(octets) - start > longest:
        end = start + longest
        while octets[end] & 0xC0 == 0x80:  # noqa: PLR2004 - an octet that goes on with a letter of UTF-8
            end -= 1
        parts.append(octets[start:end])
        start, longest = end, _NEXT_LINE
    return b"\r\n ".join((*parts, octets[start:])).decode() + "\r\n"


def fold_letters(line: str) -> str:
    """Fold a line after 75 code points, and what follows after 74, as text 003 has it (C-15); with its end."""
    if len(line) <= _FIRST_LINE:
        return line + "\r\n"
    rest = [line[at : at + _NEXT_LINE] for at in range(_FIRST_LINE, len(line), _NEXT_LINE)]
    return "\r\n ".join((line[:_FIRST_LINE], *rest)) + "\r\n"


def escape(text: str, *, with_semicolons: bool = True) -> str:
    r"""Write a text into a value: \, commas and semicolons with a \ before them, line ends as \n (VC-18, IC-12)."""
    pattern = _ESCAPED if with_semicolons else _ESCAPED_BUT_SEMICOLONS
    return pattern.sub(_escape_one, text)


def clean(text: str) -> str:
    """Take away what today's readers stumble over: white space around it, control characters.

    Tabs stay; what Unicode calls a line end is one.
    """
    return text.translate(_CLEANED).strip(SPACE)


def is_passed_on(text: str) -> bool:
    """Say whether the text is a URL for a file that is handed on.

    Such a URL is absolute, runs or shows nothing that the page wrote itself, and leads to no file of the machine where
    the page was read. Programs show it as a link to press.
    """
    return is_absolute_url(text) and _KEPT_BACK.match(text) is None


def is_name(text: str) -> bool:
    """Say whether the text may be the name of a line: letters, digits and hyphens of ASCII, and not too many."""
    return _NAME.fullmatch(text) is not None


def _escape_one(match: re.Match[str]) -> str:
    found = match[0]
    return rf"\{found}" if found in "\\,;" else r"\n"
