"""A signal in microdata: `dateModified` of the page's main item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.linked import ARTICLE, BESIDE, PAGE, kind_of, name_of
from tocsin.spec.signals.signal import Signal

if TYPE_CHECKING:
    from tocsin.spec.html.whole import Node
    from tocsin.spec.signals.signal import Seen

_NAME: Final = "datemodified"
# Properties whose item is the subject of the page.
_MAIN: Final = frozenset({"mainentity", "mainentityofpage", "maincontentofpage", "blogpost", "blogposts"})
_ITEMS: Final = "[itemscope]"
_MARKED: Final = '[itemprop*="dateModified" i]'
# Elements that are asked, for each may hold the whole page's text.
_MOST: Final = 10
# A property outside of any item: wrong, and frequent; it can only be the page's.
_NO_ITEM: Final = 4


def names_modified(node: Node, attribute: str) -> bool:
    """Return whether an attribute of property names names the time of the last change, short or as a full URL."""
    names = node.attr(attribute)
    return names is not None and any(name_of(word).lower() == _NAME for word in split_tokens(names))


def value_of(node: Node) -> str | None:
    """Return what an element says as a property: its content, its datetime, else its text."""
    written = node.attr("content")
    if written is None:
        written = node.attr("datetime")
    return node.text if written is None else written


def _modified(seen: Seen) -> str | None:
    if seen.whole is None or not seen.whole.may_have(b"itemprop"):
        return None
    found = [node for node in seen.whole.select(_MARKED)[:_MOST] if names_modified(node, "itemprop")]
    if not found:
        return None
    mains = _mains(seen.whole.select(_ITEMS))
    ranked = []
    for place, node in enumerate(found):
        value, owner = to_value(value_of(node)), _above(node)
        rank = _NO_ITEM if owner is None else mains.get(owner)
        if value is not None and rank is not None:
            ranked.append((rank, place, value))
    return min(ranked)[2] if ranked else None


def _mains(items: Any) -> dict[Any, int]:
    """Find the items that may be the page: the first article, the first page, the first work; by rank."""
    found: dict[Any, int] = {}
    reached: set[Any] = set()
    taken: set[int] = set()
    for item in items:
        name = item.attr("itemprop")
        if name is not None:
            words = {name_of(word).lower() for word in split_tokens(name)}
            if not words & _MAIN or _above(item) not in reached:
                continue
        reached.add(item)
        kind = kind_of(split_tokens(item.attr("itemtype") or ""))
        if kind != BESIDE and kind not in taken:
            taken.add(kind)
            found[item] = {ARTICLE: 0, PAGE: 1}.get(kind, 2)
    return found


def _above(node: Any) -> Any:
    """Return the item that an element is a property of; None outside of items."""
    return None if node.parent is None else node.parent.closest(_ITEMS)


MODIFIED: Final = Signal("microdata.modified", "author", "dateModified of the page's main item in microdata", _modified)
