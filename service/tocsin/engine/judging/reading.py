"""What is read of an answer beside the twelve fields: signals, suspicion, and dates of listed pages. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_intdigest

from tocsin.engine.judging.noise import muted_keys
from tocsin.engine.judging.signals import NOTHING, SAME, is_never_read, is_read_for_signals, wants_signals
from tocsin.errors import BadUrl, TooComplex
from tocsin.model import ACCEPTED, Listing
from tocsin.spec.feeds import read_feed
from tocsin.spec.html.decoding import prescan
from tocsin.spec.html.page import Kind
from tocsin.spec.html.relevant import find_relevant
from tocsin.spec.html.search import find, holds_any
from tocsin.spec.html.urls import host_and_origin, watch_url
from tocsin.spec.html.whole import parse_whole
from tocsin.spec.shells import is_shell
from tocsin.spec.signals.content import compare_contents, content_of_entries, read_content
from tocsin.spec.signals.fingerprint import ContentChange
from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.reading import (
    NO_TEXT,
    ContentSelectors,
    KnownText,
    Readings,
    read_as,
    read_headers_only,
    read_other,
    read_signals,
)
from tocsin.spec.sitemaps import SitemapKind, SitemapReader
from tocsin.spec.stand_ins import ComparedContents, find_stand_in

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from tocsin.model import FieldValues, Instant, SignalContext
    from tocsin.settings import PageSettings
    from tocsin.spec.feeds import ParsedFeed
    from tocsin.spec.html.whole import Whole
    from tocsin.spec.sitemaps import Location
    from tocsin.spec.topper.state import PageState


_MARKUP: Final = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?+[\x00\t\n\r ]*+<|\x1f\x8b")
_START_BYTES: Final = 1024
# URLs that the standard serialises unchanged, as most in lists are: recognised in a tenth of the time of parsing.
_CANONICAL: Final = re.compile(
    r"https?://(?=[^/]{1,200}/)(?:[a-z0-9]++(?:-[a-z0-9]++)*+\.)++[a-z]{2,}+(?:/(?!\.)[A-Za-z0-9_~.-]*+)++"
    r"(?:\?[A-Za-z0-9_~.=&/-]*+)?+"
)
_LONGEST_CANONICAL: Final = 2000
_LONGEST_DATE: Final = 100
# Characters of all URLs of a sitemap: a fifth of a MiB, compressed, can expand to fifty MiB.
_MOST_LETTERS: Final = 16_000_000
_TOPPER: Final = (b"topper",)
_MOST_OF_A_SHELL: Final = 5_000
SHELL: Final = (
    "built by scripts: its text is made by scripts, which are not run, so that changes of it are not seen; "
    "read it in a browser: tocsin watch set URL --fetch browser"
)
STILL_SHELL: Final = (
    "built by scripts, and empty in the browser, too; say when it is ready: "
    'tocsin watch set URL --ready "css: SELECTOR OF ITS TEXT"'
)
_UNREADABLE: Final = "unreadable"
# The content disappeared.
GONE: Final = ContentChange(is_change=True, share=1.0, blocks=1, removed=1)


class Lists(NamedTuple):
    """The entries of a feed or sitemap.

    listing  dates of pages
    texts    its entries as people read them: its content
    problem  why reading stopped early
    """

    listing: Listing
    texts: tuple[str, ...]
    problem: str | None = None


def read_lists(body: bytes, content_type: str | None, url: str, final_url: str) -> Lists | None:
    """Read a feed, a sitemap or an index of sitemaps; None for anything else. Never raises.

    url        as watched
    final_url  that answered: the base of a feed's relative URLs
    A feed may list any page; a sitemap only pages of the requested or the answering host (sitemaps.org, "Sitemap file
    location"). Of duplicates the first entry counts. At most 50,000 entries are read. Dates have the form of signals
    (`instants.to_value`); entries without one are not in the listing.
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
    """Drop entries beyond the bound on characters, as written in a URL: one that is not ASCII takes up to nine."""
    letters = accumulate(len(place.url) * (1 if place.url.isascii() else 9) for place in places)
    return [place for place, length in zip(places, letters, strict=True) if length <= _MOST_LETTERS]


def _texts_of(feed: ParsedFeed) -> tuple[str, ...]:
    """Return the text of each entry, or its URL if it has none."""
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
    """Return a URL as it is watched; None if it cannot be."""
    if len(written) <= _LONGEST_CANONICAL and _CANONICAL.fullmatch(written):
        return written
    try:
        return watch_url(written).url
    except BadUrl:
        return None


if TYPE_CHECKING:
    Headers: TypeAlias = tuple[tuple[str, str], ...]


class ReadingContext(Struct, frozen=True, gc=False):
    """What to read of a page beside its twelve fields, and what to compare it with.

    beside      known of the page so far
    url         as watched
    status      of the answer
    asked_as    names the settings that shaped the request (see `policies.asked_as`)
    at          time of the request, which unmutes noise that was quiet for long and tells dates of the visit; None
                keeps all noise muted
    own_ignore  the setting `ignore` belongs to the page itself
    """

    policy: PageSettings
    beside: SignalContext | None
    url: str
    status: int
    asked_as: str = ""
    at: Instant | None = None
    own_ignore: bool = False


class AnswerReading(NamedTuple):
    """What was read of an answer.

    readings   of its signals; None if they were not read
    change     of its content; None if it was not compared
    suspicion  kind of page that replaced the watched one, with the evidence
    listing    dates of other pages that a feed or sitemap gives
    problem    for people
    is_shell   scripts make the page's content; None if that was not looked at
    """

    readings: Readings | None = None
    change: ContentChange | None = None
    suspicion: str | None = None
    listing: Listing | None = None
    problem: str | None = None
    is_shell: bool | None = None


UNREAD: Final = AnswerReading()


def parse_if_silent(
    body: bytes, content_type: str | None, found: tuple[Kind, tuple[str, ...]], wanted: ReadingContext | None
) -> Whole | None:
    """Parse a page whole that is bound to be read so, since it cannot have topper elements; None for another one."""
    if wanted is None or not wants_signals(wanted.policy) or found[0] is not Kind.HTML:
        return None
    # As nearly all write it: found at the page's beginning, before the whole page is put into lower case.
    if find(body, _TOPPER[0]) >= 0 or holds_any(body, _TOPPER):
        return None
    try:
        return parse_whole(body, content_type, found=found)
    except TooComplex:
        return None


def _known_text(wanted: ReadingContext) -> KnownText:
    """Return the digests of the known text if it was read in today's way."""
    known = wanted.beside.known if wanted.beside is not None else None
    if (
        known is None
        or known.content is None
        or known.read_as != f"{read_as(asked_of(wanted.policy))}{wanted.asked_as}"
    ):
        return NO_TEXT
    return KnownText(known.text, known.blocks)


def _find_mark(body: bytes, shape: str, fields: FieldValues) -> int:
    """Return the mark of a page, see `PageKnowledge`; 0 if it has none.

    shape   names all but the body that says how it is read
    fields  of its state: the mark holds for no other one, since a state may have been read from a later answer
    """
    relevant = find_relevant(body)
    if relevant is None:
        return 0
    read_so = f"{shape}|{prescan(body)}|{fields}".encode(errors="surrogatepass")
    return xxh3_64_intdigest(read_so, xxh3_64_intdigest(relevant)) >> 1 or 1


def recognise(
    body: bytes, shape: str, kind: Kind, headers: Headers, *, wanted: ReadingContext, before: FieldValues
) -> AnswerReading:
    """Read an answer whose page has the known mark: only its headers and lists can say something new; else UNREAD.

    shape   names all but the body that says how it is read
    before  the stored fields
    """
    known = wanted.beside.known if wanted.beside is not None else None
    if known is None or known.mark <= 0 or kind is not Kind.HTML or wanted.status == ACCEPTED:
        return UNREAD
    if not is_read_for_signals(wanted.policy, before) or not _known_text(wanted).text:
        return UNREAD
    if _find_mark(body, shape, before) != known.mark:
        return UNREAD
    as_before = Readings(known.read_as, known.values, text=known.text, mark=known.mark)
    return AnswerReading(read_headers_only(as_before, headers, _listed(wanted)), SAME)


def keep_mark(
    body: bytes, shape: str, kind: Kind, seen: AnswerReading, *, wanted: ReadingContext, fields: FieldValues
) -> AnswerReading:
    """Add the mark of a page whose text is the known one; most pages never need it.

    A page that has one and was not recognised has markup that differs and can count, unless it was edited: then marks
    are of no use.
    """
    known = wanted.beside.known if wanted.beside is not None else None
    if known is None or kind is not Kind.HTML or seen.readings is None or seen.change is None:
        return seen
    mark = min(known.mark, 0)
    if known.mark > 0 and not seen.change.is_change:
        mark = -1
    elif not known.mark and seen.readings.text and seen.readings.text == _known_text(wanted).text:
        mark = _find_mark(body, shape, fields) or -1
    return seen._replace(readings=msgspec.structs.replace(seen.readings, mark=mark)) if mark else seen


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
    whole: Whole | None = None,
) -> AnswerReading:
    """Read a page's signals and content, if they are wanted or needed to recognise a suspect.

    found   result of `find_kind`
    before  the stored fields, None if nothing is stored
    latest  the state just read
    whole   the page, if it was parsed already
    """
    is_other = before is not None and before != latest.values
    is_read = is_read_for_signals(wanted.policy, latest.values)
    if not is_read and not (is_other and _lost_some(before, latest)) and wanted.status != ACCEPTED:
        return UNREAD
    try:
        whole = whole or parse_whole(body, content_type, found=found)
    except TooComplex as exc:
        # Readings under a name of their own say that the page was tried, so that it is not parsed at every check.
        readings = Readings(_UNREADABLE, {}) if is_read and is_never_read(wanted.beside) else None
        return AnswerReading(readings, problem=f"too complex to be read whole: {exc}")
    if whole is None:
        return UNREAD
    readings = change = None
    if is_read:
        asked, known = asked_of(wanted.policy, own_ignore=wanted.own_ignore), _known_text(wanted)
        at = None if wanted.at is None else datetime.fromtimestamp(wanted.at / 1_000_000, UTC)
        received = None if at is None else (at, at)
        read = read_signals(whole, headers, _listed(wanted), asked, final_url, known=known, received=received)
        readings = _as_asked(wanted, read)
        is_known = (known.text and known.text == readings.text) or (known.blocks and known.blocks == readings.blocks)
        change = SAME if is_known else _compare(wanted, readings)
    is_doubtful = before is None or wanted.status == ACCEPTED or (is_other if change is None else change is not SAME)
    suspicion = _suspicion(whole, body, wanted, headers, final_url, readings, change) if is_doubtful else None
    problems = list(readings.problems) if readings is not None else []
    shell = None
    if readings is not None and readings.content is not None:
        # Most pages have more text than any shell, with its menus.
        shell = len(readings.content.text) <= _MOST_OF_A_SHELL and suspicion is None and is_shell(whole)
        if shell:
            problems.append(STILL_SHELL if wanted.policy.fetch == "browser" else SHELL)
    return AnswerReading(readings, change, suspicion, problem="; ".join(problems) or None, is_shell=shell)


