"""The icons of a page, and which of them to use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tocsin.spec.html.microsyntax import lower_ascii, split_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

# Text 003 has a small x alone, living HTML either (C-40); more than 18 digits are no size of anything.
_SIZE: Final = re.compile(r"([1-9][0-9]{0,17})[xX]([1-9][0-9]{0,17})")
_IMAGE: Final = "image/"
_SCREENS: Final = frozenset({"", "all", "screen"})


class Size(NamedTuple):
    """The size of an icon, in device pixels."""

    width: int
    height: int


ANY: Final = "any"
"""An icon that can be scaled to any size."""


def read_sizes(sizes: str) -> list[Size | str]:
    """Read a sizes attribute: each size in order, or ANY; keywords that represent nothing are left out.

    Source  text 003, icon (LK-25)
    """
    found: list[Size | str] = []
    for token in split_tokens(sizes):
        match = _SIZE.fullmatch(token)
        if match is not None:
            found.append(Size(int(match[1]), int(match[2])))
        elif lower_ascii(token) == ANY:
            found.append(ANY)
    return found


@dataclass(frozen=True, slots=True)
class Icon:
    """An icon that a page offers, by its attributes as written; None where one is absent."""

    url: str
    media_type: str | None = None
    media: str | None = None
    sizes: str | None = None


def rank_icons(icons: Iterable[Icon], wanted: int) -> list[Icon]:
    """Put icons in the order in which to try them, the most appropriate first.

    icons   in tree order; of equals the last comes first
    wanted  the width in device pixels that it will be shown at
    Source  text 003, icon (LK-24): type, media and sizes decide; an unknown size comes after a known and fitting one
    """
    last_first = list(icons)[::-1]
    return sorted(last_first, key=lambda icon: _unfitness(icon, wanted))


def _unfitness(icon: Icon, wanted: int) -> tuple[int, int, int, int]:
    """Say how little an icon fits: first by what it is, then by where it is meant to be seen, then by its size."""
    media_type = lower_ascii((icon.media_type or "").strip())
    no_image = int(bool(media_type) and not media_type.startswith(_IMAGE))
    elsewhere = int(lower_ascii((icon.media or "").strip()) not in _SCREENS)
    if icon.sizes is None:
        return no_image, elsewhere, 2, 0
    return no_image, elsewhere, *min((_misfit(size, wanted) for size in read_sizes(icon.sizes)), default=(4, 0))


def _misfit(size: Size | str, wanted: int) -> tuple[int, int]:
    if isinstance(size, str):
        return 1, 0
    # To be made smaller harms an icon less than to be made larger.
    return (0, size.width - wanted) if size.width >= wanted else (3, wanted - size.width)
