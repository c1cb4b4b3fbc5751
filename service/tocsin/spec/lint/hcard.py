"""What an author must keep of contacts, a vocabulary of text 003 (VC-01 to VC-08)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.lint.vocabulary import tell_faults
from tocsin.spec.microdata.hcard import find_card_faults
from tocsin.spec.microdata.values import HCARD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.html.findings import Found
    from tocsin.spec.lint.microdata_items import PlacedItems
    from tocsin.spec.lint.page import WrittenPage


def check_hcards(page: WrittenPage, placed: PlacedItems) -> Iterator[Found]:
    """Judge contacts: their names, ways to reach them, dates and types."""
    return tell_faults(page, placed, HCARD, find_card_faults)
