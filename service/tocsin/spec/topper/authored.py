"""Whether bytes are a page at all: an author may name the wrong file, which no reader of pages would notice."""

from __future__ import annotations

import re

from tocsin.spec.html.decoding import decode
from tocsin.spec.html.page import Kind, find_kind, find_page_encoding

_TAG = re.compile(r"<(?:[A-Za-z][A-Za-z0-9:-]*[\t\n\f\r />]|!|\?)")
_OF_PAGES = re.compile(r"<(?:!doctype|html|head|title|meta|link|body|h1|p|div)[\t\n\f\r />]", re.IGNORECASE)


def why_no_page(source: bytes, content_type: str | None = None) -> str | None:
    """Say in words why these bytes are no page of an author; None if they are one.

    HTML reads any bytes; here what has no tag, or holds NUL and no tag that pages have, counts as something else.
    content_type  the value of the HTTP header, None if there was none
    """
    kind, problems = find_kind(source, content_type)
    if kind is Kind.OTHER:
        return problems[0]
    text = decode(source, find_page_encoding(source, content_type))
    if "\0" in text and not _OF_PAGES.search(text):
        return "not HTML: binary"
    return None if _TAG.search(text) else "not HTML: there is no tag in it"
