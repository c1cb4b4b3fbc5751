"""A page's JSON-LD: the nodes that are the page itself, and their properties; kinds of schema.org's types."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.spec.html.whole import Whole


ARTICLE: Final = 0
PAGE: Final = 1
WORK: Final = 2
# An author, a picture, a way back: nothing whose date is the page's.
BESIDE: Final = 3

_ENDINGS: Final = (("article", ARTICLE), ("posting", ARTICLE), ("report", ARTICLE), ("page", PAGE))
_ARTICLES: Final = frozenset({"review", "criticreview", "userreview"})
_WORKS: Final = frozenset(
    {
        "apireference", "answer", "blog", "book", "claimreview", "course", "creativework", "dataset", "event",
        "exhibitionevent", "howto", "legislation", "liveblog", "mobileapplication", "movie", "musicalbum",
        "musicevent", "podcastepisode", "product", "productgroup", "question", "recipe", "softwareapplication",
        "softwaresourcecode", "tvepisode", "tvseries", "vacationrental", "videogame", "webapplication", "website",
    }
)  # fmt: skip
_LONGEST_NAME: Final = 100
_BEFORE_NAME: Final = re.compile(r".*[/#:]", re.DOTALL)


def kind_of(types: Iterable[object]) -> int:
    """Return the kind of a thing of these types: the first of `ARTICLE`, `PAGE`, `WORK`, `BESIDE` that one of them has.

    types  short names or full URLs, in any case
    """
    return min((_kind(name[-_LONGEST_NAME:]) for name in types if isinstance(name, str)), default=BESIDE)


def name_of(word: str) -> str:
    """Return the short name of a type or property that may be written as a full URL, or with a prefix."""
    return _BEFORE_NAME.sub("", word[-_LONGEST_NAME:].strip())


@lru_cache(maxsize=512)
def _kind(name: str) -> int:
    short = name_of(name).lower()
    if short in _ARTICLES:
        return ARTICLE
    for ending, kind in _ENDINGS:
        if short.endswith(ending):
            return kind
    return WORK if short in _WORKS else BESIDE


# JSON as pages write it: read strictly, and where that fails as far as it can be understood.


# Levels that are kept; deeper values are skipped.
_DEEPEST: Final = 60

_AROUND: Final = re.compile(r"<!\[CDATA\[|\]\]>|<!--|-->|/\*|\*/")
_TOKEN: Final = re.compile(r'"(?P<string>(?:[^"\\]++|\\.)*+)(?:"|\\?\Z)|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<letter>.))", re.DOTALL)
_LETTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_CLOSED_BY: Final = {"}": dict, "]": list}

_decode = msgspec.json.Decoder().decode


def read_json(text: str) -> tuple[list[Any], str | None]:
    """Read the values of a text, one if it is JSON; takes time in proportion to its length, and never raises.

    Returns the values (of invalid JSON, only objects and arrays that were understood), and the fault, in words.
    """
    try:
        return [_decode(text)], None
    except (ValueError, RecursionError) as exc:
        problem = str(exc)
    return _Loose().read(_AROUND.sub(" ", text)), problem


class _Loose:
    """The open values, from the outermost on, and in an object the name that waits for its value."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self._open: list[Any] = []
        self._name: str | None = None
        self._has_colon = False
        self._too_deep = 0

    def read(self, text: str) -> list[Any]:
        for token in _TOKEN.finditer(text):
            mark, string = token[0], token["string"]
            if string is not None:
                if not self._too_deep:
                    self._take_string(string)
            elif mark in "{[":
                self._begin({} if mark == "{" else [])
            elif mark in "}]":
                self._end(_CLOSED_BY[mark])
            elif not self._too_deep:
                self._take_other(mark)
        return self._found

    def _take_string(self, string: str) -> None:
        if self._open and isinstance(self._open[-1], dict) and not self._has_colon:
            self._name = _unescape(string)
        else:
            self._put(_unescape(string))

    def _take_other(self, mark: str) -> None:
        if mark == ":":
            self._has_colon = self._name is not None
        elif mark == ",":
            self._name, self._has_colon = None, False
        else:
            self._put(_literal(mark))

    def _put(self, value: Any) -> None:
        if not self._open:
            if isinstance(value, (dict, list)):
                self._found.append(value)
            return
        inner = self._open[-1]
        if isinstance(inner, list):
            inner.append(value)
        elif self._has_colon and self._name is not None:
            inner[self._name] = value
            self._name, self._has_colon = None, False

    def _begin(self, value: Any) -> None:
        if self._too_deep or len(self._open) >= _DEEPEST:
            self._too_deep += 1
            return
        self._put(value)
        self._open.append(value)
        self._name, self._has_colon = None, False

    def _end(self, kind: type) -> None:
        if self._too_deep:
            self._too_deep -= 1
            return
        place = next((at for at in range(len(self._open) - 1, -1, -1) if isinstance(self._open[at], kind)), None)
        if place is not None:
            del self._open[place:]
        self._name, self._has_colon = None, False


def _literal(mark: str) -> object:
    """Read a number, or one of JSON's three words; anything else is a text whose quotation marks were forgotten."""
    if mark in ("true", "false", "null"):
        return {"true": True, "false": False}.get(mark)
    return mark


def _unescape(string: str) -> str:
    if "\\" not in string:
        return string
    text = _ESCAPE.sub(_letter, string)
    # Two surrogates become one letter, and a lone one a replacement character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _letter(match: re.Match[str]) -> str:
    return chr(int(match["code"], 16)) if match["code"] else _LETTERS.get(match["letter"], match["letter"])


