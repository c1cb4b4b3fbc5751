"""Lists of pages and alerts with their filters, and the records of one page."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, Literal, TypeVar

from msgspec import Struct

from tocsin.model.common import FieldValues, Instant, JsonObject

Row = TypeVar("Row")


class View(StrEnum):
    """The lists of pages that are offered; each is as fast on a million pages as on ten.

    problems   the last check did not receive it, or found something else in its place
    new        it was not checked yet
    asked      an open question is about it
    declaring  its state has a topper element (T53)
    changed    it has changed at least once; the latest change first, where all others begin with the page added last
    """

    ALL = "all"
    CHANGED = "changed"
    PROBLEMS = "problems"
    ASKED = "asked"
    NEW = "new"
    DECLARING = "declaring"
    PAUSED = "paused"
    OFF = "off"


class PageQuery(Struct, frozen=True):
    """Which pages a list shows.

    group  only of this group
    host   only of this host
    words  each begins a word of the URL (but its scheme), of that as it was typed, or of the user's own text: letters
           and digits, whatever their case, of which the first 24 count; at most 16. A part of such a list may be
           shorter than asked for, or empty, although it goes on
    What cannot be combined and stay fast is refused with UsageError: `view` goes with `group` and with nothing else;
    `host` and `words` each stand alone.
    """

    view: View = View.ALL
    group: str | None = None
    host: str | None = None
    words: str | None = None


class AlertQuery(Struct, frozen=True):
    """Which alerts a list shows, the latest first.

    unseen   not marked as seen
    outcome  of the change
    kind     of the event: "changed", "unreachable", "recovered", "disallowed", "suspect", "unchanged", "too-soon",
             "storm", "outage"
    group    that the page was in when it was told
    dead     a channel did not take it in time
    digest   that it is in, by number
    `unseen` goes with `outcome`; `group`, `page_id`, `kind`, `dead` and `digest` each stand alone.
    """

    unseen: bool = False
    outcome: Literal["major", "minor"] | None = None
    kind: str | None = None
    group: str | None = None
    page_id: int | None = None
    dead: bool = False
    digest: int | None = None


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

    at        its beginning
    outcomes  checks by outcome
    """

    at: Instant
    outcomes: dict[str, int]
    alerts: int = 0
    rendered: int = 0
    wire_bytes: int = 0
    saved_bytes: int = 0
