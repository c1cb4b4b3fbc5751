"""The formats that microdata is converted to; their names alone, since `catalogue` takes milliseconds to import."""

from __future__ import annotations

from typing import Final

FORMAT_NAMES: Final = ("microdata", "vcard", "ical", "turtle", "ntriples", "jsonld", "atom")
"""In the order of `FORMATS`."""

ALL: Final = "all"
"""Every item, not one of them."""
