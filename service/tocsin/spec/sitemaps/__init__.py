"""The lists of pages that sites offer: sitemaps, indexes of them, feeds, and plain texts (sitemaps.org)."""

from tocsin.spec.sitemaps.reading import (
    MOST_BYTES,
    MOST_LOCATIONS,
    Kind,
    Location,
    Problem,
    SitemapReader,
)

__all__ = ["MOST_BYTES", "MOST_LOCATIONS", "Kind", "Location", "Problem", "SitemapReader"]
