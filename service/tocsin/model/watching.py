"""The watch list as people see it, and what is kept of its pages."""

from __future__ import annotations

from msgspec import Struct

from tocsin.model.browsing import StateEntry, VerdictEntry
from tocsin.model.common import DueTime, FieldValues, Instant, JsonObject, PageFlags
from tocsin.model.days import DayMarks
from tocsin.model.knowledge import ItemChangeEntry


class NewPage(Struct, frozen=True):
    """A page to be watched; `url`, `host`, `shard` as spec.html.urls.watch_url gives them.

    paused  listed, and not asked for until it is resumed
    """

    url: str
    given: str
    host: str
    shard: int
    group: str = "main"
    text: str | None = None
    settings: JsonObject | None = None
    secrets: tuple[str, str] | None = None
    paused: bool = False


class KeptLogin(Struct, frozen=True):
    """What a login of a page's steps left for its next visit.

    cookies  a secret: as the browser gave them, JSON
    """

    cookies: str
    kept_at: Instant


class LastCheck(Struct, frozen=True):
    """The last check of a page: when it was, and its report; and when the page was last received, and changed."""

    checked_at: Instant | None = None
    received_at: Instant | None = None
    changed_at: Instant | None = None
    report: JsonObject | None = None


class LastChange(Struct, frozen=True, gc=False):
    """The last change of a page, minor or major, and that in words; None of a page that has not changed.

    short  None until its alert is written
    """

    outcome: str | None = None
    short: str | None = None


class LatestState(Struct, frozen=True, gc=False):
    """The twelve fields of a page's latest state, and when they were last stored; None before the first one."""

    fields: FieldValues | None = None
    stored_at: Instant | None = None


class PageRow(Struct, frozen=True):
    """A page as listed.

    saved_bytes  that its server did not have to send again
    title        its own, when it was last received as a whole
    """

    id: int
    url: str
    given: str
    host: str
    group: str
    paused: bool
    text: str | None
    settings: JsonObject
    due: DueTime = DueTime()
    last: LastCheck = LastCheck()
    state: LatestState = LatestState()
    question_id: int | None = None
    has_secrets: bool = False
    secrets: tuple[str, str] | None = None
    flags: PageFlags = PageFlags()
    saved_bytes: int = 0
    title: str | None = None
    change: LastChange = LastChange()
    days: DayMarks = DayMarks()


class HostPages(Struct, frozen=True):
    """A host with many pages.

    pages   those that are due at some time
    robots  what is kept of the robots.txt of each of its origins, as `save_robots` was given it
    """

    host_id: int
    host: str
    pages: int
    robots: tuple[str, ...] = ()


class HistoryEntry(StateEntry, frozen=True):
    """One state of a page, and what its comparison with the one before found.

    verdicts  the oldest first
    items     how its items changed while this was the latest state, the oldest first; the oldest state that is kept has
              the changes before it, too
    """

    verdicts: tuple[VerdictEntry, ...] = ()
    items: tuple[ItemChangeEntry, ...] = ()


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
    with_own   only pages with settings of their own
    shells     only pages whose content scripts make
    """

    urls: tuple[str, ...] | None = None
    group: str | None = None
    host: str | None = None
    matching: str | None = None
    outcome: str | None = None
    topper: bool = False
    paused: bool | None = None
    with_own: bool = False
    shells: bool = False
