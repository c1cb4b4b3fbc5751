"""The checker's rules for links: their types, media, msets, attributes and URLs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from tocsin.spec.html.microsyntax import SPACE, is_valid_boolean, is_valid_keyword, lower_ascii, split_tokens
from tocsin.spec.html.positions import FindingLevel, Found, PlacedElement
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url, is_valid_url
from tocsin.spec.links.copies import MOST_CANDIDATES, MsetProblem, parse_mset
from tocsin.spec.links.links import read_sizes
from tocsin.spec.links.relations import REGISTRY, SYNONYMS, RelProblem, Standing, check_rel
from tocsin.spec.lint.page import MOST_TOKENS, Value, WrittenPage, shown

# Media queries, of which only the syntax is judged.


_IDENT = r"-?+[a-z_\x80-\U0010ffff][a-z0-9_\x80-\U0010ffff-]*+"
_MEDIUM = re.compile(rf"(?:(?:not|only)[{SPACE}]++)?+(?P<medium>{_IDENT})(?![(])[{SPACE}]*+")
_NO_MEDIA = frozenset({"and", "or", "not", "only", "layer"})
_NOT = re.compile(rf"not(?=[{SPACE}])[{SPACE}]*+")
_JOINED = re.compile(rf"[{SPACE}]*+(and|or)(?=[{SPACE}])[{SPACE}]*+")
_CALL = re.compile(_IDENT)
# A name, a name with a value, or a range; values are not looked into.
_FEATURE = re.compile(
    rf"{_IDENT}[{SPACE}]*+(?::[^:;{{}}<>=]++)?+"
    r"|[^:;{}<>=]++(?:[<>]=?|=)[^:;{}<>=]++(?:[<>]=?[^:;{}<>=]++)?"
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# Media queries are nested in parentheses; deeper ones could exhaust the stack.
_DEEPEST: Final = 16
_LONGEST: Final = 4096


def is_media_query_list(text: str) -> bool:
    """Return whether a text is a list of media queries; whether they exist is not checked.

    A longer text than anyone writes is taken for one.
    Source  Media Queries, syntax; an empty list is valid and means all media (CI-11).
    """
    if len(text) > _LONGEST or not text.strip(SPACE):
        return True
    queries = _split(_COMMENT.sub(" ", text).lower())
    return queries is not None and all(_is_query(query.strip(SPACE)) for query in queries)


def _split(text: str) -> list[str] | None:
    """Split at the commas outside of brackets; None if the brackets do not match."""
    depth, start, parts = 0, 0, []
    for place, letter in enumerate(text):
        if letter == "(":
            depth += 1
        elif letter == ")":
            depth -= 1
            if depth < 0:
                return None
        elif letter == "," and not depth:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]] if not depth else None


def _is_query(query: str) -> bool:
    medium = _MEDIUM.match(query)
    if medium is None or medium["medium"] in _NO_MEDIA:
        return _is_condition(query, ("and", "or"), _DEEPEST)
    rest = query[medium.end() :]
    if not rest:
        return True
    joined = _JOINED.match(rest)
    return joined is not None and joined[1] == "and" and _is_condition(rest[joined.end() :], ("and",), _DEEPEST)


def _is_condition(text: str, joints: tuple[str, ...], depth: int) -> bool:
    """Return whether a text is conditions in brackets, joined by one of these words throughout."""
    text = text.strip(SPACE)
    if depth == 0:
        return True
    if negated := _NOT.match(text):
        text, joints = text[negated.end() :], ()
    used: set[str] = set()
    while True:
        end = _end_of_brackets(text)
        if end is None or not _is_in_brackets(text[:end], depth):
            return False
        text = text[end:]
        if not text.strip(SPACE):
            return len(used) <= 1
        joined = _JOINED.match(text)
        if joined is None or joined[1] not in joints:
            return False
        used.add(joined[1])
        text = text[joined.end() :]


def _end_of_brackets(text: str) -> int | None:
    """Find the end of the brackets, or of the function, at the beginning of a text."""
    call = _CALL.match(text)
    if call is not None and call[0] in _NO_MEDIA:
        return None
    start = call.end() if call else 0
    if text[start : start + 1] != "(":
        return None
    depth = 0
    for place in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    return None


def _is_in_brackets(text: str, depth: int) -> bool:
    if text[0] != "(":  # a function, whose arguments are its own
        return True
    inner = text[1:-1].strip(SPACE)
    if inner.startswith("(") or _NOT.match(inner):
        return _is_condition(inner, ("and", "or"), depth - 1)
    return _FEATURE.fullmatch(inner) is not None


# The types of links: whether they are known, allowed and up to date.


# Where link types of one's own are registered (C-08).
REGISTER_AT: Final = "microformats.org/wiki/existing-rel-values"

_OF_A_LINK_ELEMENT: Final = "write an a element, which needs no type"


class _JudgedToken(NamedTuple):
    """What was found at a token of a rel."""

    number: int
    rule: str
    level: FindingLevel
    message: str


def check_relations(page: WrittenPage) -> Iterator[Found]:
    """Judge the link types of links (LK-13, LK-14, LK-40 to LK-42, LK-44)."""
    judged: dict[tuple[str, str], list[_JudgedToken]] = {}  # the links of a page say much the same
    for element in page.named("a", "area", "link"):
        rel = element.get("rel")
        if rel:
            found = judged.get((element.tag, rel))
            if found is None:
                found = judged[element.tag, rel] = [*_judge(element.tag, split_tokens(rel)[:MOST_TOKENS])]
            places = page.tokens(element, "rel") if found else []
            for at in found:
                yield Found(places[at.number][0], at.rule, at.level, at.message)
        if element.get("rev"):
            yield from _check_rev(page, element)


def _judge(tag: str, tokens: list[str]) -> Iterator[_JudgedToken]:
    problems = iter(check_rel(tag, " ".join(tokens)))
    problem = next(problems, None)
    seen: set[str] = set()
    for number, token in enumerate(tokens):
        keyword = token if ":" in token else lower_ascii(token)
        is_first = keyword not in seen
        seen.add(keyword)
        if problem is not None and problem.keyword == keyword and (problem.code != "duplicate") == is_first:
            yield _JudgedToken(number, *_explain(tag, problem))
            problem = next(problems, None)
        elif is_first and (known := REGISTRY.get(keyword)) is not None and known.standing is Standing.OBSOLETE:
            mend = _OF_A_LINK_ELEMENT if tag == "link" else "leave it out"
            message = (
                f"HTML has given up the link type {shown(keyword)}; it is still read here, but not everywhere: {mend}"
            )
            yield _JudgedToken(number, "LK-44", FindingLevel.WARNING, message)


def _explain(tag: str, problem: RelProblem) -> tuple[str, FindingLevel, str]:
    keyword = problem.keyword
    what = shown(keyword)
    if problem.code == "duplicate":
        return "LK-13", FindingLevel.ERROR, f"{what} is twice in one rel; remove one"
    if problem.code == "synonym":
        canonical = SYNONYMS.get(keyword)
        mend = f"write {canonical}" if canonical else "write the type that it stands for"
        return "LK-14", FindingLevel.ERROR, f"{what} is read, but may not be written; {mend}"
    if problem.code == "not-allowed":
        return "LK-40", FindingLevel.ERROR, f"{what} means nothing on the element {tag}; leave it out"
    if ":" in keyword:
        return (
            "LK-42",
            FindingLevel.ERROR,
            f"{what} holds a colon but is no absolute URL; write the URL that defines the type",
        )
    if (known := REGISTRY.get(keyword)) is not None and known.standing is Standing.DISCONTINUED:
        return "LK-40", FindingLevel.ERROR, f"the link type {what} has been withdrawn; leave it out"
    message = f"{what} is no link type that is registered; leave it out, or register it at {REGISTER_AT}"
    return "LK-40", FindingLevel.WARNING, message


def _check_rev(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    rev = element.get("rev") or ""
    mend = "rel=author" if lower_ascii(rev) == "made" else "the opposite type as rel"
    message = f"HTML has given up rev; it is still read here, but not everywhere: write {mend}"
    yield Found(page.place_in(element, "rev"), "LK-44", FindingLevel.WARNING, message)


# The mset attributes of links: dates of reference, and copies.


# Where a page of unknown address stands: whether a relative URL resolves, any address tells.
_ANYWHERE = "https://page.invalid/"
# The first token of a candidate: a year alone, or one with more of a date behind it; 2014/ is a folder.
_LIKE_A_DATE = re.compile(
    rf"(?:\A|,)[{SPACE}]*+([12][0-9]{{3}}(?:[-/.][0-9TZ:/.+-]{{0,60}}+)?+)(?<=[0-9Z])(?=[{SPACE},]|\Z)"
)

_RULES = {
    MsetProblem.EMPTY: ("MS-16", FindingLevel.WARNING),
    MsetProblem.EMPTY_CANDIDATE: ("MS-02", FindingLevel.ERROR),
    MsetProblem.DATE_AND_MORE: ("MS-03", FindingLevel.ERROR),
    MsetProblem.COPY_AND_MORE: ("MS-05", FindingLevel.ERROR),
    MsetProblem.UNRESOLVABLE: ("MS-07", FindingLevel.ERROR),
    MsetProblem.INVALID_URL: ("MS-07", FindingLevel.ERROR),
    MsetProblem.TOO_MANY: ("MS-02", FindingLevel.WARNING),
}


def check_msets(page: WrittenPage) -> Iterator[Found]:
    """Judge the places of mset attributes, and their values (MS-01 to MS-08, MS-16)."""
    base = next((href.strip(SPACE) for element in page.named("base") if (href := element.get("href"))), "")
    base = base if is_absolute_url(base) else _ANYWHERE
    for element in page.places.elements:
        value = element.get("mset")
        if value is None:
            continue
        if element.tag != "a" or element.get("href") is None:
            message = "mset says something of a link, and this is none; move it to an a element with an href"
            yield Found(page.place_in(element, "mset"), "MS-01", FindingLevel.ERROR, message)
            continue
        written = page.value_at(element, "mset")
        read = parse_mset(value, base, page.encoding)
        for error in read.errors:
            rule, level = _RULES[error.code]
            yield Found(written.at(error.offset), rule, level, error.message)
        yield from _find_lost_dates(written)
        for copy in read.copies:
            if copy.rel is not None and _is_unknown(copy.rel):
                message = (
                    f"{shown(copy.rel)} is no link type that is registered; write such as memento, or leave it out"
                )
                yield Found(written.at(copy.rel_at or 0), "MS-08", FindingLevel.WARNING, message)


def _find_lost_dates(written: Value) -> Iterator[Found]:
    """Find what its author most likely took for a date, and every reader takes for a relative URL (C-44)."""
    for match in islice(_LIKE_A_DATE.finditer(written.text), MOST_CANDIDATES):
        text = match[1]
        if not (is_valid_date(text) or is_valid_global(text)):
            message = f"{shown(text)} is no whole date, so it is read as a URL; write such as 2026-11-21, or ./{text}"
            yield Found(written.at(match.start(1)), "MS-04", FindingLevel.WARNING, message)


def _is_unknown(rel: str) -> bool:
    return any(problem.code in {"unregistered", "synonym"} for problem in check_rel("a", rel))


_BOOLEANS = (("link", "disabled"), ("area", "nohref"), ("time", "pubdate"))
_KEYWORDS = {
    "crossorigin": ("", "anonymous", "use-credentials"),
    "fetchpriority": ("auto", "high", "low"),
    "referrerpolicy": (
        "",
        "no-referrer",
        "no-referrer-when-downgrade",
        "origin",
        "origin-when-cross-origin",
        "same-origin",
        "strict-origin",
        "strict-origin-when-cross-origin",
        "unsafe-url",
    ),
    "shape": ("circ", "circle", "default", "poly", "polygon", "rect", "rectangle"),
}


def check_links(page: WrittenPage) -> Iterator[Found]:
    """Judge links by their attributes, but for URLs, types and languages (CI-11, ENUM-02, LK-01, LK-03, LK-25)."""
    for element in page.named("link"):
        yield from _check_link(page, element)
    for element in page.named("a", "area"):
        if element.get("rel") is not None and element.get("href") is None:
            message = f"without an href this {element.tag} element is no link, so its rel says nothing; leave it out"
            yield Found(page.place_in(element, "rel"), "LK-03", FindingLevel.WARNING, message)
    for element in page.named("a", "area", "link"):
        media = element.get("media")
        if media is not None and not is_media_query_list(media):
            message = f'{shown(media)} is no media query; write such as "print" or "screen and (min-width: 40em)"'
            yield Found(page.place_in(element, "media"), "CI-11", FindingLevel.ERROR, message)
        yield from _check_keywords(page, element)
    for tag, attribute in _BOOLEANS:
        for element in page.named(tag):
            yield from _check_boolean(page, element, attribute)


def _check_link(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    rel = element.get("rel")
    types = {lower_ascii(token) for _, token in page.tokens(element, "rel")}
    if not types and not any(element.get(name) for name in ("rev", "itemprop", "property")):
        message = "a link element without rel links to nothing; write what the other resource is to this page"
        yield Found(element.span[0], "LK-01", FindingLevel.WARNING, message)
    elif not element.get("href") and not element.get("imagesrcset"):
        message = "a link element without href links to nothing; write the URL of the other resource"
        yield Found(page.place_in(element, "rel") if rel else element.span[0], "LK-01", FindingLevel.WARNING, message)
    if {"alternate", "stylesheet"} <= types and not element.get("title"):
        message = "an alternate stylesheet without a title cannot be chosen; give it one"
        yield Found(page.place_in(element, "rel"), "LK-33", FindingLevel.ERROR, message)
    if element.get("sizes") is not None:
        yield from _check_sizes(page, element)


def _check_sizes(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    seen: set[str] = set()
    for place, token in page.tokens(element, "sizes"):
        size = lower_ascii(token)
        if size in seen:
            message = f"{shown(token)} is twice in one value; remove one"
            yield Found(place, "TOK-02", FindingLevel.ERROR, message)
        elif not read_sizes(token):
            message = f'{shown(token)} is no size; write such as "16x16", or "any"'
            yield Found(place, "LK-25", FindingLevel.ERROR, message)
        elif "X" in token:
            message = f"not every reader takes {shown(token)} for a size; write the x small"
            yield Found(place, "LK-25", FindingLevel.WARNING, message)
        seen.add(size)


def _check_keywords(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    for attribute, keywords in _KEYWORDS.items():
        value = element.get(attribute)
        if value is not None and not is_valid_keyword(value, keywords):
            known = ", ".join(keyword for keyword in keywords if keyword)
            message = f"{shown(value)} is no keyword of {attribute}; write one of {known}"
            yield Found(page.place_in(element, attribute), "ENUM-02", FindingLevel.ERROR, message)


def _check_boolean(page: WrittenPage, element: PlacedElement, attribute: str) -> Iterator[Found]:
    value = element.get(attribute)
    if value is not None and not is_valid_boolean(attribute, value):
        message = f"{attribute} is true whatever its value is; write the bare word, or leave it out for false"
        yield Found(page.place_in(element, attribute), "NUM-03", FindingLevel.ERROR, message)


# What no URL holds, wherever in it; a per cent sign only before two digits.
_FORBIDDEN = re.compile(r"""[\x00-\x20"<>\\^`{|}\x7f]|%(?![0-9A-Fa-f]{2})""")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
_WITH_HOST = frozenset({"http", "https", "ftp", "ws", "wss"})
_WITHOUT_HOST = frozenset({"data", "mailto", "tel", "sms", "urn"})
_URL_RULES = {"a": "LK-04", "area": "LK-04", "link": "URL-01", "base": "URL-01"}


