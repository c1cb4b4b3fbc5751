"""Lists of pages that users bring and take: plain lists, CSV, OPML and sitemaps, read and written as streams."""

from tocsin.lists.entries import Entry, Named, Refused
from tocsin.lists.reading import FORMATS, open_list

__all__ = ["FORMATS", "Entry", "Named", "Refused", "open_list"]
