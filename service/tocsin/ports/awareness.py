"""What a verdict leads to: the render queue, alerts and their deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tocsin.model import EVERY_PART
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from tocsin.model import (
        AlertDraft,
        AlertRow,
        Attempt,
        BundleRow,
        BundleState,
        ChannelState,
        ChannelTest,
        Claim,
        DeliveryResult,
        Digest,
        DueBundles,
        DueDelivery,
        Instant,
        JsonObject,
        Message,
        NamedLease,
        PageItems,
        RateLimit,
        RenderCommit,
        RenderJob,
        Routed,
        SerializedEvent,
        Silence,
        WaitingPage,
    )
    from tocsin.ports.pages import OnStep


class RenderStore(Protocol):
    """The render queue's rows (T55)."""

    async def waiting_renders(
        self, *, limit: int, now: Instant | None = None, claim: Claim = EVERY_PART
    ) -> list[WaitingPage]:
        """Return waiting pages: major changes first, then by age; the oldest page is always among them.

        Pages that the user paused are left out (T62).

        now    pages that pause until later are left out; None is the wall clock
        claim  pages of hosts of other parts are left out
        """

    async def count_waiting(self) -> int:
        """Count the waiting pages; claimed ones and those that the user paused do not count."""

    async def claim_renders(self, claim: Claim, page_ids: Sequence[int]) -> list[RenderJob]:
        """Claim those of these pages that wait, in order; a claimed row is valid while the epoch of its part is.

        Pages of hosts whose parts are not claimed, or were lost, are left out.
        """

    async def latest_text(self, page_id: int) -> bytes | None:
        """Return the latest kept text of a page, packed; None if there is none."""

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        """Return a page's text at an instant and the one before it, packed; None if either is missing."""

    async def items_before(self, page_id: int) -> PageItems | None:
        """Return the items that those of a rendering are compared with; None if nothing is known of them.

        For a page that had no items when it was first received these are none, as of the time when it was added.
        """

    async def release_render(
        self, claim: Claim, page_id: int, *, not_before: Instant | None, attempts: Sequence[Attempt] = ()
    ) -> None:
        """Put a claimed page back into the queue, for a pause between tries or a stop.

        attempts  the tries so far; the next claim returns them in `task.order.attempts` of the job
        """

    async def commit_renderings(self, claim: Claim, results: Sequence[RenderCommit]) -> dict[int, Instant | None]:
        """Write renderings of different pages in one transaction: alerts with their deliveries, state, pruning (T72).

        Returns when each of the pages' hosts is due next. Raises StaleClaim, and writes nothing, if the part of one of
        them was lost.
        """


class AlertStore(Protocol):
    """The outbox."""

    async def set_channels(self, names: Sequence[str]) -> None:
        """Give alerts that are written from now on a delivery to each of these channels."""

    async def write_alert(self, alert: AlertDraft) -> None:
        """Write an alert that belongs to no verdict, such as that of an outage."""

    async def follow_alerts(self, on_published: Callable[[], None]) -> None:
        """Call this whenever alerts may have been published, also by other nodes, until cancelled.

        Returns at once on a store of one engine.
        """

    async def open_outage(self, node: str) -> Instant | None:
        """Return when the current outage of a node was reported; None if there is none.

        On a store of one engine it is that of any name: its machine was only called otherwise.
        """

    async def due_deliveries(
        self, channel: str, now: Instant, *, limit: int, under_way: Collection[int] = ()
    ) -> list[DueDelivery]:
        """Return what is due at this channel, the longest due first; of each page the oldest alert only.

        An alert that a fault changed in the store is not returned: its delivery becomes dead.

        under_way  positions to leave out, with the younger alerts of their pages
        """

    async def next_delivery_at(self, channel: str) -> Instant | None:
        """Return when this channel's next delivery is due; None if nothing waits."""

    async def record_deliveries(self, results: Sequence[DeliveryResult], *, under: NamedLease | None = None) -> None:
        """Record the outcomes of tries; after an accepted or dead delivery the next of its page is due.

        under  the lease of their channel; raises StaleClaim if another node took it
        """

    async def resume_deliveries(self, channel: str, now: Instant) -> None:
        """After the clock was set back, shorten this channel's waits to what they were before."""

    async def channel_state(self, channel: str) -> ChannelState:
        """Return the state of this channel."""

    async def save_channel_state(self, state: ChannelState, *, under: NamedLease | None = None) -> None:
        """Keep a back-off or a disabling over restarts.

        Where a failing channel accepts alerts again (`accepted_at`), what failed only since it began to fail is due at
        once, in the order of its first tries.

        under  as of `record_deliveries`
        """

    async def ask_for_channel_test(self, channel: str, now: Instant) -> int:
        """Request a test of this channel from a running engine; returns the test's number."""

    async def take_channel_tests(self, now: Instant, *, limit: int) -> list[tuple[int, str]]:
        """Start requested tests; returns the number and the channel of each."""

    async def end_channel_test(self, number: int, now: Instant, fault: tuple[str, str] | None) -> None:
        """Record how a test ended.

        fault  whose it was, as in ChannelTest, and what happened; None where the channel accepted it
        """

    async def channel_test(self, number: int) -> ChannelTest | None:
        """Return the state of a test; None if it is gone."""

    async def withdraw_channel_test(self, number: int) -> bool:
        """Cancel a test that no engine has started; False if one has."""

    async def alerts(
        self, *, limit: int, before: int | None = None, dead: bool = False, url: str | None = None
    ) -> list[AlertRow]:
        """Return alerts, newest first; `before` is a position."""

    async def alert(self, alert_id: str) -> AlertRow | None:
        """Return one alert."""

    async def replay(self, alert_id: str, *, channel: str | None, now: Instant) -> int:
        """Make the deliveries of an alert due again, accepted ones too; returns how many.

        channel  this channel only, even if it is newer than the alert
        """

    async def count_dead(self, channel: str | None) -> int:
        """Count dead deliveries, of this channel or of all."""

    async def replay_dead(self, *, channel: str | None, now: Instant, on_step: OnStep = unheard) -> int:
        """Make dead deliveries due again, of this channel or of all; returns how many.

        Long runs are done in steps, as in `WatchList`; the same call again continues.
        """

    async def after(self, position: int, *, limit: int) -> list[AlertRow]:
        """Return alerts published after this position."""


