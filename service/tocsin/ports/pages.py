"""The watch list: edits by commands, and lists for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol, TypeAlias

from tocsin.model import (
    ActivityRow,
    AlertQuery,
    AlertRow,
    BoundedCount,
    ChangeMark,
    GroupRow,
    HistoryEntry,
    Instant,
    JsonObject,
    KeptLogin,
    NewPage,
    PageFilter,
    PageQuery,
    PageRow,
    QuestionRow,
    RenderingEntry,
    Slice,
    StandingAnswerRow,
    StateEntry,
    VerdictEntry,
)

# Called after each transaction of a long edit with the number of its pages.
OnStep: TypeAlias = Callable[[int], None]


def unheard(_pages: int) -> None:
    """Ignore a report of a step."""


class WatchList(Protocol):
    """The list of pages. An edit of many pages is done in steps of at most 1,000 rows, a transaction each.

    A running engine writes between two steps. A cancelled call leaves the steps done that were reported to `on_step`;
    the same call again continues.

    if_revision  that an edit of one page, or of one group, is based on; None: any. Where it has another one, nothing is
                 changed. Raises StaleRevision
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

        request  of `open_request`: requests the new pages in the same step, so that no engine checks them twice
        ids      filled with the ids of each step before `on_step` is called, for a caller that may be cancelled
        """

    async def page(self, url: str) -> PageRow | None:
        """Return one page."""

    async def pages(self, which: PageFilter, *, after_id: int = 0, limit: int = 1000) -> list[PageRow]:
        """Return pages in order of id, after this one."""

    async def count_pages(self, which: PageFilter) -> int:
        """Count pages."""

    async def page_ids(self, which: PageFilter, *, last_id: int, after_id: int = 0, limit: int = 1000) -> list[int]:
        """Return the ids of these pages in order, after this one and up to `last_id`."""

    async def last_page_id(self) -> int:
        """Return the id of the latest page; pages that are added later have greater ones."""

    async def last_times(self) -> tuple[Instant | None, Instant | None]:
        """Return when any page was checked last, and when any state was stored last."""

    async def remove_pages(
        self, page_ids: Sequence[int], *, if_revision: int | None = None, on_step: OnStep = unheard
    ) -> int:
        """Remove pages with everything that is stored of them; returns how many."""

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
        if_revision: int | None = None,
        on_step: OnStep = unheard,
    ) -> int:
        """Change the settings of these pages: `settings` are merged, `unset` keys inherit again. Returns how many.

        Requests give up pages that become paused.

        of  how many pages are edited in all, if these are only some: it decides how far their checks are spread
        """

    async def edit_group(
        self,
        name: str | None,
        now: Instant,
        *,
        settings: JsonObject,
        unset: Sequence[str],
        if_revision: int | None = None,
        on_step: OnStep = unheard,
    ) -> None:
        """Change the settings of a group (None: of all pages), then move the schedule of its pages in steps."""

    async def remove_group(self, name: str, *, if_revision: int | None = None) -> bool:
        """Remove a group with its settings; False if it has pages, is main, or is not there."""

    async def login(self, page_id: int) -> KeptLogin | None:
        """Return the cookies that the last login of a page's steps left; None if none are kept."""

    async def keep_login(self, page_id: int, login: KeptLogin) -> None:
        """Keep these cookies for the next visit of a page, in place of earlier ones."""

    async def forget_logins(self, page_ids: Sequence[int]) -> int:
        """Delete the cookies of these pages; returns how many had any. An edit of steps or secrets does it, too."""

    async def groups(self) -> list[tuple[str, int, JsonObject]]:
        """Return each group with its number of pages and its settings."""

    async def history(self, url: str, *, limit: int) -> list[HistoryEntry]:
        """Return states of a page, newest first, with the latest 1,000 changes of its items. Raises NotWatched."""


