"""Records of a table that were stored at a time that is yet to come: a clock was wrong, and what it costs is said."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from tocsin.cli import output
from tocsin.cli.formatting import count
from tocsin.model import EPOCH

if TYPE_CHECKING:
    from tocsin.model import Instant
    from tocsin.spec.topper.table import Record

_DOUBTFUL: Final = timedelta(days=1)
"""Clocks of two machines differ by less."""


class AheadOfTime:
    """Counts the records of a table that were stored later than a day from now."""

    def __init__(self, now: Instant) -> None:
        self._latest = EPOCH + timedelta(microseconds=now) + _DOUBTFUL
        self._first: Record | None = None
        self._records = 0

    def look(self, record: Record) -> None:
        """Look at one record."""
        if record.stored > self._latest:
            self._first = self._first or record
            self._records += 1

    def tell(self, file: str) -> None:
        """Say on stderr what was found, if anything was."""
        if self._first is not None:
            output.note(
                f"{file}: {count(self._records, 'record')} stored later than tomorrow, the first is record "
                f"{self._first.number} ({self._first.stored:%Y-%m-%d %H:%M:%S} UTC): nothing is stored anew of such "
                "a page before then; was a clock wrong?"
            )
