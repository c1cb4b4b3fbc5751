"""The articles of a page as an Atom feed, as text 003 converts them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from tocsin.spec.html.microsyntax import lower_ascii, split_tokens
from tocsin.spec.html.page import Kind
from tocsin.spec.html.tree import Element
from tocsin.spec.html.writing import is_xml, read_markup, write_html, write_xml, xml_text, xml_value
from tocsin.spec.infrastructure.datetimes import VagueMoment, is_valid_global, parse_datetime, parse_vague
from tocsin.spec.infrastructure.urls import SUB_DELIMS, UCSCHAR, UNRESERVED, Bases, percent, write_iri

_RANKS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HEADINGS: Final = frozenset({*_RANKS, "hgroup"})
_BESIDE: Final = frozenset({"footer", "header", "nav"})
# The text asks for the nearest sectioning content, and names body, which is a sectioning root: both are meant (C-23).
_SECTIONS: Final = frozenset(
    {
        *("article", "aside", "nav", "section"),
        *("blockquote", "body", "details", "dialog", "fieldset", "figure", "td"),
    }
)
_NO_ADDRESS: Final = re.compile("(?:data|javascript|vbscript):", re.IGNORECASE)
_LONGEST_DATE: Final = 100
_UTC: Final = re.compile(r"((?!0000)[0-9]{4}-[^.]*?)(?:\.([0-9]{1,9})[0-9]*)?Z")
_NAMESPACE: Final = "http://www.w3.org/2005/Atom"
_XHTML: Final = '<div xmlns="http://www.w3.org/1999/xhtml">'
_NO_FRAGMENT: Final = re.compile(rf"%(?![0-9A-Fa-f]{{2}})|[^%{UNRESERVED}{SUB_DELIMS}{UCSCHAR}:@/?]")
_RUNS: Final = re.compile("(?:javascript|vbscript):", re.IGNORECASE)
# Identifiers of entries are compared by every reader of the feed.
_LONGEST_ID: Final = 2000
# Nested articles repeat their text: a small page could make a feed of gigabytes.
_MOST_LETTERS: Final = 32 * 1024 * 1024
_FEW_LETTERS: Final = 1024 * 1024
# A feed is about as long as its page; only a long URL that is repeated in each entry makes it much longer.
_TIMES: Final = 64
# After this number of articles that did not fit, no further one is tried.
_MOST_CUT: Final = 10
# How today's pages date their articles instead of the `pubdate` of text 003. Sources: schema.org (datePublished,
# dateModified); microformats.org: hAtom (published, updated), h-entry (dt-published, dt-updated).
_PUBLISHED: Final = frozenset({"datePublished", "dt-published", "published"})
_UPDATED: Final = frozenset({"dateModified", "dt-updated", "updated"})
_ROOTS: Final = frozenset({"h-card", "h-cite", "h-entry", "h-feed", "hentry"})


def begins_another(node: Element) -> bool:
    """Say whether the content of this element is about something else, such as a comment."""
    return "itemscope" in node.attributes or not _ROOTS.isdisjoint(split_tokens(node.get("class") or ""))


def says(node: Element) -> tuple[bool, bool]:
    """Say whether an element dates the publication of its article, and whether it dates a change."""
    names: set[str] = set()
    if node.tag in ("time", "meta"):
        names.update(split_tokens(node.get("itemprop") or ""))
    if node.tag == "time":
        names.update(split_tokens(node.get("class") or ""))
    return not _PUBLISHED.isdisjoint(names), not _UPDATED.isdisjoint(names)


def moment_of(node: Element) -> VagueMoment:
    """Read the date of a `time` or `meta` element."""
    written = node.get("content" if node.tag == "meta" else "datetime")
    return parse_vague(node.text(), "content") if written is None else parse_vague(written, "attribute")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and its subtitle, as lists of nodes.

    element  None without a heading
    """

    element: Element | None
    title: Sequence[Element | str] = ()
    subtitle: Sequence[Element | str] = ()


