"""Delivery from the outbox to the channels: at least once, in order per page, no page delaying another."""

from __future__ import annotations

import asyncio
import traceback
from collections import deque
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from tocsin.engine.alerting.backoff import (
    after_failure,
    after_success,
    channel_after_failure,
    channel_after_success,
    pause_left,
)
from tocsin.engine.alerting.digests import DigestDesk
from tocsin.engine.hosts.duties import CHANNEL, Duty, SoleDuty
from tocsin.errors import DeliveryError, SettingsError, StaleClaim, StoreError, TocsinError
from tocsin.events import Happening
from tocsin.model import SerializedEvent, to_rfc3339
from tocsin.ports import Notification

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Sequence
    from datetime import timedelta

    from tocsin.engine.alerting.digests import DigestComposer, MessageComposer
    from tocsin.model import ChannelState, DeliveryResult, DueDelivery, Instant, JsonObject, Message, NamedLease
    from tocsin.ports import Channel, Clock, DeliveryStore, Telemetry
    from tocsin.settings import DeliverySettings

# Alerts of different pages that a prompt channel is given in parallel.
IN_FLIGHT: Final = 8
# The same including deliveries that take longer than SLOW_S: these give their slots to others.
MOST_IN_FLIGHT: Final = 16
SLOW_S: Final = 1.0
# Alerts of this many pages fail without an accepted one in between: then the channel is at fault.
BLAMED_AT: Final = 3
# Deliveries that are read together, and recorded in one transaction, at most.
BATCH: Final = 64
# Longest time until an answer is recorded while others are awaited: a crash repeats what is not recorded.
RECORD_S: Final = 0.25
POLL_S: Final = 1.0
# Time for recording the last answers when a channel ends.
LAST_RECORD_S: Final = 2.0
_LOOK_AGAIN_S: Final = 5.0
_TESTS: Final = 8