def check_urls(page: WrittenPage) -> Iterator[Found]:
    """Judge URLs: of links, base elements, pings and the head's profile (LK-04, LK-09, LM-24/25, URL-01/13)."""
    for element in page.places.elements:
        if element.tag in _URL_RULES and (href := element.get("href")) is not None:
            yield from _check_href(page, element, href)
            if element.tag in {"a", "area"} and element.get("ping") is not None:
                yield from _check_pings(page, element)
        elif element.tag == "head" and element.get("profile") is not None:
            yield from _check_profile(page, element)


def _check_href(page: WrittenPage, element: PlacedElement, href: str) -> Iterator[Found]:
    url = href.strip(SPACE)
    before = len(href) - len(href.lstrip(SPACE))
    if is_valid_url(url, page.encoding):
        if (problem := _against_its_scheme(url)) is not None:
            yield Found(page.value_at(element, "href").at(before), "URL-13", FindingLevel.WARNING, problem)
        return
    culprit = _FORBIDDEN.search(url)
    offset = before + (culprit.start() if culprit else 0)
    message = f"{shown(url)} is no valid URL; {_mend(url, culprit)}"
    yield Found(page.value_at(element, "href").at(offset), _URL_RULES[element.tag], FindingLevel.ERROR, message)


def _mend(url: str, culprit: re.Match[str] | None) -> str:
    if culprit is not None and culprit[0] == "%":
        return "write %25 for a per cent sign"
    if culprit is not None and culprit[0] in "\t\n\r":
        return "take the line break or tab out"
    if culprit is not None and culprit[0] == "\\":
        return "write / for \\"
    if culprit is not None:
        return f"write %{ord(culprit[0]):02X} for {shown(culprit[0]) if culprit[0] > ' ' else 'white space'}"
    if not url.isascii() and "?" in url:
        return "write its query in ASCII, or save the page as UTF-8"
    return "write it as the address bar of a browser shows it once it is open"