class Article(NamedTuple):
    """An article that is in no other article.

    without    elements that the entry leaves out: other articles, its own headers, footers and navigation, its heading
    permalink  its first valid bookmark, absolute
    published  in UTC, as in RFC 3339; None if the article has no date
    updated    likewise
    """

    element: Element
    heading: Heading
    without: frozenset[Element]
    permalink: str | None
    published: str | None
    updated: str | None


def find_articles(root: Element) -> Iterator[Element]:
    """Yield the articles that are in no other article, in tree order (AT-06)."""
    ahead: list[Element | str] = [root]
    while ahead:
        node = ahead.pop()
        if isinstance(node, str):
            continue
        if node.is_html("article"):
            yield node
        else:
            ahead.extend(reversed(node.children))


def find_heading(root: Element) -> Heading:
    """Find the heading of a page: that of its body, not of a section (AT-05)."""
    body = next((each for each in root.children if not isinstance(each, str) and each.is_html("body")), None)
    ahead = [] if body is None else body.children[::-1]
    while ahead:
        node = ahead.pop()
        if isinstance(node, str):
            continue
        if node.is_html() and node.tag in _HEADINGS:
            return _to_heading(node)
        if not node.is_html() or node.tag not in _SECTIONS:
            ahead.extend(reversed(node.children))
    return Heading(None)


def read_article(article: Element, bases: Bases, *, as_today: bool = False) -> Article:
    """Read one article (AT-07 to AT-11), in one walk.

    as_today  read the dates of today's pages, too; a date with `pubdate` goes before them
    """
    reading = _ArticleReader(bases)
    # Beside each node: its nearest section is the article itself, its nearest article is, it is in the entry, and it
    # is about the article.
    ahead = [(node, True, True, True, as_today) for node in reversed(article.children)]
    while ahead:
        node, is_own, is_ours, is_kept, is_said = ahead.pop()
        if isinstance(node, str):
            continue
        if node.is_html():
            is_kept = reading.keeps(node, is_own=is_own) and is_kept
            is_own = is_own and node.tag not in _SECTIONS
            is_ours = is_ours and node.tag != "article"
            reading.look_at(node, is_ours=is_ours, is_kept=is_kept)
            is_said = is_said and is_ours and not begins_another(node)
            if is_said:
                reading.hear(node)
        ahead.extend([(child, is_own, is_ours, is_kept, is_said) for child in reversed(node.children)])
    updated = latest(reading.changed)
    published = None if reading.published is None else _to_published(reading.published)
    published = published or reading.said_published
    return Article(
        element=article,
        heading=reading.heading,
        without=frozenset(reading.without),
        permalink=reading.permalink,
        published=published or updated,
        updated=updated or published,
    )


class _ArticleReader:
    """Collects the parts of an article, while it is walked in tree order."""

    def __init__(self, bases: Bases) -> None:
        self.bases = bases
        self.heading = Heading(None)
        self.without: set[Element] = set()
        self.published: Element | None = None
        self.changed: list[str] = []
        self.permalink: str | None = None
        self.said_published: str | None = None
        self._has_said_updated = False

    def keeps(self, node: Element, *, is_own: bool) -> bool:
        """Say whether the entry keeps an element, its ancestors aside (AT-08).

        is_own  its nearest section is the article itself
        """
        if is_own and self.heading.element is None and node.tag in _HEADINGS:
            self.heading = _to_heading(node)
        elif node.tag != "article" and not (is_own and node.tag in _BESIDE):
            return True
        self.without.add(node)
        return False

    def look_at(self, node: Element, *, is_ours: bool, is_kept: bool) -> None:
        """Look for dates and for the permalink.

        is_ours  its nearest article is this one
        is_kept  it is in the entry
        """
        if node.tag in ("ins", "del"):
            moment = _to_moment(node.get("datetime") or "") if is_kept else None
            if moment is not None:
                self.changed.append(moment)
        elif node.tag == "time":
            if is_ours and self.published is None and "pubdate" in node.attributes:
                self.published = node
        elif node.tag in ("a", "area") and self.permalink is None:
            self.permalink = _to_permalink(node, self.bases)

    def hear(self, node: Element) -> None:
        """Take the first dates in the markup of today's pages."""
        is_published, is_updated = says(node)
        if is_published and self.said_published is None:
            self.said_published = _to_published(node)
        if is_updated and not self._has_said_updated and (moment := _to_published(node)) is not None:
            self._has_said_updated = True
            self.changed.append(moment)


