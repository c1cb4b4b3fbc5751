"""What pages have of microdata, kept to say what changed, and to be taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import timedelta

    from tocsin.model import Instant, ItemChanges, PageItems


class ItemStore(Protocol):
    """Microdata of pages; it is written with what found it, a check or a rendering."""

    async def latest_items(self, page_id: int) -> PageItems | None:
        """The items of a page that were kept last; None without any."""

    async def item_changes(self, page_id: int, *, since: Instant | None = None, limit: int) -> list[ItemChanges]:
        """How a page's items changed, the newest first.

        since  leave out what is older
        """

    async def prune_items(self, now: Instant, *, keep: timedelta, limit: int) -> int:
        """Forget changes of items by their age, at most `limit`; returns how many. The latest items of a page stay."""
