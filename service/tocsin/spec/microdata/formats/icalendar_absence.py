"""Which of a page's events stand in no calendar, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.infrastructure.unsafe import safe_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.microdata.values import Item

_FEW: Final = 3
_LONGEST: Final = 60
"""Of so many events something is said, and so much of what each one says."""


def tell_undated(undated: Sequence[tuple[int, Item]]) -> Iterator[str]:
    """Say which events have no date: `1 event without a date is left out: event 2 "Jazz" (dtstart "soon" is no date)`.

    undated  each with its number among the page's events
    What the page says stands in it without what terminals obey, or what turns a text around.
    """
    if undated:
        events = "event without a date is" if len(undated) == 1 else "events without a date are"
        said = [_tell_event(number, event) for number, event in undated[:_FEW]]
        if len(undated) > _FEW:
            said.append(f"and {len(undated) - _FEW:,} more")
        yield f"{len(undated):,} {events} left out: {', '.join(said)}"


def _tell_event(number: int, event: Item) -> str:
    summary, start = _first(event, "summary"), _first(event, "dtstart")
    called = f"event {number:,} {_quote(summary)}" if summary else f"event {number:,}"
    return f"{called} (dtstart {_quote(start)} is no date)" if start else called


def _first(event: Item, name: str) -> str:
    """Give the beginning of the first text of a name that is not empty."""
    texts = (each.text for each in event.properties if each.text and name in map(str.lower, each.names))
    return next(filter(None, (fold_space(text[: 4 * _LONGEST]) for text in texts)), "")


def _quote(text: str) -> str:
    return f'"{safe_line(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")}"'
