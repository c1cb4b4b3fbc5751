"""The text's own way to an item's properties (003, the microdata model), step by step: what ours must agree with."""

from __future__ import annotations

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.tree import Element, Tree


class Literal:
    """A page's items as the text finds them."""

    def __init__(self, tree: Tree) -> None:
        self.elements = list(tree.elements())
        self._order = {element: place for place, element in enumerate(self.elements)}

    def items(self) -> list[Element]:
        return [element for element in self.elements if _has(element, "itemscope")]

    def properties(self, root: Element) -> tuple[list[Element], int]:
        """Crawl the properties of an element with an empty memory, which never fails."""
        crawled = self._crawl(root, [])
        assert crawled is not None
        return crawled

    def _crawl(self, root: Element, memory: list[Element]) -> tuple[list[Element], int] | None:
        if root in memory:
            return None
        results, errors = self._collect(root)
        results = [element for element in results if _has(element, "itemprop")]
        for element in list(results):
            if _has(element, "itemscope") and self._crawl(element, [*memory, root]) is None:
                results.remove(element)
                errors += 1
        results.sort(key=self._order.__getitem__)
        return results, errors

    def _collect(self, root: Element) -> tuple[list[Element], int]:
        results: list[Element] = []
        pending = [child for child in root.children if isinstance(child, Element)]
        errors = 0
        for token in split_tokens(root.get("itemref") or ""):
            pending += [element for element in self.elements if element.get("id") == token][:1]
        while pending:
            current = pending.pop()
            if current in results:
                errors += 1
                continue
            if not _has(current, "itemscope"):
                pending += [child for child in current.children if isinstance(child, Element)]
            results.append(current)
        return results, errors


def _has(element: Element, attribute: str) -> bool:
    return element.is_html() and attribute in element.attributes
