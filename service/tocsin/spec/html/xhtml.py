"""The meta elements of `application/xhtml+xml`, read as XML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree  # type: ignore[import-untyped]  # has no stubs

from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import MOST_METAS, MOST_TAGS
from tocsin.spec.html.decoding import decode
from tocsin.spec.html.document import Meta, PageHead, Reading
from tocsin.spec.html.microsyntax import fold_space

_XHTML = "{http://www.w3.org/1999/xhtml}"
_META, _TITLE = _XHTML + "meta", _XHTML + "title"
# Read as XML, a template has no content of its own: these are never the page's elements there either.
_TEMPLATE = _XHTML + "template"
_DECLARATION = re.compile(
    r"""<\?xml\s+version\s*=\s*["']1\.[0-9]+["'](?:\s+encoding\s*=\s*["'][\w.:-]*["'])?"""
    r"""(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>""",
    re.ASCII,
)
_DOCTYPE_NAME = re.compile(
    r"[\t\n\r ]*+(?:(?><!--.*?-->|<\?.*?\?>)[\t\n\r ]*+)*+<!DOCTYPE[\t\n\r ]++[^\t\n\r \[>]++", re.DOTALL
)
_EXTERNAL = re.compile(r"[\t\n\r ]++(?:PUBLIC|SYSTEM)")
_SUBSET = ' SYSTEM ""'
_DOCTYPE = f"<!DOCTYPE x{_SUBSET}>"
# lxml looks for each attribute of an element among all of them. A value of XML holds no <.
_TOO_MANY_ATTRIBUTES = re.compile(
    r"""<(?=[^<]{5000})[^\s<>/!?]++(?:\s++[^\s=<>"'/]++\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')){1001}"""
)
_WHERE = re.compile(r", line [0-9]+, column [0-9]+\Z")  # which lxml adds to libxml2's words


@dataclass(frozen=True, slots=True)
class NotWellFormed:
    """Why the rest of an XML page was not read.

    line, column  from 1; the line is 0 where libxml2 does not say
    """

    line: int
    column: int
    reason: str

    def __str__(self) -> str:
        where = f" at line {self.line}, column {self.column}" if self.line else ""
        return f"not well-formed XML{where}: {self.reason}; read up to there"


def read_xhtml_metas(body: bytes, encoding: str) -> Reading:
    """Read the meta elements of an XHTML page; a page that is not well-formed is read up to the error.

    encoding  as `find_xml_encoding` names it
    Raises TooComplex for a page that is too complex to parse.
    """
    whole = read_whole_xhtml(body, encoding)
    return Reading(whole.metas, whole.problems, title=whole.title or "")


def read_whole_xhtml(body: bytes, encoding: str) -> PageHead:
    """Read the title and the meta elements of an XHTML page; a page that is not well-formed is read up to the error.

    Raises TooComplex for a page that is too complex to parse.
    """
    events, stop = parse_xml(body, encoding, tags=(_META, _TITLE, _TEMPLATE))
    metas: list[Meta] = []
    title: Any = None
    hidden = 0
    for event, element in events:
        if element.tag == _TEMPLATE:
            hidden += 1 if event == "start" else -1
        elif hidden or event != "start":
            continue
        elif element.tag == _TITLE:
            title = element if title is None else title
        else:
            values = map(element.get, ("name", "http-equiv", "property", "content"))
            metas.append(Meta(*(value or None for value in values)))
            if len(metas) > MOST_METAS:
                raise TooComplex(f"more than {MOST_METAS} meta elements; a page has dozens")
    text = None if title is None else fold_space(_text_of(title)) or None
    return PageHead(text, tuple(metas), () if stop is None else (str(stop),))


def parse_xml(
    body: bytes, encoding: str, *, tags: Sequence[str] | None = None
) -> tuple[Iterator[tuple[str, Any]], NotWellFormed | None]:
    """Parse a page as XML up to its first error; the DTD is off: nothing is loaded, and entities are unknown.

    An unknown entity is empty text (CI-10): within an attribute it is left out, elsewhere it is a node of its own. The
    document's own entities are expanded in attributes only, within libxml2's bounds.
    tags  names of the wanted elements, as lxml writes them; all if None
    Returns the start and end events of its elements, each with lxml's element, and what ended them too early.
    Raises TooComplex for a page of too many tags or attributes.
    """
    text = decode(body, encoding)
    if text.count("<") > MOST_TAGS:
        raise TooComplex(f"more than {MOST_TAGS} tags; split the page")
    if _TOO_MANY_ATTRIBUTES.search(text):
        raise TooComplex("an element of more than 1000 attributes; none has so many")
    # Fed as UTF-8, so that the encoding found overrides the page's declaration.
    parser = etree.XMLPullParser(
        events=("start", "end"),
        tag=tags,
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    text, place = _with_external_subset(text)
    stop = None
    try:
        parser.feed(text.encode())
        parser.close()
    except etree.XMLSyntaxError as exc:
        stop = _not_well_formed(exc, text, place)
    return parser.read_events(), stop


def _with_external_subset(text: str) -> tuple[str, int]:
    """Let the document have an external subset, which is not loaded: XML then allows for entities that are unknown.

    Returns the text, and the place where it was lengthened by _SUBSET or _DOCTYPE; -1 if nowhere.
    """
    declaration = _DECLARATION.match(text)
    if declaration is not None:  # It might say that the document stands alone.
        text = " " * declaration.end() + text[declaration.end() :]
    doctype = _DOCTYPE_NAME.match(text)
    if doctype is None:
        return _DOCTYPE + text, 0
    place = doctype.end()
    if _EXTERNAL.match(text, place):
        return text, -1
    return text[:place] + _SUBSET + text[place:], place


def _not_well_formed(exc: etree.XMLSyntaxError, text: str, place: int) -> NotWellFormed:
    line, column = exc.position
    if place >= 0 and line == text.count("\n", 0, place) + 1:
        column = max(column - len(_SUBSET if place else _DOCTYPE), 1)
    return NotWellFormed(line, column, _WHERE.sub("", exc.msg).strip())


def _text_of(element: Any) -> str:
    """Join the text of an element; entities, which stay unknown, are empty text (CI-10)."""
    parts: list[str] = []
    for node in element.iter():
        if isinstance(node.tag, str):
            parts.append(node.text or "")
        if node is not element:
            parts.append(node.tail or "")
    return "".join(parts)
