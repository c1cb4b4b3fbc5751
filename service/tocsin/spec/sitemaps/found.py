"""What a sitemap says."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a sitemap is: of pages, of further sitemaps, a feed whose entries are pages, or a text with a URL a line."""

    PAGES = "urlset"
    INDEX = "sitemapindex"
    FEED = "feed"
    TEXT = "text"


class Location(NamedTuple):
    """An address, not judged yet.

    line     from 1; of its element
    lastmod  when it changed last, as a sitemap or an index writes it; feeds are read for that by `spec.feeds`
    """

    line: int
    url: str
    lastmod: str | None = None


class Problem(NamedTuple):
    """Why reading ended before the end.

    is_fatal  this is no sitemap at all; else what came before stands
    """

    line: int
    reason: str
    is_fatal: bool
