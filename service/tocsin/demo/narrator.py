"""Watches the rows of a store that a running service writes, and tells of each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.demo.rows import (
    Line,
    accepted_line,
    alert_line,
    check_line,
    first_line,
    history_line,
    question_lines,
    refused_lines,
    verdict_lines,
    waiting_line,
)
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tocsin.model import AlertRow, Instant, PageRow, WaitingPage
    from tocsin.ports import Clock, Store

_MANY = 1000
_LATEST_STATES = 10


class Narrator:
    """Turns what is new in a store into lines, through its port; it never writes.

    limit   how many pages are rendered at once, for the words
    answer  the command line that answers a question, but for its number and the instruction
    """

    def __init__(self, store: Store, clock: Clock, *, limit: int, answer: str) -> None:
        self._store, self._clock = store, clock
        self._limit, self._answer = limit, answer
        self._told: set[tuple[str, str]] = set()
        self._checked: dict[int, Instant | None] = {}
        self._waited: set[tuple[int, Instant]] = set()
        self._settled = 0

    async def new_lines(self) -> list[Line]:
        """Read the store once; returns what has not been told yet, cause before effect."""
        pages = await self._store.pages(PageFilter(), limit=_MANY)
        urls = {page.id: page.url for page in pages}
        checks = sorted(await self._checks(pages), key=lambda line: line.at)
        questions = await self._questions()
        tries = [line for line in questions if line.row == "try"]
        lines = [*tries, *checks, *await self._waiting(urls), *questions, *await self._alerts()]
        return list(self._not_told(lines))

    async def accepted_by(self, proofs: Mapping[str, str]) -> list[Line]:
        """Tell what each channel has accepted; `proofs` says for each what was compared with its rows."""
        alerts = await self.all_alerts()
        now = self._clock.now()
        return [accepted_line(channel, alerts, now, proof=proof) for channel, proof in proofs.items()]

    async def all_alerts(self) -> list[AlertRow]:
        """Every alert there is, in order."""
        return await self._store.after(0, limit=_MANY)

    async def pruned(self) -> list[Line]:
        """Tell of each page with records that left the table (T70)."""
        lines = []
        for page in await self._store.pages(PageFilter(), limit=_MANY):
            history = await self._store.history(page.url, limit=_MANY)
            if any(not entry.in_table for entry in history):
                lines.append(history_line(page.url, history))
        return lines

    async def _checks(self, pages: Iterable[PageRow]) -> list[Line]:
        lines: list[Line] = []
        for page in pages:
            if self._checked.get(page.id) == page.last_checked_at:
                continue
            # What a page's first check found, and a verdict, stay when later checks have replaced the report of it.
            history = await self._store.history(page.url, limit=_LATEST_STATES)
            if page.id not in self._checked and (first := first_line(page, history)) is not None:
                lines.append(first)
            self._checked[page.id] = page.last_checked_at
            lines += verdict_lines(page.url, history)
            if (line := check_line(page)) is not None:
                lines.append(line)
        return lines

    async def _waiting(self, urls: Mapping[int, str]) -> list[Line]:
        """Tell of pages that were found waiting twice: the others only pass through."""
        waiting = await self._store.waiting_renders(limit=_MANY)
        before, self._waited = self._waited, {(page.page_id, page.since) for page in waiting}
        return [
            waiting_line(urls[page.page_id], page, waiting=len(waiting), limit=self._limit)
            for page in self._in_turn(waiting)
            if (page.page_id, page.since) in before and page.page_id in urls
        ]

    async def _questions(self) -> list[Line]:
        questions = await self._store.questions(closed=True)
        return [line for question in questions for line in question_lines(question, answer=self._answer)]

    async def _alerts(self) -> list[Line]:
        alerts = await self._store.after(self._settled, limit=_MANY)
        for alert in alerts:
            if any(delivery[1] == "waiting" for delivery in alert.deliveries):
                break
            self._settled = alert.position
        now = self._clock.now()
        refused = [line for alert in alerts for line in refused_lines(alert, now)]
        return [*(alert_line(alert) for alert in alerts), *refused]

    def _not_told(self, lines: Iterable[Line]) -> Iterator[Line]:
        for line in lines:
            # A page's own row is written anew by each check, and was told of by its time.
            if line.row == "check":
                yield line
            elif (line.row, line.row_id) not in self._told:
                self._told.add((line.row, line.row_id))
                yield line

    @staticmethod
    def _in_turn(waiting: Iterable[WaitingPage]) -> list[WaitingPage]:
        return sorted(waiting, key=lambda page: (not page.major, page.since))
