"""Feeds in XML: without entities and document types of their own, and nested no deeper than feeds are."""

from __future__ import annotations

import re
from html import escape
from html.entities import html5
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.parsers import expat

from tocsin.spec.feeds.found import (
    LONGEST_TEXT,
    LONGEST_VALUE,
    MOST_ENTRIES,
    MOST_LETTERS_OF_URLS,
    Entry,
    Feed,
)
from tocsin.spec.feeds.plain import fold, strip_markup
from tocsin.spec.infrastructure.urls import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEEPEST: Final = 200
_MOST_NAMESPACES: Final = 100
_LONGEST_BASE: Final = 2000
_MOST_MENDED: Final = 100_000
_XML: Final = "http://www.w3.org/XML/1998/namespace"
_ROOTS: Final = {"rss": "rss", "RDF": "rss", "feed": "atom"}
_ENTRIES: Final = frozenset({"item", "entry"})
# By which prefix each is known where none was declared, and which namespaces are meant.
_CORE, _DC, _TERMS, _CONTENT, _ORIGIN = "", "dc", "dcterms", "content", "feedburner"
_KNOWN: Final = {
    "": _CORE,
    "http://www.w3.org/2005/Atom": _CORE,
    "http://purl.org/atom/ns#": _CORE,
    "http://purl.org/rss/1.0/": _CORE,
    "http://my.netscape.com/rdf/simple/0.9/": _CORE,
    "http://channel.netscape.com/rdf/simple/0.9/": _CORE,
    "http://backend.userland.com/rss2": _CORE,
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": _CORE,
    "http://purl.org/dc/elements/1.1/": _DC,
    "http://purl.org/dc/terms/": _TERMS,
    "http://purl.org/rss/1.0/modules/content/": _CONTENT,
    "http://rssnamespace.org/feedburner/ext/1.0": _ORIGIN,
}
_PREFIXES: Final = {
    "": "",
    "atom": "http://www.w3.org/2005/Atom",
    "a10": "http://www.w3.org/2005/Atom",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "xml": _XML,
}
# What says when the page changed, the surest first; of those that say when it was published, too.
_DATES: Final = (
    (_CORE, "updated"),
    (_CORE, "modified"),
    (_TERMS, "modified"),
    (_DC, "date"),
    (_CORE, "pubDate"),
    (_CORE, "published"),
    (_CORE, "issued"),
    (_TERMS, "issued"),
    (_TERMS, "created"),
    (_CORE, "created"),
)
_RANKS: Final = {name: rank for rank, name in enumerate(_DATES)}
_TEXTS: Final = frozenset(
    {(_CORE, "description"), (_CORE, "summary"), (_CORE, "content"), (_CONTENT, "encoded"), (_DC, "description")}
)
_TITLES: Final = frozenset({(_CORE, "title"), (_DC, "title")})
_LINKS: Final = {(_ORIGIN, "origLink"): 0, (_CORE, "link"): 1, (_CORE, "guid"): 2}
_ABOUT_RANK: Final = 3
_READ: Final = frozenset({*_RANKS, *_TEXTS, *_TITLES, *_LINKS})
# References that XML does not know, and ampersands that are none; sections that hold neither are passed over.
_LOOSE: Final = re.compile(
    r"<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+|<!--(?:[^-]++|-(?!->))*+|&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)"
    r"(?:([A-Za-z][A-Za-z0-9]{1,31};))?"
)
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]+")
_DECLARATION: Final = re.compile(r"<\?xml[\t\n\r ][^>]*+>")


class _Stop(Exception):
    def __init__(self, reason: str) -> None:
        self.reason = reason


class _Scope(NamedTuple):
    """What holds within an element: its namespaces by prefix, and its base."""

    namespaces: dict[str, str]
    base: str


def read_xml_feed(text: str, url: str) -> Feed | None:
    """Read RSS or Atom up to its first error; None for any other XML, and for what is none.

    Where references that XML does not know stop it, it is read once more without them.
    Source  RFC 4287; RSS 2.0, 1.0 and 0.9x; XML Base
    """
    # What it says of its encoding was heeded.
    text = _DECLARATION.sub("", text, count=1) if text.startswith("<?xml") else text
    feed = _read(text, url)
    if feed is None or feed.problem is None or text.count("&") > _MOST_MENDED:
        return feed
    mended = _CONTROLS.sub("", _LOOSE.sub(_mend, text))
    again = _read(mended, url) if mended != text else None
    return feed if again is None or len(again.entries) < len(feed.entries) else again


def _read(text: str, url: str) -> Feed | None:
    reader = _FeedReader(url)
    problem = reader.read(text)
    if reader.kind is None or (reader.is_rdf and not reader.entries):  # which may be of anything
        return None
    return Feed(reader.kind, tuple(reader.entries), problem)


def _mend(match: re.Match[str]) -> str:
    found = match[0]
    if not found.startswith("&"):
        return found
    meant = html5.get(f"{match[1]};")
    return f"&amp;{found[1:]}" if meant is None else escape(meant)


