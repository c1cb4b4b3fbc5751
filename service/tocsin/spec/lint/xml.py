"""Pages that are served as XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.html.findings import Found, Level
from tocsin.spec.html.page import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.lint.page import WrittenPage


def check_xml(page: WrittenPage) -> Iterator[Found]:
    """Judge whether an XHTML page is XML, and HTML at all (CI-09)."""
    if page.kind is not Kind.XHTML:
        return
    if page.places.stop is not None:
        message = f"not well-formed XML: {page.places.stop.message}; mend it, what follows is not looked at"
        yield Found(page.places.stop.place, "CI-09", Level.ERROR, message)
    elif next(page.named("html"), None) is None:
        message = 'the page has no html element of HTML; write <html xmlns="http://www.w3.org/1999/xhtml">'
        yield Found(0, "CI-09", Level.ERROR, message)
