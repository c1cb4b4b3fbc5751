"""What a verdict leads to: a place in the render queue, and alerts with their deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_names, read_object, row_digest, to_json
from tocsin.events import CHANGED, OUTAGE_BEGAN, OUTAGE_ENDED, kind_of
from tocsin.model import Silence

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.adapters.stores.sql.session import Row, SqlSession
    from tocsin.model import AlertDraft, Instant, JsonObject, RateLimit, Routed
    from tocsin.ports import Router


ALERTS = queries("alerts")
KNOWLEDGE = queries("learnt")
RENDERS = queries("renders")
ROUTED = queries("routed")
SUMMARIES = queries("summaries")
_NO_PAGE: Final = -1
# As `shorten` cuts it.
_MOST_OF_SHORT: Final = 60


class Routes:
    """The routes in force, as the writing connection knows them.

    router     decides; None: every channel gets every alert
    is_needed  also while nothing is silenced; without routes it only applies silences
    """

    def __init__(self) -> None:
        self.router: Router | None = None
        self.is_needed = False
        self._silences: tuple[Silence, ...] = ()
        self._silences_of = -1

    def silences_of(self, db: SqlSession, revision: int) -> Sequence[Silence]:
        """Return the silences of this revision; they are read once for each."""
        if self._silences_of != revision:
            rows = db.execute(ROUTED["silences_in_force"]).fetchall()
            self._silences, self._silences_of = tuple(to_silence(row) for row in rows), revision
        return self._silences


def to_silence(row: Sequence[Any]) -> Silence:
    """Make a silence of a row of a query of silences."""
    number, match, *rest = row
    return Silence(number, read_object(match), *rest)


def publish(db: SqlSession, drafts: Sequence[AlertDraft], routes: Routes) -> None:
    """Write alerts in this order, each with a row for every channel that gets it: all that are set, or as routed."""
    if not drafts:
        return
    _add_titles(db, drafts)
    _note_shorts(db, drafts)
    last, names, revision = db.execute(ALERTS["reserve"], {"count": len(drafts)}).fetchone()
    if routes.router is not None and (routes.is_needed or (revision and routes.silences_of(db, revision))):
        _route(db, _write_alerts(db, drafts, last), routes.router, routes.silences_of(db, revision))
        return
    channels = read_names(names)
    rows = [
        (channel, position, draft.id, _order_of(draft), draft.at, None, None)
        for position, draft in _write_alerts(db, drafts, last)
        for channel in channels
    ]
    if rows:
        db.executemany(ALERTS["insert_delivery"], rows)


def _add_titles(db: SqlSession, drafts: Sequence[AlertDraft]) -> None:
    """Add the titles of pages to alerts that were made without: only a page received as a whole tells its own."""
    lacking = [page for draft in drafts if (page := _page_of(draft)) is not None and page.get("title", "") is None]
    if lacking:
        place = {"ids": to_json(sorted({int(page["id"]) for page in lacking}))}
        titles = dict(db.execute(KNOWLEDGE["titles_of_pages"], place).fetchall())
        for page in lacking:
            page["title"] = titles.get(int(page["id"]))


def _note_shorts(db: SqlSession, drafts: Sequence[AlertDraft]) -> None:
    """Write the last changes of pages in words, as their alerts have them."""
    told = [(draft.event.get("data", {}).get("short"), draft.page_id) for draft in drafts if draft.type == CHANGED]
    shorts = [(str(short)[:_MOST_OF_SHORT], page_id) for short, page_id in told if short and page_id is not None]
    if shorts:
        db.executemany(SUMMARIES["note_short"], shorts)


def _page_of(draft: AlertDraft) -> JsonObject | None:
    page = draft.event.get("data", {}).get("page")
    return page if isinstance(page, dict) else None


def _write_alerts(db: SqlSession, drafts: Sequence[AlertDraft], last: int) -> list[tuple[int, AlertDraft]]:
    """Write alerts at the positions up to the last one; returns each with its position."""
    placed = list(enumerate(drafts, last - len(drafts) + 1))
    db.executemany(
        ALERTS["insert_alert"],
        [(*row, row_digest(*row)) for row in (_alert_row(position, draft) for position, draft in placed)],
    )
    db.executemany(ALERTS["insert_mark"], [_mark_row(position, draft) for position, draft in placed])
    return placed


def _route(
    db: SqlSession, placed: Sequence[tuple[int, AlertDraft]], router: Router, silences: Sequence[Silence]
) -> None:
    """Write where the routes send these alerts."""
    ledger = Ledger(db, router, silences, pages={draft.page_id for _, draft in placed})
    for position, draft in placed:
        if answers := router.route(draft, draft.at, ledger):
            ledger.write(position, draft, answers)
        else:
            ledger.unrouted.append((position, draft.at))
    ledger.flush()


class Ledger:
    """What routes decide within one transaction, gathered for few statements; implements ports.RoutingContext.

    pages  of all its alerts; None among them is no page
    late   now, where the alerts were published before
    """

    def __init__(
        self,
        db: SqlSession,
        router: Router,
        silences: Sequence[Silence],
        *,
        pages: Collection[int | None],
        late: Instant | None = None,
    ) -> None:
        self.silences = silences
        self.unrouted: list[Row] = []
        self._db, self._router, self._late = db, router, late
        self._pages = pages
        self._routes_of_pages: dict[int, str] | None = None
        self._alone: list[Row] = []
        self._gathered: list[Row] = []
        self._silenced: list[Row] = []
        # Of each open bundle: its number, and how many alerts join it.
        self._bundles: dict[tuple[str, str, str], tuple[int, int]] = {}
        self._windows: dict[tuple[str, str], tuple[Instant, int]] = {}

    def page_route(self, page_id: int) -> str | None:
        """Return the route that a page's settings name."""
        if self._routes_of_pages is None:
            place = {"pages": to_json([page for page in self._pages if page is not None])}
            self._routes_of_pages = dict(self._db.execute(ROUTED["routes_of_pages"], place).fetchall())
        return self._routes_of_pages.get(page_id)

    def take(self, channel: str, route: str, limit: RateLimit) -> bool:
        """Count one more alert in this window, unless its limit is reached."""
        what = channel, route
        if what not in self._windows:
            row = self._db.execute(ROUTED["window"], {"channel": channel, "route": route}).fetchone()
            self._windows[what] = (row[0], row[1]) if row is not None else (limit.start, 0)
        start, taken = self._windows[what]
        if start != limit.start:
            taken = 0
        if taken >= limit.most:
            return False
        self._windows[what] = limit.start, taken + 1
        return True

    def write(self, position: int, draft: AlertDraft, answers: Sequence[Routed]) -> None:
        """Note where channels get this alert."""
        now, page = draft.at if self._late is None else self._late, _order_of(draft)
        for routed in answers:
            if routed.silence is not None:
                self._silenced.append((position, routed.channel, routed.route, routed.silence))
            elif routed.is_digest:
                in_order = _NO_PAGE if page is None else page
                self._gathered.append((position, routed.channel, self._bundle_of(now, routed), in_order))
            else:
                self._alone.append((routed.channel, position, draft.id, page, now, routed.due_at, routed.route or None))

    def flush(self) -> None:
        """Write all of it."""
        for statement, rows in (
            (ALERTS["insert_delivery"] if self._late is None else ROUTED["insert_late"], self._alone),
            (ROUTED["gather"], self._gathered),
            (ROUTED["silence_alert"], self._silenced),
            (ROUTED["note_unrouted"], self.unrouted),
        ):
            if rows:
                self._db.executemany(statement, rows)
        if self._late is not None:
            self._db.executemany(ROUTED["begin_late"], [row[:2] for row in self._alone])
            placed = [row[1] for row in self._alone] + [row[0] for row in (*self._gathered, *self._silenced)]
            self._db.executemany(ROUTED["note_routed"], [(position,) for position in placed])
        for number, joined in self._bundles.values():
            self._db.execute(ROUTED["count_joined"], {"bundle": number, "joined": joined})
        for (channel, route), (start, taken) in self._windows.items():
            place = {"channel": channel, "route": route, "start": start, "taken": taken}
            self._db.execute(ROUTED["note_window"], place)

    def _bundle_of(self, now: Instant, routed: Routed) -> int:
        what = routed.channel, routed.route, routed.key
        known = self._bundles.get(what)
        if known is None:
            due_at = now if routed.due_at is None else routed.due_at
            known = open_bundle(self._db, self._router, what, now, due_at), 0
        self._bundles[what] = known[0], known[1] + 1
        return known[0]


