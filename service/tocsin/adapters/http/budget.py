"""Memory for all bodies in flight: one bound for them together, beside the cap that each has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tocsin.adapters.http.deadlines import Watched
    from tocsin.settings import FetchSettings

LONGEST_BODIES: Final = 16
"""So many bodies of the greatest length have room at once,"""
USUAL_BODY_BYTES: Final = 128 * 1024
"""or one of this length for each request that may be in flight, whatever is more."""


class NoRoom(Exception):
    """All bodies together take more than their bound, and this is the longest of them."""


class BodyBudget:
    """Counts the bytes of the bodies that are being received, and gives up the longest one where they are too many.

    Nobody waits here for room: whoever sends endlessly would hold what others wait for.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held: dict[Watched, int] = {}
        self._held_bytes = 0

    def hold(self, watch: Watched, body_bytes: int) -> None:
        """Note how long the body of this request is by now; raises NoRoom where it is the one to be given up."""
        self._held_bytes += body_bytes - self._held.get(watch, 0)
        self._held[watch] = body_bytes
        if self._held_bytes > self._most_bytes:
            count, longest = len(self._held), max(self._held, key=self._held.__getitem__)
            self.release(longest)
            no_room = NoRoom(
                f"the longest of {count} answers in flight that took more than {self._most_bytes} bytes together; "
                "lower fetch.in_flight or fetch.max_body"
            )
            if longest is watch:
                # A task that cancels itself goes on to its next wait, which may be one of its next request's.
                raise no_room
            longest.interrupt(no_room)

    def has_room(self, body_bytes: int) -> bool:
        """Say whether a body of this length can be there beside those that are held."""
        return self._held_bytes + body_bytes <= self._most_bytes

    def release(self, watch: Watched) -> None:
        """Forget the body of this request; nothing if it has none here."""
        self._held_bytes -= self._held.pop(watch, 0)

    @property
    def held_bytes(self) -> int:
        """How long all bodies in flight are by now."""
        return self._held_bytes


def room_for_bodies(settings: FetchSettings, *, fetchers: int = 1) -> int:
    """Give the bound, in bytes, that the limits on requests imply; of so many fetchers each one's share.

    One body of the greatest length has room in each.
    """
    together = max(LONGEST_BODIES * settings.max_body, USUAL_BODY_BYTES * settings.in_flight)
    return max(together // fetchers, settings.max_body)
