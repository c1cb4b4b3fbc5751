"""A page with an event on it, its items as they are kept, and a renderer that finds them."""

from __future__ import annotations

from typing import Final

import msgspec

from tests.awareness import ScriptedRenderer
from tests.fakes import START, ManualClock
from tests.spec.microdata.making import item, page
from tocsin.model import JsonObject, PageItems, Rendered, RenderJob, to_rfc3339
from tocsin.spec.microdata.reading.packing import pack
from tocsin.spec.microdata.values import VEVENT


def event(day: str, *, head: str = "", summary: str = "Bluesday Tuesday") -> bytes:
    """A page with an event."""
    inner = f"<h1 itemprop=summary>{summary}</h1><time itemprop=dtstart datetime={day}>{day}</time>"
    return f"<!doctype html><title>A page</title>{head}<main itemscope itemtype={VEVENT}>{inner}</main>".encode()


def items_of(*days: str) -> PageItems:
    """The items of a page with events on these days, or without any."""
    packed = pack(page(*[item(dtstart=day) for day in days]))
    return PageItems(START, packed.digest, packed.packed, packed.count)


EVENT: Final = event("2026-05-05")
LATER: Final = items_of("2026-05-06")
CANCELLED: Final[JsonObject] = {
    "since": to_rfc3339(START),
    "added": 0,
    "removed": 1,
    "changed": 0,
    "cut": False,
    "changes": [],
}


class ItemRenderer(ScriptedRenderer):
    """Finds these items on every page, one after the other; the last ones stay.

    unread  why they cannot be read
    """

    def __init__(self, clock: ManualClock, *items: PageItems | None, unread: str | None = None) -> None:
        super().__init__(clock)
        self.items, self.unread = list(items), unread

    async def render(self, job: RenderJob) -> Rendered:
        rendered = await super().render(job)
        items = self.items.pop(0) if len(self.items) > 1 else self.items[0]
        return msgspec.structs.replace(rendered, items=items, unread=self.unread)
