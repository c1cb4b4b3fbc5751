"""What needs the user: questions, rules and storms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import (
        AlertDraft,
        Claim,
        Instant,
        Instruction,
        JsonObject,
        KnownCopy,
        QuestionRow,
        RuleRow,
        StormRow,
        StormVerdict,
    )
    from tocsin.ports.pages import OnStep


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


class StormStore(Protocol):
    """Changes that many pages of a host have in common, each told once."""

    async def storms_to_announce(self, now: Instant) -> list[StormRow]:
        """Storms whose gathering has ended and that nobody was told of; those without a page are forgotten instead."""

    async def announce_storm(
        self, storm_id: int, alert: AlertDraft, now: Instant, *, excerpt: JsonObject | None
    ) -> None:
        """Write a storm's alert and mark it as told, in one transaction; one released meanwhile is not told.

        excerpt  what changed, for whoever lists it later
        """

    async def storms(self, *, limit: int, before: int | None = None) -> list[StormRow]:
        """The latest storms, newest first; `before` is an id."""

    async def storm(self, storm_id: int) -> StormRow | None:
        """One storm."""

    async def storm_verdicts(self, storm_id: int, *, after: tuple[int, int], limit: int) -> list[StormVerdict]:
        """Its verdicts, in order of page and id, after this (page, id)."""

    async def count_withheld(self, storm_id: int) -> int:
        """How many of its verdicts have no alert of their own, and none to come."""

    async def release_storm(self, storm_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        """Let each page of a storm have its alerts after all; returns how many pages. Raises UsageError.

        Of many pages it is done a step at a time, as in `WatchList`; the same call once more goes on. Verdicts that
        come later are told page by page.
        """
