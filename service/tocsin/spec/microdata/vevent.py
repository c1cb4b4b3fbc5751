"""The event vocabulary: what is wrong with a vevent item, for whoever wrote it."""

from __future__ import annotations

import re
from typing import Final

_WEEK, _DAY, _HOUR, _MINUTE = 604_800, 86_400, 3_600, 60
_DURATION = re.compile(
    r"P(?:(?P<weeks>[0-9]++)W"
    r"|(?=[0-9T])(?:(?P<days>[0-9]++)D)?"
    r"(?:T(?:(?P<hours>[0-9]++)H(?:(?P<minutes>[0-9]++)M(?:(?P<seconds>[0-9]++)S)?)?"
    r"|(?P<only_minutes>[0-9]++)M(?:(?P<their_seconds>[0-9]++)S)?"
    r"|(?P<only_seconds>[0-9]++)S))?)"
)
_UNITS: Final = {
    "weeks": _WEEK,
    "days": _DAY,
    "hours": _HOUR,
    "minutes": _MINUTE,
    "seconds": 1,
    "only_minutes": _MINUTE,
    "their_seconds": 1,
    "only_seconds": 1,
}
_LONGEST = 4000
"""So many digits Python reads as a number; a longer duration is none."""


def parse_duration(text: str) -> int | None:
    """Read a duration as the vocabulary writes them: the sum of its parts, in seconds; None if it is none.

    Source  text 003, valid vevent duration string: P, then weeks, or days and contiguous parts of a time (IC-03)
    """
    match = _DURATION.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    return sum(int(match[part]) * unit for part, unit in _UNITS.items() if match[part] is not None)
