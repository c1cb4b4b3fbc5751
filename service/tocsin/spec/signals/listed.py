"""What lists on the watch list say of a page's last change: a feed's entry, a sitemap's line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.instants import to_value
from tocsin.spec.signals.signal import Signal

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Seen


def _in_feed(seen: Seen) -> str | None:
    return to_value(seen.listed.get("feed"))


def _in_sitemap(seen: Seen) -> str | None:
    return to_value(seen.listed.get("sitemap"))


FEED: Final = Signal("feed", "list", "the page's entry in a feed that is watched", _in_feed)
SITEMAP: Final = Signal("sitemap", "list", "lastmod of the page in a sitemap that is watched", _in_sitemap)
