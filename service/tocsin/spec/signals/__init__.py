"""Signals: other signs of a page's changes beside the twelve fields, one file each, registered in `SIGNALS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals import entity_tag, json_ld, last_modified, listed, microdata, open_graph, times
from tocsin.spec.signals.weigh import CONTENT, PICTURE

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Signal

# In the order in which they are shown everywhere.
SIGNALS: Final[tuple[Signal, ...]] = (
    json_ld.MODIFIED,
    json_ld.VERSION,
    microdata.MODIFIED,
    open_graph.UPDATED,
    times.MODIFIED,
    last_modified.META,
    listed.FEED,
    listed.SITEMAP,
    last_modified.HEADER,
    entity_tag.HEADER,
)

# The source of each signal, by its name.
SOURCES: Final[dict[str, str]] = {signal.name: signal.source for signal in SIGNALS}

# What a rule of the user may be about.
RULED: Final = (*SOURCES, CONTENT, PICTURE)
