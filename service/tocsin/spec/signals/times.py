"""A signal in time elements: one that is marked as the time of the last change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.linked import name_of
from tocsin.spec.signals.microdata import names_modified
from tocsin.spec.signals.signal import Signal

if TYPE_CHECKING:
    from tocsin.spec.html.whole import Node
    from tocsin.spec.signals.signal import Seen

_WORDS: Final = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_MODIFIED: Final = frozenset({"updated", "modified", "lastmod", "upd"})
_PUBLISHED: Final = frozenset({"published", "created", "posted"})
_RDFA: Final = frozenset({"datemodified", "modified"})
_MAIN: Final = "main,[role=main],article"
_BESIDE: Final = "aside,nav,footer,[role=complementary],article article"
_MOST: Final = 200
# Elements whose text is read, for each may hold that of the whole page.
_MOST_TEXTS: Final = 10

# By its property; by its class; by a class that says published as well.
_NAMED, _MARKED, _BOTH = range(3)


def _modified(seen: Seen) -> str | None:
    """Return the best of the marked elements: main content before the rest, marks by property before marks by class.

    A class that says both published and updated is what common themes write of a page that was not changed since: it
    tells where no element says updated alone, so that the first change, which brings one, has something to differ from.
    """
    if seen.whole is None:
        return None
    best: tuple[tuple[int, int, int], str] | None = None
    texts = 0
    for place, node in enumerate(seen.whole.elements("time")[:_MOST]):
        mark = _mark_of(node)
        if mark is None:
            continue
        written = node.attr("datetime")
        if written is None and mark == _NAMED and texts < _MOST_TEXTS:
            texts += 1
            written = node.text
        value = to_value(written)
        if value is None:
            continue
        rank = (_zone_of(node), mark, place)
        if best is None or rank < best[0]:
            best = (rank, value)
    return None if best is None else best[1]


def _mark_of(node: Node) -> int | None:
    """Return how a time element is marked as that of the last change; None where it is not."""
    if names_modified(node, "itemprop"):
        return _NAMED
    if (named := node.attr("property")) and any(name_of(word).lower() in _RDFA for word in split_tokens(named)):
        return _NAMED
    if not (written := _class_of(node)):
        return None
    words = {word.lower() for word in _WORDS.findall(written)}
    if not words & _MODIFIED:
        return None
    return _BOTH if words & _PUBLISHED else _MARKED


def _class_of(node: Node) -> str:
    written: Any = node.attr("class")
    return written or "" if isinstance(written, str) or written is None else " ".join(written)


def _zone_of(node: Any) -> int:
    """Return the zone of an element: main content (0), unknown (1), or beside it (2)."""
    if node.closest(_BESIDE) is not None:
        return 2
    return 0 if node.closest(_MAIN) is not None else 1


MODIFIED: Final = Signal(
    "time.modified", "author", "a time element that is marked as that of the last change", _modified
)
