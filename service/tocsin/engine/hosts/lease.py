"""This node among others: its lease, renewed while it works, and the parts of the hosts that it holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Final, Protocol

from msgspec import structs

from tocsin.errors import StaleClaim, StoreError, StoreLost
from tocsin.events import Happening
from tocsin.model import Claim, Instant, JsonObject, Membership, NodeIdentity, TakenPart
from tocsin.ports import Clock, NodeStore, Telemetry

# How often the store's files are checked: writes to a deleted file are lost. A node whose parts are not as many as its
# share looks as often.
LOOK_S = 0.25
# A longer pause between two renewals would make others wait for parts that are to be given back.
_LONGEST_PAUSE_S: Final = 1.0
# How long a node looks often after nodes came or went.
_MOVING_S: Final = 3.0
# What a node says of its clock where it is wrong: by how many seconds it is ahead.
AHEAD_S: Final = "ahead_s"
# And why it cannot write what it found.
UNWRITTEN: Final = "unwritten"
# As `tocsin doctor` has it. All due times would be off by as much for the nodes that take the parts over.
_MOST_AHEAD_S: Final = 5.0
_CLEAR_US: Final = 1_000_000
# Nothing is begun while a result waits for its commit for longer: it would be fetched for nothing if the lease is lost.
BEHIND_S: Final = 2.0


class CommitHealth:
    """Whether the store accepts writes of the engine: the lease, results, renderings."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failing: dict[str, tuple[float, str]] = {}
        self._pending_s: float | None = None

    def failed(self, part: str, error: StoreError) -> None:
        """Note a failed write of this part, which is tried again."""
        since_s, _ = self._failing.get(part, (self._clock.monotonic(), ""))
        self._failing[part] = since_s, error.why

    def succeeded(self, part: str) -> None:
        """Note a successful write of this part."""
        if self._failing:
            self._failing.pop(part, None)

    def unwritten(self) -> tuple[float, str]:
        """Return the seconds since the first write that still fails, and the reason; (0, "") if none does."""
        if not self._failing:
            return 0.0, ""
        since_s, why = min(self._failing.values())
        return self._clock.monotonic() - since_s, why

    def begin(self) -> None:
        """Note that results are handed to the store."""
        self._pending_s = self._clock.monotonic()

    def end(self) -> None:
        """Note that the store has them."""
        self._pending_s = None

    @property
    def is_behind(self) -> bool:
        """Whether results wait for their commit for too long."""
        return self._pending_s is not None and self._clock.monotonic() - self._pending_s > BEHIND_S


class LeaseStore(NodeStore, Protocol):
    """The store as the lease needs it."""

    async def keep_place(self) -> bool:
        """See `ports.WorkStore`."""


