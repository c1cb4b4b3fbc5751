"""Frozen values that cross ports.

Instants are whole microseconds since the epoch, UTC (`Instant`); spans are `timedelta` or, in rows, whole microseconds.
They are msgspec structs: cheap to make by the thousand, and ready to cross a process boundary.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

Instant: TypeAlias = int
"""Microseconds since 1970-01-01T00:00:00Z."""

FieldValues: TypeAlias = tuple[str | None, ...]
"""The twelve canonical values of a state, in the order of `spec.topper.state.FIELDS`."""

JsonObject: TypeAlias = dict[str, Any]

SHARDS = 4096
"""How many shards hosts fall into (the first 12 bits of BLAKE2b of the host)."""


class CheckOutcome(StrEnum):
    """How a check of one page ended."""

    FIRST = "first"
    UNCHANGED = "unchanged"
    TOO_SOON = "too-soon"
    MINOR = "minor"
    MAJOR = "major"
    UNREACHABLE = "unreachable"
    DEFERRED = "deferred"
    DISALLOWED = "disallowed"
    SKIPPED = "skipped"
    NOT_SUBJECT = "not-subject"
    SUSPECT = "suspect"


class FailureKind(StrEnum):
    """Why a page was not received."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"
    TOO_LARGE = "too-large"
    TOO_COMPLEX = "too-complex"
    EMPTY = "empty"
    STATUS = "status"
    DECODE = "decode"
    REDIRECT = "redirect"
    BLOCKED_ADDRESS = "blocked-address"
    CRASHED = "crashed"


class Attempt(Struct, frozen=True, gc=False):
    """One set of requests that did not bring the page."""

    at: Instant
    kind: str
    status: int | None
    message: str
    elapsed_ms: int


class Validators(Struct, frozen=True, gc=False):
    """What a server gave to ask "is it still this?" with; both exactly as it wrote them.

    hop_url  the URL of the hop that sent them; they are sent only there
    """

    etag: str | None
    last_modified: str | None
    hop_url: str


class Instruction(Struct, frozen=True, gc=False):
    """The user's word on pages that could not be received (T60).

    times            sets of requests to make, for `again`
    new_connections  in a fresh session, for `again`
    at               when, for `again`; None is at once, unless `later`
    later            for `again`: silent until a time is set
    copy_url         for `copy`
    """

    kind: Literal["again", "never", "until-major", "drop", "copy"]
    times: int = 1
    new_connections: bool = False
    at: Instant | None = None
    later: bool = False
    copy_url: str | None = None


# What the store hands to a visit, and gets back -------------------------------------------------------------------


class Claim(Struct, frozen=True, gc=False):
    """The right to work on the hosts of some shards until `until`.

    epoch  grows with each claim of these shards; results under an older one are refused
    """

    id: int
    first_shard: int
    last_shard: int
    holder: str
    epoch: int
    until: Instant


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


class PageTask(Struct, frozen=True, gc=False):
    """One page that is due, with all that its visit needs to know.

    settings        the page's own overrides, or None
    group_id        whose overrides come next
    last_set_at     start of the last set of requests that received the page (T21)
    conditional_run checks since the page was last asked for without conditions
    attempts        tries already spent in this occasion (they go on after a Retry-After)
    owed            a verdict's rendering has failed and is still owed
    disallowed      robots.txt forbade it last time, and the user was told
    question_id     the open question that the page belongs to
    instruction     what the user said for this page, host or cause, where it is in force
    request_id      the request that wants this check now, or None for a scheduled one
    secrets         the page's credentials, or None
    group, text     as alerts show them: the group's name, and the user's own words
    """

    page_id: int
    host_id: int
    host: str
    url: str
    group_id: int
    settings: JsonObject | None
    state: StoredState | None
    validators: Validators | None
    last_set_at: Instant | None
    last_checked_at: Instant | None
    conditional_run: int
    body_digest: str | None
    attempts: tuple[Attempt, ...] = ()
    owed: bool = False
    disallowed: bool = False
    not_html: bool = False
    question_id: int | None = None
    instruction: Instruction | None = None
    request_id: int | None = None
    secrets: tuple[str, str] | None = None
    group: str = "main"
    text: str | None = None