class BundleStore(Protocol):
    """Digests. What a bundle is (waiting, accepted, dead), its alerts are."""

    async def set_routes(self, router: Router | None, names: Collection[str], now: Instant) -> None:
        """Route alerts that are written from now on; without a router each is for every channel that is set.

        names  of the routes; without any, the router is only asked while something is silenced
        Open digests of a route that is not among these names are due at once. Those of a channel that is no longer set
        are dead. Promised digests are opened.
        """

    async def due_bundles(
        self, channel: str, now: Instant, *, limit: int, under_way: Collection[int] = ()
    ) -> DueBundles:
        """Return what the digests of this channel wait for, at most `limit` of each kind.

        under_way  numbers of bundles that are not to be given
        """

    async def seal_bundle(self, bundle: int, now: Instant) -> None:
        """Let no further alert join it; from now on it is given. An empty one is dropped, unless it is promised."""

    async def digest(self, bundle: int) -> Digest:
        """Read what a sealed bundle consists of, in short steps on a connection of its own."""

    async def keep_digest(self, bundle: int, event: SerializedEvent, message: Message | None) -> None:
        """Write what a sealed bundle is given as; what was written before stays."""

    async def bundles(
        self, *, limit: int, before: int | None = None, state: BundleState | None = None
    ) -> list[BundleRow]:
        """Return bundles, newest first; `before` is a number.

        state  only those; None: all
        """

    async def bundle(self, bundle: int) -> BundleRow | None:
        """Return one bundle."""

    async def hasten_bundle(self, bundle: int, now: Instant) -> bool:
        """Make an open or sealed bundle due now; returns False for any other."""

    async def give_up_bundle(self, bundle: int, now: Instant, *, error: str) -> bool:
        """End an open or sealed bundle as a dead letter, with this reason; returns False for any other.

        If its channel is just being given it, it may accept it all the same.
        """

    async def replay_bundle(self, bundle: int, now: Instant) -> int:
        """Give an accepted or dead bundle once more, with the same content; returns how many alerts it has.

        None is given to a channel that is no longer set: it returns 0.
        """

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
        """Give alerts that were published earlier to the channels that this route names for them now; returns how many.

        dry_run  only count them
        A channel that an alert has a row for already is left out. Long runs are done in steps, as in `WatchList`.
        """

    async def silences(self, *, limit: int, before: int | None = None) -> list[Silence]:
        """Return silences, newest first, ended ones too; `before` is a number."""

    async def add_silence(
        self, match: JsonObject, *, from_at: Instant, until_at: Instant | None, reason: str, who: str
    ) -> Silence:
        """Hold back alerts that match; a running engine knows it from its next alert on."""

    async def end_silence(self, silence: int, now: Instant) -> bool:
        """End a silence before its time; False if there is none in force of this number."""

    async def declare_silences(self, declared: Sequence[Silence], now: Instant) -> None:
        """Take up the silences of the configuration file: new ones begin, those that are no longer in it end.

        declared  their numbers do not count, and they are told apart by what they match, their end and their reason
        """


class DeliveryStore(AlertStore, BundleStore, Protocol):
    """What deliveries need."""


class RoutingContext(Protocol):
    """What the routes ask of the store, within the transaction that publishes an alert.

    silences  those not ended, by number; the same object while no silence was added or ended
    """

    silences: Sequence[Silence]

    def page_route(self, page_id: int) -> str | None:
        """Return the route that is set for a page, else for its group, else for all pages; None if none is."""

    def take(self, channel: str, route: str, limit: RateLimit) -> bool:
        """Count one more alert of this channel and route in this window; False, uncounted, if its limit is reached.

        Only the latest window is kept: another `start` begins at 0. What is rolled back was not counted.
        """


class Router(Protocol):
    """Decides where alerts go. Pure but for what it asks of the context; the publishing transaction calls it."""

    @property
    def promised(self) -> Sequence[tuple[str, str]]:
        """(channel, route) of each digest that is also sent when it is empty (`say_nothing`), at `next_occasion`."""

    def route(self, draft: AlertDraft, now: Instant, context: RoutingContext) -> Sequence[Routed]:
        """Say which channels get this alert, when, and in which digest; empty: none does. At most one for a channel.

        now  or when the alert was decided: a router with a clock takes the later of the two
        """

    def next_occasion(self, route: str, after: Instant) -> Instant | None:
        """Return when this route's digest is due next after an instant, moved out of its quiet hours.

        For a digest that is about to be opened: `after` is the later of now and the due time of the last digest of
        this channel, route and key, so that a clock that was set back repeats none. None if there is no such route, or
        its digests have no fixed occasions.
        """
