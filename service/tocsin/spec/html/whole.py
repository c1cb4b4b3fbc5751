"""A page parsed whole, once, for signals, content and suspicion.

Lighter than `tree`: nodes are the parser's own, and become Python objects only when they are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from html import escape
from typing import Any, Final, Protocol

import turbohtml
from xxhash import xxh3_64_intdigest

from tocsin.errors import TooComplex
from tocsin.spec.html.complexity import refuse_too_complex
from tocsin.spec.html.decoding import NOT_ASCII, decode
from tocsin.spec.html.document import Meta, empty_templates, title_of, to_meta
from tocsin.spec.html.page import Kind, find_encoding, find_kind, find_xml_encoding
from tocsin.spec.html.search import count, find, holds_any

# The types of nodes: asking for these is faster than asking for what they have.
TEXT: Final = turbohtml.Text
ELEMENT: Final = turbohtml.Element
# The namespace of elements that are neither SVG nor MathML.
HTML: Final = turbohtml.Namespace.HTML

_MOST_TEXT = 10_000_000
# A no-break space of UTF-8 in a page that names another encoding: letters that no reader takes for text.
_MISREAD_SPACE = "\u00c2\xa0"
_POSITIVE = 2**63 - 1
# Each of 51 real pages has less than a fiftieth of it. Read as short blocks, each tag takes 5 µs and 600 bytes.
_MOST_TAGS = 200_000
# What signals, content and suspicion ask of nearly every page.
_ASKED_FOR: Final = (
    "script", "style", "meta", "title", "selectedcontent", "main", "article", "h1", "p", "a", "time",
)  # fmt: skip
_CDATA = "<![CDATA["
_CLOSED = re.compile(r"""<([A-Za-z][\w.-]*+)((?:[^<>"'/]++|"[^"<]*+"|'[^'<]*+'|/(?!>))*+)/>""")
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)


class Node(Protocol):
    """An element of a parsed page."""

    @property
    def tag(self) -> str:
        """Its name, in lower case."""

    @property
    def text(self) -> str:
        """All text below it, as written."""

    @property
    def parent(self) -> Any:
        """Its parent node."""

    def attr(self, name: str) -> str | None:
        """Return an attribute's value as written; None without it, or where it has none."""

    def select(self, selector: str) -> Sequence[Node]:
        """Return the elements below it that a CSS selector matches, in tree order."""


class Whole:
    """A page parsed whole, scripting off; XHTML is converted to HTML first, so that it need not be well-formed.

    kind      how it is read
    encoding  the name of its encoding, in lower case
    document  the parser's own, for readers of HTML; its scripts and styles are empty, see `code_of`
    """

    def __init__(
        self, kind: Kind, markup: bytes, encoding: str, document: turbohtml.Document, *, is_plain: bool
    ) -> None:
        """Wrap a parsed page; `parse_whole` makes it.

        markup    that it was parsed from, in an encoding of which ASCII is a part
        is_plain  it is HTML, and all of its text was decoded
        """
        self.kind, self.encoding, self.document = kind, encoding, document
        self._markup, self._is_plain = markup, is_plain
        # The parser lists all elements by name at the first question, and anew at the first one after each alteration.
        # So what most readers ask for is asked for at once, before the code is taken out.
        self._listed = {tag: document.find_all(tag) for tag in _ASKED_FOR}
        # Most of a page's letters are code: without it, each text is taken in a fraction of the time, and is what
        # people see.
        self._code = {
            node: [piece.extract() for piece in node.children if type(piece) is TEXT]
            for node in (*self._listed["script"], *self._listed["style"])
        }

    @cached_property
    def metas(self) -> tuple[Meta, ...]:
        """Its meta elements, in tree order."""
        return tuple([to_meta(node.attr) for node in self.elements("meta")])

    @property
    def exact_metas(self) -> tuple[Meta, ...] | None:
        """Its meta elements, as `read_page` reads them without finding a problem; None where that is not certain."""
        return self.metas if self._is_plain and not self.elements("selectedcontent") else None

    @cached_property
    def title(self) -> str:
        """The text of its title, white space folded; "" if there is none."""
        return title_of(self.elements("title")) or ""

    def elements(self, *tags: str) -> Sequence[Node]:
        """Return the elements of these names in tree order, without those of templates."""
        if len(tags) > 1:
            return list(self.document.iter_elements(tags))
        listed = self._listed.get(tags[0])
        return self.document.find_all(tags[0]) if listed is None else listed

    def may_have(self, attribute: bytes) -> bool:
        """Return whether an element may have an attribute of this name: such names are never written otherwise."""
        return holds_any(self._markup, (attribute,))

    def select(self, selector: str) -> Sequence[Node]:
        """Return the elements that a CSS selector matches, in tree order, without those of templates.

        Raises ValueError where it is no selector.
        """
        return self.document.select(selector)

    def text_digest(self) -> int:
        """Return a digest of the page's text without scripts and styles, 63 bits.

        Pages with equal digests differ in markup only.
        """
        return xxh3_64_intdigest(self.document.text.encode(errors="surrogatepass")) & _POSITIVE

    def code_of(self, node: Any) -> str:
        """Return the text of a script or style element."""
        return "".join([piece.text for piece in self._code.get(node, ())])

    def scripts(self, type_: str) -> Iterator[str]:
        """Return the text of each script of a type, in lower case, in tree order."""
        for node in self.elements("script"):
            if (node.attr("type") or "").strip().lower() == type_:
                yield self.code_of(node)


def parse_whole(
    body: bytes,
    content_type: str | None,
    *,
    nosniff: bool = False,
    found: tuple[Kind, tuple[str, ...]] | None = None,
) -> Whole | None:
    """Parse a page whole by its kind and encoding; None for bytes that are not a page.

    content_type  the value of the first HTTP header, None if there was none
    nosniff       the server forbids to guess, see `is_nosniff`
    found         the result of `find_kind`, if it is known already
    Raises TooComplex for a page that is too complex to parse.
    """
    kind, _ = found or find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.OTHER:
        return None
    encoding = (find_xml_encoding if kind is Kind.XHTML else find_encoding)(body, content_type)
    text = decode(body, encoding)
    if encoding != "utf-8" and _MISREAD_SPACE in text:
        text = text.replace(_MISREAD_SPACE, "\xa0")
    if len(text) > _MOST_TEXT:
        raise TooComplex(f"more than {_MOST_TEXT} letters; split the page")
    # In most encodings, the bytes of other letters never look like ASCII, so the undecoded bytes can be searched.
    markup = text.encode("utf-8", "replace") if encoding in NOT_ASCII else body
    tags = count(markup, b"<")
    if tags > _MOST_TAGS:
        raise TooComplex(f"more than {_MOST_TAGS} tags; split the page")
    refuse_too_complex(markup, tags)
    # Of NULs the bytes are searched: among letters of two bytes, each of ASCII looks like one.
    is_plain = kind is Kind.HTML and find(markup, b"\0") < 0 and "\ufffd" not in text
    if kind is Kind.XHTML:
        text = to_html(text)
    document = turbohtml.parse(text, positions=False)
    if any("</noscript" in node.text for node in document.find_all("iframe")):
        # A frame without an end in a noscript element swallows the page, which browsers that run scripts show.
        document = turbohtml.parse(text, positions=False, scripting=True)
    empty_templates(document)
    return Whole(kind, markup, encoding, document, is_plain=is_plain)


def to_html(text: str) -> str:
    """Write XHTML as HTML: elements that are closed where they begin get an end tag, CDATA sections become text.

    Deviation: entities of its own DTD, and names with a prefix, stay as they are.
    """
    if _CDATA in text:
        first, *others = text.split(_CDATA)
        found = [first]
        is_script = _is_in_script(first, is_script=False)
        for each in others:
            data, end, rest = each.partition("]]>")
            found += (data if is_script else escape(data, quote=False), rest)
            is_script = _is_in_script(rest if end else "", is_script=is_script)
        text = "".join(found)
    return _CLOSED.sub(_with_end_tag, text)


def _is_in_script(text: str, *, is_script: bool) -> bool:
    """Return whether a script or style element is open behind a text, which it was before it or not."""
    opened = max(text.rfind("<script"), text.rfind("<style"))
    closed = max(text.rfind("</script"), text.rfind("</style"))
    return opened > closed or (is_script and closed < 0)


def _with_end_tag(tag: re.Match[str]) -> str:
    name, attributes = tag.groups()
    return tag[0] if name.lower() in _VOID else f"<{name}{attributes}></{name}>"


def check_selector(selector: str) -> str | None:
    """Return the fault of a CSS selector; None if it is valid or empty."""
    if not selector.strip():
        return None
    try:
        turbohtml.parse("<p>").select(selector)
    except ValueError as exc:
        return str(exc)
    return None
