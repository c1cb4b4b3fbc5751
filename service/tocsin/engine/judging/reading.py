"""What is read of an answer beside its twelve fields: signals, whether it is the page at all, what it lists. Pure."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import Struct

from tocsin.engine.judging.noise import muted_keys
from tocsin.engine.judging.signals import NOTHING, SAME, is_never_read, is_read_for_signals, wants_signals
from tocsin.errors import BadUrl, TooComplex
from tocsin.model import ACCEPTED, Listing
from tocsin.spec.feeds import read_feed
from tocsin.spec.html.urls import host_and_origin, watch_url
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.signals.content import compare_contents, content_of_entries, read_content
from tocsin.spec.signals.fingerprint import ContentChange
from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.reading import Asked, Readings, read_as, read_other, read_signals
from tocsin.spec.sitemaps import Kind as SitemapKind
from tocsin.spec.sitemaps import SitemapReader
from tocsin.spec.suspicion.look import find_suspicion

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from tocsin.model import FieldValues, Instant, SignalContext
    from tocsin.settings import PageSettings
    from tocsin.spec.feeds import Feed
    from tocsin.spec.html.page import Kind
    from tocsin.spec.html.whole import Whole
    from tocsin.spec.sitemaps import Location
    from tocsin.spec.topper.state import PageState


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
    if reader.kind not in {SitemapKind.PAGES, SitemapKind.INDEX}:
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


if TYPE_CHECKING:
    Headers: TypeAlias = tuple[tuple[str, str], ...]

_UNREADABLE: Final = "unreadable"
_MOSTLY: Final = 0.5
GONE: Final = ContentChange(is_change=True, share=1.0, blocks=1, removed=1)
"""Where there was content, there is none."""


class ReadingContext(Struct, frozen=True, gc=False):
    """What is wanted of a page beside its twelve fields.

    url       as watched
    status    of the answer
    asked_as  names the settings that shaped the request (`policies.asked_as`): what another one brought is another page
    at        when it was asked for: what was muted long ago is heard again; None: whatever its age
    own_ignore  `ignore` is a setting of the page itself
    """

    policy: PageSettings
    beside: SignalContext | None
    url: str
    status: int
    asked_as: str = ""
    at: Instant | None = None
    own_ignore: bool = False


class PageReading(NamedTuple):
    """What was read of an answer.

    readings   None where it was not read for signals
    change     how the content differs from the one before; None where they were not compared
    suspicion  what else it seems to be than the page, and by what that shows
    listing    what it, a feed or sitemap, says of other pages
    problem    in words for the page's reader
    """

    readings: Readings | None = None
    change: ContentChange | None = None
    suspicion: str | None = None
    listing: Listing | None = None
    problem: str | None = None


UNREAD: Final = PageReading()


def read_page_wholly(
    body: bytes,
    content_type: str | None,
    found: tuple[Kind, tuple[str, ...]],
    headers: Headers,
    final_url: str,
    *,
    wanted: ReadingContext,
    before: FieldValues | None,
    latest: PageState,
) -> PageReading:
    """Read a page whole, where that is needed.

    found          what `find_kind` says of it
    before, latest its twelve fields; None where nothing was stored
    """
    is_other = before is not None and before != latest.values
    is_read = is_read_for_signals(wanted.policy, latest.values)
    if not is_read and not (is_other and _lost_some(before, latest)) and wanted.status != ACCEPTED:
        return UNREAD
    try:
        whole = parse_whole(body, content_type, found=found)
    except TooComplex as exc:
        # It is not tried again and again: nothing was ever read where there is no name of who read it.
        readings = Readings(_UNREADABLE, {}) if is_read and is_never_read(wanted.beside) else None
        return PageReading(readings, problem=f"too complex to be read whole: {exc}")
    if whole is None:
        return UNREAD
    readings = change = None
    if is_read:
        asked, text = asked_of(wanted.policy, own_ignore=wanted.own_ignore), _text_known(wanted)
        readings = _as_asked(wanted, read_signals(whole, headers, _listed(wanted), asked, final_url, text=text))
        change = SAME if text and readings.text == text else _compare(wanted, readings)
    # A text that is mostly the one before is the page, whatever it looks like: some are about logins, or are one.
    is_unlike = is_other if change is None else _is_mostly_new(change) or _is_emptied(wanted, readings)
    is_doubtful = before is None or is_unlike or wanted.status == ACCEPTED
    suspicion = _suspicion(whole, body, wanted, headers, final_url) if is_doubtful else None
    problem = "; ".join(readings.problems) if readings is not None else ""
    return PageReading(readings, change, suspicion, problem=problem or None)


def read_other_kind(
    body: bytes, content_type: str | None, headers: Headers, final_url: str, *, wanted: ReadingContext
) -> PageReading:
    """Read what is no page: its bytes or entries are its content, and it may list other pages."""
    lists = read_lists(body, content_type, wanted.url, final_url)
    listing, problem = (None, None) if lists is None else (lists.listing, _of_lists(lists))
    if not wants_signals(wanted.policy):
        return PageReading(listing=listing, problem=problem)
    readings = _as_asked(wanted, read_other(body, headers, _listed(wanted), asked_of(wanted.policy)))
    if lists is not None:
        # A list is written anew all the time, and says when: its content is what it lists.
        readings = msgspec.structs.replace(readings, content=content_of_entries(lists.texts))
    return PageReading(readings, _compare(wanted, readings), listing=listing, problem=problem)


def _of_lists(lists: Lists) -> str:
    count = len(lists.texts)
    entries = f"read as a {lists.listing.name} of {count} {'entry' if count == 1 else 'entries'}"
    return entries if lists.problem is None else f"{entries}; {lists.problem}"


def read_text(body: bytes, content_type: str | None, policy: PageSettings, *, nosniff: bool) -> str:
    """Read what people read of a page; "" where nobody can."""
    try:
        whole = parse_whole(body, content_type, nosniff=nosniff)
        return read_content(whole, policy.look_at, policy.ignore).text if whole is not None else ""
    except (TooComplex, ValueError):
        return ""


def asked_of(policy: PageSettings, *, own_ignore: bool = False) -> Asked:
    """Give what the user says of where a page's content is."""
    return Asked(policy.look_at, policy.ignore, own_ignore)


