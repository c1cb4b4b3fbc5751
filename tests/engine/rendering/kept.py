"""Contents of one page that a store kept."""

from __future__ import annotations

from dataclasses import dataclass

from tocsin.model import Instant, PageItems
from tocsin.spec.signals.texts import pack_text


def packed(text: str) -> bytes:
    """Pack a text as it is kept."""
    return pack_text(text)[1]


@dataclass
class Kept:
    """Implements `comparing.ContentStore` with the same contents for every page and change."""

    before: bytes = packed("One bell.")
    latest: bytes = packed("Two bells.")
    items: PageItems | None = None

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:  # noqa: ARG002 - any
        """Return both texts."""
        return self.before, self.latest

    async def latest_text(self, page_id: int) -> bytes | None:  # noqa: ARG002 - any
        """Return the later text."""
        return self.latest

    async def items_before(self, page_id: int) -> PageItems | None:  # noqa: ARG002 - any
        """Return the items."""
        return self.items
