"""The texts of pages, as far as they may be kept, and what differs between two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.model import NO_COPY
from tocsin.spec.differences.compare import compare_texts, narrow
from tocsin.spec.differences.excerpt import excerpt
from tocsin.spec.signals.texts import unpack_text

if TYPE_CHECKING:
    from tocsin.model import JsonObject, Snapshot
    from tocsin.spec.robots.directives import Directives

_MOST_COMPARED = 2**18
"""Letters, of what is left when both texts' common beginning and end are taken off: an excerpt shows far less."""


def may_keep(said: Directives | None) -> bool:
    """Say whether a page lets copies of its text be kept (LM-45); one that was not read is as it was before."""
    return said is None or (said.index and said.archive)


def to_keep(said: Directives | None, snapshot: Snapshot | None) -> Snapshot | None:
    """Say what is to be kept of a page's text; where the page wants no copy kept, those that were go, too."""
    return snapshot if may_keep(said) else NO_COPY


def difference_data(before: bytes, latest: bytes) -> JsonObject | None:
    """Show what differs between two texts as an event does; None where they are the same to people.

    Both packed. Raises DamagedText.
    """
    was, now, is_cut = narrow(unpack_text(before), unpack_text(latest), _MOST_COMPARED)
    shown = excerpt(compare_texts(was, now, by="words"))
    if is_cut:
        shown["cut"] = True
    return shown if shown["added"] or shown["removed"] else None