class _FeedReader:
    """Reads one feed.

    kind    None until its root was seen, and for what is no feed
    is_rdf  its root is one that others have, too
    """

    def __init__(self, url: str) -> None:
        self.kind: str | None = None
        self.is_rdf = False
        self.entries: list[Entry] = []
        self._scopes = [_Scope(_PREFIXES, url)]
        self._is_in_entry = False
        self._entry_depth = 0
        self._name: tuple[str, str] | None = None
        self._text: list[str] = []
        self._letters = 0
        self._letters_of_urls = 0
        self._is_permalink = True
        self._begin_entry(None)
        self._expat = expat.ParserCreate("utf-8")
        self._expat.buffer_text = True
        self._expat.StartDoctypeDeclHandler = self._refuse_subset
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._characters

    def read(self, text: str) -> str | None:
        """Read all of it; returns why it ended early."""
        try:
            self._expat.Parse(text.encode(errors="replace"), True)  # noqa: FBT003 - expat knows no keyword
        except _Stop as exc:
            return exc.reason
        except expat.ExpatError as exc:
            return f"not well-formed from line {exc.lineno} on ({expat.ErrorString(exc.code)})"
        return None

    def _begin_entry(self, about: str | None) -> None:
        self._date: tuple[int, str] | None = None
        self._title = ""
        self._longest = ""
        self._link: tuple[int, str] | None = None
        if about:
            self._offer(_ABOUT_RANK, about)

    @staticmethod
    def _refuse_subset(_: str, __: str | None, ___: str | None, has_subset: int) -> None:
        # Called before what it declares is read. That RSS 0.91 names its document type is no harm: nothing is loaded.
        if has_subset:
            raise _Stop("it declares entities or attributes of its own; write what they stand for")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        scope = _enter(self._scopes[-1], attributes)
        self._scopes.append(scope)
        depth = len(self._scopes)
        if depth > _DEEPEST:
            raise _Stop(f"nested deeper than {_DEEPEST}")
        space, name = _resolve_name(tag, scope)
        if self.kind is None:
            self.kind = _ROOTS.get(name) if space == _CORE else None
            self.is_rdf = name == "RDF"
            if self.kind is None:
                raise _Stop("no feed")
        elif self._is_in_entry:
            if depth == self._entry_depth + 1 and space is not None and (space, name) in _READ:
                self._begin_value(space, name, attributes)
            elif self._name is not None:
                self._text.append(" ")  # what XHTML's elements hold are words apart
        elif space == _CORE and name in _ENTRIES:
            if len(self.entries) >= MOST_ENTRIES:
                raise _Stop(f"more than {MOST_ENTRIES:,} entries")
            self._is_in_entry, self._entry_depth = True, depth
            self._begin_entry(attributes.get("rdf:about"))

    def _begin_value(self, space: str, name: str, attributes: Mapping[str, str]) -> None:
        self._name, self._text, self._letters = (space, name), [], 0
        if name == "guid":
            self._is_permalink = attributes.get("isPermaLink", "true").strip().lower() != "false"
        href = attributes.get("href") if name == "link" else None
        if href and attributes.get("rel", "alternate").strip().lower() == "alternate":
            self._offer(_LINKS[_CORE, "link"], href)

    def _characters(self, text: str) -> None:
        if self._name is not None and self._letters <= 8 * LONGEST_TEXT:
            self._text.append(text)
            self._letters += len(text)

    def _end(self, _: str) -> None:
        depth = len(self._scopes)
        if self._is_in_entry and depth == self._entry_depth + 1 and self._name is not None:
            self._take(self._name, "".join(self._text))
            self._name = None
        elif self._is_in_entry and depth == self._entry_depth:
            self._is_in_entry = False
            link = None if self._link is None else self._link[1]
            date = None if self._date is None else self._date[1]
            self.entries.append(Entry(link, date, self._title, self._longest))
            self._letters_of_urls += len(link or "")
            if self._letters_of_urls > MOST_LETTERS_OF_URLS:
                raise _Stop("its addresses are too long")
        self._scopes.pop()

    def _take(self, name: tuple[str, str], text: str) -> None:
        if name in _RANKS:
            date = fold(text[:LONGEST_VALUE])
            if date and (self._date is None or _RANKS[name] < self._date[0]):
                self._date = (_RANKS[name], date)
        elif name in _TITLES:
            self._title = self._title or strip_markup(text)
        elif name in _TEXTS:
            self._longest = max(self._longest, strip_markup(text), key=len)
        elif name != (_CORE, "guid") or (self._is_permalink and text.strip().startswith(("http://", "https://"))):
            self._offer(_LINKS[name], text)

    def _offer(self, rank: int, reference: str) -> None:
        """Take a link where none that is surer was seen."""
        reference = reference.strip()
        if not reference or len(reference) > LONGEST_VALUE or (self._link is not None and self._link[0] <= rank):
            return
        found = resolve(reference, self._scopes[-1].base)
        if found is not None and found.startswith(("http://", "https://")):
            self._link = (rank, found)


def _enter(scope: _Scope, attributes: Mapping[str, str]) -> _Scope:
    namespaces, base = scope
    declared: dict[str, str] = {}
    for name, value in attributes.items():
        if name == "xmlns" or name.startswith("xmlns:"):
            declared[name[6:]] = value
        elif name == "xml:base" and len(value) <= LONGEST_VALUE:
            found = resolve(value.strip(), base)
            base = found if found is not None and len(found) <= _LONGEST_BASE else base
    if declared and len(namespaces) + len(declared) <= _MOST_NAMESPACES:
        namespaces = {**namespaces, **declared}
    return scope if namespaces is scope.namespaces and base is scope.base else _Scope(namespaces, base)


def _resolve_name(tag: str, scope: _Scope) -> tuple[str | None, str]:
    """Give what a name belongs to, None for what nobody reads, and the name itself."""
    prefix, _, name = tag.rpartition(":")
    namespace = scope.namespaces.get(prefix)
    return (None if namespace is None else _KNOWN.get(namespace)), name