class Delivery:
    """Delivers to all channels, each in a loop of its own.

    test_event  makes the event that tests a channel
    compose     makes what is given of a digest; None: there are no digests
    to_message  makes the message for people of an event for a channel and a route, where the channel takes messages
    duty_of     the right to deliver to a channel, by the name of its lease; None: every channel is ours
    on_accepted is given how many seconds after it was due a delivery was accepted
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        store: DeliveryStore,
        settings: DeliverySettings,
        clock: Clock,
        telemetry: Telemetry,
        *,
        test_event: Callable[[str], JsonObject] | None = None,
        compose: DigestComposer | None = None,
        to_message: MessageComposer | None = None,
        duty_of: Callable[[str], Duty] | None = None,
        on_accepted: Callable[[float], None] = lambda _late_s: None,
    ) -> None:
        self._on_accepted = on_accepted
        self._store, self._give_up = store, settings.give_up
        self._clock, self._telemetry, self._duty_of = clock, telemetry, duty_of
        self._test_event, self._compose, self._to_message = test_event, compose, to_message
        self._loops = {channel.name: self._loop_of(channel) for channel in channels}
        # Names with a running loop. A replaced channel's loop ends before the next one begins, or both would deliver
        # the same alerts.
        self._running: set[str] = set()
        self._group: asyncio.TaskGroup | None = None
        self._testing: asyncio.Task[None] | None = None

    @property
    def duties(self) -> list[str]:
        """The names of the leases of its channels."""
        return [CHANNEL + name for name in self._loops]

    def is_busy(self, duty: str) -> bool:
        """Tell whether answers of a channel are awaited, or not recorded yet, by the name of its lease."""
        loop = self._loops.get(duty.removeprefix(CHANNEL))
        return loop is not None and loop.is_busy

    def wake(self) -> None:
        """Read the outbox now: alerts were written."""
        for loop in self._loops.values():
            loop.wake()

    def clock_went_back(self) -> None:
        """Note that the wall clock was set back, so that no alert waits until it has caught up."""
        for loop in self._loops.values():
            loop.clock_went_back()

    def configure(self, opened: Sequence[Channel], gone: Collection[str]) -> None:
        """Replace channels of the same names by these, and end those that are gone.

        Deliveries under way end before their channel is closed.
        """
        for name in {*gone, *(channel.name for channel in opened)} & self._loops.keys():
            self._loops.pop(name).finish()
        for channel in opened:
            self._loops[channel.name] = self._loop_of(channel)
            if channel.name not in self._running and self._group is not None:
                self._begin(channel.name, self._group)

    async def try_channel(self, name: str) -> None:
        """Send a test event; a channel that accepts it is enabled again. Raises DeliveryError, SettingsError."""
        loop = self._loops.get(name)
        if loop is None or self._test_event is None:
            raise SettingsError(
                f"channels.{name}: the running service has no such channel; mend the configuration, then send it SIGHUP"
            )
        await loop.try_out(self._test_event(name))

    async def run(self) -> None:
        """Deliver until `finish`."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            for name in self._loops:
                self._begin(name, group)
            if self._test_event is not None:
                self._testing = group.create_task(self._take_tests(group), name="channel-tests")

    def finish(self) -> None:
        """Let `run` end once deliveries under way are answered and recorded."""
        self._group = None
        if self._testing is not None:
            self._testing.cancel()
        for loop in self._loops.values():
            loop.finish()

    async def drain(self, deadline_s: float) -> None:
        """Deliver what is due within this time; the rest stays in the outbox."""
        try:
            async with asyncio.timeout(deadline_s), asyncio.TaskGroup() as group:
                for loop in self._loops.values():
                    group.create_task(loop.drain(), name=f"drain-{loop.name}")
        except TimeoutError:
            self._telemetry.emit(Happening("delivery.unfinished", "warning", {"deadline_s": deadline_s}))

    def _loop_of(self, channel: Channel) -> ChannelLoop:
        return ChannelLoop(
            channel,
            self._store,
            self._give_up,
            self._clock,
            self._telemetry,
            compose=self._compose,
            to_message=self._to_message,
            duty=self._duty_of(CHANNEL + channel.name) if self._duty_of is not None else None,
            on_accepted=self._on_accepted,
        )

    def _begin(self, name: str, group: asyncio.TaskGroup) -> None:
        self._running.add(name)
        group.create_task(self._serve(name), name=f"deliver-{name}")

    async def _serve(self, name: str) -> None:
        """Run the loop of this name, and its replacements."""
        while (loop := self._loops.get(name)) is not None:
            await loop.run()
            if self._loops.get(name) is loop:
                break
            await loop.close()
        self._running.discard(name)

    async def _take_tests(self, group: asyncio.TaskGroup) -> None:
        """Test the channels that the command line asks for."""
        while True:
            try:
                for number, name in await self._store.take_channel_tests(self._clock.now(), limit=_TESTS):
                    group.create_task(self._test(number, name), name=f"channel-test-{number}")
            except StoreError as exc:
                self._telemetry.emit(Happening("channel.tests_unread", "error", {"error": str(exc)}))
            await self._clock.sleep(POLL_S)

    async def _test(self, number: int, name: str) -> None:
        fault: tuple[str, str] | None = None
        try:
            await self.try_channel(name)
        except DeliveryError as exc:
            fault = exc.blames, exc.detail
        except SettingsError as exc:
            fault = "settings", str(exc)
        try:
            await self._store.end_channel_test(number, self._clock.now(), fault)
        except StoreError as exc:
            self._telemetry.emit(Happening("channel.tests_unread", "error", {"error": str(exc)}))


