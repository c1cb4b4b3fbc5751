"""Who is rendered next, and when: the bounded render queue as pure decisions (T55, T56)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import WaitingPage


class RenderGate:
    """Says how many deferred pages may start.

    limit      slots: pages rendered at once (T55)
    resume_at  the capacity at which deferred pages go on, from one to the limit (T56)

    While nobody waits the gate is open, and a page that becomes due starts at once if a slot is free. Once somebody
    has to wait it closes, and deferred pages go on only when `resume_at` slots are free, or as many as there are
    pages waiting.
    """

    def __init__(self, limit: int, resume_at: int) -> None:
        self.limit, self.resume_at = limit, min(resume_at, limit)
        self.is_open = True

    def configure(self, limit: int, resume_at: int) -> None:
        """Go on with another limit and capacity; where the limit shrank, pages that are busy stay so."""
        self.limit, self.resume_at = limit, min(resume_at, limit)

    def admit(self, waiting: int, busy: int) -> int:
        """Say how many of the waiting pages start now: ask whenever a page became due, and whenever one is done."""
        free = max(self.limit - busy, 0)
        if not self.is_open and free < min(self.resume_at, waiting):
            return 0
        starting = min(free, waiting)
        self.is_open = starting == waiting
        return starting


class RenderOrder:
    """Chooses whose turn it is: major before minor, then by verdict, and nobody waits for ever (T55).

    Each batch takes the page that waits longest too. A batch of one cannot do both, so these take turns.
    """

    def __init__(self) -> None:
        self._owes_oldest = False

    def take(self, waiting: Sequence[WaitingPage], seats: int) -> list[int]:
        """Return the ids of the pages that start, in order."""
        if seats <= 0 or not waiting:
            return []
        oldest = min(waiting, key=_age)
        batch = sorted(waiting, key=lambda page: (not page.major, *_age(page)))[:seats]
        if oldest not in batch and (seats > 1 or self._owes_oldest):
            batch[-1] = oldest
        self._owes_oldest = oldest not in batch
        return [page.page_id for page in batch]


def _age(page: WaitingPage) -> tuple[int, int]:
    return page.since, page.page_id
