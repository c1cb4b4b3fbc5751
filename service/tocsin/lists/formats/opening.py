"""Opens a list: decompresses and decodes it, and recognises its format."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, Final, TypeAlias

from lxml import etree  # type: ignore[import-untyped]  # lxml ships no types

from tocsin.errors import UsageError
from tocsin.lists.entries import CHANGEDETECTION, DISTILL, ListEntry, ListItem, ListNotice, RefusedLine
from tocsin.lists.formats.text import find_separator, read_lines, read_separated
from tocsin.spec.sitemaps import Location, SitemapKind, SitemapReader

# Lists in XML: OPML, the format of feed readers and bookmarks, and sitemaps with their indexes.


# An element of lxml, which ships no types.
Element: TypeAlias = Any

# Folders of feed readers; deeper nesting could exhaust the stack.
_DEEPEST: Final = 64
# As long as the name of a group may be.
_FOLDER_BYTES: Final = 63


def read_opml(stream: IO[bytes], *, name: str) -> Iterator[ListItem]:
    """Read OPML.

    Raises UsageError for other XML, and if it declares a document type.
    """
    # Entities of a DTD are neither loaded nor expanded, and libxml2's own limits stay on: no XML bomb works.
    events = etree.iterparse(
        stream,
        events=("start", "end"),
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    above: list[str] = []
    folders: list[str | None] = []
    try:
        for event, element in events:
            tag = _local(element)
            if event == "start":
                if not above:
                    _judge_root(element, tag, name=name)
                above.append(tag)
                if len(above) > _DEEPEST:
                    raise UsageError(
                        f"{name}:{element.sourceline}: nested deeper than {_DEEPEST}; this is no list of pages"
                    )
                if tag == "outline":
                    yield from _from_outline(element, above, folders)
                    folders.append(element.get("text") or element.get("title"))
                continue
            above.pop()
            if tag == "outline":
                folders.pop()
            _forget(element)
    except etree.XMLSyntaxError as exc:
        if not above:
            raise UsageError(f"{name}: not XML ({exc.msg}); name its format with --format") from exc
        yield RefusedLine(exc.lineno or 0, f"not XML from here on ({exc.msg}); mend it and import it again")


def _judge_root(element: Element, tag: str, *, name: str) -> None:
    if tag != "opml":
        raise UsageError(f"{name}: its root is <{tag}>; OPML was expected")
    if element.getroottree().docinfo.internalDTD is not None:
        raise UsageError(f"{name}: declares a document type; take the <!DOCTYPE …> out of it")


def _from_outline(element: Element, above: list[str], folders: list[str | None]) -> Iterator[ListItem]:
    """Yield the page of an outline; for a feed, the page that it belongs to if that is named."""
    if above[-1] != "outline":
        return
    line = element.sourceline or 0
    url = element.get("htmlUrl") or element.get("url") or element.get("xmlUrl")
    if url is None:
        return
    group = next((folder for folder in reversed(folders) if folder), None)
    words = element.get("text") if element.get("type") == "link" else None
    yield ListEntry(line, url, group[:_FOLDER_BYTES] if group else None, None if words in (None, "", url) else words)


def _local(element: Element) -> str:
    tag = element.tag
    return etree.QName(tag).localname if isinstance(tag, str) else ""


def _forget(element: Element) -> None:
    """Free an element that was read, so that memory stays flat."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


_PIECE_BYTES: Final = 65_536


def read_sitemap(stream: IO[bytes], *, name: str, expected: str | None) -> Iterator[ListItem]:
    """Read a sitemap as a stream.

    expected  "sitemap", or None if OPML is accepted too
    Raises UsageError if the stream is not a sitemap.
    """
    reader = SitemapReader()
    while not reader.is_over and (piece := stream.read(_PIECE_BYTES)):
        found = reader.feed(piece)
        yield from (_item(reader.kind, location) for location in found)
    found = reader.close()
    yield from (_item(reader.kind, location) for location in found)
    problem = reader.problem
    if problem is None:
        return
    if not problem.is_fatal:
        yield RefusedLine(problem.line, problem.reason)
        return
    if reader.root is not None and reader.kind is None:
        wanted = "a sitemap" if expected == "sitemap" else "OPML or a sitemap"
        raise UsageError(f"{name}: its root is <{reader.root}>; {wanted} was expected")
    raise UsageError(f"{name}:{problem.line}: {problem.reason}")


