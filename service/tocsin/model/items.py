"""What pages have of microdata, as it is kept, and how it changed."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject


class PageItems(Struct, frozen=True, gc=False):
    """A page's microdata as it was when the page was read whole.

    at        when the page was received; of equal items the last time
    digest    equal items have the same; of all that the page had, also where not all is kept
    packed    as `spec.microdata.packing` writes it; empty in `NO_ITEMS`
    count     of its items, those within others too
    is_cut    there were more than are kept
    body      digest of the bytes that it was read from, as that of the page's state, encoded; empty: not known
    first_at  when the page was received with these items first; the store says so, it is 0 elsewhere
    """

    at: Instant
    digest: bytes
    packed: bytes
    count: int
    is_cut: bool = False
    body: bytes = b""
    first_at: Instant = 0


NO_ITEMS: Final = PageItems(0, b"", b"", 0)
"""The page wants no copy of its text kept: items that were kept go."""


class ItemChanges(Struct, frozen=True, gc=False):
    """How a page's items changed between two readings.

    at            when the later ones were read
    changes       as `items` in an event shows it
    rendering_id  the rendering that read them
    """

    at: Instant
    changes: JsonObject
    rendering_id: int = 0
