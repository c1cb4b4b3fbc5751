"""What the engine needs of the outside world, as protocols; adapters implement them, fakes stand in for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager
    from datetime import timedelta

    from tocsin.events import Happening
    from tocsin.model import (
        AlertDraft,
        AlertRow,
        Attempt,
        CheckReport,
        CheckResult,
        Claim,
        DeliveryResult,
        DueDelivery,
        HistoryEntry,
        Instant,
        Instruction,
        JsonObject,
        NewPage,
        PageFilter,
        PageRow,
        PageTask,
        QuestionRow,
        RenderCommit,
        RenderJob,
        RuleRow,
        SinkState,
        TableRow,
        WaitingPage,
    )

# Time and chance --------------------------------------------------------------------------------------------------


class Clock(Protocol):
    """Wall time for what is stored, monotonic time for deadlines and politeness."""

    def now(self) -> Instant:
        """The wall clock, UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None:
        """Let this much monotonic time pass."""


class Chance(Protocol):
    """Randomness for jitter and identifiers."""

    def fraction(self) -> float:
        """A number from 0 up to but not including 1."""

    def ulid(self, at: Instant) -> str:
        """An identifier that sorts by time."""


class Telemetry(Protocol):
    """Where happenings go: log lines, and later metrics."""

    def emit(self, happening: Happening) -> None:
        """Take note of it; never blocks, never raises."""


# Fetching ---------------------------------------------------------------------------------------------------------


class HopRequest(Struct, frozen=True):
    """One GET, without redirection.

    headers   in order, beside those that the client sends of itself
    total_s   what is left of the set's total deadline
    proxy     the proxy's URL, or None
    private   loopback and private addresses may be dialled (a user typed this URL into a one-shot command)
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    total_s: float = 60.0
    max_body_bytes: int = 10 * 2**20
    max_wire_bytes: int = 10 * 2**20
    proxy: str | None = None
    private: bool = False


class HopResponse(Struct, frozen=True):
    """A complete answer: its framing and coding ended as announced.

    headers     names in lower case, in order, repeated ones repeated
    body        decoded
    wire_bytes  as received, before decoding
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    wire_bytes: int
    elapsed_ms: int

    def header(self, name: str) -> str | None:
        """Return the first header of this (lower-case) name."""
        return next((value for key, value in self.headers if key == name), None)


class Session(Protocol):
    """One client session with its connections to the hosts needed: the spec's "computer connection" (T59)."""

    async def get(self, request: HopRequest) -> HopResponse:
        """Make one request.

        Raises FetchFailed (dns connect tls timeout protocol decode) or FetchRefused (blocked-address too-large).
        Any status is an answer.
        """


class Fetcher(Protocol):
    """Makes requests."""

    def shared(self) -> Session:
        """The session that all checks share."""

    def fresh(self) -> AbstractAsyncContextManager[Session]:
        """A session of its own, for "new connections" (T60)."""


# Rendering --------------------------------------------------------------------------------------------------------


class Rendered(Struct, frozen=True):
    """A page received whole and processed.

    body  decoded bytes of the document, for assessing the state that the rendering found
    """

    started_at: int
    received_at: int
    status: int
    final_url: str
    content_type: str | None
    title: str | None
    body: bytes
    validators: tuple[str | None, str | None]
    hop_url: str


class Renderer(Protocol):
    """Gives the page its awareness: receives it whole, anew, and processes it (T57)."""

    kind: str

    async def render(self, job: RenderJob) -> Rendered:
        """Receive the page (or the copy chosen for it) completely, with one set of requests.

        Raises FetchFailed, FetchRefused or engine.receive.Disallowed. The render queue makes the further sets (T58),
        because the page's slot is given up during the pause before each.
        """


# Delivering -------------------------------------------------------------------------------------------------------


class Sink(Protocol):
    """One downstream system that takes alerts."""

    name: str

    async def deliver(self, event: JsonObject) -> None:
        """Give it the event; returning means that it was accepted. Raises DeliveryError."""

    async def close(self) -> None:
        """Let go of connections and files."""


# The store --------------------------------------------------------------------------------------------------------


