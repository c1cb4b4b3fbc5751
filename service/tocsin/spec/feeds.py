"""Feeds: the entries of RSS of all versions, Atom and JSON Feed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape, unescape
from html.entities import html5
from typing import Any, Final, NamedTuple, TypeVar
from xml.parsers import expat

import msgspec
from msgspec import Struct

from tocsin.spec.html.decoding import decode
from tocsin.spec.html.page import find_xml_encoding
from tocsin.spec.infrastructure.urls import resolve

MOST_ENTRIES: Final = 50_000
LONGEST_VALUE: Final = 8192
# Of all entries together; a relative URL becomes as long as its base.
MOST_LETTERS_OF_URLS: Final = 16_000_000
LONGEST_TEXT: Final = 20_000


class FeedEntry(Struct, frozen=True, gc=False):
    """An entry of a feed.

    url    of its page, absolute; None without one
    date   of the last change as written, else of the publication
    title  white space folded, without markup; "" if there is none
    text   the longest that the feed gives of it, likewise
    """

    url: str | None
    date: str | None
    title: str
    text: str


class ParsedFeed(Struct, frozen=True, gc=False):
    """A feed.

    kind     "rss", "atom" or "json"
    entries  in the feed's order
    problem  why reading ended before the end; what came before stands
    """

    kind: str
    entries: tuple[FeedEntry, ...]
    problem: str | None = None


# Text of feeds as people read it.


# What stands between them is no text; an element that is never closed goes to the end.
_HIDDEN = re.compile(r"<(script|style)\b(?:(?!</\1).)*+(?:</\1[^>]*+>?)?", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<!--(?:(?!-->).)*+(?:-->)?|</?[A-Za-z!?][^<>]*+>?", re.DOTALL)


def fold(text: str) -> str:
    """Fold the white space of a text, and cut it if it is too long."""
    return " ".join(text[: 4 * LONGEST_TEXT].split())[:LONGEST_TEXT]


def strip_markup(markup: str) -> str:
    """Return the text of markup, exact enough to notice changes."""
    markup = markup[: 8 * LONGEST_TEXT]
    if "<" in markup:
        markup = _TAG.sub(" ", _HIDDEN.sub(" ", markup))
    return fold(unescape(markup) if "&" in markup else markup)


# JSON ParsedFeed.


_VERSION = ("https://jsonfeed.org/version/", "http://jsonfeed.org/version/")
_Object = dict[str, msgspec.Raw]
_T = TypeVar("_T")


def read_json_feed(text: str, url: str) -> ParsedFeed | None:
    """Read a JSON ParsedFeed; None for any other JSON, and for what is none.

    Source  JSON ParsedFeed 1.1
    """
    feed = _decode(text.encode(errors="replace"), _Object)
    if feed is None or not (_string(feed, "version") or "").startswith(_VERSION):
        return None
    items = _decode(feed.get("items", b"[]"), list[msgspec.Raw])
    if items is None:
        return ParsedFeed("json", (), "its items are no list")
    objects = (_decode(item, _Object) for item in items[:MOST_ENTRIES])
    problem = f"more than {MOST_ENTRIES:,} entries" if len(items) > MOST_ENTRIES else None
    entries: list[FeedEntry] = []
    letters = 0
    for item in objects:
        if item is None:
            continue
        entries.append(_read_item(item, url))
        letters += len(entries[-1].url or "")
        if letters > MOST_LETTERS_OF_URLS:
            problem = "its addresses are too long"
            break
    return ParsedFeed("json", tuple(entries), problem)


def _read_item(item: _Object, url: str) -> FeedEntry:
    link = _string(item, "url")
    named = _string(item, "id") or ""
    if link is None and named.startswith(("https://", "http://")):
        link = named
    texts = (
        fold(_string(item, "content_text") or ""),
        strip_markup(_string(item, "content_html") or ""),
        fold(_string(item, "summary") or ""),
    )
    date = _string(item, "date_modified") or _string(item, "date_published")
    return FeedEntry(
        resolve(link, url) if link and len(link) <= LONGEST_VALUE else None,
        fold(date[:LONGEST_VALUE]) or None if date else None,
        fold(_string(item, "title") or ""),
        max(texts, key=len),
    )


def _string(item: _Object, key: str) -> str | None:
    return _decode(item[key], str) if key in item else None


def _decode(source: Any, type_: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(source, type=type_)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


# RSS and Atom, without entities or attributes of their own, and of limited depth.


_DEEPEST: Final = 200
_MOST_NAMESPACES: Final = 100
_LONGEST_BASE: Final = 2000
_MOST_MENDED: Final = 100_000
_XML: Final = "http://www.w3.org/XML/1998/namespace"
_ROOTS: Final = {"rss": "rss", "RDF": "rss", "feed": "atom"}
_ENTRIES: Final = frozenset({"item", "entry"})
# Namespaces by what they are here, and by the prefix that is assumed where none is declared.
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
# Dates of the last change, the most reliable first; then dates of the publication.
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
# References that XML does not define, and bare ampersands; CDATA sections and comments are skipped.
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
    """The namespaces of an element by prefix, and its base URL."""

    namespaces: dict[str, str]
    base: str


def read_xml_feed(text: str, url: str) -> ParsedFeed | None:
    """Read RSS or Atom up to its first error; returns None for other texts.

    If references that XML does not define stop it, it is read again without them.
    Source  RFC 4287; RSS 2.0, 1.0 and 0.9x; XML Base
    """
    # The text is decoded, so its declaration of an encoding no longer applies.
    text = _DECLARATION.sub("", text, count=1) if text.startswith("<?xml") else text
    feed = _read(text, url)
    if feed is None or feed.problem is None or text.count("&") > _MOST_MENDED:
        return feed
    mended = _CONTROLS.sub("", _LOOSE.sub(_mend, text))
    again = _read(mended, url) if mended != text else None
    return feed if again is None or len(again.entries) < len(feed.entries) else again


def _read(text: str, url: str) -> ParsedFeed | None:
    reader = _FeedReader(url)
    problem = reader.read(text)
    # RDF without entries may be about anything.
    if reader.kind is None or (reader.is_rdf and not reader.entries):
        return None
    return ParsedFeed(reader.kind, tuple(reader.entries), problem)


def _mend(match: re.Match[str]) -> str:
    found = match[0]
    if not found.startswith("&"):
        return found
    meant = html5.get(f"{match[1]};")
    return f"&amp;{found[1:]}" if meant is None else escape(meant)


class _FeedReader:
    """Reads one feed.

    kind    None before the root element, and if this is not a feed
    is_rdf  its root is that of RDF, which other documents have, too
    """

    def __init__(self, url: str) -> None:
        self.kind: str | None = None
        self.is_rdf = False
        self.entries: list[FeedEntry] = []
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
        """Read all of it; returns why reading ended early."""
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
        # Called before the declarations are read. RSS 0.91 names a document type, which is harmless: nothing is loaded.
        if has_subset:
            raise _Stop("it declares entities or attributes of its own; write their values instead")

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
                self._text.append(" ")  # Elements of XHTML separate words.
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
            self.entries.append(FeedEntry(link, date, self._title, self._longest))
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
        """Take a link, unless a more reliable one was seen."""
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
    """Return the vocabulary of a name, None if it is not read, and the local name."""
    prefix, _, name = tag.rpartition(":")
    namespace = scope.namespaces.get(prefix)
    return (None if namespace is None else _KNOWN.get(namespace)), name


_MOST_BYTES = 20 * 2**20
# XML forbids white space before its declaration, but many sites write it.
_BLANK = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?+[\x00\t\n\r ]*+")
_LOOKED_AT = 1024


def read_feed(body: bytes, content_type: str | None, url: str) -> ParsedFeed | None:
    """Read a feed, whatever its Content-Type says; returns None for other bytes. Never raises.

    content_type  the value of the first HTTP header, None if there was none; only its charset counts
    url           of the response; resolves relative links, unless the feed has an `xml:base`
    Source        RSS 0.91 to 2.0, RSS 1.0, RFC 4287 (Atom), JSON ParsedFeed 1.1
    """
    blank = _BLANK.match(body[:_LOOKED_AT])
    first = body[blank.end() : blank.end() + 1] if blank else b""
    if first not in {b"<", b"{"} or len(body) > _MOST_BYTES:
        return None
    text = decode(body, find_xml_encoding(body, content_type)).lstrip("\ufeff\x00\t\n\r ")
    return read_json_feed(text, url) if first == b"{" else read_xml_feed(text, url)
