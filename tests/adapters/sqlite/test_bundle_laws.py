"""Invariants 1 to 7 of digests: whatever happens, with a crash at any statement, and between giving and recording.

Each step may be struck by a crash: at a statement of the store's writer, right after a commit, or in the receiver
after it accepted. What was not committed is gone then; the next step goes on with the store as it was left.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.fakes import ManualClock, RecordingTelemetry, SeededChance
from tests.routers import HOUR
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.adapters.stores.sqlite import connection
from tocsin.adapters.stores.sqlite.connection import SqliteSession
from tocsin.engine.alerting.delivery import ChannelLoop
from tocsin.engine.alerting.digests import DigestWriter
from tocsin.errors import DeliveryError
from tocsin.events import CHANGED, DIGEST
from tocsin.model import AlertDraft, Instant, RateLimit, Routed
from tocsin.ports import Notification, RoutingContext

WORLDS = int(os.environ.get("BUNDLE_WORLDS", "15"))
"""How many worlds are tried; `BUNDLE_WORLDS=2000` takes about an hour."""

CHANNELS = ("ops", "mail")
ROUTES = ("alone", "hourly", "keyed", "few")
GIVE_UP = timedelta(hours=30)
CRASHES = st.one_of(st.none(), st.integers(min_value=1, max_value=8), st.integers(min_value=1, max_value=40))
ORDERS = st.lists(st.sampled_from("0123"), min_size=1, max_size=2, unique=True)
MOODS = st.lists(st.sampled_from(["accept", "accept", "accept", "channel", "alert", "crash"]), max_size=12)


class CrashError(Exception):
    """The process ended here."""


class Crashes:
    """Ends the process at a statement of the writer: after it nothing is written any more."""

    def __init__(self) -> None:
        self.left: int | None = None
        self.is_dead = False
        self.count = 0

    def step(self) -> None:
        """Pass a point where a crash may strike."""
        if self.is_dead:
            raise CrashError
        if self.left is not None:
            self.left -= 1
            if self.left <= 0:
                self.strike()

    def strike(self) -> None:
        """End the process."""
        self.is_dead = True
        self.count += 1
        raise CrashError


CRASHES_NOW = Crashes()


class CrashingSession(SqliteSession):
    """A connection whose transactions end with its process."""

    is_writing = False

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql == "begin immediate":
            self.is_writing = True
        if self.is_writing and sql != "rollback":
            CRASHES_NOW.step()
        if sql == "rollback":
            self.is_writing = False
        done = super().execute(sql, *values)
        if sql == "commit" and self.is_writing:
            self.is_writing = False
            CRASHES_NOW.step()
        return done

    def executemany(self, sql: str, rows: Any) -> sqlite3.Cursor:
        CRASHES_NOW.step()
        return super().executemany(sql, rows)


class Routing:
    """The routes of this test: an alert's name begins with the numbers of its routes. Implements ports.Router."""

    def __init__(self, routes: Sequence[str], channels: Sequence[str]) -> None:
        self.routes, self.channels = tuple(routes), tuple(channels)
        self.promised = (("mail", "hourly"),) if "hourly" in routes and "mail" in channels else ()

    def route(self, draft: AlertDraft, now: Instant, context: RoutingContext) -> list[Routed]:
        numbers, key, *_ = draft.id.split("-")
        answers: dict[str, Routed] = {}
        silence = next((each.id for each in context.silences), None)
        for number in numbers:
            route = ROUTES[int(number)]
            if route not in self.routes:
                continue
            for channel in self.channels:
                if channel not in answers:
                    answers[channel] = (
                        self._answer(channel, route, key, now, context)
                        if silence is None
                        else Routed(channel, route, silence=silence)
                    )
        return list(answers.values())

    def next_occasion(self, route: str, after: Instant) -> Instant | None:
        return (after // HOUR + 1) * HOUR if route == "hourly" else None

    def _answer(self, channel: str, route: str, key: str, now: Instant, context: RoutingContext) -> Routed:
        start = now // HOUR * HOUR
        if route == "hourly":
            return Routed(channel, route, "", start + HOUR, is_digest=True)
        if route == "keyed":
            return Routed(channel, route, key, now + HOUR // 2, is_digest=True)
        if route == "few" and not context.take(channel, route, RateLimit(2, start, start + HOUR)):
            return Routed(channel, route, "", start + HOUR, is_digest=True)
        return Routed(channel, route)


class Receiver:
    """One channel's receiver: it remembers what it accepted, and answers by its moods."""

    at_once = 4
    takes_messages = False

    def __init__(self, name: str, world: World) -> None:
        self.name, self._world = name, world
        self.moods: list[str] = []
        self.accepted: set[str] = set()
        self.seen: dict[str, bytes] = {}

    async def deliver(self, notification: Notification) -> None:
        event = notification.event
        self._world.demand_turn(self.name, event.id, event.json)
        assert self.seen.setdefault(event.id, event.json) == event.json, "invariant 2: the same bytes under one id"
        mood = self.moods.pop(0) if self.moods else "accept"
        await asyncio.sleep(0)
        if mood in {"channel", "alert"}:
            raise DeliveryError(self.name, mood, "no")
        self.accepted.add(event.id)
        if mood == "crash":
            CRASHES_NOW.strike()

    async def close(self) -> None:
        """Nothing is open."""


class World:
    """A store, its receivers, and what was published."""

    def __init__(self, folder: Path) -> None:
        self.path, self.clock = folder / "tocsin.db", ManualClock()
        self.receivers = {name: Receiver(name, self) for name in CHANNELS}
        self.routing = Routing(ROUTES, CHANNELS)
        self.chance, self.numbers = SeededChance(), 0
        # Channels of each alert that was published, as its routes said then; None: its publishing may have been lost.
        self.expected: dict[str, tuple[str, ...]] = {}
        self.replayed: set[str] = set()
        self.store: SqlStore | None = None

    async def open(self) -> SqlStore:
        if self.store is None:
            self.store = await open_store(f"sqlite:{self.path}", engine=True)
            await self.configure()
        return self.store

    async def configure(self) -> None:
        assert self.store is not None
        await self.store.set_channels(self.routing.channels)
        await self.store.set_routes(self.routing, self.routing.routes, self.clock.now())

    async def end(self) -> None:
        """Leave the store, as a process does that ends."""
        if self.store is not None:
            with suppress(CrashError):
                await self.store.close()
        self.store = None
        CRASHES_NOW.left, CRASHES_NOW.is_dead = None, False

    async def publish(self, routes: str, page: int, count: int) -> None:
        store = await self.open()
        for _ in range(count):
            self.numbers += 1
            name = f"{routes}-k{page}-{self.numbers:06}"
            data = {"page": {"group": f"k{page}"}}
            event = {"id": name, "type": CHANGED, "subject": f"https://h{page}.example/", "data": data}
            self.expected[name] = ()
            await store.write_alert(AlertDraft(name, CHANGED, page, self.clock.now(), event))

    async def deliver(self, moods: dict[str, list[str]]) -> None:
        store = await self.open()
        for name in self.routing.channels:
            self.receivers[name].moods = moods[name]
            compose = DigestWriter("tocsin", self.chance).compose
            loop = ChannelLoop(self.receivers[name], store, GIVE_UP, self.clock, RecordingTelemetry(), compose=compose)
            await loop.drain()

    def look(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path)) as db:
            return db.execute(query, values).fetchall()

    def demand_turn(self, channel: str, event_id: str, body: bytes) -> None:
        """Demand that what a receiver is given now may be given now."""
        event = msgspec.json.decode(body)
        if event["type"] == DIGEST:
            rows = self.look(
                "select a.id from digests d join gathered g on g.bundle = d.bundle join alerts a "
                "on a.position = g.position where d.message_id = ? order by a.position",
                event_id,
            )
            told = [alert["id"] for alert in event["data"]["alerts"]]
            assert told == [row[0] for row in rows], "invariants 2, 4: a sealed digest is what it was sealed as"
            return
        given = self.look(
            "select b.id from alerts a join gathered g on g.page_id = a.page_id and g.position < a.position "
            "join bundles b on b.id = g.bundle where a.id = ? and b.channel = ? and b.state = 'sealed' and b.tries > 0",
            event_id,
            channel,
        )
        assert not given, "invariant 6: an older alert of its page is in a digest that is being given"

    def places(self) -> dict[str, list[tuple[str, str]]]:
        """Where each stored alert is, for each channel."""
        rows = self.look(
            "select a.id, d.channel, d.state from alerts a left join deliveries d on d.position = a.position union all "
            "select a.id, g.channel, case when b.state in ('accepted', 'dead') then b.state else 'gathered' end "
            "from gathered g join alerts a on a.position = g.position join bundles b on b.id = g.bundle union all "
            "select a.id, s.channel, 'silenced' from silenced s join alerts a on a.position = s.position"
        )
        found: dict[str, list[tuple[str, str]]] = {}
        for name, channel, state in rows:
            found.setdefault(name, []).extend([(channel, state)] if channel is not None else [])
        return found


class Worlds(RuleBasedStateMachine):
    """Everything that can happen to digests, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self._loop = asyncio.new_event_loop()
        self.world = World(Path(self._folder.name))
        self._known: dict[str, frozenset[str]] = {}
        self._run(self.world.open())

    def _run(self, work: Coroutine[Any, Any, object], crash_at: int | None = None) -> None:
        """Do this; the process may end meanwhile."""
        CRASHES_NOW.left = crash_at
        try:
            self._loop.run_until_complete(work)
        except* CrashError:
            pass
        finally:
            if CRASHES_NOW.is_dead:
                self._loop.run_until_complete(self.world.end())
            CRASHES_NOW.left = None

    @rule(routes=ORDERS, page=st.integers(1, 3), count=st.integers(1, 5), crash_at=CRASHES)
    def publish(self, routes: list[str], page: int, count: int, crash_at: int | None) -> None:
        """Publish alerts of a page."""
        self._run(self.world.publish("".join(routes), page, count), crash_at)

    @rule(hours=st.sampled_from([0, 0.3, 0.6, 1, 7]), ops=MOODS, mail=MOODS, crash_at=CRASHES)
    def deliver(self, hours: float, ops: list[str], mail: list[str], crash_at: int | None) -> None:
        """Let time pass, and let the receivers be given what is due."""
        self._loop.run_until_complete(self.world.clock.advance(hours * 3600))
        self._run(self.world.deliver({"ops": ops, "mail": mail}), crash_at)

    @rule(routes=st.sets(st.sampled_from(ROUTES), min_size=1), mail=st.booleans(), crash_at=CRASHES)
    def reconfigure(self, routes: set[str], mail: bool, crash_at: int | None) -> None:  # noqa: FBT001 - drawn
        """Remove or restore routes and a channel."""
        self.world.routing = Routing(sorted(routes), CHANNELS if mail else ("ops",))
        self._run(self.world.end())
        self._run(self.world.open(), crash_at)

    @rule(crash_at=CRASHES)
    def silence(self, crash_at: int | None) -> None:
        """Begin a silence, or end the one there is."""

        async def change() -> None:
            store, now = await self.world.open(), self.world.clock.now()
            in_force = [each.id for each in await store.silences(limit=1) if each.ended_at is None]
            for number in in_force:
                await store.end_silence(number, now)
            if not in_force:
                await store.add_silence({}, from_at=now, until_at=None, reason="", who="")

        self._run(change(), crash_at)

    @rule(crash_at=CRASHES, seconds=st.integers(-7200, 7200))
    def set_clock(self, seconds: int, crash_at: int | None) -> None:
        """Set the wall clock, which may strike anything that is due."""
        self.world.clock.set_wall(self.world.clock.now() + seconds * 1_000_000)
        self._run(self.world.deliver({"ops": [], "mail": []}), crash_at)

    @rule(crash_at=CRASHES)
    def replay(self, crash_at: int | None) -> None:
        """Replay what is dead, and the first digest that was accepted."""

        async def again() -> None:
            store, now = await self.world.open(), self.world.clock.now()
            await store.replay_dead(channel=None, now=now)
            ended = [row.id for row in await store.bundles(limit=99) if row.state == "accepted"]
            for bundle in ended[-1:]:
                await store.replay_bundle(bundle, now)

        self._run(again(), crash_at)

    @invariant()
    def every_alert_has_one_place_for_each_channel(self) -> None:
        """Invariants 1, 3 and 5: no alert is lost, nor told to a channel in two ways."""
        if self.world.store is not None and CRASHES_NOW.is_dead:
            return
        places = self.world.places()
        for name, found in places.items():
            assert max(Counter(channel for channel, _ in found).values(), default=0) <= 1, "invariant 1"
            channels = frozenset(channel for channel, _ in found)
            assert self._known.setdefault(name, channels) == channels, "invariant 5"
            for channel, state in found:
                if state == "accepted":
                    assert self._was_accepted(name, channel), "what is accepted was given"
        assert self._known.keys() <= places.keys(), "invariant 5: published alerts stay"

    def _was_accepted(self, name: str, channel: str) -> bool:
        accepted = self.world.receivers[channel].accepted
        digests = self.world.look(
            "select d.message_id from alerts a join gathered g on g.position = a.position join digests d "
            "on d.bundle = g.bundle where a.id = ? and g.channel = ?",
            name,
            channel,
        )
        return bool(accepted & {name, *(row[0] for row in digests)})

    @invariant()
    def no_digest_of_a_removed_channel_or_route_waits(self) -> None:
        """Invariant 7."""
        if self.world.store is None:
            return
        routing, now = self.world.routing, self.world.clock.now()
        for channel, route, state, due_at in self.world.look("select channel, route, state, due_at from bundles"):
            if state in {"open", "sealed"}:
                assert channel in routing.channels
                assert state == "sealed" or route in routing.routes or due_at <= now + 2 * HOUR

    def teardown(self) -> None:
        """In the end, with receivers that accept, nothing waits."""
        self.world.routing = Routing(ROUTES, CHANNELS)
        self._run(self.world.end())
        for _ in range(12):
            self._loop.run_until_complete(self.world.clock.advance(5 * 3600))
            self._run(self.world.deliver({"ops": [], "mail": []}))
        states = Counter(state for found in self.world.places().values() for _, state in found)
        assert set(states) <= {"accepted", "dead", "silenced"}, states
        assert self.world.store is not None
        assert self._loop.run_until_complete(self.world.store.check()) == []
        self._run(self.world.end())
        self._loop.close()
        self._folder.cleanup()


def test_digests_keep_their_invariants_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SqliteSession", CrashingSession)
    run_state_machine_as_test(Worlds, settings=settings(max_examples=WORLDS, stateful_step_count=20, deadline=None))
