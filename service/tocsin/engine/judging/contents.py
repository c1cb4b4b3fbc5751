"""What is kept of a page beside its state: its text, the copies that it names, its microdata. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tocsin.engine.judging.assess import Assessment, is_read_as_before
from tocsin.engine.judging.judge import Judgement, Occasion
from tocsin.errors import TooComplex
from tocsin.model import (
    NO_COPY,
    NO_ITEMS,
    NOTHING_LEARNT,
    CheckOutcome,
    CopyLink,
    Instant,
    JsonObject,
    KeptPicture,
    LearntContents,
    PageItems,
    PageKnowledge,
    PageTask,
    ReceivedPage,
    SeenPicture,
    Snapshot,
    fit_title,
    to_rfc3339,
)
from tocsin.spec.differences.compare import compare_texts, narrow, whole_lines
from tocsin.spec.differences.excerpt import excerpt, show_by_word
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.html.page import read_whole_page
from tocsin.spec.links.copies import may_name_copies
from tocsin.spec.microdata.changes.comparing import compare_items, show_changes
from tocsin.spec.microdata.reading.items import may_hold_items, read_items
from tocsin.spec.microdata.reading.packing import NOTHING, pack, unpack
from tocsin.spec.robots import Directives
from tocsin.spec.signals.texts import unpack_text
from tocsin.spec.topper.dates import parse_token

# A base URL of eight kilobytes could make a thousand short links long.
_MOST_CHARACTERS = 2**20
# No registered link type is nearly as long.
_LONGEST_REL = 256
# 1970-01-01 in seconds since the year 0.
_EPOCH_S = 62_167_219_200
# Characters compared, without the common beginning and end of both texts: an excerpt shows far fewer.
_MOST_COMPARED = 2**18


def find_copies(
    watched: str, final_url: str, body: bytes, content_type: str | None, headers: Sequence[tuple[str, str]]
) -> tuple[CopyLink, ...]:
    """Read which copies a page names, of itself and of pages that it links to (MS-13).

    watched    URL that the page is watched by; copies of the page itself are recorded for this one
    final_url  its URL after redirects
    headers    of the answer, names in lower case
    Returns at most 1,000 copies with a million characters of URLs, and none for a page that is too complex to parse.
    """
    links, sniffing = values_of(headers, "link"), values_of(headers, "x-content-type-options")
    if not links and not may_name_copies(body):
        return ()
    from tocsin.spec.links.copies import CopyKind, read_copies  # noqa: PLC0415 - few pages name any, and it takes long

    found = []
    characters = 0
    for copy in read_copies(body, content_type, final_url, links, nosniff=is_nosniff(sniffing)):
        is_own = copy.kind is not CopyKind.MSET and copy.target == final_url.partition("#")[0]
        target = watched if is_own else copy.target
        characters += len(target) + len(copy.url)
        if characters > _MOST_CHARACTERS:
            break
        rel = copy.rel if copy.rel is not None and len(copy.rel) <= _LONGEST_REL else None
        found.append(CopyLink(target, copy.url, copy.datetime, made_at(copy.datetime), rel, copy.kind.value))
    return tuple(found)


def made_at(datetime: str | None) -> Instant | None:
    """Return the instant of a copy's date, which copies are sorted by; a date alone is its first moment, UTC."""
    interval = parse_token(datetime) if datetime is not None else None
    return (interval.start.seconds - _EPOCH_S) * 1_000_000 if interval is not None else None


def values_of(headers: Iterable[tuple[str, str]], name: str) -> tuple[str, ...]:
    """Return the values of all headers of this (lower-case) name, in order."""
    return tuple([value for key, value in headers if key == name])


def may_keep(said: Directives | None) -> bool:
    """Tell whether a page allows copies of its text (LM-45); None, of an unread body, forbids nothing new."""
    return said is None or (said.index and said.archive)


def to_keep(said: Directives | None, snapshot: Snapshot | None) -> Snapshot | None:
    """Return the text to keep; `NO_COPY`, which deletes the texts kept so far, where the page forbids copies."""
    return snapshot if may_keep(said) else NO_COPY


class TextPair:
    """Two packed texts of a page, to be compared.

    characters  of both together that are compared, which tells how long it may take
    Raises DamagedText.
    """

    def __init__(self, before: bytes, latest: bytes) -> None:
        old, new = whole_lines(unpack_text(before)), whole_lines(unpack_text(latest))
        self._was, self._now, self._is_cut = narrow(old, new, _MOST_COMPARED)
        self._size, self._lines = len(old) + len(new), new.count("\n")
        self.characters = len(self._was) + len(self._now)

    def difference(self) -> JsonObject | None:
        """Show the difference as an event does; None if people see none."""
        difference = compare_texts(self._was, self._now, by="words")
        shown = excerpt(difference)
        if not (shown["added"] or shown["removed"]):
            return None
        if self._is_cut:
            shown["cut"] = True
        unchanged = 0 if self._is_cut else self._lines - self._now.count("\n")
        return shown | show_by_word(difference, self._size, unchanged)


def difference_data(before: bytes, latest: bytes) -> JsonObject | None:
    """Show the difference of two packed texts as an event does; None if people see none. Raises DamagedText."""
    return TextPair(before, latest).difference()


