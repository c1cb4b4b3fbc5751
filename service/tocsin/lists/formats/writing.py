"""Lists of pages written out: plain, CSV, OPML."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any, Final, Protocol
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from tocsin.lists.formats.text import KEYS, guard
from tocsin.model import PageRow

# Settings that are exported only on request.
PRIVATE: Final = ("headers", "auth", "cookies", "proxy")
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class ListWriter(Protocol):
    """Writes a list piece by piece; each method returns a piece of the file."""

    def begin(self) -> str:
        """Return what precedes all pages."""

    def open_group(self, name: str) -> str:
        """Return what precedes the pages of a group."""

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return some pages."""

    def close_group(self) -> str:
        """Return what follows the pages of a group."""

    def end(self) -> str:
        """Return what follows all pages."""


class PlainWriter:
    """A URL a line."""

    def begin(self) -> str:
        """Return nothing."""
        return ""

    def open_group(self, name: str) -> str:  # noqa: ARG002 - a plain list has no groups
        """Return nothing."""
        return ""

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return a URL a line."""
        return "".join(f"{page.url}\n" for page in pages)

    def close_group(self) -> str:
        """Return nothing."""
        return ""

    def end(self) -> str:
        """Return nothing."""
        return ""


class SeparatedWriter(PlainWriter):
    """CSV with all settings of each page, so that importing it restores them."""

    def __init__(self, *, with_secrets: bool) -> None:
        self._with_secrets = with_secrets
        self._keys = [key for key in KEYS if with_secrets or key not in PRIVATE]

    def begin(self) -> str:
        """Return the names of the columns."""
        return _row(["url", "group", "text", *self._keys])

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return a row for each page."""
        return "".join(_row([self._url(page), page.group, page.text or "", *self._settings(page)]) for page in pages)

    def _url(self, page: PageRow) -> str:
        if not self._with_secrets or page.secrets is None:
            return page.url
        scheme, _, rest = page.url.partition("://")
        user, password = (quote(part, safe="") for part in page.secrets)
        return f"{scheme}://{user}:{password}@{rest}"

    def _settings(self, page: PageRow) -> list[str]:
        return [_cell(page.settings[key]) if key in page.settings else "" for key in self._keys]


class OutlineWriter:
    """OPML 2.0, with an outline for each group and its pages as links."""

    def begin(self) -> str:
        """Return the head."""
        head = "<head><title>Watched pages</title></head>"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n{head}\n<body>\n'

    def open_group(self, name: str) -> str:
        """Return the start of a group's outline."""
        return f"<outline text={_attribute(name)}>\n"

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return a link for each page."""
        return "".join(
            f'<outline type="link" text={_attribute(page.text or page.url)} url={_attribute(page.url)}/>\n'
            for page in pages
        )

    def close_group(self) -> str:
        """Return the end of a group's outline."""
        return "</outline>\n"

    def end(self) -> str:
        """Return the end of the document."""
        return "</body>\n</opml>\n"


def _row(cells: list[str]) -> str:
    target = io.StringIO(newline="")
    csv.writer(target).writerow([guard(cell) for cell in cells])
    return target.getvalue()


def _cell(value: Any) -> str:
    """Write a setting as on a command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {json.dumps(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def _attribute(text: str) -> str:
    """Quote a text for XML 1.0, with U+FFFD for characters that XML does not allow."""
    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