def _against_its_scheme(url: str) -> str | None:
    """Return the breach of its scheme's rules by a URL; None without one. Readers do not mind it."""
    match = _SCHEME.match(url)
    if match is None:
        return None
    scheme, rest = match[1].lower(), url[match.end() :]
    if scheme in _WITH_HOST and (not rest.startswith("//") or rest[2:3] in ("", "/", "?", "#")):
        return f"{shown(url)} names no host; write {scheme}:// and the host"
    if scheme in _WITHOUT_HOST and rest.startswith("//"):
        return f"{shown(url)} names a host, and {scheme}: URLs have none; leave out the //"
    if scheme == "data" and "," not in rest:
        return f"{shown(url)} holds no data; write a comma before them"
    return None


def _check_pings(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    for place, token in page.tokens(element, "ping"):
        if not is_valid_url(token, page.encoding):
            message = f"{shown(token)} is no valid URL to ping; mend it, or leave it out"
            yield Found(place, "LK-09", FindingLevel.WARNING, message)


def _check_profile(page: WrittenPage, element: PlacedElement) -> Iterator[Found]:
    for count, (place, token) in enumerate(page.tokens(element, "profile")):
        if count:
            message = "only the first URL of a profile counts; leave out the others"
            yield Found(place, "LM-25", FindingLevel.WARNING, message)
            return
        if not (is_valid_url(token, page.encoding) and is_absolute_url(token)):
            message = f"{shown(token)} is no absolute URL, so it names no profile; write the profile's own"
            yield Found(place, "LM-24", FindingLevel.ERROR, message)
