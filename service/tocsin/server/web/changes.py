"""*Changes*: lists of alerts by day or by page, with their groups; one alert in full."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import groupby
from typing import Annotated, Final, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, Response
from msgspec import Struct
from msgspec.structs import replace

from tocsin.model import EPOCH, MOST_SORTED, AlertQuery, AlertRow, BoundedCount, Instant, PageQuery, PageSort, View
from tocsin.ports import Store
from tocsin.server.actions import Act
from tocsin.server.decisions import mark_all_seen, mark_seen, missing, redeliver, release_storm
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.parts import Given, Parts, Reading, Writing
from tocsin.server.web.formatting import (
    cut,
    fitting,
    fitting_by,
    local_path,
    short_url,
    to_datetime,
    weight,
    zone_named,
)
from tocsin.server.web.page_pictures import pair_told
from tocsin.server.web.rendering import Undo, ask, go_on, language_of, page, say, together
from tocsin.server.web.telling import KINDS, AlertInWords, tell
from tocsin.wording.words import Words, words_of

router = APIRouter(include_in_schema=False)

Show = Literal["unseen", "major", "minor", "problems", "all", "dead"]
SHOWS: Final[tuple[tuple[Show, str, AlertQuery], ...]] = (
    ("unseen", "", AlertQuery(unseen=True)),
    ("major", "major", AlertQuery(unseen=True, outcome="major")),
    ("minor", "minor", AlertQuery(unseen=True, outcome="minor")),
    ("problems", "bad", AlertQuery(unseen=True, problems=True)),
    ("all", "", AlertQuery()),
    ("dead", "", AlertQuery(dead=True)),
)
# As many as fit into 50 KB with their differences.
_PART: Final = 15
_SEE: Final = "/changes?show=all; entries older than store.history are deleted"
_UNDONE: Final = 200  # Alerts that one click can mark as unseen again; more need a confirmation.
_LOOKED_AT: Final = 10  # Parts of a list to search for unseen alerts.
_MOST_OF_AN_EVENT: Final = 14_000
_MOST_OF_A_SAMPLE: Final = 3_000
_MOST_GROUPS: Final = 12
_ROOM_FOR_GROUPS: Final = 2_500
_MARKUP_OF_A_GROUP: Final = 110
_ROOM_FOR_ENTRIES: Final = 35_000
# Bytes, like the limits above: together they keep the page below 50 KB for any alerts.
_MARKUP_OF_AN_ENTRY: Final = 1_750
_YEAR_S: Final = 365 * 86_400

# How a list is shown, the first of each by default; chosen by links, and kept in a cookie.
SHAPE_COOKIE: Final = "tocsin-list"
_SHAPES: Final = {"by": ("day", "page"), "diff": ("together", "sides"), "open": ("first", "major", "all", "none")}


class ListShape(Struct, frozen=True):
    """How a list of alerts is shown.

    by     "day" or "page": what entries are listed under
    diff   "together" or "sides": how a text is compared
    open   which entries are open at first
    """

    by: str
    diff: str
    open: str

    @property
    def has_sides(self) -> bool:
        """Whether texts are compared side by side."""
        return self.diff == "sides"

    def keep(self, answer: HTMLResponse) -> HTMLResponse:
        """Keep it for the next page."""
        answer.set_cookie(
            SHAPE_COOKIE, f"{self.by}.{self.diff}.{self.open}", max_age=_YEAR_S, httponly=True, samesite="lax"
        )
        return answer


def shape_of(request: Request) -> ListShape:
    """Read the shape from the parameters of a URL, else from its cookie."""
    before = [*request.cookies.get(SHAPE_COOKIE, "").split("."), "", "", ""]
    chosen = []
    for (name, values), old in zip(_SHAPES.items(), before, strict=False):
        asked = request.query_params.get(name, old)
        chosen.append(asked if asked in values else values[0])
    return ListShape(*chosen)


class EntryList(Struct, frozen=True):
    """Alerts of a day or of a page.

    note       the date, or the address of the page
    mark       field and value that mark all of them as seen: ("day", "2026-11-22"); None where that is not possible
    """

    title: str
    note: str
    mark: tuple[str, str] | None
    rows: list[AlertInWords]


class AlertFilter(Struct, frozen=True):
    """The filters of a list of alerts, from its URL."""

    show: Show = "unseen"
    kind: str = ""
    group: str = ""
    page: int = 0

    @property
    def query(self) -> AlertQuery:
        """The query for the store."""
        if self.page:
            return AlertQuery(page_id=self.page)
        if self.kind:
            return AlertQuery(kind=self.kind)
        if self.group:
            return AlertQuery(group=self.group, unseen=self.show == "unseen")
        return next(query for show, _, query in SHOWS if show == self.show)

    @property
    def fields(self) -> dict[str, str]:
        """The filters as form fields and URL parameters, without defaults."""
        if self.page:
            return {"page": str(self.page)}
        if self.kind:
            return {"kind": self.kind}
        if self.group:
            return {"group": self.group} | ({"show": "unseen"} if self.show == "unseen" else {})
        return {"show": self.show} if self.show != "unseen" else {}

    @property
    def is_filtered(self) -> bool:
        """Whether the list has filters beyond its tab."""
        return bool(self.kind or self.group or self.page)

    @property
    def path(self) -> str:
        """Its URL."""
        return f"/changes?{urlencode(self.fields)}" if self.fields else "/changes"

    def path_at(self, cursor: str | None) -> str | None:
        """The URL of another part of the list; None without one."""
        if cursor is None:
            return None
        return f"{self.path}{'&' if '?' in self.path else '?'}{urlencode({'cursor': cursor})}"


def wanted_of(show: str, kind: str, group: str, page_id: int = 0) -> AlertFilter:
    """Read the filters; unknown values give the first list."""
    # The same order as in `query`; a filter shows seen alerts, too, since a user looks for one of them.
    if page_id:
        return AlertFilter("all", page=page_id)
    if kind in KINDS:
        return AlertFilter("all", kind=kind)
    if group:
        return AlertFilter("unseen" if show == "unseen" else "all", group=group)
    return AlertFilter(next((each for each, _, _ in SHOWS if each == show), "unseen"))


@router.get("/changes")
async def changes(
    request: Request,
    _caller: Reading,
    parts: Given,
    show: str = "",
    kind: str = "",
    group: str = "",
    page_id: Annotated[int, Query(alias="page", ge=0, le=2**63 - 1)] = 0,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """List alerts."""
    wanted, store = wanted_of(show, kind, group, page_id), parts.store
    shape = shape_of(request)
    told_in = parts.service.settings().instance.language
    words = words_of(language_of(request))
    found = await store.browse_alerts(wanted.query, cursor=cursor, limit=_PART)
    rows = [tell(row, words.language, is_told_anew=words.language != told_in) for row in found.rows]
    tallied = [query for show, _, query in SHOWS if show != "all"]
    tallies = iter(await together(store.tally_alerts(query) for query in tallied))
    zone = zone_named(parts.service.settings().instance.time_zone)
    lists = _by_page(rows) if shape.by == "page" else _by_day(rows, parts.clock.now(), zone, words)
    answer = await page(
        request,
        "changes.html",
        wanted=wanted,
        shape=shape,
        shapes=_SHAPES,
        lists=lists,
        opened=_opened([row for each in lists for row in each.rows], shape.open),
        following=wanted.path_at(found.next),
        first=wanted.path if cursor else None,
        # "Mark all seen" goes no further than what this page showed: alerts arrive meanwhile.
        up_to=max((told.position for told in rows), default=0),
        # How many alerts there ever were is no work that waits.
        views=[(name, tone, None if name == "all" else next(tallies)) for name, tone, _ in SHOWS],
        kinds=KINDS,
        groups=await _groups(parts, wanted.group),
        # What an empty list says; with alerts nothing of it is read.
        quiet=None if rows else await _quiet_time(parts, zone),
        # Each entry gets room for its texts, so that one long difference does not take that of all others.
        room=max(_ROOM_FOR_ENTRIES - len(rows) * _MARKUP_OF_AN_ENTRY, 0),
    )
    return shape.keep(answer)


class QuietTime(Struct, frozen=True):
    """What the service does while nothing new is found.

    checks   since the day began
    next_at  of the page that is due first
    """

    is_watching: bool
    is_unchecked: bool
    since: Instant
    checks: int
    next_at: Instant | None


async def _quiet_time(parts: Parts, zone: tzinfo) -> QuietTime:
    store, day = parts.store, _local(parts.clock.now(), zone).date()
    since, _ = _day_of(day.isoformat(), zone) or (parts.clock.now(), 0)
    every, new = await together(store.tally_pages(query) for query in (PageQuery(), PageQuery(view=View.NEW)))
    # A longer list has no such order: then a check is due within seconds.
    is_short = every.is_exact and every.number <= MOST_SORTED
    first = (await store.browse_pages(PageQuery(sort=PageSort.NEXT), limit=1)).rows if is_short else ()
    activity = await store.activity(since)
    return QuietTime(
        is_watching=bool(every.number),
        is_unchecked=every == new,
        since=since,
        checks=sum(sum(row.outcomes.values()) for row in activity),
        next_at=first[0].due.at if first else None,
    )


async def _groups(parts: Parts, chosen: str) -> list[tuple[str, BoundedCount]]:
    """Return the groups with the most unseen alerts, by name, and the chosen one."""
    counts = await parts.store.unseen_by_group()
    most = sorted(counts.items(), key=lambda row: (-row[1].number, row[0]))[:_MOST_GROUPS]
    kept = fitting_by(most, _ROOM_FOR_GROUPS, lambda row: 2 * weight(row[0]) + len(quote(row[0])) + _MARKUP_OF_A_GROUP)
    if chosen and chosen not in dict(kept):
        kept.append((chosen, counts.get(chosen, BoundedCount(0))))
    return sorted(kept)


def _opened(rows: Sequence[AlertInWords], which: str) -> set[str]:
    """Return the ids of the entries that are open at first."""
    if which == "first":
        return {row.id for row in rows[:1]}
    return {row.id for row in rows if which == "all" or (which == "major" and row.tone == "major")}


def _by_day(rows: Sequence[AlertInWords], now: Instant, zone: tzinfo, words: Words) -> list[EntryList]:
    """Put alerts under their days."""
    today = _local(now, zone).date()
    found = []
    for day, of_day in groupby(rows, lambda row: _local(row.at, zone).date()):
        ago = (today - day).days
        weekday = words.weekday(day.weekday(), is_long=True)
        date = words.long_date(day.year, day.month, day.day, with_year=day.year != today.year)
        title, note = weekday, date
        if ago in (0, 1):
            title = words.say("changes.yesterday" if ago else "changes.today")
            note = words.say("format.list", first=weekday, second=date)
        found.append(EntryList(title, note, ("day", day.isoformat()), list(of_day)))
    return found


def _by_page(rows: Sequence[AlertInWords]) -> list[EntryList]:
    """Put alerts under their pages, in the order of the latest of each."""
    places: dict[tuple[int | None, str], list[AlertInWords]] = {}
    for row in rows:
        places.setdefault((row.page_id, row.name), []).append(row)
    return [
        EntryList(name, short_url(of_page[0].address or ""), ("page", str(page_id)) if page_id else None, of_page)
        for (page_id, name), of_page in places.items()
    ]


def _local(at: Instant, zone: tzinfo) -> datetime:
    return (to_datetime(at) or EPOCH).astimezone(zone)


@router.get("/changes/{alert_id}")
async def change(request: Request, _caller: Reading, parts: Given, alert_id: str) -> Response:
    """Show one alert in full."""
    alert = await _demand(parts.store, alert_id)
    language = language_of(request)
    told = tell(alert, language, is_told_anew=language != parts.service.settings().instance.language)
    written = json.dumps(alert.event, ensure_ascii=False, indent=2)
    shown = cut(written, _MOST_OF_AN_EVENT)
    storm = await parts.store.storm(told.storm_id) if told.storm_id is not None else None
    shape = shape_of(request)
    answer = await page(
        request,
        "change.html",
        change=told,
        alert=alert,
        has_sides=shape.has_sides,
        event=shown,
        is_cut=len(shown) < len(written),
        sample=fitting(storm.sample, _MOST_OF_A_SAMPLE) if storm is not None else [],
        storm=storm,
        withheld=await parts.store.count_withheld(storm.id) if storm is not None else 0,
        pictures=await pair_told(parts, alert),
    )
    return shape.keep(answer)


@router.post("/changes/seen")
async def mark(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    ids: Annotated[list[str] | None, Form(alias="id", max_length=_UNDONE)] = None,
    one: Annotated[str, Form(max_length=64)] = "",
    un: Annotated[str, Form(max_length=64)] = "",
    seen: Annotated[Literal["yes", "no"], Form()] = "yes",
    back: Annotated[str, Form()] = "/changes",
) -> Response:
    """Mark alerts as seen or unseen: `one` as seen, `un` as unseen, or the selected ones."""
    # A button of one entry is within the form of all: it counts before what is selected.
    chosen = [one or un] if one or un else ids or []
    is_seen = seen == "yes" and not un
    back = local_path(back, "/changes")
    if not chosen:
        return go_on(request, back, "none_selected", kind="warn")
    number = await mark_seen(parts, Act(work, caller), chosen, seen=is_seen)
    return go_on(
        request,
        back,
        "seen" if is_seen else "unseen",
        undo=_unsee(request, chosen, back) if is_seen else None,
        n=number,
    )


def _unsee(request: Request, ids: Sequence[str], back: str) -> Undo:
    return Undo("/changes/seen", say(request, "notice.undo"), {"id": ids, "seen": "no", "back": back})


@router.post("/changes/seen/all")
async def mark_all(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    up_to: Annotated[int, Form(ge=0, le=2**63 - 1)],
    show: Annotated[str, Form()] = "",
    kind: Annotated[str, Form()] = "",
    group: Annotated[str, Form()] = "",
    page_id: Annotated[int, Form(alias="page", ge=0, le=2**63 - 1)] = 0,
    day: Annotated[str, Form(max_length=10)] = "",
    back: Annotated[str, Form()] = "",
    confirmed: Annotated[str, Form()] = "",
) -> Response:
    """Mark the alerts of a list as seen, up to the newest one that it showed."""
    wanted = wanted_of(show, kind, group, page_id)
    query, path = wanted.query, local_path(back, wanted.path)
    span = _day_of(day, zone_named(parts.service.settings().instance.time_zone))
    if span is not None:
        query = replace(query, since=span[0], until=span[1])
    act = Act(work, caller)
    # Few enough to be undone with one click: then no question is asked.
    meant, is_all = await _up_to(parts.store, query, up_to)
    if is_all:
        number = await mark_seen(parts, act, meant, seen=True)
        return go_on(request, path, "seen", undo=_unsee(request, meant, path) if number else None, n=number)
    if not confirmed:
        return await ask(
            request,
            "seen",
            "/changes/seen/all",
            back=path,
            section="changes",
            values={"up_to": str(up_to), "day": day, "back": path, **wanted.fields},
            n=await parts.store.tally_alerts(query),
        )
    job = await mark_all_seen(parts, act, query, up_to=up_to)
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        return go_on(request, path, "seeing", more=(f"/jobs/{row.id}", "progress"))
    return go_on(request, path, "seen", n=row.done)


@router.post("/changes/{alert_id}/deliver")
async def deliver(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    alert_id: str,
    channel: Annotated[str, Form()] = "",
) -> Response:
    """Deliver an alert again, to all its channels or to one."""
    number = await redeliver(parts, Act(work, caller), alert_id, channel=channel or None)
    if not number:
        return go_on(request, f"/changes/{alert_id}", "none_delivered", kind="warn")
    return go_on(request, f"/changes/{alert_id}", "delivered", n=number)


@router.post("/changes/storms/{storm_id}/release")
async def release(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    storm_id: int,
    confirmed: Annotated[str, Form()] = "",
    back: Annotated[str, Form()] = "/changes",
) -> Response:
    """Send the withheld alerts of a shared change, one per page."""
    storm, back = await parts.store.storm(storm_id), local_path(back, "/changes")
    if storm is None:
        raise missing("storm", storm_id, _SEE)
    withheld = await parts.store.count_withheld(storm_id)
    if not confirmed:
        path = f"/changes/storms/{storm_id}/release"
        values = {"back": back}
        return await ask(
            request, "release", path, back=back, section="changes", values=values, n=withheld, host=storm.host
        )
    job = await release_storm(parts, Act(work, caller), storm_id)
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        return go_on(request, back, "releasing", more=(f"/jobs/{row.id}", "progress"))
    return go_on(request, back, "released", n=withheld)


async def _demand(store: Store, alert_id: str) -> AlertRow:
    alert = await store.alert(alert_id)
    if alert is None:
        raise missing("alert", alert_id, _SEE)
    return alert


def _day_of(text: str, zone: tzinfo) -> tuple[Instant, Instant] | None:
    """Return when a local day begins and ends; None for a text that is no day."""
    try:
        begins = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone)
        # A day is not always 24 hours long.
        ends = (begins.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=zone)
    except (ValueError, OverflowError):
        return None
    us = timedelta(microseconds=1)
    return (begins - EPOCH) // us, (ends - EPOCH) // us


async def _up_to(store: Store, query: AlertQuery, up_to: int) -> tuple[list[str], bool]:
    """Return the ids of unseen alerts of a list up to a position, and whether these are all."""
    ids: list[str] = []
    cursor: str | None = None
    # Bounded: of a long list most may be seen already.
    for _ in range(_LOOKED_AT):
        found = await store.browse_alerts(query, cursor=cursor, limit=100)
        ids += [row.id for row in found.rows if row.position <= up_to and row.seen_at is None]
        cursor = found.next
        if cursor is None or len(ids) > _UNDONE:
            break
    return ids[:_UNDONE], cursor is None and len(ids) <= _UNDONE