class NewState(Struct, frozen=True, gc=False):
    """A state to store.

    equal      it equals the state before: the run goes on, and no row is added
    validators of the answer it came with; they replace those before
    """

    stored_at: Instant
    fields: FieldValues
    equal: bool
    validators: Validators | None
    body_digest: str | None


class VerdictRow(Struct, frozen=True, gc=False):
    """What a comparison found, with all that the alert will say of it.

    data          the event's data but for the rendering (see events.py)
    awareness     awareness is due: the page is to be rendered and the alert given
    """

    at: Instant
    outcome: str
    reason: str | None
    rule: str
    basis: str
    data: JsonObject
    awareness: bool


class Failure(Struct, frozen=True, gc=False):
    """A page that was not received after its tries.

    cause     the kind, or for `status` the kind and the status ("status 404"): what a question gathers by
    during    "check" or "rendering"
    silent    nobody is to be asked (a rule of the user says so)
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


class CheckReport(Struct, frozen=True):
    """What `tocsin check` says of one page, and what the page's row keeps of its last check."""

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


class CheckResult(Struct, frozen=True):
    """All that one check changes, written in one transaction.

    checked_at    when the check began
    set_at        start of the set that received the page; None if none did
    next_at       when the page is due again; None: not until the user says so
    next_why      the reason for that time, in words
    held_attempts tries spent so far, where the rest is due later (outcome `deferred`)
    alerts        events that need no rendering (disallowed, recovered, and unchanged or too-soon where asked)
    received      the page was received: it leaves its question (unless a rendering is owed)
    recovery      the `recovered` event, written if the page's question was announced and this ends it
    render_owed   the page was received and its owed rendering is to be queued again
    rule_spent    an `until-major` rule has met its major change, or an `again` was used up
    host_gate_at  the host asked to be left alone until then (it outlives the process)
    based_on      the last storing of the state that was compared with, None if there was none; where the page has
                  another one by now, the result is not written, and the page is due again
    """

    page_id: int
    host_id: int
    request_id: int | None
    report: CheckReport
    checked_at: Instant
    set_at: Instant | None
    next_at: Instant | None
    next_why: str
    conditional_run: int
    state: NewState | None = None
    verdict: VerdictRow | None = None
    failure: Failure | None = None
    held_attempts: tuple[Attempt, ...] = ()
    alerts: tuple[AlertDraft, ...] = ()
    received: bool = False
    recovery: AlertDraft | None = None
    render_owed: bool = False
    disallowed: bool = False
    not_html: bool = False
    rule_spent: bool = False
    host_gate_at: Instant | None = None
    based_on: Instant | None | UnsetType = UNSET


