"""The copies that a page names: of the pages that it links to, and of itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from typing import Final

from tocsin.errors import BadUrl, TooComplex
from tocsin.spec.html.microsyntax import SPACE, lower_ascii
from tocsin.spec.html.page import find_page_encoding
from tocsin.spec.html.search import holds_any, lower
from tocsin.spec.html.tree import Element, find_elements
from tocsin.spec.html.urls import watch_url
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global, read_http_date, to_text
from tocsin.spec.infrastructure.urls import Bases, is_valid_url, resolve
from tocsin.spec.links.relations import split_relations

# The value of an mset attribute: when the author referred to a page, and where copies of it are.


# The number of candidates of one value that are read.
MOST_CANDIDATES = 1000

_TOKEN = re.compile(f"[^{SPACE}]++")
_SERVER_ERRORS = 500


class MsetProblem(StrEnum):
    """A fault of a value, by the name that a checker gives it."""

    EMPTY = "mset-empty"
    EMPTY_CANDIDATE = "mset-empty-candidate"
    DATE_AND_MORE = "mset-date-and-more"
    COPY_AND_MORE = "mset-copy-and-more"
    UNRESOLVABLE = "mset-unresolvable-url"
    INVALID_URL = "mset-invalid-url"
    TOO_MANY = "mset-too-many"


_MESSAGES = {
    MsetProblem.EMPTY: "mset is empty; leave it out where neither a date nor a copy is known",
    MsetProblem.EMPTY_CANDIDATE: "nothing stands beside this comma; leave the comma out",
    MsetProblem.DATE_AND_MORE: (
        "a date of reference stands alone; put a comma after it, or write a copy's URL before its date"
    ),
    MsetProblem.COPY_AND_MORE: "a copy is its URL, a date, and one link type; put a comma before the next copy",
    MsetProblem.UNRESOLVABLE: "the URL of this copy leads nowhere; write it whole, such as https://example.org/a",
    MsetProblem.INVALID_URL: "the URL of this copy is not valid; percent-encode what may not stand in one",
    MsetProblem.TOO_MANY: f"only the first {MOST_CANDIDATES} candidates are read; leave out the others",
}


@dataclass(frozen=True, slots=True)
class MsetError:
    """Something that an author should mend.

    offset  of the fault in the value, in code points
    length  of that; 0 for a place between two commas
    """

    code: MsetProblem
    offset: int
    length: int

    @property
    def message(self) -> str:
        """The fault and the mend."""
        return _MESSAGES[self.code]


@dataclass(frozen=True, slots=True)
class MsetCopy:
    """A copy of the page that the link leads to.

    url       absolute, of any scheme
    datetime  when the copy was made, as written (MS-06)
    rel       the copy's link type, in lower case unless it is a URL
    rel_at    offset of the link type in the value, for a checker that knows the types (MS-08)
    """

    url: str
    datetime: str | None = None
    rel: str | None = None
    rel_at: int | None = None


@dataclass(frozen=True, slots=True)
class MsetValue:
    """What an mset attribute says.

    temporal  when the author referred to the target, as written, in order (MS-06)
    copies    in order
    errors    in the order of their places; the value is valid without any
    """

    temporal: tuple[str, ...]
    copies: tuple[MsetCopy, ...]
    errors: tuple[MsetError, ...]

    @property
    def valid(self) -> bool:
        """Whether the value is valid, apart from its link types."""
        return not self.errors


def parse_mset(value: str, base: str | None, encoding: str = "utf-8") -> MsetValue:
    """Read an mset attribute; never raises, and keeps the good candidates beside the bad ones.

    Each comma separates, also one within a URL (C-45). A candidate whose first token is a valid date or a valid
    global date and time is a temporal reference, any other is the URL of a copy (C-44).
    base      absolute, of the element; None where it is not known: relative URLs are then errors
    encoding  of the document, for the queries of its URLs
    Source    text 002, the mset attribute (MS-02 to MS-08, MS-16)
    """
    temporal: list[str] = []
    copies: list[MsetCopy] = []
    errors: list[MsetError] = []
    if not value.strip(SPACE):
        return MsetValue((), (), (MsetError(MsetProblem.EMPTY, 0, len(value)),))
    for count, (start, end) in enumerate(_candidates(value)):
        if count == MOST_CANDIDATES:
            errors.append(MsetError(MsetProblem.TOO_MANY, start, len(value) - start))
            break
        tokens = [(token.start(), token[0]) for token in _TOKEN.finditer(value, start, end)]
        if not tokens:
            errors.append(MsetError(MsetProblem.EMPTY_CANDIDATE, start, end - start))
        elif not _is_datetime(tokens[0][1]):
            copy, error = _read_copy(tokens, base, encoding)
            copies.extend([copy] if copy else [])
            errors.extend([error] if error else [])
        elif len(tokens) == 1:
            temporal.append(tokens[0][1])
        else:
            errors.append(_error(MsetProblem.DATE_AND_MORE, tokens))
    return MsetValue(tuple(temporal), tuple(copies), tuple(errors))


def _candidates(value: str) -> Iterator[tuple[int, int]]:
    start = 0
    while (comma := value.find(",", start)) >= 0:
        yield start, comma
        start = comma + 1
    yield start, len(value)


def _is_datetime(token: str) -> bool:
    return is_valid_date(token) or is_valid_global(token)


def _read_copy(
    tokens: list[tuple[int, str]], base: str | None, encoding: str
) -> tuple[MsetCopy | None, MsetError | None]:
    """Read a URL, perhaps a date, perhaps one link type; a copy may be worth keeping though its URL is not valid."""
    (start, reference), *others = tokens
    datetime = others.pop(0)[1] if others and _is_datetime(others[0][1]) else None
    rel_at, rel = others.pop(0) if others else (None, None)
    if others or (rel is not None and _is_datetime(rel)):
        return None, _error(MsetProblem.COPY_AND_MORE, tokens)
    url = resolve(reference, base, encoding)
    if url is None:
        return None, MsetError(MsetProblem.UNRESOLVABLE, start, len(reference))
    if rel is not None and ":" not in rel:
        rel = lower_ascii(rel)
    invalid = None if is_valid_url(reference, encoding) else MsetError(MsetProblem.INVALID_URL, start, len(reference))
    return MsetCopy(url, datetime, rel, rel_at), invalid


def _error(code: MsetProblem, tokens: list[tuple[int, str]]) -> MsetError:
    start, (last, text) = tokens[0][0], tokens[-1]
    return MsetError(code, start, last + len(text) - start)


# A page without these letters names no copy, and its links need not be read.
_MEMENTO_SIGNS: Final = (b"memento", b"timemap")
_SIGNS: Final = (b"mset", *_MEMENTO_SIGNS)
# An mset is the name of an attribute with a value, which few words are that hold these letters. A `b` may end what
# switches an encoding back to ASCII, and such a switch may follow.
_ATTRIBUTE = re.compile(rb"mset(?<![ac-z]mset)[\t\n\f\r =\x1b]")


def may_name_copies(body: bytes) -> bool:
    """Return whether a page's bytes, in any encoding, can name a copy: by an mset, a memento or a timemap."""
    text = body.replace(b"\0", b"") if b"\0" in body else body
    if not holds_any(text, _SIGNS):
        return False
    return holds_any(text, _MEMENTO_SIGNS) or _ATTRIBUTE.search(lower(text)) is not None


