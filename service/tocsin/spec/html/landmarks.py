"""Where in a page's bytes its meta elements and its title may stand, before anything is parsed."""

from __future__ import annotations

import re

from tocsin.spec.html.search import find_last, find_last_of_each, lower
from tocsin.spec.html.tags import find_tag_end

# What follows the name of a meta element is looked at up to its `>` where it is written as most are, so that only the
# others are read attribute by attribute. Letter by letter, since ignoring case takes longer.
_META = re.compile(
    rb"""<[mM][eE][tT][aA](?=((?:[\t\n\f\r /]++[^\t\n\f\r "'<>/=]++"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r "'<>=]++))?+)*+[\t\n\f\r /]*+>)?+)"""
)
_TITLE = re.compile(rb"<[tT][iI][tT][lL][eE]")
_TITLE_END = re.compile(rb"</[tT][iI][tT][lL][eE](?=[\t\n\f\r />])")
_LANDMARKS = (b"<meta", b"<frameset")
_AFTER_NAME = frozenset({b"\t", b"\n", b"\f", b"\r", b" ", b"/", b">"})
_LONGER_NAMES = 8  # so many are looked at, in case that they are other names


def find_landmarks(body: bytes) -> tuple[int, int]:
    """Find where the last tag begins that may be a meta element's, and the last that may be a frameset's; else -1."""
    meta, frameset = find_last_of_each(body, _LANDMARKS)
    for _ in range(_LONGER_NAMES):  # scripts have variables called metas
        if meta < 0 or body[meta + len(b"<meta") : meta + len(b"<meta>")] in _AFTER_NAME:
            break
        meta = find_last_of_each(body[:meta], _LANDMARKS)[0]
    return meta, frameset


def find_last_about(body: bytes, meta: int, words: tuple[bytes, ...]) -> int:
    """Find where the last tag begins that may be a meta element's and hold one of the words; -1 if there is none.

    meta   where the last one of all begins
    words  in lower case, as they stand in the value of an attribute, or in a name
    """
    end = find_plain_end(body, meta)
    if end < 0:
        return meta
    head = lower(body[:end])
    place = max(find_last(head, word) for word in words)
    found = -1
    for mark in _META.finditer(head, place + 1):  # these hold no word, but may write one with references
        if mark.end(1) < 0 or head.find(b"&", mark.start(), mark.end(1)) >= 0:
            found = mark.start()
    return found if found >= 0 or place < 0 else find_last(head[:place], b"<meta")


def find_plain_end(body: bytes, meta: int) -> int:
    """Find the end of a tag that begins as a meta element's does; -1 where it is not written as most are."""
    mark = _META.match(body, meta)
    return mark.end(1) if mark is not None else -1


def find_end_of_metas(body: bytes, last: int) -> int:
    """Find where nothing more can matter: the end of the tag that ends last of all that may be a meta element's.

    What looks like a tag may stand within an attribute of another one, which then ends later.
    last  where the last one begins
    """
    end, left = 0, 2 * len(body)
    for mark in _META.finditer(body):
        start, tag_end = mark.start(), mark.end(1)
        if tag_end < 0:
            tag_end = find_tag_end(body, start)
        left -= tag_end - start
        if left < 0:  # tags within tags within tags
            return len(body)
        end = max(end, tag_end)
        if start >= last:  # what follows is not searched again
            break
    return end


def find_end_of_titles(body: bytes) -> tuple[int, int]:
    """Find the end of the last element that may be a title, and where the last one begins."""
    end, last, closing, left = 0, -1, -1, 2 * len(body)
    for mark in _TITLE.finditer(body):
        last = mark.start()
        tag_end = mark.end() + 1 if body.startswith(b">", mark.end()) else find_tag_end(body, last)
        left -= tag_end - last
        if tag_end > closing:  # else it ends with those before it
            end_tag = _TITLE_END.search(body, tag_end)
            if end_tag is None or left < 0:
                return len(body), last
            closing, end = end_tag.start(), find_tag_end(body, end_tag.start())
    return end, last
