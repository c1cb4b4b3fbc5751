"""A page as the checker's rules see it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tocsin.spec.html.decoding import decode
from tocsin.spec.html.layout import value_span
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.html.page import Kind, find_kind, find_page_encoding
from tocsin.spec.html.positions import read_places
from tocsin.spec.html.xml_positions import read_xml_places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement, Places

_TOKEN = re.compile(f"[^{SPACE}]+")
_MOST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page's text, and what stands in it.

    body          the bytes that it was read from
    content_type  the value of the HTTP header, None if there was none
    encoding      its name, in lower case
    """

    body: bytes
    content_type: str | None
    kind: Kind
    encoding: str
    text: str
    places: Places

    def named(self, *tags: str) -> Iterator[PlacedElement]:
        """Give the elements of these names, in tree order."""
        return (element for element in self.places.elements if element.tag in tags)

    def place_in(self, element: PlacedElement, attribute: str, offset: int = 0) -> int:
        """Say where a letter of an attribute's value stands; where the value begins, if references blur that."""
        if attribute not in element.spans:
            return element.span[0]
        start, end, _ = value_span(self.text, element.spans[attribute])
        if start == end or "&" in self.text[start:end]:
            return start if start < end else element.spans[attribute][0]
        return min(start + offset, end - 1)

    def tokens(self, element: PlacedElement, attribute: str) -> list[tuple[int, str]]:
        """Take the value of an attribute apart at its white space: the tokens, each with its place."""
        value = element.get(attribute) or ""
        if attribute not in element.spans:
            return [(element.span[0], token) for token in _TOKEN.findall(value)]
        start, end, _ = value_span(self.text, element.spans[attribute])
        raw = self.text[start:end]
        if "&" in raw:
            return [(start, token) for token in _TOKEN.findall(value)]
        return [(start + match.start(), match[0]) for match in _TOKEN.finditer(raw)]


def open_page(body: bytes, content_type: str | None) -> WrittenPage | None:
    """Read what is to be checked; None if the bytes are no page.

    Raises TooComplex for a page that no parser may be given.
    """
    kind, _ = find_kind(body, content_type)
    if kind is Kind.OTHER:
        return None
    encoding = find_page_encoding(body, content_type)
    text = decode(body, encoding)
    places = read_xml_places(body, encoding, text) if kind is Kind.XHTML else read_places(text)
    return WrittenPage(body, content_type, kind, encoding, text, places)


def shown(value: str) -> str:
    """Give a value as messages show it: quoted, on one line, and not too long."""
    flat = " ".join(value.split())
    return f'"{flat}"' if len(flat) <= _MOST_SHOWN else f'"{flat[: _MOST_SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"'
