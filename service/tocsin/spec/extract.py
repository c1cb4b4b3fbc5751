"""Extracts of a page: its metadata, links, directives to robots, copies, and its items in each format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal

from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.html.microsyntax import lower_ascii
from tocsin.spec.html.page import Kind, read_page
from tocsin.spec.html.tree import Tree, read_tree
from tocsin.spec.infrastructure.datetimes import read_http_date
from tocsin.spec.infrastructure.urls import Bases
from tocsin.spec.links.copies import CopyKind, is_offerable, read_mementos, read_references
from tocsin.spec.links.links import (
    Anchors,
    Icon,
    PageLink,
    default_feed,
    rank_icons,
    read_alternates,
    read_depths,
    read_links,
    read_permalinks,
    read_tags,
    read_translations,
)
from tocsin.spec.links.metadata import Metadatum, find_target, read_default_language, read_metadata, read_whole_refresh
from tocsin.spec.microdata.formats import FORMAT_NAMES
from tocsin.spec.robots import ROBOTS, Directives, read_directives
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from tocsin.spec.microdata.formats.catalogue import PageSource  # records and links need no writers

# What JSON can hold; every key is always there, None where nothing is known.
Record = dict[str, Any]

MOST_LINKS: Final = 100_000
# Of URLs: a long base would make each of many short links a long one.
_MOST_CHARACTERS: Final = 2**26
_ICON_WIDTH: Final = 32
# Meta names whose content is not text of the page: its declarations of changes, and to robots (C-53).
_NOT_TEXT: Final = frozenset({*FIELDS, ROBOTS})


class Form(StrEnum):
    """What can be extracted, beside the documents of FORMATS."""

    META = "meta"
    LINKS = "links"
    ROBOTS = "robots"
    COPIES = "copies"


@dataclass(frozen=True, slots=True)
class Extract:
    """What was extracted of a page.

    records       one for META and ROBOTS; one for each link, at most 100,000; one for each copy and each date of
                  reference; for microdata one with its items, though there be none; none for the other formats
    is_page       whether it is HTML or XHTML; of nothing else can more be said than what its headers ask of robots
    problems      in words for the page's reader
    no_text       texts were kept out, because the page is not to be indexed (LM-45)
    no_links      links were kept out, because the page's links are not to be followed (LM-46)
    document      for a format: the whole document, line ends too; None where the page has nothing of the kind
    media_type    of the document, as in a Content-Type header
    profile       that it was written by
    found         the number of items on the page that can be converted one by one, such as contacts
    absence       for a page without such data: what was searched, and what the page has instead
    empty         for a format: the document of nothing, where there is no other and the format has one
    """

    records: tuple[Record, ...]
    is_page: bool
    problems: tuple[str, ...]
    no_text: bool = False
    no_links: bool = False
    document: str | None = None
    media_type: str | None = None
    profile: str | None = None
    found: int = 0
    absence: str | None = None
    empty: str | None = None


def extract(
    body: bytes,
    content_type: str | None = None,
    *,
    form: Form | str,
    url: str | None = None,
    base: str | None = None,
    headers: Sequence[tuple[str, str]] = (),
    own: bool = False,
    agent: str = "tocsin",
    profile: str | None = None,
    item: int | Literal["all"] | None = None,
    now: datetime | None = None,
    blank: str = "",
) -> Extract:
    """Extract data from a page of any bytes; nothing is fetched.

    content_type  the value of the HTTP header, None if there was none
    form          a value of Form, or a name of FORMATS
    url           the page's own after redirects; None if it is not known
    base          overrides the base of its relative URLs; None: its base element, or url
    headers       of its answer, names in any case
    own           the page is the caller's own: its directives to robots do not apply
    agent         our name as a robot
    profile       of a format; None: its first
    item          the number of one item, from 1, or "all", where the format counts some; None: its default
    now           when this is, aware; needed for ical and atom
    blank         what names of things without one begin with, in RDF: N-Triples that are put together must differ
    Raises TooComplex for a page that is too complex to parse, UsageError for options that a format does not have,
    ValueError for an unknown form.
    """
    told = _Headers(headers)
    if form in FORMAT_NAMES:
        from tocsin.spec.microdata.formats.catalogue import PageSource  # noqa: PLC0415 - records need no writers

        received = PageSource(body, content_type, url if url is not None else base, base, nosniff=told.is_nosniff())
        wanted = {"profile": profile, "item": item, "now": now, "blank": blank}
        return _convert(str(form), received, told, None if own else agent, wanted)
    form = Form(form)
    tree = read_tree(body, content_type, nosniff=told.is_nosniff())
    directives = _directives(tree, told, agent)
    page = _Page(
        tree,
        Bases(tree.elements() if base is None else (), url if base is None else base, tree.encoding),
        url if url is not None else base,
        told,
        directives,
        lower_ascii(agent),
        hides_text=not own and not directives.index,
        hides_links=not own and not directives.follow,
    )
    return _extract_records(form, page)


def _extract_records(form: Form, page: _Page) -> Extract:
    problems: tuple[str, ...] = ()
    tree = page.tree
    if form is Form.ROBOTS:
        records = [_robots(page)]
    elif tree.kind is Kind.OTHER:
        records = []
    elif form is Form.META:
        records = [_meta(page)]
    elif form is Form.LINKS:
        records, problems = ([], ()) if page.hides_links else _links(page)
    else:
        records = list(_copies(page))
    return Extract(
        tuple(records),
        tree.kind is not Kind.OTHER,
        tree.problems + problems,
        no_text=page.hides_text and form in {Form.META, Form.LINKS},
        no_links=page.hides_links and form in {Form.META, Form.LINKS},
    )


class _Headers:
    """The headers of an answer, by name."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        self.all = tuple((lower_ascii(name), value) for name, value in headers)

    def values(self, name: str) -> tuple[str, ...]:
        return tuple(value for each, value in self.all if each == name)

    def is_nosniff(self) -> bool:
        return is_nosniff(self.values("x-content-type-options"))


