"""OPML: outlines that people keep their feeds and bookmarks in; no entity, no DTD, no depth without end."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

from lxml import etree  # type: ignore[import-untyped]  # lxml ships no types

from tocsin.errors import UsageError
from tocsin.lists.entries import Entry, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.lists.entries import Item

Element: TypeAlias = Any
"""An element of lxml, which ships no types."""

_DEEPEST: Final = 64
_FOLDER_BYTES: Final = 63


def read_opml(stream: IO[bytes], *, name: str) -> Iterator[Item]:
    """Read OPML.

    Raises UsageError for XML that is something else, or that declares a document type.
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
        yield Refused(exc.lineno or 0, f"not XML from here on ({exc.msg}); mend it and import it again")


def _judge_root(element: Element, tag: str, *, name: str) -> None:
    if tag != "opml":
        raise UsageError(f"{name}: its root is <{tag}>; OPML was expected")
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


def _local(element: Element) -> str:
    tag = element.tag
    return etree.QName(tag).localname if isinstance(tag, str) else ""


def _forget(element: Element) -> None:
    """Keep memory flat: what has been read is of no more use."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