Object: TypeAlias = dict[str, Any]

_MOST_LETTERS: Final = 1_000_000
_MOST_NODES: Final = 500
_MOST_URLS: Final = 10
_TYPE: Final = "ld+json"
_WANTED: Final = ("dateModified", "version")
_PREFIXES: Final = ("schema:", "http://schema.org/", "https://schema.org/")
_LONGEST_URL: Final = 2000
_URL: Final = re.compile(r"\s*+(?:https?:)?//(?:www\.)?(?P<host>[^/?#\s]*+)(?P<path>[^?#\s]*+)", re.IGNORECASE)
_OF_PAGE: Final = ("mainEntityOfPage", "url", "@id")


class Linked(Struct, frozen=True):
    """The JSON-LD of a page about the page itself.

    mains     its nodes that are the page, and those that they are about, in the order in which they are asked
    problems  in words
    """

    mains: tuple[Object, ...] = ()
    problems: tuple[str, ...] = ()


NO_LINKED: Final = Linked()


def read_linked(whole: Whole, url: str) -> Linked:
    """Read the JSON-LD of a page, if it names a wanted property; takes linear time, never raises.

    The page is the first article and the first page among the nodes at the top. Nodes that name the page's own URL go
    before others, and both before works of other kinds. Any other node is beside the page, and so is a second
    article: their dates are not the page's.
    """
    texts = [whole.code_of(node) for node in whole.elements("script") if _TYPE in (node.attr("type") or "").lower()]
    if not any(wanted in text for text in texts for wanted in _WANTED):
        return NO_LINKED
    nodes: list[Object] = []
    problems, unread = [], []
    letters = 0
    for place, text in enumerate(texts, 1):
        letters += len(text)
        if letters > _MOST_LETTERS:
            problems.append(f"more than {_MOST_LETTERS} letters of JSON-LD; the rest was not read")
            break
        values, problem = read_json(text.strip("\ufeff \t\r\n"))
        if problem is not None:
            unread.append(f"JSON-LD script {place} is no JSON: {problem}")
        for value in values:
            nodes.extend(_top(value))
    del nodes[_MOST_NODES:]
    mains = tuple([each for node in _mains(nodes, url) for each in (node, *_within(node, nodes))])
    # Faults of scripts matter only if no node of the page was found.
    return Linked(mains, (*problems, *([] if mains else unread)))


def read_property(linked: Linked, name: str) -> object:
    """Return a property of the node that is the page, of the first that says it; None if none does."""
    for node in linked.mains:
        value = _get(node, name)
        if value not in (None, "", [], {}):
            return value
    return None


def _mains(nodes: Sequence[Object], url: str) -> list[Object]:
    """Return the nodes that are the page: the first of each kind, articles and pages in their order, then works."""
    kinds = [kind_of(_list(_get(node, "@type"))) for node in nodes]
    found = [(place, kind) for place, kind in enumerate(kinds) if kind != BESIDE]
    own = _address(url)
    if own and len(found) > 1:
        # The sorting is stable: nodes that name the page go before others, and keep their order.
        found.sort(key=lambda each: own not in _addresses(nodes[each[0]]))
    first: dict[int, int] = {}
    for place, kind in found:
        first.setdefault(kind, place)
    works = first.pop(WORK, None)
    return [nodes[place] for place in (*first.values(), *([] if works is None else [works]))]


def _within(node: Object, nodes: Sequence[Object]) -> Iterator[Object]:
    """Return the things that a node is about, and the page that it is on, where these are whole nodes."""
    for name in ("mainEntity", "mainEntityOfPage"):
        values = _list(_get(node, name))
        inner = values[0] if len(values) == 1 else None
        if not isinstance(inner, dict):
            continue
        if inner.keys() == {"@id"}:
            inner = next((each for each in nodes if each.get("@id") == inner["@id"]), inner)
        if kind_of(_list(_get(inner, "@type"))) != BESIDE:
            yield inner


def _top(value: Any) -> Iterator[Object]:
    """Return the nodes at the top of a document: of an array, of a graph, or the one that it is."""
    for each in _list(value):
        for node in _list(each):
            if not isinstance(node, dict):
                continue
            if "@graph" in node:
                yield from (inner for inner in _list(node["@graph"]) if isinstance(inner, dict))
            if "@graph" not in node or "@type" in node:
                yield node


def _get(node: Object, name: str) -> Any:
    """Return a property, with any prefix."""
    value = node.get(name)
    if value is None and name == "@type":
        return node.get("type")
    if value is None and not name.startswith("@"):
        value = next((node[written] for prefix in _PREFIXES if (written := f"{prefix}{name}") in node), None)
    return value.get("@value") if isinstance(value, dict) and "@value" in value else value


def _addresses(node: Object) -> set[str]:
    """Return the URLs that a node says it has, or is on."""
    found: set[str] = set()
    for name in _OF_PAGE:
        for value in _list(_get(node, name))[:_MOST_URLS]:
            written = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(written, str):
                found.add(_address(written))
    return found


def _address(url: str) -> str:
    """Return what two URLs of one page have in common: scheme, `www.`, query, fragment and last slash do not count."""
    match = _URL.match(url[:_LONGEST_URL])
    return "" if match is None else f"{match['host'].lower()}{match['path'].rstrip('/')}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
