"""Sitemaps, and indexes of them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

from tocsin.errors import UsageError
from tocsin.lists.entries import Entry, Named, Refused
from tocsin.spec.sitemaps import Kind, Location, SitemapReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.lists.entries import Item

_PIECE_BYTES: Final = 65_536


def read_sitemap(stream: IO[bytes], *, name: str, expected: str | None) -> Iterator[Item]:
    """Read a sitemap as a stream.

    expected  "sitemap", or None where OPML would do as well
    Raises UsageError for what is no sitemap.
    """
    reader = SitemapReader()
    while not reader.is_over and (piece := stream.read(_PIECE_BYTES)):
        found = reader.feed(piece)
        yield from (_item(reader.kind, location) for location in found)
    found = reader.close()
    yield from (_item(reader.kind, location) for location in found)
    problem = reader.problem
    if problem is None:
        return
    if not problem.is_fatal:
        yield Refused(problem.line, problem.reason)
        return
    if reader.root is not None and reader.kind is None:
        wanted = "a sitemap" if expected == "sitemap" else "OPML or a sitemap"
        raise UsageError(f"{name}: its root is <{reader.root}>; {wanted} was expected")
    raise UsageError(f"{name}:{problem.line}: {problem.reason}")


def _item(kind: Kind | None, location: Location) -> Item:
    if kind is Kind.INDEX:
        return Named(location.line, "sitemap", location.url)
    return Entry(location.line, location.url)