class WorkStore(Protocol):
    """What checking needs. Every method is one transaction of its own; results are committed in batches."""

    async def claim(self, shards: range, now: Instant, lease: timedelta, holder: str) -> Claim | None:
        """Claim or renew these shards; None while somebody else's lease on one of them runs.

        A holder that claims again what it held (after a crash, too) gets a new epoch at once.
        """

    async def renew(self, claim: Claim, now: Instant, lease: timedelta) -> Claim:
        """Lengthen the lease, same epoch. Raises StaleClaim if it was claimed anew meanwhile."""

    async def foreign_revision(self) -> int | None:
        """The store's revision, if another process wrote since the last call; else None (cheap: data_version)."""

    async def host_agenda(self, claim: Claim, *, since_revision: int | None) -> AsyncIterator[tuple[int, Instant]]:
        """Each host with its earliest due time; with a revision, only hosts touched by others since.

        Pages that are paused, off, held by a rule or without a due time do not count; requested ones count as due at 0.
        """

    async def spread_overdue(self, claim: Claim, now: Instant, *, at_launch: timedelta) -> int:
        """Make pages due that were last checked longer ago than `at_launch`, spread by their jitter (T63)."""

    async def due_pages(
        self, claim: Claim, host_ids: Sequence[int], now: Instant, *, per_host: int, request_id: int | None = None
    ) -> list[PageTask]:
        """The due pages of these hosts, at most `per_host` each, the longest due first; requested pages first of all.

        request_id  only the pages that this request wants
        """

    async def commit(self, claim: Claim, results: Sequence[CheckResult]) -> dict[int, Instant | None]:
        """Write results in one transaction; raises StaleClaim and writes nothing if the epoch is old.

        Returns for each host of the batch when it is due next (None: it has nothing due).
        A page that was removed meanwhile is left out silently.
        """

    async def load_robots(self, origin: str) -> str | None:
        """What `save_robots` kept for this origin."""

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep what robots.txt of a watched host's origin said; ignored for hosts that are not watched."""

    async def host_gates(self, now: Instant) -> dict[str, Instant]:
        """Hosts that asked to be left alone until later than now."""

    async def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        """What is set at run time: for all pages, and for each group (id to name and settings)."""

    async def request_check(self, page_ids: Sequence[int] | None, now: Instant) -> int:
        """Ask for these pages (all that are watched: None) to be checked now; returns the request's id."""

    async def request_progress(self, request_id: int) -> tuple[int, int]:
        """(done, all) of a request."""

    async def request_reports(self, request_id: int, *, after: int) -> list[tuple[int, CheckReport]]:
        """Reports of a request in order of completion, with their positions, after this position."""


class RenderStore(Protocol):
    """The render queue's rows (T55)."""

    async def waiting_renders(self, *, limit: int, now: Instant | None = None) -> list[WaitingPage]:
        """Pages that wait: major first, then by verdict; and always the oldest one among them.

        now  pages that pause until later than this are left out; None is the wall clock
        """

    async def count_waiting(self) -> int:
        """How many pages wait (claimed ones do not count)."""

    async def claim_renders(self, claim: Claim, page_ids: Sequence[int]) -> list[RenderJob]:
        """Take these pages out of the waiting; a slot is a claimed row, valid while the claim's epoch is."""

    async def release_render(
        self, claim: Claim, page_id: int, *, not_before: Instant | None, attempts: Sequence[Attempt] = ()
    ) -> None:
        """Put a page back among the waiting (a pause between tries, or a stop).

        attempts  the tries spent so far; the next claim hands them out in `task.attempts` of the job
        """

    async def commit_rendering(self, claim: Claim, result: RenderCommit) -> Instant | None:
        """Write rendering, alerts with one delivery row per sink, state and pruning in one transaction (T72).

        Returns when the page's host is due next.
        """


class AttentionStore(Protocol):
    """Questions and rules (T60)."""

    async def questions_to_announce(self, now: Instant) -> list[QuestionRow]:
        """Questions whose gathering has ended and that nobody was told of; empty ones are closed instead."""

    async def announce(self, question_id: int, alert: AlertDraft, now: Instant) -> None:
        """Write the `unreachable` alert and mark the question as asked, in one transaction."""

    async def withdraw_questions(self, claim: Claim, causes: Sequence[str], now: Instant, retry_at: Instant) -> int:
        """Take back unannounced questions of these causes: it was our own outage. Their pages are due at retry_at."""

    async def questions(self, *, closed: bool = False) -> list[QuestionRow]:
        """Open questions, or also those that ended."""

    async def question(self, question_id: int) -> QuestionRow | None:
        """One question."""

    async def question_pages(self, question_id: int) -> list[str]:
        """The URLs of its pages."""

    async def answer(
        self, question_id: int, instruction: Instruction, *, scope: str, url: str | None, now: Instant
    ) -> int:
        """Carry out an instruction for the question's pages (or one of them); returns how many.

        scope  what a `never` or `until-major` is remembered for: page, host-cause, host or cause
        """

    async def rules(self) -> list[RuleRow]:
        """Rules in force."""

    async def lift_rule(self, rule_id: int, now: Instant) -> int:
        """Forget a rule; its pages are due again. Returns how many pages."""


