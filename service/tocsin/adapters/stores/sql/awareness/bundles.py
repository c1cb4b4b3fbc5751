"""Digests: bundles that are sealed, given and ended, and what is replayed of them."""

from __future__ import annotations

from collections import Counter
from functools import partial
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from tocsin.adapters.stores.sql.owed import ALERTS, ROUTED, Ledger, open_bundle, to_silence
from tocsin.adapters.stores.sql.role import Role, bounded, ids, take_turn
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_object, to_json
from tocsin.model import (
    AlertDraft,
    BundleRow,
    BundleState,
    Digest,
    DueBundles,
    DueDelivery,
    Message,
    SerializedEvent,
    Silence,
)
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.adapters.stores.sql.session import SnapshotReader, SqlSession
    from tocsin.model import Instant, JsonObject
    from tocsin.ports import Router
    from tocsin.ports.pages import OnStep

SQL = queries("bundles")

# Alerts that a digest shows; the others are counted by group and host.
SHOWN: Final = 500
_NAMED: Final = 100
_STEP: Final = 1000
_EVENTS: Final = 100
_GONE: Final = "its channel is no longer in the configuration; put it back, then replay this digest"

# Who made the silences of the configuration file.
CONFIGURATION: Final = "configuration"

_read_message = msgspec.json.Decoder(Message).decode


