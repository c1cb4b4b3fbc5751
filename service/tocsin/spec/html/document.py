"""A page's markup, parsed: the one place that reads meta elements with a parser.

turbohtml parses a short page twice as fast as lexbor does and a long one as fast, bounds the depth at 512 elements, and
stays quick where lexbor's time grows with the square of what is open. What takes it too long is refused before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import turbohtml
from msgspec.structs import astuple

from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import LITTLE_TO_REOPEN, refuse_reopening, refuse_too_complex
from tocsin.spec.html.decoding import NOT_ASCII, decode
from tocsin.spec.html.meta import Meta, Reading, WholePage
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.html.search import count, find_last, lower
from tocsin.spec.html.tags import find_tag_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "Meta",
    "Reading",
    "WholePage",
    "outside_templates",
    "read_metas",
    "read_title",
    "read_whole",
    "refuse_too_complex",
    "to_meta",
]

_HTML = turbohtml.Namespace.HTML
_BOM = b"\xef\xbb\xbf"

# What follows the name of a meta element is looked at up to its `>` where it is written as most are, so that only the
# others are read attribute by attribute. Letter by letter, since ignoring case takes longer.
_META = re.compile(
    rb"""<[mM][eE][tT][aA](?=((?:[\t\n\f\r /]++[^\t\n\f\r "'<>/=]++"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r "'<>=]++))?+)*+[\t\n\f\r /]*+>)?+)"""
)
_TITLE = re.compile(rb"<[tT][iI][tT][lL][eE]")
_TITLE_END = re.compile(rb"</[tT][iI][tT][lL][eE](?=[\t\n\f\r />])")
# An element that HTML fills with a copy of the chosen option of a select.
_COPYING = re.compile("</?selectedcontent", re.IGNORECASE | re.ASCII)

# Pages whose start tags and tags, multiplied, come to no more are too small to be slow but by what is opened again.
_SMALL_BYTES = 65_536
_SMALL_WORK = 4_000_000
# turbohtml remembers each one that it meets, in 30 bytes.
_MOST_NULS = 65_536


def read_metas(body: bytes, encoding: str) -> Reading:
    """Read the meta elements of an HTML page, whatever its bytes are.

    encoding  as `find_encoding` names it
    Raises TooComplex for a page that no parser may be given.
    """
    _, metas, problems, is_ascii = _read(body, encoding, with_title=False)
    return Reading(metas, problems, is_ascii=is_ascii)


def read_whole(body: bytes, encoding: str) -> WholePage:
    """Read a page's title and its meta elements, as they are in the whole page.

    Raises TooComplex for a page that no parser may be given.
    """
    title, metas, problems, _ = _read(body, encoding, with_title=True)
    return WholePage(title, metas, problems)


def read_title(body: bytes, encoding: str) -> str | None:
    """Read a page's title, white space folded; None if there is none, or nothing in it.

    Raises TooComplex for a page that no parser may be given.
    """
    return read_whole(body, encoding).title


def _read(
    body: bytes, encoding: str, *, with_title: bool
) -> tuple[str | None, tuple[Meta, ...], tuple[str, ...], bool]:
    """Read a title, the meta elements, what is wrong with the bytes, and whether all that was looked at is ASCII."""
    if encoding in NOT_ASCII:
        body, encoding = decode(body, encoding).encode(), "utf-8"
    elif encoding == "utf-8" and body.startswith(_BOM):
        body = body[len(_BOM) :]
    end, has_frameset = _end_of_need(body, with_title=with_title)
    if not end:
        return None, (), (), False
    head = body[:end]
    text, problems = _decode(head, encoding)
    is_ascii = text.isascii()
    _refuse_slow(head if is_ascii else text.encode())
    title, metas = _parse(_spare_nuls(text, has_frameset=has_frameset), with_title=with_title)
    return title, metas, problems, is_ascii


def _decode(head: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    """Give the text, and what was wrong with its bytes."""
    if encoding != "utf-8":
        return decode(head, encoding), ()
    try:
        return head.decode(), ()
    except UnicodeDecodeError as exc:
        problem = f"not valid UTF-8 from byte {exc.start} on; read with replacement characters"
        return head.decode(errors="replace"), (problem,)


def _end_of_need(body: bytes, *, with_title: bool) -> tuple[int, bool]:
    """Find where nothing more can matter: after the last meta element, and the last title; 0 without one.

    Returns it, and whether the page has a frameset.
    No later markup adds, removes or reorders elements that stand already, but for a frameset: it takes the place of a
    body.
    """
    lowered = lower(body)
    last, frameset = find_last(lowered, b"<meta"), find_last(lowered, b"<frameset")
    end = _end_of_metas(body, last) if last >= 0 else 0
    if with_title:
        title_end, title = _end_of_titles(body)
        end, last = max(end, title_end), max(last, title)
    return len(body) if end and frameset > last else end, frameset >= 0


def _end_of_metas(body: bytes, last: int) -> int:
    """Find the end of the tag that ends last of all that may be a meta element's.

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


def _end_of_titles(body: bytes) -> tuple[int, int]:
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
    """Give the text; of more NULs than a parser should remember, make the character that HTML makes of them.

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
    found: Iterable[turbohtml.Element] = document.find_all("meta")
    if document.find("template") is not None:
        found = outside_templates(found)
    metas = tuple([to_meta(node.attr) for node in found])
    return _title_of(document) if with_title else None, metas


def _parse_without_copies(text: str, *, with_title: bool) -> tuple[str | None, tuple[Meta, ...]]:
    """Parse a page in which elements would hold a copy of the chosen option, once they are called otherwise."""
    mark = next(letter for letter in map(chr, range(0xE000, 0x110000)) if letter not in text)
    title, metas = _parse(_COPYING.sub(rf"\g<0>{mark}", text), with_title=with_title)
    values = ([value and value.replace(mark, "") for value in astuple(meta)] for meta in metas)
    return title and title.replace(mark, ""), tuple([Meta(*each) for each in values])


def _title_of(document: turbohtml.Document) -> str | None:
    titles = (node for node in document.find_all("title") if node.namespace == _HTML)
    title = next(outside_templates(titles), None)
    return (fold_space(title.text) or None) if title is not None else None


def to_meta(get: Callable[[str], str | None]) -> Meta:
    """Take what a meta element declares; to HTML and T12 an attribute without a value is none at all."""
    return Meta(
        get("name") or None,
        get("http-equiv") or None,
        get("property") or None,
        get("content") or None,
        get("charset") or None,
    )


def outside_templates(nodes: Iterable[turbohtml.Element]) -> Iterator[turbohtml.Element]:
    """Leave out the elements that are template content; each element above them is looked at once."""
    known: dict[turbohtml.Node, bool] = {}
    for node in nodes:
        path: list[turbohtml.Node] = []
        above = node.parent
        while above is not None and above not in known:
            path.append(above)
            if isinstance(above, turbohtml.Element) and above.tag == "template" and above.namespace == _HTML:
                known[above] = True
            else:
                above = above.parent
        is_inside = above is not None and known[above]
        known.update(dict.fromkeys(path, is_inside))
        if not is_inside:
            yield node
