"""The watch list: edits by commands, and lists for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta

    from tocsin.model import (
        ActivityRow,
        AlertQuery,
        AlertRow,
        BoundedCount,
        GroupRow,
        HistoryEntry,
        Instant,
        JsonObject,
        NewPage,
        PageFilter,
        PageQuery,
        PageRow,
        QuestionRow,
        RenderingEntry,
        RuleRow,
        Slice,
        StateEntry,
        VerdictEntry,
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


class BrowseStore(Protocol):
    """Reads through a connection of its own, so that nobody who looks holds up who checks.

    cursor  `Slice.next` of the part before; None begins. Raises UsageError for one that was made up, and for what is
            not offered together (see `PageQuery`, `AlertQuery`)
    """

    async def browse_pages(self, query: PageQuery, *, cursor: str | None = None, limit: int = 50) -> Slice[PageRow]:
        """Pages of a list, in its order."""

    async def tally_pages(self, query: PageQuery) -> BoundedCount:
        """How many a list has; counted to 10,000, and further only where that costs nothing."""

    async def browse_ids(
        self, query: PageQuery, *, cursor: str | None = None, limit: int = 1000, last_id: int
    ) -> Slice[int]:
        """The ids of a list's pages up to `last_id`, for what is done to all of them: from the list's end.

        Each page that is there all along is met; one that changes meanwhile may be met twice in `View.CHANGED`.
        """

    async def page_by_id(self, page_id: int) -> PageRow | None:
        """One page."""

    async def pages_by_id(self, page_ids: Sequence[int]) -> list[PageRow]:
        """Those of these pages that there are, in order of id."""

    async def page_revision(self, page_id: int) -> int | None:
        """A number that grows with each edit of the page by somebody (not with its checks)."""

    async def group_rows(self) -> list[GroupRow]:
        """All groups, by name, with how many pages each has."""

    async def revision_for_all(self) -> int:
        """A number that grows with each edit of what is set for all pages."""

    async def states_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[StateEntry]:
        """States of a page, newest first."""

    async def state(self, page_id: int, state_id: int) -> StateEntry | None:
        """One state of a page."""

    async def state_before(self, page_id: int, state_id: int) -> StateEntry | None:
        """The state of a page that stands before one in its list; this one need not be there any more."""

    async def verdicts_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[VerdictEntry]:
        """Verdicts on a page, newest first."""

    async def verdict(self, verdict_id: int) -> VerdictEntry | None:
        """One verdict."""

    async def renderings_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[RenderingEntry]:
        """Renderings of a page, newest first."""

    async def browse_alerts(self, query: AlertQuery, *, cursor: str | None = None, limit: int = 50) -> Slice[AlertRow]:
        """Alerts, the latest first."""

    async def tally_alerts(self, query: AlertQuery) -> BoundedCount:
        """How many alerts there are, counted to 10,000."""

    async def mark_seen(self, alert_ids: Sequence[str], now: Instant, *, seen: bool) -> int:
        """Mark alerts as seen, or as not; returns how many that changed."""

    async def mark_all_seen(self, query: AlertQuery, now: Instant, *, up_to: int) -> int:
        """Mark all alerts of a list up to this position as seen, a step at a time; returns how many."""

    async def browse_questions(
        self, *, closed: bool = False, cursor: str | None = None, limit: int = 50
    ) -> Slice[QuestionRow]:
        """Questions that are open (the most pages first), or that ended (the latest first)."""

    async def browse_rules(self, *, cursor: str | None = None, limit: int = 50) -> Slice[RuleRow]:
        """Rules in force, the latest first."""

    async def rule(self, rule_id: int) -> RuleRow | None:
        """One rule in force."""

    async def tally_questions(self) -> BoundedCount:
        """How many questions were asked and wait for an answer."""

    async def tally_renders(self) -> BoundedCount:
        """How many pages wait for their rendering, or hold a slot."""

    async def activity(self, since: Instant) -> list[ActivityRow]:
        """What was noted since then, oldest first, five minutes each."""

    async def note_activity(self, row: ActivityRow) -> None:
        """Add to what was noted of these five minutes."""

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        """Forget what is older."""
