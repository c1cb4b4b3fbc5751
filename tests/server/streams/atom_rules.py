"""What RFC 4287 demands of a feed document, in our own words; each finding names the section that is broken."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from lxml import etree  # type: ignore[import-untyped]  # has no stubs

ATOM: Final = "{http://www.w3.org/2005/Atom}"
_DATE: Final = re.compile(
    r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]\d\d:\d\d)"
)
_NO_IRI: Final = re.compile(r'[\x00-\x20"<>\\^`{|}]')
_ONE: Final = ("id", "title", "updated")
_IN_FEED: Final = {
    *_ONE,
    "author",
    "category",
    "contributor",
    "generator",
    "icon",
    "link",
    "logo",
    "rights",
    "subtitle",
    "entry",
}
_IN_ENTRY: Final = {
    *_ONE,
    "author",
    "category",
    "content",
    "contributor",
    "link",
    "published",
    "rights",
    "source",
    "summary",
}
_AT_MOST_ONE: Final = {"generator", "icon", "logo", "rights", "subtitle", "content", "published", "source", "summary"}
_TEXTS: Final = {"title", "summary", "subtitle", "rights"}


def broken_rules(document: bytes) -> list[str]:
    """Every rule that the document breaks; none where it is a valid feed document."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    feed = etree.fromstring(document, parser)
    if feed.tag != f"{ATOM}feed":
        return ["4.1.1: the document element is no atom:feed"]
    return list(_feed(feed))


def _feed(feed: etree._Element) -> Iterator[str]:
    yield from _children(feed, _IN_FEED, "4.1.1")
    entries = feed.findall(f"{ATOM}entry")
    if feed.find(f"{ATOM}author") is None and any(entry.find(f"{ATOM}author") is None for entry in entries):
        yield "4.1.1: neither the feed nor each of its entries has an author"
    names = [child.tag for child in feed]
    if entries and f"{ATOM}entry" in names[: names.index(f"{ATOM}entry")]:
        yield "4.1.1: an entry before the feed's own metadata"
    doubles = Counter((_text(entry, "id"), _text(entry, "updated")) for entry in entries)
    yield from (f"4.1.1: {key} twice" for key, number in doubles.items() if number > 1)
    for entry in entries:
        yield from _entry(entry)


def _entry(entry: etree._Element) -> Iterator[str]:
    yield from _children(entry, _IN_ENTRY, "4.1.2")
    rels = [link.get("rel", "alternate") for link in entry.findall(f"{ATOM}link")]
    content = entry.find(f"{ATOM}content")
    if content is None and "alternate" not in rels:
        yield "4.1.2: neither content nor an alternate link"
    if content is not None:
        if content.get("type", "text") in {"text", "html"} and len(content):
            yield "4.1.3.3: text or HTML with child elements"
        if content.get("src") is not None and content.text:
            yield "4.1.3.2: content beside src"


def _children(parent: etree._Element, known: set[str], section: str) -> Iterator[str]:
    names = [str(child.tag).removeprefix(ATOM) for child in parent]
    yield from (f"{section}: {name} has no place here" for name in names if name not in known)
    yield from (f"{section}: {names.count(name)} times {name}" for name in _ONE if names.count(name) != 1)
    yield from (f"{section}: {name} more than once" for name in _AT_MOST_ONE if names.count(name) > 1)
    alternates = Counter(
        (link.get("type"), link.get("hreflang"))
        for link in parent.findall(f"{ATOM}link")
        if link.get("rel", "alternate") == "alternate"
    )
    yield from (f"{section}: two alternate links of {kind}" for kind, number in alternates.items() if number > 1)
    for child in parent:
        yield from _child(child, str(child.tag).removeprefix(ATOM))


def _child(child: etree._Element, name: str) -> Iterator[str]:
    if name in {"updated", "published"}:
        name = "date"
    elif name in {"author", "contributor"}:
        name = "person"
    elif name in _TEXTS:
        name = "text"
    look = _LOOKS.get(name)
    if look is not None:
        yield from look(child, child.text or "")


def _id(_: etree._Element, text: str) -> Iterator[str]:
    if not urlsplit(text).scheme or text != text.strip() or _NO_IRI.search(text):
        yield f"4.2.6: {text!r} is no absolute IRI"


def _date(_: etree._Element, text: str) -> Iterator[str]:
    if not _DATE.fullmatch(text):
        yield f"3.3: {text!r} is no date"


def _link(link: etree._Element, text: str) -> Iterator[str]:
    href, kind = link.get("href"), link.get("type")
    if href is None or _NO_IRI.search(href):
        yield f"4.2.7.1: {href!r} is no IRI reference"
    if link.get("rel") == "" or text.strip() or len(link):
        yield "4.2.7: rel is empty, or the link is not"
    if kind is not None and not re.fullmatch(r".+/.+", kind):
        yield f"4.2.7.3: {kind!r} is no media type"


def _category(category: etree._Element, _: str) -> Iterator[str]:
    if category.get("term") is None:
        yield "4.2.2.1: a category without term"


def _person(person: etree._Element, _: str) -> Iterator[str]:
    if len(person.findall(f"{ATOM}name")) != 1:
        yield "3.2.1: a person without one name"


def _text_construct(construct: etree._Element, _: str) -> Iterator[str]:
    kind = construct.get("type", "text")
    if kind not in {"text", "html", "xhtml"}:
        yield f"3.1.1: type {kind!r}"
    if kind != "xhtml" and len(construct):
        yield f"3.1.1: {construct.tag} with child elements"


_LOOKS: Final = {
    "id": _id, "date": _date, "link": _link, "category": _category, "person": _person, "text": _text_construct,
}  # fmt: skip


def _text(parent: etree._Element, name: str) -> str:
    return parent.findtext(f"{ATOM}{name}") or ""