# The links that a server names in Link headers.


_TARGET: Final = re.compile(r"[ \t,]*+<([^>]*+)>")
# A parameter's value is a quoted string, which may not be closed, or runs to the next separator.
_PARAMETER: Final = re.compile(
    r"""[ \t]*+;[ \t]*+(?P<name>[^=;,"<> \t]*+)[ \t]*+
    (?:=[ \t]*+(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"?+|(?P<bare>[^;,"]*+)))?+""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_NOT_ASCII: Final = re.compile("[\x80-\xff]")
_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class HeaderLink:
    """A link of a Link header.

    target      the reference between its angle brackets; bytes that are not ASCII are percent-encoded
    parameters  by name in lower case; of several with one name the first counts
    """

    target: str
    parameters: Mapping[str, str]


def read_link_headers(values: Iterable[str]) -> tuple[HeaderLink, ...]:
    """Read the links of a page's Link headers, at most 1,000; malformed text ends its header.

    values  each character is one byte
    Source  RFC 8288, 3 and its appendix B.2.
    """
    links: list[HeaderLink] = []
    for value in values:
        for link in _links(value):
            if len(links) >= _MOST:
                return tuple(links)
            links.append(link)
    return tuple(links)


def _links(value: str) -> Iterator[HeaderLink]:
    place = 0
    while (target := _TARGET.match(value, place)) is not None:
        place = target.end()
        parameters: dict[str, str] = {}
        while (parameter := _PARAMETER.match(value, place)) is not None:
            place = parameter.end()
            quoted, bare = parameter["quoted"], parameter["bare"]
            text = _ESCAPED.sub(r"\1", quoted) if quoted is not None else (bare or "").strip(" \t")
            if parameter["name"]:
                parameters.setdefault(parameter["name"].lower(), text)
        reference = _NOT_ASCII.sub(lambda byte: f"%{ord(byte[0]):02X}", target[1].strip(" \t"))
        yield HeaderLink(reference, parameters)


MOST_COPIES: Final = 1000
# A page may consist of links alone.
_MOST_ELEMENTS: Final = 10_000
_MOST_CANDIDATES: Final = 10_000
_TAGS: Final = ("a", "area", "base", "link")


class CopyKind(StrEnum):
    """How a page names a copy: by an mset attribute, or as its own memento, or as a list of its mementos."""

    MSET = "mset"
    MEMENTO = "memento"
    TIMEMAP = "timemap"


_MEMENTOS: Final = (CopyKind.MEMENTO, CopyKind.TIMEMAP)
# Most rels need not be taken apart.
_OWN: Final = re.compile(rf"(?<![^{SPACE}])(?:memento|original|timemap)(?![^{SPACE}])", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class PageCopy:
    """A copy of a page.

    target    the URL of the copied page, as pages are named: serialised, without fragment
    url       where the copy is, http or https, without user info
    datetime  when it was made, a date or a global date and time; None if that is not told
    rel       its link type, None if that is not told
    """

    target: str
    url: str
    datetime: str | None
    rel: str | None
    kind: CopyKind


def read_copies(
    body: bytes, content_type: str | None, url: str, link_headers: Sequence[str] = (), *, nosniff: bool = False
) -> tuple[PageCopy, ...]:
    """Read the copies that a page names, each once, at most 1,000; only http and https can be offered.

    body          any bytes; a page that is too complex to parse names no copies
    content_type  the value of the HTTP header, None if there was none
    url           the page's own after redirects
    link_headers  the values of its Link headers
    nosniff       the server forbids to guess the type, see `is_nosniff`
    Source        text 002 (MS-01 to MS-07); RFC 7089 for a page's own mementos, with rel=original where the page is
                  itself a copy
    """
    elements = _relevant(body, content_type, nosniff=nosniff) if may_name_copies(body) else []
    if not elements and not link_headers:
        return ()
    bases = Bases(elements, url, find_page_encoding(body, content_type) if elements else None)
    found: dict[tuple[str, str], PageCopy] = {}
    for copy in chain(_own_copies(elements, bases, url, link_headers), _copies_of_others(elements, bases)):
        key = copy.target, copy.url
        if copy.url.partition("#")[0] == copy.target:  # nothing is its own copy
            continue
        known = found.get(key)
        if known is None:
            if len(found) < MOST_COPIES:
                found[key] = copy
        elif known.datetime is None and copy.datetime is not None:
            found[key] = copy
    return tuple(found.values())


def _relevant(body: bytes, content_type: str | None, *, nosniff: bool) -> list[Element]:
    try:
        elements = find_elements(body, content_type, _TAGS, _may_matter, nosniff=nosniff)
        return list(islice(elements, _MOST_ELEMENTS))
    except TooComplex:
        return []


def _may_matter(tag: str, get: Callable[[str], str | None]) -> bool:
    if get("href") is None:
        return False
    return tag == "base" or get("mset") is not None or _OWN.search(get("rel") or "") is not None


@dataclass(frozen=True, slots=True)
class Reference:
    """A link with an mset: when its author referred to the target, and where copies of that are.

    href   as written
    url    of the target; None if it leads nowhere
    value  of the mset
    """

    href: str
    url: str | None
    value: MsetValue


def read_references(elements: Iterable[Element], bases: Bases) -> Iterator[Reference]:
    """Iterate over the links with an mset; an element without an href is not one (MS-01).

    No more are given once 10,000 candidates were read of them.
    """
    candidates = 0
    for element in elements:
        if _has_mset(element):
            candidates += min(element.attributes["mset"].count(",") + 1, MOST_CANDIDATES)
            if candidates > _MOST_CANDIDATES:
                return
            href = element.attributes["href"]
            value = parse_mset(element.attributes["mset"], bases.of(element), bases.encoding)
            yield Reference(href, bases.resolve(element, href), value)


@dataclass(frozen=True, slots=True)
class Memento:
    """A copy of the page that it names itself, or a list of such.

    url       where it is; of any scheme
    datetime  when it was made, global date and time in UTC; None if that is not told
    """

    url: str
    datetime: str | None
    kind: CopyKind


@dataclass(frozen=True, slots=True)
class Mementos:
    """The copies that a page names of itself.

    original  of what; None where that is the page, since it does not say that it is itself a copy
    """

    original: str | None
    mementos: tuple[Memento, ...]


def read_mementos(
    elements: Iterable[Element], bases: Bases, address: str | None, link_headers: Iterable[str] = ()
) -> Mementos:
    """Read the copies that a page names of itself, in its Link headers first, then in tree order.

    Source  RFC 7089, 2.2: the relations original, memento and timemap
    """
    links: list[tuple[Mapping[str, str], str | None]] = [
        (link.parameters, resolve(link.target, address))
        for link in read_link_headers(link_headers)
        if "anchor" not in link.parameters  # which makes it a link of another page
    ]
    links += [
        (element.attributes, bases.resolve(element, element.attributes["href"]))
        for element in elements
        if _is_own(element)
    ]
    original = None
    found: list[Memento] = []
    for attributes, href in links:
        types = split_relations(attributes.get("rel", ""))
        if original is None and "original" in types:
            original = href
        made = read_http_date(attributes.get("datetime", ""))
        datetime = None if made is None else to_text(made)
        if href is not None:
            found.extend(Memento(href, datetime, kind) for kind in _MEMENTOS if kind in types)
    return Mementos(original, tuple(found))


def _own_copies(elements: Sequence[Element], bases: Bases, url: str, link_headers: Sequence[str]) -> Iterator[PageCopy]:
    own = read_mementos(elements, bases, url, link_headers)
    target = page_name(own.original or url)
    for memento in own.mementos:
        if target is not None and is_offerable(memento.url):
            yield PageCopy(target, memento.url, memento.datetime, memento.kind.value, memento.kind)


def _copies_of_others(elements: Sequence[Element], bases: Bases) -> Iterator[PageCopy]:
    for reference in read_references(elements, bases):
        target = None if reference.url is None else page_name(reference.url)
        for copy in reference.value.copies:
            if target is not None and is_offerable(copy.url):
                yield PageCopy(target, copy.url, copy.datetime, copy.rel, CopyKind.MSET)


def _has_mset(element: Element) -> bool:
    """Return whether an mset counts: only one on a link does (MS-01)."""
    return "mset" in element.attributes and "href" in element.attributes and element.is_html("a")


def _is_own(element: Element) -> bool:
    return (
        element.is_html("link", "a", "area")
        and "href" in element.attributes
        and _OWN.search(element.get("rel") or "") is not None
    )


def page_name(url: str) -> str | None:
    """Return the name under which a page would be watched; None for a URL that cannot be."""
    try:
        return watch_url(url).url
    except BadUrl:
        return None


def is_offerable(url: str) -> bool:
    """Return whether a copy can be offered: it is http or https, and contains no password."""
    try:
        return watch_url(url).credentials is None
    except BadUrl:
        return False
