"""The outbox's part of the port."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.awareness.outbox import SQL, publish
from tocsin.adapters.stores.sql.codec import read_deliveries, read_object, to_json
from tocsin.adapters.stores.sql.packing import row_digest_of_bytes
from tocsin.adapters.stores.sql.role import Role, ids
from tocsin.events import OUTAGE_BEGAN
from tocsin.model import AlertRow, ChannelState, ChannelTest, DeliveryResult, DueDelivery, SerializedEvent
from tocsin.ports.keeping import unheard

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import AlertDraft, Instant
    from tocsin.ports.keeping import OnStep

# Columns of the query `due_deliveries`.
_DIGEST, _DIGESTED = 9, 10

_FALSIFIED = "a fault of disk or memory changed this alert in the store, so it was not sent; run `tocsin store check`"


class AlertRole(Role):
    """Implements ports.AlertStore."""

    async def set_channels(self, names: Sequence[str]) -> None:
        """From now on alerts get a delivery row for each of these."""
        await self._write(lambda db: db.execute(SQL["set_channels"], {"names": to_json(list(dict.fromkeys(names)))}))

    async def write_alert(self, alert: AlertDraft) -> None:
        """Write an alert of its own."""
        await self._write(partial(publish, drafts=[alert]), durable=True)

    async def open_outage(self) -> Instant | None:
        """When the outage that has not ended was told of; None if there is none."""
        row = await self._read(lambda db: db.execute(SQL["last_of_outages"]).fetchone())
        return row[1] if row is not None and row[0] == OUTAGE_BEGAN else None

    async def due_deliveries(
        self, channel: str, now: Instant, *, limit: int, under_way: Collection[int] = ()
    ) -> list[DueDelivery]:
        """What this channel is to be given now: at most the oldest of each page, those due for longest first."""
        place = {"channel": channel, "now": now, "limit": limit, "under_way": ids(under_way)}
        rows, falsified = await self._read(partial(_due, place=place))
        if falsified:
            # Neither sent, nor in the way of the page's next ones.
            dead = [DeliveryResult(alert, channel, "dead", now, now, _FALSIFIED) for alert in falsified]
            await self.record_deliveries(dead)
        return [
            DueDelivery(
                id_, name, page, position, tries, first, created, SerializedEvent(id_, event), last, next_at, tried
            )
            for id_, name, page, position, tries, first, last, next_at, tried, *_, created, event in rows
        ]

    async def next_delivery_at(self, channel: str) -> Instant | None:
        """When this channel has something due; None if nothing waits."""
        row = await self._read(lambda db: db.execute(SQL["next_delivery_at"], {"channel": channel}).fetchone())
        at: Instant | None = row[0] if row else None
        return at

    async def record_deliveries(self, results: Sequence[DeliveryResult]) -> None:
        """Write what became of tries."""
        rows = [
            {
                "alert": result.alert_id,
                "position": result.position,
                "channel": result.channel,
                "state": result.state,
                "at": result.at,
                "next_at": result.next_at,
                "tried_us": result.tried_us,
                "error": result.error,
            }
            for result in results
        ]
        await self._write(lambda db: db.executemany(SQL["record"], rows))

    async def resume_deliveries(self, channel: str, now: Instant) -> None:
        """After the clock was set back: what waits for this channel waits no longer than it was to wait before."""
        await self._write(lambda db: db.execute(SQL["resume_deliveries"], {"channel": channel, "now": now}))

    async def channel_state(self, channel: str) -> ChannelState:
        """How this channel stands."""

        def read(db: Session) -> ChannelState:
            row = db.execute(SQL["channel"], {"name": channel}).fetchone()
            failures, next_at, disabled, error, failed_at = row or (0, None, 0, None, None)
            counts: dict[str, int] = dict(db.execute(SQL["count_deliveries"], {"name": channel}).fetchall())
            return ChannelState(channel, failures, next_at, bool(disabled), error, **counts, failed_at=failed_at)

        return await self._read(read)

    async def save_channel_state(self, state: ChannelState) -> None:
        """Remember a back-off or a disabling over restarts."""
        row = {
            "name": state.name,
            "failures": state.failures,
            "next_at": state.next_at,
            "disabled": state.disabled,
            "error": state.error,
            "failed_at": state.failed_at,
        }
        await self._write(lambda db: db.execute(SQL["save_channel"], row))

    async def ask_for_channel_test(self, channel: str, now: Instant) -> int:
        """Ask a running engine for a test of this channel; returns its number."""

        def write(db: Session) -> int:
            db.execute(SQL["forget_channel_tests"], {"now": now})
            number: int = db.execute(SQL["ask_for_channel_test"], {"channel": channel, "now": now}).fetchone()[0]
            return number

        return await self._write(write)

    async def take_channel_tests(self, now: Instant, *, limit: int) -> list[tuple[int, str]]:
        """Begin tests that were asked for: the number and the channel of each."""
        found = await self._read(lambda db: db.execute(SQL["open_channel_tests"], {"limit": limit}).fetchall())
        if not found:
            return []

        def write(db: Session) -> list[tuple[int, str]]:
            begun = (
                (number, channel)
                for number, channel in found
                if db.execute(SQL["begin_channel_test"], {"id": number, "now": now}).rowcount
            )
            return list(begun)

        return await self._write(write)

    async def end_channel_test(self, number: int, now: Instant, fault: tuple[str, str] | None) -> None:
        """Say how a test ended."""
        blames, error = fault or (None, None)
        place = {"id": number, "now": now, "blames": blames, "error": error}
        await self._write(lambda db: db.execute(SQL["end_channel_test"], place))

    async def channel_test(self, number: int) -> ChannelTest | None:
        """Say how far a test is; None if it is gone."""
        row = await self._read(lambda db: db.execute(SQL["channel_test"], {"id": number}).fetchone())
        return None if row is None else ChannelTest(*row)

    async def withdraw_channel_test(self, number: int) -> bool:
        """Take back a test that no engine has begun; False if one has."""
        return bool(await self._write(lambda db: db.execute(SQL["withdraw_channel_test"], {"id": number}).rowcount))

    async def alerts(
        self, *, limit: int, before: int | None = None, dead: bool = False, url: str | None = None
    ) -> list[AlertRow]:
        """The latest alerts, newest first; `before` is a position."""
        query = SQL["alerts" if url is None else "alerts_of_page"]
        return await self._rows(query, {"limit": limit, "before": before, "dead": dead, "url": url})

    async def alert(self, alert_id: str) -> AlertRow | None:
        """One alert."""
        return next(iter(await self._rows(SQL["alert"], {"id": alert_id})), None)

    async def after(self, position: int, *, limit: int) -> list[AlertRow]:
        """Alerts published after this position."""
        return await self._rows(SQL["after"], {"position": position, "limit": limit})

    async def replay(self, alert_id: str, *, channel: str | None, now: Instant) -> int:
        """Make the deliveries of an alert due again, accepted ones too; returns how many."""
        place = {"id": alert_id, "channel": channel, "now": now}

        def write(db: Session) -> int:
            if channel is not None:
                db.execute(SQL["deliver_too"], place)
            return db.execute(SQL["replay_alert"], place).rowcount

        return await self._edit(write)

    async def count_dead(self, channel: str | None) -> int:
        """How many dead letters there are, of this channel or of all."""

        def read(db: Session) -> int:
            return sum(
                db.execute(SQL["count_dead"], {"channel": name}).fetchone()[0] for name in _channels(db, channel)
            )

        return await self._read(read)

    async def replay_dead(self, *, channel: str | None, now: Instant, on_step: OnStep = unheard) -> int:
        """Make dead letters due again, of this channel or of all; returns how many."""
        replayed = 0
        for name in await self._read(lambda db: _channels(db, channel)):
            replayed += await self._replay_dead_of(name, now, on_step)
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


def to_alert(row: Sequence[Any]) -> AlertRow:
    """Make an alert of a row of the query `alert_row`."""
    alert_id, position, kind, page_id, url, at, event, deliveries, seen_at = row
    given = read_deliveries(deliveries)
    return AlertRow(alert_id, position, kind, page_id, url, at, read_object(event), given, seen_at)


def _due(db: Session, place: dict[str, Any]) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Read due deliveries, and name the alerts among them that are no longer as they were written."""
    rows = db.execute(SQL["due_deliveries"], place).fetchall()
    # Here and not in the query, which would take and give back the interpreter's lock once more for each row.
    falsified = [
        row[0]
        for row in rows
        if row[_DIGEST] is not None and row[_DIGEST] != row_digest_of_bytes(row[0], *row[_DIGESTED:])
    ]
    return [row for row in rows if row[0] not in falsified] if falsified else rows, falsified


def _channels(db: Session, channel: str | None) -> list[str]:
    return [row[0] for row in db.execute(SQL["channels_with_deliveries"])] if channel is None else [channel]


def _replay_these(db: Session, place: dict[str, Any]) -> int:
    return db.execute(SQL["replay_these"], place).rowcount
