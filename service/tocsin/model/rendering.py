"""Pages in the render queue, and what became of their renderings."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tocsin.model.checks import AlertDraft, Failure, NewState, PageTask
from tocsin.model.common import Instant, JsonObject, PageFlags
from tocsin.model.knowledge import CopyLink, KeptPicture, PageItems, PageKnowledge, Snapshot


class PendingVerdict(Struct, frozen=True, gc=False):
    """A verdict whose alert has not been written yet."""

    id: int
    at: Instant
    outcome: str
    data: JsonObject


class RenderJob(Struct, frozen=True):
    """One page that waits for its awareness, with every verdict that it is owed for.

    major      one of its verdicts is major
    since      time of its oldest verdict
    owed       it was tried before and failed; success is told in `recovered`
    copy_url   receive this copy instead (an instruction of the user)
    is_trial   settings are on trial: a step that fails in the browser is shown with a picture, and is no failure
    task       the page as a visit needs it
    """

    page_id: int
    major: bool
    since: Instant
    verdicts: tuple[PendingVerdict, ...]
    task: PageTask
    owed: bool = False
    copy_url: str | None = None
    is_trial: bool = False


class WaitingPage(Struct, frozen=True, gc=False):
    """A page in the render queue: enough to choose whose turn it is (T55)."""

    page_id: int
    major: bool
    since: Instant


LONGEST_TITLE: Final = 160


def fit_title(title: str | None) -> str | None:
    """Fit a page's title into a line of at most 160 characters; None if there is nothing in it."""
    return None if title is None else " ".join(title[: 2 * LONGEST_TITLE].split())[:LONGEST_TITLE] or None


class RenderingRow(Struct, frozen=True):
    """What a rendering received, as `rendering` in the event shows it."""

    kind: str
    started_at: Instant
    received: Instant | None
    status: int | None
    final_url: str | None
    content_type: str | None
    title: str | None
    bytes: int | None
    digest: str | None
    same_state: bool | None
    error: tuple[str, int | None, str] | None
    picture: KeptPicture | None = None


class RenderCommit(Struct, frozen=True):
    """All that one rendering changes, written in one transaction (T72).

    served      the verdicts that it answers, in order
    alerts      one for each of them, in the same order, and `recovered` where the rendering was owed; the store says in
                it whether that ends the page's question
    state       the state that it found, where it is to be stored (more than `min_gap` after the check's)
    prune       records but the most recent leave the table (T70)
    failure     it was not received: the question carries the verdict, and the rendering stays owed
    recovered   it was owed and is given now: the page leaves its question
    flags       as the page was read with the state that it stores; None where it stores none
    copies      all that the page names; None where it was not received, or something else was in its place
    known       what is known of the page now beside its state; None: as before
    snapshot    the page's text, where it is another one than before
    items       the page's microdata, if it has any or had some before; None where it was not read
    changes     how it differs from the items kept before, as the event shows it; None where it does not
    part        of its host
    """

    page_id: int
    host_id: int
    rendering: RenderingRow
    served: tuple[int, ...]
    alerts: tuple[AlertDraft, ...]
    set_at: Instant | None
    state: NewState | None = None
    prune: bool = False
    failure: Failure | None = None
    recovered: bool = False
    flags: PageFlags | None = None
    copies: tuple[CopyLink, ...] | None = None
    known: PageKnowledge | None = None
    snapshot: Snapshot | None = None
    items: PageItems | None = None
    changes: JsonObject | None = None
    part: int = 0
