"""A page's markup, parsed: the one place that knows a parser.

lexbor reads what it reads quickly. Its time grows with the square of the depth of a page, of the elements left
open and of the attributes of a tag, so a page whose bytes allow for much of that goes to turbohtml, which bounds
the depth at 512 elements and sees the same meta elements. What takes either of them too long is refused before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import turbohtml
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import LITTLE_TO_REOPEN, refuse_reopening, refuse_too_complex
from tocsin.spec.html.decoding import NOT_ASCII, decode
from tocsin.spec.html.meta import Meta, Reading, WholePage
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.html.tags import find_tag_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from selectolax.lexbor import LexborNode

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

_WITHOUT_EVENTS = LexborDocumentOptions.WO_EVENTS.value  # else <selectedcontent> gets copies of meta elements
# Elements of SVG and MathML that hold HTML.
_INTEGRATION_POINTS = {
    "svg": frozenset({"foreignobject", "desc", "title"}),
    "math": frozenset({"mi", "mo", "mn", "ms", "mtext"}),
}
_HTML_ANNOTATIONS = frozenset({"text/html", "application/xhtml+xml"})
_HTML = turbohtml.Namespace.HTML
_BOM = b"\xef\xbb\xbf"

# Letter by letter, since ignoring case makes the search four times as slow; both first letters in one class, since two
# branches do so too. That `<feta` is looked at as well harms nobody. What follows the name of a meta element is looked
# at up to its `>` where it is written as most are, so that only the others are read attribute by attribute.
_LANDMARK = re.compile(
    rb"""<[mMfF](?:[eE][tT][aA](?=((?:[\t\n\f\r /]++[^\t\n\f\r "'<>/=]++"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r "'<>=]++))?+)*+[\t\n\f\r /]*+>)?+)"""
    rb"""|[rR][aA][mM][eE][sS][eE][tT])"""
)

_TITLE = re.compile(rb"<[tT][iI][tT][lL][eE]")
_TITLE_END = re.compile(rb"</[tT][iI][tT][lL][eE](?=[\t\n\f\r />])")

# The product of start tags and tags bounds what lexbor may do: about 2 to 6 nanoseconds for each.
_LEXBOR_WORK = 4_000_000
_LEXBOR_BYTES = 65_536
# turbohtml remembers each one that it meets, in 30 bytes.
_MOST_NULS = 65_536


def read_metas(body: bytes, encoding: str) -> Reading:
    """Read the meta elements of an HTML page, whatever its bytes are.

    encoding  as `find_encoding` names it
    Raises TooComplex for a page that no parser may be given.
    """
    whole = _read(body, encoding, with_title=False)
    return Reading(whole.metas, whole.problems)


def read_whole(body: bytes, encoding: str) -> WholePage:
    """Read a page's title and its meta elements, as they are in the whole page.

    Raises TooComplex for a page that no parser may be given.
    """
    return _read(body, encoding, with_title=True)


def read_title(body: bytes, encoding: str) -> str | None:
    """Read a page's title, white space folded; None if there is none, or nothing in it.

    Raises TooComplex for a page that no parser may be given.
    """
    return read_whole(body, encoding).title


def _read(body: bytes, encoding: str, *, with_title: bool) -> WholePage:
    if encoding in NOT_ASCII:
        body, encoding = decode(body, encoding).encode(), "utf-8"
    elif encoding == "utf-8" and body.startswith(_BOM):
        body = body[len(_BOM) :]
    end, frameset = _end_of_need(body, with_title=with_title)
    if not end:
        return WholePage(None, ())
    markup, problems = _to_utf8(body[:end], encoding)
    title, metas = _parse(markup, with_title=with_title, has_frameset=frameset)
    return WholePage(title, metas, problems)


def _to_utf8(body: bytes, encoding: str) -> tuple[bytes, tuple[str, ...]]:
    """Give valid UTF-8, and what was wrong with it."""
    if encoding != "utf-8":
        return decode(body, encoding).encode(), ()
    try:
        body.decode()
    except UnicodeDecodeError as exc:
        problem = f"not valid UTF-8 from byte {exc.start} on; read with replacement characters"
        return body.decode(errors="replace").encode(), (problem,)
    return body, ()


def _end_of_need(body: bytes, *, with_title: bool) -> tuple[int, bool]:
    """Find where nothing more can matter: after the last meta element, and the last title; 0 without one.

    Returns it, and whether a frameset stands before it.
    No later markup adds, removes or reorders elements that stand already, but for a frameset: it takes the place of a
    body.
    """
    end, last, frameset = _end_of_metas(body)
    if with_title:
        title_end, title = _end_of_titles(body)
        end, last = max(end, title_end), max(last, title)
    return len(body) if end and frameset > last else end, frameset >= 0


def _end_of_metas(body: bytes) -> tuple[int, int, int]:
    """Find the end of the last tag that may be a meta element's, and where the last meta and frameset begin.

    What looks like a tag may stand within an attribute of another one, which then ends later.
    """
    end, last, frameset, left = 0, -1, -1, 2 * len(body)
    for mark in _LANDMARK.finditer(body):
        start = mark.start()
        if mark.end() - start != len(b"<meta"):
            frameset = start
            continue
        last, tag_end = start, mark.end(1)
        if tag_end < 0:
            tag_end = find_tag_end(body, start)
        left -= tag_end - start
        if left < 0:  # tags within tags within tags
            return len(body), last, frameset
        end = max(end, tag_end)
    return end, last, frameset


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


def _parse(markup: bytes, *, with_title: bool, has_frameset: bool) -> tuple[str | None, tuple[Meta, ...]]:
    tags = markup.count(b"<")
    starts = tags - markup.count(b"</")
    # A frameset in a template takes the place of the body, template and all; lexbor leaves it in the template.
    if len(markup) <= _LEXBOR_BYTES and starts * tags <= _LEXBOR_WORK and not has_frameset:
        if len(markup) * tags > LITTLE_TO_REOPEN:
            refuse_reopening(markup)
        return _parse_with_lexbor(markup, with_title=with_title)
    refuse_too_complex(markup, tags)
    return _parse_with_turbohtml(_spare_nuls(markup, has_frameset=has_frameset), with_title=with_title)


def _parse_with_lexbor(markup: bytes, *, with_title: bool) -> tuple[str | None, tuple[Meta, ...]]:
    parser = LexborHTMLParser(markup, options=_WITHOUT_EVENTS)
    metas = tuple(to_meta(node.attributes.get) for node in parser.tags("meta"))
    if not with_title:
        return None, metas
    title = next((node for node in parser.tags("title") if _is_html(node)), None)
    return (fold_space(title.text()) or None) if title is not None else None, metas


def _is_html(node: LexborNode) -> bool:
    """Say whether a title is one of HTML: SVG and MathML have their own."""
    path = []
    above = node.parent
    while above is not None:
        path.append(above)
        above = above.parent
    foreign: str | None = None  # whose the children of the element are: of svg, of math, or HTML's
    for element in reversed(path):
        tag = (element.tag or "").lower()
        if foreign is None:
            foreign = tag if tag in _INTEGRATION_POINTS else None
        elif tag in _INTEGRATION_POINTS[foreign]:
            foreign = None
        elif foreign == "math" and tag == "annotation-xml":
            foreign = None if (element.attributes.get("encoding") or "").lower() in _HTML_ANNOTATIONS else foreign
    return foreign is None


def _spare_nuls(markup: bytes, *, has_frameset: bool) -> str:
    """Decode the markup; of more NULs than a parser should remember, make the character that HTML makes of them.

    It does so in names, attributes and titles; between elements it leaves them out, which matters to framesets alone.
    Raises TooComplex where it might.
    """
    text = markup.decode()
    if markup.count(b"\0") <= _MOST_NULS:
        return text
    if has_frameset:
        raise TooComplex(f"more than {_MOST_NULS} NUL characters in a page with a frameset; remove them")
    return text.replace("\0", "\ufffd")


def _parse_with_turbohtml(markup: str, *, with_title: bool) -> tuple[str | None, tuple[Meta, ...]]:
    document = turbohtml.parse(markup, positions=False)
    metas = tuple(to_meta(node.attrs.get) for node in outside_templates(document.find_all("meta")))
    if not with_title:
        return None, metas
    titles = (node for node in document.find_all("title") if node.namespace == _HTML)
    title = next(outside_templates(titles), None)
    return (fold_space(title.text) or None) if title is not None else None, metas


def to_meta(get: Callable[[str], Any]) -> Meta:
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