class AlertStore(Protocol):
    """The outbox."""

    async def set_sinks(self, names: Sequence[str]) -> None:
        """From now on alerts get a delivery row for each of these."""

    async def write_alert(self, alert: AlertDraft) -> None:
        """Write an alert of its own (an outage, a sink's test is not stored)."""

    async def due_deliveries(self, sink: str, now: Instant, *, limit: int) -> list[DueDelivery]:
        """What this sink is to be given now: at most the oldest of each page, in order of position."""

    async def next_delivery_at(self, sink: str) -> Instant | None:
        """When this sink has something due; None if nothing waits."""

    async def record_deliveries(self, results: Sequence[DeliveryResult]) -> None:
        """Write what became of tries."""

    async def sink_state(self, sink: str) -> SinkState:
        """How this sink stands."""

    async def save_sink_state(self, state: SinkState) -> None:
        """Remember a back-off or a disabling over restarts."""

    async def alerts(
        self, *, limit: int, before: int | None = None, dead: bool = False, url: str | None = None
    ) -> list[AlertRow]:
        """The latest alerts, newest first; `before` is a position."""

    async def alert(self, alert_id: str) -> AlertRow | None:
        """One alert."""

    async def replay(self, *, alert_id: str | None, sink: str | None, dead_only: bool, now: Instant) -> int:
        """Make deliveries due again; returns how many."""

    async def after(self, position: int, *, limit: int) -> list[AlertRow]:
        """Alerts published after this position (AlertStream)."""


class WatchList(Protocol):
    """The list of pages; short transactions, at most 1,000 rows each."""

    async def add_pages(self, pages: Sequence[NewPage], now: Instant) -> list[int | None]:
        """Add pages; returns ids, None where the URL is watched already. First checks are spread by jitter."""

    async def page(self, url: str) -> PageRow | None:
        """One page."""

    async def pages(self, which: PageFilter, *, after_id: int = 0, limit: int = 1000) -> list[PageRow]:
        """Pages in order of id, after this one."""

    async def count_pages(self, which: PageFilter) -> int:
        """How many pages there are."""

    async def remove_pages(self, page_ids: Sequence[int]) -> int:
        """Take pages off the list, with all that is stored of them."""

    async def edit_pages(
        self,
        page_ids: Sequence[int],
        now: Instant,
        *,
        settings: JsonObject,
        unset: Sequence[str],
        paused: bool | None,
        group: str | None,
        text: str | None,
        clear_text: bool,
    ) -> int:
        """Change what is set for these pages; `settings` are merged, `unset` keys inherit again."""

    async def edit_group(self, name: str | None, now: Instant, *, settings: JsonObject, unset: Sequence[str]) -> None:
        """Change what is set for a group (None: for all pages)."""

    async def groups(self) -> list[tuple[str, int, JsonObject]]:
        """Groups with their number of pages and settings."""

    async def history(self, url: str, *, limit: int) -> list[HistoryEntry]:
        """States of a page, newest first."""


class TableStore(Protocol):
    """The spec's table."""

    async def table_rows(self) -> AsyncIterator[TableRow]:
        """Every record, in order of storing (`stored`, then URL by code point), of one instant."""

    async def import_table(self, rows: Iterable[TableRow], now: Instant, *, replace: bool) -> int:
        """Take a whole table in one transaction; raises UsageError naming pages that have states already."""


class StoreCare(Protocol):
    """Keeping the store well."""

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        """Copy the store as it was at one instant; yields (pages done, all)."""

    async def check(self) -> list[str]:
        """What is wrong with the store: its integrity and the program's own invariants; empty if nothing is."""

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        """Forget history, alerts and answered questions older than this, at most `limit` rows; returns how many."""

    async def is_held(self) -> bool:
        """Whether an engine, of this process or another one, holds the store."""

    async def close(self) -> None:
        """Close connections."""


class Store(WorkStore, RenderStore, AttentionStore, AlertStore, WatchList, TableStore, StoreCare, Protocol):
    """All of it; one adapter implements the whole."""
