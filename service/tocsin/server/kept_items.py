"""The items kept of a page: as JSON, as a document of a format, and why there are none. Pure."""

from __future__ import annotations

import dataclasses
import re
from datetime import timedelta
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from typing import Final, Literal, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from tocsin import __version__
from tocsin.errors import UsageError
from tocsin.model import EPOCH, CheckOutcome, FailureKind, Instant, PageItems, PageRow, to_rfc3339
from tocsin.model.records.history import ItemsDocument, KeptItems
from tocsin.server.problems import Problem
from tocsin.spec.extract import Form
from tocsin.spec.microdata.formats import ALL
from tocsin.spec.microdata.formats.catalogue import FORMATS, Format, available_formats, convert, find_format
from tocsin.spec.microdata.formats.items_json import write_items
from tocsin.spec.microdata.reading.packing import CUT, MOST_BYTES, MOST_ITEMS, SHORTENED, unpack

# Values of headers: validators of conditional requests (RFC 9110, section 13), and texts in ASCII. Pure.


# How compressing proxies change a tag: into a weak one (nginx), or with a suffix (Apache).
_OF_PROXIES: Final = re.compile(r'^W/|-(?:gzip|br|zstd)(?="$)')
# Proxies refuse headers of some kilobytes in all.
_LONGEST_HEADER: Final = 500
_ASCII_SIGNS: Final = {
    0x00A0: " ",
    0x2013: "-",
    0x2014: "-",
    0x2018: "'",
    0x2019: "'",
    0x201C: '"',
    0x201D: '"',
    0x2026: "...",
    0x2192: "->",
}
_WHITE_SPACE: Final = re.compile(r"[\x00-\x20\x7f]+")
_TO_ESCAPE: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})|[^\x20-\x7e]")


def is_known(
    if_none_match: str | None,
    if_modified_since: str | None,
    tag: str,
    changed_s: int | None,
    *,
    is_exact: bool = False,
) -> bool:
    """Say whether the copy of a reader is up to date; If-None-Match takes precedence over If-Modified-Since.

    tag        the current ETag
    changed_s  the current Last-Modified, in seconds since 1970; None without one
    is_exact   only the same date counts, since Last-Modified may go back: after the clock was set back
    """
    if if_none_match is not None:
        said = {_bare(each.strip()) for each in if_none_match.split(",")}
        return "*" in said or _bare(tag) in said
    if if_modified_since is None or changed_s is None:
        return False
    try:
        said_s = parsedate_to_datetime(if_modified_since).timestamp()
    except (ValueError, OverflowError):
        return False
    return said_s == changed_s if is_exact else said_s >= changed_s


def _bare(tag: str) -> str:
    return _OF_PROXIES.sub("", tag)


def to_header(text: str) -> str:
    """Write a text in at most 500 letters of ASCII, for a header.

    Other letters are written as their bytes in UTF-8, each as `%C3`, and so is a percent sign that looks like the
    start of one: to decode it as in a URL gives the text.
    """
    # Escaping makes a text longer, so that what is beyond the limit before it need not be escaped.
    written = _WHITE_SPACE.sub(" ", text.translate(_ASCII_SIGNS)).strip()[:_LONGEST_HEADER]
    escaped = {found.start(): quote(found[0], safe="", errors="replace") for found in _TO_ESCAPE.finditer(written)}
    pieces: list[str] = []
    left = _LONGEST_HEADER
    for place, letter in enumerate(written):
        piece = escaped.get(place, letter)
        left -= len(piece)
        if left < 0:
            break
        pieces.append(piece)
    return "".join(pieces)


ItemNumber: TypeAlias = int | Literal["all"] | None  # The number of an item, from 1; None: the default of the format.

MORE: Final = f"the page has more than is kept: at most {MOST_ITEMS:,} items, of {MOST_BYTES >> 10} KiB together"
# Formats for which the items of a page are enough.
KEPT_FORMATS: Final = tuple(name for name, each in FORMATS.items() if each.of_items)

# A problem may quote the page.
_LONGEST_PROBLEM: Final = 500
_NO_ADDRESS: Final = "about:blank"


class ItemFormat(Struct, frozen=True):
    """A format, a profile of it and the item to write."""

    format: Format
    profile: str
    item: ItemNumber

    def tag(self, kept: PageItems, title: str | None) -> str:
        """Compute the ETag of the document of these items, without converting them.

        title  as in `write_document`
        """
        # The program's version is part of it, since a later version may write the same items otherwise.
        asked = repr((__version__, self.format.name, self.profile, self.item, title, kept.first_at))
        digest = blake2b(asked.encode("utf-8", "surrogatepass") + kept.packed, digest_size=12)
        return f'"{digest.hexdigest()}"'


class ItemDocument(Struct, frozen=True):
    """Kept items written in a format.

    left_out  the parts left out, and why, in words
    notes     other remarks on the document, in words
    empty     for a document without content: the content searched for, and what the page has instead
    """

    body: bytes
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    empty: str = ""


def choose_format(name: str, profile: str | None, item: ItemNumber, url: str) -> ItemFormat:
    """Check what a reader asks for, and fill in the defaults of the format.

    url  of the page, for the command that the error names
    Raises UsageError for an unknown format, and for a profile or an item that the format does not have; Problem for
    one that the service cannot write, since it keeps only the items of a page.
    """
    if name not in tuple(Form):
        chosen = find_format(name)
        named = chosen.profile(profile)
        if named not in chosen.whole:
            if item is not None and item != ALL and chosen.counted is None:
                raise UsageError(f"{name} always gives all items; leave the item out")
            return ItemFormat(chosen, named, chosen.default if item is None else item)
    asked = name if profile is None else f"{name} --profile {profile}"
    raise Problem(
        404,
        "not-kept",
        "This format is not served",
        f"{name} is made of the whole page, of which the service keeps only the items",
        mend=f"run: tocsin extract --as {asked} {url}; the service serves: {', '.join(KEPT_FORMATS)}",
    )


