"""The demo site as the HTTP edge switches it on and off."""

from __future__ import annotations

from typing import Protocol


class DemoDesk(Protocol):
    """A small site within the service: its pages change, and are watched like any others, in a group of their own."""

    @property
    def is_on(self) -> bool:
        """Say whether its pages are on the list; costs nothing."""

    async def begin(self) -> None:
        """Watch the site's pages; nothing if they are watched. Raises UsageError where it cannot be served."""

    async def end(self) -> int:
        """Take the site's pages off the list, and nothing else; returns how many there were."""
