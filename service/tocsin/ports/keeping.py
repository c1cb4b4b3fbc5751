"""The watch list, the table, and the care of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence
    from datetime import timedelta

    from tocsin.model import (
        AlertDraft,
        HistoryEntry,
        HostNoise,
        HostPages,
        Instant,
        JsonObject,
        NewPage,
        PageFilter,
        PageRow,
        SignalContext,
        StormRow,
        StormVerdict,
        TableRow,
    )

    OnStep = Callable[[int], None]
    """Is told after each transaction of a long edit how many pages that was about."""


def unheard(_pages: int) -> None:
    """Tell nobody of a step."""


class WatchList(Protocol):
    """The list of pages; short transactions, at most 1,000 rows each.

    What edits many pages goes on where an engine checks them, and lets it have its turn between two transactions.
    Whoever cancels it leaves the steps done that `on_step` was told of; the same call once more goes on.
    """

    async def add_pages(
        self,
        pages: Sequence[NewPage],
        now: Instant,
        *,
        request: int | None = None,
        on_step: OnStep = unheard,
        ids: list[int | None] | None = None,
    ) -> list[int | None]:
        """Add pages; returns ids, None where the URL is watched already. First checks are spread by jitter.

        request  from `open_request`: wants the new pages from the start, so that no engine checks them twice
        ids      is given those of each step before `on_step` is told of it, for a caller that may be cancelled
        """

    async def page(self, url: str) -> PageRow | None:
        """One page."""

    async def pages(self, which: PageFilter, *, after_id: int = 0, limit: int = 1000) -> list[PageRow]:
        """Pages in order of id, after this one."""

    async def count_pages(self, which: PageFilter) -> int:
        """How many pages there are."""

    async def page_ids(self, which: PageFilter, *, last_id: int, after_id: int = 0, limit: int = 1000) -> list[int]:
        """The ids of these pages, in order, after this one and up to `last_id`."""

    async def last_page_id(self) -> int:
        """The id of the page that was added last; pages that come later have greater ones."""

    async def last_times(self) -> tuple[Instant | None, Instant | None]:
        """When any page was checked last, and when any state was stored last."""

    async def remove_pages(self, page_ids: Sequence[int], *, on_step: OnStep = unheard) -> int:
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
        of: int | None = None,
        on_step: OnStep = unheard,
    ) -> int:
        """Change what is set for these pages; `settings` are merged, `unset` keys inherit again.

        of  how many pages are edited in all, where these are only some: the checks that it brings are spread by that
        A page that is paused is given up by the requests that want it.
        """

    async def edit_group(
        self,
        name: str | None,
        now: Instant,
        *,
        settings: JsonObject,
        unset: Sequence[str],
        on_step: OnStep = unheard,
    ) -> None:
        """Change what is set for a group (None: for all pages), at once; then let the schedule of its pages follow."""

    async def remove_group(self, name: str) -> bool:
        """Take a group off the list, with what is set for it; False where it has pages, is main, or is not there."""

    async def groups(self) -> list[tuple[str, int, JsonObject]]:
        """Groups with their number of pages and settings."""

    async def history(self, url: str, *, limit: int) -> list[HistoryEntry]:
        """States of a page, newest first, with the latest 1,000 changes of its items. Raises NotWatched."""


class RoundStore(Protocol):
    """How many pages hosts have, and how often these are wanted."""

    async def own_schedules(self) -> list[JsonObject]:
        """The intervals and cron expressions that pages have of their own, each once."""

    async def crowds(self, least: int) -> AsyncIterator[HostPages]:
        """The hosts with at least so many pages that are due at some time."""

    async def schedules_of(self, host_id: int) -> list[tuple[int, JsonObject, int]]:
        """What pages of a host that are due at some time set of their schedule: (group, settings, pages) each."""


class SignalStore(Protocol):
    """What is known of pages beside their states."""

    async def learnt(self, url: str) -> tuple[int, SignalContext] | None:
        """What is known of a page beside its state, with its id; None where the page is not watched."""

    async def noise_of_host(self, host: str) -> list[HostNoise]:
        """What changes from check to check on pages of a host: what is muted first, then by how many pages share it."""

    async def hear(self, page_id: int, keys: Sequence[int], *, muted: bool) -> None:
        """Let the user hear of these places of a page, muted or not; or mute them again as they are learnt.

        keys  of `Noise`; a page that is not watched is left out
        """

    async def hear_host(self, host: str, keys: Sequence[int], *, muted: bool) -> None:
        """The same for these places on all pages of a host; those that nothing is known of are left out."""

    async def take_listings(self, now: Instant) -> int:
        """Take over what feeds and sitemaps say of other pages, a step at a time; returns of how many it was news.

        A page of which one of them says something else than before is due soon. What a feed or sitemap said that is
        watched no more is forgotten.
        """


class StormStore(Protocol):
    """Changes that many pages of a host have in common, each told once."""

    async def storms_to_announce(self, now: Instant) -> list[StormRow]:
        """Storms whose gathering has ended and that nobody was told of; those without a page are forgotten instead."""

    async def announce_storm(
        self, storm_id: int, alert: AlertDraft, now: Instant, *, excerpt: JsonObject | None
    ) -> None:
        """Write a storm's alert and mark it as told, in one transaction; one released meanwhile is not told.

        excerpt  what changed, for whoever lists it later
        """

    async def storms(self, *, limit: int, before: int | None = None) -> list[StormRow]:
        """The latest storms, newest first; `before` is an id."""

    async def storm(self, storm_id: int) -> StormRow | None:
        """One storm."""

    async def storm_verdicts(self, storm_id: int, *, after: tuple[int, int], limit: int) -> list[StormVerdict]:
        """Its verdicts, in order of page and id, after this (page, id)."""

    async def count_withheld(self, storm_id: int) -> int:
        """How many of its verdicts have no alert of their own, and none to come."""

    async def release_storm(self, storm_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        """Let each page of a storm have its alerts after all; returns how many pages. Raises UsageError.

        Of many pages it is done a step at a time, as in `WatchList`; the same call once more goes on. Verdicts that
        come later are told page by page.
        """


class TableStore(Protocol):
    """The spec's table."""

    async def table_rows(self) -> AsyncIterator[TableRow]:
        """Every record, in order of storing (`stored`, then URL by code point), of one instant."""

    async def import_table(self, rows: Iterable[TableRow], now: Instant, *, replace: bool) -> int:
        """Take a whole table in one transaction; raises HasStates naming pages that have states already."""


class StoreCare(Protocol):
    """Keeping the store well."""

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        """Copy the store as it was at one instant; yields (pages done, all)."""

    async def check(self) -> list[str]:
        """What is wrong with the store: its integrity and the program's own invariants; empty if nothing is."""

    async def without_digest(self) -> dict[str, int]:
        """How many states, verdicts and alerts `check` cannot compare with what was written: they are too old."""

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        """Forget history, alerts, answered questions and the audit log older than this; returns how many rows.

        At most `limit` at once. Sessions that are over go, too, and what has a time of its own: answers to be given
        once more after a day, activity after eight, jobs after thirty.
        An alert that waits for a channel is kept, unless that channel is configured no more, or disabled.
        """

    async def forget(self, now: Instant, *, history: timedelta, limit: int) -> dict[str, int]:
        """The same as `prune`; returns how many of each kind: "states", "alerts", "questions" and so on."""

    async def is_held(self) -> bool:
        """Whether an engine, of this process or another one, holds the store."""

    async def close(self) -> None:
        """Close connections."""