def write_document(kept: PageItems, asked: ItemFormat, title: str | None) -> ItemDocument:
    """Write kept items in a format.

    title  of the page, for items that do not say it
    Takes up to 80 ms for an honest page and 0.5 s for a hostile one (1,000 items or 256 KiB): call it on a thread.
    Raises Problem where the page has nothing of the kind, DamagedItems, TooComplex.
    """
    data = unpack(kept.packed)
    if data.address is None:
        # A page without items is kept without its address; a document without items does not show it.
        data = dataclasses.replace(data, address=_NO_ADDRESS, title=data.title or title)
    # DTSTAMP is the time of the first reading, so that unchanged items give an unchanged calendar.
    now = EPOCH + timedelta(microseconds=kept.first_at)
    found = convert(asked.format.name, data, profile=asked.profile, item=asked.item, now=now)
    text = found.empty if found.text is None else found.text
    if text is None:
        why = found.absence or "; ".join(found.problems) or f"the page has no items that {asked.format.name} can show"
        is_beyond = asked.item != ALL and 0 < found.found < (asked.item or 0)
        mend = f"choose an item from 1 to {found.found}" if is_beyond else "see its items: GET /api/v1/pages/{id}/items"
        raise Problem(404, "nothing-of-the-kind", "The page has nothing of the kind", _shorten(why), mend=mend)
    left_out = [each for each in found.problems if "left out" in each or each in {CUT, SHORTENED}]
    notes = [each for each in found.problems if each not in left_out]
    empty = found.absence or "" if found.text is None else ""
    return ItemDocument(
        text.encode("utf-8", "replace"), tuple(map(_shorten, left_out)), tuple(map(_shorten, notes)), _shorten(empty)
    )


def tell_items(page: PageRow, kept: PageItems | None, *, keeps: bool) -> KeptItems:
    """Show the kept items, with the reason if there are none, or not all.

    keeps  the service keeps items
    Raises DamagedItems.
    """
    why = None if kept is not None and kept.count else why_no_items(page, is_read=kept is not None, keeps=keeps)
    if kept is None:
        return KeptItems(
            at=None, since=None, count=0, cut=False, no_text=page.flags.noindex, why=why, items=[], formats=[]
        )
    data = unpack(kept.packed)
    written = write_items(data)
    reasons = (why, MORE if kept.is_cut else None, *written.problems)
    return KeptItems(
        at=to_rfc3339(kept.at),
        since=to_rfc3339(kept.first_at),
        count=kept.count,
        cut=kept.is_cut or bool(written.items.get("cut")),
        no_text=page.flags.noindex,
        why="; ".join(filter(None, reasons)) or None,
        items=written.items["items"],
        formats=[
            ItemsDocument(
                form=each.name,
                label=each.label,
                media_type=each.media_type,
                profiles=list(each.profiles),
                url=f"/api/v1/pages/{page.id}/extract/{each.name}",
            )
            for each in map(FORMATS.__getitem__, available_formats(data))
        ],
    )


def why_no_items(page: PageRow, *, is_read: bool, keeps: bool) -> str:
    """Say why no items are kept of a page.

    is_read  the page was read, and had none
    keeps    the service keeps items
    """
    if page.flags.noindex:
        return "the page asks not to be indexed (noindex): none of its data is kept or given away"
    if not keeps:
        return "the service keeps none (items.keep = false)"
    if page.flags.not_html:
        return "the page was neither HTML nor XHTML when it was read last"
    if is_read:
        return "the page has none"
    if page.last.received_at is None:
        return "the page was not received yet"
    return "the page asks that no copy is kept (noarchive), or none was read yet: that is done when it changes next"


def why_no_changes(page: PageRow, kept: PageItems | None, *, keeps: bool) -> str:
    """Say why no change of a page's items is known.

    kept   the items that later ones are compared with
    keeps  the service keeps items
    """
    if kept is None or not kept.count:
        return why_no_items(page, is_read=kept is not None, keeps=keeps)
    if not keeps:
        return "the service keeps no items any more (items.keep = false), so that nothing can be compared"
    return f"the page's items are as they were read first, at {to_rfc3339(kept.first_at)}"


def why_stale(page: PageRow, at: Instant) -> str | None:
    """Say in a word why kept items may be behind their page; None where the last check received it.

    at  when the items were read
    """
    if page.paused or page.due.why == "off":
        return "paused" if page.paused else "off"
    if page.last.checked_at is None or page.last.checked_at <= at:
        return None
    report = page.last.report or {}
    outcome = report.get("outcome")
    if outcome in (CheckOutcome.UNREACHABLE, CheckOutcome.DEFERRED):
        kind, _ = report.get("error") or (outcome, "")
        status = report.get("status")
        return f"{kind}-{status}" if kind == FailureKind.STATUS and status else str(kind)
    return outcome if outcome in (CheckOutcome.DISALLOWED, CheckOutcome.SUSPECT) else None


def _shorten(text: str) -> str:
    """Shorten a text to 500 letters, without halves of surrogate pairs, which UTF-8 cannot encode."""
    return text[:_LONGEST_PROBLEM].encode("utf-8", "replace").decode()
