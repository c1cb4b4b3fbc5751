"""Lists of pages and alerts with their filters, and the records of one page."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final, Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tocsin.model.common import FieldValues, Instant, JsonObject

Row = TypeVar("Row")


class View(StrEnum):
    """The lists of pages that are offered; each is as fast on a million pages as on ten.

    problems   the last check did not receive it, or found something else in its place
    new        it was not checked yet
    asked      an open question is about it
    declaring  its state has a topper element (T53)
    changed    it has changed at least once; the latest change first, where others begin with the page added last
    recent     the same, since a time
    quiet      it has not changed since a time, and was added before that; the latest change first
    """

    ALL = "all"
    CHANGED = "changed"
    PROBLEMS = "problems"
    ASKED = "asked"
    NEW = "new"
    DECLARING = "declaring"
    PAUSED = "paused"
    OFF = "off"
    RECENT = "recent"
    QUIET = "quiet"


class PageSort(StrEnum):
    """Other orders of a list of pages. Pages without a value come last.

    changed_at  the latest change first
    title       by the first 16 letters
    next_at     the page that is due first
    """

    CHANGED = "changed_at"
    TITLE = "title"
    NEXT = "next_at"
    HOST = "host"


# The spans that `recent` and `quiet` are about where people and programs ask for them.
SPANS: Final = {View.RECENT: timedelta(days=7), View.QUIET: timedelta(days=30)}

# The most pages of a list that is sorted without an index.
MOST_SORTED: Final = 2000


class PageQuery(Struct, frozen=True):
    """Which pages a list shows.

    group  only of this group
    host   only of this host
    words  each begins a word of the URL (but its scheme), of that as it was typed, of the title, or of the user's own
           text: letters and digits in any case, of which the first 24 count; at most 16. A part of such a list
           may be shorter than asked for, or empty, although it goes on
    sort   the order; None: that of the view
    since  the time that `recent` and `quiet` are about; see `asked_at`
    What cannot be combined and stay fast is refused with UsageError: `view` goes with `group` and with nothing else;
    `host` and `words` each stand alone. All pages are sorted by `changed_at`, `title` or `host`, pages of a group by
    `changed_at`; every other list of at most 2,000 pages by anything. A part of a list that is sorted may be shorter
    than asked for, or empty, although it goes on.
    """

    view: View = View.ALL
    group: str | None = None
    host: str | None = None
    words: str | None = None
    sort: PageSort | None = None
    since: Instant = 0

    def asked_at(self, now: Instant) -> PageQuery:
        """The same with the time that its view is about: a week before now, or 30 days."""
        span = SPANS.get(self.view)
        return self if span is None else replace(self, since=now - round(span.total_seconds() * 1_000_000))


class AlertQuery(Struct, frozen=True):
    """Which alerts a list shows, the latest first.

    unseen   not marked as seen
    problems of any kind that keeps pages from being checked: unreachable, disallowed, suspect, outage
    outcome  of the change
    kind     of the event: "changed", "unreachable", "recovered", "disallowed", "suspect", "needs-browser",
             "unchanged", "too-soon", "storm", "outage"
    group    that the page was in when it was told
    dead     a channel did not take it in time
    digest   that it is in, by number
    since    told at this time or later; goes with everything
    until    told before this time; the same
    `unseen` goes with `outcome`, `problems` or `group`; else `group`, `page_id`, `kind`, `problems`, `dead` and
    `digest` each stand alone.
    """

    unseen: bool = False
    problems: bool = False
    outcome: Literal["major", "minor"] | None = None
    kind: str | None = None
    group: str | None = None
    page_id: int | None = None
    dead: bool = False
    digest: int | None = None
    since: Instant | None = None
    until: Instant | None = None


class Slice(Struct, Generic[Row], frozen=True):
    """A part of a list.

    next  the cursor with which the list goes on; None at its end
    """

    rows: tuple[Row, ...]
    next: str | None = None


class BoundedCount(Struct, frozen=True):
    """A count: exact, or a lower bound where counting further would take too long."""

    number: int
    is_exact: bool = True


class GroupRow(Struct, frozen=True):
    """A group of pages; `revision` grows with each edit of what is set for it."""

    name: str
    pages: int
    settings: JsonObject
    revision: int = 0


class StateEntry(Struct, frozen=True):
    """A run of equal storings of one page."""

    id: int
    first_at: Instant
    last_at: Instant
    storings: int
    in_table: bool
    fields: FieldValues


class VerdictEntry(Struct, frozen=True):
    """What one comparison found; `data` is its event but for the rendering."""

    id: int
    page_id: int
    at: Instant
    outcome: str
    reason: str | None
    rule: str
    basis: str
    data: JsonObject
    state_id: int | None = None
    alert_id: str | None = None
    storm_id: int | None = None


class ChangeMark(Struct, frozen=True, gc=False):
    """A change of a page, minor or major, without what changed."""

    at: Instant
    outcome: str
    basis: str


class RenderingEntry(Struct, frozen=True):
    """What one rendering received, as the event shows it.

    items  how the page's items had changed; None where they had not, or were not compared
    """

    id: int
    started_at: Instant
    rendering: JsonObject
    items: JsonObject | None = None


class ActivityRow(Struct, frozen=True):
    """What happened within one span of time.

    at         its beginning
    outcomes   checks by outcome
    delays     checks by how late they began: by the upper bound in milliseconds, "" beyond the last one
    delivered  alerts that a channel accepted, once for each channel, and
    late       those of them that it accepted later than `LATE_ALERT_S` after they were due
    """

    at: Instant
    outcomes: dict[str, int]
    alerts: int = 0
    rendered: int = 0
    wire_bytes: int = 0
    saved_bytes: int = 0
    delays: dict[str, int] = {}
    delivered: int = 0
    late: int = 0


LATE_ALERT_S: Final = 10.0
