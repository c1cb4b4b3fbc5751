"""Alerts and their deliveries: the outbox, and lists for people."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.awareness.bundles import SQL as BUNDLES
from tocsin.adapters.stores.sql.awareness.bundles import BundleRole, take_apart
from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.owed import ALERTS as SQL
from tocsin.adapters.stores.sql.owed import publish
from tocsin.adapters.stores.sql.pages.walks import COUNTED
from tocsin.adapters.stores.sql.role import LAST, STEP_ROWS, bounded, first_since, ids, take_turn
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    read_deliveries,
    read_gathered,
    read_object,
    read_silenced,
    row_digest_of_bytes,
    to_json,
)
from tocsin.errors import UsageError
from tocsin.events import OUTAGE_BEGAN
from tocsin.model import (
    AlertRow,
    BoundedCount,
    ChannelState,
    ChannelTest,
    DeliveryResult,
    DueDelivery,
    SerializedEvent,
    Slice,
)
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import AlertDraft, AlertQuery, Instant, NamedLease
    from tocsin.ports.pages import OnStep


# Columns of the query `due_deliveries`.
_DIGEST, _DIGESTED = 10, 11

_FALSIFIED = "a fault of disk or memory changed this alert in the store, so it was not sent; run `tocsin store check`"

LISTS = queries("alert_lists")
# So far the unseen alerts of a group are counted.
MOST_OF_A_GROUP = 1000
# Outages of other nodes that are looked through for the last one of a node.
_MOST_OUTAGES = 200
# Of one part of a list that is filtered further: alerts that are looked at, and of these at a time.
_MOST_LOOKED_AT = 1000
_PIECE = 50


class AlertRole(BundleRole):
    """Implements ports.AlertStore."""

    async def set_channels(self, names: Sequence[str]) -> None:
        await self._write(lambda db: db.execute(SQL["set_channels"], {"names": to_json(list(dict.fromkeys(names)))}))

    async def write_alert(self, alert: AlertDraft) -> None:
        await self._write(partial(publish, drafts=[alert], routes=self._routes), durable=True, shared=True)

    async def follow_alerts(self, on_published: Callable[[], None]) -> None:
        await self._database.follow("alerts", lambda db: db.execute(SQL["latest_position"]).fetchone(), on_published)

    async def open_outage(self, node: str) -> Instant | None:
        place = {"limit": _MOST_OUTAGES if self._database.is_shared else 1}
        rows = await self._read(lambda db: db.execute(SQL["last_of_outages"], place).fetchall())
        for kind, at, event in rows:
            if not self._database.is_shared or read_object(event).get("data", {}).get("node") == node:
                return at if kind == OUTAGE_BEGAN else None
        return None

    async def due_deliveries(
        self, channel: str, now: Instant, *, limit: int, under_way: Collection[int] = ()
    ) -> list[DueDelivery]:
        place = {"channel": channel, "now": now, "limit": limit, "under_way": ids(under_way)}
        rows, falsified, is_behind = await self._read(partial(_due, place=place))
        if is_behind:
            await self._write(partial(_wait_for_digests, place=place), shared=True)
        if falsified:
            # Neither sent, nor in the way of the page's next ones.
            dead = [DeliveryResult(alert, channel, "dead", now, now, _FALSIFIED) for alert in falsified]
            await self.record_deliveries(dead)
        return [
            DueDelivery(
                id_,
                name,
                page,
                position,
                tries,
                first,
                created,
                SerializedEvent(id_, event),
                last,
                next_at,
                tried,
                route=route,
            )
            for id_, name, page, position, tries, first, last, next_at, tried, route, *_, created, event in rows
        ]

    async def next_delivery_at(self, channel: str) -> Instant | None:
        row = await self._read(lambda db: db.execute(SQL["next_delivery_at"], {"channel": channel}).fetchone())
        at: Instant | None = row[0] if row else None
        return at

    async def record_deliveries(self, results: Sequence[DeliveryResult], *, under: NamedLease | None = None) -> None:
        alone = [_record_row(result) for result in results if not _is_digest(result)]
        digests = [_record_row(result) for result in results if _is_digest(result)]

        def write(db: SqlSession) -> None:
            # Which delivery of a page is the first is known only while no other one is added.
            take_turn(db)
            db.executemany(SQL["record"], alone)
            if digests:
                db.executemany(BUNDLES["record_bundle"], digests)

        await self._write_under(under, write)

    async def resume_deliveries(self, channel: str, now: Instant) -> None:
        place = {"channel": channel, "now": now, "limit": STEP_ROWS}
        while await self._write(lambda db: db.execute(SQL["resume_deliveries"], place).rowcount):
            pass
        await self._write(lambda db: db.execute(BUNDLES["resume_bundles"], place).close())

    async def channel_state(self, channel: str) -> ChannelState:
        def read(db: SqlSession) -> ChannelState:
            row = db.execute(SQL["channel"], {"name": channel}).fetchone()
            failures, next_at, disabled, error, failed_at, since = row or (0, None, 0, None, None, None)
            accepted = db.execute(SQL["last_accepted"], {"name": channel}).fetchone()
            counts = Counter(dict(db.execute(SQL["count_deliveries"], {"name": channel}).fetchall()))
            for state, alerts in db.execute(BUNDLES["count_gathered"], {"name": channel}):
                counts["gathered" if state in {"open", "sealed"} else state] += alerts
            return ChannelState(
                channel,
                failures,
                next_at,
                bool(disabled),
                error,
                **counts,
                failed_at=failed_at,
                since=since,
                accepted_at=max((at for at in accepted if at is not None), default=None),
            )

        return await self._read(read)

    async def save_channel_state(self, state: ChannelState, *, under: NamedLease | None = None) -> None:
        row = {
            "name": state.name,
            "failures": state.failures,
            "next_at": state.next_at,
            "disabled": state.disabled,
            "error": state.error,
            "failed_at": state.failed_at,
            "since": state.since,
        }

        def write(db: SqlSession) -> None:
            if state.since is None and state.accepted_at is not None:
                for (since,) in db.execute(SQL["failing_since"], row).fetchall():
                    place = {"name": state.name, "now": state.accepted_at, "since": since}
                    db.execute(SQL["recover_deliveries"], place)
                    db.execute(BUNDLES["recover_bundles"], place)
            db.execute(SQL["save_channel"], row)

        await self._write_under(under, write)

    async def ask_for_channel_test(self, channel: str, now: Instant) -> int:
        def write(db: SqlSession) -> int:
            db.execute(SQL["forget_channel_tests"], {"now": now})
            number: int = db.execute(SQL["ask_for_channel_test"], {"channel": channel, "now": now}).fetchone()[0]
            return number

        return await self._write(write)

    async def take_channel_tests(self, now: Instant, *, limit: int) -> list[tuple[int, str]]:
        found = await self._read(lambda db: db.execute(SQL["open_channel_tests"], {"limit": limit}).fetchall())
        if not found:
            return []

        def write(db: SqlSession) -> list[tuple[int, str]]:
            begun = (
                (number, channel)
                for number, channel in found
                if db.execute(SQL["begin_channel_test"], {"id": number, "now": now}).rowcount
            )
            return list(begun)

        return await self._write(write)

    async def end_channel_test(self, number: int, now: Instant, fault: tuple[str, str] | None) -> None:
        blames, error = fault or (None, None)
        place = {"id": number, "now": now, "blames": blames, "error": error}
        await self._write(lambda db: db.execute(SQL["end_channel_test"], place))

    async def channel_test(self, number: int) -> ChannelTest | None:
        row = await self._read(lambda db: db.execute(SQL["channel_test"], {"id": number}).fetchone())
        return None if row is None else ChannelTest(*row)

    async def withdraw_channel_test(self, number: int) -> bool:
        return bool(await self._write(lambda db: db.execute(SQL["withdraw_channel_test"], {"id": number}).rowcount))

    async def alerts(
        self, *, limit: int, before: int | None = None, dead: bool = False, url: str | None = None
    ) -> list[AlertRow]:
        query = SQL["alerts" if url is None else "alerts_of_page"]
        return await self._rows(query, {"limit": limit, "before": before, "dead": dead, "url": url})

    async def alert(self, alert_id: str) -> AlertRow | None:
        return next(iter(await self._rows(SQL["alert"], {"id": alert_id})), None)

    async def after(self, position: int, *, limit: int) -> list[AlertRow]:
        return await self._rows(SQL["after"], {"position": position, "limit": limit})

    async def replay(self, alert_id: str, *, channel: str | None, now: Instant) -> int:
        place = {"id": alert_id, "channel": channel, "now": now}

        def write(db: SqlSession) -> int:
            take_apart(db, alert_id, channel, now)
            if channel is not None:
                db.execute(SQL["deliver_too"], place)
            return db.execute(SQL["replay_alert"], place).rowcount

        return await self._edit(write)

    async def count_dead(self, channel: str | None) -> int:
        def read(db: SqlSession) -> int:
            names, dead = _channels(db, channel), db.execute(BUNDLES["dead_bundles"], {"channel": channel})
            gathered: int = sum(alerts for _, alerts in dead)
            alone: int = sum(db.execute(SQL["count_dead"], {"channel": name}).fetchone()[0] for name in names)
            return alone + gathered

        return await self._read(read)

    async def replay_dead(self, *, channel: str | None, now: Instant, on_step: OnStep = unheard) -> int:
        replayed, place = 0, {"channel": channel}
        for name in await self._read(lambda db: _channels(db, channel)):
            replayed += await self._replay_dead_of(name, now, on_step)
        for bundle, alerts in await self._read(lambda db: db.execute(BUNDLES["dead_bundles"], place).fetchall()):
            replayed += await self.replay_bundle(bundle, now)
            on_step(alerts)
        return replayed

    async def _replay_dead_of(self, channel: str, now: Instant, on_step: OnStep) -> int:
        pace, place, replayed = self._paces["replay"], {"channel": channel, "after": 0}, 0
        while dead := await self._next_dead(place | {"limit": pace.rows}):
            step = {"channel": channel, "now": now, "positions": ids(dead)}
            replayed += await self._step(pace, partial(_replay_these, place=step), on_step)
            place["after"] = dead[-1]
        return replayed

    async def _next_dead(self, place: dict[str, Any]) -> list[int]:
        return await self._read(lambda db: [row[0] for row in db.execute(SQL["next_dead"], place)])

    async def _rows(self, query: str, place: dict[str, Any]) -> list[AlertRow]:
        rows = await self._read(lambda db: db.execute(query, place).fetchall())
        return [to_alert(row) for row in rows]

    async def browse_alerts(
        self,
        query: AlertQuery,
        *,
        cursor: str | None = None,
        limit: int = 50,
        takes: Callable[[AlertRow], bool] | None = None,
    ) -> Slice[AlertRow]:
        walk, values = _walk_of(query)
        cursors = Cursors(1, "alerts", walk, *values.values())
        (before,) = cursors.read(cursor) or (LAST,)

        def read(db: SqlSession) -> Slice[AlertRow]:
            shown: list[AlertRow] = []
            first, end = _span_of(db, query)
            place, left = min(before, end), _MOST_LOOKED_AT if takes is not None else limit
            while True:
                piece = min(left, max(limit, _PIECE) if takes is not None else limit)
                found = db.execute(LISTS[walk], {**values, "before": place, "limit": piece + 1}).fetchall()
                found = [row for row in found if row[0] >= first]
                positions = [row[0] for row in found[:piece]]
                rows = {row[1]: row for row in db.execute(SQL["at_positions"], {"positions": ids(positions)})}
                for number, place in enumerate(positions, 1):
                    alert = to_alert(rows[place])
                    if takes is None or takes(alert):
                        shown.append(alert)
                    if len(shown) == limit:
                        return Slice(tuple(shown), cursors.write((place,)) if number < len(found) else None)
                left -= len(positions)
                if len(found) <= piece or not left:
                    return Slice(tuple(shown), cursors.write((place,)) if len(found) > piece else None)

        return await self._view(read)

    async def tally_alerts(self, query: AlertQuery) -> BoundedCount:
        walk, values = _walk_of(query)

        def count(db: SqlSession) -> int:
            first, end = _span_of(db, query)
            place = {**values, "before": end, "first": first, "limit": COUNTED + 1}
            walks = queries("alert_lists", db.dialect)
            # Where there is one: a count needs no marks.
            walking = walks.get(f"positions_{walk}", walks[walk])
            counting = f"select count(*) from ({walking}) few where position >= :first"  # noqa: S608 - a walk of ours
            number: int = db.execute(counting, place).fetchone()[0]
            return number

        number = await self._view(count)
        return BoundedCount(min(number, COUNTED), is_exact=number <= COUNTED)

    async def unseen_by_group(self) -> dict[str, BoundedCount]:
        place = {"limit": MOST_OF_A_GROUP + 1}
        rows = await self._view(lambda db: db.execute(LISTS["unseen_of_groups"], place).fetchall())
        return {
            group: BoundedCount(min(number, MOST_OF_A_GROUP), is_exact=number <= MOST_OF_A_GROUP)
            for group, number in rows
        }

    async def mark_seen(self, alert_ids: Sequence[str], now: Instant, *, seen: bool) -> int:
        place = {"ids": ids(alert_ids)}
        found = await self._view(lambda db: [row[0] for row in db.execute(LISTS["positions"], place)])
        return await self._mark(found, now if seen else None)

    async def mark_all_seen(self, query: AlertQuery, now: Instant, *, up_to: int) -> int:
        walk, values = _walk_of(query)
        marked, before = 0, bounded(up_to + 1)
        while before:
            values.update(before=before, limit=STEP_ROWS)
            found = await self._view(lambda db: db.execute(LISTS[walk], values).fetchall())
            before = found[-1][0] if len(found) == STEP_ROWS else 0
            marked += await self._mark([position for position, seen_at in found if seen_at is None], now)
        return marked

    async def _mark(self, positions: Sequence[int], now: Instant | None) -> int:
        marked, pace = 0, self._paces["mark"]
        for step in pace.pieces(positions):
            work = partial(_mark, place={"positions": ids(step), "now": now})
            marked += await self._in_turn(pace, len(step), work)
        return marked


def to_alert(row: Sequence[Any]) -> AlertRow:
    """Make an alert of a row of the query `alert_row`."""
    alert_id, position, kind, page_id, url, at, event, deliveries, seen_at, gathered, silenced = row
    return AlertRow(
        alert_id,
        position,
        kind,
        page_id,
        url,
        at,
        read_object(event),
        read_deliveries(deliveries),
        seen_at,
        read_gathered(gathered),
        read_silenced(silenced),
    )


def _is_digest(result: DeliveryResult) -> bool:
    return result.position is not None and result.position < 0


def _record_row(result: DeliveryResult) -> dict[str, Any]:
    return {
        "alert": result.alert_id,
        "position": result.position,
        "channel": result.channel,
        "state": result.state,
        "at": result.at,
        "next_at": result.next_at,
        "tried_us": result.tried_us,
        "error": result.error,
    }


def _due(db: SqlSession, place: dict[str, Any]) -> tuple[list[tuple[Any, ...]], list[str], bool]:
    """Read due deliveries, and name the alerts among them that are no longer as they were written.

    Tells also whether all were looked at, and some of them wait for a digest that is not tried yet.
    """
    is_giving = db.execute(BUNDLES["sealed_of"], place).fetchone() is not None
    rows = db.execute(SQL["due_beside_digests" if is_giving else "due_deliveries"], place).fetchall()
    is_behind = is_giving and len(rows) < place["limit"] and bool(_behind_digests(db, place, most=1))
    # Here and not in the query, which would take and give back the interpreter's lock once more for each row.
    falsified = [
        row[0]
        for row in rows
        if row[_DIGEST] is not None and row[_DIGEST] != row_digest_of_bytes(row[0], *row[_DIGESTED:])
    ]
    return [row for row in rows if row[0] not in falsified] if falsified else rows, falsified, is_behind


def _behind_digests(db: SqlSession, place: dict[str, Any], *, most: int) -> list[tuple[int, str, int]]:
    return db.execute(SQL["behind_digests"], {**place, "most": most}).fetchall()


def _wait_for_digests(db: SqlSession, place: dict[str, Any]) -> None:
    take_turn(db)
    db.executemany(SQL["wait_for_digest"], _behind_digests(db, place, most=STEP_ROWS))


def _channels(db: SqlSession, channel: str | None) -> list[str]:
    return [row[0] for row in db.execute(SQL["channels_with_deliveries"])] if channel is None else [channel]


def _replay_these(db: SqlSession, place: dict[str, Any]) -> int:
    return db.execute(SQL["replay_these"], place).rowcount


def _mark(db: SqlSession, place: dict[str, Any]) -> int:
    return db.execute(LISTS["mark"], place).rowcount


def _span_of(db: SqlSession, query: AlertQuery) -> tuple[int, int]:
    """Find the first position of a time span, and the one after its last."""
    if query.since is None and query.until is None:
        return 0, LAST
    last = db.execute(SQL["latest_position"]).fetchone()[0] or 0
    first, end = (
        default if at is None else first_since(db, LISTS["alert_after"], at, last)
        for at, default in ((query.since, 0), (query.until, LAST))
    )
    return first, end


def _walk_of(query: AlertQuery) -> tuple[str, dict[str, Any]]:
    """Find the walk that a list of alerts is; raises UsageError for what is not offered."""
    page = None if query.page_id is None else bounded(query.page_id)
    digest = None if query.digest is None else bounded(query.digest)
    alone = {
        "kind": query.kind,
        "group": query.group,
        "page": page,
        "problems": query.problems or None,
        "dead": query.dead or None,
        "digest": digest,
    }
    given = {name: value for name, value in alone.items() if value is not None}
    valued = {name: value for name, value in given.items() if value is not True}
    if query.unseen and query.outcome is None and set(given) in ({"group"}, {"problems"}):
        return f"of_unseen_{next(iter(given))}", valued
    if len(given) + (query.unseen or query.outcome is not None) > 1:
        raise UsageError(
            "alerts: `group`, `page_id`, `kind`, `problems`, `dead` and `digest` each stand alone, and `unseen` goes "
            "with `outcome`, `problems` or `group`; leave one of them out"
        )
    for name in given:
        return f"of_{name}", valued
    if query.outcome is None:
        return "of_unseen" if query.unseen else "of_all", {}
    return "of_unseen_outcome" if query.unseen else "of_outcome", {"outcome": query.outcome}
