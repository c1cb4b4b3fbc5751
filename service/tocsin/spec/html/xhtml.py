"""The meta elements of `application/xhtml+xml`, read as XML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lxml import etree  # type: ignore[import-untyped]  # has no stubs

from tocsin.spec.html.decoding import decode
from tocsin.spec.html.meta import Meta, Reading, WholePage
from tocsin.spec.html.microsyntax import fold_space

if TYPE_CHECKING:
    from collections.abc import Iterator

_XHTML = "{http://www.w3.org/1999/xhtml}"
# Read as XML, a template has no content of its own: these are never the page's elements there either.
_NOT_THE_PAGE = frozenset({_XHTML + "template"})


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
    """Read the meta elements of an XHTML page; what is not well-formed is read up to the error.

    encoding  as `find_xml_encoding` names it
    """
    whole = read_whole_xhtml(body, encoding)
    return Reading(whole.metas, whole.problems)


def read_whole_xhtml(body: bytes, encoding: str) -> WholePage:
    """Read the title and the meta elements of an XHTML page; what is not well-formed is read up to the error.

    Entities and the DTD are off: nothing is loaded, nothing is expanded.
    """
    events, stop = parse_xml(body, encoding)
    metas: list[Meta] = []
    title: str | None = None
    hidden = 0
    for event, element in events:
        if element.tag in _NOT_THE_PAGE:
            hidden += 1 if event == "start" else -1
        elif hidden:
            continue
        elif event == "start" and element.tag == _XHTML + "meta":
            get = element.get
            metas.append(
                Meta(get("name") or None, get("http-equiv") or None, get("property") or None, get("content") or None)
            )
        elif event == "end" and element.tag == _XHTML + "title" and title is None:
            title = fold_space("".join(element.itertext())) or None
    return WholePage(title, tuple(metas), () if stop is None else (str(stop),))


def parse_xml(body: bytes, encoding: str) -> tuple[Iterator[tuple[str, Any]], NotWellFormed | None]:
    """Parse a page as XML up to its first error; entities and the DTD are off.

    Returns the start and end events of its elements, each with lxml's element, and what ended them too early.
    """
    # Fed as UTF-8 whatever it declares, so that the encoding found stands above the declaration.
    parser = etree.XMLPullParser(
        events=("start", "end"),
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    stop = None
    try:
        parser.feed(decode(body, encoding).encode())
        parser.close()
    except etree.XMLSyntaxError as exc:
        line, column = exc.position
        stop = NotWellFormed(line, column, exc.msg)
    return parser.read_events(), stop