def _convert(form: str, page: PageSource, headers: _Headers, agent: str | None, wanted: dict[str, Any]) -> Extract:
    """Convert a page into a format, unless it asks robots to index nothing of it (LM-45).

    agent   our name as a robot; None where nothing is kept back
    wanted  what `convert` is given by name
    """
    from tocsin.spec.microdata.formats.catalogue import FORMATS, Converted, convert  # noqa: PLC0415 - the same

    names = tuple(name.encode() for name in (ROBOTS, lower_ascii(agent))) if agent is not None else ()
    reading = read_page(page.body, page.content_type, nosniff=page.nosniff, about=names)
    metas = ((meta.name, meta.content) for meta in reading.metas)
    hides = agent is not None and not read_directives(metas, headers.values("x-robots-tag"), agent).index
    way, modified = FORMATS[form], next(filter(None, map(read_http_date, headers.values("last-modified"))), None)
    is_given = not hides and reading.kind is not Kind.OTHER
    found = convert(form, page, last_modified=modified, **wanted) if is_given else Converted(None)
    listed = found.empty if found.text is None else found.text
    return Extract(
        (json.loads(listed),) if form == "microdata" and listed is not None else (),  # JS-01
        reading.kind is not Kind.OTHER,
        tuple(dict.fromkeys(reading.problems + found.problems)),
        no_text=hides,
        document=found.text,
        media_type=way.media_type,
        profile=way.profile(wanted["profile"]),
        found=found.found,
        absence=found.absence,
        empty=found.empty,
    )


@dataclass(frozen=True, slots=True)
class _Page:
    tree: Tree
    bases: Bases
    address: str | None
    headers: _Headers
    directives: Directives
    agent: str
    hides_text: bool
    hides_links: bool

    def links(self) -> Iterator[PageLink]:
        return read_links(self.tree, self.bases, language=read_default_language(self.tree, self.headers.all))

    def text(self, text: str | None) -> str | None:
        """Return a text of the page's, unless it is to be kept out."""
        return None if self.hides_text else text


def _directives(tree: Tree, headers: _Headers, agent: str) -> Directives:
    metas = ((element.get("name"), element.get("content")) for element in tree.elements("meta"))
    return read_directives(metas, headers.values("x-robots-tag"), agent)


def _robots(page: _Page) -> Record:
    directives = page.directives
    return {
        "index": directives.index,
        "follow": directives.follow,
        "archive": directives.archive,
        "terms": list(directives.terms),
        "metas": [
            {"name": element.get("name"), "content": element.get("content")}
            for element in page.tree.elements("meta")
            if lower_ascii(element.get("name") or "") in {ROBOTS, page.agent}
        ],
        "headers": list(page.headers.values("x-robots-tag")),
    }


def _meta(page: _Page) -> Record:
    said = read_metadata(page.tree, page.headers.all)
    return {
        "encoding": page.tree.encoding,
        "base": page.bases.document,
        "title": page.text(said.title),
        "language": said.language,
        "profile": said.profile,
        "keywords": [] if page.hides_text else list(said.keywords),
        "description": page.text(said.description),
        "expires": said.expires,
        "refresh": _refresh(page, said.metas),
        "pics": list(said.labels),
        **_place(page),
        "metas": [
            {
                "name": meta.name,
                "http_equiv": meta.http_equiv,
                "property": meta.property,
                "content": meta.content if _is_shown(meta, page) else None,
                "charset": meta.charset,
                "lang": meta.language,
                "scheme": meta.scheme,
            }
            for meta in said.metas
        ],
    }


