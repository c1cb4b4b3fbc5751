"""Lists of pages that users import and export: plain lists, CSV, OPML and sitemaps, read and written as streams."""

from tocsin.lists.entries import ListEntry, ListNotice, RefusedLine
from tocsin.lists.formats.opening import FORMATS, open_list

__all__ = ["FORMATS", "ListEntry", "ListNotice", "RefusedLine", "open_list"]
