"""What a feed or sitemap that is watched says of other pages. Pure."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from tocsin.errors import BadUrl
from tocsin.model import Listing
from tocsin.spec.feeds import read_feed
from tocsin.spec.html.urls import host_and_origin, watch_url
from tocsin.spec.signals.instants import to_value
from tocsin.spec.sitemaps import Kind, SitemapReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.spec.feeds import Feed
    from tocsin.spec.sitemaps import Location

_MARKUP: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?+[\x00\t\n\r ]*+<|\x1f\x8b")
_START_BYTES: Final = 1024
# What the URL standard writes as it is read: most of those that lists hold, in a tenth of the time.
_CANONICAL: Final = re.compile(
    r"https?://(?=[^/]{1,200}/)(?:[a-z0-9]++(?:-[a-z0-9]++)*+\.)++[a-z]{2,}+(?:/(?!\.)[A-Za-z0-9_~.-]*+)++"
    r"(?:\?[A-Za-z0-9_~.=&/-]*+)?+"
)
_LONGEST_CANONICAL: Final = 2000
_LONGEST_DATE: Final = 100
_MOST_LETTERS: Final = 16_000_000
"""Of a sitemap's addresses in all: a fifth of a MiB, compressed, may hold fifty."""


class Lists(NamedTuple):
    """What a feed or sitemap holds.

    listing  what it says of pages
    texts    its entries as people read them, each as one text: what its content is
    problem  why reading ended before the end, in words for its reader
    """

    listing: Listing
    texts: tuple[str, ...]
    problem: str | None = None


def read_lists(body: bytes, content_type: str | None, url: str, final_url: str) -> Lists | None:
    """Read what a feed, a sitemap or an index of sitemaps holds; None for anything else. Never raises.

    url        as watched
    final_url  that answered: what a feed writes relatively, stands there
    A feed may speak of any page. A sitemap speaks of the host that it was asked of, or that answered; what it says of
    others is not heeded (sitemaps.org, "Sitemap file location"). Where something is listed twice, the first counts.
    At most 50,000 entries are read of either. Dates are written as signals are (`instants.to_value`); what has none is
    left out of the listing.
    """
    feed = read_feed(body, content_type, final_url)
    if feed is not None:
        return Lists(
            _listing("feed", ((entry.url, entry.date) for entry in feed.entries)), _texts_of(feed), feed.problem
        )
    if not _MARKUP.match(body[:_START_BYTES]):
        return None
    reader = SitemapReader()
    places = _bounded([*reader.feed(body), *reader.close()])
    if reader.kind not in {Kind.PAGES, Kind.INDEX}:
        return None
    entries = ((place.url, place.lastmod) for place in places)
    hosts = frozenset({host_and_origin(url)[0], host_and_origin(final_url)[0]})
    texts = tuple([f"{place.url} {place.lastmod[:_LONGEST_DATE]}" if place.lastmod else place.url for place in places])
    return Lists(_listing("sitemap", entries, hosts), texts, None if reader.problem is None else reader.problem.reason)


def _bounded(places: list[Location]) -> list[Location]:
    """Leave out what is beyond so many letters, as a URL is written: each of others than ASCII takes up to nine."""
    letters = accumulate(len(place.url) * (1 if place.url.isascii() else 9) for place in places)
    return [place for place, length in zip(places, letters, strict=True) if length <= _MOST_LETTERS]


def _texts_of(feed: Feed) -> tuple[str, ...]:
    """Give what people read of each entry; its address where there is nothing to read."""
    texts = (" ".join(filter(None, (entry.title, entry.text))) or entry.url for entry in feed.entries)
    return tuple([text for text in texts if text])


def _listing(
    name: str, entries: Iterable[tuple[str | None, str | None]], hosts: frozenset[str] | None = None
) -> Listing:
    found: dict[str, str] = {}
    for written, date in entries:
        value = to_value(date)
        if value is None or not written:
            continue
        url = _watched(written)
        if url is None or (hosts is not None and host_and_origin(url)[0] not in hosts):
            continue
        found.setdefault(url, value)
    return Listing(name, tuple(found.items()))


def _watched(written: str) -> str | None:
    """Give a URL as it is watched; None for what cannot be."""
    if len(written) <= _LONGEST_CANONICAL and _CANONICAL.fullmatch(written):
        return written
    try:
        return watch_url(written).url
    except BadUrl:
        return None
