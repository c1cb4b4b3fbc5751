"""The checker's rules for meta elements: names and values, robots, refresh pragmas, headers, encodings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from tocsin.spec.html.content_type import extract_encoding
from tocsin.spec.html.decoding import BOMS, PRESCAN_BYTES, encoding_for, prescan
from tocsin.spec.html.microsyntax import SPACE, lower_ascii, read_refresh
from tocsin.spec.html.page import Kind, is_encoding_declared
from tocsin.spec.html.positions import FindingLevel, Found, PlacedElement
from tocsin.spec.links.http_dates import read_http_date
from tocsin.spec.lint.page import MOST_TOKENS, WrittenPage, shown
from tocsin.spec.robots.directives import KNOWN_TERMS, ROBOTS, VALUED_TERMS, name_of
from tocsin.spec.topper.state import TOPPER_FIELDS

# What meta elements ask of robots.


_TERM = re.compile("[^,]+")
_OPPOSITES = {"index": ("noindex", "none"), "follow": ("nofollow", "none"), "all": ("noindex", "nofollow", "none")}
_UNTIL = "unavailable_after"


def check_robots(page: WrittenPage) -> Iterator[Found]:
    """Judge the terms of the robots meta elements, alone and together (LM-47, LM-49)."""
    terms = [*_find_terms(page)]
    until = False
    for place, term in terms:
        name = name_of(term)
        is_known = name in VALUED_TERMS if ":" in term else name in KNOWN_TERMS
        if not is_known and not (until and term[0].isdecimal()):  # the rest of a date that holds a comma
            message = f"no robot is known to obey {shown(term)}; {_mend(term)}"
            yield Found(place, "LM-49", FindingLevel.WARNING, message)
        until = name == _UNTIL
    said = {term for _, term in terms}
    for place, term in terms:
        against = next((other for other in _OPPOSITES.get(term, ()) if other in said), None)
        if against is not None:
            message = f"{term} stands against {against}, and the stricter one counts; remove one of them"
            yield Found(place, "LM-49", FindingLevel.WARNING, message)


def _find_terms(page: WrittenPage) -> Iterator[tuple[int, str]]:
    for element in page.named("meta"):
        if lower_ascii(element.get("name") or "") != ROBOTS:
            continue
        content = page.value_at(element, "content")
        for match in islice(_TERM.finditer(content.text), MOST_TOKENS):
            term = match[0].strip(SPACE)
            if term:
                offset = match.start() + len(match[0]) - len(match[0].lstrip(SPACE))
                yield content.at(offset), lower_ascii(term)


def _mend(term: str) -> str:
    if all(part in KNOWN_TERMS for part in term.split()):
        return "write a comma between its terms"
    return "take it out, or write index, noindex, follow, nofollow, all or none"


_NAMING = ("name", "http-equiv", "property", "itemprop", "charset")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_UNQUOTED_REST = re.compile(r"charset[\t\n\f\r ]*=", re.IGNORECASE)


def check_metas(page: WrittenPage) -> Iterator[Found]:
    """Judge each meta element by itself, and refresh pragmas beside one another (LM-16, LM-17, LM-19, ENUM-02)."""
    refreshes = 0
    for element in page.named("meta"):
        yield from _check_pair(page, element)
        equiv = element.get("http-equiv")
        if equiv is None:
            continue
        pragma = lower_ascii(equiv.strip(SPACE))
        if equiv != equiv.strip(SPACE):
            message = (
                f"http-equiv {shown(pragma)} has white space around it, so that no reader knows it; take that away"
            )
            yield Found(page.place_in(element, "http-equiv"), "ENUM-02", FindingLevel.ERROR, message)
        elif pragma == "refresh":
            refreshes += _counts(element)
            yield from _check_refresh(page, element, refreshes)
        elif pragma == "expires":
            yield from _check_expires(page, element)


def _check_pair(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    name = lower_ascii(element.get("name") or "")
    if not any(element.get(attribute) for attribute in _NAMING):
        message = "a meta element without a name, http-equiv or charset says nothing; name what its content is"
        yield Found(element.span[0], "LM-16", FindingLevel.WARNING, message)
    elif name and element.get("content") is None and name not in TOPPER_FIELDS:
        message = f"the property {shown(name)} has no value; write it into a content attribute"
        yield Found(page.place_in(element, "name"), "LM-16", FindingLevel.WARNING, message)
    if name == "refresh":
        message = "no program obeys name=refresh; write http-equiv=refresh"
        yield Found(page.place_in(element, "name"), "LM-19", FindingLevel.WARNING, message)


def _counts(element: PlacedElement) -> bool:
    return read_refresh(element.get("content") or "") is not None


def _check_refresh(page: WrittenPage, element: PlacedElement, valid_so_far: int) -> Iterator[Found]:
    content = element.get("content") or ""
    if not _counts(element):
        message = f'{shown(content)} is no refresh; write seconds, and a URL if need be, such as "30; url=next.html"'
        yield Found(page.place_in(element, "content"), "LM-19", FindingLevel.WARNING, message)
    elif valid_so_far > 1:
        message = "only the first refresh of a page counts; remove this one"
        yield Found(element.span[0], "LM-19", FindingLevel.WARNING, message)


def _check_expires(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    content = (element.get("content") or "").strip(SPACE)
    if read_http_date(content) is None:
        message = (
            f"{shown(content)} is no date of HTTP, so the page counts as expired; "
            f'write such as "Tue, 20 Aug 1996 14:25:27 GMT", or leave the element out'
        )
        yield Found(page.place_in(element, "content"), "LM-17", FindingLevel.WARNING, message)


def check_encodings(page: WrittenPage) -> Iterator[Found]:
    """Judge what the page declares its encoding to be (CT-03 to CT-05)."""
    if page.kind is not Kind.HTML:
        return
    declared = 0
    for element in page.named("meta"):
        attribute, label = _declared_label(element)
        if attribute is None:
            continue
        place = page.place_in(element, attribute)
        if label is None:
            message = "the quotation mark behind charset= is not closed, so no encoding is declared; close it"
            yield Found(place, "CT-04", FindingLevel.WARNING, message)
            continue
        declared += 1
        encoding = encoding_for(label)
        if declared > 1:
            message = "only the first declaration of an encoding counts; remove this one"
            yield Found(place, "CT-03", FindingLevel.WARNING, message)
        elif encoding is None:
            message = f'{shown(label)} is the name of no encoding; write "utf-8", and save the page so'
            yield Found(place, "CT-05", FindingLevel.WARNING, message)
        elif _as_declared(encoding) != page.encoding:
            message = (
                f"the page says {encoding}, but is read as {page.encoding}, as {_who_decides(page)} says; "
                f"let both say the same"
            )
            yield Found(place, "CT-05", FindingLevel.WARNING, message)
        elif prescan(page.body) is None:
            message = (
                f"the encoding is declared behind the first {PRESCAN_BYTES} bytes, where not every reader looks; "
                f"let it be the first element of the head"
            )
            yield Found(place, "CT-03", FindingLevel.WARNING, message)
    letter = None if declared else _BEYOND_ASCII.search(page.text)
    if letter is not None and not is_encoding_declared(page.body, page.content_type):
        message = (
            f"no encoding is declared, so this is read as {page.encoding}; "
            f'let <meta charset="utf-8"> be the first element of the head, and save the page so'
        )
        yield Found(letter.start(), "CT-03", FindingLevel.WARNING, message)


def _declared_label(element: PlacedElement) -> tuple[str | None, str | None]:
    """Return the attribute that declares an encoding, and the label in it; no label if its quotation is broken."""
    if (label := element.get("charset")) is not None:
        return "charset", label
    content = element.get("content")
    if content is None or lower_ascii(element.get("http-equiv") or "") != "content-type":
        return None, None
    label = extract_encoding(content)
    if label is None and not _UNQUOTED_REST.search(content):
        return None, None
    return "content", label


def _as_declared(encoding: str) -> str:
    """Return the encoding that a declaration stands for: one that could be read is not in UTF-16."""
    if encoding.startswith("utf-16"):
        return "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _who_decides(page: WrittenPage) -> str:
    if page.body.startswith(tuple(bom for bom, _ in BOMS)):
        return "its byte order mark"
    return "its server" if "charset" in (page.content_type or "").lower() else "an earlier declaration"
