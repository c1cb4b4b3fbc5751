"""The places in a page that a fragment can lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from tocsin.spec.html.tree import Element, Tree


class Anchors:
    """The elements of a page by their IDs and, of a elements, their names."""

    def __init__(self, tree: Tree) -> None:
        """Remember the first element of each ID and name (LM-04)."""
        self._exact: dict[str, Element] = {}
        self._folded: dict[str, Element] = {}
        names: list[tuple[str, Element]] = []
        for element in tree.elements():
            if identity := element.get("id"):
                self._exact.setdefault(identity, element)
                self._folded.setdefault(identity.lower(), element)
            if element.is_html("a") and (name := element.get("name")):
                names.append((name, element))
        for name, element in names:
            self._exact.setdefault(name, element)
            self._folded.setdefault(name.lower(), element)

    def find(self, fragment: str) -> Element | None:
        """Find the element that a fragment leads to; None if it leads to none.

        fragment  without its #; as written, then with its escapes decoded, then folded to lower case
        Source    text 001, anchors (LM-02, LM-03); C-03: exact first, since HTML is case-sensitive today
        """
        decoded = unquote(fragment)
        for text in (fragment, decoded):
            if text and text in self._exact:
                return self._exact[text]
        return self._folded.get(decoded.lower()) if decoded else None