def latest(moments: Sequence[str]) -> str | None:
    """Return the latest of some moments; None without any."""
    return max(moments, default=None, key=_order)


def _to_heading(element: Element) -> Heading:
    if element.tag != "hgroup":
        return Heading(element, element.children)
    found = [each for each in element.children if not isinstance(each, str) and each.is_html(*_RANKS)]
    found.sort(key=lambda each: each.tag)  # Stable: headings of one rank stay in tree order.
    title, subtitle = (*(each.children for each in found[:2]), (), ())[:2]
    return Heading(element, title, subtitle)


def _to_permalink(link: Element, bases: Bases) -> str | None:
    """Resolve a bookmark; None for any other link."""
    href = link.get("href")
    if href is None or "bookmark" not in map(lower_ascii, split_tokens(link.get("rel") or "")):
        return None
    url = bases.resolve(link, href)
    # Deviation: the URL of a script, or of embedded data, is no permalink.
    return None if url is None or _NO_ADDRESS.match(url) else url


def _to_published(element: Element) -> str | None:
    """Return the moment of a time or meta element; midnight in UTC if it has no time, or no zone."""
    found = moment_of(element)
    if found.date is None:
        return None
    if found.time is None or found.offset_minutes is None:
        return _to_moment(f"{found.date}T00:00Z")
    sign = "-" if found.offset_minutes < 0 else "+"
    hours, minutes = divmod(abs(found.offset_minutes), 60)
    whole, point, fraction = f"{found.time.second:f}".partition(".")
    clock = f"{found.time.hour:02}:{found.time.minute:02}:{whole:0>2}{point}{fraction}"
    return _to_moment(f"{found.date}T{clock}{sign}{hours:02}:{minutes:02}")


def _to_moment(text: str) -> str | None:
    """Write a global date and time string in UTC, as in RFC 3339; None for other texts, and for other years.

    Fractions keep nine digits.
    """
    moment = parse_datetime(text) if len(text) <= _LONGEST_DATE and is_valid_global(text) else None
    match = None if moment is None else _UTC.fullmatch(moment.utc)
    if match is None:
        return None
    return f"{match[1]}.{match[2]}Z" if match[2] else f"{match[1]}Z"


def _order(moment: str) -> str:
    return moment[:-1]  # Without the Z, a whole second sorts before its fractions.


@dataclass(frozen=True, slots=True)
class Atom:
    """A page's articles as a feed.

    text      an Atom document, to be encoded as UTF-8; None if the page has no article
    problems  sentences for the page's reader: what is wrong with the page, what the feed lacks to be valid, and what
              was left out since it was too long
    """

    text: str | None
    problems: tuple[str, ...] = ()


def to_atom(
    body: bytes,
    content_type: str | None,
    *,
    address: str,
    now: datetime,
    last_modified: datetime | None = None,
    self_url: str | None = None,
    nosniff: bool = False,
    base: str | None = None,
    profile: Profile = "export",
) -> Atom:
    """Convert a page's articles to a feed.

    content_type   the value of the first HTTP header, None if there was none
    address        the page's own URL after redirects
    now            aware; the date of entries without one
    last_modified  of the page, aware, as its server says; None if it does not
    self_url       where the feed will be served; None if that is not known
    nosniff        the server forbids guessing the type, see `is_nosniff`
    base           resolves relative URLs; None: the page's base element, else its address
    profile        text: to the letter; export: the feed has its own base for the links in its title, entries have
                   unique ids, since readers merge entries of one id, and dates of today's markup are read, too
    Raises TooComplex for a page that is too complex to parse.
    Source  text 003, converting HTML to Atom (AT-01 to AT-15)
    """
    tree = read_markup(body, content_type, nosniff=nosniff)
    about = list(tree.elements("base", "link", "meta", "title"))
    bases = Bases(about if base is None else (), base or address, tree.encoding)
    articles = [] if tree.root is None else list(find_articles(tree.root))
    if tree.root is None or not articles:
        return Atom(None, tree.problems)
    most = min(_MOST_LETTERS, _FEW_LETTERS + _TIMES * len(body))
    writer = _FeedWriter(bases, address, profile, _to_rfc3339(now), most, is_html=tree.kind is Kind.HTML)
    head = writer.write_head(about, find_heading(tree.root), self_url)
    entries = list(writer.write_entries(articles))
    updated = latest(writer.updated) or _to_rfc3339(last_modified or now)
    parts = (*head, f"<updated>{updated}</updated>\n", *entries, "</feed>\n")
    return Atom("".join(parts), (*tree.problems, *writer.problems()))


