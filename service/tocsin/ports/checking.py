"""The engine's work: claims, what is due, results of checks, hosts and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from datetime import timedelta

    from tocsin.model import (
        CheckReport,
        CheckResult,
        Claim,
        HostPages,
        Instant,
        JsonObject,
        NewDueTime,
        PageSchedule,
        PageTask,
    )

    OnSpread = Callable[[dict[int, Instant] | None], None]
    """Is told when which hosts are due by each step of what a launch spreads; None at its end, if all hosts may have
    become due earlier than they were said to be: what waited, and was not to be spread, keeps to a cron expression."""

    Plan = Callable[[Sequence[PageSchedule]], list[NewDueTime]]
    """Gives other due times to those of these pages that are due too late."""


def untold(_due: dict[int, Instant] | None) -> None:
    """Tell nobody which hosts are due."""


class WorkStore(Protocol):
    """What checking needs. Every method is one transaction of its own; results are committed in batches."""

    async def claim(self, shards: range, now: Instant, lease: timedelta, holder: str) -> Claim | None:
        """Claim or renew these shards; None while somebody else's lease on one of them runs.

        A holder that claims again what it held (after a crash, too) gets a new epoch at once.
        """

    async def renew(self, claim: Claim, now: Instant, lease: timedelta) -> Claim:
        """Lengthen the lease, same epoch. Raises StaleClaim if it was claimed anew meanwhile."""

    async def keep_place(self) -> bool:
        """Raise StoreLost if the store's files were removed or replaced; then nothing is written to it any more.

        Returns whether the file that locks the store for this engine was gone, and was made anew. Cheap.
        """

    async def foreign_revision(self) -> int | None:
        """The store's revision, if another process wrote since the last call; else None (cheap: data_version)."""

    async def host_agenda(self, claim: Claim, *, since_revision: int | None) -> AsyncIterator[tuple[int, Instant]]:
        """Each host with its earliest due time; with a revision, only hosts touched by others since.

        Pages that are paused, off, held by a rule or without a due time do not count; requested ones count as due at 0.
        """

    async def hold_overdue(self, now: Instant, *, at_launch: timedelta) -> None:
        """Leave out of the agenda and of due pages what `spread_overdue` may move, until that is through (T63).

        What was asked for stays due.
        """

    async def spread_overdue(
        self, claim: Claim, now: Instant, *, at_launch: timedelta, cron: str, on_spread: OnSpread = untold
    ) -> int:
        """Make pages due that were last checked longer ago than their `at_launch`, spread by their jitter (T63).

        Pages whose last check lies in the time to come are due, too: the clock was ahead then. Pages are moved a step
        at a time, while others are checked; returns how many were moved.

        at_launch  the configuration's, in force where neither page nor group nor the store says one
        cron       the same; pages with a cron expression keep to it: "" is none
        on_spread  is told after each step, and at the end
        """

    async def wake_off(self, now: Instant, *, mode: str) -> int:
        """Make pages due that were off and are so no longer, spread by their jitter; returns how many.

        mode  the configuration's, in force where neither page nor group nor the store says one. To be called at each
              launch, and whenever the configuration was read again: results that come later are held against it, too
        """

    async def pull_in(
        self, claim: Claim, now: Instant, *, every: timedelta, plan: Plan, on_spread: OnSpread = untold
    ) -> int:
        """Let `plan` judge each page that is due later than it can be if the clock was never ahead of now.

        These are pages whose last check is to come, and pages that are due later than their `every` from now; but none
        that the user has put off to a time of their own. Pages are moved a step at a time, while others are checked;
        returns how many were moved.

        every      the configuration's, in force where neither page nor group nor the store says one
        on_spread  is told after each step, and at the end
        """

    async def pull_in_waits(self, now: Instant, *, back: timedelta, longest: timedelta) -> None:
        """After the clock was set back: let nothing wait longer than it was to wait before.

        These are hosts and renderings that wait for the end of a pause, and questions and storms that gather.

        back     by how much, as far as that is known
        longest  the longest pause that a host can ask for
        """

    async def due_pages(
        self, claim: Claim, host_ids: Sequence[int], now: Instant, *, per_host: int, request_id: int | None = None
    ) -> list[PageTask]:
        """The due pages of these hosts, at most `per_host` each, the longest due first; requested pages first of all.

        request_id  only the pages that this request wants
        """

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        """Of these pages, those that are on the list and not paused: the agreement that requests need (T62)."""

    async def commit(self, claim: Claim, results: Sequence[CheckResult]) -> dict[int, Instant | None]:
        """Write results in one transaction; raises StaleClaim and writes nothing if the epoch is old.

        Returns for each host of the batch when it is due next (None: it has nothing due).
        A page that was removed meanwhile is left out silently. Copies that a page names, where a result brings them,
        take the place of those that it named before.
        """

    async def load_robots(self, origin: str) -> str | None:
        """What `save_robots` kept for this origin."""

    async def save_robots(self, origin: str, kept: str) -> None:
        """Keep what robots.txt of a watched host's origin said; ignored for hosts that are not watched."""

    async def host_gates(self, now: Instant) -> dict[str, Instant]:
        """Hosts that asked to be left alone until later than now."""

    async def hosts_received_last(self, limit: int) -> list[tuple[int, Instant]]:
        """Hosts of pages that are checked, and when a page of theirs was received last, the latest first.

        Pages that are paused, off or held by a rule do not count. It looks through the list: for rare questions.
        """

    async def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        """What is set at run time: for all pages, and for each group (id to name and settings)."""

    async def open_request(self, now: Instant) -> int:
        """Begin a request that wants no page yet; returns its id."""

    async def request_check(
        self, page_ids: Sequence[int] | AsyncIterator[Sequence[int]] | None, now: Instant, *, request: int | None = None
    ) -> int:
        """Ask for these pages (all that are watched: None) to be checked now; returns the request's id.

        page_ids  or many by the batch, which are asked for as they come, so that nobody holds them all
        Where it fails, or is cancelled, nothing of it is wanted any more.
        """

    async def drop_request(self, request_id: int) -> None:
        """Forget what a request still wants: whoever asked has gone away."""

    async def request_progress(self, request_id: int) -> tuple[int, int]:
        """(done, all) of a request."""

    async def request_reports(
        self, request_id: int, *, after: int, limit: int | None = None
    ) -> list[tuple[int, CheckReport]]:
        """Reports of a request in order of completion, with their positions, after this position."""


class RoundStore(Protocol):
    """How many pages hosts have, and how often these are wanted."""

    async def own_schedules(self) -> list[JsonObject]:
        """The intervals and cron expressions that pages have of their own, each once."""

    async def crowds(self, least: int) -> AsyncIterator[HostPages]:
        """The hosts with at least so many pages that are due at some time."""

    async def schedules_of(self, host_id: int) -> list[tuple[int, JsonObject, int]]:
        """What pages of a host that are due at some time set of their schedule: (group, settings, pages) each."""
