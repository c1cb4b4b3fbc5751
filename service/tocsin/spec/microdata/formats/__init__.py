"""The formats that microdata is converted to; their names alone, since `catalogue` takes milliseconds to import."""

from __future__ import annotations

from typing import Final

# In the order of `FORMATS`.
FORMAT_NAMES: Final = ("microdata", "vcard", "ical", "turtle", "ntriples", "jsonld", "atom")

# Every item, not one of them.
ALL: Final = "all"
