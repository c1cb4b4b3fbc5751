"""What pages have of microdata, kept to say what changed, and to be taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tocsin.model import ItemChanges, PageItems, Slice


class ItemStore(Protocol):
    """Microdata of pages; it is written with what found it, a check or a rendering.

    Changes are kept as long as the rendering that found them; the latest items as long as the page.
    """

    async def latest_items(self, page_id: int) -> PageItems | None:
        """The items of a page that were kept last; None without any."""

    async def item_changes(self, page_id: int, *, cursor: str | None = None, limit: int = 50) -> Slice[ItemChanges]:
        """How a page's items changed, the newest first."""
