"""Feeds: RSS of all versions, Atom, and JSON Feed; bytes in, entries out."""

from tocsin.spec.feeds.reading import Entry, Feed, read_feed

__all__ = ["Entry", "Feed", "read_feed"]
