"""*Changes*: lists of alerts, unseen ones first, major apart from minor; one alert in full."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.model import AlertQuery, AlertRow, BoundedCount
from tocsin.ports import Store
from tocsin.server.actions import Act
from tocsin.server.decisions import mark_all_seen, mark_seen, missing, redeliver, release_storm
from tocsin.server.jobs import PATIENCE_S, Work
from tocsin.server.parts import Given, Reading, Writing
from tocsin.server.web.formatting import count, cut, fitting, local_path
from tocsin.server.web.rendering import Undo, go_on, page, together
from tocsin.server.web.telling import BASES, KIND_NAMES, AlertInWords, tell

router = APIRouter(include_in_schema=False)

Show = Literal["unseen", "major", "minor", "all", "dead"]
SHOWS: Final[tuple[tuple[Show, str, AlertQuery], ...]] = (
    ("unseen", "Unseen", AlertQuery(unseen=True)),
    ("major", "Major, unseen", AlertQuery(unseen=True, outcome="major")),
    ("minor", "Minor, unseen", AlertQuery(unseen=True, outcome="minor")),
    ("all", "All", AlertQuery()),
    ("dead", "Not delivered", AlertQuery(dead=True)),
)
_APART: Final[tuple[tuple[str, Literal["major", "minor"]], ...]] = (("Major", "major"), ("Minor", "minor"))
# As many as fit into 50 KB with their differences.
_PART: Final = 18
_SEE: Final = "/changes?show=all; entries older than store.history are deleted"
_FIRST_PART: Final = 8  # Alerts per kind on the first page, so that many major ones do not hide the others.
_UNDONE: Final = 200  # Alerts that one click can mark as unseen again; more need a confirmation.
_LOOKED_AT: Final = 10  # Parts of a list to search for unseen alerts.
_MOST_OF_AN_EVENT: Final = 14_000
_MOST_OF_A_SAMPLE: Final = 3_000
_ROOM_FOR_GROUPS: Final = 2_500
_ROOM_FOR_ENTRIES: Final = 41_000
# Bytes, like the limits above: together they keep the page below 50 KB for any alerts.
_MARKUP_OF_AN_ENTRY: Final = 1_400


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
            return AlertQuery(group=self.group)
        return next(query for show, _, query in SHOWS if show == self.show)

    @property
    def fields(self) -> dict[str, str]:
        """The filters as form fields and URL parameters, without defaults."""
        if self.page:
            return {"page": str(self.page)}
        given = {"kind": self.kind, "group": self.group}
        chosen = {name: value for name, value in given.items() if value}
        return chosen or ({"show": self.show} if self.show != "unseen" else {})

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
    known = next((each for each, _, _ in SHOWS if each == show), SHOWS[0][0])
    # The same order as in `query`; a filter shows seen alerts, too, since a user looks for one of them.
    if page_id:
        return AlertFilter("all", page=page_id)
    if kind in KIND_NAMES:
        return AlertFilter("all", kind=kind)
    return AlertFilter("all", group=group) if group else AlertFilter(known)


@router.get("/changes")
async def changes(
    request: Request,
    _caller: Reading,
    parts: Given,
    show: str = "unseen",
    kind: str = "",
    group: str = "",
    page_id: Annotated[int, Query(alias="page", ge=0, le=2**63 - 1)] = 0,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
) -> Response:
    """List alerts."""
    wanted, store = wanted_of(show, kind, group, page_id), parts.store
    language = parts.service.settings().instance.language
    # The first page is what people open each morning: it has major, minor and other alerts apart.
    if wanted == AlertFilter() and cursor is None:
        lists, following = await _first(store, wanted, language)
    else:
        found = await store.browse_alerts(wanted.query, cursor=cursor, limit=_PART)
        lists, following = [_list("", found.rows, language)], wanted.path_at(found.next)
    positions = [told.position for _, rows, _ in lists for told in rows]
    read = await together(_tally(store, each, query) for each, _, query in SHOWS)
    tallies = [(each, title, tally) for (each, title, _), tally in zip(SHOWS, read, strict=True)]
    return await page(
        request,
        "changes.html",
        wanted=wanted,
        lists=[each for each in lists if each[1]],
        following=following,
        first=wanted.path if cursor else None,
        # "Mark all as seen" goes no further than what this page showed: alerts arrive meanwhile.
        up_to=max(positions, default=0),
        unseen=next(tally for each, _, tally in tallies if each == "unseen"),
        tabs=[
            (AlertFilter(each).path, title, tally, not wanted.is_filtered and wanted.show == each)
            for each, title, tally in tallies
        ],
        kinds=list(KIND_NAMES.items()),
        is_first=wanted == AlertFilter() and cursor is None,
        groups=fitting([row.name for row in await store.group_rows()], _ROOM_FOR_GROUPS),
        # Each entry gets the same room, so that one long difference does not take that of the others.
        room_each=max(_ROOM_FOR_ENTRIES // max(len(positions), 1) - _MARKUP_OF_AN_ENTRY, 0),
        bases=BASES,
    )


@router.get("/changes/{alert_id}")
async def change(request: Request, _caller: Reading, parts: Given, alert_id: str) -> Response:
    """Show one alert in full."""
    alert = await _demand(parts.store, alert_id)
    told = tell(alert, parts.service.settings().instance.language)
    written = json.dumps(alert.event, ensure_ascii=False, indent=2)
    shown = cut(written, _MOST_OF_AN_EVENT)
    storm = await parts.store.storm(told.storm_id) if told.storm_id is not None else None
    return await page(
        request,
        "change.html",
        change=told,
        alert=alert,
        event=shown,
        is_cut=len(shown) < len(written),
        sample=fitting(storm.sample, _MOST_OF_A_SAMPLE) if storm is not None else [],
        bases=BASES,
        storm=storm,
        withheld=await parts.store.count_withheld(storm.id) if storm is not None else 0,
    )


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
        return go_on(request, back, "Nothing was selected: select some, or use the button of one.", kind="warn")
    number = await mark_seen(parts, Act(work, caller), chosen, seen=is_seen)
    said = f"{count(number, 'alert')} marked as {'seen' if is_seen else 'unseen'}."
    undo = None
    if is_seen:
        undo = Undo("/changes/seen", "Undo", {"id": chosen, "seen": "no", "back": back})
    return go_on(request, back, said, undo=undo)


@router.post("/changes/seen/all")
async def mark_all(
    request: Request,
    caller: Writing,
    parts: Given,
    work: Work,
    up_to: Annotated[int, Form(ge=0, le=2**63 - 1)],
    show: Annotated[str, Form()] = "unseen",
    kind: Annotated[str, Form()] = "",
    group: Annotated[str, Form()] = "",
    page_id: Annotated[int, Form(alias="page", ge=0, le=2**63 - 1)] = 0,
    confirmed: Annotated[str, Form()] = "",
) -> Response:
    """Mark the alerts of a list as seen, up to the newest one that it showed."""
    wanted = wanted_of(show, kind, group, page_id)
    query, path = wanted.query, wanted.path
    act, undo = Act(work, caller), None
    # Few enough to be undone with one click: then no question is asked.
    meant, is_all = await _up_to(parts.store, query, up_to)
    if is_all:
        number = await mark_seen(parts, act, meant, seen=True)
        undo = Undo("/changes/seen", "Undo", {"id": meant, "seen": "no", "back": path}) if number else None
        return go_on(request, path, f"{count(number, 'alert')} marked as seen.", undo=undo)
    if not confirmed:
        return await page(
            request,
            "confirm.html",
            section="changes",
            title="Mark all as seen",
            question=f"Mark all of this list as seen: {count(await parts.store.tally_alerts(query), 'alert')}?",
            detail="They stay listed under All. This cannot be undone with one click.",
            path="/changes/seen/all",
            values={"up_to": str(up_to), **wanted.fields},
            verb="Mark all as seen",
            back=path,
            danger=False,
        )
    job = await mark_all_seen(parts, act, query, up_to=up_to)
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        more = (f"/jobs/{row.id}", "See the progress")
        return go_on(request, path, "All of them are being marked as seen.", more=more)
    return go_on(request, path, f"{count(row.done, 'alert')} marked as seen.")


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
    said = f"{count(number, 'delivery', 'deliveries')} due again; the receiver gets the same id once more."
    if not number:
        said = "Nothing to deliver: no channel was configured at that time. Name a channel."
    return go_on(request, f"/changes/{alert_id}", said, kind="good" if number else "warn")


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
        return await page(
            request,
            "confirm.html",
            section="changes",
            title="Send an alert per page",
            question=f"Send {count(withheld, 'alert')} withheld so far, one for each page of {storm.host}?",
            detail="Each page is read again for it, at its host's turn. This cannot be undone.",
            path=f"/changes/storms/{storm_id}/release",
            values={"back": back},
            verb="Send an alert per page",
            back=back,
            danger=False,
        )
    job = await release_storm(parts, Act(work, caller), storm_id)
    row = await job.wait(PATIENCE_S)
    if row.state == "running":
        return go_on(request, back, "The alerts are being made.", more=(f"/jobs/{row.id}", "See the progress"))
    return go_on(request, back, f"{count(withheld, 'alert')} due: they come as their pages are received.")


async def _demand(store: Store, alert_id: str) -> AlertRow:
    alert = await store.alert(alert_id)
    if alert is None:
        raise missing("alert", alert_id, _SEE)
    return alert


async def _tally(store: Store, show: Show, query: AlertQuery) -> BoundedCount | None:
    # How many alerts there ever were is no work that waits: one tally less.
    return await store.tally_alerts(query) if show != "all" else None


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


async def _first(
    store: Store, wanted: AlertFilter, language: str
) -> tuple[list[tuple[str, list[AlertInWords], str | None]], str | None]:
    """Return the lists of the first page, and the path of the next part."""
    lists = []
    for title, outcome in _APART:
        found = await store.browse_alerts(AlertQuery(unseen=True, outcome=outcome), limit=_FIRST_PART)
        lists.append(_list(title, found.rows, language, more=f"/changes?show={outcome}" if found.next else None))
    latest = await store.browse_alerts(AlertQuery(unseen=True), limit=_FIRST_PART)
    others = [row for row in latest.rows if not _is_apart(row)]
    # A storm of changes fills the latest part; a question or an outage among them must still be seen.
    if not others and latest.next:
        others = await _others(store)
    return [*lists, _list("Everything else", others, language)], wanted.path_at(latest.next)


async def _others(store: Store) -> list[AlertRow]:
    """Find the latest alerts of other kinds, even if many changes came later."""
    queries = [AlertQuery(kind=kind) for kind in KIND_NAMES if kind != "changed"]
    found = await together(store.browse_alerts(query, limit=_FIRST_PART) for query in queries)
    rows = [row for each in found for row in each.rows if row.seen_at is None and not _is_apart(row)]
    return sorted(rows, key=lambda row: -row.position)[:_FIRST_PART]


def _is_apart(row: AlertRow) -> bool:
    return row.event.get("data", {}).get("outcome") in {outcome for _, outcome in _APART}


def _list(
    title: str, rows: Sequence[AlertRow], language: str, *, more: str | None = None
) -> tuple[str, list[AlertInWords], str | None]:
    return title, [tell(row, language) for row in rows], more
