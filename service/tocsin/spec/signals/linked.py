"""A page's JSON-LD: which of its nodes is the page itself, and what that says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

from tocsin.spec.signals.kinds import ARTICLE, BESIDE, PAGE, WORK, kind_of
from tocsin.spec.signals.loose_json import read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.html.whole import Whole

Object: TypeAlias = dict[str, Any]

_MOST_LETTERS: Final = 1_000_000
_MOST_NODES: Final = 500
_ALL: Final = 'script[type*="ld+json" i]'
_WANTED: Final = ("dateModified", "version")
_PREFIXES: Final = ("", "schema:", "http://schema.org/", "https://schema.org/")
_OF_PAGE: Final = ("mainEntityOfPage", "url", "@id")


class Linked(Struct, frozen=True):
    """What the JSON-LD of a page says.

    nodes     that stand at the top, in their order
    problems  in words
    """

    nodes: tuple[Object, ...] = ()
    problems: tuple[str, ...] = ()


NO_LINKED: Final = Linked()


def read_linked(whole: Whole) -> Linked:
    """Read the JSON-LD of a page, unless it names nothing that anybody asks for; takes linear time, never raises."""
    texts = [node.text for node in whole.select(_ALL)]
    if not any(wanted in text for text in texts for wanted in _WANTED):
        return NO_LINKED
    nodes: list[Object] = []
    problems = []
    letters = 0
    for place, text in enumerate(texts, 1):
        letters += len(text)
        if letters > _MOST_LETTERS:
            problems.append(f"more than {_MOST_LETTERS} letters of JSON-LD; the rest was not read")
            break
        values, problem = read_json(text.strip("\ufeff \t\r\n"))
        if problem is not None:
            problems.append(f"JSON-LD script {place} is no JSON, and read as far as possible: {problem}")
        for value in values:
            nodes.extend(_top(value))
    return Linked(tuple(nodes[:_MOST_NODES]), tuple(problems))


def read_property(linked: Linked, name: str, url: str) -> object:
    """Give a property of the node that is the page: of the first article, or the first page, whichever says it first.

    Nodes that name the page's own URL go before others, and both before works of other kinds. What is neither is
    beside the page, and so is a second article: their dates are not the page's.
    None if none of them says it.
    """
    for node in _mains(linked.nodes, url):
        for each in (node, *_within(node, linked.nodes)):
            value = _get(each, name)
            if value not in (None, "", [], {}):
                return value
    return None


def _mains(nodes: Sequence[Object], url: str) -> list[Object]:
    """Give the nodes that may be the page: the first of each kind, in the order in which they are asked."""
    own = _address(url)
    first: dict[int, tuple[bool, int, Object]] = {}
    for place, node in enumerate(nodes):
        kind = kind_of(_list(_get(node, "@type")))
        if kind == BESIDE:
            continue
        rank = (bool(own) and own not in _addresses(node), place, node)
        if kind not in first or rank[:2] < first[kind][:2]:
            first[kind] = rank
    ranked = sorted((rank for kind, rank in first.items() if kind in (ARTICLE, PAGE)), key=lambda rank: rank[:2])
    if WORK in first:
        ranked.append(first[WORK])
    return [node for _, _, node in ranked]


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
    if name in node or name.startswith("@"):
        value = node.get(name, node.get("type") if name == "@type" else None)
    else:
        value = next((node[f"{prefix}{name}"] for prefix in _PREFIXES if f"{prefix}{name}" in node), None)
    return value.get("@value") if isinstance(value, dict) and "@value" in value else value


def _addresses(node: Object) -> set[str]:
    """Give the URLs that a node says it has, or is on."""
    found: set[str] = set()
    for name in _OF_PAGE:
        for value in _list(_get(node, name)):
            written = value.get("@id") or value.get("url") if isinstance(value, dict) else value
            if isinstance(written, str):
                found.add(_address(written))
    return found


def _address(url: str) -> str:
    """Give what two URLs of one page have in common: scheme, `www.`, query, fragment and last slash do not count."""
    try:
        parts = urlsplit(url[:2000].strip())
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return ""
    return f"{host}{parts.path.rstrip('/')}" if host else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
