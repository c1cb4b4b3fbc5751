"""Questions, and the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tocsin.ports.keeping import unheard

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tocsin.model import (
        AlertDraft,
        AlertRow,
        ChannelState,
        ChannelTest,
        Claim,
        DeliveryResult,
        DueDelivery,
        Instant,
        Instruction,
        KnownCopy,
        QuestionRow,
        RuleRow,
    )
    from tocsin.ports.keeping import OnStep


class AttentionStore(Protocol):
    """Questions and rules (T60)."""

    async def questions_to_announce(self, now: Instant) -> list[QuestionRow]:
        """Questions whose gathering has ended and that nobody was told of; empty ones are closed instead."""

    async def announce(self, question_id: int, alert: AlertDraft, now: Instant) -> None:
        """Write the `unreachable` alert and mark the question as asked, in one transaction."""

    async def withdraw_questions(self, claim: Claim, causes: Sequence[str], now: Instant, retry_at: Instant) -> int:
        """Take back unannounced questions of these causes: it was our own outage. Their pages are due at retry_at."""

    async def questions(
        self, *, closed: bool = False, after_id: int = 0, limit: int | None = None
    ) -> list[QuestionRow]:
        """Open questions, or also those that ended, in order of id, after this one."""

    async def question(self, question_id: int) -> QuestionRow | None:
        """One question."""

    async def question_pages(self, question_id: int, *, limit: int = 1000) -> list[str]:
        """The URLs of its pages, at most so many."""

    async def copies_of(self, url: str) -> list[KnownCopy]:
        """Copies of a page that watched pages name, the newest first, those without a date last; at most 100."""

    async def question_copies(self, question_id: int) -> list[KnownCopy]:
        """Copies of all its pages: those of the page that stands for all first, of each the newest first.

        Each is offered once for a page, at most 100 of a page and 1,000 of all.
        """

    async def answer(
        self,
        question_id: int,
        instruction: Instruction,
        *,
        scope: str,
        url: str | None,
        now: Instant,
        on_step: OnStep = unheard,
    ) -> int:
        """Carry out an instruction for the question's pages (or one of them); returns how many.

        Of many pages it is done a step at a time, as in `WatchList`; the same answer once more goes on.
        scope  what a `never` or `until-major` is remembered for: page, host-cause, host or cause
        """

    async def rules(self) -> list[RuleRow]:
        """Rules in force."""

    async def lift_rule(self, rule_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        """Forget a rule; its pages are due again. Returns how many pages."""


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
