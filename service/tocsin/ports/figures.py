"""Figures of the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tocsin.model import Instant, StoreFigures


class FigureStore(Protocol):
    """Reads through a connection of its own: neither checks nor people wait for what is counted."""

    async def figures(self, now: Instant, *, after: int | None = None) -> StoreFigures:
        """Count what the store holds.

        after  the position behind which alerts are counted; None counts none
        """