class BrowseStore(Protocol):
    """Lists for people. They are read through a connection of their own and do not hold up checks.

    Filters that cannot be combined (see `PageQuery`, `AlertQuery`) raise UsageError, as does an invalid cursor.

    cursor  `Slice.next` of the previous page; None begins
    """

    async def browse_pages(self, query: PageQuery, *, cursor: str | None = None, limit: int = 50) -> Slice[PageRow]:
        """Return pages of a list, in its order."""

    async def tally_pages(self, query: PageQuery) -> BoundedCount:
        """Count the pages of a list, up to 10,000; further only where that costs nothing."""

    async def browse_ids(
        self, query: PageQuery, *, cursor: str | None = None, limit: int = 1000, last_id: int
    ) -> Slice[int]:
        """Return the ids of a list's pages up to `last_id`, from the list's end, for bulk edits.

        Every page that stays on the list is returned; in `View.CHANGED` one that changes meanwhile may come twice.
        """

    async def keep_titles(self) -> int:
        """Put the titles that pages were given since among the words that they are found by; returns how many pages.

        Until then a search looks through these pages themselves.
        """

    async def page_by_id(self, page_id: int) -> PageRow | None:
        """Return one page."""

    async def pages_by_id(self, page_ids: Sequence[int]) -> list[PageRow]:
        """Return those of these pages that exist, in order of id."""

    async def page_revision(self, page_id: int) -> int | None:
        """Return a number that grows with each edit of the page, but not with its checks; None if it is not watched."""

    async def group_rows(self) -> list[GroupRow]:
        """Return all groups by name, with the number of their pages."""

    async def revision_for_all(self) -> int:
        """Return a number that grows with each edit of the settings for all pages."""

    async def states_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[StateEntry]:
        """Return states of a page, newest first."""

    async def state(self, page_id: int, state_id: int) -> StateEntry | None:
        """Return one state of a page."""

    async def state_before(self, page_id: int, state_id: int) -> StateEntry | None:
        """Return the state of a page that precedes this one, which need not exist any more."""

    async def verdicts_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[VerdictEntry]:
        """Return verdicts on a page, newest first."""

    async def change_marks(self, page_id: int, since: Instant, *, limit: int) -> list[ChangeMark]:
        """Return when a page changed, the latest first, without what changed."""

    async def verdict(self, verdict_id: int) -> VerdictEntry | None:
        """Return one verdict."""

    async def renderings_of(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[RenderingEntry]:
        """Return renderings of a page, newest first."""

    async def browse_alerts(
        self,
        query: AlertQuery,
        *,
        cursor: str | None = None,
        limit: int = 50,
        takes: Callable[[AlertRow], bool] | None = None,
    ) -> Slice[AlertRow]:
        """Return alerts, newest first.

        takes  only those; at most 1,000 alerts are looked at for a part, so that it may be shorter than asked for, or
               empty, although the list goes on. Called in another thread
        """

    async def tally_alerts(self, query: AlertQuery) -> BoundedCount:
        """Count alerts, up to 10,000."""

    async def unseen_by_group(self) -> dict[str, BoundedCount]:
        """Count the unseen alerts of each group that has any, up to 1,000 each."""

    async def mark_seen(self, alert_ids: Sequence[str], now: Instant, *, seen: bool) -> int:
        """Mark alerts as seen, or as unseen; returns how many were changed."""

    async def mark_all_seen(self, query: AlertQuery, now: Instant, *, up_to: int) -> int:
        """Mark all alerts of a list up to this position as seen, in steps; returns how many."""

    async def browse_questions(
        self, *, closed: bool = False, cursor: str | None = None, limit: int = 50
    ) -> Slice[QuestionRow]:
        """Return open questions (the most pages first), or closed ones (the latest first)."""

    async def browse_standing_answers(self, *, cursor: str | None = None, limit: int = 50) -> Slice[StandingAnswerRow]:
        """Return standing answers, the latest first."""

    async def standing_answer(self, answer_id: int) -> StandingAnswerRow | None:
        """Return one standing answer."""

    async def tally_questions(self) -> BoundedCount:
        """Count questions that were asked and wait for an answer."""

    async def tally_renders(self) -> BoundedCount:
        """Count pages that wait for their rendering or are being rendered."""

    async def activity(self, since: Instant) -> list[ActivityRow]:
        """Return the activity since then, oldest first, five minutes a row."""

    async def note_activity(self, row: ActivityRow) -> None:
        """Add to the activity of these five minutes."""

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        """Delete activity that is older."""
