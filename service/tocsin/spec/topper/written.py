"""The topper elements of a page as they are written in its text: tokens with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tocsin.spec.html.layout import value_span
from tocsin.spec.html.microsyntax import SPACE, lower_ascii, split_tokens
from tocsin.spec.topper.dates import parse_token
from tocsin.spec.topper.state import TOPPER_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.spec.html.layout import PlacedMeta
    from tocsin.spec.topper.dates import Interval

_RAW_TOKEN = re.compile(f"[^{SPACE}]+")


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """A token of an element's content.

    text   with its references read
    start  where it stands in the page's text; where the value begins, if references blur that
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
    tokens  as they stand, none if the content is a null value
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
