"""When first checks and overdue ones come: spread by a fraction that stays with the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.model import phase_of

if TYPE_CHECKING:
    from datetime import timedelta

    from tocsin.model import Instant

_PER_PAGE_US = 20_000
HOUR_US = 3_600_000_000
# Why a page that is off is not due.
OFF = "off"


def to_us(span: timedelta) -> int:
    """Give a span in whole microseconds."""
    return round(span.total_seconds() * 1_000_000)


def window_us(pages: int, longest_us: int = HOUR_US) -> int:
    """Give the span that the checks of this many pages are spread over: 20 ms each, at most `longest_us`."""
    return min(longest_us, _PER_PAGE_US * pages)


def spread_at(page_id: int, now: Instant, window: int) -> Instant:
    """Give a page's due time within a window of this many microseconds that begins now."""
    return now + int(phase_of(page_id) * window)