class BundleRole(Role):
    """Implements ports.BundleStore."""

    async def set_routes(self, router: Router | None, names: Collection[str], now: Instant) -> None:
        def write(db: SqlSession) -> None:
            db.execute(SQL["drop_empty"])
            db.execute(SQL["end_without_channel"], {"error": _GONE})
            db.execute(SQL["hasten_without_route"], {"now": now, "routes": ids(names)})
            self._routes.router, self._routes.is_needed = router, bool(names)
            if router is not None:
                for channel, route in router.promised:
                    open_bundle(db, router, (channel, route, ""), now, None)

        await self._write(write)

    async def seal_bundle(self, bundle: int, now: Instant) -> None:
        def write(db: SqlSession) -> None:
            take_turn(db)
            what = db.execute(SQL["seal"], {"bundle": bundle, "now": now}).fetchone()
            if what is None:
                return
            channel, route, key, alerts = what
            if not self._promise(db, channel, route, key, now) and not alerts:
                db.execute(SQL["drop"], {"bundle": bundle})

        await self._write(write, shared=True)

    def _promise(self, db: SqlSession, channel: str, route: str, key: str, now: Instant) -> bool:
        """Open the next bundle where one is promised even without alerts, unless one is open."""
        router = self._routes.router
        if router is None or key or (channel, route) not in router.promised:
            return False
        open_bundle(db, router, (channel, route, ""), now, None)
        return True

    async def due_bundles(
        self, channel: str, now: Instant, *, limit: int, under_way: Collection[int] = ()
    ) -> DueBundles:
        place = {"channel": channel, "now": now, "limit": limit, "under_way": ids(under_way)}

        def read(db: SqlSession) -> tuple[list[Any], list[Any]]:
            return db.execute(SQL["to_seal"], place).fetchall(), db.execute(SQL["to_give"], place).fetchall()

        to_seal, to_give = await self._read(read)
        return DueBundles(tuple(row[0] for row in to_seal), tuple(_to_digest(channel, row) for row in to_give))

    async def digest(self, bundle: int) -> Digest:
        async with self._database.apart() as read:
            row = (await read(partial(_bundle, number=bundle)))[0]
            survey = await _survey(read, bundle)
            events = await _events(read, survey.first)
        return Digest(row, survey.since, survey.until, tuple(events), survey.rest())

    async def keep_digest(self, bundle: int, event: SerializedEvent, message: Message | None) -> None:
        row = {
            "bundle": bundle,
            "id": event.id,
            "event": event.json.decode(),
            "message": None if message is None else to_json(message),
        }
        await self._write(lambda db: db.execute(SQL["keep_digest"], row), shared=True)

    async def bundles(
        self, *, limit: int, before: int | None = None, state: BundleState | None = None
    ) -> list[BundleRow]:
        place = {"limit": limit, "before": None if before is None else bounded(before)}
        query = SQL["bundles" if state is None else f"in_{state}"]
        rows = await self._read(lambda db: db.execute(query, place).fetchall())
        return [BundleRow(*row) for row in rows]

    async def bundle(self, bundle: int) -> BundleRow | None:
        return next(iter(await self._read(partial(_bundle, number=bounded(bundle)))), None)

    async def hasten_bundle(self, bundle: int, now: Instant) -> bool:
        place = {"bundle": bounded(bundle), "now": now}
        return bool(await self._edit(lambda db: db.execute(SQL["hasten_bundle"], place).rowcount))

    async def give_up_bundle(self, bundle: int, now: Instant, *, error: str) -> bool:
        def write(db: SqlSession) -> bool:
            what = db.execute(SQL["give_up_bundle"], {"bundle": bounded(bundle), "error": error}).fetchone()
            if what is not None:
                self._promise(db, what[0], what[1], what[2], now)
            return what is not None

        return await self._edit(write)

    async def replay_bundle(self, bundle: int, now: Instant) -> int:
        def write(db: SqlSession) -> int:
            row = db.execute(SQL["replay_bundle"], {"bundle": bounded(bundle), "now": now}).fetchone()
            return row[0] if row is not None else 0

        return await self._edit(write)

    async def replay_route(
        self,
        router: Router,
        route: str,
        *,
        since: Instant,
        now: Instant,
        dry_run: bool = False,
        on_step: OnStep = unheard,
    ) -> int:
        replayed, pace = 0, self._paces["route"]
        place: dict[str, Any] = {"after": 0, "since": since}
        while rows := await self._read(partial(_alerts_since, place={**place, "limit": pace.rows})):
            work = partial(self._route_again, rows=rows, router=router, route=route, now=now, dry_run=dry_run)
            replayed += await (self._read(work) if dry_run else self._in_turn(pace, len(rows), work))
            place["after"] = rows[-1][1]
            on_step(len(rows))
        return replayed

    def _route_again(
        self,
        db: SqlSession,
        *,
        rows: Sequence[tuple[Any, ...]],
        router: Router,
        route: str,
        now: Instant,
        dry_run: bool,
    ) -> int:
        (revision,) = db.execute(ROUTED["silences_revision"]).fetchone()
        pages = {row[2] for row in rows}
        ledger = Ledger(db, router, self._routes.silences_of(db, revision), pages=pages, late=now)
        written = 0
        for alert_id, position, page, kind, at, event in rows:
            draft = AlertDraft(alert_id, kind, page, at, read_object(event))
            there = {row[0] for row in db.execute(SQL["channels_of"], {"id": alert_id, "position": position})}
            answers = router.route(draft, now, ledger)
            missing = [each for each in answers if each.route == route and each.channel not in there]
            written += len(missing)
            if not dry_run:
                ledger.write(position, draft, missing)
        if not dry_run:
            ledger.flush()
        return written

    async def silences(self, *, limit: int, before: int | None = None) -> list[Silence]:
        place = {"limit": limit, "before": None if before is None else bounded(before)}
        rows = await self._read(lambda db: db.execute(ROUTED["silences"], place).fetchall())
        return [to_silence(row) for row in rows]

    async def add_silence(
        self, match: JsonObject, *, from_at: Instant, until_at: Instant | None, reason: str, who: str
    ) -> Silence:
        row = {"match": to_json(match), "from": from_at, "until": until_at, "reason": reason, "who": who}
        return to_silence(await self._edit(lambda db: db.execute(ROUTED["add_silence"], row).fetchone()))

    async def end_silence(self, silence: int, now: Instant) -> bool:
        place = {"silence": bounded(silence), "now": now}
        return bool(await self._edit(lambda db: db.execute(ROUTED["end_silence"], place).rowcount))

    async def declare_silences(self, declared: Sequence[Silence], now: Instant) -> None:
        def write(db: SqlSession) -> None:
            wanted = {_said_by(silence): silence for silence in declared}
            for row in db.execute(ROUTED["silences_in_force"]).fetchall():
                silence = to_silence(row)
                if silence.who == CONFIGURATION and wanted.pop(_said_by(silence), None) is None:
                    db.execute(ROUTED["end_silence"], {"silence": silence.id, "now": now})
            for silence in wanted.values():
                match, until, reason = _said_by(silence)
                row = {"match": match, "from": silence.from_at, "until": until, "reason": reason, "who": CONFIGURATION}
                db.execute(ROUTED["add_silence"], row)

        await self._write(write)


