"""What became of a soak, as a table."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple


class Outcome(NamedTuple):
    """The end of a soak.

    deaths    how often the service died where
    totals    what happened meanwhile
    findings  what is wrong, a sentence each
    """

    deaths: Counter[str]
    totals: dict[str, int]
    findings: list[str]

    def table(self) -> str:
        """Write both as columns."""
        rows = [("killed at", "times"), *((name, str(count)) for name, count in sorted(self.deaths.items())), ("", "")]
        rows += [(name, f"{count:,}") for name, count in self.totals.items()]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {count:>9}".rstrip() for name, count in rows)
