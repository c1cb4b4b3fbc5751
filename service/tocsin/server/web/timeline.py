"""The states of a page as a picture: runs along the time, and what each comparison found. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.server.web.words import absolute, count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from tocsin.model import Instant, StateEntry, VerdictEntry

_THINNEST: Final = 0.4
"""A state is drawn at least so wide, in percent, however short it was."""
_ROOM: Final = 0.03
"""Of the time shown, left free at its end."""


class Span(Struct, frozen=True):
    """A run of equal states: where it is drawn, in percent."""

    x: float
    width: float
    label: str
    is_other: bool


class Mark(Struct, frozen=True):
    """What a comparison found: where it is drawn, in percent."""

    x: float
    outcome: str
    label: str
    verdict_id: int


class Timeline(Struct, frozen=True):
    """All of it; `said` is what the picture shows, in words."""

    spans: tuple[Span, ...]
    marks: tuple[Mark, ...]
    now_x: float
    begin: str
    end: str
    said: str


def draw(
    states: Sequence[StateEntry],
    verdicts: Sequence[VerdictEntry],
    checked_at: Instant | None,
    *,
    now: Instant,
    zone: tzinfo,
) -> Timeline | None:
    """Draw the states that are given; None where there is none.

    states, verdicts  newest first
    checked_at        the latest run lasts at least until the last check
    """
    if not states:
        return None
    begin = min(states[-1].first_at, now)
    length = max(now - begin, 1)
    scale = 100 / (length * (1 + _ROOM))

    def place(at: Instant) -> float:
        return round(min(max((at - begin) * scale, 0.0), 100.0), 2)

    spans = []
    for number, state in enumerate(reversed(states)):
        # A state holds until another one is found; when it was stored last, its label says.
        following = states[len(states) - 2 - number].first_at if number < len(states) - 1 else None
        last = following if following is not None else max(state.last_at, checked_at or 0)
        x = place(state.first_at)
        stored = f"stored {count(state.storings, 'time')}, last {absolute(state.last_at, zone)}"
        label = f"{absolute(state.first_at, zone)} to {absolute(last, zone)}; {stored}"
        spans.append(Span(x, round(max(place(last) - x, _THINNEST), 2), label, bool(number % 2)))
    told = [verdict for verdict in reversed(verdicts) if verdict.outcome in ("major", "minor") and verdict.at >= begin]
    marks = tuple(
        Mark(place(each.at), each.outcome, f"{each.outcome} change, {absolute(each.at, zone)}", each.id)
        for each in told
    )
    return Timeline(
        tuple(spans), marks, place(now), absolute(begin, zone), absolute(now, zone), _said(states, told, zone)
    )


def _said(states: Sequence[StateEntry], told: Sequence[VerdictEntry], zone: tzinfo) -> str:
    majors = sum(verdict.outcome == "major" for verdict in told)
    found = f"{count(majors, 'major change')}, {count(len(told) - majors, 'minor change')}"
    since = f"since {absolute(states[-1].first_at, zone)}"
    return f"{count(len(states), 'state')} {since}, {count(sum(s.storings for s in states), 'storing')}: {found}."
