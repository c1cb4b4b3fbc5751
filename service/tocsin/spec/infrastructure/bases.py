"""What a page's relative URLs are resolved against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.infrastructure.urls import document_base, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.spec.html.tree import Element

_LONGEST: Final = 65_536
"""Nothing that is longer can be asked for; resolving it would only cost time."""
_LONGEST_BASE: Final = 8192
"""A longer base would make each short link of a page a long one."""


class Bases:
    """The base URL of each element of a page."""

    def __init__(self, elements: Iterable[Element], address: str | None, encoding: str | None) -> None:
        """Find the document's base: that of the first base element with an href in the head, else its address.

        elements  the page's, in tree order; others than base elements do not matter
        address   the page's URL after redirects (LM-11); None if it is not known
        encoding  the page's; queries are written in it (URL-08)
        Source    text 001, BASE (LM-10); text 004, 2.3.3 (URL-06, URL-07)
        """
        self.encoding = encoding or "utf-8"
        self._found: dict[Element, str | None] = {}
        hrefs = (element.attributes["href"] for element in elements if _sets_base(element))
        href = next(hrefs, None)
        self.document: str | None = address
        if href is not None:
            base = self._resolve(href, None) if address is None else document_base(address, (href,), self.encoding)
            self.document = base if base is not None and len(base) <= _LONGEST_BASE else address

    def resolve(self, element: Element, reference: str) -> str | None:
        """Resolve a reference that stands in this element; None if it cannot be.

        The result may have any scheme and a fragment: who asks, judges.
        """
        return self._resolve(reference, self.of(element))

    def of(self, element: Element) -> str | None:
        """Give an element's base: the xml:base of those above it, then the document's; None if nothing tells."""
        chain = []
        based = element.based
        while based is not None and based not in self._found:
            chain.append(based)
            based = based.parent and based.parent.based
        for each in reversed(chain):
            above = each.parent and each.parent.based
            outer = self.document if above is None else self._found[above]
            base = self._resolve(each.attributes["xml:base"], outer)
            self._found[each] = base if base is not None and len(base) <= _LONGEST_BASE else outer
        return self.document if element.based is None else self._found[element.based]

    def _resolve(self, reference: str, base: str | None) -> str | None:
        if len(reference) > _LONGEST:
            return None
        return resolve(reference, base, self.encoding)


def _sets_base(element: Element) -> bool:
    parent = element.parent
    return element.is_html("base") and "href" in element.attributes and parent is not None and parent.is_html("head")
