"""The list of pages: the filters in its URL, and a line per page. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from fastapi import Query
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from tocsin.model import (
    MOST_SORTED,
    BoundedCount,
    CheckOutcome,
    DayMark,
    DayMarks,
    GroupRow,
    Instant,
    JsonObject,
    PageQuery,
    PageRow,
    PageSort,
    View,
    day_of,
)
from tocsin.server.web.formatting import Room, failure, short, short_url
from tocsin.spec.topper.state import FIELDS, TOPPER_FIELDS
from tocsin.wording.words import Words

# In the order of the filters; the later ones are shown where they have pages, or are selected.
SHOWN: Final = (View.ALL, View.RECENT, View.PROBLEMS, View.DECLARING, View.QUIET)
_IF_ANY: Final = (View.NEW, View.ASKED, View.PAUSED, View.OFF)
# Kinds of failures that have a text of their own.
_TOLD_KINDS: Final = frozenset({"dns", "connect", "tls", "timeout", "status", "redirect", "blocked-address"})
# With a shape beside the word.
_SIGNS: Final[Mapping[View, str]] = {View.PROBLEMS: "bad", View.PAUSED: "off"}
# Of a page that changed within a week, its sign is that of the change.
_LATELY_US: Final = 7 * 86_400_000_000
_DAYS: Final = 30
MOST_GROUPS: Final = 12
_DAY_WIDTH: Final = 3
# About three dates.
_MOST_OF_A_VALUE: Final = 30
_MOST_OF_WHAT: Final = 50
_MOST_OF_A_LINE: Final = 100  # Bytes of foreign text in one line, so that the largest 50 lines are below 50 KB.
_FAILED: Final = (CheckOutcome.UNREACHABLE, CheckOutcome.DISALLOWED, CheckOutcome.DEFERRED, CheckOutcome.SUSPECT)


class PageListFilter(BaseModel):
    """The filters of a list.

    by    the meaning of `q`: words of URL and notes, or a host
    sort  "": of all pages the last change first, of others the view's own order
    more  further columns are shown
    """

    model_config = ConfigDict(extra="ignore")

    view: View = View.ALL
    group: str = ""
    q: str = ""
    by: str = "words"
    sort: Literal["", "changed_at", "title", "next_at", "host"] = ""
    more: Literal["", "1"] = ""
    after: str = ""

    @property
    def query(self) -> PageQuery:
        """The query for the store."""
        said = self.q.strip()
        is_host = self.by == "host"
        sort = PageSort(self.sort) if self.sort else None
        if sort is None and self.view == View.ALL and not said:
            sort = PageSort.CHANGED
        return PageQuery(
            view=self.view,
            group=self.group or None,
            host=said.lower().rstrip(".") or None if is_host else None,
            words=said or None if not is_host else None,
            sort=sort,
        )

    @property
    def is_plain(self) -> bool:
        """Whether there are no filters."""
        return replace(self.query, sort=None) == PageQuery()

    def path(self, **changes: str) -> str:
        """The path of this list with changed filters; its first part, unless `after` is given."""
        said = {**self.values, "after": ""} | changes
        usual = {"view": "all", "by": "words" if not said["q"] else ""}
        kept = {name: value for name, value in said.items() if value and value != usual.get(name)}
        if "q" not in kept:
            kept.pop("by", None)
        return f"/pages?{urlencode(kept)}" if kept else "/pages"

    @property
    def values(self) -> dict[str, str]:
        """The filters as hidden fields of a form."""
        named = {"view": str(self.view), "group": self.group, "q": self.q.strip(), "by": self.by}
        return {**named, "sort": self.sort, "more": self.more}


AskedFor = Annotated[PageListFilter, Query()]


class PageLine(Struct, frozen=True):
    """A line of the list.

    name      the user's words, else the title, else the short URL
    host      beside it; "" where the name has it
    tone      of its sign, and
    word      key of the word of that
    what      what changed last, in a few words; "" where `said` is the key of a text for it, which may name the
    status    of the answer
    at        when that was
    declares  (field, value of a topper element) each (T53)
    """

    id: int
    name: str
    host: str
    url: str
    tone: str
    word: str
    what: str
    said: str
    status: int
    at: Instant | None
    group: str
    spark: Spark
    is_paused: bool
    declares: tuple[tuple[str, str], ...]
    next_at: Instant | None
    why: str
    text: str
    question_id: int | None


class Spark(Struct, frozen=True):
    """Thirty days as paths of an SVG picture of 92 by 20; "" for what was on none of them.

    counts  of days, by mark
    """

    minor: str
    major: str
    problem: str
    counts: tuple[int, int, int]


def to_spark(days: DayMarks, now: Instant) -> Spark:
    """Draw the last 30 days of a page."""
    marks = days.until(day_of(now), _DAYS)
    minor, major, problem = (
        _path(marks, mark, y, height)
        for mark, y, height in ((DayMark.MINOR, 9, 9), (DayMark.MAJOR, 2, 16), (DayMark.PROBLEM, 14, 4))
    )
    return Spark(
        minor, major, problem, (marks.count(DayMark.MAJOR), marks.count(DayMark.MINOR), marks.count(DayMark.PROBLEM))
    )


def _path(marks: Sequence[DayMark], wanted: DayMark, y: int, height: int) -> str:
    """Draw a stroke for each day with this mark; relative to the one before, which is the shortest."""
    drawn, at = "", None
    for number, mark in enumerate(marks):
        if mark is wanted:
            drawn += f"M{2 + number * _DAY_WIDTH} {y}" if at is None else f"m{(number - at) * _DAY_WIDTH}-{height}"
            drawn += f"v{height}"
            at = number
    return drawn


def to_line(page: PageRow, mode: str, now: Instant, *, has_more: bool = False) -> PageLine:
    """Make the line of a page.

    mode      of the page
    has_more  the further columns are shown, too
    """
    report = page.last.report or {}
    outcome, room = report.get("outcome"), Room(_MOST_OF_A_LINE)
    # The group first: it is short, and a long title must not take its room.
    group = room.fit(page.group, 24) or "…"
    name = room.fit(page.text or page.title or short_url(page.url, 64), 80)
    problem = problem_key(report)
    changed_at = page.last.changed_at
    change = page.change.outcome or ("minor" if changed_at is not None else "")
    what, said, at = "", problem, page.last.checked_at
    if not problem:
        at = changed_at
        what = room.fit(page.change.short or "", _MOST_OF_WHAT)
        said = "" if what else f"changed_{change}" if change else "no_change" if outcome else "unchecked"
    if page.paused:
        tone, word = "off", "paused"
    elif problem:
        tone, word = "bad", "problem"
    elif changed_at is not None and now - changed_at < _LATELY_US:
        tone, word = change, change
    else:
        tone, word = "same", "unchanged" if outcome else "unchecked"
    return PageLine(
        page.id,
        name or "…",
        room.fit(page.host, 32) if page.text or page.title else "",
        room.fit(page.url, 120) if has_more else "",
        tone,
        word,
        what,
        said,
        int(report.get("status") or 0),
        at,
        group,
        to_spark(page.days, now),
        page.paused,
        declared(page.state.fields, room) if has_more else (),
        None if page.paused or mode == "off" else page.due.at,
        room.fit(page.due.why or "", 40) if has_more else "",
        room.fit(page.text or "", 60) if has_more and page.title else "",
        page.question_id,
    )


def problem_key(report: JsonObject) -> str:
    """Return the key of the text about the problem of a check; "" without one."""
    outcome, error = report.get("outcome"), report.get("error")
    if outcome not in _FAILED:
        return ""
    kind = (error[0] if isinstance(error, list | tuple) else error.get("kind")) if error else None
    return f"problem_{kind}" if kind in _TOLD_KINDS else f"problem_{outcome}"


def problem_of(report: JsonObject, words: Words) -> str:
    """Return the problem of a check; "" without one."""
    if report.get("problem"):
        return str(report["problem"])
    error = report.get("error")
    if not error or report.get("outcome") not in _FAILED:
        return ""
    kind, message = error if isinstance(error, list | tuple) else (error.get("kind"), error.get("message"))
    return failure(str(kind or ""), str(message or ""), words)


def browser_mend(report: JsonObject, words: Words) -> str:
    """Say what one can do about a page that was not received in the browser; "" where it was."""
    error = report.get("error")
    if not error or report.get("outcome") not in _FAILED:
        return ""
    kind = error[0] if isinstance(error, list | tuple) else error.get("kind")
    key = f"browser_mend.{kind}"
    return words.say(key if key in words else "browser_mend.elsewhere")


def declared(fields: tuple[str | None, ...] | None, room: Room) -> tuple[tuple[str, str], ...]:
    """List the declared fields, those of topper first with their values, within the room."""
    found = {name: value for name, value in zip(FIELDS, fields or (), strict=False) if value is not None}
    topper = [
        (name, room.fit(_latest_of(found[name]), _MOST_OF_A_VALUE + 2)) for name in TOPPER_FIELDS if name in found
    ]
    others = ", ".join(name for name in found if name not in TOPPER_FIELDS)
    return (*topper, (room.fit(others, 140), "")) if others else tuple(topper)


def _latest_of(value: str) -> str:
    """Return the last dates of a field that fit: new dates are at the end."""
    line = short(value, 10 * _MOST_OF_A_VALUE)
    if len(line) <= _MOST_OF_A_VALUE:
        return line
    shown = line[-_MOST_OF_A_VALUE:]
    return f"… {shown.partition(' ')[2] or shown}"


class Chip(Struct, frozen=True):
    """A filter of the list; `tone` is that of its shape, "" without one."""

    path: str
    key: str
    tally: BoundedCount
    is_this: bool
    tone: str


def chips_of(asked: PageListFilter, tallies: Mapping[View, BoundedCount]) -> list[Chip]:
    """Make the filters of a list; a search goes over all pages, so that none is the current one then."""
    chips = []
    for view in (*SHOWN, *_IF_ANY, *(view for view in View if view not in (*SHOWN, *_IF_ANY))):
        is_this = view is asked.view and not asked.q
        tally = tallies.get(view, BoundedCount(0))
        if is_this or view in SHOWN or (view in _IF_ANY and tally.number):
            path = PageListFilter(view=view, group=asked.group, more=asked.more).path()
            chips.append(Chip(path, view.value, tally, is_this, _SIGNS.get(view, "")))
    return chips


def queries_of_chips(asked: PageListFilter) -> dict[View, PageQuery]:
    """Return the queries that the filters are counted by, within the selected group."""
    base = PageQuery(group=asked.group or None)
    wanted = {*SHOWN, *_IF_ANY, asked.view}
    return {view: replace(base, view=view) for view in View if view in wanted}


class SortLink(Struct, frozen=True):
    """An order of the list; `path` is "" where it is not offered."""

    path: str
    is_this: bool


def sorts_of(asked: PageListFilter, number: BoundedCount) -> dict[str, SortLink]:
    """Return the orders that are offered for a list of this many pages."""
    is_search, is_all = bool(asked.q), asked.view == View.ALL
    is_short = number.is_exact and number.number <= MOST_SORTED and asked.view != View.QUIET
    used = asked.query.sort
    if used is None and asked.view in (View.CHANGED, View.RECENT, View.QUIET):
        used = PageSort.CHANGED
    links = {}
    for sort in PageSort:
        always = is_all and (sort == PageSort.CHANGED or (sort != PageSort.NEXT and not asked.group))
        path = "" if is_search or not (is_short or always) else asked.path(sort=sort.value)
        links[sort.value] = SortLink(path, sort == used)
    return links


class RailEntry(Struct, frozen=True):
    """A group at the side of the list."""

    name: str
    path: str
    pages: int
    is_this: bool


def rail_of(groups: Sequence[GroupRow], unseen: Mapping[str, BoundedCount], asked: PageListFilter) -> list[RailEntry]:
    """Return the groups at the side: those with the most unseen alerts, then the largest; and the chosen one."""
    nothing = BoundedCount(0)
    ranked = sorted(groups, key=lambda row: (-unseen.get(row.name, nothing).number, -row.pages, row.name))
    shown = [row for row in ranked if row.pages or row.name == asked.group][:MOST_GROUPS]
    if asked.group and asked.group not in [row.name for row in shown]:
        shown += [row for row in groups if row.name == asked.group]
    # A host is not searched within a group.
    base = asked.model_copy(update={"q": "", "by": "words"}) if asked.by == "host" else asked
    return [RailEntry(row.name, base.path(group=row.name), row.pages, row.name == asked.group) for row in shown]
