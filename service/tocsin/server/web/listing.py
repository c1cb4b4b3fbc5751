"""The list of pages: the filters in its URL, and a line per page. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Query
from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from tocsin.model import BoundedCount, CheckOutcome, Instant, JsonObject, PageQuery, PageRow, View
from tocsin.server.web.formatting import Room, failure, short, short_url
from tocsin.spec.topper.state import FIELDS, TOPPER_FIELDS

TITLES: Final[Mapping[View, str]] = {
    View.ALL: "All",
    View.CHANGED: "Changed",
    View.PROBLEMS: "Problems",
    View.ASKED: "With a question",
    View.NEW: "Not checked yet",
    View.DECLARING: "Declaring",
    View.PAUSED: "Paused",
    View.OFF: "Off",
    View.RECENT: "Changed this week",
    View.QUIET: "Quiet for 30 days",
}
# About three dates.
_MOST_OF_A_VALUE: Final = 30
_MOST_OF_A_PROBLEM: Final = 110
_MOST_OF_A_LINE: Final = 240  # Bytes of foreign text in one line, so that the largest 50 lines are below 50 KB.
_CHANGES: Final = (CheckOutcome.MAJOR, CheckOutcome.MINOR)
_FAILED: Final = (CheckOutcome.UNREACHABLE, CheckOutcome.DISALLOWED, CheckOutcome.DEFERRED, CheckOutcome.SUSPECT)


class PageListFilter(BaseModel):
    """The filters of a list.

    by  the meaning of `q`: words of URL and notes, or a host
    """

    model_config = ConfigDict(extra="ignore")

    view: View = View.ALL
    group: str = ""
    q: str = ""
    by: str = "words"
    after: str = ""

    @property
    def query(self) -> PageQuery:
        """The query for the store."""
        said = self.q.strip()
        is_host = self.by == "host"
        return PageQuery(
            view=self.view,
            group=self.group or None,
            host=said.lower().rstrip(".") or None if is_host else None,
            words=said or None if not is_host else None,
        )

    @property
    def is_plain(self) -> bool:
        """Whether there are no filters."""
        return self.query == PageQuery()

    def path(self, **changes: str) -> str:
        """The path of this list with changed filters; its first part, unless `after` is given."""
        said = {"view": str(self.view), "group": self.group, "q": self.q.strip(), "by": self.by, "after": ""} | changes
        usual = {"view": "all", "by": "words" if not said["q"] else ""}
        kept = {name: value for name, value in said.items() if value and value != usual.get(name)}
        if "q" not in kept:
            kept.pop("by", None)
        return f"/?{urlencode(kept)}" if kept else "/"

    @property
    def values(self) -> dict[str, str]:
        """The filters as hidden fields of a form."""
        return {"view": str(self.view), "group": self.group, "q": self.q.strip(), "by": self.by}


AskedFor = Annotated[PageListFilter, Query()]


class PageLine(Struct, frozen=True):
    """A line of the list.

    name      the short URL; `whole` is more of it, if it was cut
    text      the user's notes, else the page's title
    badges    the outcome of the last check, then why the page is not checked
    declares  (field, value of a topper element) each (T53)
    problem   of the last check; "" without one
    """

    id: int
    name: str
    whole: str
    text: str
    group: str
    badges: tuple[str, ...]
    basis: str
    problem: str
    declares: tuple[tuple[str, str], ...]
    checked_at: Instant | None
    changed_at: Instant | None
    next_at: Instant | None
    why: str
    question_id: int | None


def to_line(page: PageRow, mode: str) -> PageLine:
    """Make the line of a page.

    mode  of the page
    """
    report = page.last.report or {}
    outcome = report.get("outcome")
    badges = [str(outcome) if outcome else "not checked yet"]
    if page.flags.is_shell:
        badges.append("built by scripts")
    if page.paused:
        badges.append("paused")
    if mode == "off":
        badges.append("off")
    room = Room(_MOST_OF_A_LINE)
    name = room.fit(short_url(page.url, 64), 64)
    problem = room.fit(problem_of(report), _MOST_OF_A_PROBLEM)
    says = declared(page.state.fields, room)
    why = room.fit(page.due.why or "", 40)
    group = room.fit(page.group, 24)
    text = room.fit(page.text or page.title or "", 90)
    return PageLine(
        page.id,
        name or "…",
        room.fit(page.url, 120) if "…" in name else "",
        text,
        group or "…",
        tuple(badges),
        str(report.get("basis") or "") if outcome in _CHANGES else "",
        problem,
        says,
        page.last.checked_at,
        page.last.changed_at,
        None if page.paused or mode == "off" else page.due.at,
        why,
        page.question_id,
    )


def problem_of(report: JsonObject) -> str:
    """Return the problem of a check; "" without one."""
    if report.get("problem"):
        return str(report["problem"])
    error = report.get("error")
    if not error or report.get("outcome") not in _FAILED:
        return ""
    kind, message = error if isinstance(error, list | tuple) else (error.get("kind"), error.get("message"))
    return failure(str(kind or ""), str(message or ""))


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


class Tab(Struct, frozen=True):
    """A view as a tab."""

    path: str
    title: str
    tally: BoundedCount
    is_this: bool


def queries_of_tabs(asked: PageListFilter) -> dict[View, PageQuery]:
    """Return the queries of the tabs: each view, within the selected group."""
    base = PageQuery(group=asked.group or None)
    return {view: replace(base, view=view) for view in View}
