"""What a page's author did that the awareness specification forbids or calls unwise."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from tocsin.spec.html.decoding import decode
from tocsin.spec.html.layout import position_of
from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.html.page import Kind, find_kind, find_page_encoding
from tocsin.spec.html.positions import read_layout
from tocsin.spec.topper.dates import granularity
from tocsin.spec.topper.written import WrittenElement, WrittenToken, find_elements

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = ("true", "false")
_GRANULARITIES = ("year", "month", "day", "minute", "second", "fraction of a second")


class Level(StrEnum):
    """An error breaks a rule that an author must keep; a warning names what is unwise."""

    ERROR = "error"
    WARNING = "warning"


class Finding(NamedTuple):
    """One thing found in a page.

    line, column  from 1, the column in code points
    rule          the requirement that the page breaks
    """

    line: int
    column: int
    rule: str
    level: Level
    message: str


class _Found(NamedTuple):
    place: int
    rule: str
    level: Level
    message: str


def lint(body: bytes, content_type: str | None = None) -> tuple[Finding, ...]:
    """Find every rule of section 2.1 that a page breaks, in the order of its text.

    content_type  the value of the HTTP header, None if there was none
    Raises TooComplex for a page that no parser may be given.
    Source        awareness spec 2.1 (T01, T05-T08, T10-T12); the three names may coexist (T16).
    """
    if find_kind(body, content_type)[0] is Kind.OTHER:
        return ()
    text = decode(body, find_page_encoding(body, content_type))
    elements = find_elements(text, read_layout(text).metas)
    found = [*_lint_page(elements)]
    for element in elements:
        found += _lint_element(element)
    return tuple(Finding(*position_of(text, at.place), at.rule, at.level, at.message) for at in sorted(found))


def _lint_element(element: WrittenElement) -> Iterator[_Found]:
    if not element.tokens:
        yield _Found(
            element.placed.tag[0], "T12", Level.ERROR, f"{element.field} without a value counts as absent; give it one"
        )
        return
    seen: set[str] = set()
    for token in element.tokens:
        if token.interval is None:
            yield from _lint_word(element, token)
        elif token.text in seen:
            yield _Found(
                token.start, "T06", Level.ERROR, f"{token.text} stands twice in one value and counts once; remove one"
            )
        seen.add(token.text)
    yield from _lint_granularity(element)


def _lint_word(element: WrittenElement, token: WrittenToken) -> Iterator[_Found]:
    """Judge a token that is no date."""
    shown = token.text[:40]
    if lower_ascii(token.text) in _WORDS:
        if element.field != "topper":
            message = f"{shown} has no place in {element.field}, which holds dates; write a topper element for it"
            yield _Found(token.start, "T08", Level.ERROR, message)
        elif len(element.tokens) > 1:
            yield _Found(
                token.start, "T01", Level.ERROR, f"{shown} stands alone in its value; leave out it or the rest"
            )
    elif element.field == "topper" and not shown[:1].isdecimal():
        message = f"{shown} is neither true nor false nor a date such as 2026-11-21; write one of them"
        yield _Found(token.start, "T01", Level.ERROR, message)
    else:
        message = f"{shown} is no date of the W3C note; write such as 2026, 2026-11, 2026-11-21 or 2026-11-21T08:20Z"
        yield _Found(token.start, "T05", Level.ERROR, message)


def _lint_granularity(element: WrittenElement) -> Iterator[_Found]:
    dates = [token for token in element.tokens if token.interval is not None]
    for token in dates[1:]:
        fine, first = granularity(token.text), granularity(dates[0].text)
        if fine != first:
            message = (
                f"{token.text} says a {_GRANULARITIES[fine]}, {dates[0].text} a {_GRANULARITIES[first]}: "
                f"write all dates of a value alike"
            )
            yield _Found(token.start, "T10", Level.WARNING, message)
            return


def _lint_page(elements: tuple[WrittenElement, ...]) -> Iterator[_Found]:
    topper = [token for element in elements if element.field == "topper" for token in element.tokens]
    refused = [token for token in topper if lower_ascii(token.text) == "false"]
    wanted = [token for token in topper if token.interval is not None or lower_ascii(token.text) == "true"]
    if wanted:
        for token in refused:
            message = f"a page says not both topper {wanted[0].text} and topper false; remove one of them"
            yield _Found(token.start, "T07", Level.ERROR, message)
    major = {
        token.interval: token.text
        for element in elements
        if element.field == "topper-major"
        for token in element.tokens
    }
    for element in elements:
        for token in element.tokens:
            if element.field != "topper-major" and token.interval is not None and token.interval in major:
                also = major[token.interval]
                message = f"{token.text} is a major change too ({also} in topper-major); say it only there"
                yield _Found(token.start, "T11", Level.WARNING, message)