def _item(kind: SitemapKind | None, location: Location) -> ListItem:
    if kind is SitemapKind.INDEX:
        return ListNotice(location.line, "sitemap", location.url)
    return ListEntry(location.line, location.url)


FORMATS: Final = ("list", "csv", "opml", "sitemap", CHANGEDETECTION, DISTILL)

_GZIP: Final = b"\x1f\x8b"
# The beginning by which a format is recognised; XML may have a long comment first.
_PEEKED_BYTES: Final = 8192
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# A zip file, with or without members.
_ARCHIVE: Final = (b"PK\x03\x04", b"PK\x05\x06")
_JSON: Final = re.compile(r"\s*\{")
_MARKUP: Final = re.compile(r"\s*<")
_OPML: Final = re.compile(r"<(?:[\w.-]{1,80}:)?opml[\s/>]")


def open_list(stream: IO[bytes], *, name: str, kind: str | None = None) -> tuple[str, Iterator[ListItem]]:
    """Read a list of pages.

    stream  its bytes, perhaps compressed with gzip
    name    for messages
    kind    one of FORMATS; None: recognised by the beginning
    Returns the format and an iterator of the items in order, which raises UsageError for a file that is not of the
            format; a problem with one line is an item.
    """
    with _readable(name):
        may_be_archive = kind in {None, CHANGEDETECTION}
        is_in_place = may_be_archive and _begins_an_archive(stream)
        source = _decompressed(stream, name)
        if is_in_place or (may_be_archive and source.peek(4).startswith(_ARCHIVE)):
            from tocsin.lists.exports import read_archive  # noqa: PLC0415 - few lists are one

            return CHANGEDETECTION, _guarded(read_archive(stream if is_in_place else source, name=name), name)
        bom, encoding = next(
            ((mark, found) for mark, found in _BOMS if source.peek(4).startswith(mark)), (b"", "utf-8")
        )
        # Bytes that are invalid in this encoding become surrogates, so that each line can be refused by itself.
        beginning = source.peek(_PEEKED_BYTES)[len(bom) : _PEEKED_BYTES].decode(encoding, "replace")
    is_markup = kind is None and _MARKUP.match(beginning)
    if kind == "opml" or (is_markup and _OPML.search(beginning)):
        return "opml", _guarded(read_opml(source, name=name), name)
    if kind == "sitemap" or is_markup:
        return "sitemap", _guarded(read_sitemap(source, name=name, expected=kind), name)
    source.read(len(bom))
    if kind == DISTILL or (kind in {None, CHANGEDETECTION} and _JSON.match(beginning)):
        from tocsin.lists.exports import read_export  # noqa: PLC0415 - the same

        found, items = read_export(source, name=name, expected=kind)
        return found, _guarded(items, name)
    text = io.TextIOWrapper(source, encoding=encoding, errors="surrogateescape", newline="")
    if kind == "csv" or (kind is None and find_separator(beginning) is not None):
        return "csv", _guarded(read_separated(text, name=name, beginning=beginning), name)
    return kind or "list", _guarded(read_lines(text), name)


def _begins_an_archive(stream: IO[bytes]) -> bool:
    """Say whether a stream is an archive that can be read in place."""
    if not stream.seekable():
        return False
    begin = stream.tell()
    found = stream.read(4).startswith(_ARCHIVE)
    stream.seek(begin)
    return found and begin == 0


def _decompressed(stream: IO[bytes], name: str) -> io.BufferedReader[_Raw]:
    source = io.BufferedReader(_Raw(stream.read), _PEEKED_BYTES)
    for _ in range(2):  # Compressed twice is a mistake that is forgiven; more is an attack.
        if not source.peek(2).startswith(_GZIP):
            return source
        source = io.BufferedReader(_Raw(gzip.GzipFile(fileobj=source).read), _PEEKED_BYTES)
    if source.peek(2).startswith(_GZIP):
        raise UsageError(f"{name}: compressed more than twice; decompress it first")
    return source


class _Raw(io.RawIOBase):
    """A read function as a binary stream."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        view = memoryview(target).cast("B")
        piece = self._read(len(view))
        view[: len(piece)] = piece
        return len(piece)


def _guarded(items: Iterator[ListItem], name: str) -> Iterator[ListItem]:
    """Translate errors while items are read: compression may break anywhere."""
    with _readable(name):
        yield from items


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError, zlib.error) as exc:
        raise UsageError(f"{name}: cannot be read to its end ({exc}); get the file again") from exc
