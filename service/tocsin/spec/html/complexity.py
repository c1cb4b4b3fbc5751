"""Pages that HTML itself makes slow or large: they are refused before a parser sees them (CI-08)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tocsin.errors import TooComplex
from tocsin.spec.html.search import PLAIN_TAG, count, count_attributes, find, find_tag_end, lower

if TYPE_CHECKING:
    from collections.abc import Sequence

# A page of more is too complex (CI-08): each element of a parsed page costs about 100 bytes.
MOST_TAGS: Final = 1_000_000
# A page of more is too complex: each of these is kept, for three times as much.
MOST_METAS: Final = 131_072

# HTML merges the attributes of each further html and body element into the first one.
_MERGED = re.compile(rb"<(?:html|body)(?=[\t\n\f\r />])", re.IGNORECASE)
_MERGED_TAGS = 256
_MERGED_ATTRIBUTES = 4096
# HTML opens unclosed formatting elements again in each paragraph, of those that are alike at most three.
# Letter by letter, since ignoring case takes longer.
_NAME = (
    rb"([bB]|[bB][iI][gG]|[cC][oO][dD][eE]|[eE][mM]|[fF][oO][nN][tT]|[iI]|[sS]|"
    rb"[sS][mM][aA][lL][lL]|[sS][tT][rR][iI][kK][eE]|[sS][tT][rR][oO][nN][gG]|[tT][tT]|[uU])"
)
# Most are plain, and closed before any other tag begins: none of those is opened again, and nothing within them.
_CLOSED_AT_ONCE = (
    _NAME + rb"""(?:[\t\n\f\r ]++[^\t\n\f\r "'<>/=]++(?:=(?:"[^"<>]*+"|'[^'<>]*+'|[^\t\n\f\r "'<>=]++))?+)*+>"""
    rb"""[^<]*+</\1(?=[\t\n\f\r />])[^<>]*+"""
)
_FORMATTING = re.compile(
    rb"<(?=[/bBcCeEfFiIsStTuU])(?:" + _CLOSED_AT_ONCE + rb"|(/?)" + _NAME + rb"(?=[\t\n\f\r />])([^<>]*+))"
)
_ALIKE = 3
_CLOSED = ord(">")
# Of links only the last one: that matters where it is long, or its end is not seen at once. All quotation marks stand
# where HTML reads them as such: one in a bare value or a name is a letter, and the next one may open what goes on.
_LONG_LINK = (
    rb"""(?:a|nobr)[\t\n\f\r /](?:(?!(?:[\t\n\f\r ]*+[^\t\n\f\r "'<>/=]++"""
    rb"""(?:=(?:"[^">]*+"|'[^'>]*+'|[^\t\n\f\r "'<>=]++))?+(?=[\t\n\f\r />]))*+[\t\n\f\r /]*+>)|[^>]{512})"""
)
# What may be opened again, in markup in lower case; of links only these.
_OPENED = re.compile(
    rb"<(?=[a-ceifnstu])(?:(b|big|code|em|font|i|s|small|strike|strong|tt|u)(?=[\t\n\f\r />])|" + _LONG_LINK + rb")"
)
_TAGS_IN_A_LINK = 8  # of a usual one that is closed
_LINK_END = re.compile(rb"</(?:a|nobr)(?=[\t\n\f\r />])", re.IGNORECASE)
_REOPENED = 400_000  # elements, each with an attribute or two; each of 51 real pages has less than a twentieth
_BYTES_OF_FEW = 16
# HTML copies the chosen option of a select into each of these.
_COPIES = 16

# Bytes times tags of a page that cannot open enough again to matter: at most all its attributes at each tag, which
# takes the parser 15 ms and 20 MB.
LITTLE_TO_REOPEN = _REOPENED * _BYTES_OF_FEW


def refuse_too_complex(markup: bytes, tags: int) -> None:
    """Refuse a page that takes any parser of HTML quadratic time, or too much memory.

    markup  in UTF-8
    tags    how many `<` it holds
    Raises TooComplex.
    """
    if tags > MOST_TAGS:
        raise TooComplex(f"more than {MOST_TAGS} tags; split the page")
    lowered = lower(markup)
    if tags > MOST_METAS and count(lowered, b"<meta") > MOST_METAS:
        raise TooComplex(f"more than {MOST_METAS} meta elements; a page has dozens")
    if _count_merged(markup, lowered) > _MERGED_ATTRIBUTES:
        raise TooComplex("too many html or body elements; a page has one of each")
    if count(lowered, b"<selectedcontent") > _COPIES:
        raise TooComplex("too many selectedcontent elements; a select has one")
    _refuse_reopening(markup, lowered, tags)


def refuse_reopening(markup: bytes) -> None:
    """Refuse a page in which unclosed formatting elements are opened again and again, each time as new elements.

    Raises TooComplex.
    """
    _refuse_reopening(markup, lower(markup), count(markup, b"<"))


def _refuse_reopening(markup: bytes, lowered: bytes, tags: int) -> None:
    work, links = _look_for_opened(markup, lowered, tags)
    if work > _REOPENED:
        work = _count_reopened(markup)
    if work > _REOPENED or work + _count_reopened_links(markup, links) > _REOPENED:
        raise TooComplex("too many formatting elements that are never closed; close them")


def _look_for_opened(markup: bytes, lowered: bytes, tags: int) -> tuple[int, list[int]]:
    """Return a number that `_count_reopened` does not exceed, and the places of links that may matter."""
    alike: dict[bytes, int] = {}
    links = []
    weight = 0
    for tag in _OPENED.finditer(lowered):
        start, end, name = tag.start(), tag.end(), tag[1]
        if name is None:
            links.append(start)
        elif markup[end] == _CLOSED:
            alike[name] = alike.get(name, 0) + 1
        elif weight * tags <= _REOPENED:
            weight += 1 + (find_tag_end(markup, start) - start) // _BYTES_OF_FEW
    return (weight + sum([min(number, _ALIKE) for number in alike.values()])) * tags, links


def _count_merged(markup: bytes, lowered: bytes) -> int:
    """Count the attributes that html and body elements bring together; more than too many where there are too many."""
    attributes = found = 0
    for name in (b"<html", b"<body"):
        place = find(lowered, name)
        while place >= 0:
            if _MERGED.match(markup, place):
                found += 1
                attributes += count_attributes(markup, place, at_most=_MERGED_ATTRIBUTES)
                if found > _MERGED_TAGS or attributes > _MERGED_ATTRIBUTES:
                    return _MERGED_ATTRIBUTES + 1
            place = find(lowered, name, place + 1)
    return attributes


def _count_reopened(markup: bytes) -> int:
    """Count the formatting elements, but for links, that the page's tags may open again; no further than too many."""
    stacks: dict[bytes, list[tuple[bytes, int]]] = {}
    alike: dict[bytes, int] = {}
    live = work = place = end = 0
    for tag in _FORMATTING.finditer(markup):
        if live:  # any tag in between may open them all again
            work += live * markup.count(b"<", place, tag.start())
            if work > _REOPENED:
                return work
        at_once, slash, name, attributes = tag.groups()
        if at_once:
            place = tag.end()
            continue
        place = tag.start() + 1
        name = name.lower()
        stack = stacks.setdefault(name, [])
        if slash:
            if stack:
                key, weight = stack.pop()
                alike[key] -= 1
                live -= weight if alike[key] < _ALIKE else 0
            continue
        key = name + attributes
        length = len(key)
        # Within quotation marks, the tag goes on; but not each of them is one to HTML.
        if (b'"' in attributes or b"'" in attributes) and not PLAIN_TAG.fullmatch(markup, tag.start(), tag.end() + 1):
            if tag.start() >= end:  # once for all that look like tags within it
                end = find_tag_end(markup, tag.start())
            length = end - tag.start()
        weight = 1 + length // _BYTES_OF_FEW
        stack.append((key, weight))
        alike[key] = alike.get(key, 0) + 1
        live += weight if alike[key] <= _ALIKE else 0
    return work + live * markup.count(b"<", place)


def _count_reopened_links(markup: bytes, links: Sequence[int]) -> int:
    """Count the long links that the page's tags may open again, as often as links of a usual length."""
    work = end = closed = 0
    for start in links:
        if start < end:  # within an attribute of the one before
            continue
        end = find_tag_end(markup, start)
        if closed < end:
            closing = _LINK_END.search(markup, end)
            closed = closing.start() if closing else len(markup)
        weight = (end - start) // _BYTES_OF_FEW
        if weight:
            work += weight * max(markup.count(b"<", end, closed) - _TAGS_IN_A_LINK, 0)
        if work > _REOPENED:
            break
    return work
