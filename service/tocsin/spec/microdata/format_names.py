"""What the formats are called, for whoever only has to know that: `formats` costs some milliseconds to load."""

from __future__ import annotations

from typing import Final

FORMAT_NAMES: Final = ("microdata", "vcard", "ical", "turtle", "ntriples", "jsonld", "atom")
"""In the order of `FORMATS`."""

ALL: Final = "all"
"""Not one item: every one."""
