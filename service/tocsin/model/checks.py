"""What the store hands to a visit, and what a visit gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from tocsin.model.common import (
    NO_FLAGS,
    SHARDS,
    Attempt,
    DueTime,
    FieldValues,
    Instant,
    Instruction,
    JsonObject,
    PageFlags,
    Validators,
)
from tocsin.model.knowledge import CopyLink, KeptPicture, Listing, PageItems, PageKnowledge, SignalContext, Snapshot

if TYPE_CHECKING:
    from collections.abc import Collection


class Claim(Struct, frozen=True):
    """The right of a node to work on the hosts of some parts.

    epochs  of each part of the store, 0 where the node does not hold it; results under an older one are refused
    """

    node: str
    epochs: tuple[int, ...]

    @property
    def parts(self) -> list[int]:
        """The parts that it holds."""
        return [part for part, epoch in enumerate(self.epochs) if epoch]

    def only(self, parts: Collection[int]) -> Claim:
        """Return the claim of those of its parts that are named."""
        return Claim(self.node, tuple(epoch if part in parts else 0 for part, epoch in enumerate(self.epochs)))

    def part_of(self, shard: int) -> int:
        """Return the part of a host, by its shard."""
        return shard * len(self.epochs) // SHARDS


# A claim of every part, which no node holds: for reading alone.
EVERY_PART: Final = Claim("", (1,))


class StoredState(Struct, frozen=True, gc=False):
    """The state last stored for a page.

    fields     canonical values
    first_at   the first storing of this run of equal states
    last_at    its last storing: what `elapsed` runs from
    storings   how often this state was stored in a row
    """

    id: int
    fields: FieldValues
    first_at: Instant
    last_at: Instant
    storings: int


class LastAnswer(Struct, frozen=True, gc=False, omit_defaults=True):
    """How a page was last asked for, and what a request without a new body needs of the answer.

    set_at           start of the last set of requests that received the page (T21)
    checked_at       when its last check began
    conditional_run  checks since the page was last asked for without conditions
    body_bytes       of the last stored answer, on the wire, which a 304 saves
    """

    validators: Validators | None = None
    body_digest: str | None = None
    set_at: Instant | None = None
    checked_at: Instant | None = None
    conditional_run: int = 0
    body_bytes: int = 0


class CheckOrder(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a check is made for, and what the user has said of it.

    due_at       since when the page is due; None: it has no due time
    request_id   the request that wants this check now, or None for a scheduled one
    attempts     tries already spent in this occasion, which resumes after a Retry-After
    instruction  the user's, in force for this page, host or cause
    question_id  the open question that the page belongs to
    part, epoch  the part of its host, and the epoch under which it was read; 0: that of the claim it is written by
    """

    due_at: Instant | None = None
    request_id: int | None = None
    attempts: tuple[Attempt, ...] = ()
    instruction: Instruction | None = None
    question_id: int | None = None
    part: int = 0
    epoch: int = 0

    @property
    def is_asked(self) -> bool:
        """Whether the user wants this very check, so that a page which was set aside is tried once more."""
        return self.request_id is not None or (self.instruction is not None and self.instruction.kind == "again")


class PageTask(Struct, frozen=True, gc=False, omit_defaults=True):
    """One page that is due, with everything that its visit needs.

    settings      the page's own overrides, or None
    group_id      whose overrides come next
    group, text   as alerts show them: the group's name, and the user's own words
    secrets       the page's credentials, or None
    flags         as the page was when it was last read
    disallowed    robots.txt forbade it last time, and the user was told
    suspected     the last answer was a suspect, and the user was told
    owed          a verdict's rendering has failed and is still owed
    beside        known of it beside its state; None for nothing
    is_short      there is no room for first texts of pages
    """

    page_id: int
    host_id: int
    host: str
    url: str
    group_id: int
    settings: JsonObject | None
    state: StoredState | None
    last: LastAnswer = LastAnswer()
    order: CheckOrder = CheckOrder()
    flags: PageFlags = NO_FLAGS
    disallowed: bool = False
    suspected: bool = False
    owed: bool = False
    secrets: tuple[str, str] | None = None
    group: str = "main"
    text: str | None = None
    beside: SignalContext | None = None
    is_short: bool = False


class PageSchedule(Struct, frozen=True, gc=False):
    """The due time of a page, with what it was planned by.

    settings    the page's own overrides, or None
    group_id    whose overrides come next
    checked_at  of its last check; before the first one, when it was added
    next_why    why it is due then
    """

    page_id: int
    group_id: int
    settings: JsonObject | None
    next_at: Instant
    checked_at: Instant
    next_why: str


class NewDueTime(NamedTuple):
    """Another due time for a page, unless it was changed meanwhile: it must be `before` still."""

    page_id: int
    before: Instant
    at: Instant
    why: str


class NewState(Struct, frozen=True, gc=False):
    """A state to store.

    equal      it equals the state before: the run goes on, and no row is added
    validators of the answer it came with; they replace those before
    body_bytes of that answer, on the wire; None for a 304, which leaves what is known
    as_before  it is equal, and validators, digest and bytes are those that the page has already
    """

    stored_at: Instant
    fields: FieldValues
    equal: bool
    validators: Validators | None
    body_digest: str | None
    body_bytes: int | None = None
    as_before: bool = False


