"""Lists of pages that users bring and take: plain lists, CSV, OPML and sitemaps, read and written as streams."""

from tocsin.cli.lists.entries import Entry, Named, Refused
from tocsin.cli.lists.reading import FORMATS, open_list

__all__ = ["FORMATS", "Entry", "Named", "Refused", "open_list"]