class ChannelLoop:
    """Delivers to one channel, at most one alert of a page at a time.

    An alert that fails is tried again after steps of its own, and the other pages' go on. Only where alerts of
    BLAMED_AT different pages fail, with none accepted between, the whole channel is left alone for a while; it is then
    given one alert at a time, and one more for each that it accepts, so that a receiver that is back is not flooded.
    Alerts that failed only while their channel did are not at fault: once it is back, they do not wait for their steps.

    duty  of several nodes one delivers to a channel, so that order and back-off are decided in one place
    """

    def __init__(
        self,
        channel: Channel,
        store: DeliveryStore,
        give_up: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        compose: DigestComposer | None = None,
        to_message: MessageComposer | None = None,
        duty: Duty | None = None,
        on_accepted: Callable[[float], None] = lambda _late_s: None,
    ) -> None:
        self.name, self._on_accepted = channel.name, on_accepted
        self._to_message = to_message if channel.takes_messages else None
        self._channel, self._store, self._give_up = channel, store, give_up
        self._clock, self._telemetry = clock, telemetry
        self._digests = DigestDesk(channel.name, store, compose, clock) if compose is not None else None
        self._preparing: asyncio.Task[None] | None = None
        self._looked_s = float("-inf")
        # By position in the outbox: read but not begun; begun, with the time; answered but not recorded.
        self._ready: deque[DueDelivery] = deque()
        self._under_way: dict[int, float] = {}
        self._answered: dict[int, DeliveryResult] = {}
        self._answered_s = 0.0
        # Pages whose alerts failed with none accepted since, and when the first of them did.
        self._failing: set[int | str] = set()
        self._failing_since: Instant | None = None
        self._limit = IN_FLIGHT
        # Counts how often the channel was blamed: answers to deliveries begun before that are no new evidence.
        self._round = 0
        self._state: ChannelState | None = None
        self._is_unsaved = False
        self._read_s = self._again_s = 0.0
        self._is_resumed = False
        # The lease that this loop delivers under, and one that turned out to be another node's by now.
        self._duty: Duty = duty or SoleDuty()
        self._under: NamedLease | None = None
        self._lost: NamedLease | None = None
        self._changed = asyncio.Event()
        self._finishing = False

    @property
    def is_busy(self) -> bool:
        """Whether an answer is awaited, or not recorded yet."""
        return bool(self._under_way or self._answered)

    def wake(self) -> None:
        """Read the outbox now."""
        self._changed.set()

    def finish(self) -> None:
        """Let `run` end when deliveries under way are answered."""
        self._finishing = True
        self._changed.set()

    def clock_went_back(self) -> None:
        """Note that the wall clock was set back; see `Delivery`."""
        self._is_resumed = False
        state = self._state
        if state is not None and state.next_at is not None:
            left_us = max(round((self._again_s - self._clock.monotonic()) * 1_000_000), 0)
            # The pause is what is left by the monotonic clock; people are told that time, not that of the other clock.
            self._state = msgspec.structs.replace(state, next_at=min(state.next_at, self._clock.now() + left_us))
            self._is_unsaved = True
        self._changed.set()

    async def close(self) -> None:
        """Close the channel, which another one replaces."""
        await self._channel.close()

    async def try_out(self, event: JsonObject) -> None:
        """Send a test event; success enables the channel and ends its pause. Raises DeliveryError."""
        await self._offer(await self._notify(SerializedEvent.of(event)))
        state = self._state if self._is_ours else None
        if state is None:
            state = await self._store.channel_state(self.name)
        if state.disabled or state.failures:
            self._limit = 1
            self._failing.clear()
            self._state = channel_after_success(state, self._clock.now())
            await self._store.save_channel_state(self._state)
            self._tell(state, self._state)
        self.wake()

    async def run(self) -> None:
        """Deliver until `finish`."""
        async with self._deliveries() as group:
            while True:
                self._changed.clear()
                await self._take_turn(group)
                if self._finishing and not self._under_way:
                    break
                await self._changed.wait()

    async def drain(self) -> None:
        """Deliver what is due until nothing is, or the channel fails."""
        async with self._deliveries() as group:
            while True:
                self._changed.clear()
                if not await self._take_turn(group):
                    break
                # What changed meanwhile may be due now: digests are prepared beside the turn.
                if not (self._under_way or self._answered or self._preparing or self._changed.is_set()):
                    break
                await self._changed.wait()

    @asynccontextmanager
    async def _deliveries(self) -> AsyncIterator[asyncio.TaskGroup]:
        """Provide the group of deliveries; answers are recorded however it ends."""
        try:
            async with asyncio.TaskGroup() as group:
                ticker = group.create_task(self._tick(), name=f"deliver-{self.name}-tick")
                yield group
                ticker.cancel()
                if self._preparing is not None:
                    self._preparing.cancel()
        finally:
            if self._answered or self._is_unsaved:
                try:
                    async with asyncio.timeout(LAST_RECORD_S):
                        await self._record()
                except (StoreError, TimeoutError) as exc:
                    self._tell_unrecorded(exc)

    async def _take_turn(self, group: asyncio.TaskGroup) -> bool:
        """Record answers and begin deliveries as far as possible; False if the store fails."""
        try:
            if not self._may_deliver:
                self._ready.clear()
                # Another node delivers, or will soon: what was answered here need not be repeated there.
                await self._record()
                return True
            if self._duty.lease != self._under:
                await self._take_over()
            if not self._is_resumed:
                await self._store.resume_deliveries(self.name, self._clock.now())
                self._is_resumed = True
            await self._look_at_state()
            # Reading also records answers; a separate transaction before it would double the cost.
            if self._is_record_due() and (self._ready or self._room() <= 0):
                await self._record()
            await self._look_for_digests(group)
            while self._room() > 0 and (self._ready or await self._read_due()):
                self._begin(group)
            if self._is_left_alone():
                # They were read before the channel failed; by its next try another alert of a page may be first.
                self._ready.clear()
        except StoreError as exc:
            self._tell_unrecorded(exc)
            return False
        return True

    @property
    def _may_deliver(self) -> bool:
        return self._duty.is_held and (self._lost is None or self._duty.lease != self._lost)

    @property
    def _is_ours(self) -> bool:
        """Whether this node may begin deliveries, and knows what the node before it left."""
        return self._may_deliver and self._duty.lease == self._under

    async def _take_over(self) -> None:
        """Begin with what the node before recorded; what was known here is older."""
        lease = self._duty.lease
        self._ready.clear()
        self._answered.clear()
        self._failing.clear()
        self._is_resumed = self._is_unsaved = False
        self._adopt(await self._store.channel_state(self.name))
        self._under = lease

    async def _look_for_digests(self, group: asyncio.TaskGroup) -> None:
        """Let digests that are due be sealed, and offer those that can be given, before single alerts."""
        now_s = self._clock.monotonic()
        if self._digests is None or self._preparing is not None or now_s - self._looked_s < POLL_S:
            return
        self._looked_s = now_s
        known = [*self._under_way, *self._answered, *(delivery.position for delivery in self._ready)]
        if digests := await self._digests.look(known):
            # Alerts that were read before a digest was sealed may have to wait for it: they are read again behind it.
            self._ready = deque(digests)
        if self._digests.is_waiting and not self._finishing:
            self._preparing = group.create_task(self._prepare(self._digests), name=f"digests-{self.name}")

    async def _prepare(self, digests: DigestDesk) -> None:
        try:
            await digests.prepare()
            # What was sealed now is composed at once, and then given.
            self._looked_s = float("-inf")
        except StoreError as exc:
            self._tell_unrecorded(exc)
        finally:
            self._preparing = None
            self._changed.set()

    async def _look_at_state(self) -> None:
        """Read the state of a failing channel again: a test may have enabled it or ended its pause."""
        now_s = self._clock.monotonic()
        known = self._state
        is_well = known is not None and not (known.disabled or known.failures)
        if is_well or self._is_unsaved or (known is not None and now_s - self._read_s < _LOOK_AGAIN_S):
            return
        read = await self._store.channel_state(self.name)
        self._read_s = now_s
        if known is None or (read.failures, read.next_at, read.disabled) != (
            known.failures,
            known.next_at,
            known.disabled,
        ):
            self._adopt(read)
            self._limit = 1 if known is not None or read.failures else IN_FLIGHT

    def _adopt(self, read: ChannelState) -> None:
        self._state = read
        self._again_s = self._clock.monotonic() + pause_left(read, self._clock.now()).total_seconds()
        self._limit = 1 if read.failures else IN_FLIGHT

    def _begin(self, group: asyncio.TaskGroup) -> None:
        for _ in range(min(self._room(), len(self._ready))):
            delivery = self._next()
            group.create_task(self._give(delivery, self._round), name=f"deliver-{self.name}-{delivery.position}")

    def _next(self) -> DueDelivery:
        delivery = self._ready.popleft()
        self._under_way[delivery.position] = self._clock.monotonic()
        return delivery

    async def _give(self, delivery: DueDelivery, begun_in: int) -> None:
        """Deliver an alert, then further ones while some are ready and no answers have to be recorded."""
        while True:
            fault: DeliveryError | None = None
            try:
                await self._offer(await self._notify(delivery.event, delivery.route, delivery.message))
            except DeliveryError as exc:
                fault = exc
            self._note(delivery, fault, is_news=begun_in == self._round)
            if not self._ready or self._is_record_due() or self._room() <= 0:
                self._changed.set()
                return
            delivery, begun_in = self._next(), self._round

    async def _offer(self, notification: Notification) -> None:
        try:
            await self._channel.deliver(notification)
        except TocsinError:
            raise
        except Exception as exc:
            # A bug of one channel, or of its library, must not end the service. Its text could contain secrets.
            where = traceback.extract_tb(exc.__traceback__)[-1]
            place = f"{type(exc).__name__} in {Path(where.filename).name}, line {where.lineno}"
            self._telemetry.emit(Happening("channel.crashed", "error", {"channel": self.name, "error": place}))
            raise DeliveryError(self.name, "channel", f"its program failed: {place}") from exc

    async def _notify(self, event: SerializedEvent, route: str = "", message: Message | None = None) -> Notification:
        # A digest that a template failed at was never given: it may be made anew.
        if self._to_message is not None and (message is None or message.failed):
            message = await self._to_message(msgspec.json.decode(event.json), self.name, route)
        return Notification(event, message)

    def _note(self, delivery: DueDelivery, fault: DeliveryError | None, *, is_news: bool) -> None:
        del self._under_way[delivery.position]
        if not self._answered:
            self._answered_s = self._clock.monotonic()
        if fault is None:
            self._answered[delivery.position] = self._accepted(delivery)
        else:
            self._answered[delivery.position] = self._failed(delivery, fault, is_news=is_news)

    def _accepted(self, delivery: DueDelivery) -> DeliveryResult:
        state = self._known_state
        self._failing.clear()
        self._limit = min(self._limit + 1, IN_FLIGHT)
        # A delivery begun before the receiver reported itself gone does not prove that it is back.
        now = self._clock.now()
        if state.failures and not state.disabled:
            self._become(channel_after_success(state, now))
        # Quiet hours have put off when it was due.
        due_at = max(delivery.created_at, delivery.next_at) if delivery.first_try_at is None else delivery.first_try_at
        self._on_accepted((now - due_at) / 1_000_000)
        return after_success(delivery, now)

    def _failed(self, delivery: DueDelivery, fault: DeliveryError, *, is_news: bool) -> DeliveryResult:
        """Decide whether the alert or the channel is at fault, and when the alert is tried again."""
        now, state = self._clock.now(), self._known_state
        if fault.blames == "gone" and not state.disabled:
            self._blame(fault)
        elif fault.blames == "channel" and is_news:
            if not self._failing:
                self._failing_since = now
            self._failing.add(delivery.page_id if delivery.page_id is not None else delivery.alert_id)
            if len(self._failing) >= BLAMED_AT:
                self._blame(fault)
        is_channels = fault.blames == "channel" and self._is_left_alone()
        channel_again_at = self._known_state.next_at if is_channels else None
        result = after_failure(delivery, fault, now, give_up=self._give_up, channel_again_at=channel_again_at)
        # `hosts.shortage` logs a shortage of this machine once, for all the work that it delays.
        if result.state == "dead" or not (is_channels or fault.blames in {"gone", "ours"}):
            self._tell_of(result)
        return result

    def _blame(self, fault: DeliveryError) -> None:
        """Pause or disable the whole channel."""
        since = self._failing_since if self._failing else None
        self._round += 1
        self._limit = 1
        self._failing.clear()
        self._ready.clear()
        self._become(channel_after_failure(self._known_state, fault, self._clock.now(), since=since))

    def _become(self, state: ChannelState) -> None:
        before, self._state, self._is_unsaved = self._known_state, state, True
        self._again_s = self._clock.monotonic() + pause_left(state, self._clock.now()).total_seconds()
        self._tell(before, state)

    @property
    def _known_state(self) -> ChannelState:
        assert self._state is not None  # noqa: S101 - nothing is given to a channel before its state was read
        return self._state

    def _room(self) -> int:
        """Return how many more deliveries may begin now."""
        if self._finishing or not self._is_ours or self._is_left_alone():
            return 0
        limit, begun = min(self._limit, self._channel.at_once), len(self._under_way)
        if begun < limit or limit < IN_FLIGHT:
            return limit - begun
        now_s = self._clock.monotonic()
        slow = sum(now_s - begun_s >= SLOW_S for begun_s in self._under_way.values())
        return min(limit - (begun - slow), MOST_IN_FLIGHT - begun)

    async def _read_due(self) -> bool:
        """Read due alerts; answers are recorded first, so that the next alerts of their pages are due."""
        await self._record()
        limit = BATCH if self._limit == IN_FLIGHT else self._limit
        under_way = [*self._under_way, *self._answered]
        due = await self._store.due_deliveries(self.name, self._clock.now(), limit=limit, under_way=under_way)
        self._ready.extend(due)
        return bool(due)

    def _is_left_alone(self) -> bool:
        state = self._known_state
        if state.next_at is None or state.disabled:
            return state.disabled
        # By both clocks: the wall clock may be set back, the monotonic one stops during a suspend.
        return self._clock.monotonic() < self._again_s and self._clock.now() < state.next_at

    def _is_record_due(self) -> bool:
        if self._is_unsaved:
            return True
        if not self._answered:
            return False
        if not self._ready or len(self._answered) >= BATCH or self._finishing:
            return True
        return self._clock.monotonic() - self._answered_s >= RECORD_S

    async def _record(self) -> None:
        """Write the results of tries, and the state of the channel."""
        try:
            if self._answered:
                results = dict(self._answered)
                await self._store.record_deliveries(list(results.values()), under=self._under)
                for position in results:
                    del self._answered[position]
                self._answered_s = self._clock.monotonic()
            if self._is_unsaved and (state := self._state) is not None:
                await self._store.save_channel_state(state, under=self._under)
                self._is_unsaved = self._state is not state
                self._read_s = self._clock.monotonic()
        except StaleClaim as exc:
            # The node that has the channel now delivers these again, with the same ids.
            self._tell_unrecorded(exc)
            self._lost = self._under
            self._answered.clear()
            self._ready.clear()
            self._is_unsaved = False

    async def _tick(self) -> None:
        while True:
            await self._clock.sleep(RECORD_S if self._under_way or self._answered else POLL_S)
            self._changed.set()

    def _tell_unrecorded(self, error: Exception) -> None:
        # Nothing is lost: answers are recorded later, or their alerts are delivered again with the same ids.
        values = {"channel": self.name, "error": str(error) or type(error).__name__}
        self._telemetry.emit(Happening("delivery.unrecorded", "error", values))

    def _tell(self, before: ChannelState, after: ChannelState) -> None:
        if after.disabled:
            mend = f"its receiver says that it is gone; mend it, then run: tocsin channel test {self.name}"
            values: JsonObject = {"channel": self.name, "error": after.error, "mend": mend}
            self._telemetry.emit(Happening("channel.disabled", "error", values))
        elif after.failures:
            values = {
                "channel": self.name,
                "failures": after.failures,
                "error": after.error,
                "next_at": _time(after.next_at),
            }
            self._telemetry.emit(Happening("channel.failed", "warning", values))
        elif before.failures or before.disabled:
            self._telemetry.emit(
                Happening("channel.recovered", "info", {"channel": self.name, "failures": before.failures})
            )

    def _tell_of(self, result: DeliveryResult) -> None:
        bundle = -(result.position or 0)
        what, name = ("digest", str(bundle)) if bundle > 0 else ("alert", result.alert_id)
        values: JsonObject = {"channel": self.name, what: name, "error": result.error}
        if result.state == "dead":
            named = f"--digest {name}" if bundle > 0 else name
            values["mend"] = f"once it is taken again: tocsin alerts replay {named}"
            self._telemetry.emit(Happening(f"{what}.dead", "error", values))
        else:
            values["next_at"] = _time(result.next_at)
            self._telemetry.emit(Happening(f"{what}.refused", "warning", values))


def _time(at: int | None) -> str | None:
    return to_rfc3339(at) if at is not None else None
