"""Work that would take the interpreter for long, done where it holds up nobody."""

from __future__ import annotations

from typing import Protocol


class Aside(Protocol):
    """Does pieces of work one after the other, beside the service's own loop."""

    async def do(self, work: bytes) -> bytes:
        """Do a piece of work, and give what came of it.

        Raises TooComplex where whoever did it died of it, ProcessError where it took too long or nobody can do it.
        """
