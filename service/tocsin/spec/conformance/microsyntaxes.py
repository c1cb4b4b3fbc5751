"""The small syntaxes of text 004: numbers, keywords, sets of tokens and hash-name references.

`html/microsyntax` has those that Tocsin uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from tocsin.spec.html.microsyntax import SPACE, ZS, lower_ascii, split_tokens

LONGEST_INTEGER = 4000

_NONNEG = re.compile(f"[{SPACE}]*+([0-9]++)")
_INTEGER = re.compile(f"[{SPACE}]*+(-?)([0-9]++)")
_FLOAT = re.compile(rf"[{SPACE}]*+(-?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++))")
_DIGITS = re.compile("[0-9]++")
_VALID_INTEGER = re.compile("-?[0-9]++")
_VALID_FLOAT = re.compile(r"-?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)")
_VALID_INTEGERS = re.compile("-?[0-9]++(?:,-?[0-9]++)*+")

_DENOMINATORS = {"%": 100, "\u066a": 100, "\ufe6a": 100, "\uff05": 100, "\u2030": 1000, "\u2031": 10_000}
_RUN = re.compile("[0-9.]++")
_DIGIT = re.compile("[0-9]")

_SEPARATORS = " ,;"
_ENTRY = re.compile(f"[^{_SEPARATORS}]++")


@dataclass(frozen=True, slots=True)
class Ratio:
    """One or two numbers of a ratio.

    second       None where there is a denominator instead
    denominator  the punctuation that stood after the first number
    """

    first: Decimal
    second: Decimal | None = None
    denominator: str | None = None

    @property
    def denominator_value(self) -> int | None:
        """What the first number is out of: 100, 1,000 or 10,000 (NUM-11)."""
        return None if self.denominator is None else _DENOMINATORS[self.denominator]


def parse_nonneg(text: str) -> int | None:
    """Read a non-negative integer; None for an error (NUM-05)."""
    match = _NONNEG.match(text)
    return None if match is None else _to_int(match[1])


def parse_int(text: str) -> int | None:
    """Read an integer; None for an error (NUM-07)."""
    match = _INTEGER.match(text)
    if match is None:
        return None
    return -_to_int(match[2]) if match[1] else _to_int(match[2])


def parse_float(text: str) -> Decimal | None:
    """Read a real number, exactly; None for an error (NUM-09)."""
    match = _FLOAT.match(text)
    if match is None:
        return None
    number = Decimal(match[1])
    return number or number.copy_abs()  # there is one zero


def is_valid_int(text: str) -> bool:
    """Return whether the text is a valid integer (NUM-06)."""
    return _VALID_INTEGER.fullmatch(text) is not None


def is_valid_float(text: str) -> bool:
    """Return whether the text is a valid floating point number (NUM-08)."""
    return _VALID_FLOAT.fullmatch(text) is not None


def is_valid_int_list(text: str) -> bool:
    """Return whether the text is a valid list of integers: single commas between them, no spaces (NUM-14)."""
    return _VALID_INTEGERS.fullmatch(text) is not None


def parse_ratio(text: str) -> Ratio | None:
    """Find one or two numbers of a ratio in a text; None where the text finds nothing.

    A lone number without a denominator is nothing (C-48), and a point alone is no number (C-25).
    Source  text 004, 2.4.3.4 (NUM-10 to NUM-12)
    """
    first = _find_number(text, 0)  # Steps 1 to 4.
    if first is None:
        return None
    number, end = first
    rest = text[end:].lstrip(ZS)  # Step 5.
    if rest[:1] in _DENOMINATORS:  # Steps 6 to 8.
        return None if _DIGIT.search(rest) else Ratio(number, denominator=rest[0])
    second = _find_number(text, end)  # Steps 9 to 11.
    if second is None:
        return None
    other, end = second
    if text[end : end + 1] in _DENOMINATORS or _DIGIT.search(text, end):  # Steps 12 and 13.
        return None
    return Ratio(number, other)


def _find_number(text: str, start: int) -> tuple[Decimal, int] | None:
    """Find a number, and where what was examined for it ends; None for nothing and for an error alike."""
    run = _RUN.search(text, start)
    if run is None or run[0].count(".") > 1:
        return None
    number = parse_float(run[0])
    return None if number is None else (number, run.end())


def parse_int_list(text: str) -> list[int]:
    """Read a list of integers: other text ends the list or is dropped, as in 2.4.3.6 of text 004 (NUM-15)."""
    numbers: list[int] = []
    for entry in _ENTRY.finditer(text):  # Steps 4 to 6.
        number, go_on = _read_entry(entry[0])
        if number is not None:
            numbers.append(number)
        if not go_on:
            break
    return numbers


def _read_entry(entry: str) -> tuple[int | None, bool]:
    """Read the text between two separators (step 13): a number, and whether the list continues after it."""
    negated = started = bogus = False
    for place, character in enumerate(entry):
        if character in "0123456789":
            digits = _DIGITS.match(entry, place)
            end = digits.end() if digits else place
            if entry[end : end + 1] not in ("", "-", "."):
                return None, False  # junk straight after the digits
            value = _to_int(entry[place:end])
            return -value if negated else value, True
        if character == "-":
            negated = not started and not bogus
            started = True
        else:
            negated = False
            if character != ".":
                bogus = True
                if started:
                    return None, False
    return None, False  # no digits


def _to_int(digits: str) -> int:
    kept = digits.lstrip("0")
    return int(kept or "0") if len(kept) <= LONGEST_INTEGER else 10**LONGEST_INTEGER - 1


State = TypeVar("State")


def read_state(
    value: str | None,
    keywords: Mapping[str, State],
    *,
    invalid_default: State | None = None,
    missing_default: State | None = None,
) -> State | None:
    """Return the state of an enumerated attribute; None where it has none.

    value     None if the attribute is absent
    keywords  in lower case, each with its state; the empty string may be one
    Source    text 004, 2.4.7 (ENUM-01, ENUM-03)
    """
    if value is None:
        return missing_default
    state = keywords.get(lower_ascii(value))
    if state is not None:
        return state
    return missing_default if invalid_default is None else invalid_default


_PIECES = re.compile(f"[{SPACE}]++|[^{SPACE}]++")


def are_unique(text: str) -> bool:
    """Return whether all tokens of the text are different, compared exactly (TOK-02)."""
    tokens = split_tokens(text)
    return len(tokens) == len(set(tokens))


def remove_token(text: str, token: str) -> str:
    """Remove every occurrence of a token from a text, with the space around it (TOK-04).

    One space stays between two neighbours that are left, none at the ends; other space stays as it is.
    Source  text 004, 2.4.6, whose step 10 is to return to step 5 (C-49)
    """
    output: list[str] = []
    removed = False
    for piece in _PIECES.findall(text):
        if piece == token:  # Step 8.
            removed = True
            while output and output[-1][0] in SPACE:
                output.pop()
        elif not removed:
            output.append(piece)
        elif piece[0] not in SPACE:
            output.extend([" ", piece] if output else [piece])
            removed = False
    return "".join(output)


def find_by_hash_name(reference: str, elements: Iterable[tuple[str | None, str | None]]) -> int | None:
    """Find the element that a hash-name reference names; its place among the elements, None if there is none.

    elements  id and name of each element of the type that is meant, in tree order; None where one is absent
    Source    text 004, 2.4.8 (REF-01); letters match whatever their case, without normalisation (LM-03)
    """
    _, _, name = reference.partition("#")
    if not name:
        return None
    wanted = name.lower()
    for place, attributes in enumerate(elements):
        if any(attribute is not None and attribute.lower() == wanted for attribute in attributes):
            return place
    return None
