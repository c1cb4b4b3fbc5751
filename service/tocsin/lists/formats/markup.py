"""Lists in XML: OPML, the format of feed readers and bookmarks, and sitemaps with their indexes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, Final, TypeAlias

from lxml import etree  # type: ignore[import-untyped]  # lxml ships no types

from tocsin.errors import UsageError
from tocsin.lists.entries import ListEntry, ListItem, ListNotice, RefusedLine
from tocsin.spec.sitemaps import Location, SitemapKind, SitemapReader

# An element of lxml, which ships no types.
Element: TypeAlias = Any

_DEEPEST: Final = 64
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
