"""A page's JSON-LD: which of its nodes is the page itself, and what that says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct

from tocsin.spec.signals.kinds import BESIDE, WORK, kind_of
from tocsin.spec.signals.loose_json import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.html.whole import Whole

Object: TypeAlias = dict[str, Any]

_MOST_LETTERS: Final = 1_000_000
_MOST_NODES: Final = 500
_MOST_URLS: Final = 10
_ALL: Final = 'script[type*="ld+json" i]'
_WANTED: Final = ("dateModified", "version")
_PREFIXES: Final = ("schema:", "http://schema.org/", "https://schema.org/")
_LONGEST_URL: Final = 2000
_URL: Final = re.compile(r"\s*+(?:https?:)?//(?:www\.)?(?P<host>[^/?#\s]*+)(?P<path>[^?#\s]*+)", re.IGNORECASE)
_OF_PAGE: Final = ("mainEntityOfPage", "url", "@id")


class Linked(Struct, frozen=True):
    """What the JSON-LD of a page says of the page itself.

    mains     its nodes that are the page, and what they say that they are about, in the order in which they are asked
    problems  in words
    """

    mains: tuple[Object, ...] = ()
    problems: tuple[str, ...] = ()


NO_LINKED: Final = Linked()


def read_linked(whole: Whole, url: str) -> Linked:
    """Read the JSON-LD of a page, unless it names nothing that anybody asks for; takes linear time, never raises.

    The page is the first article and the first page among the nodes at the top. Nodes that name the page's own URL go
    before others, and both before works of other kinds. What is neither is beside the page, and so is a second
    article: their dates are not the page's.
    """
    texts = [node.text for node in whole.select(_ALL)]
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
    # What could be understood all the same is nobody's problem but the author's.
    return Linked(mains, (*problems, *([] if mains else unread)))


def read_property(linked: Linked, name: str) -> object:
    """Give a property of the node that is the page, of the first that says it; None if none does."""
    for node in linked.mains:
        value = _get(node, name)
        if value not in (None, "", [], {}):
            return value
    return None


def _mains(nodes: Sequence[Object], url: str) -> list[Object]:
    """Give the nodes that are the page: the first of each kind, articles and pages in their order, then works."""
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
    """Give what a node says that it is about, and the page that it says it is on, where these are told at length."""
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
    """Give the nodes at the top of a document: of an array, of a graph, or the one that it is."""
    for each in _list(value):
        for node in _list(each):
            if not isinstance(node, dict):
                continue
            if "@graph" in node:
                yield from (inner for inner in _list(node["@graph"]) if isinstance(inner, dict))
            if "@graph" not in node or "@type" in node:
                yield node


def _get(node: Object, name: str) -> Any:
    """Give a property, whatever prefix it is written with."""
    value = node.get(name)
    if value is None and name == "@type":
        return node.get("type")
    if value is None and not name.startswith("@"):
        value = next((node[written] for prefix in _PREFIXES if (written := f"{prefix}{name}") in node), None)
    return value.get("@value") if isinstance(value, dict) and "@value" in value else value


def _addresses(node: Object) -> set[str]:
    """Give the URLs that a node says it has, or is on."""
    found: set[str] = set()
    for name in _OF_PAGE:
        for value in _list(_get(node, name))[:_MOST_URLS]:
            written = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(written, str):
                found.add(_address(written))
    return found


def _address(url: str) -> str:
    """Give what two URLs of one page have in common: scheme, `www.`, query, fragment and last slash do not count."""
    match = _URL.match(url[:_LONGEST_URL])
    return "" if match is None else f"{match['host'].lower()}{match['path'].rstrip('/')}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
