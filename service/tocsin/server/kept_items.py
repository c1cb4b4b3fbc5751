"""What is kept of a page's items, told as `KeptItems` in JSON. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.model import PageItems, to_rfc3339
from tocsin.spec.microdata.formats.catalogue import FORMATS, ways_out
from tocsin.spec.microdata.formats.items_json import write_items
from tocsin.spec.microdata.reading.packing import MOST_BYTES, MOST_ITEMS, unpack

if TYPE_CHECKING:
    from tocsin.model import JsonObject

MORE: str = f"the page has more than is kept: at most {MOST_ITEMS:,} items, of {MOST_BYTES >> 10} KiB together"


class Told(Struct, frozen=True, tag_field="what", tag=True):
    """Kept items are to be told.

    no_text  the page is not to be indexed
    why      there are none, in words; None: there are some
    """

    page_id: int
    kept: PageItems | None
    no_text: bool
    why: str | None


def tell_items(work: Told) -> JsonObject:
    """Tell kept items, and why they are none, or not all. Raises DamagedItems."""
    kept, no_text = work.kept, work.no_text
    if kept is None:
        told = {"no_text": no_text, "why": work.why}
        return {"at": None, "since": None, "count": 0, "cut": False, **told, "items": [], "formats": []}
    data = unpack(kept.packed)
    written = write_items(data)
    is_cut = kept.is_cut or bool(written.items.get("cut"))
    whys = (work.why, MORE if kept.is_cut else None, *written.problems)
    return {
        "at": to_rfc3339(kept.at),
        "since": to_rfc3339(kept.first_at),
        "count": kept.count,
        "cut": is_cut,
        "no_text": no_text,
        "why": "; ".join(filter(None, whys)) or None,
        "items": written.items["items"],
        "formats": [
            {
                "form": way.name,
                "label": way.label,
                "media_type": way.media_type,
                "profiles": way.profiles,
                "url": f"/api/v1/pages/{work.page_id}/extract/{way.name}",
            }
            for way in map(FORMATS.__getitem__, ways_out(data))
        ],
    }