def read_other_kind(
    body: bytes, content_type: str | None, headers: Headers, final_url: str, *, wanted: ReadingContext
) -> AnswerReading:
    """Read an answer that is not HTML: its bytes or entries are its content, and it may list other pages."""
    lists = read_lists(body, content_type, wanted.url, final_url)
    listing, problem = (None, None) if lists is None else (lists.listing, _of_lists(lists))
    if not wants_signals(wanted.policy):
        return AnswerReading(listing=listing, problem=problem)
    # Lists are regenerated all the time, with a new date in their bytes: only their entries are content.
    text_type = None if lists is not None else content_type
    readings = _as_asked(wanted, read_other(body, text_type, headers, _listed(wanted), asked_of(wanted.policy)))
    if lists is not None:
        readings = msgspec.structs.replace(readings, content=content_of_entries(lists.texts))
    elif readings.problems:
        problem = "; ".join(readings.problems)
    return AnswerReading(readings, _compare(wanted, readings), listing=listing, problem=problem)


def _of_lists(lists: Lists) -> str:
    count = len(lists.texts)
    entries = f"read as a {lists.listing.name} of {count} {'entry' if count == 1 else 'entries'}"
    return entries if lists.problem is None else f"{entries}; {lists.problem}"


def read_text(body: bytes, content_type: str | None, policy: PageSettings, *, nosniff: bool) -> str:
    """Read the text of a page that people see; "" if it cannot be read."""
    try:
        whole = parse_whole(body, content_type, nosniff=nosniff)
        return read_content(whole, policy.look_at, policy.ignore).text if whole is not None else ""
    except (TooComplex, ValueError):
        return ""


