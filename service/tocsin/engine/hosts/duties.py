"""What one node at a time does, by a named lease: "leader", and "channel:NAME" for each channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from datetime import timedelta
from typing import Final, Protocol

from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import NamedLease, NodeIdentity, NodeRow
from tocsin.ports import Clock, Telemetry

LEADER: Final = "leader"
CHANNEL: Final = "channel:"
# Longest interval of renewing.
_LOOK_S: Final = 1.0


class DutyStore(Protocol):
    """The part of `ports.NodeStore` that named leases need."""

    @property
    def is_shared(self) -> bool:
        """Whether several nodes may work on the store."""

    async def nodes(self) -> list[NodeRow]:
        """See `ports.NodeStore`."""

    async def take_lease(self, me: NodeIdentity, name: str, lease: timedelta) -> NamedLease | None:
        """See `ports.NodeStore`."""

    async def renew_leases(self, leases: Sequence[NamedLease], lease: timedelta) -> list[NamedLease]:
        """See `ports.NodeStore`."""

    async def release_leases(self, leases: Sequence[NamedLease]) -> None:
        """See `ports.NodeStore`."""


class Duty(Protocol):
    """The right to do what one node at a time does."""

    @property
    def is_held(self) -> bool:
        """Whether this node may begin something now."""

    @property
    def lease(self) -> NamedLease | None:
        """What fences the writes of this node, also after its time; None where no other node can exist."""


class SoleDuty:
    """The duty of an engine that has its store to itself; implements `Duty`."""

    is_held = True
    lease = None


class Duties:
    """The named leases of this node, renewed while it works; each node takes its share of those that are wanted.

    me         this node; None until it entered, and after it left
    names      what is to be done by one node at a time
    is_busy    tells whether work of a name is under way; its lease is given back only after that
    on_change  called when a lease was taken or lost
    On a store of one engine it holds everything at once, and neither reads nor writes.
    """

    def __init__(
        self,
        store: DutyStore,
        me: Callable[[], NodeIdentity | None],
        names: Callable[[], Collection[str]],
        length: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        on_change: Callable[[], None] = lambda: None,
        is_busy: Callable[[str], bool] = lambda _name: False,
    ) -> None:
        self._store, self._me, self._names, self._length = store, me, names, length
        self._clock, self._telemetry, self._on_change = clock, telemetry, on_change
        self._is_busy, self._look_s = is_busy, min(length.total_seconds() / 4, _LOOK_S)
        # What is held, and those of it that are to be given back, with the time when they are at the latest.
        self._held: dict[str, NamedLease] = {}
        self._ending: dict[str, float] = {}
        self._until_s = 0.0

    def of(self, name: str) -> Duty:
        """Return the duty of this name."""
        return _Named(self, name) if self._store.is_shared else SoleDuty()

    def holds(self, name: str) -> bool:
        """Tell whether the lease is held, by the monotonic clock."""
        return name in self._held and name not in self._ending and self._clock.monotonic() < self._until_s

    def lease(self, name: str) -> NamedLease | None:
        """Return the lease that was held last."""
        return self._held.get(name)

    async def run(self) -> None:
        """Take, renew and give back, until cancelled."""
        while True:
            await self.keep()
            await self._clock.sleep(self._look_s)

    async def keep(self) -> None:
        """Renew the leases, and take or give back what brings this node to its share."""
        me = self._me()
        if not self._store.is_shared or me is None:
            return
        before = self._held.keys() - self._ending.keys()
        try:
            await self._renew()
            await self._balance(me)
        except StoreError as exc:
            # They stay held until their time is over by the monotonic clock.
            self._telemetry.emit(Happening("duties.unrenewed", "error", {"error": str(exc)}))
        now = self._held.keys() - self._ending.keys()
        if now != before:
            told = {"taken": sorted(now - before), "given_up": sorted(before - now)}
            self._telemetry.emit(Happening("duties.changed", "info", told))
            self._on_change()

    async def leave(self) -> None:
        """Let other nodes do the work at once."""
        held, self._held, self._ending = list(self._held.values()), {}, {}
        try:
            if held:
                await self._store.release_leases(held)
        except StoreError as exc:
            self._telemetry.emit(Happening("duties.unrenewed", "error", {"error": str(exc)}))

    async def while_held(self, name: str, work: Callable[[NamedLease | None], Coroutine[None, None, None]]) -> None:
        """Do this work whenever the lease is held: it is cancelled when the lease is lost, and begun anew later.

        work  is given the lease that fences its writes; None where no other node can exist
        """
        if not self._store.is_shared:
            await work(None)
            return
        while True:
            if self.holds(name):
                async with asyncio.TaskGroup() as group:
                    working = group.create_task(work(self._held[name]), name=name)
                    while self.holds(name):
                        await self._clock.sleep(self._look_s)
                    working.cancel()
            await self._clock.sleep(self._look_s)

    async def _renew(self) -> None:
        # The lease runs from before the question: the answer may be late.
        asked_s = self._clock.monotonic()
        if self._held:
            kept = await self._store.renew_leases(list(self._held.values()), self._length)
            self._held = {lease.name: lease for lease in kept}
            self._ending = {name: at_s for name, at_s in self._ending.items() if name in self._held}
        self._until_s = asked_s + self._length.total_seconds()

    async def _balance(self, me: NodeIdentity) -> None:
        nodes = [node for node in await self._store.nodes() if node.left_s > 0]
        names = set(self._names())
        is_draining = any(node.node == me.node and node.draining for node in nodes)
        working = sum(not node.draining for node in nodes)
        # Where all of them drain, the work is still done.
        share = 0 if is_draining and working else -(-len(names) // max(working, 1))
        await self._give_back(names, share)
        for name in sorted(names - self._held.keys()):
            if len(self._held) >= share:
                break
            if (taken := await self._store.take_lease(me, name, self._length)) is not None:
                self._held[name] = taken

    async def _give_back(self, names: Collection[str], share: int) -> None:
        """Give back what is more than the share, once nothing of it is under way."""
        # Those that are wanted no more first, and those that were chosen before.
        order = sorted(self._held, key=lambda name: (name in names, name not in self._ending, name))
        chosen = order[: max(len(order) - share, sum(name not in names for name in order))]
        now_s = self._clock.monotonic()
        latest_s = now_s + self._length.total_seconds()
        self._ending = {name: self._ending.get(name, latest_s) for name in chosen}
        done = [name for name, at_s in self._ending.items() if at_s <= now_s or not self._is_busy(name)]
        if done:
            await self._store.release_leases([self._held[name] for name in done])
            for name in done:
                del self._held[name], self._ending[name]


class _Named:
    """A duty of `Duties`."""

    def __init__(self, duties: Duties, name: str) -> None:
        self._duties, self._name = duties, name

    @property
    def is_held(self) -> bool:
        """See `Duty`."""
        return self._duties.holds(self._name)

    @property
    def lease(self) -> NamedLease | None:
        """See `Duty`."""
        return self._duties.lease(self._name)