def _listed(wanted: ReadingContext) -> dict[str, str]:
    return wanted.beside.listed if wanted.beside is not None else NOTHING.listed


def _as_asked(wanted: ReadingContext, readings: Readings) -> Readings:
    """Name what was read by the request, too."""
    if not wanted.asked_as:
        return readings
    return msgspec.structs.replace(readings, read_as=f"{readings.read_as}{wanted.asked_as}")


def _text_known(wanted: ReadingContext) -> int:
    """Give the digest of the text that is known, where its content could be compared with today's."""
    known = wanted.beside.known if wanted.beside is not None else None
    if known is None or known.content is None or not known.text:
        return 0
    return known.text if known.read_as == f"{read_as(asked_of(wanted.policy))}{wanted.asked_as}" else 0


def _compare(wanted: ReadingContext, readings: Readings) -> ContentChange | None:
    """Compare the content with the one before, as far as both were read alike."""
    beside = wanted.beside
    before = beside.known if beside is not None else None
    if before is None or before.read_as != readings.read_as or before.content is None:
        return None
    if readings.content is None:
        return GONE
    return compare_contents(before.content, readings.content, muted_keys(beside, wanted.at))


def _suspicion(whole: Whole, body: bytes, wanted: ReadingContext, headers: Headers, final_url: str) -> str | None:
    if wanted.policy.suspects == "accept":
        return None
    found = find_suspicion(whole, body=body, status=wanted.status, url=wanted.url, final_url=final_url, headers=headers)
    return f"{found.kind}: {found.evidence}" if found is not None else None


def _is_mostly_new(change: ContentChange | None) -> bool:
    return change is not None and change.is_change and change.share > _MOSTLY


def _is_emptied(wanted: ReadingContext, readings: Readings | None) -> bool:
    """Say whether a page has no text now and had some before; comparing finds nothing new on an empty page."""
    if readings is None or readings.content is None or readings.content.text:
        return False
    known = wanted.beside.known if wanted.beside is not None else None
    return known is not None and known.content is not None and known.content != readings.content.fingerprint


def _lost_some(before: FieldValues | None, latest: PageState) -> bool:
    """Say whether a field is gone: what stands in a page's place declares none of its own."""
    if before is None or None not in latest.values:
        return False
    return None in [new for old, new in zip(before, latest.values, strict=True) if old is not None]
