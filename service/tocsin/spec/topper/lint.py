"""The checker's rules of the awareness specification, section 2.1, and the topper elements as authors write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tocsin.spec.html.microsyntax import SPACE, lower_ascii, split_tokens
from tocsin.spec.html.positions import FindingLevel, Found, PlacedMeta, value_span
from tocsin.spec.topper.dates import Interval, granularity, parse_token
from tocsin.spec.topper.state import TOPPER_FIELDS

_RAW_TOKEN = re.compile(f"[^{SPACE}]+")


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """A token of an element's content.

    text   with its references read
    start  its place in the page's text; the start of the value, if references blur it
    """

    text: str
    start: int

    @property
    def interval(self) -> Interval | None:
        """The time that it names, None if it is no date-time token."""
        return parse_token(self.text)


@dataclass(frozen=True, slots=True)
class WrittenElement:
    """A topper element in a page's text.

    field   one of `TOPPER_FIELDS`
    placed  the meta element and its places
    tokens  as written, none if the content is a null value
    """

    field: str
    placed: PlacedMeta
    tokens: tuple[WrittenToken, ...]


def find_elements(text: str, metas: Iterable[PlacedMeta]) -> tuple[WrittenElement, ...]:
    """Find the topper elements among a page's meta elements, in tree order."""
    return tuple(
        WrittenElement(field, placed, _tokens(text, placed))
        for placed in metas
        if placed.meta.name is not None and (field := lower_ascii(placed.meta.name)) in TOPPER_FIELDS
    )


def _tokens(text: str, placed: PlacedMeta) -> tuple[WrittenToken, ...]:
    if placed.meta.content is None:
        return ()
    tokens = split_tokens(placed.meta.content)
    start, end, _ = value_span(text, placed.attributes["content"])
    places = [start + match.start() for match in _RAW_TOKEN.finditer(text[start:end])]
    if len(places) != len(tokens):  # references to spaces
        places = [start] * len(tokens)
    return tuple(map(WrittenToken, tokens, places))


_WORDS = ("true", "false")
_MOST_SHOWN = 40
_GRANULARITIES = ("year", "month", "day", "minute", "second", "fraction of a second")


def find_topper_faults(text: str, metas: Iterable[PlacedMeta]) -> Iterator[Found]:
    """Find every rule of section 2.1 that a page breaks.

    metas   the page's meta elements with their places in its text
    Source  awareness spec 2.1 (T01, T05-T08, T10-T12); the three names may coexist (T16).
    """
    elements = find_elements(text, metas)
    yield from _lint_page(elements)
    for element in elements:
        yield from _lint_element(element)


def _cut(token: WrittenToken) -> str:
    """Return a token as messages show it: its length is the author's choice."""
    return token.text[:_MOST_SHOWN]


def _lint_element(element: WrittenElement) -> Iterator[Found]:
    if not element.tokens:
        yield Found(
            element.placed.tag[0],
            "T12",
            FindingLevel.ERROR,
            f"{element.field} without a value counts as absent; give it one",
        )
        return
    seen: set[str] = set()
    for token in element.tokens:
        if token.interval is None:
            yield from _lint_word(element, token)
        elif token.text in seen:
            yield Found(
                token.start,
                "T06",
                FindingLevel.ERROR,
                f"{_cut(token)} stands twice in one value and counts once; remove one",
            )
        seen.add(token.text)
    yield from _lint_granularity(element)


def _lint_word(element: WrittenElement, token: WrittenToken) -> Iterator[Found]:
    """Judge a token other than a date."""
    shown = _cut(token)
    if lower_ascii(token.text) in _WORDS:
        if element.field != "topper":
            message = f"{shown} has no place in {element.field}, which holds dates; write a topper element for it"
            yield Found(token.start, "T08", FindingLevel.ERROR, message)
        elif len(element.tokens) > 1:
            yield Found(
                token.start, "T01", FindingLevel.ERROR, f"{shown} stands alone in its value; leave out it or the rest"
            )
    elif element.field == "topper" and not shown[:1].isdecimal():
        message = f"{shown} is neither true nor false nor a date such as 2026-11-21; write one of them"
        yield Found(token.start, "T01", FindingLevel.ERROR, message)
    else:
        message = f"{shown} is no date of the W3C note; write such as 2026, 2026-11, 2026-11-21 or 2026-11-21T08:20Z"
        yield Found(token.start, "T05", FindingLevel.ERROR, message)


def _lint_granularity(element: WrittenElement) -> Iterator[Found]:
    dates = [token for token in element.tokens if token.interval is not None]
    for token in dates[1:]:
        fine, first = granularity(token.text), granularity(dates[0].text)
        if fine != first:
            message = (
                f"{_cut(token)} says a {_GRANULARITIES[fine]}, {_cut(dates[0])} a {_GRANULARITIES[first]}: "
                f"write all dates of a value alike"
            )
            yield Found(token.start, "T10", FindingLevel.WARNING, message)
            return


def _lint_page(elements: tuple[WrittenElement, ...]) -> Iterator[Found]:
    topper = [token for element in elements if element.field == "topper" for token in element.tokens]
    refused = [token for token in topper if lower_ascii(token.text) == "false"]
    wanted = [token for token in topper if token.interval is not None or lower_ascii(token.text) == "true"]
    if wanted:
        for token in refused:
            message = f"a page says not both topper {_cut(wanted[0])} and topper false; remove one of them"
            yield Found(token.start, "T07", FindingLevel.ERROR, message)
    major = {
        token.interval: _cut(token)
        for element in elements
        if element.field == "topper-major"
        for token in element.tokens
    }
    for element in elements:
        for token in element.tokens:
            if element.field != "topper-major" and token.interval is not None and token.interval in major:
                also = major[token.interval]
                message = f"{_cut(token)} is a major change too ({also} in topper-major); say it only there"
                yield Found(token.start, "T11", FindingLevel.WARNING, message)