def open_bundle(
    db: SqlSession, router: Router, what: tuple[str, str, str], now: Instant, due_at: Instant | None
) -> int:
    """Return the number of the open bundle of this channel, route and key; where there is none it is opened.

    due_at  of a new one, unless that occasion had its bundle; None: the route's next occasion
    """
    place: dict[str, Any] = dict(zip(("channel", "route", "key"), what, strict=True))
    row = db.execute(ROUTED["open_bundle_of"], place).fetchone()
    if row is None:
        (last,) = db.execute(ROUTED["last_due_of"], place).fetchone()
        if due_at is None or (last is not None and last >= due_at):
            # After the clock was set back: this occasion had its digest already.
            after = now if last is None else max(now, last)
            due_at = router.next_occasion(what[1], after) or due_at or now
        row = db.execute(ROUTED["open_bundle"], {**place, "now": now, "due": due_at}).fetchone()
    number: int = row[0]
    return number


def _alert_row(position: int, draft: AlertDraft) -> tuple[str, int, int | None, str, int, str]:
    return draft.id, position, draft.page_id, draft.type, draft.at, to_json(draft.event)


def _mark_row(position: int, draft: AlertDraft) -> Row:
    data = draft.event.get("data", {})
    return position, kind_of(draft.type), data.get("outcome"), group_of(data)


def _order_of(draft: AlertDraft) -> int | None:
    """Name the alerts among which this one keeps its place: those of its page, or of our own connection."""
    # No page has the number 0.
    return 0 if draft.type in {OUTAGE_BEGAN, OUTAGE_ENDED} else draft.page_id


def group_of(data: JsonObject) -> str | None:
    """Name the group of the page that an event is about; None for one that is about none."""
    page = data.get("page")
    return page.get("group") if isinstance(page, dict) else None


def want_render(
    db: SqlSession,
    page_id: int,
    *,
    since: Instant,
    major: bool = False,
    owed: bool = False,
    copy_url: str | None = None,
) -> None:
    """Put a page into the queue, or add to what it waits for there; a slot that it holds it keeps."""
    row = {"page": page_id, "major": major, "since": since, "owed": owed, "copy_url": copy_url}
    db.execute(RENDERS["want"], row)


def forgive(db: SqlSession, page_id: int) -> None:
    """Forget that a rendering is owed: the user wants no more of it."""
    db.execute(RENDERS["forgive"], {"page": page_id})
    db.execute(RENDERS["forgive_job"], {"page": page_id})
    db.execute(RENDERS["drop_forgiven"], {"page": page_id})