def _said_by(silence: Silence) -> tuple[str, Instant | None, str]:
    """Tell silences of the configuration apart: they have no number there."""
    return to_json(silence.match), silence.until_at, silence.reason


class _Survey:
    """What a digest says of all of its alerts, gathered in steps."""

    def __init__(self) -> None:
        self.since: Instant | None = None
        self.until: Instant | None = None
        self.first: list[int] = []
        self._where: dict[int, tuple[str, str]] = {}
        self._rest: Counter[tuple[str, str]] = Counter()

    def take(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Count these alerts, and keep the places of the first of all."""
        times = [row[2] for row in rows]
        self.since = min(times) if self.since is None else min(self.since, *times)
        self.until = max(times) if self.until is None else max(self.until, *times)
        for _, position, _, group, host in rows:
            self._where[position] = group, _host_of(host)
        self.first = nsmallest(SHOWN, self._where)
        for position in self._where.keys() - set(self.first):
            self._rest[self._where.pop(position)] += 1

    def rest(self) -> tuple[tuple[str, str, int], ...]:
        """Count the alerts that are not among the first; those with few are counted together, under no name."""
        named = [(group, host, number) for (group, host), number in self._rest.most_common(_NAMED)]
        others = self._rest.total() - sum(number for _, _, number in named)
        return (*named, *([("", "", others)] if others else []))


def _to_digest(channel: str, row: Sequence[Any]) -> DueDelivery:
    """Make the delivery of a digest of a row of the query `to_give`."""
    bundle, tries, first, last, next_at, tried_us, sealed_at, message_id, event, message, route = row
    return DueDelivery(
        message_id or "",
        channel,
        None,
        -bundle,
        tries,
        first,
        sealed_at,
        SerializedEvent(message_id or "", event or b""),
        last,
        next_at,
        tried_us,
        None if message is None else _read_message(message),
        route,
    )


def _host_of(found: str) -> str:
    """Name the host of a page that is gone by its URL."""
    try:
        return urlsplit(found).hostname or found
    except ValueError:
        return found


async def _survey(read: SnapshotReader, bundle: int) -> _Survey:
    survey = _Survey()
    place: dict[str, Any] = {"bundle": bundle, "page": -2, "position": 0, "limit": _STEP}
    while rows := await read(lambda db: db.execute(SQL["gathered_of"], place).fetchall()):
        survey.take(rows)
        place.update(page=rows[-1][0], position=rows[-1][1])
    return survey


async def _events(read: SnapshotReader, positions: Sequence[int]) -> list[Any]:
    found: list[Any] = []
    for start in range(0, len(positions), _EVENTS):
        place = {"positions": ids(positions[start : start + _EVENTS])}
        found += [read_object(row[0]) for row in await read(partial(_events_at, place=place))]
    return found


def _bundle(db: SqlSession, *, number: int) -> list[BundleRow]:
    return [BundleRow(*row) for row in db.execute(SQL["bundle"], {"bundle": number})]


def _events_at(db: SqlSession, *, place: dict[str, Any]) -> list[tuple[Any, ...]]:
    return db.execute(SQL["events_at"], place).fetchall()


def _alerts_since(db: SqlSession, *, place: dict[str, Any]) -> list[tuple[Any, ...]]:
    return db.execute(SQL["alerts_since"], place).fetchall()


def take_apart(db: SqlSession, alert_id: str, channel: str | None, now: Instant) -> None:
    """Take an alert out of its bundles and out of silence, so that it is delivered alone; what is sealed stays."""
    place = {"id": alert_id, "channel": channel, "now": now}
    for (name,) in db.execute(SQL["apart"], place).fetchall():
        db.execute(SQL["leave_bundle"], {"id": alert_id, "channel": name})
        db.execute(ALERTS["deliver_too"], {**place, "channel": name})
    for (name,) in db.execute(SQL["silenced_of"], place).fetchall():
        db.execute(SQL["end_silence_of"], {"id": alert_id, "channel": name})
        db.execute(ALERTS["deliver_too"], {**place, "channel": name})
