"""Content lines of vCard and iCalendar: escaping, folding, and limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.values import Item, Property

Fold: TypeAlias = Callable[[str], str]

# The longest file, about; what is beyond is left out, and reported.
MOST_LETTERS: Final = 8 * 2**20

# Properties that a message names.
_MOST_NAMED = 8
# The cost of looking at a property, in letters.
_LOOK = 16
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
# No name is longer in practice; a longer one would be folded, which few readers expect.
_NAME = re.compile(r"[A-Za-z0-9-]{1,60}")


class Written(NamedTuple):
    """A file of content lines.

    text      None if the page has nothing of the kind
    problems  sentences for its reader: what was left out, and why
    """

    text: str | None
    problems: tuple[str, ...] = ()


class Budget:
    """The letters that may still be written; looking at a property costs some, too."""

    # A page whose items share their properties has many times more to write than it has bytes.

    def __init__(self, letters: int = MOST_LETTERS) -> None:
        self._left = letters

    def spend(self, letters: int) -> bool:
        """Spend letters; returns whether there were enough. Once there were not, the budget stays spent."""
        self._left = self._left - letters if letters <= self._left else -1
        return not self.is_spent

    def look(self, properties: int = 1) -> bool:
        """Spend the cost of looking at properties; returns whether there was enough."""
        return self.spend(properties * _LOOK)

    @property
    def is_spent(self) -> bool:
        """Whether something did not fit in."""
        return self._left < 0


class Sheet:
    """Lines of a file; the sheets of one file share its budget.

    fold  breaks long lines: `fold_octets` or `fold_letters`
    """

    def __init__(self, budget: Budget, fold: Fold) -> None:
        self.budget = budget
        self._fold = fold
        self._lines: list[str] = []

    def frame(self, name: str, value: str) -> None:
        """Add a line that the file needs, without charge; the value as the file has it."""
        self._lines.append(write_line(name, value, fold=self._fold))

    def add(self, name: str, value: str, parameters: Iterable[tuple[str, str]] = ()) -> None:
        """Add a line, unless the budget is spent; the value as the file has it."""
        if self.budget.spend(len(name) + len(value) + 3):
            self._lines.append(write_line(name, value, parameters, fold=self._fold))

    def demand(self, name: str, value: str, parameters: Iterable[tuple[str, str]] = ()) -> None:
        """Add a line and charge the budget, even if it is spent."""
        self.budget.spend(len(name) + len(value) + 3)
        self._lines.append(write_line(name, value, parameters, fold=self._fold))

    @property
    def text(self) -> str:
        """All lines, joined."""
        return "".join(self._lines)


def each_line(item: Item, budget: Budget) -> Iterator[tuple[str, Property]]:
    """Yield each name of each property of an item, for a line each (VC-11), until the budget is spent."""
    for each in item.properties:
        for name in each.names:
            if not budget.look():
                return
            yield name, each


def tell_cut(budget: Budget, what: str, untold: int) -> tuple[str, ...]:
    """Report what was left out of a file, if its budget is spent.

    what    what the file holds: contact, event
    untold  how many of them were not begun
    """
    if not budget.is_spent:
        return ()
    more = f", and {untold} {what if untold == 1 else f'{what}s'}" if untold else ""
    return (f"too much for one file: properties of one {what}{more} are left out",)


def tell_unfit(unfit: Counter[str], of: str) -> tuple[str, ...]:
    """Report the properties of invalid values: `values that calendars do not take are left out: organizer (2)`.

    unfit  how many values were left out, by the property's name
    of     what does not accept them, such as calendars
    """
    names = sorted(name for name, count in unfit.items() if count)
    if not names:
        return ()
    said = [f"{name.lower()} ({unfit[name]:,})" if unfit[name] > 1 else name.lower() for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        said.append(f"and {len(names) - _MOST_NAMED:,} more")
    return (f"values that {of} do not take are left out: {', '.join(said)}",)


def write_line(name: str, value: str, parameters: Iterable[tuple[str, str]] = (), *, fold: Fold) -> str:
    """Write one line, folded, with its end.

    value   as the file has it, escaped
    Source  text 003, adding a vCard or iCalendar line (VC-19, IC-12)
    """
    line = f"{name.translate(_UPPER)}{''.join(f';{each}={chosen}' for each, chosen in parameters)}:{value}"
    # Deviation: a lone surrogate, which no encoding can write, becomes a replacement character.
    return fold(line if line.isascii() else _SURROGATE.sub("\ufffd", line))


def fold_octets(line: str) -> str:
    """Fold a line to at most 75 octets of UTF-8 without splitting a letter; with its end.

    Source  RFC 5545, 3.1; RFC 2426, 2.6
    """
    if line.isascii():
        return fold_letters(line)
    octets = line.encode()
    parts: list[bytes] = []
    start, longest = 0, _FIRST_LINE
    while len(octets) - start > longest:
        end = start + longest
        while octets[end] & 0xC0 == 0x80:  # noqa: PLR2004 - a continuation byte of UTF-8
            end -= 1
        parts.append(octets[start:end])
        start, longest = end, _NEXT_LINE
    return b"\r\n ".join((*parts, octets[start:])).decode() + "\r\n"


def fold_letters(line: str) -> str:
    """Fold a line after 75 code points, and then after 74 each, as text 003 has it (C-15); with its end."""
    if len(line) <= _FIRST_LINE:
        return line + "\r\n"
    rest = [line[at : at + _NEXT_LINE] for at in range(_FIRST_LINE, len(line), _NEXT_LINE)]
    return "\r\n ".join((line[:_FIRST_LINE], *rest)) + "\r\n"


def escape(text: str, *, with_semicolons: bool = True) -> str:
    r"""Escape a text: \, commas and semicolons with a \ before them, line ends as \n (VC-18, IC-12)."""
    pattern = _ESCAPED if with_semicolons else _ESCAPED_BUT_SEMICOLONS
    return pattern.sub(_escape_one, text)


def clean(text: str) -> str:
    """Strip white space and control characters except tabs; other line ends of Unicode become newlines."""
    return text.translate(_CLEANED).strip(SPACE)


def is_passed_on(text: str) -> bool:
    """Say whether a text is an absolute URL that is safe to export: it runs no script, and leads to no local file."""
    return is_absolute_url(text) and _KEPT_BACK.match(text) is None


def is_name(text: str) -> bool:
    """Say whether a text can be the name of a line: ASCII letters, digits and hyphens, at most 60."""
    return _NAME.fullmatch(text) is not None


def _escape_one(match: re.Match[str]) -> str:
    found = match[0]
    return rf"\{found}" if found in "\\,;" else r"\n"