def find_items(
    final_url: str,
    body: bytes,
    content_type: str | None,
    headers: Sequence[tuple[str, str]],
    said: Directives | None,
    at: Instant,
) -> PageItems:
    """Read a page's microdata, ready to be kept; `NO_ITEMS` where the page forbids copies (LM-45).

    final_url  its URL after redirects
    headers    of the answer, names in lower case
    said       its directives to robots
    at         when it was received
    Raises TooComplex for a page that is too complex to parse.
    """
    if not may_keep(said):
        return NO_ITEMS
    packed = NOTHING
    if may_hold_items(body):
        nosniff = is_nosniff(values_of(headers, "x-content-type-options"))
        packed = pack(read_items(body, content_type, address=final_url, nosniff=nosniff))
    return PageItems(at, packed.digest, packed.packed, packed.count, packed.is_cut)


def difference_of_items(before: PageItems, latest: PageItems) -> JsonObject | None:
    """Show how items differ as an event does; None where they do not. Raises DamagedItems."""
    if before.digest == latest.digest:
        return None
    changes = compare_items(unpack(before.packed), unpack(latest.packed))
    return show_changes(changes, since=to_rfc3339(before.at))


def learn(
    occasion: Occasion,
    received: ReceivedPage,
    assessment: Assessment,
    judged: Judgement,
    known: PageKnowledge | None,
    now: Instant,
) -> LearntContents:
    """Gather what a check learnt of a page that it received.

    known  of its signals, after this check
    now    when it was received
    """
    if received.not_modified:
        # There is no body to learn from.
        return NOTHING_LEARNT if known is None else LearntContents(known)
    listing = None if judged.outcome is CheckOutcome.SUSPECT else assessment.listing
    copies = _copies_of(occasion.task, received, judged)
    picture = _picture_of(received.seen, assessment, judged)
    if assessment.directives is None:
        # Equal bytes are not read again. But items kept earlier go, where the user no longer wants them kept.
        items = None if occasion.keeps.items else NO_ITEMS
        return LearntContents(known, None, listing, copies, items, picture=picture)
    items = _items_of(occasion, received, assessment, judged, now)
    title = _title_of(received, assessment, judged)
    return LearntContents(known, _text_of(assessment, judged), listing, copies, items, title, picture)


def _picture_of(seen: SeenPicture | None, assessment: Assessment, judged: Judgement) -> KeptPicture | None:
    """Choose whether later pictures are compared with this one: after a change, or where there was none before.

    Otherwise the one before stays, so that what changes little by little is told in the end.
    """
    if seen is None or seen.kept is None or judged.outcome in (CheckOutcome.TOO_SOON, CheckOutcome.SUSPECT):
        return None
    is_first = seen.kept.before is None
    # Of equal bytes only a page that allowed it has a picture already.
    if is_first if assessment.directives is None else not may_keep(assessment.directives):
        return None
    # Signals that were read for the first time, or in another way, are the new baseline.
    begins = judged.followed.known is not None and judged.followed.weighed is None
    return seen.kept if is_first or begins or judged.verdict is not None else None


def _title_of(received: ReceivedPage, assessment: Assessment, judged: Judgement) -> str | None:
    """Read a page's title at its first check; renderings read it later."""
    if judged.outcome is not CheckOutcome.FIRST or not may_keep(assessment.directives):
        return None
    if assessment.title is not None:
        return fit_title(assessment.title)
    response = received.response
    nosniff = is_nosniff(values_of(response.headers, "x-content-type-options"))
    try:
        return fit_title(read_whole_page(response.body, response.header("content-type"), nosniff=nosniff).title)
    except TooComplex:
        return None


def _text_of(assessment: Assessment, judged: Judgement) -> Snapshot | None:
    if judged.outcome in (CheckOutcome.TOO_SOON, CheckOutcome.SUSPECT):
        return None
    return to_keep(assessment.directives, judged.followed.snapshot)


def _copies_of(task: PageTask, received: ReceivedPage, judged: Judgement) -> tuple[CopyLink, ...] | None:
    """Read which copies a page names, at its first check and whenever older readers or other settings read it last.

    Renderings read them, too; other checks need not.
    """
    if judged.outcome is CheckOutcome.SUSPECT:
        return None
    if task.state is None:
        is_known = task.last.set_at is not None and judged.outcome is not CheckOutcome.FIRST
    else:
        is_known = is_read_as_before(task.last.body_digest, received.asked_as)
    if is_known:
        return None
    response = received.response
    content_type = response.header("content-type")
    return find_copies(task.url, received.final_url, response.body, content_type, response.headers)


def _items_of(
    occasion: Occasion, received: ReceivedPage, assessment: Assessment, judged: Judgement, now: Instant
) -> PageItems | None:
    """Read a page's microdata at its first check, so that its renderings can compare; later checks only delete it."""
    task, said = occasion.task, assessment.directives
    if judged.outcome in (CheckOutcome.TOO_SOON, CheckOutcome.SUSPECT):
        return None
    is_first = judged.outcome is CheckOutcome.FIRST
    if not occasion.keeps.items or (said is not None and not may_keep(said)):
        # Deleted each time: a rendering in between may have been allowed to keep some.
        return None if is_first else NO_ITEMS
    # A page that was imported with its states has never been received.
    is_first = is_first or (task.state is not None and task.last.set_at is None)
    if not is_first:
        return None
    response = received.response
    content_type = response.header("content-type")
    try:
        return find_items(received.final_url, response.body, content_type, response.headers, said, now)
    except TooComplex:
        return None
