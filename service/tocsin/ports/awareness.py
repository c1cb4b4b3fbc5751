"""What a verdict leads to: the render queue, alerts and their deliveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.model import (
        AlertDraft,
        AlertRow,
        Attempt,
        ChannelState,
        ChannelTest,
        Claim,
        DeliveryResult,
        DueDelivery,
        Instant,
        PageItems,
        RenderCommit,
        RenderJob,
        WaitingPage,
    )
    from tocsin.ports.pages import OnStep


class RenderStore(Protocol):
    """The render queue's rows (T55)."""

    async def waiting_renders(self, *, limit: int, now: Instant | None = None) -> list[WaitingPage]:
        """Pages that wait: major first, then by verdict; and always the oldest one among them.

        now  pages that pause until later than this are left out; None is the wall clock
        Pages that the user paused wait for the end of that, and are left out (T62).
        """

    async def count_waiting(self) -> int:
        """How many pages wait (those that are claimed, or that the user paused, do not count)."""

    async def claim_renders(self, claim: Claim, page_ids: Sequence[int]) -> list[RenderJob]:
        """Give slots to these pages, as far as they wait; a slot is a claimed row, valid while the claim's epoch is."""

    async def latest_text(self, page_id: int) -> bytes | None:
        """The text of a page that was kept last, packed; None without any."""

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        """The text before a page's at an instant, and that one, packed; None where one of them was not kept."""

    async def items_before(self, page_id: int) -> PageItems | None:
        """What the items that a rendering finds are compared with; None where nothing is known of them.

        As `latest_items`; and no items at all of a page that had none when it was received first: `at` is when it was
        put on the watch list then, for whatever came, came after that.
        """

    async def release_render(
        self, claim: Claim, page_id: int, *, not_before: Instant | None, attempts: Sequence[Attempt] = ()
    ) -> None:
        """Put a page back among the waiting (a pause between tries, or a stop).

        attempts  the tries spent so far; the next claim hands them out in `task.attempts` of the job
        """

    async def hold_host(self, host_id: int, until: Instant) -> None:
        """Store that a host asked to be left alone until then; a hold never shortens another."""

    async def commit_rendering(self, claim: Claim, result: RenderCommit) -> Instant | None:
        """Write rendering, alerts with one delivery row per channel, state and pruning in one transaction (T72).

        Returns when the page's host is due next.
        """


class AlertStore(Protocol):
    """The outbox."""

    async def set_channels(self, names: Sequence[str]) -> None:
        """From now on alerts get a delivery row for each of these."""

    async def write_alert(self, alert: AlertDraft) -> None:
        """Write an alert of its own (an outage, a channel's test is not stored)."""

    async def open_outage(self) -> Instant | None:
        """When the outage that has not ended was told of; None if there is none."""

    async def due_deliveries(
        self, channel: str, now: Instant, *, limit: int, under_way: Collection[int] = ()
    ) -> list[DueDelivery]:
        """What this channel is to be given now: at most the oldest of each page, those due for longest first.

        under_way  positions to leave out; the younger alerts of their pages are left out, too
        """

    async def next_delivery_at(self, channel: str) -> Instant | None:
        """When this channel has something due; None if nothing waits."""

    async def record_deliveries(self, results: Sequence[DeliveryResult]) -> None:
        """Write what became of tries; where an alert is accepted or dead, the next one of its page is due."""

    async def resume_deliveries(self, channel: str, now: Instant) -> None:
        """After the clock was set back: what waits for this channel waits no longer than it was to wait before."""

    async def channel_state(self, channel: str) -> ChannelState:
        """How this channel stands."""

    async def save_channel_state(self, state: ChannelState) -> None:
        """Remember a back-off or a disabling over restarts."""

    async def ask_for_channel_test(self, channel: str, now: Instant) -> int:
        """Ask a running engine for a test of this channel; returns its number."""

    async def take_channel_tests(self, now: Instant, *, limit: int) -> list[tuple[int, str]]:
        """Begin tests that were asked for: the number and the channel of each."""

    async def end_channel_test(self, number: int, now: Instant, fault: tuple[str, str] | None) -> None:
        """Say how a test ended.

        fault  whose it was, as in ChannelTest, and what happened; None where the channel accepted it
        """

    async def channel_test(self, number: int) -> ChannelTest | None:
        """Say how far a test is; None if it is gone."""

    async def withdraw_channel_test(self, number: int) -> bool:
        """Take back a test that no engine has begun; False if one has."""

    async def alerts(
        self, *, limit: int, before: int | None = None, dead: bool = False, url: str | None = None
    ) -> list[AlertRow]:
        """The latest alerts, newest first; `before` is a position."""

    async def alert(self, alert_id: str) -> AlertRow | None:
        """One alert."""

    async def replay(self, alert_id: str, *, channel: str | None, now: Instant) -> int:
        """Make the deliveries of an alert due again, accepted ones too; returns how many.

        channel  only to this one, also where it is newer than the alert
        """

    async def count_dead(self, channel: str | None) -> int:
        """How many dead letters there are, of this channel or of all."""

    async def replay_dead(self, *, channel: str | None, now: Instant, on_step: OnStep = unheard) -> int:
        """Make dead letters due again, of this channel or of all; returns how many.

        Of many it is done a step at a time, as in `WatchList`; the same call once more goes on.
        """

    async def after(self, position: int, *, limit: int) -> list[AlertRow]:
        """Alerts published after this position (AlertStream)."""
