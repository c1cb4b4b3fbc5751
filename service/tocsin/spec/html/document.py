"""A page's markup, parsed: the one place that reads meta elements with a parser.

turbohtml parses a short page twice as fast as lexbor does and a long one as fast, bounds the depth at 512 elements, and
stays linear where lexbor's time grows with the square of the open elements.
`complexity` refuses pages that would take too long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import turbohtml
from msgspec import Struct
from msgspec.structs import astuple

from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import LITTLE_TO_REOPEN, refuse_reopening, refuse_too_complex
from tocsin.spec.html.decoding import NOT_ASCII, decode
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.html.search import count, find_last, find_last_of_each, find_tag_end, holds_any, lower


class Meta(Struct, frozen=True, gc=False):
    """The attributes of one meta element. Each page has dozens of them.

    None where one is absent, or has no value, which is the same (T12).
    """

    name: str | None = None
    http_equiv: str | None = None
    property: str | None = None
    content: str | None = None
    charset: str | None = None


class Reading(Struct, frozen=True, gc=False):
    """What was read of a page.

    metas     in tree order
    problems  what was wrong with the page, in words for its reader
    is_ascii  all that was looked at is ASCII, so that most encodings make the same of it
    title     white space folded, "" where there is nothing in it; None where what was read does not tell it
    """

    metas: tuple[Meta, ...]
    problems: tuple[str, ...] = ()
    is_ascii: bool = False
    title: str | None = None


class PageHead(Struct, frozen=True, gc=False):
    """The title and the meta elements of a page, for a rendering.

    title  white space folded; None if there is none, or nothing in it
    """

    title: str | None
    metas: tuple[Meta, ...]
    problems: tuple[str, ...] = ()


# Where a page's bytes may hold its meta elements and its title, before anything is parsed.


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
_LONGER_NAMES = 8  # candidates that are tried, since they may be longer names


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
    words  in lower case, as in the value of an attribute, or in a name
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

    A tag may also be text within an attribute of another one, which then ends later.
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


_HTML = turbohtml.Namespace.HTML
_BOM = b"\xef\xbb\xbf"

# An attribute that no page has: names contain no references, so a page with it must contain these very bytes.
_END = "\x02\x03\x02"
_RARE = (_END.encode(), b"<template", b"<selectedcontent")

# An element that HTML fills with a copy of the chosen option of a select.
_COPYING = re.compile("</?selectedcontent", re.IGNORECASE | re.ASCII)

# Below this product of start tags and tags, only reopened formatting elements can make a page slow.
_SMALL_BYTES = 65_536
_SMALL_WORK = 4_000_000
# turbohtml remembers each one that it meets, in 30 bytes.
_MOST_NULS = 65_536


def read_metas(body: bytes, encoding: str, about: tuple[bytes, ...] = ()) -> Reading:
    """Read the meta elements of an HTML page; any bytes are accepted.

    encoding  as `find_encoding` names it
    about     words in lower case: elements that hold none of them, in a value or a name, may be left out; () for none
    Raises TooComplex for a page that is too complex to parse.
    """
    body, encoding = _with_ascii(body, encoding)
    meta, frameset = find_landmarks(body)
    if about and meta > frameset:
        meta = find_last_about(body, meta, about)
    if meta < 0:
        return Reading((), is_ascii=True)
    if meta > frameset and (end := find_plain_end(body, meta)) >= 0:
        reading = _read_to_meta(body[:end], encoding, has_frameset=frameset >= 0)
        if reading is not None:
            return reading
    end = find_end_of_metas(body, meta) if meta > frameset else len(body)
    text, problems = _to_text(body[:end], encoding, has_frameset=frameset >= 0)
    _, metas = _parse(text, with_title=False)
    return Reading(metas, problems, is_ascii=text.isascii())


def read_whole(body: bytes, encoding: str) -> PageHead:
    """Read a page's title and its meta elements, as they are in the whole page.

    Raises TooComplex for a page that is too complex to parse.
    """
    body, encoding = _with_ascii(body, encoding)
    meta, frameset = find_landmarks(body)
    end = find_end_of_metas(body, meta) if meta >= 0 else 0
    title_end, title_start = find_end_of_titles(body)
    end = max(end, title_end)
    if not end:
        return PageHead(None, ())
    if frameset > max(meta, title_start):
        end = len(body)
    text, problems = _to_text(body[:end], encoding, has_frameset=frameset >= 0)
    title, metas = _parse(text, with_title=True)
    return PageHead(title, metas, problems)


def read_title(body: bytes, encoding: str) -> str | None:
    """Read a page's title, white space folded; None if there is none, or nothing in it.

    Raises TooComplex for a page that is too complex to parse.
    """
    return read_whole(body, encoding).title


def _with_ascii(body: bytes, encoding: str) -> tuple[bytes, str]:
    """Return the bytes in an encoding of which ASCII is a part, without a BOM."""
    if encoding in NOT_ASCII:
        return decode(body, encoding).encode(), "utf-8"
    if encoding == "utf-8" and body.startswith(_BOM):
        return body[len(_BOM) :], encoding
    return body, encoding


def _read_to_meta(head: bytes, encoding: str, *, has_frameset: bool) -> Reading | None:
    """Read markup that ends with what looks like a meta element; None where that may not be all that matters.

    Later markup neither adds, removes nor reorders existing elements, except for a frameset, which replaces a body. So
    this is all, unless the last match lies within an attribute of another tag, which then ends later. An element put
    after it tells: if the parser finds it, no tag was open.
    """
    if holds_any(head, _RARE):
        return None
    text, problems = _to_text(head, encoding, has_frameset=has_frameset)
    document = turbohtml.parse(f"{text}<meta {_END}>", positions=False)
    found = document.find_all("meta")
    if not found or found.pop().attr(_END) is None:
        return None
    metas = tuple([to_meta(node.attr) for node in found])
    return Reading(metas, problems, is_ascii=text.isascii(), title=_find_title_of_head(document))


def _to_text(head: bytes, encoding: str, *, has_frameset: bool) -> tuple[str, tuple[str, ...]]:
    """Return the text as a parser may be given it, and what was wrong with its bytes.

    Raises TooComplex.
    """
    text, problems = _decode(head, encoding)
    _refuse_slow(head)
    return _spare_nuls(text, has_frameset=has_frameset), problems


def _decode(head: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    """Return the text, and what was wrong with its bytes."""
    if encoding != "utf-8":
        return decode(head, encoding), ()
    try:
        return head.decode(), ()
    except UnicodeDecodeError as exc:
        problem = f"not valid UTF-8 from byte {exc.start} on; read with replacement characters"
        return head.decode(errors="replace"), (problem,)


def _refuse_slow(markup: bytes) -> None:
    """Refuse what takes the parser too long; most pages are too small for that.

    Raises TooComplex.
    """
    tags = count(markup, b"<")
    if len(markup) * tags <= LITTLE_TO_REOPEN and len(markup) <= _SMALL_BYTES:
        return
    starts = tags - count(markup, b"</")
    if len(markup) <= _SMALL_BYTES and starts * tags <= _SMALL_WORK:
        refuse_reopening(markup)
    else:
        refuse_too_complex(markup, tags)


def _spare_nuls(text: str, *, has_frameset: bool) -> str:
    """Return the text; of more NULs than a parser should remember, make the character that HTML makes of them.

    It does so in names, attributes and titles; between elements it leaves them out, which matters to framesets alone.
    Raises TooComplex where it might.
    """
    if len(text) <= _MOST_NULS or text.count("\0") <= _MOST_NULS:
        return text
    if has_frameset:
        raise TooComplex(f"more than {_MOST_NULS} NUL characters in a page with a frameset; remove them")
    return text.replace("\0", "\ufffd")


def _parse(text: str, *, with_title: bool) -> tuple[str | None, tuple[Meta, ...]]:
    document = turbohtml.parse(text, positions=False)
    if document.find("selectedcontent") is not None:
        return _parse_without_copies(text, with_title=with_title)
    empty_templates(document)
    metas = tuple([to_meta(node.attr) for node in document.find_all("meta")])
    return find_title(document) if with_title else None, metas


def _parse_without_copies(text: str, *, with_title: bool) -> tuple[str | None, tuple[Meta, ...]]:
    """Parse a page in which elements would hold a copy of the chosen option, once they are called otherwise."""
    mark = next(letter for letter in map(chr, range(0xE000, 0x110000)) if letter not in text)
    title, metas = _parse(_COPYING.sub(rf"\g<0>{mark}", text), with_title=with_title)
    values = ([value and value.replace(mark, "") for value in astuple(meta)] for meta in metas)
    return title and title.replace(mark, ""), tuple([Meta(*each) for each in values])


def find_title(document: turbohtml.Document) -> str | None:
    """Return the text of a page's title, white space folded; None if there is none, or nothing in it."""
    return title_of(document.find_all("title"))


def title_of(found: Iterable[Any]) -> str | None:
    """Return what `find_title` does, of the page's elements of this name."""
    title = next((node for node in found if node.namespace is _HTML), None)
    return (fold_space(title.text) or None) if title is not None else None


def _find_title_of_head(document: turbohtml.Document) -> str | None:
    """Return the text of the title in a page's head, white space folded; None if there is none.

    A title in the head is final. One in the body is not: markup after a table can put another title before it.
    """
    title = document.find("title")
    if title is None or not isinstance(title.parent, turbohtml.Element) or title.parent.tag != "head":
        return None
    return fold_space(title.text)


def to_meta(get: Callable[[str], str | None]) -> Meta:
    """Read the attributes of a meta element; to HTML and T12, one without a value is absent."""
    return Meta(
        get("name") or None,
        get("http-equiv") or None,
        get("property") or None,
        get("content") or None,
        get("charset") or None,
    )


def empty_templates(document: turbohtml.Document) -> None:
    """Empty all templates: their content is not part of the page, but the parser would count it in."""
    for template in reversed(document.find_all("template")):
        if template.namespace is _HTML:
            template.clear()