def _place(page: _Page) -> Record:
    """Return the facts about the page as a whole that its links state."""
    links = [] if page.hides_links else list(islice(page.links(), MOST_LINKS))
    alternates = read_alternates(page.tree, links)
    icons = [
        Icon(link.url, link.media_type, link.media, link.element.get("sizes"))
        for link in links
        if link.url is not None and "icon" in link.types
    ]
    return {
        "feed": default_feed(links),
        "icons": [icon.url for icon in rank_icons(icons, _ICON_WIDTH)],
        "depths": read_depths(links),
        "permalinks": [
            {"url": each.url, "article": each.article.get("id") if each.article is not None else None}
            for each in read_permalinks(links)
        ],
        "alternates": [
            {
                "url": each.url,
                "title": page.text(each.title),
                "translation": each.translation,
                "format": each.format,
                "medium": each.medium,
            }
            for each in alternates
        ],
        "translations": read_translations(alternates),
        "tags": read_tags(links),
    }


def _refresh(page: _Page, metas: Iterable[Metadatum]) -> Record | None:
    """Return the first refresh pragma that HTML does not ignore."""
    contents = (meta.content for meta in metas if meta.http_equiv == "refresh" and meta.content)
    found = next((refresh for each in contents if (refresh := read_whole_refresh(each)) is not None), None)
    if found is None:
        return None
    target = find_target(found, page.address, page.bases.document, page.bases.encoding)
    return {"seconds": found.seconds, "href": found.url, "url": target}


def _is_shown(meta: Metadatum, page: _Page) -> bool:
    names = {lower_ascii(name) for name in (meta.name, meta.property) if name}
    return not page.hides_text or not names or bool(names & _NOT_TEXT)


def _links(page: _Page) -> tuple[list[Record], tuple[str, ...]]:
    """Return each link, and the problem if there are too many."""
    anchors = Anchors(page.tree)
    records: list[Record] = []
    characters = 0
    for link in page.links():
        characters += len(link.href) + len(link.url or "")
        if len(records) == MOST_LINKS or characters > _MOST_CHARACTERS:
            return records, (f"too many links; only the first {len(records)} are read",)
        records.append(_link(link, page, anchors))
    return records, ()


def _link(link: PageLink, page: _Page, anchors: Anchors) -> Record:
    return {
        "element": link.element.tag,
        "href": link.href,
        "url": link.url,
        "anchor": _anchor(link, page, anchors),
        "links": [
            {
                "kind": made.kind.value,
                "types": list(made.types),
                "up": made.up,
                "feed": made.feed,
                "alternative": made.alternative,
            }
            for made in link.links
        ],
        "annotations": list(link.relations.annotations),
        "unknown": list(link.relations.unknown),
        "not_allowed": list(link.relations.not_allowed),
        "rev": list(link.reverse),
        "label": page.text(link.label),
        "title": page.text(link.title),
        "lang": link.language,
        "hreflang": link.hreflang,
        "type": link.media_type,
        "media": link.media,
        "target": link.target,
        "pings": list(link.pings),
    }


def _anchor(link: PageLink, page: _Page, anchors: Anchors) -> str | None:
    """Return the tag of the element of this same page that a link leads to (LM-02)."""
    target, mark, fragment = (link.url or link.href).partition("#")
    if not mark or target != (page.address or "").partition("#")[0]:
        return None
    found = anchors.find(fragment)
    return None if found is None else found.tag


def _copies(page: _Page) -> Iterator[Record]:
    """Return references to other pages and copies of them (MS-06), then the page's own copies."""
    for reference in read_references(page.tree.elements("a"), page.bases):
        of = {"of": reference.url, "href": reference.href}
        for said in reference.value.temporal:
            yield {**of, "kind": "reference", "url": None, "datetime": said, "rel": None}
        for copy in reference.value.copies:
            if is_offerable(copy.url):
                kind = CopyKind.MSET.value
                yield {**of, "kind": kind, "url": copy.url, "datetime": copy.datetime, "rel": copy.rel}
    own = read_mementos(page.tree.elements(), page.bases, page.address, page.headers.values("link"))
    for memento in own.mementos:
        if is_offerable(memento.url):
            kind = memento.kind.value
            of = {"of": own.original or page.address, "href": None}
            yield {**of, "kind": kind, "url": memento.url, "datetime": memento.datetime, "rel": kind}
