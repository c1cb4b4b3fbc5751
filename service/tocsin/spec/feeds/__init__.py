"""Feeds: RSS of all versions, Atom, and JSON Feed; bytes in, entries out."""

from tocsin.spec.feeds.found import Entry, Feed
from tocsin.spec.feeds.reading import read_feed

__all__ = ["Entry", "Feed", "read_feed"]
