"""Lists in XML: OPML outlines, sitemaps, and indexes of sitemaps; no entity, no DTD, no depth without end."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

from lxml import etree  # type: ignore[import-untyped]  # lxml ships no types

from tocsin.cli.lists.entries import Entry, Named, Refused
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.cli.lists.entries import Item

Element: TypeAlias = Any
"""An element of lxml, which ships no types."""

_DEEPEST: Final = 64
_FOLDER_BYTES: Final = 63
_ROOTS: Final = {"opml": "opml", "urlset": "sitemap", "sitemapindex": "sitemap"}


def read_xml(stream: IO[bytes], *, name: str, expected: str | None) -> Iterator[Item]:
    """Read an XML list.

    expected  "opml" or "sitemap"; None takes either
    Raises UsageError for XML that is neither, or that declares a document type.
    """
    # A bomb needs entities: those of a DTD are neither loaded nor expanded, and libxml2's own bounds stay on.
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
    take: Callable[[Element, list[str], list[str | None]], Iterator[Item]] = _from_outline
    try:
        for event, element in events:
            tag = _local(element)
            if event == "start":
                if not above:
                    _judge_root(element, tag, name=name, expected=expected)
                    take = _from_outline if tag == "opml" else _from_sitemap
                above.append(tag)
                if len(above) > _DEEPEST:
                    raise UsageError(
                        f"{name}:{element.sourceline}: nested deeper than {_DEEPEST}; this is no list of pages"
                    )
                if tag == "outline":
                    yield from take(element, above, folders)
                    folders.append(element.get("text") or element.get("title"))
                continue
            if tag == "loc":
                yield from take(element, above, folders)
            above.pop()
            if tag == "outline":
                folders.pop()
            _forget(element)
    except etree.XMLSyntaxError as exc:
        if not above:
            raise UsageError(f"{name}: not XML ({exc.msg}); name its format with --format") from exc
        yield Refused(exc.lineno or 0, f"not XML from here on ({exc.msg}); mend it and import it again")


def _judge_root(element: Element, tag: str, *, name: str, expected: str | None) -> None:
    found = _ROOTS.get(tag)
    if found is None or expected not in (None, found):
        wanted = "OPML" if expected == "opml" else "a sitemap" if expected == "sitemap" else "OPML or a sitemap"
        raise UsageError(f"{name}: its root is <{tag}>; {wanted} was expected")
    if element.getroottree().docinfo.internalDTD is not None:
        raise UsageError(f"{name}: declares a document type; take the <!DOCTYPE …> out of it")


def _from_outline(element: Element, above: list[str], folders: list[str | None]) -> Iterator[Item]:
    """The page of an outline; of a feed the page that it belongs to, if it says which."""
    if above[-1] != "outline":
        return
    line = element.sourceline or 0
    url = element.get("htmlUrl") or element.get("url") or element.get("xmlUrl")
    if url is None:
        return
    group = next((folder for folder in reversed(folders) if folder), None)
    words = element.get("text") if element.get("type") == "link" else None
    yield Entry(line, url, group[:_FOLDER_BYTES] if group else None, None if words in (None, "", url) else words)


def _from_sitemap(element: Element, above: list[str], _: list[str | None]) -> Iterator[Item]:
    """The address of a page, or of a further sitemap; those of images and videos in it are neither."""
    line = element.sourceline or 0
    url = (element.text or "").strip()
    if above[-2:] == ["url", "loc"]:
        yield Entry(line, url)
    elif above[-2:] == ["sitemap", "loc"]:
        yield Named(line, "sitemap", url)


def _local(element: Element) -> str:
    tag = element.tag
    return etree.QName(tag).localname if isinstance(tag, str) else ""


def _forget(element: Element) -> None:
    """Keep memory flat: what has been read is of no more use."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