# Rendering --------------------------------------------------------------------------------------------------------


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
    task       the page as a visit needs it
    """

    page_id: int
    major: bool
    since: Instant
    verdicts: tuple[PendingVerdict, ...]
    task: PageTask
    owed: bool = False
    copy_url: str | None = None


class WaitingPage(Struct, frozen=True, gc=False):
    """A page in the render queue: enough to choose whose turn it is (T55)."""

    page_id: int
    major: bool
    since: Instant


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


class RenderCommit(Struct, frozen=True):
    """All that one rendering changes, written in one transaction (T72).

    served      the verdicts that it answers, in order
    alerts      one for each of them, in the same order, and `recovered` where the rendering was owed
    state       the state that it found, where it is to be stored (more than `min_gap` after the check's)
    prune       records but the most recent leave the table (T70)
    failure     it was not received: the question carries the verdict, and the rendering stays owed
    recovered   it was owed and is given now: the page leaves its question
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


# Questions, alerts, deliveries ------------------------------------------------------------------------------------


class QuestionRow(Struct, frozen=True):
    """Pages of one host that could not be received for one cause, and what the user said.

    page_url, page_group, page_text  of the first page, as its alert shows them; None where it is no longer watched
    """

    id: int
    host_id: int
    host: str
    cause: str
    opened_at: Instant
    announce_at: Instant
    announced_at: Instant | None
    answered_at: Instant | None
    closed_at: Instant | None
    instruction: Instruction | None
    pages: int
    sample: tuple[str, ...]
    first_page_id: int | None
    attempts: tuple[Attempt, ...] = ()
    during: str = "check"
    pending_change: JsonObject | None = None
    last_received: Instant | None = None
    next_occasion: Instant | None = None
    page_url: str | None = None
    page_group: str = "main"
    page_text: str | None = None


class RuleRow(Struct, frozen=True):
    """An answer that stays: `never` or `until-major`, for a page, a host and cause, a host, or a cause."""

    id: int
    scope: Literal["page", "host-cause", "host", "cause"]
    page_url: str | None
    host: str | None
    cause: str | None
    instruction: Instruction
    created_at: Instant


class DueDelivery(Struct, frozen=True):
    """An alert that a sink is to be given now: the oldest of its page that this sink has not accepted."""

    alert_id: str
    sink: str
    page_id: int | None
    position: int
    tries: int
    first_try_at: Instant | None
    created_at: Instant
    event: JsonObject


class DeliveryResult(Struct, frozen=True, gc=False):
    """What became of one try.

    state    "accepted", "waiting" (again at next_at) or "dead"
    """

    alert_id: str
    sink: str
    state: Literal["accepted", "waiting", "dead"]
    at: Instant
    next_at: Instant | None = None
    error: str | None = None


class SinkState(Struct, frozen=True):
    """How a sink stands: backed off until when, or disabled, and why."""

    name: str
    failures: int = 0
    next_at: Instant | None = None
    disabled: bool = False
    error: str | None = None
    waiting: int = 0
    dead: int = 0
    accepted: int = 0


class AlertRow(Struct, frozen=True):
    """An alert as listed: its event and how its deliveries stand."""

    id: str
    position: int
    type: str
    page_id: int | None
    url: str | None
    created_at: Instant
    event: JsonObject
    deliveries: tuple[tuple[str, str, int, str | None], ...] = ()
    """(sink, state, tries, last error) each"""


# The watch list ---------------------------------------------------------------------------------------------------


class NewPage(Struct, frozen=True):
    """A page to be watched; `url`, `host`, `shard` as spec.html.urls.watch_url gives them."""

    url: str
    given: str
    host: str
    shard: int
    group: str = "main"
    text: str | None = None
    settings: JsonObject | None = None
    secrets: tuple[str, str] | None = None


class PageRow(Struct, frozen=True):
    """A page as listed."""

    id: int
    url: str
    given: str
    host: str
    group: str
    mode: str
    mode_from: str
    paused: bool
    text: str | None
    settings: JsonObject
    next_at: Instant | None
    next_why: str | None
    last_checked_at: Instant | None
    last_received_at: Instant | None
    last_changed_at: Instant | None
    last_report: JsonObject | None
    fields: FieldValues | None
    stored_at: Instant | None
    question_id: int | None
    has_secrets: bool = False
    secrets: tuple[str, str] | None = None


class HistoryEntry(Struct, frozen=True):
    """One state of a page, and what its comparison with the one before found."""

    first_at: Instant
    last_at: Instant
    storings: int
    in_table: bool
    fields: FieldValues
    verdicts: tuple[tuple[Instant, str, str | None, str, JsonObject], ...] = ()
    """(at, outcome, reason, rule, data) each"""


class TableRow(Struct, frozen=True):
    """One record of the table: a storing of a page."""

    url: str
    fields: FieldValues
    stored_at: Instant
    text: str | None


class PageFilter(Struct, frozen=True):
    """Which pages a command means; all conditions hold together.

    urls       exactly these
    group      only of this group
    host       only of this host
    matching   the URL contains this
    outcome    the last check ended so
    topper     only pages whose state has a topper element (T53)
    """

    urls: tuple[str, ...] | None = None
    group: str | None = None
    host: str | None = None
    matching: str | None = None
    outcome: str | None = None
    topper: bool = False
    paused: bool | None = None


DAY = timedelta(days=1)
