"""What an author must keep of events, a vocabulary of text 003 (IC-01 to IC-05)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.lint.vocabulary import tell_faults
from tocsin.spec.microdata.values import VEVENT
from tocsin.spec.microdata.vevent import find_event_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.findings import Found
    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage


def check_vevents(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge events: when they are, how often each property stands, and what its values are."""
    return tell_faults(page, placed, VEVENT, find_event_faults)
