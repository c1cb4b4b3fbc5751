"""The value of an mset attribute: when the author referred to a page, and where copies of it are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tocsin.spec.html.microsyntax import SPACE, lower_ascii
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_valid_url, resolve

# The number of candidates of one value that are read.
MOST_CANDIDATES = 1000

_TOKEN = re.compile(f"[^{SPACE}]++")
_SERVER_ERRORS = 500


class MsetProblem(StrEnum):
    """A fault of a value, by the name that a checker gives it."""

    EMPTY = "mset-empty"
    EMPTY_CANDIDATE = "mset-empty-candidate"
    DATE_AND_MORE = "mset-date-and-more"
    COPY_AND_MORE = "mset-copy-and-more"
    UNRESOLVABLE = "mset-unresolvable-url"
    INVALID_URL = "mset-invalid-url"
    TOO_MANY = "mset-too-many"


_MESSAGES = {
    MsetProblem.EMPTY: "mset is empty; leave it out where neither a date nor a copy is known",
    MsetProblem.EMPTY_CANDIDATE: "nothing stands beside this comma; leave the comma out",
    MsetProblem.DATE_AND_MORE: (
        "a date of reference stands alone; put a comma after it, or write a copy's URL before its date"
    ),
    MsetProblem.COPY_AND_MORE: "a copy is its URL, a date, and one link type; put a comma before the next copy",
    MsetProblem.UNRESOLVABLE: "the URL of this copy leads nowhere; write it whole, such as https://example.org/a",
    MsetProblem.INVALID_URL: "the URL of this copy is not valid; percent-encode what may not stand in one",
    MsetProblem.TOO_MANY: f"only the first {MOST_CANDIDATES} candidates are read; leave out the others",
}


@dataclass(frozen=True, slots=True)
class MsetError:
    """Something that an author should mend.

    offset  of the fault in the value, in code points
    length  of that; 0 for a place between two commas
    """

    code: MsetProblem
    offset: int
    length: int

    @property
    def message(self) -> str:
        """The fault and the mend."""
        return _MESSAGES[self.code]


@dataclass(frozen=True, slots=True)
class MsetCopy:
    """A copy of the page that the link leads to.

    url       absolute, of any scheme
    datetime  when the copy was made, as written (MS-06)
    rel       the copy's link type, in lower case unless it is a URL
    rel_at    offset of the link type in the value, for a checker that knows the types (MS-08)
    """

    url: str
    datetime: str | None = None
    rel: str | None = None
    rel_at: int | None = None


@dataclass(frozen=True, slots=True)
class MsetValue:
    """What an mset attribute says.

    temporal  when the author referred to the target, as written, in order (MS-06)
    copies    in order
    errors    in the order of their places; the value is valid without any
    """

    temporal: tuple[str, ...]
    copies: tuple[MsetCopy, ...]
    errors: tuple[MsetError, ...]

    @property
    def valid(self) -> bool:
        """Whether the value is valid, apart from its link types."""
        return not self.errors


def parse_mset(value: str, base: str | None, encoding: str = "utf-8") -> MsetValue:
    """Read an mset attribute; never raises, and keeps the good candidates beside the bad ones.

    Each comma separates, also one within a URL (C-45). A candidate whose first token is a valid date or a valid
    global date and time is a temporal reference, any other is the URL of a copy (C-44).
    base      absolute, of the element; None where it is not known: relative URLs are then errors
    encoding  of the document, for the queries of its URLs
    Source    text 002, the mset attribute (MS-02 to MS-08, MS-16)
    """
    temporal: list[str] = []
    copies: list[MsetCopy] = []
    errors: list[MsetError] = []
    if not value.strip(SPACE):
        return MsetValue((), (), (MsetError(MsetProblem.EMPTY, 0, len(value)),))
    for count, (start, end) in enumerate(_candidates(value)):
        if count == MOST_CANDIDATES:
            errors.append(MsetError(MsetProblem.TOO_MANY, start, len(value) - start))
            break
        tokens = [(token.start(), token[0]) for token in _TOKEN.finditer(value, start, end)]
        if not tokens:
            errors.append(MsetError(MsetProblem.EMPTY_CANDIDATE, start, end - start))
        elif not _is_datetime(tokens[0][1]):
            copy, error = _read_copy(tokens, base, encoding)
            copies.extend([copy] if copy else [])
            errors.extend([error] if error else [])
        elif len(tokens) == 1:
            temporal.append(tokens[0][1])
        else:
            errors.append(_error(MsetProblem.DATE_AND_MORE, tokens))
    return MsetValue(tuple(temporal), tuple(copies), tuple(errors))


class CopyOffer(StrEnum):
    """How strongly copies are to be offered; none is ever fetched unasked (MS-09)."""

    SHOULD = "should"
    MAY = "may"


def how_to_offer(status: int | None) -> CopyOffer:
    """Return how strongly copies of a page are to be offered after it was requested.

    status  of its answer; None where there was none: no such server, no connection, no response
    Source  text 002, secondary behaviour for errors (MS-12), primary behaviour for all else (MS-10)
    """
    return CopyOffer.SHOULD if status is None or status >= _SERVER_ERRORS else CopyOffer.MAY


def _candidates(value: str) -> Iterator[tuple[int, int]]:
    start = 0
    while (comma := value.find(",", start)) >= 0:
        yield start, comma
        start = comma + 1
    yield start, len(value)


def _is_datetime(token: str) -> bool:
    return is_valid_date(token) or is_valid_global(token)


def _read_copy(
    tokens: list[tuple[int, str]], base: str | None, encoding: str
) -> tuple[MsetCopy | None, MsetError | None]:
    """Read a URL, perhaps a date, perhaps one link type; a copy may be worth keeping though its URL is not valid."""
    (start, reference), *others = tokens
    datetime = others.pop(0)[1] if others and _is_datetime(others[0][1]) else None
    rel_at, rel = others.pop(0) if others else (None, None)
    if others or (rel is not None and _is_datetime(rel)):
        return None, _error(MsetProblem.COPY_AND_MORE, tokens)
    url = resolve(reference, base, encoding)
    if url is None:
        return None, MsetError(MsetProblem.UNRESOLVABLE, start, len(reference))
    if rel is not None and ":" not in rel:
        rel = lower_ascii(rel)
    invalid = None if is_valid_url(reference, encoding) else MsetError(MsetProblem.INVALID_URL, start, len(reference))
    return MsetCopy(url, datetime, rel, rel_at), invalid


def _error(code: MsetProblem, tokens: list[tuple[int, str]]) -> MsetError:
    start, (last, text) = tokens[0][0], tokens[-1]
    return MsetError(code, start, last + len(text) - start)
