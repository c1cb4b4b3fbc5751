"""Numbers of bytes as people read them."""

from __future__ import annotations

from typing import Final

_STEP: Final = 1024
_ENOUGH: Final = 10


def show_bytes(count: int) -> str:
    """Write a number of bytes in the largest unit that it has one of, with a decimal where it has few of it."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < _STEP:
            break
        size, unit = size / _STEP, larger
    return f"{size:.1f} {unit}" if unit != "B" and size < _ENOUGH else f"{size:,.0f} {unit}"