def asked_of(policy: PageSettings, *, own_ignore: bool = False) -> ContentSelectors:
    """Return the user's selectors of a page's content."""
    return ContentSelectors(policy.look_at, policy.ignore, own_ignore)


def _listed(wanted: ReadingContext) -> dict[str, str]:
    return wanted.beside.listed if wanted.beside is not None else NOTHING.listed


def _as_asked(wanted: ReadingContext, readings: Readings) -> Readings:
    """Add the shape of the request to the name of the readers."""
    if not wanted.asked_as:
        return readings
    return msgspec.structs.replace(readings, read_as=f"{readings.read_as}{wanted.asked_as}")


def _compare(wanted: ReadingContext, readings: Readings) -> ContentChange | None:
    """Compare the content with the one before, if both were read in the same way."""
    beside = wanted.beside
    before = beside.known if beside is not None else None
    if before is None or before.read_as != readings.read_as or before.content is None:
        return None
    if readings.content is None:
        return GONE
    return compare_contents(before.content, readings.content, muted_keys(beside, wanted.at))


def _suspicion(
    whole: Whole,
    body: bytes,
    wanted: ReadingContext,
    headers: Headers,
    final_url: str,
    readings: Readings | None,
    change: ContentChange | None,
) -> str | None:
    if wanted.policy.suspects == "accept":
        return None
    known = wanted.beside.known if wanted.beside is not None else None
    contents = None
    if readings is not None and change is not None and known is not None and known.content is not None:
        contents = ComparedContents(known.content, readings.content, change)
    found = find_stand_in(
        whole,
        body=body,
        url=wanted.url,
        final_url=final_url,
        status=wanted.status,
        headers=headers,
        contents=contents,
    )
    return f"{found.kind}: {found.evidence}" if found is not None else None


def _lost_some(before: FieldValues | None, latest: PageState) -> bool:
    """Tell whether a field is gone, as on a page that replaced the watched one."""
    if before is None or None not in latest.values:
        return False
    return None in [new for old, new in zip(before, latest.values, strict=True) if old is not None]