class VerdictRow(Struct, frozen=True, gc=False):
    """What a comparison found, with all that the alert will say of it.

    data          of the event, without the rendering
    awareness     the page is to be rendered, and its alert given
    storm_key     names a change that other pages of the host may share; None for any other
    """

    at: Instant
    outcome: str
    reason: str | None
    rule: str
    basis: str
    data: JsonObject
    awareness: bool
    storm_key: bytes | None = None


class Failure(Struct, frozen=True, gc=False):
    """A page that was not received after its tries.

    cause     the kind, or for `status` the kind and the status ("status 404"): what a question gathers by
    during    "check" or "rendering"
    silent    no question is asked, by a rule of the user
    """

    cause: str
    attempts: tuple[Attempt, ...]
    during: str
    silent: bool = False


class AlertDraft(Struct, frozen=True, gc=False):
    """An event to be written to the outbox; the store gives it its position.

    id       ULID
    page_id  the page whose order it belongs to; None for events of no page
    event    the whole CloudEvent
    """

    id: str
    type: str
    page_id: int | None
    at: Instant
    event: JsonObject

    @property
    def summary(self) -> str:
        """What it tells, as a sentence."""
        return str(self.event["data"]["summary"])


class Witness(Struct, frozen=True, gc=False, array_like=True):
    """What contradicts a change: a declaration that did not change with the content, or the content that did not.

    signal  the name of a field or signal, or "content"
    value   of the declaration; None for the content
    since   when it was first found so, as far as that is known
    """

    signal: str
    value: str | None = None
    since: Instant | None = None


class CheckReport(Struct, frozen=True):
    """What `tocsin check` says of one page, and what the page's row keeps of its last check.

    bytes        on the wire, of all its answers
    saved_bytes  that a 304 spared
    signals      beside the twelve fields that changed, by name
    witness      of a change that is contradicted
    """

    url: str
    outcome: str
    changed: tuple[str, ...] = ()
    reason: str | None = None
    rule: str | None = None
    basis: str | None = None
    declares: tuple[str, ...] = ()
    status: int | None = None
    final_url: str | None = None
    attempts: int = 0
    bytes: int = 0
    elapsed_ms: int = 0
    not_modified: bool = False
    next_try: Instant | None = None
    error: tuple[str, str] | None = None
    problem: str | None = None
    saved_bytes: int = 0
    signals: tuple[str, ...] = ()
    witness: Witness | None = None


class LearntContents(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a check learnt of a page beside its state.

    known     what is known of the page now; None: nothing new
    snapshot  the page's text, where it is another one than before
    listing   what the page, a feed or sitemap, says of other pages; None where it was not read
    copies    all that the page names, where it was read whole; None where it was not
    items     the page's microdata at its first check, for renderings to compare with; None where it has none
    title     the page's own at its first check, of at most `LONGEST_TITLE` characters; None where it has none
    picture   of the page, which later ones are compared with; None: the one before stays
    """

    known: PageKnowledge | None = None
    snapshot: Snapshot | None = None
    listing: Listing | None = None
    copies: tuple[CopyLink, ...] | None = None
    items: PageItems | None = None
    title: str | None = None
    picture: KeptPicture | None = None


NOTHING_LEARNT: Final = LearntContents()


class CheckResult(Struct, frozen=True, omit_defaults=True):
    """All that one check changes, written in one transaction.

    checked_at       when the check began
    set_at           start of the set that received the page; None if none did
    due              when the page is due again; no time: not until the user says so
    order            what the check was made for, and told; an instruction that was given meanwhile is for the next one
    flags            what the page says to robots, and what it was, where it was read; else as it was
    held_attempts    tries spent so far, where the rest is due later (outcome `deferred`)
    alerts           events that need no rendering (disallowed, suspect, needs-browser, or what `report` asks for)
    received         the page was received: it leaves its question, unless a rendering is owed
    recovery         the `recovered` event, written if the page leaves a question that was announced; the store says in
                     it whether that ends the question
    render_owed      the page was received and its owed rendering is to be queued again
    rule_spent       an `until-major` rule has met its major change, or an `again` was used up
    host_gate_at     the host asked to be left alone until then (it outlives the process)
    based_on         the last storing of the state that was compared with, None if there was none; where the page has
                     another one by now, the result is not written, and the page is due again
    suspected        something else is in the page's place
    """

    page_id: int
    host_id: int
    report: CheckReport
    checked_at: Instant
    set_at: Instant | None
    due: DueTime
    order: CheckOrder = CheckOrder()
    conditional_run: int = 0
    flags: PageFlags = NO_FLAGS
    state: NewState | None = None
    verdict: VerdictRow | None = None
    failure: Failure | None = None
    held_attempts: tuple[Attempt, ...] = ()
    alerts: tuple[AlertDraft, ...] = ()
    received: bool = False
    recovery: AlertDraft | None = None
    render_owed: bool = False
    learnt: LearntContents = NOTHING_LEARNT
    disallowed: bool = False
    suspected: bool = False
    rule_spent: bool = False
    host_gate_at: Instant | None = None
    based_on: Instant | UnsetType | None = UNSET


class CommittedResults(NamedTuple):
    """What became of a batch of results.

    due      for each host of those that were written, when it is due next (None: it has nothing due)
    refused  how many were not written, since another node had taken their parts
    """

    due: dict[int, Instant | None]
    refused: int = 0
