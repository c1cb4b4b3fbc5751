"""What needs the user: questions, standing answers and storms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tocsin.model import (
    EVERY_PART,
    AlertDraft,
    Claim,
    Instant,
    Instruction,
    JsonObject,
    KnownCopy,
    QuestionRow,
    StandingAnswerRow,
    StormRow,
    StormVerdict,
)
from tocsin.ports.pages import OnStep, unheard


class AttentionStore(Protocol):
    """Questions and standing answers (T60)."""

    async def questions_to_announce(self, now: Instant, claim: Claim = EVERY_PART) -> list[QuestionRow]:
        """Return questions about hosts of these parts that have gathered and were not asked yet.

        Those without pages are closed instead.
        """

    async def announce(self, question_id: int, alert: AlertDraft, now: Instant) -> None:
        """Write the `unreachable` alert and mark the question as asked; nothing is done if it has ended."""

    async def withdraw_questions(self, claim: Claim, causes: Sequence[str], now: Instant, retry_at: Instant) -> int:
        """Withdraw questions of these causes that were not asked yet, after our own outage; returns how many pages.

        Their pages are due at `retry_at`.
        """

    async def questions(
        self, *, closed: bool = False, after_id: int = 0, limit: int | None = None
    ) -> list[QuestionRow]:
        """Return open questions, or closed ones as well, in order of id, after this one."""

    async def question(self, question_id: int) -> QuestionRow | None:
        """Return one question."""

    async def question_pages(self, question_id: int, *, limit: int = 1000) -> list[str]:
        """Return the URLs of its pages."""

    async def copies_of(self, url: str) -> list[KnownCopy]:
        """Return at most 100 copies of a page that watched pages name, newest first, undated ones last."""

    async def question_copies(self, question_id: int) -> list[KnownCopy]:
        """Return copies of all its pages: those of its sample page first, of each page the newest first.

        Each copy is there once for a page, at most 100 for a page and 1,000 in all.
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

        Long runs are done in steps, as in `WatchList`; the same answer again continues. Raises UsageError for a
        question that is not open, NotWatched for a page that is not in it.

        scope  what a `never` or `until-major` applies to from now on: page, host-cause, host or cause
        """

    async def standing_answers(self) -> list[StandingAnswerRow]:
        """Return the standing answers."""

    async def lift_standing_answer(self, answer_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        """Remove a standing answer; its pages are due again. Returns how many. Raises UsageError for an unknown one.

        It is removed with the last of its pages, so that an interrupted call can be repeated.
        """


class StormStore(Protocol):
    """Changes that many pages of a host have in common, each reported once."""

    async def storms_to_announce(self, now: Instant) -> list[StormRow]:
        """Return storms that have gathered and were not reported yet; those without pages are deleted instead."""

    async def announce_storm(
        self, storm_id: int, alert: AlertDraft, now: Instant, *, excerpt: JsonObject | None
    ) -> None:
        """Write a storm's alert and mark it as reported; nothing is done if it was released meanwhile.

        excerpt  what changed, for lists of storms
        """

    async def storms(self, *, limit: int, before: int | None = None) -> list[StormRow]:
        """Return storms, newest first; `before` is an id."""

    async def storm(self, storm_id: int) -> StormRow | None:
        """Return one storm."""

    async def storm_verdicts(self, storm_id: int, *, after: tuple[int, int], limit: int) -> list[StormVerdict]:
        """Return a storm's verdicts in order of page and id, after this (page, id)."""

    async def count_withheld(self, storm_id: int) -> int:
        """Count a storm's verdicts that get no alert of their own."""

    async def release_storm(self, storm_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        """Give each page of a storm its own alerts after all; returns how many pages. Raises UsageError.

        Long runs are done in steps, as in `WatchList`; the same call again continues. Later verdicts of the storm are
        reported page by page.
        """
