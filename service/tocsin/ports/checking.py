"""The engine's work: what is due, results of checks, hosts and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import timedelta

    from tocsin.model import (
        CheckReport,
        CheckResult,
        Claim,
        CommittedResults,
        HostPages,
        Instant,
        JsonObject,
        NewDueTime,
        PageSchedule,
        PageTask,
    )

    OnSpread = Callable[[dict[int, Instant] | None], None]
    """Called after each step of a startup's spreading with the due times of its hosts. Called with None at the end, if
    any host may be due earlier than reported: pages that waited but follow a cron expression were not moved."""

    Plan = Callable[[Sequence[PageSchedule]], list[NewDueTime]]
    """Returns new due times for the pages that are due too late."""


def untold(_due: dict[int, Instant] | None) -> None:
    """Ignore a report of due hosts."""


class WorkStore(Protocol):
    """Each method is a transaction of its own; results are committed in batches."""

    async def keep_place(self) -> bool:
        """Raise StoreLost if the store's files were removed or replaced; the store then refuses every write.

        Returns whether the engine's lock file was missing and was created again. Cheap.
        """

    async def foreign_revision(self) -> int | None:
        """Return the store's revision if there was an edit since the last call, or no call yet; else None. Cheap."""

    async def host_agenda(self, claim: Claim, *, since_revision: int | None) -> AsyncIterator[tuple[int, Instant]]:
        """Yield each host of the claimed parts with its earliest due time; with a revision, only those edited since.

        Pages that are paused, off, held by a rule or without a due time do not count; requested pages are due at 0.
        """

    async def hold_overdue(self, now: Instant, *, at_launch: timedelta) -> None:
        """Hide pages that `spread_overdue` may move from the agenda and from due pages until it is done (T63).

        Requested pages stay due.
        """

    async def spread_overdue(
        self, claim: Claim, now: Instant, *, at_launch: timedelta, cron: str, on_spread: OnSpread = untold
    ) -> int:
        """Make pages due that were last checked longer ago than their `at_launch`, spread by their jitter (T63).

        Pages whose last check lies in the future are due as well: the clock was ahead then. Pages are moved in steps,
        while others are checked. Returns how many were moved.

        at_launch  of the configuration; the default for pages, groups and stores that set none
        cron       the same ("": none); pages with a cron expression are not moved
        on_spread  called after each step and at the end
        """

    async def wake_off(self, now: Instant, *, mode: str) -> int:
        """Make pages due whose mode is off no longer, spread by their jitter; returns how many.

        Call it at each startup and reload: results that are committed later are compared with this mode as well.

        mode  of the configuration; the default for pages, groups and stores that set none
        """

    async def pull_in(
        self, claim: Claim, now: Instant, *, every: timedelta, plan: Plan, on_spread: OnSpread = untold
    ) -> int:
        """Move pages that a clock ahead of now scheduled too late, as `plan` decides; returns how many were moved.

        These are pages whose last check lies in the future, and pages due later than one interval from now, except
        those that the user put off to a time. Pages are moved in steps, while others are checked.

        every      of the configuration; the default for pages, groups and stores that set none
        on_spread  called after each step and at the end
        """

    async def pull_in_waits(self, claim: Claim, now: Instant, *, back: timedelta, longest: timedelta) -> None:
        """After the clock was set back, shorten every wait to what it was before.

        Waits are those of hosts and renderings of the claimed parts for the end of a pause, and of questions and storms
        that gather. They are shortened in steps, while others write.

        back     how far the clock was set back, as far as that is known
        longest  the longest pause that a host can ask for
        """

    async def due_pages(
        self, claim: Claim, host_ids: Sequence[int], now: Instant, *, per_host: int, request_id: int | None = None
    ) -> list[PageTask]:
        """Return the due pages of these hosts, at most `per_host` each: requested ones first, then the longest due.

        Hosts of parts that are not claimed have none.

        request_id  only the pages that this request wants
        """

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        """Return those of these pages that are watched and not paused; a request needs that consent (T62)."""

    async def commit(self, claim: Claim, results: Sequence[CheckResult]) -> CommittedResults:
        """Write results in one transaction, but for those of parts that this node has lost since their pages were read.

        Results of pages that were removed meanwhile are dropped. Copies that a result names replace the page's earlier
        ones.
        """

    async def load_robots(self, origin: str) -> str | None:
        """Return what `save_robots` kept for this origin."""

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep the robots.txt of an origin; ignored for hosts that are not watched."""

    async def host_gates(self, now: Instant) -> dict[str, Instant]:
        """Return the hosts that asked for a pause, with its end; pauses that are over are left out."""

    async def hold_hosts(self, held: dict[str, Instant]) -> None:
        """Store until when hosts asked for a pause, also hosts without watched pages; a pause never shortens another.

        What is stored of a host without pages is forgotten after the pause.
        """

    async def hosts_received_last(self, limit: int) -> list[tuple[int, Instant]]:
        """Return hosts and when a page of theirs was received last, the latest first.

        Pages that are paused, off or held by a rule do not count. Scans the watch list: for rare use.
        """

    async def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        """Return the settings made at run time: those for all pages, and by group id its name and settings."""

    async def open_request(self, now: Instant) -> int:
        """Open a request for checks, without pages yet; returns its id."""

    async def request_check(
        self, page_ids: Sequence[int] | AsyncIterator[Sequence[int]] | None, now: Instant, *, request: int | None = None
    ) -> int:
        """Request checks of these pages (None: all that are not paused); returns the request's id.

        A call that fails or is cancelled leaves nothing requested.

        page_ids  a sequence, or batches that are requested as they arrive
        """

    async def drop_request(self, request_id: int) -> None:
        """Give up the pages that a request still waits for, since its client is gone."""

    async def request_progress(self, request_id: int) -> tuple[int, int]:
        """Return how many pages of a request are checked, and how many it has."""

    async def forgo_reports(self, request_id: int) -> None:
        """Store no further reports of a request, and delete those that are stored: its client has learnt them."""

    async def request_reports(
        self, request_id: int, *, after: int, limit: int | None = None
    ) -> list[tuple[int, CheckReport]]:
        """Return reports of a request with their positions, in order of completion, after this position."""


class RoundStore(Protocol):
    """The numbers of pages by host and by interval. Reads do not hold up checks."""

    async def own_schedules(self) -> list[JsonObject]:
        """Return the distinct intervals and cron expressions that pages set themselves."""

    async def crowds(self, least: int) -> AsyncIterator[HostPages]:
        """Yield the hosts with at least this many scheduled pages."""

    async def schedules_of(self, host_id: int) -> list[tuple[int, JsonObject, int]]:
        """Count a host's scheduled pages by schedule: (group id, own settings, number of pages) each."""
