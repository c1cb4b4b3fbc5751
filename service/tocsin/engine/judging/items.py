"""Microdata of pages: read where their bytes are, and compared with what was kept before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tocsin.engine.judging.copies import values_of
from tocsin.engine.judging.differences import may_keep
from tocsin.model import NO_ITEMS, PageItems, to_rfc3339
from tocsin.spec.html.content_type import is_nosniff
from tocsin.spec.microdata.changes.comparing import compare_items
from tocsin.spec.microdata.changes.events import show_changes
from tocsin.spec.microdata.reading.items import may_hold_items, read_items
from tocsin.spec.microdata.reading.packing import NOTHING, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.engine.judging.assess import Assessment
    from tocsin.model import Instant, JsonObject
    from tocsin.spec.robots.directives import Directives


def find_items(
    final_url: str,
    body: bytes,
    content_type: str | None,
    headers: Sequence[tuple[str, str]],
    said: Directives | None,
    at: Instant,
) -> PageItems:
    """Read a page's microdata, ready to be kept; `NO_ITEMS` where the page wants no copy kept (LM-45).

    final_url  its URL after redirects
    headers    of the answer, names in lower case
    said       what the page says to robots
    at         when it was received
    Raises TooComplex for a page that no parser may be given.
    """
    if not may_keep(said):
        return NO_ITEMS
    packed = NOTHING
    if may_hold_items(body):
        nosniff = is_nosniff(values_of(headers, "x-content-type-options"))
        packed = pack(read_items(body, content_type, address=final_url, nosniff=nosniff))
    return PageItems(at, packed.digest, packed.packed, packed.count, packed.is_cut)


def items_read_of(items: PageItems | None, assessment: Assessment) -> PageItems | None:
    """Say which bytes a page's items were read of, by the digest that its row has for them."""
    if items is None or not items.packed:
        return items
    return msgspec.structs.replace(items, body=assessment.digest.encode())


def difference_of_items(before: PageItems, latest: PageItems) -> JsonObject | None:
    """Show how items differ as an event does; None where they do not. Raises DamagedItems."""
    if before.digest == latest.digest:
        return None
    changes = compare_items(unpack(before.packed), unpack(latest.packed))
    return show_changes(changes, since=to_rfc3339(before.at))
