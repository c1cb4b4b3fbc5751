"""A page as the checker's rules read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from tocsin.spec.html.decoding import decode
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.html.page import Kind, find_kind, find_page_encoding
from tocsin.spec.html.positions import PlacedElement, Places, read_places, read_xml_places, value_span

# The number of tokens of one attribute that are read.
MOST_TOKENS = 1000

_TOKEN = re.compile(f"[^{SPACE}]+")
_MOST_SHOWN = 60
_LONGEST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an attribute, and its place in the text.

    start, end  in the page's text, without quotation marks
    text        the value, with its references read
    is_blurred  whether a letter of it cannot be found in the text: there are references, or it stands elsewhere
    """

    start: int
    end: int
    text: str
    is_blurred: bool

    def at(self, offset: int) -> int:
        """Return the place of a letter of it in the page's text; the start of the value, if that is blurred."""
        return self.start if self.is_blurred else min(self.start + offset, self.end - 1)


@dataclass(frozen=True, slots=True)
class WrittenPage:
    """A page's text, and its elements with their places.

    body          the bytes that it was read from
    content_type  the value of the HTTP header, None if there was none
    encoding      its name, in lower case
    by_tag        the elements of each name, in tree order
    """

    body: bytes
    content_type: str | None
    kind: Kind
    encoding: str
    text: str
    places: Places
    by_tag: Mapping[str, Sequence[PlacedElement]]

    def named(self, *tags: str) -> Iterator[PlacedElement]:
        """Return the elements of these names: those of the first in tree order, then those of the next."""
        return chain.from_iterable(self.by_tag.get(tag, ()) for tag in tags)

    def value_at(self, element: PlacedElement, attribute: str) -> Value:
        """Find the value of an attribute in the text."""
        if attribute not in element.spans:
            return Value(element.span[0], element.span[0], element.get(attribute) or "", is_blurred=True)
        start, end, _ = value_span(self.text, element.spans[attribute])
        raw = self.text[start:end]
        if not raw:
            start = start if start < element.spans[attribute][1] else element.spans[attribute][0]
            return Value(start, start, "", is_blurred=True)
        if "&" in raw:
            return Value(start, end, element.get(attribute) or "", is_blurred=True)
        return Value(start, end, raw, is_blurred=False)

    def place_in(self, element: PlacedElement, attribute: str) -> int:
        """Return the start of the value of an attribute; the start of its name, if there is none."""
        return self.value_at(element, attribute).start

    def tokens(self, element: PlacedElement, attribute: str) -> list[tuple[int, str]]:
        """Split the value of an attribute at its white space: the first MOST_TOKENS tokens, with their places."""
        value = self.value_at(element, attribute)
        return [(value.at(match.start()), match[0]) for match in islice(_TOKEN.finditer(value.text), MOST_TOKENS)]


def open_page(body: bytes, content_type: str | None) -> WrittenPage | None:
    """Read what is to be checked; None if the bytes are no page.

    Raises TooComplex for a page that is too complex to parse.
    """
    kind, _ = find_kind(body, content_type)
    if kind is Kind.OTHER:
        return None
    encoding = find_page_encoding(body, content_type)
    text = decode(body, encoding)
    places = read_xml_places(body, encoding, text) if kind is Kind.XHTML else read_places(text)
    by_tag: dict[str, list[PlacedElement]] = {}
    for element in places.elements:
        by_tag.setdefault(element.tag, []).append(element)
    return WrittenPage(body, content_type, kind, encoding, text, places, by_tag)


def shown(value: str) -> str:
    """Return a value as messages show it: quoted, on one line, and not too long."""
    flat = " ".join(value[:_LONGEST_SHOWN].split())
    return f'"{flat}"' if len(flat) <= _MOST_SHOWN else f'"{flat[: _MOST_SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"'