class Lease:
    """Holds the lease of a node, and its share of the parts.

    node       its name: a second process of this name waits until the lease of the first ends
    delay_s    pages of a part that another node held begin no sooner than this after it gave up the part
    patience_s how long pages in hand may keep a part that is to be given back
    said       what other nodes and people are told of this one
    commits    whether writes succeed
    """

    def __init__(
        self,
        store: LeaseStore,
        node: str,
        length: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        delay_s: float = 0.0,
        patience_s: float = 60.0,
        said: Callable[[], JsonObject] = dict,
    ) -> None:
        self._store, self._node, self._clock, self._telemetry = store, node, clock, telemetry
        self._length, self._length_s, self._said = length, length.total_seconds(), said
        self._delay_s, self._patience_s = delay_s, patience_s
        self._me: NodeIdentity | None = None
        self._member = Membership(0, draining=False, parts=0, held={})
        # What is held, with its epochs; of that what is to be given back since when, and what begins when.
        self._held: dict[int, int] = {}
        self._giving: dict[int, float] = {}
        self._begins_s: dict[int, float] = {}
        self._alone_s: dict[int, float] = {}
        self._claim = Claim(node, ())
        self._until_s = self._unbroken_since_s = float("-inf")
        # When to look again although the lease needs no renewal yet: parts change hands.
        self._settled_s = float("inf")
        self._moving_until_s = float("-inf")
        self._is_leaving = self._is_wrong = False
        # By how much our clock is ahead of the database's.
        self._ahead_s = 0.0
        self._users: list[PartUser] = []
        self.commits = CommitHealth(clock)

    def serve(self, user: PartUser) -> None:
        """Tell this part of the engine what is taken and lost from now on; what it has in hand is waited for."""
        self._users.append(user)

    @property
    def me(self) -> NodeIdentity | None:
        """This node; None before it entered, and after it left."""
        return self._me

    @property
    def claim(self) -> Claim:
        """The parts whose pages may begin; call `take` first."""
        if self._me is None:
            raise StaleClaim("no claim was taken yet")
        return self._claim

    @property
    def probing_claim(self) -> Claim:
        """The parts whose hosts may be probed in an outage: all of them where this node holds none.

        A node that drains in an outage learns so that it is over; no result under these epochs is ever written.
        """
        return self.claim if self.claim.parts else Claim(self._node, (-1,) * self._member.parts)

    @property
    def is_held(self) -> bool:
        """Whether this node has a lease in force."""
        return self._me is not None and (not self._store.is_shared or self._clock.monotonic() < self._until_s)

    @property
    def may_begin(self) -> bool:
        """Whether pages may begin: another node may hold our parts once our lease has run out."""
        # The only engine of a file loses nothing to others.
        return not self._store.is_shared or (self._clock.monotonic() < self._until_s and not self.commits.is_behind)

    @property
    def parts(self) -> tuple[int, int]:
        """How many parts this node holds, and how many the store has."""
        return len(self._held), self._member.parts

    def claim_of_alone(self, longer: timedelta) -> Claim | None:
        """Return the claim of parts that were taken since the last call, and that no node held for longer than this."""
        long = {part for part, alone_s in self._alone_s.items() if alone_s > longer.total_seconds()} & self._held.keys()
        self._alone_s.clear()
        return self._claim_of(long) if long else None

    def held_of(self, claim: Claim) -> Claim:
        """Return what this node holds by now of the parts of a claim."""
        return self._claim_of([part for part in claim.parts if part in self._held])

    async def take(self) -> None:
        """Enter as a node, once the lease of another process of this name has ended, and take what is free."""
        told = False
        while self._me is None:
            asked_s = self._clock.monotonic()
            self._me = await self._store.enter(self._node, self._length, self._told())
            if self._me is not None:
                self._note_renewal(asked_s)
                break
            if not told:
                mend = "each process on one store needs a name of its own: cluster.node"
                values: JsonObject = {"lease_s": self._length_s, "node": self._node, "mend": mend}
                self._telemetry.emit(Happening("claim.waits", "warning", values))
                told = True
            await self._clock.sleep(self._length_s / 5)
        await self._renew()

    async def take_share(self) -> None:
        """Take parts until this node has its share: those of a node that is gone become free only after a while."""
        await self.take()
        last_s = self._clock.monotonic() + 2 * self._length_s
        while len(self._held) < self._share() and self._clock.monotonic() < last_s:
            await self._clock.sleep(LOOK_S)
            await self._renew()

    async def keep(self) -> None:
        """Renew the lease, keep the share, and check the store's files in between, until cancelled.

        Raises StoreLost: an engine whose store was removed or replaced has to end.
        """
        renew_s = self._clock.monotonic() + self._pause_s()
        while True:
            await self._clock.sleep(min(max(renew_s - self._clock.monotonic(), 0), LOOK_S))
            try:
                await self._look()
                self._begin_taken()
                if self._clock.monotonic() < min(renew_s, self._settled_s):
                    continue
                renew_s = self._clock.monotonic() + self._pause_s()
                await self._renew()
                self.commits.succeeded("lease")
            except StaleClaim:
                self._me = None
                self._lose(list(self._held))
                await self.take()
            except StoreLost:
                raise
            except StoreError as exc:
                self.commits.failed("lease", exc)
                self._telemetry.emit(Happening("claim.unrenewed", "error", {"error": str(exc)}))

    def stop(self) -> None:
        """Give parts back as soon as none of their pages is in hand; others take them at once."""
        self._is_leaving = self._store.is_shared

    async def leave(self) -> None:
        """End the lease, and let others take all parts; a store that cannot be written is left as it is."""
        me, self._me = self._me, None
        if me is not None:
            with suppress(StoreError):
                await self._store.leave(me)

    async def _renew(self) -> None:
        assert self._me is not None  # noqa: S101 - `take` comes first
        asked_s, asked = self._clock.monotonic(), self._clock.now()
        if self._is_leaving and not self._member.draining:
            await self._store.drain_node(self._node, draining=True)
        before = self._member.alive, len(self._held)
        self._member = await self._store.renew_node(self._me, self._length, self._told())
        self._note_renewal(asked_s)
        await self._compare_clocks(asked)
        self._claim = self._claim_begun()
        held = self._member.held
        self._lose([part for part, epoch in self._held.items() if held.get(part) != epoch])
        # A taking whose answer was lost.
        self._add([TakenPart(part, epoch, 0.0) for part, epoch in held.items() if part not in self._held])
        await self._give_back()
        missing = self._share() - len(self._held)
        if missing > 0:
            is_unbroken = self._clock.monotonic() - self._unbroken_since_s >= self._length_s
            self._add(await self._store.take_parts(self._me, missing, expired=is_unbroken))
        self._settle(before)

    async def _compare_clocks(self, asked: Instant) -> None:
        """Leave the parts to other nodes while the clock is wrong: due times that this one writes would be, too."""
        member, now = self._member, self._clock.now()
        # An answer that took long says little of the clock.
        if member.now is None or self._is_leaving or now - asked > _CLEAR_US:
            return
        ahead_s = self._ahead_s = (now - member.now) / 1_000_000
        has_others = member.alive > (0 if member.draining else 1)
        if abs(ahead_s) > _MOST_AHEAD_S and has_others:
            if member.draining:
                return
            mend = "see that a time service keeps the clock; other nodes have its hosts meanwhile"
            values: JsonObject = {"ahead_s": round(ahead_s, 1), "node": self._node, "mend": mend}
            self._telemetry.emit(Happening("node.wrong_clock", "error", values))
            self._is_wrong = True
        elif self._is_wrong:
            self._is_wrong = False
        else:
            return
        await self._store.drain_node(self._node, draining=self._is_wrong)
        self._member = structs.replace(member, draining=self._is_wrong)

    def _told(self) -> JsonObject:
        said = self._said()
        # For those that take over the parts of a node that was alone: it went on with its clock.
        return said | {AHEAD_S: round(self._ahead_s)} if self._ahead_s > _MOST_AHEAD_S else said

    def _note_renewal(self, asked_s: float) -> None:
        # Counted from before the question: the database gave the lease later.
        if asked_s > self._until_s:
            self._unbroken_since_s = asked_s
        self._until_s = asked_s + self._length_s

    def _share(self) -> int:
        member = self._member
        if member.draining or self._is_leaving:
            return 0
        each, more = divmod(member.parts, max(member.alive, 1))
        # With one more for all, the last nodes to come would have none: 16 of 20 would hold all 64 parts.
        return each + (member.ahead < more)

    def _settle(self, before: tuple[int, int]) -> None:
        """Look often for some time after nodes came or went, and while parts change hands."""
        is_moving = self._giving or before != (self._member.alive, len(self._held))
        if is_moving and self._store.is_shared:
            self._settled_s = self._clock.monotonic() + LOOK_S
            self._moving_until_s = self._clock.monotonic() + _MOVING_S
        elif self._clock.monotonic() < self._moving_until_s and len(self._held) != self._share():
            self._settled_s = self._clock.monotonic() + LOOK_S
        else:
            self._settled_s = float("inf")

    def _pause_s(self) -> float:
        # A lease that no other node waits for costs a write now and then.
        return min(self._length_s / 4, _LONGEST_PAUSE_S) if self._store.is_shared else self._length_s / 3

    async def _give_back(self) -> None:
        """Give back what is more than the share, when its pages are done."""
        assert self._me is not None  # noqa: S101 - as above
        now_s = self._clock.monotonic()
        surplus = max(len(self._held) - self._share(), 0)
        others = sorted(self._held.keys() - self._giving.keys(), reverse=True)
        chosen = [*self._giving, *others][:surplus]
        # What was to be given back becomes ours again where the share has grown.
        again = self._giving.keys() - set(chosen)
        self._giving = {part: self._giving.get(part, now_s) for part in chosen}
        if chosen or again:
            self._claim = self._claim_begun()
            self._tell_taken(again)
        in_hand = {part for user in self._users for part in user.parts_in_hand()} if chosen else set()
        done = [part for part in chosen if part not in in_hand or now_s - self._giving[part] > self._patience_s]
        if done:
            await self._store.give_back(self._me, done)
            self._lose(done)

    def _add(self, taken: Iterable[TakenPart]) -> None:
        now_s = self._clock.monotonic()
        for part in taken:
            self._held[part.part] = part.epoch
            self._alone_s[part.part] = part.alone_s
            self._begins_s[part.part] = now_s + max(self._delay_s - part.alone_s, 0.0)
        self._begin_taken()

    def _begin_taken(self) -> None:
        """Let pages of parts begin whose holder before has left their hosts alone for long enough."""
        if not self._begins_s:
            return
        now_s = self._clock.monotonic()
        begun = {part for part, begins_s in self._begins_s.items() if begins_s <= now_s}
        if begun:
            for part in begun:
                del self._begins_s[part]
            self._claim = self._claim_begun()
            self._tell_taken(begun)

    def _lose(self, parts: Collection[int]) -> None:
        if not parts:
            return
        for part in parts:
            for known in (self._held, self._giving, self._begins_s, self._alone_s):
                known.pop(part, None)
        self._claim = self._claim_begun()
        for user in self._users:
            user.on_lost(parts)

    def _tell_taken(self, parts: Collection[int]) -> None:
        for user in self._users if parts else ():
            user.on_taken(parts)

    def _claim_of(self, parts: Collection[int]) -> Claim:
        of_all = range(self._member.parts)
        return Claim(self._node, tuple(self._held.get(part, 0) if part in parts else 0 for part in of_all))

    def _claim_begun(self) -> Claim:
        return self._claim_of(self._held.keys() - self._giving.keys() - self._begins_s.keys())

    async def _look(self) -> None:
        if await self._store.keep_place():
            told: JsonObject = {"mend": "leave the file beside the store, also where no service runs; it was made anew"}
            self._telemetry.emit(Happening("store.lock_removed", "warning", told))


class PartUser(Protocol):
    """A part of the engine that works on pages of the parts that are held."""

    def parts_in_hand(self) -> Collection[int]:
        """Return the parts with pages in hand."""

    def on_taken(self, parts: Collection[int]) -> None:
        """Begin pages of these parts."""

    def on_lost(self, parts: Collection[int]) -> None:
        """Begin no further pages of these parts: another node does."""
