"""Durations and sizes as people write them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

_UNITS: Final = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_PART: Final = re.compile(r"([0-9]{1,12})(ms|[wdhms])")
_SPAN: Final = re.compile(r"(?:[0-9]{1,12}(?:ms|[wdhms]))+")
# Units for writing; weeks are only read.
_SHOWN: Final = ("d", "h", "m", "s", "ms")
# Written in the next smaller unit: 24h, 60s.
_SELDOM: Final = (timedelta(days=1), timedelta(minutes=1))

_SIZES: Final = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
_SIZE: Final = re.compile(r"([0-9]{1,18})[ ]?(B|[KMG]i?B|)")


def parse_span(text: str) -> timedelta:
    """Read a duration: `100ms 10s 5m 24h 80d 2w`, or several of them (`1h30m`); `0` needs no unit.

    Raises ValueError for anything else.
    """
    if text == "0":
        return timedelta()
    if not _SPAN.fullmatch(text):
        raise ValueError(text)
    try:
        return sum((int(number) * _UNITS[unit] for number, unit in _PART.findall(text)), timedelta())
    except OverflowError as exc:
        raise ValueError(text) from exc


def show_span(span: timedelta) -> str:
    """Write a duration for `parse_span`, without parts of a millisecond."""
    for unit in _SHOWN:
        if span and not span % _UNITS[unit] and not (span in _SELDOM and span == _UNITS[unit]):
            # One unit is easier to read than several: 36h, not 1d12h.
            return f"{span // _UNITS[unit]}{unit}"
    return f"{span // _UNITS['ms']}ms" if span else "0s"


def parse_size(text: str) -> int:
    """Read a size in bytes: `512KiB 10MiB 1GB 4096`.

    Raises ValueError for anything else.
    """
    match = _SIZE.fullmatch(text)
    if not match:
        raise ValueError(text)
    return int(match[1]) * _SIZES[match[2]]


def show_size(count: int) -> str:
    """Write a number of bytes so that `parse_size` reads it again."""
    for unit in ("GiB", "MiB", "KiB"):
        if count and not count % _SIZES[unit]:
            return f"{count // _SIZES[unit]}{unit}"
    return f"{count}B"