class _FeedWriter:
    """Writes a feed.

    most      letters that it may have
    left      letters that are left
    updated   times of change of the entries
    ids       of the entries
    repeated  number of entries with the id of another one
    undated   number of entries without a date of their own
    cut       number of articles that did not fit
    """

    def __init__(self, bases: Bases, address: str, profile: Profile, now: str, most: int, *, is_html: bool) -> None:
        self.bases, self.address, self.profile, self.now, self.is_html = bases, address, profile, now, is_html
        self.left = self.most = most
        self.updated: list[str] = []
        self.ids: set[str] = set()
        self.bases_written: dict[str | None, str] = {}
        self.repeated = self.undated = self.cut = 0
        self.lacks: list[str] = []
        self.is_xml = True

    def write_head(self, about: Sequence[Element], heading: Heading, self_url: str | None) -> list[str]:
        """Write the head of the feed, without the time of the last change (AT-02 to AT-05).

        about  the page's link, meta and title elements, in tree order
        """
        base = self.bases.document if self.profile == "export" else None
        parts = [f'<?xml version="1.0"?>\n<feed xmlns="{_NAMESPACE}"{_attribute("xml:base", base)}>\n']
        parts += [f"<author><name>{self._text(name)}</name></author>\n" for name in self._authors(about)]
        icon = self._icon(about)
        if icon is not None:
            parts.append(f"<icon>{self._text(icon)}</icon>\n")
        parts.append(f"<id>{self._text(self.address)}</id>\n")
        if self_url is not None:
            parts.append(_link("self", self_url))
        parts.append(_link("alternate", self.address, "text/html" if self.is_html else "application/xhtml+xml"))
        title: Sequence[Element | str] = heading.title
        if heading.element is None:
            named = next((each for each in about if each.tag == "title"), None)
            title = () if named is None else named.children
        parts.append(self._markup("title", title) or self._markup("title", ()))
        if not "".join(_texts(title)).strip():
            self.lacks.append("no title: the page has neither a heading of its own nor a title element that says one")
        if heading.subtitle:
            parts.append(self._markup("subtitle", heading.subtitle))
        self.left -= sum(map(len, parts))
        return parts

    def write_entries(self, articles: Iterable[Element]) -> Iterator[str]:
        """Yield the entries that fit (AT-06 to AT-11)."""
        for number, element in enumerate(articles, 1):
            if self.cut >= _MOST_CUT:
                self.cut += 1
                continue
            article = read_article(element, self.bases, as_today=self.profile == "export")
            entry = self._entry(article, number)
            if not entry or len(entry) > self.left:
                self.cut += 1
                continue
            self.left -= len(entry)
            if article.updated is None:
                self.undated += 1
            else:
                self.updated.append(article.updated)
            yield entry

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with the feed."""
        yield from self.lacks
        if self.undated:
            articles = "1 article has" if self.undated == 1 else f"{self.undated} articles have"
            yield f"{articles} no date: {self.now} is written instead; write <time pubdate datetime=…> into the article"
        if self.repeated:
            entries = "1 entry has" if self.repeated == 1 else f"{self.repeated} entries have"
            yield f"{entries} the id of another one: give each article its own id or bookmark"
        if not self.is_xml:
            yield "characters that XML does not allow became U+FFFD"
        if self.cut:
            articles = "1 article is" if self.cut == 1 else f"{self.cut} articles are"
            yield f"{articles} left out: a feed of this page has at most {self.most} letters"

    def _entry(self, article: Article, number: int) -> str:
        parts = [f"<entry{self._base(article.element)}>\n", self._markup("title", article.heading.title)]
        parts.append(self._markup("content", article.element.children, article.without))
        if not parts[1] or not parts[2]:
            return ""
        parts.append(f"<id>{self._text(self._id(article, number))}</id>\n")
        if article.permalink is not None:
            parts.append(_link("alternate", article.permalink))
        parts.append(f"<published>{article.published or self.now}</published>\n")
        parts.append(f"<updated>{article.updated or self.now}</updated>\n</entry>\n")
        return "".join(parts)

    def _base(self, element: Element) -> str:
        base = self.bases.of(element)
        if base not in self.bases_written:
            self.bases_written[base] = _attribute("xml:base", base)
        return self.bases_written[base]

    def _id(self, article: Article, number: int) -> str:
        """Return the id of an entry (AT-10): its permalink, else its place in the page, else a stable URN."""
        fragment = article.element.get("id")
        if article.permalink is not None:
            found = write_iri(article.permalink)
        # Deviation: an element's id that is empty or very long is ignored.
        elif fragment and len(fragment) <= _LONGEST_ID:
            found = f"{self.address.partition('#')[0]}#{_NO_FRAGMENT.sub(percent, fragment)}"
        else:
            return self._generated_id(number)
        if found in self.ids:
            self.repeated += 1
            return self._generated_id(number) if self.profile == "export" else found
        self.ids.add(found)
        return found

    def _generated_id(self, number: int) -> str:
        return uuid5(NAMESPACE_URL, f"{self.address} article {number}").urn

    def _markup(self, name: str, nodes: Iterable[Element | str], without: Collection[Element] = ()) -> str:
        """Write an element with markup; "" if it does not fit."""
        if self.is_html:
            written = write_html(nodes, without, letters=self.left)
            return "" if written is None else f'<{name} type="html">{self._text(written)}</{name}>\n'
        written = write_xml(nodes, without, letters=self.left)
        return "" if written is None else f'<{name} type="xhtml">{_XHTML}{written}</div></{name}>\n'

    def _text(self, text: str) -> str:
        self.is_xml = self.is_xml and is_xml(text)
        return xml_text(text)

    def _authors(self, about: Iterable[Element]) -> list[str]:
        found = [
            each.attributes["content"]
            for each in about
            if each.tag == "meta" and "content" in each.attributes and lower_ascii(each.get("name") or "") == "author"
        ]
        if not any(name.strip() for name in found):
            self.lacks.append('no author, which a feed must have: add <meta name="author" content="…"> to the page')
        return found

    def _icon(self, about: Iterable[Element]) -> str | None:
        """Find the page's icon (AT-02)."""
        for link in about:
            href = link.get("href")
            if (
                link.tag == "link"
                and href is not None
                and "icon" in map(lower_ascii, split_tokens(link.get("rel") or ""))
            ):
                url = self.bases.resolve(link, href)
                # Deviation: the URL of a script is no icon.
                if url is not None and not _RUNS.match(url):
                    return write_iri(url)
        return None


def _link(relation: str, href: str, media_type: str | None = None) -> str:
    return f'<link rel="{relation}"{_attribute("type", media_type)}{_attribute("href", write_iri(href))}/>\n'


def _attribute(name: str, value: str | None) -> str:
    return "" if value is None else f' {name}="{xml_value(value)}"'


def _texts(nodes: Iterable[Element | str]) -> Iterator[str]:
    return (node if isinstance(node, str) else node.text() for node in nodes)


def _to_rfc3339(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


Profile: TypeAlias = Literal["export", "text"]
