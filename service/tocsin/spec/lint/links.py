"""Links: what their attributes say beside the URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.infrastructure.keywords import is_valid_boolean, is_valid_keyword
from tocsin.spec.links.icons import read_sizes
from tocsin.spec.lint.media import is_media_query_list
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.lint.page import WrittenPage

_BOOLEANS = (("link", "disabled"), ("area", "nohref"), ("time", "pubdate"))
_KEYWORDS = {
    "crossorigin": ("", "anonymous", "use-credentials"),
    "fetchpriority": ("auto", "high", "low"),
    "referrerpolicy": (
        "",
        "no-referrer",
        "no-referrer-when-downgrade",
        "origin",
        "origin-when-cross-origin",
        "same-origin",
        "strict-origin",
        "strict-origin-when-cross-origin",
        "unsafe-url",
    ),
    "shape": ("circ", "circle", "default", "poly", "polygon", "rect", "rectangle"),
}


def check_links(page: WrittenPage) -> Iterator[Found]:
    """Judge links by their attributes, but for URLs, types and languages (CI-11, ENUM-02, LK-01, LK-03, LK-25)."""
    for element in page.named("link"):
        yield from _check_link(page, element)
    for element in page.named("a", "area"):
        if element.get("rel") is not None and element.get("href") is None:
            message = f"without an href this {element.tag} element is no link, so its rel says nothing; leave it out"
            yield Found(page.place_in(element, "rel"), "LK-03", Level.WARNING, message)
    for element in page.named("a", "area", "link"):
        media = element.get("media")
        if media is not None and not is_media_query_list(media):
            message = f'{shown(media)} is no media query; write such as "print" or "screen and (min-width: 40em)"'
            yield Found(page.place_in(element, "media"), "CI-11", Level.ERROR, message)
        yield from _check_keywords(page, element)
    for tag, attribute in _BOOLEANS:
        for element in page.named(tag):
            yield from _check_boolean(page, element, attribute)


def _check_link(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    rel = element.get("rel")
    types = {lower_ascii(token) for _, token in page.tokens(element, "rel")}
    if not types and not any(element.get(name) for name in ("rev", "itemprop", "property")):
        message = "a link element without rel links to nothing; write what the other resource is to this page"
        yield Found(element.span[0], "LK-01", Level.WARNING, message)
    elif not element.get("href") and not element.get("imagesrcset"):
        message = "a link element without href links to nothing; write the URL of the other resource"
        yield Found(page.place_in(element, "rel") if rel else element.span[0], "LK-01", Level.WARNING, message)
    if {"alternate", "stylesheet"} <= types and not element.get("title"):
        message = "nobody can choose an alternate stylesheet that has no title; give it one"
        yield Found(page.place_in(element, "rel"), "LK-33", Level.ERROR, message)
    if element.get("sizes") is not None:
        yield from _check_sizes(page, element)


def _check_sizes(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    seen: set[str] = set()
    for place, token in page.tokens(element, "sizes"):
        size = lower_ascii(token)
        if size in seen:
            message = f"{shown(token)} stands twice in one value; remove one"
            yield Found(place, "TOK-02", Level.ERROR, message)
        elif not read_sizes(token):
            message = f'{shown(token)} is no size; write such as "16x16", or "any"'
            yield Found(place, "LK-25", Level.ERROR, message)
        elif "X" in token:
            message = f"not every reader takes {shown(token)} for a size; write the x small"
            yield Found(place, "LK-25", Level.WARNING, message)
        seen.add(size)


def _check_keywords(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    for attribute, keywords in _KEYWORDS.items():
        value = element.get(attribute)
        if value is not None and not is_valid_keyword(value, keywords):
            known = ", ".join(keyword for keyword in keywords if keyword)
            message = f"{shown(value)} is none of the words that {attribute} knows; write one of {known}"
            yield Found(page.place_in(element, attribute), "ENUM-02", Level.ERROR, message)


def _check_boolean(page: WrittenPage, element: PlacedElement, attribute: str) -> Iterator[Found]:
    value = element.get(attribute)
    if value is not None and not is_valid_boolean(attribute, value):
        message = f"{attribute} is true whatever its value is; write the bare word, or leave it out for false"
        yield Found(page.place_in(element, attribute), "NUM-03", Level.ERROR, message)
