"""What the document as a whole must keep: XML, its base, its languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.microsyntax import SPACE, lower_ascii
from tocsin.spec.html.page import Kind
from tocsin.spec.lint.page import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.lint.page import WrittenPage


# Pages that are served as XML.


def check_xml(page: WrittenPage) -> Iterator[Found]:
    """Judge whether an XHTML page is XML, and HTML at all (CI-09)."""
    if page.kind is not Kind.XHTML:
        return
    if page.places.stop is not None:
        message = f"not well-formed XML: {page.places.stop.message}; mend it, what follows is not looked at"
        yield Found(page.places.stop.place, "CI-09", Level.ERROR, message)
    elif next(page.named("html"), None) is None:
        message = 'the page has no html element of HTML; write <html xmlns="http://www.w3.org/1999/xhtml">'
        yield Found(0, "CI-09", Level.ERROR, message)


# What base elements say: only the first one in the head counts, and only for what follows it.


_WITH_URLS = (("a", "href"), ("area", "href"), ("link", "href"), ("img", "src"), ("object", "data"))


def check_bases(page: WrittenPage) -> Iterator[Found]:
    """Judge where base elements stand (URL-07)."""
    in_force = False
    used: str | None = None
    for element in page.places.elements:
        if used is None and any(element.tag == tag and element.get(attribute) for tag, attribute in _WITH_URLS):
            used = element.tag
        if element.tag != "base" or element.get("href") is None:
            continue
        if not element.in_head:
            message = "a base element outside of the head has no effect; move it to the beginning of the head"
        elif in_force:
            message = "only the first base element with a URL counts; remove this one"
        elif used is not None:
            message = f"the base is set behind the {used} element whose URL it changes; let it stand before all URLs"
        else:
            message = None
        in_force = in_force or element.in_head
        if message is not None:
            yield Found(element.span[0], "URL-07", Level.WARNING, message)


# The shape of language tags.


_TAG = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})"  # language
    r"(?:-[a-z]{4})?"  # script
    r"(?:-(?:[a-z]{2}|[0-9]{3}))?"  # region
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"  # variants
    r"(?:-[0-9a-wyz](?:-[a-z0-9]{2,8})+)*"  # extensions
    r"(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+"
    r"|i-[a-z]{3,8}|en-gb-oed|sgn-(?:be-(?:fr|nl)|ch-de)|art-lojban|cel-gaulish|no-(?:bok|nyn)|zh-(?:guoyu|hakka|min|min-nan|xiang)"
)
_LONGEST = 100


def is_language_tag(text: str) -> bool:
    """Say whether a text has the shape of a language tag; which languages there are is not asked.

    Source  BCP 47 (RFC 5646, 2.1).
    """
    return len(text) <= _LONGEST and text.isascii() and _TAG.fullmatch(text.lower()) is not None


def check_languages(page: WrittenPage) -> Iterator[Found]:
    """Judge the languages of elements and of links' targets (LM-26, LK-17)."""
    for element in page.places.elements:
        for attribute in ("lang", "xml:lang"):
            value = element.get(attribute)
            if value and not is_language_tag(value):  # an empty one says that the language is unknown
                yield Found(page.place_in(element, attribute), "LM-26", Level.WARNING, _message(value))
        value = element.get("hreflang") if element.tag in {"a", "area", "link"} else None
        if value is not None and not is_language_tag(value):
            yield Found(page.place_in(element, "hreflang"), "LK-17", Level.WARNING, _message(value))
    for element in page.named("meta"):
        if lower_ascii(element.get("http-equiv") or "") == "content-language":
            tags = (tag.strip(SPACE) for tag in (element.get("content") or "").split(","))
            wrong = next((tag for tag in tags if not is_language_tag(tag)), None)
            if wrong is not None:
                yield Found(page.place_in(element, "content"), "LM-26", Level.WARNING, _message(wrong))


def _message(value: str) -> str:
    mend = value.replace("_", "-")
    example = f'"{mend}"' if mend != value and is_language_tag(mend) else '"en", "en-GB" or "zh-Hans"'
    return f"{shown(value)} is no language tag; write such as {example}"
