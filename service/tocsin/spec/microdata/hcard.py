"""The contact vocabulary: what is wrong with an hcard item, for whoever wrote it."""

from __future__ import annotations

import re

_TZ = re.compile(r"[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]")
_GEO = re.compile(r"[+-]?[0-9]++(?:\.[0-9]++)?;[+-]?[0-9]++(?:\.[0-9]++)?")


def is_valid_tz(text: str) -> bool:
    """Say whether the text is a time zone of the vocabulary, such as +01:00 (VC-06)."""
    return _TZ.fullmatch(text) is not None


def is_valid_geo(text: str) -> bool:
    """Say whether the text is a position of the vocabulary: latitude and longitude, such as 34.05;-118.4 (VC-07)."""
    return _GEO.fullmatch(text) is not None
