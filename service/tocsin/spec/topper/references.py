"""Character references as the plain-text table writes and reads them."""

from __future__ import annotations

import re
from html.entities import html5

_WRITTEN = {
    '"': "&quot;",
    "'": "&#39;",
    "\N{LEFT DOUBLE QUOTATION MARK}": "&ldquo;",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "&rdquo;",
    "\N{LEFT SINGLE QUOTATION MARK}": "&lsquo;",
    "\N{RIGHT SINGLE QUOTATION MARK}": "&rsquo;",
    "\N{DOUBLE LOW-9 QUOTATION MARK}": "&bdquo;",
    "\N{SINGLE LOW-9 QUOTATION MARK}": "&sbquo;",
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": "&laquo;",
    "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}": "&raquo;",
    "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}": "&lsaquo;",
    "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}": "&rsaquo;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
    "&": "&amp;",
}
_LEGACY = "|".join(sorted(name for name in html5 if not name.endswith(";")))
# An ampersand is escaped only where some reader of HTML would take it for the start of a reference.
_ESCAPED = re.compile(
    f"[{''.join(mark for mark in _WRITTEN if mark != '&')}]"
    f"|&(?=#[0-9]|#[xX][0-9a-fA-F]|[A-Za-z][A-Za-z0-9]*;|(?:{_LEGACY}))"
)
_REFERENCE = re.compile(r"&(?:#(?P<decimal>[0-9]+)|#[xX](?P<hex>[0-9a-fA-F]+)|(?P<name>[A-Za-z][A-Za-z0-9]*));")
_LONGEST_DIGITS = 7  # of U+10FFFF in decimal; more, without leading zeros, are beyond it
_HIGHEST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_C1 = range(0x80, 0xA0)
MARKS = "".join(mark for mark in _WRITTEN if mark not in "&\n")
"""What never stands raw inside a cell: the quotation marks, TAB and CR (LF ends the line)."""


class BadReference(ValueError):
    """A numeric reference to something that is no character; `place` is where its `&` stands."""

    def __init__(self, reference: str, place: int) -> None:
        super().__init__(f"bad reference {reference[:20]}: it names no character")
        self.place = place


def escape(datum: str) -> str:
    """Write a datum as a cell holds it: `html.unescape` gives it back."""
    return _ESCAPED.sub(lambda match: _WRITTEN[match[0]], datum)


def unescape(cell: str) -> str:
    """Read a datum from its cell. Only references with their semicolon are read; an unknown name stands for itself.

    Raises BadReference for a number that is 0, a surrogate, or beyond U+10FFFF.
    """
    return _REFERENCE.sub(_read, cell)


def _read(match: re.Match[str]) -> str:
    if match["name"] is not None:
        return html5.get(match["name"] + ";", match[0])
    digits, base = (match["decimal"], 10) if match["decimal"] is not None else (match["hex"], 16)
    digits = digits.lstrip("0")
    number = int(digits, base) if 0 < len(digits) <= _LONGEST_DIGITS else 0
    if number == 0 or number in _SURROGATES or number > _HIGHEST:
        raise BadReference(match[0], match.start())
    # As HTML decodes it: what windows-1252 defines of 128 to 159 is meant by it.
    return bytes([number]).decode("cp1252", "ignore") or chr(number) if number in _C1 else chr(number)
