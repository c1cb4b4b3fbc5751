"""What a check learns of a page beside its state: its text, lists, copies and items. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.engine.judging.assess import is_read_as_before
from tocsin.engine.judging.copies import find_copies
from tocsin.engine.judging.differences import may_keep, to_keep
from tocsin.engine.judging.items import find_items, items_read_of
from tocsin.errors import TooComplex
from tocsin.model import NO_ITEMS, CheckOutcome

if TYPE_CHECKING:
    from tocsin.engine.judging.assess import Assessment
    from tocsin.engine.judging.judge import Judged, Occasion
    from tocsin.model import CopyLink, Instant, Known, Listing, PageItems, PageTask, Received, Snapshot


class Learnt(Struct, frozen=True, gc=False):
    """What a check learnt beside the state, as `CheckResult` has it."""

    known: Known | None = None
    snapshot: Snapshot | None = None
    listing: Listing | None = None
    copies: tuple[CopyLink, ...] | None = None
    items: PageItems | None = None


def learn(
    occasion: Occasion, received: Received, assessment: Assessment, judged: Judged, known: Known | None, now: Instant
) -> Learnt:
    """Gather what a check learnt of a page that it received anew.

    known  what is known of it now beside its state
    now    when it was received
    """
    listing = None if judged.outcome is CheckOutcome.SUSPECT else assessment.listing
    copies = _copies_of(occasion.task, received, judged)
    if assessment.directives is None:
        # Its bytes are as they were. What was kept of them goes all the same, where the user lets none be kept.
        return Learnt(known, None, listing, copies, None if occasion.keeps.items else NO_ITEMS)
    items = _items_of(occasion, received, assessment, judged, now)
    return Learnt(known, _text_of(assessment, judged), listing, copies, items)


def _text_of(assessment: Assessment, judged: Judged) -> Snapshot | None:
    if judged.outcome in (CheckOutcome.TOO_SOON, CheckOutcome.SUSPECT):
        return None
    return to_keep(assessment.directives, judged.followed.snapshot)


def _copies_of(task: PageTask, received: Received, judged: Judged) -> tuple[CopyLink, ...] | None:
    """Read which copies a page names; its renderings do it anew, the other checks need not.

    Read whole is a page at its first check, and where it was last read by older readers, or asked for otherwise.
    """
    if judged.outcome is CheckOutcome.SUSPECT:
        return None
    if task.state is None:
        is_known = task.last_set_at is not None and judged.outcome is not CheckOutcome.FIRST
    else:
        is_known = is_read_as_before(task.body_digest, received.asked_as)
    if is_known:
        return None
    response = received.response
    content_type = response.header("content-type")
    return find_copies(task.url, received.final_url, response.body, content_type, response.headers)


def _items_of(
    occasion: Occasion, received: Received, assessment: Assessment, judged: Judged, now: Instant
) -> PageItems | None:
    """Read a page's microdata at its first check, for its renderings to compare with.

    Later checks leave it alone, unless the page or the user wants no copy kept any more: what was kept goes.
    """
    task, said = occasion.task, assessment.directives
    if judged.outcome in (CheckOutcome.TOO_SOON, CheckOutcome.SUSPECT):
        return None
    is_first = judged.outcome is CheckOutcome.FIRST
    if not occasion.keeps.items or (said is not None and not may_keep(said)):
        # Also where it said so before: a rendering may have been told otherwise since.
        return None if is_first else NO_ITEMS
    # A page may have come with states from elsewhere, and with nothing else.
    is_first = is_first or (task.state is not None and task.last_set_at is None)
    if not is_first:
        return None
    response = received.response
    content_type = response.header("content-type")
    try:
        found = find_items(received.final_url, response.body, content_type, response.headers, said, now)
    except TooComplex:
        return None
    return items_read_of(found, assessment)
